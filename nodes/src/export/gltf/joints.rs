//! Writes the joints that Sinew added: as nodes, and into the skins.

use std::collections::{BTreeMap, BTreeSet};

use glam::{DMat4, DVec4, Quat};
use serde_json::{Value, json};
use sinew_graph::{NodeError, Result};

use super::append::{Appender, Holds};
use super::json::{array, entry, numbers};
use crate::data::{Character, Transform};
use crate::io::gltf::accessor::Accessors;
use crate::io::gltf::document::Document;

/// A joint without a node, and the node it gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Added {
    /// Its number in the skeleton.
    pub joint: usize,
    /// The number of its new node.
    pub node: usize,
}

/// Per skin: joint numbers of the skeleton to numbers in the skin.
pub type SkinNumbers = BTreeMap<u32, BTreeMap<u16, u16>>;

/// The joints that have no node yet, numbered behind those of the file.
pub fn added(character: &Character, document: &Document) -> Result<Vec<Added>> {
    let nodes = document.nodes.len();
    let joints = character.skeleton.joints.iter().enumerate();
    if let Some((_, joint)) = joints.clone().find(|(_, joint)| joint.node.is_some_and(|node| node as usize >= nodes)) {
        return Err(NodeError::new(format!("joint {:?} names a node that the source does not have", joint.name))
            .at("character")
            .help("leave the node of added joints empty"));
    }
    let without = joints.filter(|(_, joint)| joint.node.is_none());
    Ok(without.enumerate().map(|(k, (joint, _))| Added { joint, node: nodes + k }).collect())
}

fn bind(character: &Character, joint: usize) -> DMat4 {
    DMat4::from_cols_array(&character.skeleton.binds[joint].map(f64::from))
}

/// Appends a node per added joint, as the last child of its parent's node.
pub fn write_nodes(out: &mut Appender, character: &Character, added: &[Added]) -> Result<()> {
    let skeleton = &character.skeleton;
    let node_of = |joint: usize| match skeleton.joints[joint].node {
        Some(node) => Some(node as usize),
        None => added.iter().find(|a| a.joint == joint).map(|a| a.node),
    };
    for a in added {
        let joint = &skeleton.joints[a.joint];
        let parent = joint.parent.map(usize::from);
        let space = match parent {
            Some(parent) => bind(character, parent),
            // Roots of the file stand in its world.
            None => DMat4::from_cols_array(&skeleton.to_world.map(f64::from)).inverse(),
        };
        let local = space.inverse() * bind(character, a.joint);
        let node = node(&joint.name, local).ok_or_else(|| {
            NodeError::new(format!(
                "joint {:?} has a bind matrix that is no translation, rotation and scale",
                joint.name
            ))
            .at("character")
            .help("give added joints the axes of their parent")
        })?;
        array(&mut out.json, "nodes")?.push(node);
        match parent {
            Some(parent) => {
                let above = node_of(parent).ok_or_else(|| NodeError::new("an added joint has no node"))?;
                array(entry(&mut out.json, "nodes", above)?, "children")?.push(a.node.into());
            }
            None => {
                let scene = out.json.get("scene").and_then(Value::as_u64).unwrap_or(0) as usize;
                if out.json.get("scenes").is_some() {
                    array(entry(&mut out.json, "scenes", scene)?, "nodes")?.push(a.node.into());
                }
            }
        }
    }
    Ok(())
}

/// A node with this local matrix, as translation, rotation and scale where they differ from none.
fn node(name: &str, local: DMat4) -> Option<Value> {
    let (scale, rotation, translation) = local.to_scale_rotation_translation();
    let transform = Transform {
        translation: translation.as_vec3(),
        rotation: rotation.as_quat().normalize().to_array(),
        scale: scale.as_vec3(),
    };
    let (back, wanted) = (transform.matrix(), local.as_mat4());
    let size = wanted.to_cols_array().iter().fold(1e-30f32, |size, x| size.max(x.abs()));
    if !local.is_finite() || !back.abs_diff_eq(wanted, 1e-4 * size) {
        return None;
    }
    let mut node = json!({ "name": name, "translation": numbers(&transform.translation.to_array()) });
    let turn = Quat::from_array(transform.rotation);
    if turn.x.abs().max(turn.y.abs()).max(turn.z.abs()) > 1e-6 {
        node["rotation"] = numbers(&transform.rotation);
    }
    if (scale - glam::DVec3::ONE).abs().max_element() > 1e-5 {
        node["scale"] = numbers(&transform.scale.to_array());
    }
    Some(node)
}

