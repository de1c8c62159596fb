//! Puts the primitives of a document together: one mesh, one skeleton, one skin.

use std::collections::BTreeMap;
use std::fmt::Write;

use glam::{DMat3, DMat4, Vec3};
use rayon::prelude::*;
use sinew_graph::{Cx, NodeError, Result};

use super::accessor::{Accessors, bad};
use super::binds::{self, SkinUse, Unified};
use super::colours::Colours;
use super::document::Document;
use super::primitive::{self, Found, Geometry, Place};
use super::tree::Tree;
use super::weights::Defects;
use crate::data::{Mesh, Part, Skeleton, Skin, SourceFile};

/// What a document's skinned primitives make.
pub struct Rigged {
    /// All of them, in bind space.
    pub mesh: Mesh,
    /// Their joints.
    pub skeleton: Skeleton,
    /// Their weights.
    pub skin: Skin,
    /// Per part: whether its weights were mended.
    pub repaired: Vec<u8>,
}

/// Reads all skinned primitives of a document.
pub fn assemble(accessors: &Accessors, files: &[SourceFile], cx: &Cx) -> Result<Rigged> {
    let document = accessors.document();
    let tree = Tree::of(document)?;
    let shown = shown(document)?;
    let mut budget = primitive::budget();
    let (mut read, mut others) = (Vec::new(), BTreeMap::new());
    for &(mesh, skin) in shown.keys() {
        for primitive in 0..document.meshes[mesh].primitives.len() {
            cx.check()?;
            let place = Place { mesh, primitive, skin };
            match primitive::read(accessors, place, &mut budget, cx)? {
                Found::Skinned(geometry) => read.push((place, geometry)),
                Found::Other(what) => *others.entry(what).or_insert(0) += 1,
            }
        }
    }
    tell_left_out(document, &others, cx);
    if read.is_empty() {
        return Err(NodeError::new("the file has no skinned mesh, so there is no character in it")
            .help("rig it first (Blender, Mixamo, Mesh2Motion …) and export it with its skin"));
    }
    tell_defects(document, &read, cx);
    let skins = skin_uses(accessors, &shown, &read, cx)?;
    let unified = binds::unify(document, &tree, &skins, cx)?;
    cx.progress(0.5);
    join(accessors, files, &shown, read, unified, cx)
}

/// The nodes that show each mesh with each skin.
fn shown(document: &Document) -> Result<BTreeMap<(usize, usize), Vec<u32>>> {
    let mut shown: BTreeMap<(usize, usize), Vec<u32>> = BTreeMap::new();
    for (k, node) in document.nodes.iter().enumerate() {
        let named = |what: &str, number: Option<usize>, count: usize| match number {
            Some(number) if number >= count => {
                Err(bad(&format!("nodes[{k}].{what}"), format!("{what} {number} of {count} is named")))
            }
            other => Ok(other),
        };
        let mesh = named("mesh", node.mesh, document.meshes.len())?;
        let skin = named("skin", node.skin, document.skins.len())?;
        if let (Some(mesh), Some(skin)) = (mesh, skin) {
            shown.entry((mesh, skin)).or_default().push(k as u32);
        }
    }
    Ok(shown)
}

fn tell_left_out(document: &Document, others: &BTreeMap<&str, usize>, cx: &Cx) {
    let unskinned = document.nodes.iter().filter(|node| node.mesh.is_some() && node.skin.is_none()).count();
    let mut told: Vec<String> = others.iter().map(|(what, count)| format!("{count} primitives {what}")).collect();
    if unskinned > 0 {
        told.push(format!("{unskinned} nodes with a mesh but no skin"));
    }
    if !told.is_empty() {
        cx.warn(format!("kept in the file, but not part of the mesh: {}", told.join(", ")));
    }
}

/// One warning per mesh that had broken weights.
fn tell_defects(document: &Document, read: &[(Place, Geometry)], cx: &Cx) {
    let names = mesh_names(document);
    let mut by_mesh: BTreeMap<usize, (Defects, usize)> = BTreeMap::new();
    for (place, geometry) in read.iter().filter(|(_, geometry)| !geometry.defects.none()) {
        let new = &geometry.defects;
        let (sum, _) = by_mesh.entry(place.mesh).or_insert((Defects::default(), place.primitive));
        sum.not_finite += new.not_finite;
        sum.negative += new.negative;
        sum.twice += new.twice;
        sum.sum += new.sum;
        sum.empty += new.empty;
        sum.first = sum.first.or(new.first);
    }
    for (mesh, (defects, primitive)) in by_mesh {
        let mut told = format!("mesh {:?}: weights were mended, vertices: {defects}", names[mesh]);
        if let Some(first) = defects.first {
            let _ = write!(told, "; the first is vertex {first} of meshes[{mesh}].primitives[{primitive}]");
        }
        cx.warn(told);
    }
}

/// What of each skin is used.
fn skin_uses(
    accessors: &Accessors,
    shown: &BTreeMap<(usize, usize), Vec<u32>>,
    read: &[(Place, Geometry)],
    cx: &Cx,
) -> Result<BTreeMap<usize, SkinUse>> {
    let mut skins: BTreeMap<usize, SkinUse> = BTreeMap::new();
    let mut most = BTreeMap::new();
    for (place, geometry) in read {
        cx.check()?;
        if !skins.contains_key(&place.skin) {
            let inverse_binds = binds::inverse_binds(accessors, place.skin, cx)?;
            let used = vec![false; inverse_binds.len()];
            let bounds = (Vec3::INFINITY, Vec3::NEG_INFINITY);
            skins.insert(place.skin, SkinUse { inverse_binds, used, vertices: 0, bounds, node: 0 });
        }
        let Some(entry) = skins.get_mut(&place.skin) else { continue };
        let largest = most.entry(place.skin).or_insert(0);
        if geometry.positions.len() >= *largest {
            *largest = geometry.positions.len();
            entry.node = shown[&(place.mesh, place.skin)][0] as usize;
        }
        entry.vertices += geometry.positions.len();
        for &position in &geometry.positions {
            entry.bounds = (entry.bounds.0.min(position), entry.bounds.1.max(position));
        }
        for (&joint, &weight) in geometry.influences.joints.iter().zip(&geometry.influences.weights) {
            if weight > 0.0 {
                entry.used[usize::from(joint)] = true;
            }
        }
    }
    for entry in skins.values_mut().filter(|entry| entry.vertices == 0) {
        entry.bounds = (Vec3::ZERO, Vec3::ZERO);
    }
    Ok(skins)
}

