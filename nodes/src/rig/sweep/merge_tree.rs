//! The merge tree of a number per vertex: how the components above a threshold appear and join as it falls.
//!
//! Vertices are taken in falling order into their basins, and a union-find joins basins where they meet. (H. Carr, J. Snoeyink,
//! U. Axen, *Computing contour trees in all dimensions*, 2003, gives the sweep.)

use sinew_graph::{Cx, Result};

use super::basins::{Basins, key};

/// No branch, no vertex.
pub const NONE: u32 = u32::MAX;

/// A component above thresholds from `birth` down to `death`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// The component it becomes part of.
    pub parent: Option<u32>,
    /// The value of its highest vertex.
    pub birth: f32,
    /// The value at which it came to be: its birth for a leaf, else where its children joined.
    pub top: f32,
    /// The value at which it joins another; the floor of the sweep if it never does.
    pub death: f32,
    /// How many vertices it has then.
    pub vertices: u32,
}

/// The tree, without branches that are too faint or too small to matter: those belong to what they join.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeTree {
    /// The branches, children before parents.
    pub nodes: Vec<Node>,
    /// Per vertex: the innermost branch that holds it; `NONE` at or below the floor.
    pub node_of: Vec<u32>,
}

/// What a branch must be to stand for itself where it meets another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Significance {
    /// Least difference between birth and the value of the meeting.
    pub persistence: f32,
    /// Least number of vertices.
    pub vertices: u32,
}

/// Vertices between two looks at the cancel flag.
const BLOCK: usize = 1 << 15;

impl MergeTree {
    /// Sweeps `values` from above down to `floor` (vertices at or below it are left out).
    pub fn of(values: &[f32], triangles: &[[u32; 3]], floor: f32, least: Significance, cx: &Cx) -> Result<Self> {
        let Basins { of: mut node_of, peaks, passes } = Basins::of(values, triangles, floor, cx)?;
        cx.progress(0.3);
        let order = falling(values, floor);
        let mut passes = passes.iter().peekable();
        let mut uf: Vec<u32> = (0..peaks.len() as u32).collect();
        // Per root: its branch, and the number of vertices of its component.
        let mut branch = vec![NONE; peaks.len()];
        let mut size = vec![0u32; peaks.len()];
        let mut nodes: Vec<Node> = Vec::new();
        // Faint branches point to the one that they are part of.
        let mut alias: Vec<u32> = Vec::new();
        for (r, &v) in order.iter().enumerate() {
            if r % BLOCK == 0 {
                cx.check()?;
            }
            let basin = node_of[v as usize];
            let mut here = find(&mut uf, basin);
            if peaks[basin as usize] == v {
                let birth = values[v as usize];
                branch[here as usize] = nodes.len() as u32;
                nodes.push(Node { parent: None, birth, top: birth, death: floor, vertices: 0 });
                alias.push(NONE);
            }
            while let Some(pass) = passes.next_if(|pass| pass.vertex() == v) {
                let other = find(&mut uf, pass.to);
                if here != other {
                    here = join(
                        here,
                        other,
                        (values[v as usize], floor),
                        least,
                        &mut uf,
                        &mut branch,
                        &mut size,
                        &mut nodes,
                        &mut alias,
                    );
                }
            }
            size[here as usize] += 1;
            node_of[v as usize] = branch[here as usize];
        }
        for k in 0..peaks.len() {
            if uf[k] == k as u32 {
                nodes[branch[k] as usize].vertices = size[k];
            }
        }
        Ok(Self::compact(node_of, nodes, alias))
    }

    /// Drops the faint branches and numbers the rest anew, children before parents.
    fn compact(mut node_of: Vec<u32>, nodes: Vec<Node>, mut alias: Vec<u32>) -> Self {
        for k in (0..alias.len()).rev() {
            // Targets may be older or younger: follow to the end and shorten the way for the rest.
            let mut end = k as u32;
            while alias[end as usize] != NONE {
                end = alias[end as usize];
            }
            let mut at = k as u32;
            while alias[at as usize] != NONE && at != end {
                let next = alias[at as usize];
                alias[at as usize] = end;
                at = next;
            }
        }
        let resolve = |k: u32| if alias[k as usize] == NONE { k } else { alias[k as usize] };
        let mut number = vec![NONE; nodes.len()];
        let mut kept = Vec::new();
        for (k, node) in nodes.iter().enumerate() {
            if alias[k] == NONE {
                number[k] = kept.len() as u32;
                kept.push(*node);
            }
        }
        for node in &mut kept {
            node.parent = node.parent.map(|p| number[resolve(p) as usize]);
        }
        for node in node_of.iter_mut().filter(|node| **node != NONE) {
            *node = number[resolve(*node) as usize];
        }
        Self { nodes: kept, node_of }
    }