/// Appends joints to every skin that shows a part of the mesh and has their parents, or whose vertices need them.
pub fn write_skins(
    out: &mut Appender,
    character: &Character,
    added: &[Added],
    changed_parts: &[usize],
    accessors: &Accessors,
) -> Result<SkinNumbers> {
    let document = accessors.document();
    let skeleton = &character.skeleton;
    let mut by_node = BTreeMap::new();
    for (k, joint) in skeleton.joints.iter().enumerate() {
        let node = joint.node.map(|node| node as usize).or_else(|| added.iter().find(|a| a.joint == k).map(|a| a.node));
        if let Some(node) = node {
            by_node.insert(node, k);
        }
    }
    let node_of: BTreeMap<usize, usize> = by_node.iter().map(|(&node, &joint)| (joint, node)).collect();
    let parts = &character.mesh.parts;
    let skins: BTreeSet<u32> = parts.iter().map(|part| part.skin).collect();
    let mut all = SkinNumbers::new();
    for skin in skins {
        let Some(source) = document.skins.get(skin as usize) else {
            return Err(NodeError::new(format!("the source has no skins[{skin}]")).at("character"));
        };
        let mut numbers = BTreeMap::new();
        for (k, node) in source.joints.iter().enumerate() {
            if let Some(&joint) = by_node.get(node) {
                numbers.insert(joint as u16, k as u16);
            }
        }
        let mut new: Vec<usize> = Vec::new();
        let mut take = |joint: usize, numbers: &mut BTreeMap<u16, u16>| -> Result<()> {
            let next = u16::try_from(source.joints.len() + new.len())
                .map_err(|_| NodeError::new(format!("skins[{skin}] would have more than 65,536 joints")))?;
            numbers.insert(joint as u16, next);
            new.push(joint);
            Ok(())
        };
        for a in added {
            if skeleton.joints[a.joint].parent.is_some_and(|parent| numbers.contains_key(&parent)) {
                take(a.joint, &mut numbers)?;
            }
        }
        let mut known = vec![false; skeleton.joints.len()];
        numbers.keys().for_each(|&joint| known[usize::from(joint)] = true);
        for &part in changed_parts.iter().filter(|&&part| parts[part].skin == skin) {
            for vertex in parts[part].vertices.clone() {
                for (joint, _) in character.skin.influences(vertex as usize) {
                    if !std::mem::replace(&mut known[usize::from(joint)], true) {
                        take(joint.into(), &mut numbers)?;
                    }
                }
            }
        }
        if !new.is_empty() {
            let matrices = inverse_binds(character, skin, &numbers, &new, accessors)?;
            let accessor = out.accessor(Holds::Matrices, bytemuck::cast_slice(&matrices))?;
            let entry = entry(&mut out.json, "skins", skin as usize)?;
            entry["inverseBindMatrices"] = accessor.into();
            let list = array(entry, "joints")?;
            list.extend(new.iter().filter_map(|joint| node_of.get(joint)).map(|&node| Value::from(node)));
        }
        all.insert(skin, numbers);
    }
    Ok(all)
}

/// The inverse bind matrices of a skin: those it has, and those of new joints behind them.
fn inverse_binds(
    character: &Character,
    skin: u32,
    numbers: &BTreeMap<u16, u16>,
    new: &[usize],
    accessors: &Accessors,
) -> Result<Vec<[f32; 16]>> {
    let source = &accessors.document().skins[skin as usize];
    let path = format!("skins[{skin}].inverseBindMatrices");
    let mut matrices = match source.inverse_bind_matrices {
        Some(accessor) => accessors.floats::<16>(accessor, &path)?,
        None => Vec::new(),
    };
    matrices.resize(source.joints.len(), DMat4::IDENTITY.as_mat4().to_cols_array());
    // The skin's mesh space to bind space, told by a joint that moves one of its vertices.
    let parts = character.mesh.parts.iter().filter(|part| part.skin == skin);
    let mut used =
        parts.flat_map(|part| part.vertices.clone()).flat_map(|v| character.source_skin.influences(v as usize));
    let witness = used.find_map(|(joint, _)| Some((usize::from(joint), usize::from(*numbers.get(&joint)?))));
    let to_bind = match witness {
        Some((joint, k)) if k < matrices.len() => {
            let shift = bind(character, joint) * DMat4::from_cols_array(&matrices[k].map(f64::from));
            let axes = glam::DMat3::from_mat4(shift);
            let (lo, hi) = character.mesh.bounds();
            let extent = f64::from((hi - lo).length()).max(1e-30);
            let plain =
                axes.abs_diff_eq(glam::DMat3::IDENTITY, 1e-4) && shift.w_axis.truncate().length() < 1e-4 * extent;
            if plain { DMat4::IDENTITY } else { shift }
        }
        _ => DMat4::IDENTITY,
    };
    for &joint in new {
        let mut inverse = bind(character, joint).inverse() * to_bind;
        for column in [&mut inverse.x_axis, &mut inverse.y_axis, &mut inverse.z_axis] {
            column.w = 0.0;
        }
        inverse.w_axis = DVec4::from((inverse.w_axis.truncate(), 1.0));
        if !inverse.is_finite() {
            let name = &character.skeleton.joints[joint].name;
            return Err(NodeError::new(format!("the bind matrix of joint {name:?} has no inverse")).at("character"));
        }
        matrices.push(inverse.as_mat4().to_cols_array());
    }
    Ok(matrices)
}
