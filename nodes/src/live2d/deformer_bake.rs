//! `live2d.deformer_bake`: chains become rotation deformers (`puppet-2d.md` B3).

use std::sync::Arc;

use glam::{DVec2, Vec3};
use sinew_graph::{Cx, NodeError, Result, node};

use super::seen::{self, SeenRest};
use super::view::{Screen, View, turn};
use crate::data::{Axis, Canvas, Deformer, DeformerShape, Model, ModelPart, Motion, Parameter, Rotation, RotationForm};

/// The share of the canvas that the chains reach across at most.
const FILLED: f64 = 0.8;

/// Makes a model of the chains at rest: a rotation deformer per link, nested, with its pivot at the link's head and its
/// handle along the link.
///
/// Each turns by its own parameter, in degrees, clockwise on screen; at 0 the chain rests. Key forms are at the ends of the
/// range and at 0. The first chain's root is in the middle of the canvas, others stand where they are at the first sample.
#[node(id = "live2d.deformer_bake", revision = 1)]
#[allow(clippy::too_many_arguments, reason = "each is a knob")]
pub fn deformer_bake(
    /// The simulated chains.
    motion: &Motion,
    /// From where they are seen.
    #[param(default = View::Side)]
    view: View,
    /// Towards the viewer, for the view `direction`: x to the character's left, y up, z forward.
    #[param(default = Vec3::new(1.0, 0.0, 0.0))]
    direction: Vec3,
    /// What the ids of parameters begin with; the chain's name and the number of the link follow: `ParamTail1`.
    #[param(default = String::from("Param"))]
    prefix: String,
    /// The least value of each parameter.
    #[param(default = -150.0, range = -720.0..=0.0, unit = "degrees")]
    minimum: f64,
    /// The greatest value of each parameter.
    #[param(default = 150.0, range = 0.0..=720.0, unit = "degrees")]
    maximum: f64,
    /// Width and height of the canvas.
    #[param(default = 2048, range = 16..=16384, unit = "pixels")]
    canvas: u32,
    cx: &Cx,
) -> Result<Model> {
    if !(minimum <= 0.0 && 0.0 <= maximum && minimum < maximum) {
        return Err(NodeError::new(format!("the range from {minimum} to {maximum} has no room around 0"))
            .at("minimum")
            .help("give a minimum of 0 or below and a maximum of 0 or above"));
    }
    let screen = Screen::new(view, direction)?;
    let rests = seen::rests(motion, &screen, &prefix)?;
    let roots = roots(motion, &screen)?;
    let size = f64::from(canvas);
    let scale = FILLED * 0.5 * size / reach(&rests, &roots)?;
    let middle = DVec2::splat(0.5 * size);
    let mut model = Model {
        name: motion.chains.first().map_or_else(|| "chains".into(), |chain| Arc::clone(&chain.name)),
        canvas: Canvas { size: DVec2::splat(size), origin: middle, pixels_per_unit: size },
        parameters: Vec::new(),
        parts: Vec::new(),
        deformers: Vec::new(),
    };
    for ((chain, rest), root) in motion.chains.iter().zip(&rests).zip(&roots) {
        cx.check()?;
        let part = model.parts.len() as u32;
        let bone: String = chain.name.chars().filter(|&c| c.is_ascii_alphanumeric() || c == '_').collect();
        model.parts.push(ModelPart { id: format!("Part_{bone}").into(), name: Arc::clone(&chain.name), parent: None });
        let mut pivot = middle + *root * scale;
        for (link, id) in rest.parameters.iter().enumerate() {
            let parameter = model.parameters.len() as u32;
            let number = link + 1;
            model.parameters.push(Parameter {
                id: Arc::clone(id),
                name: format!("{} {number}", chain.name).into(),
                min: minimum,
                max: maximum,
                default: 0.0,
            });
            let mut keys = vec![minimum, 0.0, maximum];
            keys.dedup();
            let forms = keys.iter().map(|&key| RotationForm::turned(pivot, key)).collect();
            let handle = rest.lengths[link] * scale;
            model.deformers.push(Deformer {
                id: format!("DeformSkel_{bone}_{number}").into(),
                part: Some(part),
                parent: (link > 0).then(|| model.deformers.len() as u32 - 1),
                axes: vec![Axis { parameter, keys: keys.into() }],
                shape: DeformerShape::Rotation(Rotation { base: rest.angles[link], handle, forms }),
            });
            // The next link's head is at the end of this handle, before this one is turned.
            pivot = DVec2::new(0.0, -handle);
        }
    }
    Ok(model)
}

/// Where the roots are seen from the first chain's, file units.
fn roots(motion: &Motion, screen: &Screen) -> Result<Vec<DVec2>> {
    let Some(take) = motion.takes.first() else { return Ok(vec![DVec2::ZERO; motion.chains.len()]) };
    let start = |k: usize| {
        let track = take.tracks.get(k)?;
        Some((*track.roots.first()?, *track.turns.first()?))
    };
    let missing = || {
        NodeError::new(format!("the take {} has not a sample of every chain", take.clip))
            .at("motion")
            .help("look at the node that made the motion")
    };
    let Some((origin, turn)) = start(0) else {
        return if motion.chains.is_empty() { Ok(Vec::new()) } else { Err(missing()) };
    };
    let back = glam::DQuat::from_array(turn).normalize().conjugate();
    let root = |k| start(k).map(|(root, _)| screen.see(back * (root - origin))).filter(|root| root.is_finite());
    (0..motion.chains.len()).map(|k| root(k).ok_or_else(missing)).collect()
}

/// The farthest that a chain at rest comes from the middle, along x or y; file units.
fn reach(rests: &[SeenRest], roots: &[DVec2]) -> Result<f64> {
    let mut reach: f64 = 0.0;
    for (rest, root) in rests.iter().zip(roots) {
        let (mut at, mut angle) = (*root, 0.0);
        for (relative, length) in rest.angles.iter().zip(&rest.lengths) {
            angle += relative;
            at += turn(angle, DVec2::NEG_Y) * *length;
            reach = reach.max(at.abs().max_element());
        }
        reach = reach.max(root.abs().max_element());
    }
    if reach > 0.0 && reach.is_finite() {
        return Ok(reach);
    }
    Err(NodeError::new("there is no chain that has a length").at("motion").help("simulate one chain or more"))
}
