//! Exported characters move for others as they move for us: a second reader, written from the glTF 2.0 specification alone
//! and in 64 bits, skins the exported file.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::Path;

use glam::{DMat4, DQuat, DVec3, DVec4, Vec3};
use serde_json::Value;
use sinew_graph::Cx;
use sinew_nodes::data::{Character, Skin};
use sinew_nodes::export::gltf::{Format, export_gltf};
use sinew_nodes::io::gltf;
use sinew_nodes::io::sample_character::{Sample, sample_character};
use sinew_nodes::mesh::weld::weld;
use sinew_nodes::pose::{Rig, skin_positions};
use sinew_nodes::rig::apply::apply;
use sinew_nodes::rig::chain_weights::chain_weights;
use sinew_nodes::rig::collar::collar;
use sinew_nodes::rig::dijkstra_chain::dijkstra_chain;
use sinew_nodes::rig::flood_regions::{Mode, flood_regions};
use sinew_nodes::rig::pca_classify::pca_classify;
use sinew_nodes::rig::skeleton_distance::{STUB, skeleton_distance};

/// A GLB as the specification has it.
struct Reader {
    json: Value,
    bin: Vec<u8>,
}

impl Reader {
    /// Section 4.4: a header of 12 bytes, then chunks of length, type and bytes.
    fn new(file: &[u8]) -> Self {
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!((&file[..4], word(4), word(8)), (&b"glTF"[..], 2, file.len()));
        let json = 20..20 + word(12);
        assert_eq!(&file[16..20], b"JSON");
        let chunk = json.end;
        assert_eq!(&file[chunk + 4..chunk + 8], b"BIN\0");
        let bin = file[chunk + 8..chunk + 8 + word(chunk)].to_vec();
        Self { json: serde_json::from_slice(&file[json]).unwrap(), bin }
    }

    /// Section 3.6.2: the elements of an accessor.
    fn accessor(&self, index: &Value) -> Vec<Vec<f64>> {
        let accessor = &self.json["accessors"][number(index)];
        assert!(accessor.get("sparse").is_none(), "none of these files has sparse accessors");
        let view = &self.json["bufferViews"][number(&accessor["bufferView"])];
        assert_eq!(or(view, "buffer", 0), 0);
        let arity = match accessor["type"].as_str().unwrap() {
            "SCALAR" => 1,
            "VEC3" => 3,
            "VEC4" => 4,
            "MAT4" => 16,
            other => panic!("{other}"),
        };
        let kind = number(&accessor["componentType"]);
        let size = match kind {
            5120 | 5121 => 1,
            5122 | 5123 => 2,
            _ => 4,
        };
        let normalised = accessor.get("normalized").is_some_and(|flag| flag.as_bool().unwrap());
        let start = or(view, "byteOffset", 0) + or(accessor, "byteOffset", 0);
        let stride = or(view, "byteStride", size * arity);
        let component = |at: usize| {
            let bytes = &self.bin[at..at + size];
            let (value, greatest) = match kind {
                5120 => (f64::from(bytes[0] as i8), 127.0),
                5121 => (f64::from(bytes[0]), 255.0),
                5122 => (f64::from(i16::from_le_bytes(bytes.try_into().unwrap())), 32767.0),
                5123 => (f64::from(u16::from_le_bytes(bytes.try_into().unwrap())), 65535.0),
                5125 => (f64::from(u32::from_le_bytes(bytes.try_into().unwrap())), 1.0),
                5126 => (f64::from(f32::from_le_bytes(bytes.try_into().unwrap())), 1.0),
                other => panic!("component type {other}"),
            };
            if normalised { (value / greatest).max(-1.0) } else { value }
        };
        let element = |k: usize| (0..arity).map(|c| component(start + k * stride + c * size)).collect();
        (0..number(&accessor["count"])).map(element).collect()
    }

    /// The world matrix of every node at a time of an animation (sections 3.5.3 and 3.11).
    fn worlds(&self, animation: &str, time: f64) -> Vec<DMat4> {
        let nodes = self.json["nodes"].as_array().unwrap();
        let mut locals: Vec<(DVec3, DQuat, DVec3)> = nodes.iter().map(local).collect();
        let animations = self.json["animations"].as_array().unwrap();
        let animation = animations.iter().find(|a| a["name"] == animation).unwrap();
        for channel in animation["channels"].as_array().unwrap() {
            let Some(node) = channel["target"].get("node") else { continue };
            let sampler = &animation["samplers"][number(&channel["sampler"])];
            let local = &mut locals[number(node)];
            let path = channel["target"]["path"].as_str().unwrap();
            if path == "weights" {
                continue;
            }
            let value = self.sampled(sampler, time, path == "rotation");
            match path {
                "translation" => local.0 = DVec3::from_slice(&value),
                "rotation" => local.1 = DQuat::from_slice(&value).normalize(),
                "scale" => local.2 = DVec3::from_slice(&value),
                other => panic!("{other}"),
            }
        }
        let mut parents = vec![None; nodes.len()];
        for (parent, node) in nodes.iter().enumerate() {
            for child in node.get("children").and_then(Value::as_array).into_iter().flatten() {
                parents[number(child)] = Some(parent);
            }
        }
        let own = |node: usize| match nodes[node].get("matrix") {
            Some(matrix) => DMat4::from_cols_slice(&numbers(matrix)),
            None => DMat4::from_scale_rotation_translation(locals[node].2, locals[node].1, locals[node].0),
        };
        let world = |node: usize| {
            let mut matrix = own(node);
            let mut above = parents[node];
            while let Some(node) = above {
                matrix = own(node) * matrix;
                above = parents[node];
            }
            matrix
        };
        (0..nodes.len()).map(world).collect()
    }

