//! A Live2D model: parameters, parts, and the deformers that they bend. Warp deformers and art meshes will join.
//!
//! Lengths are in pixels of the canvas, y down. Angles are in degrees, clockwise on screen; a handle points up at 0.

use std::sync::Arc;

use glam::DVec2;
use serde::{Deserialize, Serialize};
use sinew_graph::Data;
use sinew_graph::column::{Column, ColumnError, Columns};
use sinew_graph::value::{DataType, DataTypeId};

/// A model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Its name.
    pub name: Arc<str>,
    /// What it is drawn on.
    pub canvas: Canvas,
    /// Its parameters, in the order of the panel.
    pub parameters: Vec<Parameter>,
    /// Its parts, parents before children.
    pub parts: Vec<ModelPart>,
    /// Its deformers, parents before children.
    pub deformers: Vec<Deformer>,
}

/// What a model is drawn on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Canvas {
    /// Width and height, pixels.
    pub size: DVec2,
    /// The pixel that is the model's origin.
    pub origin: DVec2,
    /// Pixels per model unit.
    pub pixels_per_unit: f64,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its id: `ParamTail1`. ASCII, at most 63 characters, unique in its model.
    pub id: Arc<str>,
    /// Its name on screen.
    pub name: Arc<str>,
    /// Its least value.
    pub min: f64,
    /// Its greatest value.
    pub max: f64,
    /// The value that it has until something moves it.
    pub default: f64,
}

/// A part: a folder of what is drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelPart {
    /// Its id.
    pub id: Arc<str>,
    /// Its name on screen.
    pub name: Arc<str>,
    /// The part that it is in, by number.
    pub parent: Option<u32>,
}

/// A deformer.
#[derive(Clone, Debug, PartialEq)]
pub struct Deformer {
    /// Its id: `DeformSkel_Tail_1`.
    pub id: Arc<str>,
    /// The part that it is in, by number.
    pub part: Option<u32>,
    /// The deformer that it hangs from, by number; always an earlier one.
    pub parent: Option<u32>,
    /// The parameters that choose among its key forms. One key form per point of their grid, the first axis varying
    /// fastest; without axes there is one form.
    pub axes: Vec<Axis>,
    /// What it does.
    pub shape: DeformerShape,
}

/// A parameter with the values at which there are key forms.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The parameter, by number.
    pub parameter: u32,
    /// At least two values, rising, the first and last being exactly the parameter's range.
    pub keys: Arc<[f64]>,
}

/// What a deformer does.
#[derive(Clone, Debug, PartialEq)]
pub enum DeformerShape {
    /// It turns, scales and moves as one piece.
    Rotation(Rotation),
}

/// A rotation deformer.
#[derive(Clone, Debug, PartialEq)]
pub struct Rotation {
    /// Where its handle points when its angle is 0, relative to its parent's.
    pub base: f64,
    /// How long its handle is: a bone's length. No part of what it does.
    pub handle: f64,
    /// A form per point of the key grid.
    pub forms: Arc<[RotationForm]>,
}

/// A key form of a rotation deformer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RotationForm {
    /// Its angle, added to the base angle.
    pub angle: f64,
    /// Its pivot: on the canvas, or under a rotation deformer around that one's pivot before it is turned.
    pub pivot: DVec2,
    /// Its scale.
    pub scale: f64,
    /// How opaque what hangs from it is, 0 to 1.
    pub opacity: f64,
    /// Whether x and y are mirrored, before all else.
    pub reflect: [bool; 2],
}

impl RotationForm {
    /// A form at a pivot that turns by an angle, and nothing else.
    pub fn turned(pivot: DVec2, angle: f64) -> Self {
        Self { angle, pivot, scale: 1.0, opacity: 1.0, reflect: [false; 2] }
    }
}

impl Model {
    /// The parameter with this id and its number.
    pub fn parameter(&self, id: &str) -> Option<(usize, &Parameter)> {
        self.parameters.iter().enumerate().find(|(_, parameter)| &*parameter.id == id)
    }
}

#[derive(Serialize, Deserialize)]
struct Head {
    name: Arc<str>,
    parameters: Vec<[Arc<str>; 2]>,
    parts: Vec<ModelPart>,
    deformers: Vec<DeformerHead>,
}

#[derive(Serialize, Deserialize)]
struct DeformerHead {
    id: Arc<str>,
    part: Option<u32>,
    parent: Option<u32>,
    axes: Vec<u32>,
    kind: ShapeKind,
}

#[derive(Serialize, Deserialize)]
enum ShapeKind {
    Rotation,
}

impl Data for Model {
    const TYPE: DataType = DataType {
        id: DataTypeId("model"),
        label: "Model",
        help: "A Live2D model: parameters, parts and deformers.",
        colour: [214, 120, 196],
    };

