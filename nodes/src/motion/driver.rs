//! The nodes that chains and colliders hang from, moved by a clip at any time.

use std::collections::BTreeMap;

use glam::{DAffine3, DMat3, DQuat};
use sinew_graph::Result;

use crate::data::{Channel, Clip, Transform};
use crate::pose::{Rig, malformed, matrix, sample_local};

/// Some nodes of a rig and all above them. The rest of the rig is never looked at.
#[derive(Clone, Debug)]
pub(super) struct Driver {
    /// Parents before children.
    nodes: Vec<Driven>,
    /// The place in `nodes` of each node of the rig.
    places: BTreeMap<usize, usize>,
}

#[derive(Clone, Copy, Debug)]
struct Driven {
    parent: Option<usize>,
    rest: Transform,
}

/// A clip over a [`Driver`].
pub(super) struct Drive<'a> {
    driver: &'a Driver,
    clip: &'a Clip,
    channels: Vec<(usize, &'a Channel)>,
    /// Nodes that no channel moves, and nothing above them, keep their matrix.
    still: Vec<bool>,
    locals: Vec<Transform>,
    globals: Vec<DAffine3>,
}

impl Driver {
    /// These nodes, by their number in the rig, and all above them.
    pub fn new(rig: &Rig, nodes: impl IntoIterator<Item = usize>) -> Self {
        let mut driver = Self { nodes: Vec::new(), places: BTreeMap::new() };
        for node in nodes {
            driver.add(rig, node);
        }
        driver
    }

    fn add(&mut self, rig: &Rig, node: usize) {
        let mut path: Vec<usize> = std::iter::successors(Some(node), |&node| rig.parent(node)).collect();
        while let Some(node) = path.pop() {
            if self.places.contains_key(&node) {
                continue;
            }
            let parent = rig.parent(node).map(|parent| self.places[&parent]);
            self.places.insert(node, self.nodes.len());
            self.nodes.push(Driven { parent, rest: rig.rest().locals[node] });
        }
    }

    /// Where a node stands in [`Drive::globals`].
    pub fn place(&self, node: usize) -> usize {
        self.places[&node]
    }

    /// Ready to be moved by a clip.
    pub fn drive<'a>(&'a self, clip: &'a Clip) -> Drive<'a> {
        let channels: Vec<(usize, &Channel)> = clip
            .channels
            .iter()
            .filter_map(|channel| Some((*self.places.get(&(channel.node as usize))?, channel)))
            .collect();
        let mut still = vec![true; self.nodes.len()];
        channels.iter().for_each(|&(place, _)| still[place] = false);
        let locals: Vec<Transform> = self.nodes.iter().map(|node| node.rest).collect();
        let mut globals: Vec<DAffine3> = Vec::with_capacity(locals.len());
        for (k, (node, local)) in self.nodes.iter().zip(&locals).enumerate() {
            still[k] &= node.parent.is_none_or(|parent| still[parent]);
            globals.push(node.parent.map_or(DAffine3::IDENTITY, |parent| globals[parent]) * matrix(local));
        }
        Drive { driver: self, clip, channels, still, locals, globals }
    }
}

impl Drive<'_> {
    /// The matrices of all nodes in the file's world at a time in seconds.
    pub fn globals(&mut self, time: f64) -> Result<&[DAffine3]> {
        for &(place, channel) in &self.channels {
            sample_local(channel, time, &mut self.locals[place]).map_err(|what| malformed(self.clip, channel, what))?;
        }
        for (k, node) in self.driver.nodes.iter().enumerate().filter(|&(k, _)| !self.still[k]) {
            let local = matrix(&self.locals[k]);
            self.globals[k] = node.parent.map_or(local, |parent| self.globals[parent] * local);
        }
        Ok(&self.globals)
    }
}

/// The rotation in a matrix without mirroring, its nearest one, and its mean scale; none if it is flat, mirrored or not
/// finite.
pub(super) fn turn_and_scale(matrix: &DMat3) -> Option<(DQuat, f64)> {
    let scale = matrix.determinant().cbrt();
    if !(scale.is_finite() && scale > 0.0) {
        return None;
    }
    // Newton's way to the polar decomposition; two rounds are enough for any matrix that is almost a rotation.
    let mut turn = *matrix * scale.recip();
    for _ in 0..32 {
        let inverse = turn.inverse().transpose();
        let next = (turn + inverse) * 0.5;
        let change = (next - turn).to_cols_array().iter().fold(0.0f64, |most, x| most.max(x.abs()));
        turn = next;
        if change < 1e-12 {
            break;
        }
    }
    let turn = DQuat::from_mat3(&turn).normalize();
    turn.is_finite().then_some((turn, scale))
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;

    #[test]
    fn the_rotation_in_a_stretched_matrix_is_its_nearest_one() {
        let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), 2.1);
        for scale in [DVec3::splat(1.0), DVec3::splat(0.01), DVec3::new(90.0, 110.0, 100.0)] {
            let (found, mean) = turn_and_scale(&(DMat3::from_quat(turn) * DMat3::from_diagonal(scale))).unwrap();
            assert!(found.dot(turn).abs() > 1.0 - 1e-12, "{found} is not {turn}");
            assert!((mean / scale.element_product().cbrt() - 1.0).abs() < 1e-12);
        }
        for flat in [DVec3::new(1.0, 1.0, 0.0), DVec3::new(1.0, 1.0, -1.0), DVec3::splat(f64::NAN)] {
            assert_eq!(turn_and_scale(&DMat3::from_diagonal(flat)), None);
        }
    }
}
