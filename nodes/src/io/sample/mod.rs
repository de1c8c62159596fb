//! Sample characters, made from formulas: bodies as blended solids, tails as lofted tubes, clips as functions of time. All
//! of it is exact arithmetic, so that every machine makes the same bytes.

mod biped;
mod clips;
mod figure;
mod fox;
mod fur;
mod glb;
mod loft;
mod maths;
mod rat;
mod rig;
mod shell;
mod solid;
mod surface;
mod weights;

use sinew_graph::{Cx, Result};

pub use figure::Detail;

use super::sample_character::Sample;

/// A sample character as the bytes of a GLB.
pub fn glb(kind: Sample, detail: Detail, cx: &Cx) -> Result<Vec<u8>> {
    let figure = figure(kind, detail, cx)?;
    glb::write(&figure, &clips::clips(&figure.joints))
}

fn figure(kind: Sample, detail: Detail, cx: &Cx) -> Result<figure::Figure> {
    match kind {
        Sample::Fox => fox::fox(detail, cx),
        Sample::Rat => rat::rat(detail, cx),
        Sample::RatRigged => rat::rigged(detail, cx),
        Sample::Biped => biped::biped(detail, cx),
    }
}

#[cfg(test)]
pub mod direct {
    use super::*;
    use crate::data::*;
    use glam::*;
    use std::sync::Arc;
    pub fn character(kind: Sample) -> Character {
        let cx = Cx::detached();
        let f = figure(kind, Detail(1.0), &cx).unwrap();
        let cl = clips::clips(&f.joints);
        let mut mesh = (vec![], vec![], vec![], vec![]);
        let (mut j, mut w) = (vec![], vec![]);
        for s in &f.shells {
            let b = mesh.0.len() as u32;
            mesh.0.extend(s.positions.iter().map(|p| p.as_vec3()));
            mesh.1.extend(s.normals.iter().map(|p| p.as_vec3()));
            mesh.2.extend(s.colours.iter().map(|c| [(c[0] * 255.0) as u8, (c[1] * 255.0) as u8, (c[2] * 255.0) as u8, 255u8]));
            mesh.3.extend(s.triangles.iter().map(|t| t.map(|k| k + b)));
            for i in &s.influences { for (a, c) in i { j.push(*a); w.push(*c); } }
        }
        let skin = Skin { width: 4, joints: j.into(), weights: w.into() };
        let skeleton = Skeleton {
            joints: f.joints.iter().enumerate().map(|(k, x)| Joint { name: x.name.as_str().into(), parent: x.parent.map(|p| p as u16), node: Some(k as u32), has_bind: true }).collect(),
            binds: f.joints.iter().map(|x| Mat4::from_translation(x.at.as_vec3()).to_cols_array()).collect(),
            node_parents: f.joints.iter().map(|x| x.parent.map_or(-1, |p| p as i32)).collect(),
            node_names: f.joints.iter().map(|x| Arc::from(x.name.as_str())).collect(),
            node_locals: f.joints.iter().map(|x| Transform { translation: (x.at - x.parent.map_or(DVec3::ZERO, |p| f.joints[p].at)).as_vec3(), rotation: x.saved.as_quat().to_array(), scale: Vec3::ONE }).collect(),
            to_world: Mat4::IDENTITY.to_cols_array(),
        };
        let clips = Clips { clips: cl.iter().map(|c| {
            let times: Arc<[f32]> = c.times.iter().map(|t| *t as f32).collect();
            let mut channels = vec![Channel { node: 0, target: Target::Translation, interpolation: Interpolation::Linear, times: times.clone(), values: c.hips.iter().flat_map(|p| p.as_vec3().to_array()).collect() }];
            for (k, q) in &c.turns { channels.push(Channel { node: *k as u32, target: Target::Rotation, interpolation: Interpolation::Linear, times: times.clone(), values: q.iter().flat_map(|q| q.as_quat().to_array()).collect() }); }
            Clip { name: c.name.into(), duration: *c.times.last().unwrap() as f32, channels }
        }).collect() };
        Character { name: f.name.into(), source: Source { json: "".into(), buffers: vec![], files: vec![], repaired: Arc::from([]) },
            mesh: Mesh { positions: mesh.0.into(), normals: mesh.1.into(), colours: mesh.2.into(), triangles: mesh.3.into(), parts: Arc::from([]) },
            skeleton, skin: skin.clone(), source_skin: skin, clips }
    }
}
