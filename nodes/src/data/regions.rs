//! Regions of skin that may be appendages, what is known of each, and what was decided.

use std::sync::Arc;

use glam::Vec3;
use serde::{Deserialize, Serialize};
use sinew_graph::Data;
use sinew_graph::column::{Column, ColumnError, Columns};
use sinew_graph::value::{DataType, DataTypeId};

use super::Body;

/// Regions of one body. Each step of detection fills in more of them: flood, collar, classify, merge, pick.
#[derive(Clone, Debug, PartialEq)]
pub struct Regions {
    /// What they are regions of.
    pub body: Body,
    /// How the character stands.
    pub stance: Stance,
    /// The regions, in order of number.
    pub regions: Vec<Region>,
}

/// How a character stands in bind space, told from its skeleton.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stance {
    /// Up, unit length.
    pub up: Vec3,
    /// Where it faces, unit length, at right angles to up.
    pub forward: Vec3,
    /// Extent of the mesh along up, file units: one *height*, H.
    pub height: f32,
}

/// A region of skin.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Its number: the same for the same character, whatever was picked or merged.
    pub number: u32,
    /// Its welded vertices, rising.
    pub vertices: Arc<[u32]>,
    /// Where it meets the rest; none until [`collar`](crate::rig) found it.
    pub collar: Option<Collar>,
    /// What it was found to be.
    pub finding: Finding,
}

/// The ring around the root of a region.
#[derive(Clone, Debug, PartialEq)]
pub struct Collar {
    /// Its welded vertices, rising. Outside of the region; for a region that is a whole shell, its own root ring.
    pub ring: Arc<[u32]>,
    /// The centroid of the ring, bind space.
    pub centre: Vec3,
    /// The joint that the region hangs from.
    pub joint: u16,
}

/// What a region was found to be and what is done with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What it is.
    pub kind: Kind,
    /// What is done with it.
    pub treatment: Treatment,
    /// The name that its bones get: `Tail`.
    pub name: Arc<str>,
    /// Geodesic length from the collar, or the diameter; file units.
    pub extent: f32,
    /// `sqrt(l1 / l2)` of the covariance of its vertices.
    pub elongation: f32,
    /// How far its centroid is from the skeleton, as a share of the extent.
    pub offset: f32,
    /// Why, in words, with the numbers.
    pub reason: Arc<str>,
}

impl Finding {
    /// What is known of a region before anything judged it: only how it came to be.
    pub fn unjudged(reason: impl Into<Arc<str>>) -> Self {
        Self {
            kind: Kind::Unknown,
            treatment: Treatment::Unchanged,
            name: "".into(),
            extent: 0.0,
            elongation: 0.0,
            offset: 0.0,
            reason: reason.into(),
        }
    }
}

/// What a region is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// Not judged yet.
    Unknown,
    /// Part of the trunk, a limb or the head.
    Body,
    /// Elongated, from the pelvis.
    Tail,
    /// Elongated, from the spine: scabbard, quiver, strap.
    Worn,
    /// On the head, upright: an ear.
    Ear,
    /// On the head, hanging: hair.
    Hair,
    /// From the spine, to one side: a wing.
    Wing,
    /// Broad: cape, skirt.
    Broad,
    /// Too short or too small to be worth bones.
    Small,
}

/// What is done with a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Treatment {
    /// Left as it is.
    Unchanged,
    /// Gets a chain of bones.
    Chain,
    /// Follows its joint rigidly.
    Rigid,
}

#[derive(Serialize, Deserialize)]
struct Head {
    number: u32,
    collar: Option<(Vec3, u16)>,
    finding: Finding,
}

impl Data for Regions {
    const TYPE: DataType = DataType {
        id: DataTypeId("regions"),
        label: "Regions",
        help: "Regions of skin that may be appendages, and what was decided of each.",
        colour: [216, 96, 80],
    };

    fn columns(&self) -> Vec<Column> {
        let mut columns = self.body.columns();
        columns.push(Column::json("stance", &self.stance));
        let heads: Vec<Head> = self
            .regions
            .iter()
            .map(|region| Head {
                number: region.number,
                collar: region.collar.as_ref().map(|collar| (collar.centre, collar.joint)),
                finding: region.finding.clone(),
            })
            .collect();
        columns.push(Column::json("regions", &heads));
        for (k, region) in self.regions.iter().enumerate() {
            columns.push(Column::u32(format!("region{k}.vertex"), &region.vertices));
            if let Some(collar) = &region.collar {
                columns.push(Column::u32(format!("region{k}.ring"), &collar.ring));
            }
        }
        columns
    }

    fn from_columns(columns: &Columns) -> Result<Self, ColumnError> {
        let heads: Vec<Head> = columns.get("regions")?.as_json()?;
        let region = |(k, head): (usize, Head)| {
            let collar = match head.collar {
                Some((centre, joint)) => {
                    Some(Collar { ring: columns.get(&format!("region{k}.ring"))?.as_u32()?, centre, joint })
                }
                None => None,
            };
            let vertices = columns.get(&format!("region{k}.vertex"))?.as_u32()?;
            Ok(Region { number: head.number, vertices, collar, finding: head.finding })
        };
        Ok(Self {
            body: Body::from_columns(columns)?,
            stance: columns.get("stance")?.as_json()?,
            regions: heads.into_iter().enumerate().map(region).collect::<Result<_, ColumnError>>()?,
        })
    }
}
