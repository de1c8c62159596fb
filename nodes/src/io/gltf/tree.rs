//! The node tree of a document, checked: children exist, nobody has two parents, nothing is its own ancestor.

use glam::{DMat4, DQuat, DVec3};
use sinew_graph::Result;

use super::accessor::bad;
use super::document::{Document, Node};
use crate::data::Transform;

/// Parents, and an order in which they stand before their children.
#[derive(Debug)]
pub struct Tree {
    /// Parent of every node, -1 for roots.
    pub parents: Vec<i32>,
    /// All nodes, parents first.
    pub order: Vec<usize>,
    /// How many nodes stand above each.
    pub depths: Vec<u32>,
}

impl Tree {
    /// Checks the nodes of a document.
    pub fn of(document: &Document) -> Result<Self> {
        let nodes = &document.nodes;
        let mut parents = vec![-1i32; nodes.len()];
        for (k, node) in nodes.iter().enumerate() {
            for (c, &child) in node.children.iter().enumerate() {
                let path = || format!("nodes[{k}].children[{c}]");
                let Some(parent) = parents.get_mut(child) else {
                    return Err(bad(&path(), format!("node {child} of {} is named", nodes.len())));
                };
                if *parent >= 0 {
                    return Err(bad(&path(), format!("node {child} has node {parent} as its parent already")));
                }
                *parent = i32::try_from(k).map_err(|_| bad(&path(), "there are too many nodes"))?;
            }
        }
        let mut order: Vec<usize> = (0..nodes.len()).filter(|&k| parents[k] < 0).collect();
        let mut depths = vec![0; nodes.len()];
        let mut at = 0;
        while let Some(&k) = order.get(at) {
            for &child in &nodes[k].children {
                depths[child] = depths[k] + 1;
                order.push(child);
            }
            at += 1;
        }
        if order.len() < nodes.len() {
            let mut reached = vec![false; nodes.len()];
            order.iter().for_each(|&k| reached[k] = true);
            let first = reached.iter().position(|r| !r).unwrap_or(0);
            return Err(bad(&format!("nodes[{first}]"), "it is its own ancestor, or below such a node"));
        }
        Ok(Self { parents, order, depths })
    }

    /// Every node's transform to the world, in the pose that the file holds.
    pub fn globals(&self, document: &Document) -> Vec<DMat4> {
        let mut globals = vec![DMat4::IDENTITY; self.parents.len()];
        for &k in &self.order {
            let local = matrix(&document.nodes[k]);
            globals[k] = match usize::try_from(self.parents[k]) {
                Ok(parent) => globals[parent] * local,
                Err(_) => local,
            };
        }
        globals
    }
}

/// A node's local matrix.
pub fn matrix(node: &Node) -> DMat4 {
    if let Some(matrix) = node.matrix {
        return DMat4::from_cols_array(&matrix.map(f64::from));
    }
    let rotation = DQuat::from_array(node.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]).map(f64::from));
    let rotation = if rotation.length_squared() > 1e-12 { rotation.normalize() } else { DQuat::IDENTITY };
    DMat4::from_scale_rotation_translation(
        DVec3::from_array(node.scale.unwrap_or([1.0; 3]).map(f64::from)),
        rotation,
        DVec3::from_array(node.translation.unwrap_or([0.0; 3]).map(f64::from)),
    )
}

/// A node's local transform: its own numbers where it has them, else its matrix taken apart.
pub fn transform(node: &Node) -> Transform {
    if node.matrix.is_some() {
        return Transform::from_matrix(matrix(node).as_mat4());
    }
    Transform {
        translation: node.translation.unwrap_or_default().into(),
        rotation: node.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]),
        scale: node.scale.unwrap_or([1.0; 3]).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(children: &[&[usize]]) -> Result<Tree> {
        let nodes = children.iter().map(|c| Node { children: c.to_vec(), ..Node::default() }).collect();
        Tree::of(&Document { nodes, ..Document::default() })
    }

    #[test]
    fn parents_stand_before_children_whatever_their_numbers() {
        let tree = tree(&[&[], &[0, 3], &[1], &[]]).unwrap();
        assert_eq!((tree.parents, tree.order, tree.depths), (vec![1, 2, -1, 1], vec![2, 1, 0, 3], vec![2, 1, 0, 2]));
    }

    #[test]
    fn cycles_two_parents_and_strangers_are_refused_with_their_place() {
        let fails = |children: &[&[usize]]| tree(children).unwrap_err().to_string();
        assert!(fails(&[&[], &[2], &[1]]).starts_with("nodes[1]: it is its own ancestor"));
        assert!(fails(&[&[0]]).starts_with("nodes[0]: it is its own ancestor"));
        assert!(fails(&[&[2], &[2], &[]]).starts_with("nodes[1].children[0]: node 2 has node 0 as its parent already"));
        assert!(fails(&[&[7]]).starts_with("nodes[0].children[0]: node 7 of 1 is named"));
    }
}