    /// Whether `node` is `above` or becomes part of it.
    pub fn is_within(&self, node: u32, above: u32) -> bool {
        let mut at = Some(node);
        while let Some(k) = at {
            if k == above {
                return true;
            }
            at = self.nodes[k as usize].parent;
        }
        false
    }

    /// Per branch: whether it is `above` or becomes part of it.
    pub fn within(&self, above: u32) -> Vec<bool> {
        let mut inside = vec![false; self.nodes.len()];
        // Parents stand behind their children.
        for k in (0..self.nodes.len()).rev() {
            inside[k] = k as u32 == above || self.nodes[k].parent.is_some_and(|p| inside[p as usize]);
        }
        inside
    }

    /// The branches that a branch is made of.
    pub fn children(&self) -> Vec<Vec<u32>> {
        let mut children = vec![Vec::new(); self.nodes.len()];
        for (k, node) in self.nodes.iter().enumerate() {
            if let Some(parent) = node.parent {
                children[parent as usize].push(k as u32);
            }
        }
        children
    }
}

#[expect(clippy::too_many_arguments, reason = "the state of the union-find, borrowed apart")]
fn join(
    a: u32,
    b: u32,
    (value, floor): (f32, f32),
    least: Significance,
    uf: &mut [u32],
    branch: &mut [u32],
    size: &mut [u32],
    nodes: &mut Vec<Node>,
    alias: &mut Vec<u32>,
) -> u32 {
    let (big, small) = if size[a as usize] >= size[b as usize] { (a, b) } else { (b, a) };
    let (na, nb) = (branch[big as usize], branch[small as usize]);
    let counts = |root: u32, node: u32| {
        nodes[node as usize].birth - value >= least.persistence && size[root as usize] >= least.vertices
    };
    let (sa, sb) = (counts(big, na), counts(small, nb));
    let total = size[big as usize] + size[small as usize];
    let birth = nodes[na as usize].birth.max(nodes[nb as usize].birth);
    let after = if sa && sb {
        let parent = nodes.len() as u32;
        for (root, node) in [(big, na), (small, nb)] {
            nodes[node as usize].death = value;
            nodes[node as usize].parent = Some(parent);
            nodes[node as usize].vertices = size[root as usize];
        }
        nodes.push(Node { parent: None, birth, top: value, death: floor, vertices: 0 });
        alias.push(NONE);
        parent
    } else {
        // The one that matters goes on; of two that do not, the higher one (the larger one if they are as high).
        let first = if sa != sb { sa } else { nodes[na as usize].birth >= nodes[nb as usize].birth };
        let (stays, goes) = if first { (na, nb) } else { (nb, na) };
        nodes[stays as usize].birth = birth;
        alias[goes as usize] = stays;
        // What the faint one was made of cannot be: a branch with children is never faint.
        stays
    };
    uf[small as usize] = big;
    size[big as usize] = total;
    branch[big as usize] = after;
    big
}

fn find(uf: &mut [u32], mut at: u32) -> u32 {
    while uf[at as usize] != at {
        let up = uf[uf[at as usize] as usize];
        uf[at as usize] = up;
        at = up;
    }
    at
}

