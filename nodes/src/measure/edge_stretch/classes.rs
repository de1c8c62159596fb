//! Which figures an edge counts to.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::measure::region::Area;

/// The edges of one row of figures.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::measure) struct Group {
    /// The region, or `body`.
    pub name: Arc<str>,
    /// How many edges it has.
    pub edges: usize,
    /// Edges left out because they have no length.
    pub skipped: usize,
}

/// Edges of one class count to the same groups: to every area that has both ends, or else to the body. Areas may overlap,
/// so there can be more classes than groups.
#[derive(Debug)]
pub(super) struct Classes {
    /// One for each area, then one for all other edges.
    pub groups: Vec<Group>,
    /// Per class the groups it counts to, rising.
    pub members: Vec<Vec<u32>>,
    /// Per vertex its label, which says which areas it is in; empty where there are no areas.
    labels: Vec<u32>,
    /// Per label the areas, rising.
    areas: Vec<Vec<u32>>,
    /// The class of edges between two labels, once it was asked for.
    known: BTreeMap<[u32; 2], u32>,
}

impl Classes {
    pub fn new(areas: &[Area]) -> Self {
        let names = areas.iter().map(|area| Arc::clone(&area.name)).chain(["body".into()]);
        let mut out = Self {
            groups: names.map(|name| Group { name, edges: 0, skipped: 0 }).collect(),
            members: Vec::new(),
            labels: vec![0; areas.first().map_or(0, |area| area.mask.len())],
            areas: vec![Vec::new()],
            known: BTreeMap::new(),
        };
        let mut added: BTreeMap<[u32; 2], u32> = BTreeMap::new();
        for (area, number) in areas.iter().zip(0u32..) {
            for (label, _) in out.labels.iter_mut().zip(&area.mask).filter(|(_, inside)| **inside) {
                *label = *added.entry([*label, number]).or_insert_with(|| {
                    let with = out.areas[*label as usize].iter().copied().chain([number]).collect();
                    out.areas.push(with);
                    out.areas.len() as u32 - 1
                });
            }
        }
        out
    }

    /// The label of a vertex.
    pub fn label(&self, vertex: u32) -> u32 {
        self.labels.get(vertex as usize).copied().unwrap_or(0)
    }

    /// The class of edges between vertices of two labels.
    pub fn class(&mut self, labels: [u32; 2]) -> u32 {
        if let Some(&class) = self.known.get(&labels) {
            return class;
        }
        let [a, b] = labels.map(|label| &self.areas[label as usize]);
        let mut groups: Vec<u32> = a.iter().copied().filter(|area| b.contains(area)).collect();
        if groups.is_empty() {
            groups.push(self.groups.len() as u32 - 1);
        }
        let class = self.members.iter().position(|members| *members == groups).unwrap_or_else(|| {
            self.members.push(groups);
            self.members.len() - 1
        });
        self.known.insert(labels, class as u32);
        class as u32
    }

    /// The classes that count to a group.
    pub fn of(&self, group: usize) -> impl Iterator<Item = usize> + Clone + '_ {
        let members = self.members.iter().enumerate();
        members.filter(move |(_, groups)| groups.contains(&(group as u32))).map(|(class, _)| class)
    }

    /// Whether each group of a class has no other class, so that its figures are those of the class.
    pub fn alone(&self, class: usize) -> bool {
        self.members[class].iter().all(|&group| self.of(group as usize).count() == 1)
    }

    /// Counts edges of a class.
    pub fn count(&mut self, class: u32, edges: usize, skipped: usize) {
        for &group in &self.members[class as usize] {
            self.groups[group as usize].edges += edges;
            self.groups[group as usize].skipped += skipped;
        }
    }
}
