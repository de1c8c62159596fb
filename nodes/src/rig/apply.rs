//! `rig.apply`: chains and weights become part of a character.

use glam::{Mat4, Vec3};
use sinew_graph::{Cx, NodeError, Result, node};

use super::chain::patch::STRIDE;
use crate::data::{Chain, Chains, Character, Joint, Skeleton, Skin};

/// Gives a character the joints of chains and new weights.
///
/// New joints stand behind the existing ones, whose numbers, nodes and clips stay as they are. Each hangs from the one
/// before it, the first of a chain from the joint that the chain was found on, and takes over the bind orientation and
/// scale of that joint: each is a pure translation in its parent.
#[node(id = "rig.apply", revision = 1)]
pub fn apply(
    /// The character.
    character: &Character,
    /// Chains whose joints to add.
    chains: Option<&Chains>,
    /// The new weights, for every vertex.
    skin: &Skin,
    cx: &Cx,
) -> Result<Character> {
    let skeleton = match chains {
        Some(chains) => with_chains(&character.skeleton, chains)?,
        None => character.skeleton.clone(),
    };
    let used = check_skin(character, &skeleton, skin, chains.is_some(), cx)?;
    if let Some(chains) = chains {
        for (chain, first) in chains.added() {
            if !used[first..first + chain.bones()].contains(&true) {
                cx.warn_at("skin", format!("no vertex follows chain {}: connect its chain weights", chain.name));
            }
        }
    }
    Ok(Character { skeleton, skin: skin.clone(), ..character.clone() })
}

fn with_chains(skeleton: &Skeleton, chains: &Chains) -> Result<Skeleton> {
    let other = || {
        NodeError::new("the chains were made for another skeleton than the character's")
            .at("chains")
            .help("connect the character that the regions were found on")
    };
    if chains.body.skeleton.joints != skeleton.joints {
        return Err(other());
    }
    let count = chains.joint_count();
    if count > usize::from(u16::MAX) + 1 {
        return Err(NodeError::new(format!("the character would have {count} joints, and 65,536 can be numbered"))
            .at("chains")
            .help("lower the count of bones or pick fewer regions"));
    }
    let mut joints = skeleton.joints.to_vec();
    let mut binds = skeleton.binds.to_vec();
    for (chain, _) in chains.added() {
        let parent = usize::from(chain.parent);
        if parent >= skeleton.binds.len() {
            return Err(other());
        }
        let bind = skeleton.bind(parent);
        check_bind(chain, &skeleton.joints[parent], parent, bind)?;
        for (k, (name, &at)) in chain.joint_names().zip(chain.joints.iter()).enumerate() {
            let above = if k == 0 { chain.parent } else { (joints.len() - 1) as u16 };
            joints.push(Joint { name: name.into(), parent: Some(above), node: None, has_bind: true });
            binds.push(Mat4 { w_axis: at.extend(1.0), ..bind }.to_cols_array());
        }
    }
    Ok(Skeleton { joints: joints.into(), binds: binds.into(), ..skeleton.clone() })
}

/// A joint whose bind is flat has no inverse, and neither would the joints of the chain.
fn check_bind(chain: &Chain, joint: &Joint, number: usize, bind: Mat4) -> Result<()> {
    let axes: [Vec3; 3] = [bind.x_axis, bind.y_axis, bind.z_axis].map(|axis| axis.truncate());
    let box_volume: f32 = axes.iter().map(|axis| axis.length()).product();
    let volume = axes[0].cross(axes[1]).dot(axes[2]).abs();
    if volume.is_finite() && volume > 1e-6 * box_volume {
        return Ok(());
    }
    Err(NodeError::new(format!("joint {number} ({}), which {} hangs from, has a flat bind", joint.name, chain.name))
        .at("chains")
        .help("give the joint a scale other than 0 along each axis in its source program"))
}

/// Whether each joint moves some vertex; an error if the weights do not fit the character.
fn check_skin(character: &Character, skeleton: &Skeleton, skin: &Skin, chains: bool, cx: &Cx) -> Result<Vec<bool>> {
    let vertices = character.mesh.positions.len();
    if skin.len() != vertices || skin.weights.len() != skin.joints.len() {
        return Err(NodeError::new(format!("has weights for {} vertices, the character has {vertices}", skin.len()))
            .at("skin")
            .help("connect weights made for this character"));
    }
    let mut used = vec![false; skeleton.joints.len()];
    for (k, (joints, weights)) in skin.joints.chunks(STRIDE).zip(skin.weights.chunks(STRIDE)).enumerate() {
        cx.check()?;
        for (at, (&joint, &weight)) in joints.iter().zip(weights).enumerate() {
            let vertex = || (k * STRIDE + at) / skin.width.max(1);
            if !(weight.is_finite() && weight >= 0.0) {
                return Err(NodeError::new(format!("vertex {} has a weight of {weight}", vertex()))
                    .at("skin")
                    .help("weights are numbers from 0 to 1: check the node that made them"));
            }
            match used.get_mut(usize::from(joint)) {
                Some(used) => *used |= weight > 0.0,
                None => {
                    let next = if chains {
                        "connect the chains that the weights were made from"
                    } else {
                        "connect the chains too"
                    };
                    let count = skeleton.joints.len();
                    let what = format!("vertex {} follows joint {joint}, but there are {count} joints", vertex());
                    return Err(NodeError::new(what).at("skin").help(next));
                }
            }
        }
    }
    Ok(used)
}

#[cfg(test)]
mod tests;
