//! Base colour per vertex, for display: factor, texture and vertex colour multiplied as renderers do, in linear light.
//!
//! What is missing or broken here never fails an import: a texture that cannot be decoded is told and left out.

use std::collections::BTreeMap;
use std::io::Cursor;

use glam::{Vec2, Vec4};
use image::{ImageReader, Limits, RgbaImage};
use sinew_graph::{Cx, Result};

use super::accessor::Accessors;
use super::buffers;
use super::document::{Primitive, TextureInfo};
use crate::data::SourceFile;

/// Memory that decoding an image may take.
const LARGEST_IMAGE: u64 = 1 << 29;

/// Samples base colours, and keeps decoded images for the primitives that share them.
pub struct Colours<'a> {
    accessors: &'a Accessors<'a>,
    files: &'a [SourceFile],
    images: BTreeMap<usize, Option<RgbaImage>>,
    linear: [f32; 256],
}

impl<'a> Colours<'a> {
    /// Over a document and the image files beside it.
    pub fn new(accessors: &'a Accessors<'a>, files: &'a [SourceFile]) -> Self {
        let linear = std::array::from_fn(|k| to_linear(k as f32 / 255.0));
        Self { accessors, files, images: BTreeMap::new(), linear }
    }

    /// The colours of a primitive's vertices.
    pub fn of(&mut self, primitive: &Primitive, count: usize, path: &str, cx: &Cx) -> Result<Vec<[u8; 4]>> {
        let document = self.accessors.document();
        let pbr = primitive.material.and_then(|m| document.materials.get(m)).map(|m| &m.pbr_metallic_roughness);
        let factor = pbr.and_then(|pbr| pbr.base_color_factor).map_or(Vec4::ONE, Vec4::from_array);
        let mut colours = vec![factor; count];
        self.multiply_vertex_colours(primitive, &mut colours, path, cx);
        if let Some(info) = pbr.and_then(|pbr| pbr.base_color_texture.as_ref()) {
            self.multiply_texture(primitive, info, &mut colours, path, cx)?;
        }
        let finite = |c: &Vec4| if c.is_finite() { *c } else { Vec4::ONE };
        Ok(colours.iter().map(finite).map(to_srgb).collect())
    }

    fn multiply_vertex_colours(&self, primitive: &Primitive, colours: &mut [Vec4], path: &str, cx: &Cx) {
        let Some(&index) = primitive.attributes.get("COLOR_0") else { return };
        let path = format!("{path}.attributes.COLOR_0");
        match self.accessors.flat(index, &path) {
            Ok((values, arity @ 3..=4)) if values.len() == colours.len() * arity => {
                for (colour, v) in colours.iter_mut().zip(values.chunks_exact(arity)) {
                    *colour *= Vec4::new(v[0], v[1], v[2], v.get(3).copied().unwrap_or(1.0));
                }
            }
            Ok(_) => cx.warn(format!("{path}: it does not have a colour per vertex; it is not shown")),
            Err(error) => cx.warn(format!("{}; it is not shown", error.what)),
        }
    }

    fn multiply_texture(
        &mut self,
        primitive: &Primitive,
        info: &TextureInfo,
        colours: &mut [Vec4],
        path: &str,
        cx: &Cx,
    ) -> Result<()> {
        let document = self.accessors.document();
        let transform = info.extensions.transform.as_ref();
        let set = transform.and_then(|t| t.tex_coord).unwrap_or(info.tex_coord);
        let (Some(&coordinates), Some(texture)) =
            (primitive.attributes.get(&format!("TEXCOORD_{set}")), document.textures.get(info.index))
        else {
            return Ok(());
        };
        let coordinates = match self.accessors.floats::<2>(coordinates, &format!("{path}.attributes.TEXCOORD_{set}")) {
            Ok(coordinates) if coordinates.len() == colours.len() => coordinates,
            Ok(_) => return Ok(()),
            Err(error) => {
                cx.warn(format!("{}; its texture is not shown", error.what));
                return Ok(());
            }
        };
        let Some(source) = texture.source else { return Ok(()) };
        let linear = self.linear;
        let Some(image) = self.image(source, cx)? else { return Ok(()) };
        let sampler = texture.sampler.and_then(|s| document.samplers.get(s));
        let wraps = [sampler.and_then(|s| s.wrap_s), sampler.and_then(|s| s.wrap_t)];
        let offset = transform.and_then(|t| t.offset).map_or(Vec2::ZERO, Vec2::from_array);
        let scale = transform.and_then(|t| t.scale).map_or(Vec2::ONE, Vec2::from_array);
        let (sin, cos) = transform.map_or(0.0, |t| t.rotation).sin_cos();
        for (colour, &uv) in colours.iter_mut().zip(&coordinates) {
            let uv = Vec2::from_array(uv) * scale;
            let uv = Vec2::new(cos * uv.x + sin * uv.y, cos * uv.y - sin * uv.x) + offset;
            let x = texel(uv.x, image.width(), wraps[0]);
            let y = texel(uv.y, image.height(), wraps[1]);
            let [r, g, b, a] = image.get_pixel(x, y).0;
            let at = |channel: u8| linear[usize::from(channel)];
            *colour *= Vec4::new(at(r), at(g), at(b), f32::from(a) / 255.0);
        }
        Ok(())
    }

