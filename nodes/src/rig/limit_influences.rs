//! `rig.limit_influences`: fewer joints per vertex, as engines ask for.

use sinew_graph::{Cx, Result, node};

use super::chain::patch::STRIDE;
use crate::data::Skin;

/// Keeps the largest weights of each vertex and scales them to a sum of 1.
///
/// Of equal weights the lower joint number stays, so that all stored copies of a vertex keep the same ones. A vertex that
/// loses nothing keeps its weights to the bit.
#[node(id = "rig.limit_influences", revision = 1)]
pub fn limit_influences(
    /// The weights to limit.
    skin: &Skin,
    /// How many influences a vertex may have.
    #[param(default = 4, range = 1..=8)]
    count: u32,
    cx: &Cx,
) -> Result<Skin> {
    let count = count.max(1) as usize;
    if skin.width <= count {
        return Ok(skin.clone());
    }
    let mut joints = Vec::with_capacity(skin.len() * count);
    let mut weights = Vec::with_capacity(skin.len() * count);
    let (mut cut, mut worst) = (0usize, 0.0f32);
    let mut row: Vec<(u16, f32)> = Vec::with_capacity(skin.width);
    for vertex in 0..skin.len() {
        if vertex.is_multiple_of(STRIDE) {
            cx.check()?;
        }
        row.clear();
        row.extend(skin.influences(vertex));
        if row.len() > count {
            row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let sum = |row: &[(u16, f32)]| row.iter().map(|&(_, weight)| f64::from(weight)).sum::<f64>();
            let (all, kept) = (sum(&row), sum(&row[..count]));
            row.truncate(count);
            for (_, weight) in &mut row {
                *weight = (f64::from(*weight) / kept) as f32;
            }
            cut += 1;
            worst = worst.max(((all - kept) / all) as f32);
        }
        joints.extend(row.iter().map(|&(joint, _)| joint).chain(std::iter::repeat_n(0, count - row.len())));
        weights.extend(row.iter().map(|&(_, weight)| weight).chain(std::iter::repeat_n(0.0, count - row.len())));
    }
    if cut > 0 {
        let percent = worst * 100.0;
        cx.warn(format!(
            "{cut} of {} vertices had more than {count} influences; the largest share given up is {percent:.1} %",
            skin.len()
        ));
    }
    Ok(Skin { width: count, joints: joints.into(), weights: weights.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skin(width: usize, joints: &[u16], weights: &[f32]) -> Skin {
        Skin { width, joints: joints.into(), weights: weights.into() }
    }

    #[test]
    fn the_largest_weights_stay_and_sum_to_one() {
        let wide = skin(4, &[7, 3, 9, 1, 5, 0, 0, 0], &[0.5, 0.25, 0.125, 0.125, 1.0, 0.0, 0.0, 0.0]);
        let cx = Cx::detached();
        let narrow = limit_influences(&wide, 2, &cx).unwrap();
        assert_eq!(narrow, skin(2, &[7, 3, 5, 0], &[0.666_666_7, 0.333_333_34, 1.0, 0.0]));
        let warning = &cx.warnings()[0].what;
        assert_eq!(warning, "1 of 2 vertices had more than 2 influences; the largest share given up is 25.0 %");
    }

    #[test]
    fn of_equal_weights_the_lower_joint_stays() {
        let one = skin(4, &[9, 2, 6, 4], &[0.25; 4]);
        let other = skin(4, &[6, 4, 9, 2], &[0.25; 4]);
        let limit = |skin| limit_influences(skin, 3, &Cx::detached()).unwrap();
        assert_eq!(&*limit(&one).joints, [2, 4, 6]);
        assert_eq!(limit(&one), limit(&other));
    }

    #[test]
    fn what_fits_is_shared_to_the_bit() {
        let given = skin(2, &[1, 2], &[0.7, 0.3]);
        let same = limit_influences(&given, 4, &Cx::detached()).unwrap();
        assert!(std::sync::Arc::ptr_eq(&given.weights, &same.weights));
        // Sums that are off by rounding are no reason to touch a vertex that loses nothing.
        let off = skin(3, &[1, 2, 0], &[0.7, 0.299_999, 0.0]);
        assert_eq!(&*limit_influences(&off, 2, &Cx::detached()).unwrap().weights, [0.7, 0.299_999]);
    }

    #[test]
    fn a_vertex_without_weights_keeps_none() {
        let none = skin(3, &[0; 3], &[0.0; 3]);
        assert_eq!(limit_influences(&none, 1, &Cx::detached()).unwrap(), skin(1, &[0], &[0.0]));
    }
}
