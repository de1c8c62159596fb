//! Poses: clips sampled over the nodes of a file, joints in its world, and the skin that follows them.
//!
//! [`Rig`] is compiled once per skeleton and used for every time of every clip. Matrices are multiplied in 64 bits,
//! because rigs scaled by 100 under nodes scaled by 0.01 are common, and handed out in 32. Every result is a function
//! of its arguments alone, so it has the same bits on any number of threads.

mod four;
mod sample;
mod skin;

use glam::{Affine3A, DAffine3, DMat4, DQuat, DVec3, Mat4};
use sinew_graph::{NodeError, Result};

use crate::data::{Clip, Skeleton, Transform};

pub use four::{FOUR, Place4, QuadMatrices};
pub use sample::{find_clip, sample_channel};
pub(crate) use sample::{malformed, sample_local, slerp};
pub(crate) use skin::check_skin;
pub use skin::skin_positions;

/// The local transform of every node: those of the file first, then the joints that Sinew added, in order. A place in
/// this list is what a [`Channel`](crate::data::Channel) calls a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Pose {
    /// Local transforms, relative to the parent node.
    pub locals: Vec<Transform>,
}

/// What moves the skin: per joint the matrix from bind space to the file's world.
#[derive(Clone, Debug, PartialEq)]
pub struct JointMatrices {
    /// Global matrix times inverse bind matrix, by joint number.
    pub joints: Vec<Affine3A>,
    /// Bind space to world, for vertices without any weight.
    pub unweighted: Affine3A,
}

/// A skeleton made ready for posing.
#[derive(Clone, Debug)]
pub struct Rig {
    /// Parent of each node, file nodes then added joints.
    parents: Vec<Option<u32>>,
    /// All nodes, parents before children.
    order: Vec<u32>,
    /// The pose of nodes that no channel moves.
    rest: Pose,
    /// The node of each joint.
    joint_nodes: Vec<u32>,
    inverse_binds: Vec<DAffine3>,
    to_world: DAffine3,
}

impl Rig {
    /// Checks a skeleton and makes it ready. Refused are parents out of range, cycles, and bind matrices that cannot
    /// be inverted, by name.
    pub fn new(skeleton: &Skeleton) -> Result<Self> {
        let nodes = skeleton.node_parents.len();
        let to_world = affine(&skeleton.to_world);
        let binds: Vec<DAffine3> = skeleton.binds.iter().map(affine).collect();
        let named = |joint: usize| format!("joint {joint} ({:?})", skeleton.joints[joint].name);
        let broken = |what: String| NodeError::new(what).help("repair the skeleton in the program it comes from");
        if nodes != skeleton.node_locals.len() || binds.len() != skeleton.joints.len() {
            return Err(broken(format!(
                "the skeleton has {nodes} node parents, {} node transforms, {} joints and {} bind matrices",
                skeleton.node_locals.len(),
                skeleton.joints.len(),
                binds.len()
            )));
        }

        let mut joint_nodes = Vec::with_capacity(binds.len());
        let mut total = nodes as u32;
        for (k, joint) in skeleton.joints.iter().enumerate() {
            let node = joint.node.unwrap_or(total);
            if joint.node.is_none() {
                total += 1;
            } else if node as usize >= nodes {
                return Err(broken(format!("{} names node {node} of {nodes}", named(k))));
            }
            joint_nodes.push(node);
        }

        let mut parents = Vec::with_capacity(total as usize);
        for (node, &parent) in skeleton.node_parents.iter().enumerate() {
            if parent >= nodes as i32 {
                return Err(broken(format!("node {node} has node {parent} of {nodes} as parent")));
            }
            parents.push(u32::try_from(parent).ok());
        }
        let mut rest = Pose { locals: skeleton.node_locals.to_vec() };
        let mut inverse_binds = Vec::with_capacity(binds.len());
        for (k, joint) in skeleton.joints.iter().enumerate() {
            let inverse = binds[k].inverse();
            if !binds[k].is_finite() || !inverse.is_finite() {
                return Err(broken(format!("the bind matrix of {} cannot be inverted", named(k))));
            }
            inverse_binds.push(inverse);
            if joint.node.is_none() {
                let parent = match joint.parent.map(usize::from) {
                    Some(parent) if parent < binds.len() => Some(parent),
                    Some(parent) => return Err(broken(format!("{} has joint {parent} as parent", named(k)))),
                    None => None,
                };
                let local = match parent {
                    Some(parent) => binds[parent].inverse() * binds[k],
                    None => to_world * binds[k],
                };
                parents.push(parent.map(|parent| joint_nodes[parent]));
                rest.locals.push(transform(&local));
            }
        }
        let order = parents_first(&parents)
            .map_err(|node| broken(format!("node {node} is its own ancestor: the node tree has a cycle")))?;
        Ok(Self { parents, order, rest, joint_nodes, inverse_binds, to_world })
    }

