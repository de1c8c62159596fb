//! Where to cut: the fewest fitted cubics over a run of pieces, level by level. A level holds the borders that some number
//! of cubics reaches; the run's end belongs to the first level that has it.

use std::collections::BTreeMap;

use sinew_graph::{Cx, Result};

use super::fit::{Piece, fit};

/// How many borders of a level are gone on from, the farthest first.
const WIDTH: usize = 4;

/// After this many borders in a row that no cubic reaches, farther ones are not tried.
const PATIENCE: usize = 12;

/// The fewest cubics that follow `pieces` within the tolerance.
pub fn fewest(pieces: &[Piece], tolerance: f64, cx: &Cx) -> Result<Vec<Piece>> {
    let end = pieces.len();
    if end == 0 {
        return Ok(Vec::new());
    }
    // Per level, the borders that it is the first to reach: from which border, and by which cubic.
    let mut levels: Vec<BTreeMap<usize, (usize, Piece)>> = Vec::new();
    let mut front = vec![0];
    loop {
        let mut level: BTreeMap<usize, (usize, Piece)> = BTreeMap::new();
        let nearest = front.iter().copied().max().unwrap_or(0);
        for &from in &front {
            cx.check()?;
            let (mut to, mut failures) = (from + 1, 0);
            while to <= end && failures < PATIENCE {
                if to <= nearest || level.contains_key(&to) {
                    // Reached already, by as few or fewer.
                } else if let Some(piece) = fit(&pieces[from..to], tolerance) {
                    level.insert(to, (from, piece));
                    failures = 0;
                } else {
                    failures += 1;
                }
                to += 1;
            }
        }
        let done = level.contains_key(&end);
        front = level.keys().rev().take(WIDTH).copied().collect();
        levels.push(level);
        if done {
            break;
        }
    }
    let (mut at, mut cubics) = (end, Vec::with_capacity(levels.len()));
    for level in levels.iter().rev() {
        if let Some((from, piece)) = level.get(&at) {
            cubics.push(*piece);
            at = *from;
        }
    }
    cubics.reverse();
    Ok(cubics)
}
