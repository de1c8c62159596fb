//! Writes the weights of the parts that changed: the four largest influences of every vertex.

use std::collections::BTreeMap;

use sinew_graph::{Cx, NodeError, Result};

use super::append::{Appender, Holds};
use super::draco;
use super::joints::SkinNumbers;
use super::json::{entry, object};
use crate::data::{Character, Skin};
use crate::io::gltf::accessor::Accessors;

/// Influences that every renderer reads.
const INFLUENCES: usize = 4;

/// The parts whose weights differ from those in the file, by number.
pub fn changed(character: &Character) -> Vec<usize> {
    let (new, old) = (&character.skin, &character.source_skin);
    let row = |skin: &Skin, v: usize| v * skin.width..(v + 1) * skin.width;
    let stored_alike = |v: usize| {
        let (a, b) = (row(new, v), row(old, v));
        new.joints[a.clone()] == old.joints[b.clone()] && new.weights[a] == old.weights[b]
    };
    let same_vertex = |v: usize| stored_alike(v) || new.influences(v).eq(old.influences(v));
    let shared = new.width == old.width
        && std::sync::Arc::ptr_eq(&new.joints, &old.joints)
        && std::sync::Arc::ptr_eq(&new.weights, &old.weights);
    let parts = character.mesh.parts.iter().enumerate();
    let differs = parts.filter(|(k, part)| {
        let repaired = character.source.repaired.get(*k).is_some_and(|&repaired| repaired != 0);
        repaired || (!shared && !part.vertices.clone().all(|v| same_vertex(v as usize)))
    });
    differs.map(|(k, _)| k).collect()
}

/// The joints and weights of a part, as they are stored.
#[derive(PartialEq)]
struct Stored {
    joints: Vec<[u16; INFLUENCES]>,
    weights: Vec<[f32; INFLUENCES]>,
}

/// Writes the weights of these parts.
pub fn write(
    out: &mut Appender,
    character: &Character,
    parts: &[usize],
    skins: &SkinNumbers,
    accessors: &Accessors,
    cx: &Cx,
) -> Result<()> {
    let mut by_primitive: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
    for (k, part) in character.mesh.parts.iter().enumerate() {
        by_primitive.entry((part.mesh, part.primitive)).or_default().push(k);
    }
    by_primitive.retain(|_, of| of.iter().any(|part| parts.contains(part)));
    let mut reduced = Reduced::default();
    for ((mesh, primitive), of) in by_primitive {
        cx.check()?;
        let path = format!("meshes[{mesh}].primitives[{primitive}]");
        let mut results = of.iter().map(|&part| stored(character, part, skins, &mut reduced, cx));
        let Some(first) = results.next().transpose()? else { continue };
        for other in results {
            if other? != first {
                return Err(NodeError::new(format!(
                    "{path} is shown with several skins, and its weights differ for them"
                ))
                .at("character")
                .help("give each skin a mesh of its own where the model was made"));
            }
        }
        if accessors.document().meshes.get(mesh as usize).and_then(|m| m.primitives.get(primitive as usize)).is_none() {
            return Err(NodeError::new(format!("the source has no {path}")).at("character"));
        }
        draco::unpack(out, accessors, mesh as usize, primitive as usize)?;
        let largest = first.joints.iter().flatten().max().copied().unwrap_or(0);
        let joints = if largest <= 255 {
            let bytes: Vec<u8> = first.joints.iter().flatten().map(|&joint| joint as u8).collect();
            out.accessor(Holds::JointsU8, &bytes)?
        } else {
            out.accessor(Holds::JointsU16, bytemuck::cast_slice(&first.joints))?
        };
        let weights = out.accessor(Holds::Weights, bytemuck::cast_slice(&first.weights))?;
        let primitive = entry(entry(&mut out.json, "meshes", mesh as usize)?, "primitives", primitive as usize)?;
        let attributes = object(&mut primitive["attributes"])?;
        attributes.insert("JOINTS_0".into(), joints.into());
        attributes.insert("WEIGHTS_0".into(), weights.into());
        let further = |name: &str| {
            let set = name.strip_prefix("JOINTS_").or_else(|| name.strip_prefix("WEIGHTS_"));
            set.is_some_and(|set| set != "0")
        };
        attributes.retain(|name, _| !further(name));
    }
    reduced.tell(cx);
    Ok(())
}