    /// Appendix C.
    fn sampled(&self, sampler: &Value, time: f64, rotation: bool) -> Vec<f64> {
        let times: Vec<f64> = self.accessor(&sampler["input"]).concat();
        let values = self.accessor(&sampler["output"]);
        let kind = sampler.get("interpolation").map_or("LINEAR", |kind| kind.as_str().unwrap());
        let cubic = kind == "CUBICSPLINE";
        let value = |key: usize| if cubic { &values[3 * key + 1] } else { &values[key] };
        let last = times.len() - 1;
        if time <= times[0] {
            return value(0).clone();
        }
        if time >= times[last] {
            return value(last).clone();
        }
        let key = (0..last).find(|&key| time < times[key + 1]).unwrap();
        let width = times[key + 1] - times[key];
        let t = (time - times[key]) / width;
        let mix = |a: &[f64], x: f64, b: &[f64], y: f64| -> Vec<f64> {
            a.iter().zip(b).map(|(a, b)| a * x + b * y).collect()
        };
        let (a, b) = (value(key), value(key + 1));
        match kind {
            "STEP" => a.clone(),
            "CUBICSPLINE" => {
                let (t2, t3) = (t * t, t * t * t);
                let ends = mix(a, 2.0 * t3 - 3.0 * t2 + 1.0, b, -2.0 * t3 + 3.0 * t2);
                let (out, into) = (&values[3 * key + 2], &values[3 * key + 3]);
                mix(&ends, 1.0, &mix(out, width * (t3 - 2.0 * t2 + t), into, width * (t3 - t2)), 1.0)
            }
            _ if rotation => {
                let dot: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                let angle = dot.abs().min(1.0).acos();
                if angle < 1e-6 {
                    return mix(a, 1.0 - t, b, t * dot.signum());
                }
                mix(a, (angle * (1.0 - t)).sin() / angle.sin(), b, dot.signum() * (angle * t).sin() / angle.sin())
            }
            _ => mix(a, 1.0 - t, b, t),
        }
    }

    /// Section 3.7.3.3: where the vertices of a primitive are in the world. The node of the mesh plays no part.
    fn skinned(&self, mesh: usize, primitive: usize, skin: usize, worlds: &[DMat4]) -> Vec<DVec3> {
        let attributes = &self.json["meshes"][mesh]["primitives"][primitive]["attributes"];
        let skin = &self.json["skins"][skin];
        let joints = skin["joints"].as_array().unwrap();
        let inverse: Vec<DMat4> = match skin.get("inverseBindMatrices") {
            Some(accessor) => self.accessor(accessor).iter().map(|m| DMat4::from_cols_slice(m)).collect(),
            None => vec![DMat4::IDENTITY; joints.len()],
        };
        let matrices: Vec<DMat4> =
            joints.iter().zip(&inverse).map(|(node, inverse)| worlds[number(node)] * *inverse).collect();
        let positions = self.accessor(&attributes["POSITION"]);
        let mut blended = vec![(DMat4::ZERO, 0.0); positions.len()];
        for set in 0.. {
            let Some(accessor) = attributes.get(format!("JOINTS_{set}")) else { break };
            let weights = self.accessor(&attributes[format!("WEIGHTS_{set}")]);
            for (vertex, (joints, weights)) in self.accessor(accessor).iter().zip(&weights).enumerate() {
                for (&joint, &weight) in joints.iter().zip(weights) {
                    blended[vertex].0 += matrices[joint as usize] * weight;
                    blended[vertex].1 += weight;
                }
            }
        }
        // Weights of bytes sum to 1 only nearly.
        let place = |(p, (matrix, sum)): (&Vec<f64>, &(DMat4, f64))| {
            (*matrix * (1.0 / sum) * DVec4::new(p[0], p[1], p[2], 1.0)).truncate()
        };
        positions.iter().zip(&blended).map(place).collect()
    }
}

