//! Some vertices of a mesh and their neighbours, with numbers of their own: tables that are small and near in memory.

use super::graph::Graph;
use super::merge_tree::NONE;

/// Vertices cut out of a mesh.
pub struct Excerpt {
    /// Per vertex of the mesh: its number here; `NONE` for what is no part of it.
    pub number: Vec<u32>,
    /// Per number: the vertex of the mesh.
    pub vertices: Vec<u32>,
    /// How many were asked for: they come first, rising. The others are their neighbours.
    pub own: u32,
    /// The edges at those asked for.
    pub graph: Graph,
}

impl Excerpt {
    /// Cuts `wanted` out of a mesh of `count` vertices; vertices may come several times.
    pub fn of(count: usize, wanted: impl Iterator<Item = u32>, triangles: &[[u32; 3]]) -> Self {
        let mut number = vec![NONE; count];
        wanted.for_each(|v| number[v as usize] = 0);
        let mut vertices = Vec::new();
        for (v, number) in (0..).zip(&mut number).filter(|(_, number)| **number != NONE) {
            *number = vertices.len() as u32;
            vertices.push(v);
        }
        let own = vertices.len() as u32;
        let mut touching = Vec::new();
        for &[a, b, c] in triangles {
            let least = number[a as usize].min(number[b as usize]).min(number[c as usize]);
            if least < own {
                let mut at = |v: u32| {
                    let number = &mut number[v as usize];
                    if *number == NONE {
                        *number = vertices.len() as u32;
                        vertices.push(v);
                    }
                    *number
                };
                touching.push([at(a), at(b), at(c)]);
            }
        }
        let graph = Graph::of_first(own, &touching);
        Self { number, vertices, own, graph }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_comes_first_with_all_its_edges() {
        let triangles = [[0, 1, 2], [2, 1, 3], [3, 4, 5]];
        let part = Excerpt::of(6, [3, 1, 3].into_iter(), &triangles);
        assert_eq!((part.own, &*part.vertices), (2, &[1, 3, 0, 2, 4, 5][..]));
        assert_eq!(part.number, [2, 0, 3, 1, 4, 5]);
        assert_eq!(part.graph.fans(0), [[3, 2], [1, 3]]);
        assert_eq!(part.graph.fans(1), [[3, 0], [4, 5]]);
        let other = Excerpt::of(6, [5].into_iter(), &triangles);
        assert_eq!(other.number, [NONE, NONE, NONE, 1, 2, 0]);
    }
}