    /// How many nodes there are, added joints included.
    pub fn nodes(&self) -> usize {
        self.parents.len()
    }

    /// How many joints there are.
    pub fn joints(&self) -> usize {
        self.joint_nodes.len()
    }

    /// The node of a joint: its place in [`Pose::locals`].
    pub fn joint_node(&self, joint: usize) -> usize {
        self.joint_nodes[joint] as usize
    }

    /// The node above a node.
    pub fn parent(&self, node: usize) -> Option<usize> {
        self.parents[node].map(|parent| parent as usize)
    }

    /// What stands where no channel moves it: file nodes as stored, added joints in their bind pose.
    pub fn rest(&self) -> &Pose {
        &self.rest
    }

    /// The pose of a clip at a time in seconds. Before the first key and behind the last a channel is constant; nodes
    /// without a channel rest. An error names the clip and node of a channel that is malformed.
    pub fn sample(&self, clip: &Clip, time: f32) -> Result<Pose> {
        let mut pose = self.rest.clone();
        self.sample_into(clip, time, &mut pose)?;
        Ok(pose)
    }

    /// Like [`Rig::sample`], into a pose that is reused.
    pub fn sample_into(&self, clip: &Clip, time: f32, pose: &mut Pose) -> Result<()> {
        pose.locals.clone_from(&self.rest.locals);
        sample::sample_clip(clip, time.into(), &mut pose.locals)
    }

    /// The matrix of every node in the file's world.
    pub fn node_globals(&self, pose: &Pose) -> Vec<DAffine3> {
        let mut globals = vec![DAffine3::IDENTITY; self.parents.len()];
        for &node in &self.order {
            let local = matrix(&pose.locals[node as usize]);
            globals[node as usize] = match self.parents[node as usize] {
                Some(parent) => globals[parent as usize] * local,
                None => local,
            };
        }
        globals
    }

    /// The matrix of every joint in the file's world.
    pub fn joint_globals(&self, pose: &Pose) -> Vec<DAffine3> {
        let globals = self.node_globals(pose);
        self.joint_nodes.iter().map(|&node| globals[node as usize]).collect()
    }

    /// What moves the skin in a pose.
    pub fn matrices(&self, pose: &Pose) -> JointMatrices {
        let joints =
            self.joint_globals(pose).iter().zip(&self.inverse_binds).map(|(g, b)| single(&(*g * *b))).collect();
        JointMatrices { joints, unweighted: single(&self.to_world) }
    }

    /// The local transform of a joint in its parent joint (or in bind space) in the bind pose, whatever pose the file
    /// holds (`tail-3d.md` C8).
    pub fn bind_local(&self, joint: usize, parent: Option<usize>) -> DAffine3 {
        let bind = self.inverse_binds[joint].inverse();
        parent.map_or(bind, |parent| self.inverse_binds[parent] * bind)
    }
}

/// The pose of a clip at a time; [`Rig`] is faster for more than one.
pub fn sample(clip: &Clip, time: f32, skeleton: &Skeleton) -> Result<Pose> {
    Rig::new(skeleton)?.sample(clip, time)
}

pub(crate) fn affine(matrix: &[f32; 16]) -> DAffine3 {
    DAffine3::from_mat4(Mat4::from_cols_array(matrix).as_dmat4())
}

fn single(matrix: &DAffine3) -> Affine3A {
    Affine3A::from_mat4(DMat4::from(*matrix).as_mat4())
}

/// A node's local matrix.
pub(crate) fn matrix(local: &Transform) -> DAffine3 {
    // Normalised, because a stored quaternion that is off by a rounding would scale all that hangs below it.
    let rotation = DQuat::from_array(local.rotation.map(f64::from)).normalize();
    DAffine3::from_scale_rotation_translation(local.scale.as_dvec3(), rotation, local.translation.as_dvec3())
}

/// The transform of a matrix without shear.
fn transform(matrix: &DAffine3) -> Transform {
    let (scale, rotation, translation): (DVec3, DQuat, DVec3) = matrix.to_scale_rotation_translation();
    Transform {
        translation: translation.as_vec3(),
        rotation: rotation.to_array().map(|x| x as f32),
        scale: scale.as_vec3(),
    }
}

/// All nodes, parents before children, siblings in order; or a node of a cycle.
fn parents_first(parents: &[Option<u32>]) -> Result<Vec<u32>, u32> {
    let mut order = Vec::with_capacity(parents.len());
    let mut placed = vec![false; parents.len()];
    let mut path = Vec::new();
    for start in 0..parents.len() as u32 {
        let mut at = Some(start);
        while let Some(node) = at.filter(|&node| !placed[node as usize]) {
            if path.len() > parents.len() {
                return Err(node);
            }
            path.push(node);
            at = parents[node as usize];
        }
        while let Some(node) = path.pop() {
            placed[node as usize] = true;
            order.push(node);
        }
    }
    Ok(order)
}

#[cfg(test)]
mod tests;
