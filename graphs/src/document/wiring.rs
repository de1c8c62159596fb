//! The wires of a graph by number, for walks over large graphs: each end's id is looked up once, not at every step.

use rustc_hash::FxHashMap;

use super::Graph;
use crate::ids::NodeId;

/// What feeds what. A number is a place in a list of the ids, in no order that means anything.
pub(super) struct Wiring<'a> {
    numbers: FxHashMap<&'a NodeId, u32>,
    nodes: Vec<Entry<'a>>,
    /// The nodes that feed each node, one node after the other.
    sources: Vec<u32>,
}

struct Entry<'a> {
    id: &'a NodeId,
    /// Where its sources start and end.
    sources: (u32, u32),
}

/// Whether a walk has met a node.
#[derive(Clone, Copy, PartialEq)]
enum Met {
    Never,
    OnTrail,
    Done,
}

impl<'a> Wiring<'a> {
    pub fn of(graph: &'a Graph) -> Self {
        let capacity = graph.nodes.len();
        let mut wiring = Self {
            numbers: FxHashMap::with_capacity_and_hasher(capacity, Default::default()),
            nodes: Vec::with_capacity(capacity),
            sources: Vec::with_capacity(graph.wires.len()),
        };
        let mut last: Option<(&NodeId, u32)> = None;
        // The wires are sorted by the node where they end, so that each node's are in one piece.
        for (to, sources) in &graph.wires {
            let number = match last {
                Some((id, number)) if *id == to.node => number,
                _ => {
                    let number = wiring.add(&to.node);
                    wiring.nodes[number as usize].sources = (wiring.sources.len() as u32, wiring.sources.len() as u32);
                    number
                }
            };
            last = Some((&to.node, number));
            for from in sources.iter() {
                let from = wiring.add(&from.node);
                wiring.sources.push(from);
            }
            wiring.nodes[number as usize].sources.1 = wiring.sources.len() as u32;
        }
        wiring
    }

    fn add(&mut self, id: &'a NodeId) -> u32 {
        let next = self.nodes.len() as u32;
        let number = *self.numbers.entry(id).or_insert(next);
        if number == next {
            self.nodes.push(Entry { id, sources: (0, 0) });
        }
        number
    }

    fn sources(&self, number: u32) -> &[u32] {
        let (start, end) = self.nodes[number as usize].sources;
        &self.sources[start as usize..end as usize]
    }

    /// How `from` depends on `to`: the nodes from `to` to `from` along the wires. A node without wires is on no path.
    pub fn path(&self, to: &NodeId, from: &NodeId) -> Option<Vec<NodeId>> {
        let (to, from) = (*self.numbers.get(to)?, *self.numbers.get(from)?);
        self.walk([from], |next, _| next == to)
    }

    /// Nodes along a circle, if there is one.
    pub fn circle(&self) -> Option<Vec<NodeId>> {
        let mut path = self.walk(0..self.nodes.len() as u32, |_, met| met == Met::OnTrail)?;
        let met_again = path.remove(0);
        let end = path.iter().position(|node| *node == met_again)?;
        path.truncate(end + 1);
        Some(path)
    }

    /// Goes upstream, depth first, until a node that is looked for: the way back from it.
    fn walk(&self, starts: impl IntoIterator<Item = u32>, found: impl Fn(u32, Met) -> bool) -> Option<Vec<NodeId>> {
        let mut met = vec![Met::Never; self.nodes.len()];
        let mut trail: Vec<(u32, usize)> = Vec::new();
        for start in starts {
            if met[start as usize] == Met::Never {
                met[start as usize] = Met::OnTrail;
                trail.push((start, 0));
            }
            while let Some((node, next)) = trail.last_mut() {
                let Some(&source) = self.sources(*node).get(*next) else {
                    met[*node as usize] = Met::Done;
                    trail.pop();
                    continue;
                };
                *next += 1;
                let state = &mut met[source as usize];
                if found(source, *state) {
                    let back = trail.iter().rev().map(|(node, _)| *node);
                    let path = std::iter::once(source).chain(back);
                    return Some(path.map(|node| self.nodes[node as usize].id.clone()).collect());
                }
                if *state == Met::Never {
                    *state = Met::OnTrail;
                    trail.push((source, 0));
                }
            }
        }
        None
    }
}
