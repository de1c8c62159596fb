//! What real files do, one by one, on a small made document (`tail-3d.md` H).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use glam::Vec3;
use proptest::prelude::*;
use serde_json::{Value, json};
use sinew_graph::{Cx, NodeError};
use sinew_nodes::data::Character;
use sinew_nodes::export::gltf::{Format, export_gltf};
use sinew_nodes::io::gltf;

/// A square on two joints: Hips at the origin and Spine one above it, with one clip. Accessors are 0 positions,
/// 1 joints, 2 weights, 3 indices, 4 inverse bind matrices, 5 times, 6 rotations, each with the view of its number.
fn square() -> (Value, Vec<u8>) {
    let mut bytes = Vec::new();
    let mut views = Vec::new();
    let mut put = |data: Vec<u8>| {
        views.push(json!({ "buffer": 0, "byteOffset": bytes.len(), "byteLength": data.len() }));
        bytes.extend(data);
    };
    let floats = |values: &[f32]| values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    put(floats(&[0., 0., 0., 1., 0., 0., 0., 2., 0., 1., 2., 0.]));
    put([[0u8, 1, 0, 0]; 4].concat());
    put(floats(&[[1.0f32, 0., 0., 0.], [1., 0., 0., 0.], [0.25, 0.75, 0., 0.], [0.25, 0.75, 0., 0.]].concat()));
    put([0u16, 1, 2, 2, 1, 3].iter().flat_map(|x| x.to_le_bytes()).collect());
    let inverse = |y: f32| [1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., -y, 0., 1.];
    put(floats(&[inverse(0.0), inverse(1.0)].concat()));
    put(floats(&[0., 1.]));
    put(floats(&[0., 0., 0., 1., 0., 0.6, 0., 0.8]));
    let accessor = |view: usize, kind: u32, count: usize, shape: &str| json!({ "bufferView": view, "componentType": kind, "count": count, "type": shape });
    let document = json!({
        "asset": { "version": "2.0" },
        "scene": 0,
        "scenes": [{ "nodes": [0, 2] }],
        "nodes": [
            { "name": "Hips", "children": [1] },
            { "name": "Spine", "translation": [0, 1, 0] },
            { "name": "Body", "mesh": 0, "skin": 0 }
        ],
        "meshes": [{ "name": "Square", "primitives": [
            { "attributes": { "POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2 }, "indices": 3 }
        ] }],
        "skins": [{ "joints": [0, 1], "inverseBindMatrices": 4 }],
        "animations": [{ "name": "Turn", "channels": [{ "sampler": 0, "target": { "node": 1, "path": "rotation" } }],
            "samplers": [{ "input": 5, "output": 6 }] }],
        "accessors": [accessor(0, 5126, 4, "VEC3"), accessor(1, 5121, 4, "VEC4"), accessor(2, 5126, 4, "VEC4"),
            accessor(3, 5123, 6, "SCALAR"), accessor(4, 5126, 2, "MAT4"), accessor(5, 5126, 2, "SCALAR"),
            accessor(6, 5126, 2, "VEC4")],
        "bufferViews": views,
        "buffers": [{ "byteLength": bytes.len() }]
    });
    (document, bytes)
}

fn glb(document: &Value, bytes: &[u8]) -> Vec<u8> {
    let mut json = document.to_string().into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut out = b"glTF\x02\0\0\0".to_vec();
    out.extend((28 + json.len() as u32 + bytes.len() as u32).to_le_bytes());
    out.extend((json.len() as u32).to_le_bytes());
    out.extend(b"JSON");
    out.extend(&json);
    out.extend((bytes.len() as u32).to_le_bytes());
    out.extend(b"BIN\0");
    out.extend(bytes);
    out
}

fn read(file: &[u8], cx: &Cx) -> Result<Character, NodeError> {
    gltf::read("square", file, &mut |uri| Err(NodeError::new(format!("{uri} is not there"))), cx)
}

/// The character and the warnings of the square after an edit.
fn edited(edit: impl FnOnce(&mut Value, &mut Vec<u8>)) -> (Result<Character, NodeError>, Vec<String>) {
    let (mut document, mut bytes) = square();
    edit(&mut document, &mut bytes);
    document["buffers"][0]["byteLength"] = bytes.len().into();
    let cx = Cx::detached();
    let character = read(&glb(&document, &bytes), &cx);
    (character, cx.warnings().into_iter().map(|warning| warning.what).collect())
}

fn put(bytes: &mut [u8], at: usize, values: &[f32]) {
    for (k, value) in values.iter().enumerate() {
        bytes[at + 4 * k..at + 4 * k + 4].copy_from_slice(&value.to_le_bytes());
    }
}

fn influences(character: &Character, vertex: usize) -> Vec<(u16, f32)> {
    character.skin.influences(vertex).collect()
}

#[test]
fn a_clean_file_reads_as_what_it_says() {
    let (character, warnings) = edited(|_, _| {});
    let character = character.unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(character.mesh.positions[3], Vec3::new(1.0, 2.0, 0.0));
    assert_eq!(*character.mesh.triangles, [[0, 1, 2], [2, 1, 3]]);
    assert_eq!(influences(&character, 2), [(1, 0.75), (0, 0.25)], "weights fall");
    assert_eq!((character.skeleton.position(1), character.skeleton.joints[1].parent), (Vec3::Y, Some(0)));
    assert_eq!((character.clips.clips[0].duration, &*character.source.repaired), (1.0, &[0][..]));
}

#[test]
fn broken_weights_are_mended_and_counted_in_one_warning() {
    let (character, warnings) = edited(|_, bytes| {
        put(bytes, 64, &[f32::NAN, 1.0, 0.0, 0.0]);
        put(bytes, 80, &[-0.5, 1.0, 0.0, 0.0]);
        put(bytes, 96, &[1.0, 3.0, 0.0, 0.0]);
        put(bytes, 112, &[0.0; 4]);
    });
    let character = character.unwrap();
    assert_eq!(influences(&character, 0), [(1, 1.0)]);
    assert_eq!(influences(&character, 1), [(1, 1.0)]);
    assert_eq!(influences(&character, 2), [(1, 0.75), (0, 0.25)]);
    assert_eq!(influences(&character, 3), [(1, 0.75), (0, 0.25)], "from vertex 2, the nearest");
    assert_eq!(
        warnings,
        ["mesh \"Square\": weights were mended, vertices: 1 with weights that are not numbers (taken as 0), 1 with \
          negative weights (taken as 0), 1 with weights that do not sum to 1 (scaled), 1 with no weight (taken from the \
          nearest vertex); the first is vertex 0 of meshes[0].primitives[0]"]
    );
    let files = export_gltf(&character, String::new(), Format::Glb, &Cx::detached()).unwrap();
    let cx = Cx::detached();
    let back = read(&files.files[0].bytes, &cx).unwrap();
    assert!(cx.warnings().is_empty() && back.skin == character.skin, "the export is clean");
}

#[test]
fn one_joint_twice_is_merged() {
    let (character, warnings) = edited(|_, bytes| {
        bytes[49] = 0;
        put(bytes, 64, &[0.5, 0.5, 0.0, 0.0]);
    });
    assert_eq!(influences(&character.unwrap(), 0), [(0, 1.0)]);
    assert!(warnings[0].contains("1 with a joint twice (merged)"), "{warnings:?}");
    // Even if both together are more than a number can hold.
    let (character, _) = edited(|_, bytes| {
        bytes[49] = 0;
        put(bytes, 64, &[f32::MAX, f32::MAX, 0.0, 0.0]);
    });
    assert_eq!(influences(&character.unwrap(), 0), [(0, 1.0)]);
}

#[test]
fn rounding_of_quantised_weights_is_no_defect() {
    let (character, warnings) = edited(|document, bytes| {
        document["accessors"][2] =
            json!({ "bufferView": 2, "componentType": 5121, "normalized": true, "count": 4, "type": "VEC4" });
        bytes[64..80].copy_from_slice(&[84, 85, 85, 0, 255, 0, 0, 0, 127, 127, 0, 0, 255, 0, 0, 0]);
        bytes[48..52].copy_from_slice(&[0, 1, 0, 0]);
        bytes[66] = 0;
        bytes[64] = 169;
    });
    let character = character.unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(*character.source.repaired, [0]);
    assert_eq!(influences(&character, 2), [(0, 0.5), (1, 0.5)]);
}

#[test]
fn sparse_accessors_and_those_without_a_buffer_view_are_read() {
    let (character, _) = edited(|document, bytes| {
        let at = bytes.len();
        bytes.extend([3, 0, 0, 0]);
        bytes.extend([0; 12]);
        put(bytes, at + 4, &[5.0, 6.0, 7.0]);
        let views = document["bufferViews"].as_array_mut().unwrap();
        views.push(json!({ "buffer": 0, "byteOffset": at, "byteLength": 1 }));
        views.push(json!({ "buffer": 0, "byteOffset": at + 4, "byteLength": 12 }));
        document["accessors"][0] = json!({ "componentType": 5126, "count": 4, "type": "VEC3", "sparse": {
            "count": 1, "indices": { "bufferView": 7, "componentType": 5121 }, "values": { "bufferView": 8 } } });
    });
    let expected = [Vec3::ZERO, Vec3::ZERO, Vec3::ZERO, Vec3::new(5.0, 6.0, 7.0)];
    assert_eq!(*character.unwrap().mesh.positions, expected);
}

#[test]
fn interleaved_and_quantised_positions_are_read() {
    let (character, _) = edited(|document, bytes| {
        let at = bytes.len();
        for x in [0i16, 32767, -32767, 0] {
            bytes.extend([x.to_le_bytes(), 0i16.to_le_bytes(), 32767i16.to_le_bytes(), [9, 9]].concat());
        }
        let views = document["bufferViews"].as_array_mut().unwrap();
        views.push(json!({ "buffer": 0, "byteOffset": at, "byteLength": 32, "byteStride": 8 }));
        document["accessors"][0] =
            json!({ "bufferView": 7, "componentType": 5122, "normalized": true, "count": 4, "type": "VEC3" });
    });
    let expected = [Vec3::Z, Vec3::new(1., 0., 1.), Vec3::new(-1., 0., 1.), Vec3::Z];
    assert_eq!(*character.unwrap().mesh.positions, expected);
}

#[test]
fn meshopt_compressed_views_are_decoded_and_a_changed_character_is_written() {
    let (character, warnings) = edited(|document, bytes| {
        let rows: Vec<[u32; 3]> = bytemuck::pod_collect_to_vec(&bytes[..48]);
        let packed = meshopt::encode_vertex_buffer(&rows).unwrap();
        let at = bytes.len();
        bytes.extend(&packed);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        document["buffers"].as_array_mut().unwrap().push(json!({
            "byteLength": 48, "extensions": { "EXT_meshopt_compression": { "fallback": true } } }));
        document["bufferViews"][0] = json!({ "buffer": 1, "byteLength": 48, "byteStride": 12, "extensions": {
            "EXT_meshopt_compression": { "buffer": 0, "byteOffset": at, "byteLength": packed.len(), "byteStride": 12,
                "count": 4, "mode": "ATTRIBUTES" } } });
        document["extensionsRequired"] = json!(["EXT_meshopt_compression"]);
        put(bytes, 64, &[f32::NAN]);
    });
    let character = character.unwrap_or_else(|error| panic!("{error}: {warnings:?}"));
    let expected = [Vec3::ZERO, Vec3::X, Vec3::new(0., 2., 0.), Vec3::new(1., 2., 0.)];
    assert_eq!(*character.mesh.positions, expected);
    let files = export_gltf(&character, String::new(), Format::Glb, &Cx::detached()).unwrap();
    let back = read(&files.files[0].bytes, &Cx::detached()).unwrap();
    assert_eq!((&back.mesh.positions, &back.skin), (&character.mesh.positions, &character.skin));
}

#[test]
fn a_missing_inverse_bind_matrix_is_the_identity() {
    let (character, _) = edited(|document, _| {
        document["skins"][0].as_object_mut().unwrap().remove("inverseBindMatrices");
    });
    let skeleton = character.unwrap().skeleton;
    assert_eq!((skeleton.joints[1].has_bind, skeleton.position(1)), (false, Vec3::ZERO));
}

/// A second, larger-scaled copy of the mesh under a skin of its own, whose matrices are these.
fn second_skin(document: &mut Value, bytes: &mut Vec<u8>, matrices: [[f32; 16]; 2]) {
    let at = bytes.len();
    bytes.resize(at + 128, 0);
    put(bytes, at, &matrices.concat());
    document["bufferViews"].as_array_mut().unwrap().push(json!({ "buffer": 0, "byteOffset": at, "byteLength": 128 }));
    let accessors = document["accessors"].as_array_mut().unwrap();
    accessors.push(json!({ "bufferView": 7, "componentType": 5126, "count": 2, "type": "MAT4" }));
    document["skins"].as_array_mut().unwrap().push(json!({ "joints": [1, 0], "inverseBindMatrices": 7 }));
    document["nodes"].as_array_mut().unwrap().push(json!({ "name": "Coat", "mesh": 0, "skin": 1 }));
}

#[test]
fn skins_in_other_mesh_spaces_come_to_one_bind_space() {
    let half = |y: f32| [0.5, 0., 0., 0., 0., 0.5, 0., 0., 0., 0., 0.5, 0., 0., -y, 0., 1.];
    let (character, _) = edited(|document, bytes| second_skin(document, bytes, [half(1.0), half(0.0)]));
    let character = character.unwrap();
    assert_eq!(character.skeleton.joints.len(), 2, "joints are one list");
    assert_eq!((character.skeleton.position(0), character.skeleton.position(1)), (Vec3::ZERO, Vec3::Y));
    assert_eq!(character.mesh.positions[7], Vec3::new(0.5, 1.0, 0.0), "half the size");
    assert_eq!(influences(&character, 4), [(1, 1.0)], "the first joint of the second skin is Spine");
    let (refused, _) = edited(|document, bytes| second_skin(document, bytes, [half(2.0), half(0.0)]));
    let told = refused.unwrap_err().to_string();
    assert!(told.contains("skins[1]: joint \"Hips\" is bound in another pose"), "{told}");
}

#[test]
fn a_mesh_shared_by_two_nodes_is_one_part() {
    let (character, _) = edited(|document, _| {
        document["nodes"].as_array_mut().unwrap().push(json!({ "mesh": 0, "skin": 0 }));
    });
    let parts = character.unwrap().mesh.parts;
    assert_eq!((parts.len(), parts[0].nodes.as_slice()), (1, &[2, 3][..]));
}

#[test]
fn what_cannot_be_read_is_refused_with_its_path() {
    type Edit = fn(&mut Value, &mut Vec<u8>);
    let cases: [(Edit, &str); 14] = [
        (|d, _| d["accessors"][0]["count"] = 5.into(), "accessors[0]: 5 elements reach beyond the 48 bytes"),
        (|d, _| d["accessors"][0]["count"] = "x".into(), "accessors[0].count: invalid type"),
        (
            |d, _| d["accessors"][0] = json!({ "componentType": 5126, "count": 99_999_999_999u64, "type": "VEC3" }),
            "meshes[0].primitives[0].attributes.POSITION: the character would have more than",
        ),
        (
            |d, _| d["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"] = 99.into(),
            "meshes[0].primitives[0].attributes.JOINTS_0: accessor 99 of 7 is named",
        ),
        (|_, b| b[48] = 9, "attributes.JOINTS_0: vertex 0 names joint 9, but skins[0] has 2"),
        (|_, b| b[128] = 7, "meshes[0].primitives[0].indices: entry 0 names vertex 7 of 4"),
        (|d, _| d["nodes"][1]["children"] = json!([0]), "nodes[0]: it is its own ancestor"),
        (|d, _| d["skins"][0]["joints"] = json!([0, 50]), "skins[0].joints[1]: node 50 of 3 is named"),
        (|d, _| d["nodes"][2]["skin"] = 4.into(), "nodes[2].skin: skin 4 of 1 is named"),
        (|_, b| put(b, 24, &[f32::NAN]), "POSITION: 1 of 4 positions are not usable numbers, first vertex 2"),
        (|d, _| drop(d["nodes"][2].as_object_mut().unwrap().remove("skin")), "rig it first"),
        (|_, b| put(b, 140, &[1.0, 0.5]), "of joint \"Hips\": it is sheared by 27 degrees"),
        (|_, b| put(b, 140, &[0.0]), "of joint \"Hips\": it has no inverse"),
        (|d, _| d["bufferViews"][0]["byteStride"] = 4.into(), "stride 4 is less than its 12 bytes"),
    ];
    for (edit, expected) in cases {
        let told = edited(edit).0.expect_err(expected).to_string();
        assert!(told.contains(expected), "{told}\n  should say: {expected}");
        assert!(told.contains("; "), "{told}: says what to do");
    }
}

#[test]
fn channels_that_cannot_be_read_are_left_out_and_told() {
    let (character, warnings) = edited(|_, bytes| put(bytes, 268, &[1.0, 1.0]));
    assert!(character.unwrap().clips.clips[0].channels.is_empty());
    assert!(warnings[0].contains("animations[0] (Turn): 1 of 1 channels"), "{warnings:?}");
}

#[test]
fn a_gltf_with_its_files_comes_back_as_it_was() {
    let (mut document, bytes) = square();
    document["buffers"][0]["uri"] = "my%20square.bin".into();
    document["images"] = json!([{ "uri": "skin.png" }]);
    let text = document.to_string();
    let mut files = |uri: &str| match uri {
        "my square.bin" => Ok(bytes.clone()),
        "skin.png" => Ok(vec![1, 2, 3]),
        other => Err(NodeError::new(other)),
    };
    let character = gltf::read("square", text.as_bytes(), &mut files, &Cx::detached()).unwrap();
    let out = export_gltf(&character, String::new(), Format::Gltf, &Cx::detached()).unwrap();
    let names: Vec<&str> = out.files.iter().map(|file| &*file.name).collect();
    assert_eq!(names, ["square.gltf", "my square.bin", "skin.png"]);
    assert_eq!(*out.files[0].bytes, *text.as_bytes());
    assert_eq!((&*out.files[1].bytes, &*out.files[2].bytes), (&bytes[..], &[1, 2, 3][..]));
}

#[test]
fn eight_influences_are_written_as_the_four_largest_and_told() {
    let (character, _) = edited(|_, _| {});
    let mut character = character.unwrap();
    let joint = character.skeleton.joints[1].clone();
    character.skeleton.joints = character.skeleton.joints.iter().cloned().chain(vec![joint; 4]).collect();
    for added in 2..6 {
        let mut joints = character.skeleton.joints.to_vec();
        (joints[added].node, joints[added].parent, joints[added].name) = (None, Some(1), "Tail".into());
        character.skeleton.joints = joints.into();
    }
    let bind = character.skeleton.binds[1];
    character.skeleton.binds = character.skeleton.binds.iter().copied().chain([bind; 4]).collect();
    character.skin.width = 5;
    character.skin.joints = [[5u16, 4, 3, 2, 0]; 4].concat().into();
    character.skin.weights = [[0.4f32, 0.2, 0.2, 0.1, 0.1]; 4].concat().into();
    let cx = Cx::detached();
    let out = export_gltf(&character, String::new(), Format::Glb, &cx).unwrap();
    assert!(cx.warnings()[0].what.starts_with("4 vertices have more than 4 influences"), "{:?}", cx.warnings());
    let back = read(&out.files[0].bytes, &Cx::detached()).unwrap();
    let row = influences(&back, 0);
    assert_eq!(row.iter().map(|(joint, _)| *joint).collect::<Vec<_>>(), [5, 4, 3, 2]);
    assert!((row[0].1 - 0.4 / 0.9).abs() < 1e-6 && (row[3].1 - 0.1 / 0.9).abs() < 1e-6, "{row:?}");
    assert_eq!(&*back.skeleton.node_names[3], "Tail");
}

/// Whatever is read can be written, and read again.
fn survives(file: &[u8]) -> Result<(), TestCaseError> {
    if let Ok(character) = read(file, &Cx::detached()) {
        let out = export_gltf(&character, "out".into(), Format::Glb, &Cx::detached());
        let out = out.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let back = read(&out.files[0].bytes, &Cx::detached());
        let back = back.map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(back.mesh.positions.len(), character.mesh.positions.len());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_never_panic(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
            cut in prop::option::weighted(0.2, any::<prop::sample::Index>())) {
        let (document, bytes) = square();
        let mut file = glb(&document, &bytes);
        for (at, value) in flips {
            let at = at.index(file.len());
            file[at] = value;
        }
        if let Some(cut) = cut {
            file.truncate(cut.index(file.len()));
        }
        survives(&file)?;
    }

    #[test]
    fn documents_with_wild_numbers_never_panic(which in any::<prop::sample::Index>(), digits in "[0-9]{1,12}") {
        let (document, bytes) = square();
        let text = document.to_string();
        let runs: Vec<(usize, usize)> = text.bytes().enumerate()
            .filter(|&(at, byte)| byte.is_ascii_digit() && !text.as_bytes()[at - 1].is_ascii_digit())
            .map(|(at, _)| (at, text[at..].bytes().take_while(u8::is_ascii_digit).count())).collect();
        let (at, length) = runs[which.index(runs.len())];
        let digits = digits.trim_start_matches('0');
        let wild = format!("{}{}{}", &text[..at], if digits.is_empty() { "0" } else { digits }, &text[at + length..]);
        let Ok(document) = serde_json::from_str(&wild) else { return Ok(()) };
        survives(&glb(&document, &bytes))?;
    }
}
