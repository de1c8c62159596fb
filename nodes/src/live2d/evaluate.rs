//! What a model looks like at given parameters (`live2d-formats.md` 7.3 and 7.5): key forms are blended, and deformers are
//! put one into the other.

use std::sync::Arc;

use glam::DVec2;

use super::view::turn;
use crate::data::{Axis, Deformer, DeformerShape, Model, Rotation, RotationForm};

/// A value this near to a key counts as the key: three decimal places.
const SNAP: f64 = 0.001;

/// A rotation deformer in place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Its pivot on the canvas.
    pub pivot: DVec2,
    /// Where its handle points, degrees clockwise from up, all parents included.
    pub angle: f64,
    /// Its scale, all parents included.
    pub scale: f64,
    /// Whether x and y of its own are mirrored.
    pub reflect: [bool; 2],
    /// How opaque what hangs from it is, all parents included.
    pub opacity: f64,
    /// Whether what hangs from it is shown: not where a parameter is outside of the keys of it or a parent.
    pub visible: bool,
}

impl Frame {
    /// Where a point around the pivot comes to be on the canvas.
    pub fn place(&self, point: DVec2) -> DVec2 {
        let sign = self.reflect.map(|mirrored| if mirrored { -1.0 } else { 1.0 });
        self.pivot + self.scale * turn(self.angle, point * DVec2::from_array(sign))
    }

    /// How much it turns the frames of its children.
    fn heading(&self) -> f64 {
        let flipped = self.reflect[1] != (self.scale < 0.0);
        self.angle + if flipped { 180.0 } else { 0.0 }
    }
}

/// Why a model cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvaluateError {
    /// The number of values is not that of the parameters.
    #[error("the model has {parameters} parameters but {values} values were given; give one per parameter")]
    Values {
        /// How many parameters.
        parameters: usize,
        /// How many values.
        values: usize,
    },
    /// A value is not a finite number.
    #[error("the value of {0} is not a finite number")]
    NotFinite(Arc<str>),
    /// A deformer hangs from none before it.
    #[error("{0} hangs from a deformer that does not stand before it; put parents before their children")]
    Parent(Arc<str>),
    /// An axis has no parameter or no two rising keys.
    #[error("{0} has an axis without a parameter or without two rising keys; give it the parameter's range as keys")]
    Axis(Arc<str>),
    /// The key forms do not fill their grid.
    #[error("{id} has {forms} key forms but its axes make {grid}; give one form per combination of keys")]
    Forms {
        /// The deformer.
        id: Arc<str>,
        /// How many forms.
        forms: usize,
        /// How many there should be.
        grid: usize,
    },
}

/// All deformers in place, in the model's order. One value per parameter; beyond its range the end of the range counts.
pub fn evaluate(model: &Model, values: &[f64]) -> Result<Vec<Frame>, EvaluateError> {
    if values.len() != model.parameters.len() {
        return Err(EvaluateError::Values { parameters: model.parameters.len(), values: values.len() });
    }
    if let Some((parameter, _)) = model.parameters.iter().zip(values).find(|(_, value)| !value.is_finite()) {
        return Err(EvaluateError::NotFinite(Arc::clone(&parameter.id)));
    }
    let mut frames: Vec<Frame> = Vec::with_capacity(model.deformers.len());
    for deformer in &model.deformers {
        let parent = match deformer.parent {
            None => None,
            Some(parent) => {
                let frame = frames.get(parent as usize);
                Some(*frame.ok_or_else(|| EvaluateError::Parent(Arc::clone(&deformer.id)))?)
            }
        };
        let DeformerShape::Rotation(rotation) = &deformer.shape;
        let (form, visible) = blend(model, deformer, rotation, values)?;
        let angle = rotation.base + form.angle;
        frames.push(match parent {
            None => Frame {
                pivot: form.pivot,
                angle,
                scale: form.scale,
                reflect: form.reflect,
                opacity: form.opacity,
                visible,
            },
            Some(parent) => Frame {
                pivot: parent.place(form.pivot),
                angle: parent.heading() + angle,
                scale: parent.scale * form.scale,
                reflect: form.reflect,
                opacity: parent.opacity * form.opacity,
                visible: parent.visible && visible,
            },
        });
    }
    Ok(frames)
}

/// The form of a deformer, and whether all parameters are within its keys. Mirroring does not blend: the lower key counts.
fn blend(
    model: &Model,
    deformer: &Deformer,
    rotation: &Rotation,
    values: &[f64],
) -> Result<(RotationForm, bool), EvaluateError> {
    let grid = deformer.axes.iter().map(|axis| axis.keys.len()).product();
    let forms = &rotation.forms;
    if forms.len() != grid || grid == 0 {
        return Err(EvaluateError::Forms { id: Arc::clone(&deformer.id), forms: forms.len(), grid });
    }
    // Corners of the cell that the values are in, with their weights.
    let mut corners = vec![(0, 1.0)];
    let (mut stride, mut visible) = (1, true);
    for axis in &deformer.axes {
        let place = locate(model, axis, values).ok_or_else(|| EvaluateError::Axis(Arc::clone(&deformer.id)))?;
        visible &= place.within;
        let spread = |&(at, weight): &(usize, f64)| {
            let low = at + place.key * stride;
            let high = if place.share > 0.0 { low + stride } else { low };
            [(low, weight * (1.0 - place.share)), (high, weight * place.share)]
        };
        corners = corners.iter().flat_map(spread).filter(|&(_, weight)| weight != 0.0).collect();
        stride *= axis.keys.len();
    }
    let mut out = RotationForm {
        angle: 0.0,
        pivot: DVec2::ZERO,
        scale: 0.0,
        opacity: 0.0,
        reflect: corners.first().map_or([false; 2], |&(at, _)| forms[at].reflect),
    };
    for (at, weight) in corners {
        let form = forms[at];
        out.angle += weight * form.angle;
        out.pivot += weight * form.pivot;
        out.scale += weight * form.scale;
        out.opacity += weight * form.opacity;
    }
    Ok((out, visible))
}

/// A place between two keys.
struct Place {
    key: usize,
    share: f64,
    within: bool,
}

fn locate(model: &Model, axis: &Axis, values: &[f64]) -> Option<Place> {
    let parameter = model.parameters.get(axis.parameter as usize)?;
    let keys = &axis.keys;
    let rising = keys.windows(2).all(|pair| pair[0] < pair[1]);
    let ranged = parameter.min <= parameter.max;
    if keys.len() < 2 || !rising || !ranged {
        return None;
    }
    let value = values[axis.parameter as usize].clamp(parameter.min, parameter.max);
    if let Some(key) = keys.iter().position(|key| (value - key).abs() <= SNAP) {
        return Some(Place { key, share: 0.0, within: true });
    }
    let after = keys.partition_point(|&key| key < value);
    if after == 0 || after == keys.len() {
        return Some(Place { key: after.saturating_sub(1), share: 0.0, within: false });
    }
    let (low, high) = (keys[after - 1], keys[after]);
    Some(Place { key: after - 1, share: (value - low) / (high - low), within: true })
}

#[cfg(test)]
mod tests;
