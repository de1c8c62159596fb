//! Writes a figure as a GLB: one mesh with a primitive per shell, one skin, five clips, one texture.

use glam::{DQuat, DVec3};
use serde_json::{Value, json};
use sinew_graph::Result;

use super::clips::Clip;
use super::figure::Figure;
use super::fur;
use super::maths::linear;
use super::shell::{Material, Shell};

/// The bytes of the file.
pub fn write(figure: &Figure, clips: &[Clip]) -> Result<Vec<u8>> {
    let mut file = Writer::default();
    let joints = figure.joints.len();
    let primitives: Vec<Value> = figure.shells.iter().map(|shell| file.primitive(shell)).collect();
    let inverse: Vec<f32> = figure.joints.iter().flat_map(|joint| inverse_bind(joint.at)).collect();
    let inverse = file.floats("MAT4", 16, &inverse, Use::Plain);
    // Nodes: the armature, its joints in order, then the mesh.
    let mut nodes = vec![json!({ "name": "Armature", "children": [1] })];
    for (k, joint) in figure.joints.iter().enumerate() {
        let from = joint.parent.map_or(DVec3::ZERO, |parent| figure.joints[parent].at);
        let mut node = json!({ "name": joint.name, "translation": floats((joint.at - from).to_array()) });
        if joint.saved != DQuat::IDENTITY {
            node["rotation"] = json!(floats(joint.saved.to_array()));
        }
        let children: Vec<usize> = (0..joints).filter(|&c| figure.joints[c].parent == Some(k)).map(|c| c + 1).collect();
        if !children.is_empty() {
            node["children"] = json!(children);
        }
        nodes.push(node);
    }
    nodes.push(json!({ "name": figure.name, "mesh": 0, "skin": 0 }));
    let animations: Vec<Value> = clips.iter().map(|clip| file.animation(clip)).collect();
    let image = file.view(&fur::texture()?, None);
    let document = json!({
        "asset": { "version": "2.0", "generator": "Sinew sample characters" },
        "scene": 0,
        "scenes": [{ "name": figure.name, "nodes": [0, joints + 1] }],
        "nodes": nodes,
        "meshes": [{ "name": figure.name, "primitives": primitives }],
        "skins": [{
            "name": "Armature",
            "joints": (1..=joints).collect::<Vec<_>>(),
            "skeleton": 1,
            "inverseBindMatrices": inverse,
        }],
        "materials": [
            { "name": "Fur", "pbrMetallicRoughness": {
                "baseColorTexture": { "index": 0 }, "metallicFactor": 0.0, "roughnessFactor": 0.95 } },
            { "name": "Skin", "pbrMetallicRoughness": { "metallicFactor": 0.0, "roughnessFactor": 0.75 } },
            { "name": "Gloss", "pbrMetallicRoughness": { "metallicFactor": 0.0, "roughnessFactor": 0.2 } },
        ],
        "textures": [{ "source": 0, "sampler": 0 }],
        "images": [{ "name": "Fur", "mimeType": "image/png", "bufferView": image }],
        "samplers": [{ "magFilter": 9729, "minFilter": 9987, "wrapS": 10497, "wrapT": 10497 }],
        "animations": animations,
        "accessors": file.accessors,
        "bufferViews": file.views,
        "buffers": [{ "byteLength": file.bytes.len() }],
    });
    Ok(container(&document.to_string(), file.bytes))
}

/// JSON and buffer in a GLB's frame.
fn container(json: &str, mut bytes: Vec<u8>) -> Vec<u8> {
    let mut text = json.as_bytes().to_vec();
    text.resize(text.len().next_multiple_of(4), b' ');
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let mut out = b"glTF".to_vec();
    let word = |out: &mut Vec<u8>, n: usize| out.extend((n as u32).to_le_bytes());
    word(&mut out, 2);
    word(&mut out, 12 + 8 + text.len() + 8 + bytes.len());
    for (kind, chunk) in [(b"JSON", text), (b"BIN\0", bytes)] {
        word(&mut out, chunk.len());
        out.extend(kind);
        out.extend(chunk);
    }
    out
}

/// Joints are bound without rotation, so that the inverse is a translation.
fn inverse_bind(at: DVec3) -> [f32; 16] {
    let [x, y, z] = floats((-at).to_array());
    [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, x, y, z, 1.0]
}

fn floats<const N: usize>(numbers: [f64; N]) -> [f32; N] {
    numbers.map(|x| x as f32)
}

/// What a buffer view is for.
#[derive(Clone, Copy)]
enum Use {
    Vertices,
    Indices,
    Plain,
}

