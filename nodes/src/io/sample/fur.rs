//! The fur's texture: short strokes downward, nearly white, so that it tints what the vertex colours say.

use image::{ExtendedColorType, ImageEncoder, codecs::png::PngEncoder};
use sinew_graph::{NodeError, Result};

const SIZE: usize = 128;

/// The texture as PNG. It repeats without a seam.
pub fn texture() -> Result<Vec<u8>> {
    let mut strokes = vec![0.0f64; SIZE * SIZE];
    for stroke in 0..2600u32 {
        let [x, y, length, depth] = [0, 1, 2, 3].map(|k| noise(stroke * 4 + k) as usize);
        let (x, y, length) = (x % SIZE, y % SIZE, 8 + length % 14);
        let depth = (depth % 100) as f64 / 100.0;
        for step in 0..length {
            let at = ((y + step) % SIZE) * SIZE + (x + step / 7) % SIZE;
            let fade = 1.0 - step as f64 / length as f64;
            strokes[at] = strokes[at].max(depth * fade);
        }
    }
    let pixels: Vec<u8> = strokes.iter().flat_map(|s| [(255.0 - 46.0 * s).round() as u8; 3]).collect();
    let mut png = Vec::new();
    PngEncoder::new(&mut png)
        .write_image(&pixels, SIZE as u32, SIZE as u32, ExtendedColorType::Rgb8)
        .map_err(|error| NodeError::new(format!("the fur's texture cannot be written: {error}")))?;
    Ok(png)
}

/// A well-mixed number for each number (the finaliser of MurmurHash3).
fn noise(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x85eb_ca6b);
    x ^= x >> 13;
    x = x.wrapping_mul(0xc2b2_ae35);
    x ^ x >> 16
}
