//! `measure.loop_gap` (`tail-3d.md` D1).

use std::sync::Arc;

use sinew_graph::{Cx, Result, node};

use super::tip_travel::tip;
use crate::data::{Motion, Table};

/// Measures how far the tip of each chain is at the end of each clip from where it was at its start, seen from what the
/// chain hangs from.
///
/// A loop should be closed to a tenth of a percent of the chain's length; a clip that is no loop ends where it ends.
#[node(id = "measure.loop_gap", revision = 1)]
pub fn loop_gap(
    /// The chains in motion.
    motions: &[&Motion],
    cx: &Cx,
) -> Result<Table> {
    let mut rows = Vec::new();
    for motion in motions {
        for take in &motion.takes {
            cx.check()?;
            for (chain, track) in motion.chains.iter().zip(&take.tracks) {
                let last = track.roots.len().saturating_sub(1);
                let gap = if track.roots.is_empty() { 0.0 } else { tip(track, last).distance(tip(track, 0)) };
                rows.push((Arc::clone(&chain.name), take, gap, chain.lengths.iter().sum::<f64>()));
            }
        }
    }
    Ok(Table::new("loop_gap")
        .texts("chain", rows.iter().map(|row| Arc::clone(&row.0)))
        .texts("clip", rows.iter().map(|row| Arc::clone(&row.1.clip)))
        .texts("loop", rows.iter().map(|row| if row.1.looped { "yes" } else { "no" }))
        .integers("rounds before", rows.iter().map(|row| row.1.passes as i32))
        .numbers("gap", "m", rows.iter().map(|row| row.2))
        .numbers("share", "% of length", rows.iter().map(|row| if row.3 > 0.0 { row.2 / row.3 * 100.0 } else { 0.0 })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::tip_travel::tests::cone;

    #[test]
    fn the_gap_is_that_of_the_tips_and_not_of_where_the_body_went() {
        let gap = |open: f64| {
            let table = loop_gap(&[&cone(open)], &Cx::detached()).unwrap();
            table.column("gap").unwrap().cells.show(0)
        };
        assert_eq!(gap(0.0), "0");
        // A chord of a circle of radius 1.
        assert_eq!(gap(0.25), format!("{:.4}", 2.0 * 0.125f64.sin()));
    }
}