/// The names of meshes, with their number where a name repeats or is missing.
fn mesh_names(document: &Document) -> Vec<String> {
    let mut counts = BTreeMap::new();
    for mesh in &document.meshes {
        *counts.entry(mesh.name.as_deref().unwrap_or_default()).or_insert(0) += 1;
    }
    let name = |(k, mesh): (usize, &super::document::Mesh)| match mesh.name.as_deref() {
        None | Some("") => format!("mesh {k}"),
        Some(name) if counts[name] > 1 => format!("{name} #{k}"),
        Some(name) => name.to_string(),
    };
    document.meshes.iter().enumerate().map(name).collect()
}

fn join(
    accessors: &Accessors,
    files: &[SourceFile],
    shown: &BTreeMap<(usize, usize), Vec<u32>>,
    read: Vec<(Place, Geometry)>,
    unified: Unified,
    cx: &Cx,
) -> Result<Rigged> {
    let document = accessors.document();
    let names = mesh_names(document);
    let count: usize = read.iter().map(|(_, geometry)| geometry.positions.len()).sum();
    let width = read.iter().map(|(_, geometry)| geometry.influences.needed()).max().unwrap_or(0).max(4);
    let mut colours = Colours::new(accessors, files);
    let (mut positions, mut normals) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let (mut tints, mut triangles, mut parts) = (Vec::with_capacity(count), Vec::new(), Vec::new());
    let (mut joints, mut weights) = (Vec::with_capacity(count * width), Vec::with_capacity(count * width));
    let mut repaired = Vec::with_capacity(read.len());
    for (place, geometry) in read {
        cx.check()?;
        let Geometry { positions: own, normals: stored, triangles: own_triangles, influences, defects } = geometry;
        let path = format!("meshes[{}].primitives[{}]", place.mesh, place.primitive);
        let shift = unified.to_bind[&place.skin];
        let (start, first) = (positions.len() as u32, triangles.len() as u32);
        let source = &document.meshes[place.mesh].primitives[place.primitive];
        tints.extend(colours.of(source, own.len(), &path, cx)?);
        normals.extend(bind_normals(&own, stored, &own_triangles, shift));
        match shift {
            None => positions.extend(own),
            Some(shift) => {
                positions.extend(own.iter().map(|p| shift.transform_point3(p.as_dvec3()).as_vec3()));
                if !positions[start as usize..].iter().all(|p| p.is_finite()) {
                    return Err(bad(
                        &path,
                        "brought to the bind space of the other skins, its positions are not finite",
                    ));
                }
            }
        }
        triangles.extend(own_triangles.iter().map(|corners| corners.map(|corner| corner + start)));
        let numbers = &unified.numbers[&place.skin];
        for (j, w) in
            influences.joints.chunks_exact(influences.width).zip(influences.weights.chunks_exact(influences.width))
        {
            for k in 0..width {
                let weight = w.get(k).copied().unwrap_or(0.0);
                joints.push(if weight > 0.0 { numbers[usize::from(j[k])] } else { 0 });
                weights.push(weight);
            }
        }
        repaired.push(u8::from(!defects.none()));
        parts.push(Part {
            name: names[place.mesh].as_str().into(),
            nodes: shown[&(place.mesh, place.skin)].clone(),
            mesh: place.mesh as u32,
            primitive: place.primitive as u32,
            skin: place.skin as u32,
            vertices: start..positions.len() as u32,
            triangles: first..triangles.len() as u32,
        });
    }
    Ok(Rigged {
        mesh: Mesh {
            positions: positions.into(),
            normals: normals.into(),
            colours: tints.into(),
            triangles: triangles.into(),
            parts: parts.into(),
        },
        skeleton: unified.skeleton,
        skin: Skin { width, joints: joints.into(), weights: weights.into() },
        repaired,
    })
}

/// Unit normals in bind space: the stored ones, or computed ones where there are none.
fn bind_normals(
    positions: &[Vec3],
    stored: Option<Vec<Vec3>>,
    triangles: &[[u32; 3]],
    shift: Option<DMat4>,
) -> Vec<Vec3> {
    let usable = |normal: &Vec3| normal.is_finite() && normal.length_squared() > 1e-12;
    let mut normals = match stored {
        Some(stored) if stored.iter().all(usable) => stored,
        stored => {
            let computed = primitive::computed_normals(positions, triangles);
            match stored {
                None => computed,
                Some(stored) => {
                    stored.iter().zip(computed).map(|(&own, other)| if usable(&own) { own } else { other }).collect()
                }
            }
        }
    };
    let turn = shift.map(|shift| DMat3::from_mat4(shift).inverse().transpose().as_mat3());
    normals.par_iter_mut().with_min_len(1 << 14).for_each(|normal| {
        let turned = turn.map_or(*normal, |turn| turn * *normal);
        *normal = if turned.is_normalized() { turned } else { turned.try_normalize().unwrap_or(Vec3::Y) };
    });
    normals
}
