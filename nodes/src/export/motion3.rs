//! `export.motion3`: motions as `motion3.json` files (`live2d-formats.md` 2.1), each checked after it is written.

pub mod read;
pub mod validate;
mod write;

use std::collections::BTreeSet;

use sinew_graph::{Cx, NodeError, Result, node};

use crate::data::{CurveTarget, Fades, File, Files, Motion2D, Motions2D};

/// Writes motions as `NAME.motion3.json`.
///
/// Loops get fades of 0 seconds unless they have their own, so that no player falls back to the neutral pose at their end.
/// What is written is checked by every rule of the format before it leaves.
#[node(id = "export.motion3", revision = 1, label = "Export motion3")]
pub fn motion3(
    /// The motions.
    motions: &Motions2D,
    /// Ids of parameters that physics writes, separated by commas: their curves are left out.
    #[param(default = String::new())]
    physics: String,
    cx: &Cx,
) -> Result<Files> {
    let physics: BTreeSet<String> =
        physics.split(',').map(str::trim).filter(|id| !id.is_empty()).map(Into::into).collect();
    let (mut files, mut names) = (Vec::new(), BTreeSet::new());
    for motion in &motions.motions {
        cx.check()?;
        let name = file_name(&motion.name)?;
        if !names.insert(name.to_lowercase()) {
            return Err(NodeError::new(format!("two motions are called {name}"))
                .at("motions")
                .help("give every motion its own name; case does not count"));
        }
        let bytes = write::write(&prepared(motion, &physics, cx)).map_err(|error| {
            NodeError::new(format!("{name} cannot be written: {error}"))
                .at("motions")
                .help("look at the node that made the motions")
        })?;
        let faults = validate::validate(&bytes, &physics);
        if let Some(first) = faults.first() {
            let more = if faults.len() > 1 { format!(", and {} more", faults.len() - 1) } else { String::new() };
            return Err(NodeError::new(format!("{name} would break the format: {first}{more}"))
                .at("motions")
                .help("look at the node that made the motions"));
        }
        files.push(File { name: format!("{name}.motion3.json").into(), bytes: bytes.into() });
    }
    Ok(Files { files })
}

/// The motion as files want it: curves by target, none that physics overwrites, loops without fades.
fn prepared(motion: &Motion2D, physics: &BTreeSet<String>, cx: &Cx) -> Motion2D {
    let mut out = motion.clone();
    out.curves.retain(|curve| {
        let driven = curve.target == CurveTarget::Parameter && physics.contains(&*curve.id);
        if driven {
            cx.warn_at("physics", format!("{}: the curve of {} is left out: physics writes it", motion.name, curve.id));
        }
        !driven
    });
    out.curves.sort_by_key(|curve| curve.target);
    if motion.looped {
        let Fades { fade_in, fade_out } = motion.fades;
        out.fades = Fades { fade_in: fade_in.or(Some(0.0)), fade_out: fade_out.or(Some(0.0)) };
    }
    out
}

fn file_name(name: &str) -> Result<String> {
    let forbidden = |c: char| c.is_control() || matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|');
    let plain: String = name.trim().chars().map(|c| if forbidden(c) { '_' } else { c }).collect();
    if plain.is_empty() || plain.starts_with('.') {
        return Err(NodeError::new(format!("a motion is called {name:?}, which makes no file name"))
            .at("motions")
            .help("give the motion a name"));
    }
    Ok(plain)
}

#[cfg(test)]
mod tests;
