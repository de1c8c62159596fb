//! `measure.tip_travel` (`tail-3d.md` E2).

use std::sync::Arc;

use glam::DVec3;
use sinew_graph::{Cx, Result, node};

use crate::data::{Motion, Table, Track};

/// At how many samples at most the tips are compared with each other.
const COMPARED: usize = 256;

/// Measures how far the tip of each chain moves in each clip: the distance between the two places farthest apart, seen from
/// what the chain hangs from.
///
/// A chain that hardly moves does not stretch the skin either: read this beside the edge stretch.
#[node(id = "measure.tip_travel", revision = 1)]
pub fn tip_travel(
    /// The chains in motion.
    motions: &[&Motion],
    cx: &Cx,
) -> Result<Table> {
    let mut rows = Vec::new();
    for motion in motions {
        for take in &motion.takes {
            cx.check()?;
            for (chain, track) in motion.chains.iter().zip(&take.tracks) {
                let length = chain.lengths.iter().sum::<f64>();
                rows.push((Arc::clone(&chain.name), Arc::clone(&take.clip), travel(track), length));
            }
        }
    }
    Ok(Table::new("tip_travel")
        .texts("chain", rows.iter().map(|row| Arc::clone(&row.0)))
        .texts("clip", rows.iter().map(|row| Arc::clone(&row.1)))
        .numbers("length", "m", rows.iter().map(|row| row.3))
        .numbers("travel", "m", rows.iter().map(|row| row.2))
        .numbers("share", "% of length", rows.iter().map(|row| if row.3 > 0.0 { row.2 / row.3 * 100.0 } else { 0.0 })))
}

/// The tip of a chain at a sample, in hips space.
pub(super) fn tip(track: &Track, sample: usize) -> DVec3 {
    let tip = track.line(sample).last().unwrap_or(track.roots[sample]);
    track.turn(sample).conjugate() * (tip - track.roots[sample])
}

fn travel(track: &Track) -> f64 {
    let samples = track.roots.len();
    let every = samples.div_ceil(COMPARED).max(1);
    let tips: Vec<DVec3> = (0..samples).step_by(every).map(|sample| tip(track, sample)).collect();
    let pairs = tips.iter().enumerate().flat_map(|(k, a)| tips[..k].iter().map(move |b| a.distance_squared(*b)));
    pairs.fold(0.0, f64::max).sqrt()
}

#[cfg(test)]
pub(super) mod tests {
    use std::f64::consts::TAU;

    use glam::DQuat;

    use super::*;
    use crate::data::{Kind, MovedChain, Stance, Take};

    /// One link 2 long that goes once around a cone of 30 degrees while what it hangs from runs and turns; its end is `open`
    /// radians short of its start.
    pub fn cone(open: f64) -> Motion {
        let samples = 721;
        let share = |k: usize| k as f64 / (samples - 1) as f64;
        let turn = |k: usize| DQuat::from_rotation_y(3.0 * share(k));
        let root = |k: usize| DVec3::new(5.0 * share(k), 1.0, 0.0);
        let around = |k: usize| share(k) * (TAU - open);
        let local = |k: usize| DVec3::new(around(k).cos(), around(k).sin(), -(3f64.sqrt()));
        let track = Track {
            roots: (0..samples).map(root).collect(),
            turns: (0..samples).map(|k| turn(k).to_array()).collect(),
            points: (0..samples).map(|k| root(k) + turn(k) * local(k)).collect(),
            rotations: (0..samples).map(|_| [0.0, 0.0, 0.0, 1.0]).collect(),
        };
        Motion {
            stance: Stance { up: glam::Vec3::Y, forward: glam::Vec3::Z, height: 1.8 },
            chains: vec![MovedChain {
                name: "Tail".into(),
                kind: Kind::Tail,
                nodes: [7].into(),
                lengths: [2.0].into(),
                bind: [DVec3::NEG_Z].into(),
                rest: [DVec3::NEG_Z].into(),
            }],
            takes: vec![Take {
                clip: "Walk".into(),
                duration: 3.0,
                looped: true,
                passes: 2,
                gap: 0.0,
                tracks: vec![track],
            }],
        }
    }

    #[test]
    fn a_tip_on_a_circle_travels_its_diameter_whatever_the_body_does() {
        let table = tip_travel(&[&cone(0.0)], &Cx::detached()).unwrap();
        assert_eq!((table.rows(), table.column("length").unwrap().cells.show(0).as_str()), (1, "2"));
        assert_eq!(table.column("travel").unwrap().cells.show(0), "2");
        assert_eq!(table.column("share").unwrap().cells.show(0), "100");
    }
}
