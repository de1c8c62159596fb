//! Sample characters, made from formulas: bodies as blended solids, tails as lofted tubes, clips as functions of time. All
//! of it is exact arithmetic, so that every machine makes the same bytes.

mod biped;
mod clips;
mod figure;
mod fox;
mod fur;
mod glb;
mod loft;
mod maths;
mod rat;
mod rig;
mod shell;
mod solid;
mod surface;
mod weights;

use sinew_graph::{Cx, Result};

pub use figure::Detail;

use super::sample_character::Sample;

/// A sample character as the bytes of a GLB.
pub fn glb(kind: Sample, detail: Detail, cx: &Cx) -> Result<Vec<u8>> {
    let figure = figure(kind, detail, cx)?;
    glb::write(&figure, &clips::clips(&figure.joints))
}

fn figure(kind: Sample, detail: Detail, cx: &Cx) -> Result<figure::Figure> {
    match kind {
        Sample::Fox => fox::fox(detail, cx),
        Sample::Rat => rat::rat(detail, cx),
        Sample::RatRigged => rat::rigged(detail, cx),
        Sample::Biped => biped::biped(detail, cx),
    }
}
