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
mod tests {
    use std::sync::Arc;

    use glam::Vec3;

    use super::*;
    use crate::io::sample_character::{Sample, sample_character};

    const GREY: Colour = Colour([0.25, 0.28, 0.33, 1.0]);
    const NONE: Colour = Colour([0.0; 4]);

    fn rat() -> Character {
        sample_character(Sample::Rat, 0.5, &Cx::detached()).unwrap()
    }

    fn take(character: &Character, clip: &str, bones: bool, background: Colour) -> Result<Pictured> {
        let cx = Cx::detached();
        picture(character, None, None, clip.into(), 0.25, 38.0, 9.0, 1.0, 90, 110, bones, background, &cx)
    }

    #[test]
    fn a_picture_shows_the_figure_on_its_backdrop_and_is_a_png() {
        let rat = rat();
        let taken = take(&rat, "", true, GREY).unwrap();
        assert_eq!((taken.picture.width, taken.picture.height), (90, 110));
        assert!(taken.picture.pixels.iter().all(|pixel| pixel[3] == 255));
        assert_eq!(&*taken.files.files[0].name, "rat.png");
        let read = image::load_from_memory(&taken.files.files[0].bytes).unwrap().into_rgba8();
        assert_eq!(read.as_raw().as_slice(), bytemuck::cast_slice::<[u8; 4], u8>(&taken.picture.pixels));
    }

    #[test]
    fn without_a_backdrop_only_the_figure_is_opaque() {
        let taken = take(&rat(), "", false, NONE).unwrap();
        let seen = taken.picture.pixels.iter().filter(|pixel| pixel[3] == 255).count();
        assert!((500..5000).contains(&seen), "{seen}");
        assert_eq!(taken.picture.pixels[0][3], 0);
    }

    #[test]
    fn bones_and_poses_change_the_picture_and_nothing_else_does() {
        let rat = rat();
        let plain = take(&rat, "", false, GREY).unwrap();
        assert_eq!(plain, take(&rat, "", false, GREY).unwrap());
        assert_ne!(plain.picture, take(&rat, "", true, GREY).unwrap().picture);
        let walk = take(&rat, "Walk", false, GREY).unwrap();
        assert_ne!(plain.picture, walk.picture);
        assert_eq!(&*walk.files.files[0].name, "rat Walk.png");
    }

    #[test]
    fn an_empty_mesh_gives_the_backdrop() {
        let mut empty = rat();
        empty.mesh.positions = Arc::from([]);
        empty.mesh.normals = Arc::from([]);
        empty.mesh.colours = Arc::from([]);
        empty.mesh.triangles = Arc::from([]);
        empty.skin.joints = Arc::from([]);
        empty.skin.weights = Arc::from([]);
        let taken = take(&empty, "", false, NONE).unwrap();
        assert!(taken.picture.pixels.iter().all(|pixel| pixel[3] == 0));
        take(&empty, "", true, GREY).unwrap();
    }

    #[test]
    fn positions_that_are_not_numbers_are_left_out() {
        let mut broken = rat();
        let positions = broken.mesh.positions.iter().enumerate();
        broken.mesh.positions = positions.map(|(v, &p)| if v % 50 == 0 { Vec3::NAN } else { p }).collect();
        let taken = take(&broken, "", true, NONE).unwrap();
        assert!(taken.picture.pixels.iter().filter(|pixel| pixel[3] == 255).count() > 300);
        broken.mesh.positions = broken.mesh.positions.iter().map(|_| Vec3::NAN).collect();
        take(&broken, "", true, GREY).unwrap();
    }

    #[test]
    fn a_clip_that_is_not_there_is_named_with_those_that_are() {
        let error = take(&rat(), "Moonwalk", false, GREY).unwrap_err();
        assert!(error.to_string().starts_with("clip: there is no clip \"Moonwalk\""), "{error}");
        assert!(error.to_string().contains("Sprint"), "{error}");
    }

    #[test]
    fn a_field_becomes_colour_and_must_fit() {
        let rat = rat();
        let mut field = Field {
            name: "height".into(),
            unit: "metres".into(),
            values: rat.mesh.positions.iter().map(|p| p.y).collect(),
            stub: None,
        };
        let cx = Cx::detached();
        let coloured = |field: &Field| {
            picture(&rat, None, Some(field), String::new(), 0.0, 0.0, 0.0, 1.0, 60, 80, false, NONE, &cx)
        };
        let taken = coloured(&field).unwrap().picture;
        let column = |y: u32| taken.pixels[(y * 60 + 30) as usize];
        let rows: Vec<[u8; 4]> = (0..80).map(column).filter(|pixel| pixel[3] == 255).collect();
        let (top, low) = (rows[2], rows[rows.len() - 3]);
        assert!(top[0] > top[2], "yellow above: {top:?}");
        assert!(low[2] > low[0], "blue below: {low:?}");
        field.values = Arc::from([1.0]);
        assert!(coloured(&field).unwrap_err().to_string().contains("the field has 1 values"));
    }

    #[test]
    fn a_name_is_fit_for_every_file_system() {
        assert_eq!(file_name("a/b:c*.d."), "a_b_c_.d");
        assert_eq!(file_name(" .. "), "character");
    }
}
