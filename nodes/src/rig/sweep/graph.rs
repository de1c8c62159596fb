//! The edges of a welded mesh as an adjacency list.

/// Per vertex: whether it is one of some.
pub fn marked(vertices: usize, some: &[u32]) -> Vec<bool> {
    let mut marked = vec![false; vertices];
    some.iter().for_each(|&v| marked[v as usize] = true);
    marked
}

/// Neighbours of each vertex, triangle by triangle.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    starts: Vec<u32>,
    /// Per vertex and triangle at it: the other two corners.
    links: Vec<[u32; 2]>,
}

impl Graph {
    /// The edges of some triangles at the first `count` vertices; the others are only their neighbours.
    pub fn of_first(count: u32, triangles: &[[u32; 3]]) -> Self {
        // Counts stand two places on: as places are filled, the start of a vertex becomes its end, the start of the next. All
        // others share the last place.
        let slot = |v: u32| v.min(count) as usize;
        let mut starts = vec![0u32; count as usize + 3];
        for &v in triangles.as_flattened() {
            starts[slot(v) + 2] += 1;
        }
        let mut sum = 0;
        for start in &mut starts[..count as usize + 2] {
            sum += *start;
            *start = sum;
        }
        let mut links = vec![[0; 2]; sum as usize];
        let mut link = |from: u32, to: [u32; 2]| {
            if from < count {
                let place = &mut starts[from as usize + 1];
                links[*place as usize] = to;
                *place += 1;
            }
        };
        for &[a, b, c] in triangles {
            link(a, [b, c]);
            link(b, [c, a]);
            link(c, [a, b]);
        }
        starts.truncate(count as usize + 1);
        Self { starts, links }
    }

    /// A graph of links that stand in order of their vertices; `starts` has an entry for each vertex and one at the end.
    pub fn from_links(starts: Vec<u32>, links: Vec<[u32; 2]>) -> Self {
        Self { starts, links }
    }

    /// The neighbours of a vertex in pairs, one for each triangle at it; most come twice.
    #[inline]
    pub fn fans(&self, vertex: u32) -> &[[u32; 2]] {
        &self.links[self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize]
    }

    /// The neighbours of a vertex; most come twice.
    #[inline]
    pub fn neighbours(&self, vertex: u32) -> &[u32] {
        self.fans(vertex).as_flattened()
    }

    /// The first neighbour of a vertex that has any: brings its neighbours into the cache.
    #[inline]
    pub fn touch(&self, vertex: u32) -> u32 {
        self.links.get(self.starts[vertex as usize] as usize).map_or(0, |pair| pair[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vertex_has_the_other_corners_of_its_triangles_as_neighbours() {
        let triangles = [[0, 1, 2], [2, 1, 3]];
        let graph = Graph::of_first(5, &triangles);
        assert_eq!(graph.fans(1), [[2, 0], [3, 2]]);
        assert_eq!((graph.neighbours(3), graph.neighbours(4)), (&[2, 1][..], &[][..]));
        let part = Graph::of_first(2, &triangles);
        assert_eq!((part.fans(0), part.fans(1)), (&[[1, 2]][..], &[[2, 0], [3, 2]][..]));
    }
}
