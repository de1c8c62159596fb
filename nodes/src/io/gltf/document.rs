//! The parts of a glTF document that Sinew reads, as the JSON has them. All else stays in the text and is never touched.
//!
//! Numbers are checked for kind here, and for range by the modules that follow them, which know the path to name.

use serde::Deserialize;
use sinew_graph::{NodeError, Result};

/// A glTF document.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Document {
    pub buffers: Vec<Buffer>,
    pub buffer_views: Vec<BufferView>,
    pub accessors: Vec<Accessor>,
    pub nodes: Vec<Node>,
    pub meshes: Vec<Mesh>,
    pub skins: Vec<Skin>,
    pub animations: Vec<Animation>,
    pub materials: Vec<Material>,
    pub textures: Vec<Texture>,
    pub images: Vec<Image>,
    pub samplers: Vec<TextureSampler>,
    pub extensions_required: Vec<String>,
    pub asset: Asset,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Asset {
    pub version: Option<String>,
    pub min_version: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Buffer {
    pub byte_length: usize,
    pub uri: Option<String>,
    #[serde(default)]
    pub extensions: BufferExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct BufferExtensions {
    #[serde(rename = "EXT_meshopt_compression")]
    pub meshopt: Option<MeshoptBuffer>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct MeshoptBuffer {
    pub fallback: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BufferView {
    pub buffer: usize,
    #[serde(default)]
    pub byte_offset: usize,
    pub byte_length: usize,
    pub byte_stride: Option<usize>,
    #[serde(default)]
    pub extensions: ViewExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ViewExtensions {
    #[serde(rename = "EXT_meshopt_compression")]
    pub meshopt: Option<MeshoptView>,
}

/// A buffer view under `EXT_meshopt_compression`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MeshoptView {
    pub buffer: usize,
    #[serde(default)]
    pub byte_offset: usize,
    pub byte_length: usize,
    pub byte_stride: usize,
    pub count: usize,
    pub mode: String,
    pub filter: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Accessor {
    pub buffer_view: Option<usize>,
    #[serde(default)]
    pub byte_offset: usize,
    pub component_type: u32,
    #[serde(default)]
    pub normalized: bool,
    pub count: usize,
    #[serde(rename = "type")]
    pub shape: String,
    pub sparse: Option<Sparse>,
}

#[derive(Debug, Deserialize)]
pub struct Sparse {
    pub count: usize,
    pub indices: SparseIndices,
    pub values: SparseValues,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SparseIndices {
    pub buffer_view: usize,
    #[serde(default)]
    pub byte_offset: usize,
    pub component_type: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SparseValues {
    pub buffer_view: usize,
    #[serde(default)]
    pub byte_offset: usize,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Node {
    pub name: Option<String>,
    pub children: Vec<usize>,
    pub mesh: Option<usize>,
    pub skin: Option<usize>,
    pub matrix: Option<[f32; 16]>,
    pub translation: Option<[f32; 3]>,
    pub rotation: Option<[f32; 4]>,
    pub scale: Option<[f32; 3]>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Mesh {
    pub name: Option<String>,
    pub primitives: Vec<Primitive>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Primitive {
    pub attributes: std::collections::BTreeMap<String, usize>,
    pub indices: Option<usize>,
    pub material: Option<usize>,
    pub mode: Option<u32>,
    pub extensions: PrimitiveExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct PrimitiveExtensions {
    #[serde(rename = "KHR_draco_mesh_compression")]
    pub draco: Option<Draco>,
}

/// A primitive under `KHR_draco_mesh_compression`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Draco {
    pub buffer_view: usize,
    pub attributes: std::collections::BTreeMap<String, u32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Skin {
    pub joints: Vec<usize>,
    pub inverse_bind_matrices: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Animation {
    pub name: Option<String>,
    pub channels: Vec<Channel>,
    pub samplers: Vec<Sampler>,
}

#[derive(Debug, Deserialize)]
pub struct Channel {
    pub sampler: usize,
    pub target: ChannelTarget,
}

#[derive(Debug, Deserialize)]
pub struct ChannelTarget {
    pub node: Option<usize>,
    pub path: String,
}

#[derive(Debug, Deserialize)]
pub struct Sampler {
    pub input: usize,
    pub output: usize,
    pub interpolation: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Material {
    pub pbr_metallic_roughness: Pbr,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Pbr {
    pub base_color_factor: Option<[f32; 4]>,
    pub base_color_texture: Option<TextureInfo>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextureInfo {
    pub index: usize,
    #[serde(default)]
    pub tex_coord: usize,
    #[serde(default)]
    pub extensions: TextureExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct TextureExtensions {
    #[serde(rename = "KHR_texture_transform")]
    pub transform: Option<TextureTransform>,
}

/// `KHR_texture_transform`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TextureTransform {
    pub offset: Option<[f32; 2]>,
    pub rotation: f32,
    pub scale: Option<[f32; 2]>,
    pub tex_coord: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Texture {
    pub source: Option<usize>,
    pub sampler: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TextureSampler {
    pub wrap_s: Option<u32>,
    pub wrap_t: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Image {
    pub uri: Option<String>,
    pub buffer_view: Option<usize>,
}

impl Document {
    /// Reads the JSON; an error names the path of what is of the wrong kind.
    pub fn parse(json: &str) -> Result<Self> {
        if let Ok(document) = serde_json::from_str(json) {
            return Ok(document);
        }
        // Only a broken document pays for keeping track of paths.
        let mut reader = serde_json::Deserializer::from_str(json);
        let track = serde_path_to_error::deserialize::<_, Self>(&mut reader);
        let what = match track.map(|_| reader.end()) {
            Err(error) if error.path().iter().next().is_some() => format!("{}: {}", error.path(), error.inner()),
            Err(error) => format!("the JSON cannot be read: {}", error.inner()),
            Ok(end) => {
                format!("the JSON cannot be read: {}", end.map_or_else(|e| e.to_string(), |()| "it changed".into()))
            }
        };
        Err(NodeError::new(what).help("export the file again, or mend it with `npx @gltf-transform/cli`"))
    }
}
