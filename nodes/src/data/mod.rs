//! What flows along the wires of a rig graph. All is columns behind shared pointers: cloning is cheap, and values that
//! agree in a part share it.

mod body;
mod chains;
mod character;
mod clip;
mod colliders;
mod field;
mod files;
mod mesh;
mod model;
mod motion;
mod motions_2d;
mod picture;
mod region_tree;
mod regions;
mod skeleton;
mod skin;
mod table;
mod transform;
mod weld;

pub use body::Body;
pub use chains::{Chain, Chains};
pub use character::{Character, Source, SourceFile};
pub use clip::{Channel, Clip, Clips, Interpolation, Target};
pub use colliders::{Collider, Colliders};
pub use field::Field;
pub use files::{File, Files};
pub use mesh::{Mesh, Part};
pub use model::{Axis, Canvas, Deformer, DeformerShape, Model, ModelPart, Parameter, Rotation, RotationForm};
pub use motion::{Motion, MovedChain, Take, Track};
pub use motions_2d::{CurveTarget, Event2D, Fades, Motion2D, Motions2D, ParameterCurve, Segment};
pub use picture::Picture;
pub use region_tree::{Branch, RegionTree};
pub use regions::{Collar, Finding, Kind, Region, Regions, Stance, Treatment};
pub use skeleton::{Joint, Skeleton};
pub use skin::Skin;
pub use table::{Cells, Table, TableColumn};
pub use transform::Transform;
pub use weld::Weld;
