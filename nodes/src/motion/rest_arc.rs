//! `motion.rest_arc`: how a chain is carried (`tail-3d.md` C9).

use std::sync::Arc;

use glam::{DMat3, DQuat, DVec3};
use sinew_graph::{Cx, NodeError, Result, node};

use super::solver::swing;
use crate::data::{Chain, Chains, Kind, Stance};
use crate::pose::slerp;

/// Gives chains the pose that they come to rest in: an even arc, carried backward and up.
///
/// The arc starts in the direction of the first bone, in the plane of up and forward, and is shared by all bones: four
/// of them or eight give one gentle curve. With `curve` at 1 the authored shape is kept, bends to the side included, and
/// only lifted. Chains that are no tails keep the pose that they were bound in.
#[node(id = "motion.rest_arc", revision = 1)]
pub fn rest_arc(
    /// The chains.
    chains: &Chains,
    /// How far the whole chain is lifted, from its root to its tip.
    #[param(default = 50.0, range = -180.0..=180.0, unit = "degrees")]
    carry: f32,
    /// How much of the authored shape is kept: 0 is a centred arc.
    #[param(default = 0.0, range = 0.0..=1.0)]
    curve: f32,
    /// Also for chains that are no tails.
    #[param(default = false)]
    all: bool,
    _cx: &Cx,
) -> Result<Chains> {
    let Stance { up, forward, .. } = chains.stance;
    let (up, forward) = (up.as_dvec3().normalize_or_zero(), forward.as_dvec3());
    let forward = forward.reject_from_normalized(up).normalize_or_zero();
    if up.cross(forward) == DVec3::ZERO || !(up.is_finite() && forward.is_finite()) {
        return Err(NodeError::new("the character has no up and forward")
            .at("chains")
            .help("connect chains of regions that were found on a character"));
    }
    let hips = DMat3::from_cols(up.cross(forward), up, forward);
    let arc = |chain: &Chain| {
        if !(all || chain.kind == Kind::Tail) {
            return chain.clone();
        }
        let ways = chain.joints.windows(2).map(|pair| hips.transpose() * (pair[1] - pair[0]).as_dvec3());
        let rest = directions(&ways.collect::<Vec<_>>(), f64::from(carry).to_radians(), curve.into());
        let rest: Arc<[_]> = rest.into_iter().map(|way| (hips * way).as_vec3()).collect();
        Chain { rest, ..chain.clone() }
    };
    Ok(Chains { chains: chains.chains.iter().map(arc).collect(), ..chains.clone() })
}

/// The rest direction of each bone in hips space. Bones without a length point where their neighbour does.
fn directions(authored: &[DVec3], carry: f64, curve: f64) -> Vec<DVec3> {
    let first = authored.iter().map(|way| way.normalize_or_zero()).find(|&way| way != DVec3::ZERO);
    let centred = first.map_or(DVec3::ZERO, |way| DVec3::new(0.0, way.y, way.z));
    // What points straight to the side has no direction in the plane: rounding must not choose one.
    let centred = if centred.length() > 1e-6 { centred.normalize() } else { DVec3::NEG_Y };
    let mut last = first.unwrap_or(centred);
    let bone = |(i, way): (usize, &DVec3)| {
        last = way.try_normalize().unwrap_or(last);
        let kept = slerp(DQuat::IDENTITY, swing(centred, last), curve);
        let lift = DQuat::from_rotation_x(carry * (i + 1) as f64 / authored.len() as f64);
        (lift * (kept * centred)).normalize()
    };
    authored.iter().enumerate().map(bone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::test_support::tailed;

    #[test]
    fn four_bones_or_eight_give_one_gentle_arc_of_the_whole_carry() {
        for bones in [1, 4, 8] {
            let authored = vec![DVec3::NEG_Z * 0.1; bones];
            let rest = directions(&authored, 50f64.to_radians(), 0.0);
            for (i, way) in rest.iter().enumerate() {
                let lift = way.y.atan2(-way.z).to_degrees();
                assert!((lift - 50.0 * (i + 1) as f64 / bones as f64).abs() < 1e-9, "{bones}: {lift}");
                assert!(way.x.abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_curl_to_the_side_is_centred_kept_or_halved() {
        let turned = |degrees: f64| DQuat::from_rotation_y(degrees.to_radians()) * DVec3::NEG_Z;
        let authored = [turned(0.0), turned(30.0), turned(60.0)];
        let side = |curve: f64| {
            let rest = directions(&authored, 0.0, curve);
            rest.iter().map(|way| (-way.x).atan2(-way.z).to_degrees().round()).collect::<Vec<_>>()
        };
        assert_eq!(side(0.0), [0.0, 0.0, 0.0]);
        assert_eq!(side(0.5), [0.0, 15.0, 30.0]);
        assert_eq!(side(1.0), [0.0, 30.0, 60.0]);
    }

    #[test]
    fn what_hangs_is_carried_backward_and_what_points_aside_hangs() {
        let hanging = directions(&[DVec3::NEG_Y; 2], 60f64.to_radians(), 0.0);
        assert!(hanging[0].z < -0.4 && hanging[1].z < hanging[0].z && hanging[1].y > hanging[0].y, "{hanging:?}");
        for aside in [DVec3::X, DVec3::new(1.0, 1e-9, 0.0)] {
            assert!(directions(&[aside], 0.0, 0.0)[0].distance(DVec3::NEG_Y) < 1e-12);
        }
        assert_eq!(directions(&[DVec3::ZERO, DVec3::NEG_Y], 0.0, 1.0), [DVec3::NEG_Y; 2]);
    }

    #[test]
    fn only_tails_are_carried_unless_all_are() {
        let (_, mut chains) = tailed(4);
        let of = |chains: &Chains, all| rest_arc(chains, 50.0, 0.0, all, &Cx::detached()).unwrap().chains[0].rest.len();
        assert_eq!(of(&chains, false), 4);
        chains.chains[0].kind = Kind::Wing;
        assert_eq!((of(&chains, false), of(&chains, true)), (0, 4));
    }
}
