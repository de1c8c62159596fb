//! The connected pieces of the skin, and how large they are.

use glam::Vec3;
use sinew_graph::{Cx, Result};

/// The connected pieces of the skin.
pub struct Shells {
    /// Per vertex: the number of its piece, by first appearance.
    pub piece: Vec<u32>,
    /// Per piece: its area.
    pub area: Vec<f64>,
}

/// Triangles between two looks at the cancel flag.
const BLOCK: usize = 1 << 16;

impl Shells {
    /// The pieces that triangles connect.
    pub fn of(triangles: &[[u32; 3]], places: &[Vec3], cx: &Cx) -> Result<Self> {
        let (piece, count) = pieces(places.len(), triangles, cx)?;
        let place = |v: u32| places[v as usize].as_dvec3();
        let mut area = vec![0.0; count];
        for block in triangles.chunks(BLOCK) {
            cx.check()?;
            for &[a, b, c] in block {
                let number = piece[a as usize] as usize;
                let (a, b, c) = (place(a), place(b), place(c));
                area[number] += 0.5 * (b - a).cross(c - a).length();
            }
        }
        Ok(Self { piece, area })
    }

    /// All vertices of the piece that `vertex` is in, rising.
    pub fn vertices(&self, vertex: u32) -> Vec<u32> {
        let piece = self.piece[vertex as usize];
        (0..self.piece.len() as u32).filter(|&v| self.piece[v as usize] == piece).collect()
    }
}

/// Per vertex the number of its piece, and how many pieces there are. A union-find in which each vertex points to an earlier
/// one: in the end one pass numbers them all.
fn pieces(vertices: usize, triangles: &[[u32; 3]], cx: &Cx) -> Result<(Vec<u32>, usize)> {
    fn first(up: &mut [u32], mut at: u32) -> u32 {
        while up[at as usize] != at {
            let next = up[up[at as usize] as usize];
            up[at as usize] = next;
            at = next;
        }
        at
    }
    let mut up: Vec<u32> = (0..vertices as u32).collect();
    for block in triangles.chunks(BLOCK) {
        cx.check()?;
        for &[a, b, c] in block {
            let (a, b, c) = (up[a as usize], up[b as usize], up[c as usize]);
            if a == b && b == c {
                continue;
            }
            let (a, b, c) = (first(&mut up, a), first(&mut up, b), first(&mut up, c));
            let least = a.min(b).min(c);
            up[a as usize] = least;
            up[b as usize] = least;
            up[c as usize] = least;
        }
    }
    let mut count = 0;
    for v in 0..vertices {
        up[v] = if up[v] == v as u32 {
            count += 1;
            count - 1
        } else {
            up[up[v] as usize]
        };
    }
    Ok((up, count as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_what_triangles_connect() {
        let cx = Cx::detached();
        let found = pieces(8, &[[4, 5, 6], [2, 1, 3], [0, 1, 2]], &cx).unwrap();
        assert_eq!(found, (vec![0, 0, 0, 0, 1, 1, 1, 2], 3));
        // Joined from the end on, so that ways are long.
        let strip: Vec<[u32; 3]> = (0..998).rev().map(|k| [k, k + 1, k + 2]).collect();
        assert_eq!(pieces(1000, &strip, &cx).unwrap(), (vec![0; 1000], 1));
    }

    #[test]
    fn areas_are_those_of_the_pieces() {
        let places = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ZERO, Vec3::X * 2.0, Vec3::Z];
        let shells = Shells::of(&[[0, 1, 2], [3, 4, 5]], &places, &Cx::detached()).unwrap();
        assert_eq!((&*shells.area, shells.vertices(4)), (&[0.5, 1.0][..], vec![3, 4, 5]));
    }
}
