//! New ids: `weld`, then `weld2`, `weld3`: the lowest number that is free, so that files stay readable. The history is
//! linear, so an id that comes free by removal cannot meet its older bearer again.

use std::collections::{BTreeMap, BTreeSet};

use super::{Document, Graph};
use crate::ids::{FrameId, GraphId, NodeId};

/// Hands out ids that are free, each once: for adding many nodes at once.
#[derive(Debug)]
pub struct FreshIds<F> {
    taken: F,
    given: BTreeSet<String>,
    next: BTreeMap<String, u64>,
}

impl<F: Fn(&str) -> bool> FreshIds<F> {
    /// Ids for which `taken` is false.
    pub fn new(taken: F) -> Self {
        Self { taken, given: BTreeSet::new(), next: BTreeMap::new() }
    }

    /// The wish itself if it is free, else its word with the lowest free number.
    pub fn keep(&mut self, wish: &str) -> String {
        if self.is_free(wish) {
            self.given.insert(wish.into());
            return wish.into();
        }
        self.give(wish)
    }

    /// A free id made of a word, such as the short name of a node type; a number at its end is replaced.
    pub fn give(&mut self, word: &str) -> String {
        let word: String =
            word.chars().map(|c| if c == '.' || c.is_whitespace() || c.is_control() { '_' } else { c }).collect();
        let stem = match word.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "" => "node",
            stem => stem,
        };
        let mut number = self.next.get(stem).copied().unwrap_or(1);
        loop {
            let id = if number == 1 { stem.to_owned() } else { format!("{stem}{number}") };
            number += 1;
            if self.is_free(&id) {
                self.next.insert(stem.into(), number);
                self.given.insert(id.clone());
                return id;
            }
        }
    }

    fn is_free(&self, id: &str) -> bool {
        !(self.taken)(id) && !self.given.contains(id)
    }
}

impl Graph {
    /// A free id for a node, from a word such as the short name of its type.
    pub fn fresh_node_id(&self, word: &str) -> NodeId {
        FreshIds::new(|id| self.nodes.contains_key(id)).give(word).into()
    }

    /// A free id for a frame.
    pub fn fresh_frame_id(&self, word: &str) -> FrameId {
        FreshIds::new(|id| self.frames.contains_key(id)).give(word).into()
    }
}

impl Document {
    /// A free id for a graph.
    pub fn fresh_graph_id(&self, word: &str) -> GraphId {
        FreshIds::new(|id| self.graphs.contains_key(id)).give(word).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_id_is_the_word_with_the_lowest_free_number() {
        let taken = ["weld", "weld3"];
        let mut ids = FreshIds::new(|id| taken.contains(&id));
        assert_eq!([ids.give("weld"), ids.give("weld3"), ids.give("weld")], ["weld2", "weld4", "weld5"]);
        assert_eq!([ids.keep("fox9"), ids.keep("fox9"), ids.keep("weld")], ["fox9", "fox", "weld6"]);
        assert_eq!([ids.give("a b.c"), ids.give("12")], ["a_b_c", "node"]);
    }
}
