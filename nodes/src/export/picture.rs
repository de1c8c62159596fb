//! A picture of a character, for reports and documentation: drawn in software, so that it needs no window and no graphics
//! card.

mod bones;
mod camera;
mod light;
mod raster;
mod render;
mod scene;

use image::{ExtendedColorType, ImageEncoder, codecs::png::PngEncoder};
use sinew_graph::knob::Colour;
use sinew_graph::{Cx, NodeError, Outputs, Result, node};

use crate::data::{Character, Clips, Field, File, Files, Picture};
use render::View;
use scene::Scene;

/// A picture and its file.
#[derive(Clone, Debug, PartialEq, Outputs)]
pub struct Pictured {
    /// The picture.
    pub picture: Picture,
    /// The picture as a PNG, named after the character.
    pub files: Files,
}

/// Takes a picture of a character, in its bind pose or at a moment of a clip, with its bones over it.
///
/// Bones of chains that were added stand out; those of the file are translucent.
#[node(id = "export.picture", revision = 1)]
#[allow(clippy::too_many_arguments, reason = "each is a knob")]
pub fn picture(
    /// The character.
    character: &Character,
    /// Clips to choose from instead of the character's own, such as baked ones.
    clips: Option<&Clips>,
    /// A number per vertex to show as colour, dark blue for the least and yellow for the greatest.
    field: Option<&Field>,
    /// The clip that poses it; empty for the bind pose.
    #[param(default = String::new())]
    clip: String,
    /// The moment of the clip.
    #[param(default = 0.0, range = 0.0..=3600.0, unit = "seconds")]
    time: f32,
    /// Where the camera stands around the character: 0 in front of it, 90 on its left, 180 behind it.
    #[param(default = 38.0, range = -360.0..=360.0, unit = "degrees")]
    turn: f32,
    /// How far the camera is raised.
    #[param(default = 9.0, range = -80.0..=80.0, unit = "degrees")]
    tilt: f32,
    /// 1 frames the whole character.
    #[param(default = 1.0, range = 0.1..=20.0)]
    zoom: f32,
    /// Pixels per row.
    #[param(default = 900, range = 16..=2400)]
    width: u32,
    /// Rows of pixels.
    #[param(default = 1100, range = 16..=2400)]
    height: u32,
    /// Whether bones are drawn.
    #[param(default = true)]
    bones: bool,
    /// The colour behind the character; without opacity, nothing but the character is drawn.
    #[param(default = Colour([0.25, 0.28, 0.33, 1.0]))]
    background: Colour,
    cx: &Cx,
) -> Result<Pictured> {
    let scene = Scene::new(character, clips, field, &clip, time)?;
    let view = View { turn, tilt, zoom, width, height, bones, background: background.0 };
    let picture = render::render(&scene, &view, cx)?;
    let name = match &*clip {
        "" => format!("{}.png", file_name(&character.name)),
        clip => format!("{} {}.png", file_name(&character.name), file_name(clip)),
    };
    let files = Files { files: vec![File { name: name.into(), bytes: png(&picture)?.into() }] };
    Ok(Pictured { picture, files })
}

/// A name without what file systems refuse.
fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || " -_.()".contains(c) { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    let name = name.trim_matches([' ', '.']);
    if name.is_empty() { "character".into() } else { name.into() }
}

fn png(picture: &Picture) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    PngEncoder::new(&mut bytes)
        .write_image(bytemuck::cast_slice(&picture.pixels), picture.width, picture.height, ExtendedColorType::Rgba8)
        .map_err(|error| NodeError::new(format!("the picture cannot be written as PNG: {error}")))?;
    Ok(bytes)
}

#[cfg(test)]
mod look {
    use super::*;
    #[test]
    fn look() {
        let what = std::env::var("LOOK").unwrap_or_default();
        let mut it = what.split(',');
        let kind = match it.next().unwrap() { "rat" => crate::io::sample_character::Sample::Rat, "rigged" => crate::io::sample_character::Sample::RatRigged, "biped" => crate::io::sample_character::Sample::Biped, _ => Default::default() };
        let c = crate::io::sample_character::sample_character(kind, 1.0, &Cx::detached()).unwrap();
        println!("{:?} {} verts {} tris", c.mesh.bounds(), c.mesh.positions.len(), c.mesh.triangles.len());
        for (k, view) in it.enumerate() {
            let v: Vec<&str> = view.split('/').collect();
            let t = std::time::Instant::now();
            let p = picture(&c, None, None, v[1].into(), v[2].parse().unwrap(), v[0].parse().unwrap(), 9.0, v.get(4).map_or(1.0, |z| z.parse().unwrap()), 700, 860, v[3] == "b", Colour([0.25, 0.28, 0.33, 1.0]), &Cx::detached()).unwrap();
            println!("{:?}", t.elapsed());
            std::fs::write(format!("/tmp/validator/look{k}.png"), &p.files.files[0].bytes).unwrap();
        }
    }
}