/// Vertices above `floor`, the highest first, equal ones by number. A radix sort on the bits of the values: three passes of
/// eleven bits.
fn falling(values: &[f32], floor: f32) -> Vec<u32> {
    let mut from: Vec<(u32, u32)> =
        values.iter().enumerate().filter(|(_, v)| **v > floor).map(|(k, &v)| (key(v), k as u32)).collect();
    let mut to = vec![(0, 0); from.len()];
    // Values between the same powers of two have bits in common, which need no pass.
    let all = from.iter().fold(0, |all, entry| all | (entry.0 ^ from[0].0));
    for shift in [0, 11, 22].into_iter().filter(|&shift| all >> shift & 0x7ff != 0) {
        let digit = |key: u32| (key >> shift) as usize & 0x7ff;
        let mut starts = [0u32; 0x800];
        for entry in &from {
            starts[digit(entry.0)] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            (*start, sum) = (sum, sum + *start);
        }
        for entry in &from {
            let place = &mut starts[digit(entry.0)];
            to[*place as usize] = *entry;
            *place += 1;
        }
        std::mem::swap(&mut from, &mut to);
    }
    from.into_iter().map(|(_, v)| v).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Significance = Significance { persistence: 0.0, vertices: 1 };

    /// A strip of triangles whose upper and lower vertices have the same values.
    fn strip(heights: &[f32]) -> (Vec<f32>, Vec<[u32; 3]>) {
        let values = heights.iter().flat_map(|&h| [h, h]).collect();
        let triangles = (0..heights.len() as u32 - 1)
            .flat_map(|k| [[2 * k, 2 * k + 1, 2 * k + 2], [2 * k + 1, 2 * k + 3, 2 * k + 2]])
            .collect();
        (values, triangles)
    }

    #[test]
    fn two_peaks_join_at_the_pass_between_them() {
        let (values, triangles) = strip(&[1.0, 5.0, 2.0, 4.0, 0.5, 3.0, 0.2]);
        let tree = MergeTree::of(&values, &triangles, 0.0, ALL, &Cx::detached()).unwrap();
        let leaves: Vec<(f32, f32)> =
            tree.nodes.iter().filter(|n| n.top == n.birth).map(|n| (n.birth, n.death)).collect();
        assert_eq!(leaves, [(5.0, 2.0), (4.0, 2.0), (3.0, 0.5)]);
        let joined = tree.nodes.iter().find(|n| n.top == 2.0).unwrap();
        assert_eq!((joined.birth, joined.death, joined.vertices), (5.0, 0.5, 8));
        let all = tree.nodes.last().unwrap();
        assert_eq!((all.parent, all.top, all.death, all.vertices), (None, 0.5, 0.0, 14));
    }

    #[test]
    fn faint_and_small_branches_belong_to_what_they_join() {
        let (values, triangles) = strip(&[1.0, 5.0, 2.0, 2.1, 0.5, 3.0, 0.2]);
        let least = Significance { persistence: 0.5, vertices: 2 };
        let tree = MergeTree::of(&values, &triangles, 0.0, least, &Cx::detached()).unwrap();
        let spans: Vec<(f32, f32, u32)> = tree.nodes.iter().map(|n| (n.birth, n.death, n.vertices)).collect();
        assert_eq!(spans, [(5.0, 0.5, 8), (3.0, 0.5, 2), (5.0, 0.0, 14)]);
        assert_eq!(tree.node_of, [0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 1, 1, 2, 2]);
    }

    #[test]
    fn separate_shells_stay_separate_and_the_floor_is_left_out() {
        let (mut values, mut triangles) = strip(&[1.0, 2.0]);
        let (more, mut others) = strip(&[3.0, -1.0]);
        values.extend(more);
        others.iter_mut().flatten().for_each(|v| *v += 4);
        triangles.extend(others);
        let tree = MergeTree::of(&values, &triangles, 0.0, ALL, &Cx::detached()).unwrap();
        assert_eq!(tree.nodes.len(), 2);
        assert!(tree.nodes.iter().all(|n| n.parent.is_none() && n.death == 0.0));
        assert_eq!(tree.node_of[6..], [NONE, NONE]);
    }

    #[test]
    fn falling_order_is_that_of_the_numbers() {
        let values = [0.5, 3.0, f32::INFINITY, 1e-20, 3.0, 2.0];
        assert_eq!(falling(&values, 0.0), [2, 1, 4, 5, 0, 3]);
        assert_eq!(falling(&[-1.0, -3.0, 2.0], f32::NEG_INFINITY), [2, 0, 1]);
    }
}