fn number(value: &Value) -> usize {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no index")) as usize
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn or(value: &Value, key: &str, default: usize) -> usize {
    value.get(key).map_or(default, number)
}

fn local(node: &Value) -> (DVec3, DQuat, DVec3) {
    let part = |key: &str, default: &[f64]| node.get(key).map_or(default.to_vec(), numbers);
    (
        DVec3::from_slice(&part("translation", &[0.0; 3])),
        DQuat::from_slice(&part("rotation", &[0.0, 0.0, 0.0, 1.0])).normalize(),
        DVec3::from_slice(&part("scale", &[1.0; 3])),
    )
}

/// The character with bones in its appendages, and how many joints it got. Where it has none, the first vertex of each part
/// follows another joint alone, so that weights are written all the same.
fn rigged(character: &Character) -> (Character, usize) {
    let cx = &Cx::detached();
    let welded = weld(character, 1e-6, cx).unwrap();
    let distance = skeleton_distance(character, STUB, cx).unwrap();
    let flooded = flood_regions(character, &welded, &distance, Mode::Sweep, 0.07, 0.04, 0.5, 0.015, true, cx).unwrap();
    let collared = collar(&flooded.regions, 1.5, String::new(), cx).unwrap();
    let judged = pca_classify(&collared, 1.6, 0.15, 0.4, false, false, String::new(), cx).unwrap().regions;
    let chains = dijkstra_chain(&judged, 0.1, 3, 8, cx).unwrap().chains;
    let skin = chain_weights(&chains, None, cx).unwrap();
    let out = apply(character, Some(&chains), &skin, cx).unwrap();
    let added = out.skeleton.joints.len() - character.skeleton.joints.len();
    if added > 0 {
        return (out, added);
    }
    let (mut joints, mut weights) = (out.skin.joints.to_vec(), out.skin.weights.to_vec());
    for part in out.mesh.parts.iter() {
        let first = part.vertices.start as usize * out.skin.width;
        let other = out.skin.joints.iter().copied().find(|&joint| joint != joints[first]).unwrap();
        weights[first..first + out.skin.width].fill(0.0);
        (joints[first], weights[first]) = (other, 1.0);
    }
    (Character { skin: Skin { joints: joints.into(), weights: weights.into(), ..out.skin }, ..out }, 0)
}

/// Exports a character and compares where both see its vertices, at times of a clip and beyond its end.
fn agrees(character: &Character, clip: &str) {
    let files = export_gltf(character, "out".into(), Format::Glb, &Cx::detached()).unwrap();
    let reader = Reader::new(&files.files[0].bytes);
    let clips = character.clips.clips.iter();
    let clip = clips
        .clone()
        .find(|found| found.name.contains(clip))
        .unwrap_or_else(|| panic!("{}: {:?}", character.name, clips.map(|clip| &clip.name).collect::<Vec<_>>()));
    let rig = Rig::new(&character.skeleton).unwrap();
    let mut ours: Vec<Vec3> = Vec::new();
    for share in [0.0, 0.13, 0.5, 0.77, 1.0, 1.5] {
        let time = clip.duration * share;
        let matrices = rig.matrices(&rig.sample(clip, time).unwrap());
        skin_positions(&character.mesh, &character.skin, &matrices, &mut ours).unwrap();
        let (low, high) = ours.iter().fold((f32::MAX, f32::MIN), |(low, high), p| (low.min(p.y), high.max(p.y)));
        let worlds = reader.worlds(&clip.name, time.into());
        for part in character.mesh.parts.iter() {
            let theirs = reader.skinned(part.mesh as usize, part.primitive as usize, part.skin as usize, &worlds);
            let span = part.vertices.start as usize..part.vertices.end as usize;
            assert_eq!(theirs.len(), span.len(), "{}, {}", character.name, part.name);
            for (vertex, (their, our)) in theirs.iter().zip(&ours[span]).enumerate() {
                let apart = their.distance(our.as_dvec3()) / f64::from(high - low);
                let place = || format!("{} at {time} s: vertex {vertex} of {}", character.name, part.name);
                assert!(apart <= 1e-5, "{} is {apart} heights apart: {their}, not {our}", place());
            }
        }
    }
}

#[test]
fn samples_with_new_tails_move_alike_for_another_reader() {
    for (sample, joints) in
        [(Sample::Fox, true), (Sample::Rat, true), (Sample::RatRigged, false), (Sample::Biped, false)]
    {
        let (character, added) = rigged(&sample_character(sample, 0.6, &Cx::detached()).unwrap());
        assert_eq!(added > 0, joints, "{}", character.name);
        for clip in ["Walk", "Back Flip"] {
            agrees(&character, clip);
        }
    }
}

#[test]
fn models_move_alike_for_another_reader() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/models"));
    // Made tails, joints scaled by 100, and Draco's data, which a changed part has to give up.
    let models = [
        ("case_redpanda_foxtail", "Walk", true),
        ("case_rat_unrigged", "Walk", true),
        ("fox_khronos", "Walk", false),
        ("redpanda_quaternius_draco", "Walk", false),
        ("knight_quaternius", "Walk", false),
    ];
    for (name, clip, joints) in models {
        let path = folder.join(format!("{name}.glb"));
        let Ok(bytes) = std::fs::read(&path) else {
            #[expect(clippy::print_stderr, reason = "a skipped test says so")]
            {
                eprintln!("skipped: {} is not there", path.display());
            }
            continue;
        };
        let character = gltf::read(name, &bytes, &mut |uri| panic!("{uri} is not beside it"), &Cx::detached()).unwrap();
        let (character, added) = rigged(&character);
        assert_eq!(added > 0, joints, "{name}");
        agrees(&character, clip);
    }
}