    fn image(&mut self, index: usize, cx: &Cx) -> Result<Option<&RgbaImage>> {
        cx.check()?;
        if !self.images.contains_key(&index) {
            let decoded = self.decode(index);
            if let Err(reason) = &decoded {
                cx.warn(format!("images[{index}]: {reason}; it is not shown"));
            }
            self.images.insert(index, decoded.ok().filter(|image| image.width() > 0 && image.height() > 0));
        }
        Ok(self.images.get(&index).and_then(Option::as_ref))
    }

    fn decode(&self, index: usize) -> std::result::Result<RgbaImage, String> {
        let document = self.accessors.document();
        let image = document.images.get(index).ok_or("there is no such image")?;
        let held;
        let bytes: &[u8] = match (&image.uri, image.buffer_view) {
            (Some(uri), _) if uri.starts_with("data:") => {
                held = buffers::fetch(uri, &mut |_| Ok(Vec::new())).map_err(|error| error.what)?;
                &held
            }
            (Some(uri), _) => {
                &self.files.iter().find(|file| &*file.uri == uri).ok_or("its file could not be read")?.bytes
            }
            (None, Some(view)) => {
                self.accessors.view(view, &format!("images[{index}].bufferView")).map_err(|error| error.what)?.0
            }
            (None, None) => return Err("it has neither a uri nor a bufferView".into()),
        };
        let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|e| e.to_string())?;
        let mut limits = Limits::default();
        limits.max_alloc = Some(LARGEST_IMAGE);
        reader.limits(limits);
        reader.decode().map(|image| image.into_rgba8()).map_err(|error| error.to_string())
    }
}

/// The texel that a coordinate falls on, repeating unless the sampler says otherwise.
fn texel(coordinate: f32, size: u32, wrap: Option<u32>) -> u32 {
    let coordinate = if coordinate.is_finite() { coordinate } else { 0.0 };
    let unit = match wrap {
        Some(33071) => coordinate.clamp(0.0, 1.0),
        Some(33648) => {
            let turn = coordinate.rem_euclid(2.0);
            if turn > 1.0 { 2.0 - turn } else { turn }
        }
        _ => coordinate.rem_euclid(1.0),
    };
    ((unit * size as f32) as u32).min(size.saturating_sub(1))
}

fn to_linear(c: f32) -> f32 {
    if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

fn to_srgb(linear: Vec4) -> [u8; 4] {
    let curve = |c: f32| if c <= 0.003_130_8 { c * 12.92 } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
    let [r, g, b, a] = linear.clamp(Vec4::ZERO, Vec4::ONE).to_array();
    [curve(r), curve(g), curve(b), a].map(|c| (c * 255.0 + 0.5) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_srgb_value_survives_the_way_to_linear_light_and_back() {
        for k in 0..=255u8 {
            let linear = to_linear(f32::from(k) / 255.0);
            assert_eq!(to_srgb(Vec4::new(linear, linear, linear, 1.0)), [k, k, k, 255]);
        }
    }

    #[test]
    fn coordinates_beyond_the_image_wrap_as_their_sampler_says() {
        assert_eq!([texel(1.25, 8, None), texel(-0.25, 8, None)], [2, 6]);
        assert_eq!([texel(1.25, 8, Some(33071)), texel(-0.25, 8, Some(33071))], [7, 0]);
        assert_eq!([texel(1.25, 8, Some(33648)), texel(-0.25, 8, Some(33648))], [6, 2]);
        assert_eq!(texel(f32::NAN, 8, None), 0);
    }
}
