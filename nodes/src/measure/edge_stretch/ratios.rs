//! Squared ratios of length over the times of a clip, four times at once; roots are taken of the few that are told.

use std::ops::Range;

use glam::Vec4;
use rayon::prelude::*;
use sinew_graph::{Cx, NodeError, Result};

use super::edges::Edges;
use crate::data::{Character, Clip};
use crate::measure::top::Top;
use crate::pose::{FOUR, JointMatrices, Place4, Rig, skin_four};

/// A ratio beyond these limits is a tear.
const TORN: (f32, f32) = (0.67, 1.5);

/// Edges per piece of work.
const CHUNK: usize = 1 << 15;

/// Edges after which it is looked anew what still can be among the highest.
const WAVE: usize = CHUNK * 8;

/// What a clip shows.
pub(super) struct Ratios {
    /// Per edge the greatest squared ratio.
    pub worst: Vec<f32>,
    /// Per group the highest squared ratios.
    pub tops: Vec<Top>,
    /// Per group how many samples are torn.
    pub torn: Vec<u64>,
}

/// Samples a clip at evenly spaced times, the last one step before its end.
pub(super) fn measure(edges: &Edges, character: &Character, clip: &Clip, samples: u32, cx: &Cx) -> Result<Ratios> {
    let positions = &character.mesh.positions;
    let rig = Rig::new(&character.skeleton).map_err(|error| error.at("character"))?;
    let top = |range: &Range<usize>| Top::new(range.len() * samples as usize, 0.95);
    let mut ratios = Ratios {
        worst: vec![0.0; edges.ends.len()],
        tops: edges.groups.iter().map(|group| top(&group.range)).collect(),
        torn: vec![0; edges.groups.len()],
    };
    let mut skinned = vec![[Vec4::ZERO; 3]; positions.len()];
    for first in (0..samples).step_by(FOUR) {
        let times = FOUR.min((samples - first) as usize);
        // Lanes beyond the last time repeat it and are not counted.
        let mut four = Vec::with_capacity(FOUR);
        for lane in 0..FOUR.min(times) {
            let share = f64::from(first + lane as u32) / f64::from(samples);
            four.push(matrices(&rig, character, clip, f64::from(clip.duration) * share)?);
        }
        let four: [JointMatrices; FOUR] = std::array::from_fn(|lane| four[lane.min(times - 1)].clone());
        skin_four(positions, &character.skin, &four, &mut skinned, cx).map_err(|error| error.at("character"))?;
        for (k, group) in edges.groups.iter().enumerate() {
            for start in group.range.clone().step_by(WAVE) {
                let wave = start..group.range.end.min(start + WAVE);
                let least = ratios.tops[k].least();
                let ends = edges.ends[wave.clone()].par_chunks(CHUNK);
                let inverse = edges.inverse_squares[wave.clone()].par_chunks(CHUNK);
                let parts: Vec<Part> = ends
                    .zip(inverse)
                    .zip(ratios.worst[wave].par_chunks_mut(CHUNK))
                    .map(|((ends, inverse), worst)| {
                        cx.check()?;
                        Ok(part(&skinned, ends, inverse, worst, least, times))
                    })
                    .collect::<Result<_>>()?;
                for part in parts {
                    ratios.torn[k] += part.torn;
                    ratios.tops[k].extend(&part.high);
                }
            }
        }
        cx.progress((first as usize + times) as f32 / samples as f32);
    }
    Ok(ratios)
}

fn matrices(rig: &Rig, character: &Character, clip: &Clip, time: f64) -> Result<JointMatrices> {
    let matrices = rig.matrices(&rig.sample(clip, time as f32).map_err(|error| error.at("clip"))?);
    match matrices.joints.iter().position(|matrix| !matrix.is_finite()) {
        None => Ok(matrices),
        Some(joint) => Err(NodeError::new(format!(
            "clip {:?} at {time:.3} s moves joint {joint} ({:?}) to no finite place",
            clip.name, character.skeleton.joints[joint].name
        ))
        .at("character")),
    }
}

/// What a piece of the edges shows at up to four times.
struct Part {
    /// How many samples are torn.
    torn: u64,
    /// The squared ratios above the least that can matter, in order.
    high: Vec<f32>,
}

fn part(skinned: &[Place4], edges: &[[u32; 2]], inverse: &[f32], worst: &mut [f32], least: f32, times: usize) -> Part {
    let (low, high) = (Vec4::splat(TORN.0 * TORN.0), Vec4::splat(TORN.1 * TORN.1));
    let least = Vec4::splat(least);
    // Counted in lanes; a piece is short enough for a count to be exact.
    let mut torn = Vec4::ZERO;
    let mut highest = Vec::new();
    for ((&[a, b], &inverse), worst) in edges.iter().zip(inverse).zip(worst) {
        let (a, b) = (&skinned[a as usize], &skinned[b as usize]);
        let (x, y, z) = (a[0] - b[0], a[1] - b[1], a[2] - b[2]);
        let squares = (x * x + y * y + z * z) * Vec4::splat(inverse);
        *worst = worst.max(squares.max_element());
        torn += Vec4::select(squares.cmplt(low) | squares.cmpgt(high), Vec4::ONE, Vec4::ZERO);
        let matter = squares.cmpgt(least);
        if matter.any() {
            let squares = squares.to_array();
            highest.extend(squares[..times].iter().enumerate().filter(|&(lane, _)| matter.test(lane)).map(|(_, s)| s));
        }
    }
    let torn = torn.to_array()[..times].iter().map(|&count| count as u64).sum();
    Part { torn, high: highest }
}
