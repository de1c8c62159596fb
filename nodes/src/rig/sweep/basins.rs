//! Which peak of a number per vertex each vertex climbs to, and where the basins of two peaks touch.
//!
//! A vertex with a higher neighbour joins that neighbour's component as soon as it appears itself. So components only meet
//! where a link leads from one basin into another, and those links are few: the sweep of the merge tree has to look at no
//! other. (H. Carr, G. Weber, C. Sewell, J. Ahrens, *Parallel peak pruning for scalable SMP contour tree computation*, 2016,
//! begin with the peaks too.)

use sinew_graph::{Cx, Result};

use super::merge_tree::NONE;

/// The basins above a floor.
pub struct Basins {
    /// Per vertex: the number of its basin; `NONE` at or below the floor.
    pub of: Vec<u32>,
    /// Per basin: its peak.
    pub peaks: Vec<u32>,
    /// Links into other basins, in falling order of the vertices that they start from.
    pub passes: Vec<Pass>,
}

/// A link from a vertex to a higher one in another basin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    from: u64,
    /// The basin that it leads to.
    pub to: u32,
}

impl Pass {
    /// The vertex that it starts from.
    pub fn vertex(&self) -> u32 {
        self.from as u32
    }
}

/// Vertices or triangles between two looks at the cancel flag.
const BLOCK: usize = 1 << 15;

/// Bits of a float, turned so that they rise as the float falls.
pub fn key(value: f32) -> u32 {
    let bits = value.to_bits();
    !(bits ^ (((bits as i32 >> 31) as u32) | 0x8000_0000))
}

/// A vertex by its place in the falling order; equal ones stand by number.
fn place(values: &[f32], floor: f32, vertex: u32) -> u64 {
    let value = values[vertex as usize];
    if value > floor { u64::from(key(value)) << 32 | u64::from(vertex) } else { u64::MAX }
}

impl Basins {
    /// The basins of `values` above `floor`. A triangle links its middle vertex to its highest and its lowest to its middle.
    pub fn of(values: &[f32], triangles: &[[u32; 3]], floor: f32, cx: &Cx) -> Result<Self> {
        // The vertices of a triangle in falling order, with those at or below the floor at the end.
        let sorted = |&[a, b, c]: &[u32; 3]| {
            let (a, b, c) = (place(values, floor, a), place(values, floor, b), place(values, floor, c));
            let (a, b) = (a.min(b), a.max(b));
            let (b, c) = (b.min(c), b.max(c));
            let (a, b) = (a.min(b), a.max(b));
            (a, b, c)
        };
        // Where each vertex climbs to: the first link that leads up; itself at a peak.
        let mut up: Vec<u32> = (0..).zip(values).map(|(v, &value)| if value > floor { v } else { NONE }).collect();
        for block in triangles.chunks(BLOCK) {
            cx.check()?;
            for t in block {
                if up[t[0] as usize] & up[t[1] as usize] & up[t[2] as usize] == NONE {
                    continue;
                }
                let (high, middle, low) = sorted(t);
                let mut link = |from: u64, to: u64| {
                    if from != u64::MAX && up[from as u32 as usize] == from as u32 {
                        up[from as u32 as usize] = to as u32;
                    }
                };
                link(middle, high);
                link(low, middle);
            }
        }
        for block in (0..up.len()).step_by(BLOCK) {
            cx.check()?;
            for v in block..up.len().min(block + BLOCK) {
                climb(&mut up, v as u32);
            }
        }
        let mut peaks = Vec::new();
        let mut number = vec![NONE; values.len()];
        for (v, &top) in up.iter().enumerate() {
            if top == v as u32 {
                number[v] = peaks.len() as u32;
                peaks.push(top);
            }
        }
        for basin in up.iter_mut().filter(|basin| **basin != NONE) {
            *basin = number[*basin as usize];
        }
        drop(number);
        let mut passes = Vec::new();
        for block in triangles.chunks(BLOCK) {
            cx.check()?;
            for t in block {
                let (a, b, c) = (up[t[0] as usize], up[t[1] as usize], up[t[2] as usize]);
                if a == b && b == c {
                    continue;
                }
                let (high, middle, low) = sorted(t);
                let mut link = |from: u64, to: u64| {
                    if from != u64::MAX && up[from as u32 as usize] != up[to as u32 as usize] {
                        passes.push(Pass { from, to: up[to as u32 as usize] });
                    }
                };
                link(middle, high);
                link(low, middle);
            }
        }
        // Links of one vertex stay in the order of the triangles.
        passes.sort_by_key(|pass| pass.from);
        Ok(Self { of: up, peaks, passes })
    }
}

/// Lets a vertex and all on its way point to the peak that they climb to.
fn climb(up: &mut [u32], vertex: u32) {
    let mut peak = vertex;
    while peak != NONE && up[peak as usize] != peak {
        peak = up[peak as usize];
    }
    let mut at = vertex;
    while at != peak {
        at = std::mem::replace(&mut up[at as usize], peak);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_peaks_have_a_basin_each_and_touch_where_they_meet() {
        // A strip; the values of its vertices fall from both ends to the pass at 4, and 8 is under the floor.
        let values = [9.0, 7.0, 5.0, 4.0, 3.0, 6.0, 7.5, 8.0, 0.0];
        let triangles: Vec<[u32; 3]> = (0..7).map(|k| [k, k + 1, k + 2]).collect();
        let basins = Basins::of(&values, &triangles, 0.5, &Cx::detached()).unwrap();
        assert_eq!(basins.of, [0, 0, 0, 0, 0, 1, 1, 1, NONE]);
        assert_eq!(basins.peaks, [0, 7]);
        let passes: Vec<(u32, u32)> = basins.passes.iter().map(|pass| (pass.vertex(), pass.to)).collect();
        // The vertex of value 4 sees 6 over an edge of its own; that of value 3 is the lowest where it sees both sides.
        assert_eq!(passes, [(3, 1), (4, 1)]);
    }

    #[test]
    fn equal_values_climb_to_the_lower_number() {
        let basins = Basins::of(&[1.0; 5], &[[4, 3, 2], [2, 1, 0]], 0.0, &Cx::detached()).unwrap();
        assert_eq!((basins.of, basins.peaks), (vec![0; 5], vec![0]));
        assert!(basins.passes.is_empty());
    }
}