/// Vertices that had to give up influences.
#[derive(Default)]
struct Reduced {
    vertices: usize,
    share: f32,
    first: u32,
}

impl Reduced {
    fn tell(&self, cx: &Cx) {
        if self.vertices > 0 {
            cx.warn_at(
                "character",
                format!(
                    "{} vertices have more than {INFLUENCES} influences; the {INFLUENCES} largest are written, scaled to 1. \
                     The most that was left out is {:.1} % of a vertex; the first is vertex {}",
                    self.vertices,
                    self.share * 100.0,
                    self.first
                ),
            );
        }
    }
}

fn stored(character: &Character, part: usize, skins: &SkinNumbers, reduced: &mut Reduced, cx: &Cx) -> Result<Stored> {
    let part = &character.mesh.parts[part];
    let numbers = skins.get(&part.skin).ok_or_else(|| NodeError::new("a part has no skin").at("character"))?;
    let mut number_of = vec![None; character.skeleton.joints.len()];
    numbers.iter().for_each(|(&joint, &number)| number_of[usize::from(joint)] = Some(number));
    let mut out =
        Stored { joints: Vec::with_capacity(part.vertices.len()), weights: Vec::with_capacity(part.vertices.len()) };
    let mut row: Vec<(u16, f64)> = Vec::new();
    for v in part.vertices.clone() {
        if v % 4096 == 0 {
            cx.check()?;
        }
        merged(&character.skin, v as usize, &mut row);
        let total: f64 = row.iter().map(|(_, weight)| weight).sum();
        if row.is_empty() || !total.is_finite() {
            return Err(NodeError::new(format!("vertex {v} of {:?} has no usable weight", part.name))
                .at("character")
                .help("look at the node that made the weights: those of each vertex sum to 1"));
        }
        let mut sum = total;
        if row.len() > INFLUENCES {
            sum = row[..INFLUENCES].iter().map(|(_, weight)| weight).sum();
            if reduced.vertices == 0 {
                reduced.first = v;
            }
            reduced.vertices += 1;
            reduced.share = reduced.share.max((1.0 - sum / total) as f32);
            row.truncate(INFLUENCES);
        }
        let (mut joints, mut weights) = ([0; INFLUENCES], [0.0; INFLUENCES]);
        // The largest takes what rounding leaves, so that the sum is 1 to the last bit.
        let mut others = 0.0;
        for (k, &(joint, weight)) in row.iter().enumerate() {
            let number = number_of[usize::from(joint)].ok_or_else(|| {
                NodeError::new(format!("vertex {v} of {:?} names joint {joint}, which its skin lacks", part.name))
                    .at("character")
            })?;
            if k > 0 {
                weights[k] = (weight / sum) as f32;
                others += f64::from(weights[k]);
            }
            if k == 0 || weights[k] != 0.0 {
                joints[k] = number;
            }
        }
        weights[0] = (1.0 - others) as f32;
        out.joints.push(joints);
        out.weights.push(weights);
    }
    Ok(out)
}

/// The influences of a vertex, each joint once, falling.
fn merged(skin: &Skin, vertex: usize, row: &mut Vec<(u16, f64)>) {
    row.clear();
    for (joint, weight) in skin.influences(vertex) {
        match row.iter_mut().find(|(j, _)| *j == joint) {
            Some((_, sum)) => *sum += f64::from(weight),
            None => row.push((joint, f64::from(weight))),
        }
    }
    row.sort_by(|a, b| b.1.total_cmp(&a.1));
}