    fn columns(&self) -> Vec<Column> {
        let deformer = |deformer: &Deformer| DeformerHead {
            id: Arc::clone(&deformer.id),
            part: deformer.part,
            parent: deformer.parent,
            axes: deformer.axes.iter().map(|axis| axis.parameter).collect(),
            kind: match deformer.shape {
                DeformerShape::Rotation(_) => ShapeKind::Rotation,
            },
        };
        let head = Head {
            name: Arc::clone(&self.name),
            parameters: self.parameters.iter().map(|p| [Arc::clone(&p.id), Arc::clone(&p.name)]).collect(),
            parts: self.parts.clone(),
            deformers: self.deformers.iter().map(deformer).collect(),
        };
        let canvas = &self.canvas;
        let [size, origin] = [canvas.size, canvas.origin];
        let canvas: Arc<[f64]> = Arc::from([size.x, size.y, origin.x, origin.y, canvas.pixels_per_unit]);
        let ranges: Arc<[[f64; 3]]> = self.parameters.iter().map(|p| [p.min, p.max, p.default]).collect();
        let mut columns =
            vec![Column::json("model", &head), Column::f64("canvas", &canvas), Column::f64("parameter", &ranges)];
        for (d, deformer) in self.deformers.iter().enumerate() {
            for (a, axis) in deformer.axes.iter().enumerate() {
                columns.push(Column::f64(format!("deformer{d}.axis{a}.key"), &axis.keys));
            }
            let DeformerShape::Rotation(rotation) = &deformer.shape;
            let form = |f: &RotationForm| [f.angle, f.pivot.x, f.pivot.y, f.scale, f.opacity];
            let forms: Arc<[[f64; 5]]> = rotation.forms.iter().map(form).collect();
            let reflections: Arc<[[u8; 2]]> = rotation.forms.iter().map(|f| f.reflect.map(u8::from)).collect();
            columns.push(Column::f64(format!("deformer{d}.rest"), &Arc::from([[rotation.base, rotation.handle]])));
            columns.push(Column::f64(format!("deformer{d}.form"), &forms));
            columns.push(Column::u8(format!("deformer{d}.reflect"), &reflections));
        }
        columns
    }

    fn from_columns(columns: &Columns) -> Result<Self, ColumnError> {
        let head: Head = columns.get("model")?.as_json()?;
        let canvas = columns.get("canvas")?.as_f64::<f64>()?;
        let &[width, height, x, y, pixels_per_unit] = &*canvas else {
            return Err(content("canvas", "a canvas is five numbers"));
        };
        let ranges = columns.get("parameter")?.as_f64::<[f64; 3]>()?;
        if ranges.len() != head.parameters.len() {
            return Err(content("parameter", "every parameter has one range"));
        }
        let parameter =
            |([id, name], &[min, max, default]): ([Arc<str>; 2], &[f64; 3])| Parameter { id, name, min, max, default };
        Ok(Self {
            name: head.name,
            canvas: Canvas { size: DVec2::new(width, height), origin: DVec2::new(x, y), pixels_per_unit },
            parameters: head.parameters.into_iter().zip(ranges.iter()).map(parameter).collect(),
            parts: head.parts,
            deformers: head
                .deformers
                .into_iter()
                .enumerate()
                .map(|(d, head)| deformer(d, head, columns))
                .collect::<Result<_, _>>()?,
        })
    }
}

fn deformer(d: usize, head: DeformerHead, columns: &Columns) -> Result<Deformer, ColumnError> {
    let axis =
        |(a, parameter)| Ok(Axis { parameter, keys: columns.get(&format!("deformer{d}.axis{a}.key"))?.as_f64()? });
    let axes = head.axes.into_iter().enumerate().map(axis).collect::<Result<_, ColumnError>>()?;
    let shape = match head.kind {
        ShapeKind::Rotation => {
            let name = format!("deformer{d}.rest");
            let rest = columns.get(&name)?.as_f64::<[f64; 2]>()?;
            let &[[base, handle]] = &*rest else { return Err(content(&name, "a rest is one row")) };
            let forms = columns.get(&format!("deformer{d}.form"))?.as_f64::<[f64; 5]>()?;
            let name = format!("deformer{d}.reflect");
            let reflections = columns.get(&name)?.as_u8::<[u8; 2]>()?;
            if reflections.len() != forms.len() {
                return Err(content(&name, "every form has one row"));
            }
            let form = |(&[angle, x, y, scale, opacity], reflect): (&[f64; 5], &[u8; 2])| RotationForm {
                angle,
                pivot: DVec2::new(x, y),
                scale,
                opacity,
                reflect: reflect.map(|flag| flag != 0),
            };
            let forms = forms.iter().zip(reflections.iter()).map(form).collect();
            DeformerShape::Rotation(Rotation { base, handle, forms })
        }
    };
    Ok(Deformer { id: head.id, part: head.part, parent: head.parent, axes, shape })
}

fn content(name: &str, reason: &str) -> ColumnError {
    ColumnError::Content { name: name.into(), reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_the_same_after_its_columns() {
        let form = RotationForm { reflect: [true, false], ..RotationForm::turned(DVec2::new(0.1, 1.0 / 3.0), -12.3) };
        let model = Model {
            name: "fox".into(),
            canvas: Canvas { size: DVec2::splat(2048.0), origin: DVec2::new(1024.0, 1000.1), pixels_per_unit: 0.1 },
            parameters: vec![Parameter {
                id: "ParamTail1".into(),
                name: "Tail 1".into(),
                min: -150.0,
                max: 90.1,
                default: 0.3,
            }],
            parts: vec![ModelPart { id: "PartTail".into(), name: "Tail".into(), parent: None }],
            deformers: vec![Deformer {
                id: "DeformSkel_Tail_1".into(),
                part: Some(0),
                parent: None,
                axes: vec![Axis { parameter: 0, keys: [-150.0, 90.1].into() }],
                shape: DeformerShape::Rotation(Rotation { base: 179.9, handle: 30.0, forms: [form, form].into() }),
            }],
        };
        assert_eq!(Model::from_columns(&Data::columns(&model).into_iter().collect()).unwrap(), model);
    }
}