#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Writer {
    fn primitive(&mut self, shell: &Shell) -> Value {
        let positions: Vec<f32> = shell.positions.iter().flat_map(|p| floats(p.to_array())).collect();
        let normals: Vec<f32> = shell.normals.iter().flat_map(|n| n.as_vec3().normalize().to_array()).collect();
        let uvs: Vec<f32> = shell.uvs.iter().flat_map(|uv| floats(uv.to_array())).collect();
        let colours: Vec<u8> = shell
            .colours
            .iter()
            .flat_map(|c| [linear(c[0]), linear(c[1]), linear(c[2]), 1.0])
            .flat_map(|c| ((c.clamp(0.0, 1.0) * 65535.0).round() as u16).to_le_bytes())
            .collect();
        let joints: Vec<u8> = shell.influences.iter().flat_map(|i| i.map(|(joint, _)| joint as u8)).collect();
        let weights: Vec<f32> = shell.influences.iter().flat_map(|i| i.map(|(_, weight)| weight)).collect();
        let indices: Vec<u8> = shell.triangles.iter().flatten().flat_map(|k| k.to_le_bytes()).collect();
        let count = shell.positions.len();
        let position = self.floats("VEC3", 3, &positions, Use::Vertices);
        self.accessors[position]["min"] = json!(bounds(&positions, f32::min));
        self.accessors[position]["max"] = json!(bounds(&positions, f32::max));
        let normal = self.floats("VEC3", 3, &normals, Use::Vertices);
        let uv = self.floats("VEC2", 2, &uvs, Use::Vertices);
        let colour = self.accessor("VEC4", 5123, count, &colours, Use::Vertices);
        self.accessors[colour]["normalized"] = json!(true);
        let joint = self.accessor("VEC4", 5121, count, &joints, Use::Vertices);
        let weight = self.floats("VEC4", 4, &weights, Use::Vertices);
        let index = self.accessor("SCALAR", 5125, shell.triangles.len() * 3, &indices, Use::Indices);
        let material = match shell.material {
            Material::Fur => 0,
            Material::Skin => 1,
            Material::Gloss => 2,
        };
        json!({
            "attributes": {
                "POSITION": position, "NORMAL": normal, "TEXCOORD_0": uv, "COLOR_0": colour,
                "JOINTS_0": joint, "WEIGHTS_0": weight,
            },
            "indices": index,
            "material": material,
        })
    }

    fn animation(&mut self, clip: &Clip) -> Value {
        let times: Vec<f32> = clip.times.iter().map(|&t| t as f32).collect();
        let time = self.floats("SCALAR", 1, &times, Use::Plain);
        self.accessors[time]["min"] = json!([times[0]]);
        self.accessors[time]["max"] = json!([times[times.len() - 1]]);
        let hips: Vec<f32> = clip.hips.iter().flat_map(|p| floats(p.to_array())).collect();
        let mut samplers = vec![json!({ "input": time, "output": self.floats("VEC3", 3, &hips, Use::Plain) })];
        let mut channels = vec![json!({ "sampler": 0, "target": { "node": 1, "path": "translation" } })];
        for (joint, keys) in &clip.turns {
            let keys: Vec<f32> = keys.iter().flat_map(|q| floats(q.normalize().to_array())).collect();
            channels.push(json!({
                "sampler": samplers.len(),
                "target": { "node": joint + 1, "path": "rotation" },
            }));
            samplers.push(json!({ "input": time, "output": self.floats("VEC4", 4, &keys, Use::Plain) }));
        }
        json!({ "name": clip.name, "channels": channels, "samplers": samplers })
    }

    fn floats(&mut self, kind: &str, arity: usize, numbers: &[f32], purpose: Use) -> usize {
        let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.accessor(kind, 5126, numbers.len() / arity, &bytes, purpose)
    }

    fn accessor(&mut self, kind: &str, component: u32, count: usize, bytes: &[u8], purpose: Use) -> usize {
        let target = match purpose {
            Use::Vertices => Some(34962),
            Use::Indices => Some(34963),
            Use::Plain => None,
        };
        let view = self.view(bytes, target);
        self.accessors.push(json!({ "bufferView": view, "componentType": component, "count": count, "type": kind }));
        self.accessors.len() - 1
    }

    fn view(&mut self, bytes: &[u8], target: Option<u32>) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let mut view = json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.bytes.extend(bytes);
        self.views.push(view);
        self.views.len() - 1
    }
}

/// The least or greatest of each component of some points.
fn bounds(points: &[f32], pick: fn(f32, f32) -> f32) -> [f32; 3] {
    points
        .chunks_exact(3)
        .map(|p| [p[0], p[1], p[2]])
        .reduce(|a, b| [0, 1, 2].map(|k| pick(a[k], b[k])))
        .unwrap_or_default()
}
