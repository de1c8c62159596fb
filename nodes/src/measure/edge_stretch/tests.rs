use std::f32::consts::FRAC_1_SQRT_2;

use glam::{Mat4, Vec3};

use super::*;
use crate::data::{
    Body, Cells, Channel, Collar, Finding, Interpolation, Joint, Kind, Mesh, Region, Skeleton, Skin, Source, Stance,
    Target, Transform, Treatment, Weld,
};
use crate::io::sample_character::{Sample, sample_character};

fn clip(name: &str, channels: Vec<Channel>) -> Clip {
    Clip { name: name.into(), duration: 2.0, channels }
}

fn rotation(node: u32, keys: &[(f32, f32)]) -> Channel {
    Channel {
        node,
        target: Target::Rotation,
        interpolation: Interpolation::Step,
        times: keys.iter().map(|key| key.0).collect(),
        values: keys.iter().flat_map(|key| glam::Quat::from_rotation_z(key.1).to_array()).collect(),
    }
}

/// A strip of vertices at x = 0, 1, 2 (each at y = 0 and 1), on an upper arm at x = 0 and a forearm at x = 1. The middle
/// is shared half and half. World is 100 times bind space.
pub(crate) fn arm() -> Character {
    let positions: Arc<[Vec3]> = (0..6).map(|k| Vec3::new((k / 2) as f32, (k % 2) as f32, 0.0)).collect();
    let mesh = Mesh {
        normals: positions.iter().map(|_| Vec3::Z).collect(),
        colours: positions.iter().map(|_| [255; 4]).collect(),
        triangles: Arc::from([[0u32, 2, 1], [1, 2, 3], [2, 4, 3], [3, 4, 5]]),
        parts: Arc::from([]),
        positions,
    };
    let (upper, both, fore) = ([(0u16, 1.0f32), (0, 0.0)], [(0, 0.5), (1, 0.5)], [(1, 1.0), (0, 0.0)]);
    let influences = [upper, upper, both, both, fore, fore].concat();
    let skin = Skin {
        width: 2,
        joints: influences.iter().map(|i| i.0).collect(),
        weights: influences.iter().map(|i| i.1).collect(),
    };
    let joint = |name: &str, parent, node| Joint { name: name.into(), parent, node: Some(node), has_bind: true };
    let skeleton = Skeleton {
        joints: Arc::from([joint("upper", None, 0), joint("fore", Some(0), 1)]),
        binds: Arc::from([Vec3::ZERO, Vec3::X].map(|at| Mat4::from_translation(at).to_cols_array())),
        node_parents: Arc::from([-1, 0]),
        node_names: Arc::from(["upper".into(), "fore".into()]),
        node_locals: Arc::from([
            Transform { scale: Vec3::splat(100.0), ..Transform::IDENTITY },
            Transform { translation: Vec3::X, ..Transform::IDENTITY },
        ]),
        to_world: Mat4::from_scale(Vec3::splat(100.0)).to_cols_array(),
    };
    let half = std::f32::consts::FRAC_PI_2;
    let clips = vec![
        clip("Turn", vec![rotation(0, &[(0.0, 0.3), (1.0, 2.0)])]),
        // Straight in the first half, bent by 90 degrees in the second.
        clip("Arm|Walk_Bent", vec![rotation(1, &[(0.0, 0.0), (1.0, half)])]),
    ];
    Character {
        name: "arm".into(),
        source: Source { json: "{}".into(), buffers: vec![], files: vec![], repaired: Arc::from([]) },
        mesh,
        skeleton,
        source_skin: skin.clone(),
        skin,
        clips: Clips { clips },
    }
}

/// One treated region of these vertices, the weld joining nothing.
pub(crate) fn regions_of(character: &Character, vertices: &[u32]) -> Regions {
    let count = character.mesh.positions.len() as u32;
    let weld = Weld {
        welded: (0..count).collect(),
        first: (0..count).collect(),
        triangles: Arc::clone(&character.mesh.triangles),
    };
    let distance =
        Field { name: "distance".into(), unit: "".into(), values: vec![0.0; count as usize].into(), stub: None };
    let finding = Finding {
        kind: Kind::Tail,
        treatment: Treatment::Chain,
        name: "Tail".into(),
        extent: 1.0,
        elongation: 2.0,
        offset: 1.0,
        reason: "".into(),
    };
    let collar = Some(Collar { ring: Arc::from([]), centre: Vec3::ZERO, joint: 0 });
    Regions {
        body: Body {
            mesh: character.mesh.clone(),
            skeleton: character.skeleton.clone(),
            skin: character.skin.clone(),
            weld,
            distance,
        },
        stance: Stance { up: Vec3::Y, forward: Vec3::Z, height: 1.0 },
        regions: vec![Region { number: 0, vertices: vertices.into(), collar, finding }],
    }
}

fn number(table: &Table, name: &str, row: usize) -> f64 {
    match &table.column(name).unwrap().cells {
        Cells::Number(v) => v[row],
        Cells::Integer(v) => v[row].into(),
        Cells::Text(v) => panic!("{v:?}"),
    }
}

fn run(character: &Character, regions: Option<&Regions>, clip: &str, samples: u32) -> Stretched {
    edge_stretch(character, regions, clip.into(), samples, Which::Treated, &Cx::detached()).unwrap()
}

#[test]
fn rigid_motion_measures_one_and_nothing_torn() {
    let table = run(&arm(), None, "turn", 24).table;
    assert_eq!((table.rows(), number(&table, "edges", 0)), (1, 9.0));
    for name in ["p95", "p99", "max"] {
        assert!((number(&table, name, 0) - 1.0).abs() < 1e-6, "{name}");
    }
    assert_eq!(number(&table, "torn", 0), 0.0);
}

#[test]
fn an_elbow_bent_by_90_degrees_stretches_and_tears_as_computed_by_hand() {
    let character = arm();
    // Bent: vertex 2 stays at (1, 0), 3 goes from (1, 1) to halfway between (1, 1) and (0, 0): (0.5, 0.5);
    // 4 goes from (2, 0) to (1, 1), 5 from (2, 1) to (0, 1). Edges and their ratios:
    //   0-1: 1   0-2: 1   1-2: 1   1-3: |(0.5, -0.5)| = 0.7071   2-3: 0.7071
    //   2-4: 1   3-4: 0.7071 / 1.4142 = 0.5   3-5: |(0.5, -0.5)| = 0.7071   4-5: 1
    let out = run(&character, None, "", 2);
    assert_eq!(out.table.column("clip").unwrap().cells.show(0), "Arm|Walk_Bent");
    assert!((number(&out.table, "max", 0) - 1.0).abs() < 1e-6);
    // Two times, nine edges, one of them torn (0.5 < 0.67) at the second time.
    assert!((number(&out.table, "torn", 0) - 100.0 / 18.0).abs() < 1e-9);
    // The region of the forearm's own vertices has the edge 4-5 alone, which stays; 3-4 counts to the body.
    let out = run(&character, Some(&regions_of(&character, &[4, 5])), "walk", 2);
    assert_eq!((number(&out.table, "edges", 0), number(&out.table, "edges", 1)), (1.0, 8.0));
    assert_eq!((number(&out.table, "torn", 0), number(&out.table, "torn", 1)), (0.0, 100.0 / 16.0));
    // With the middle: 2-3, 2-4, 3-4, 3-5, 4-5.
    let out = run(&character, Some(&regions_of(&character, &[2, 3, 4, 5])), "walk", 2);
    assert_eq!((number(&out.table, "edges", 0), number(&out.table, "torn", 0)), (5.0, 10.0));
    assert_eq!(number(&out.table, "torn", 1), 0.0);
}

#[test]
fn the_field_has_the_greatest_ratio_at_each_vertex() {
    let mut character = arm();
    // The forearm moves away by half its length: from the middle on, edges are longer.
    let slide = Channel {
        node: 1,
        target: Target::Translation,
        interpolation: Interpolation::Linear,
        times: Arc::from([0.0f32]),
        values: Arc::from([2.0f32, 0.0, 0.0]),
    };
    character.clips.clips = vec![clip("Slide", vec![slide])];
    let values = run(&character, None, "", 1).stretch.values;
    // 0-2 and 1-3 become 1.5, 1-2 from sqrt 2 to sqrt 3.25, 2-4 and 3-5 become 1.5.
    for (vertex, expected) in [1.5, 1.5, 1.5, 1.5, 1.5, 1.5].into_iter().enumerate() {
        assert!((values[vertex] - expected).abs() < 1e-6, "{vertex}: {}", values[vertex]);
    }
    character.mesh.triangles = Arc::from([[0u32, 1, 2]]);
    let values = run(&character, None, "", 1).stretch.values;
    assert!((values[0] - 1.5).abs() < 1e-6);
    assert!((values[1] - (3.25f32.sqrt() * FRAC_1_SQRT_2)).abs() < 1e-6);
    assert_eq!(values[4], 1.0);
}

#[test]
fn edges_without_length_are_left_out_and_counted() {
    let mut character = arm();
    let mut positions = character.mesh.positions.to_vec();
    positions[5] = positions[4];
    character.mesh.positions = positions.into();
    let cx = Cx::detached();
    let out = edge_stretch(&character, None, "turn".into(), 3, Which::Treated, &cx).unwrap();
    assert_eq!(number(&out.table, "edges", 0), 8.0);
    assert!(cx.warnings()[0].what.starts_with("1 edges have no length"));
}

#[test]
fn what_cannot_be_measured_is_said() {
    let mut character = arm();
    let call = |character: &Character, regions: Option<&Regions>, clip: &str| {
        edge_stretch(character, regions, clip.into(), 24, Which::Treated, &Cx::detached()).unwrap_err().to_string()
    };
    assert!(call(&character, None, "swim").starts_with("clip: there is no clip \"swim\"; choose one of Turn"));
    let mut other = regions_of(&character, &[0]);
    other.body.weld.welded = Arc::from([0u32]);
    assert!(call(&character, Some(&other), "").contains("regions: the regions are of a mesh with 1 vertices"));
    character.clips.clips.clear();
    assert!(call(&character, None, "").contains("the character has no clips"));
    let cx = Cx::detached();
    cx.cancel();
    assert!(edge_stretch(&arm(), None, String::new(), 24, Which::Treated, &cx).unwrap_err().is_cancelled());
}

/// The fox with one region from its hips to behind, and the same with that region handed to an added joint.
fn foxes() -> (Character, Character, Regions) {
    let before = sample_character(Sample::Fox, 0.6, &Cx::detached()).unwrap();
    let hips = before.skeleton.joints.iter().position(|joint| joint.name.to_lowercase().contains("hips")).unwrap();
    let behind = before.skeleton.position(hips).z;
    let vertices: Vec<u32> =
        (0..).zip(before.mesh.positions.iter()).filter(|(_, p)| p.z < behind).map(|(k, _)| k).collect();
    let regions = regions_of(&before, &vertices);
    let mut after = before.clone();
    let mut joints = after.skeleton.joints.to_vec();
    let added = Joint { name: "Tail_1".into(), parent: Some(hips as u16), node: None, has_bind: true };
    joints.push(added);
    after.skeleton.binds = after.skeleton.binds.iter().copied().chain([after.skeleton.binds[hips]]).collect();
    let width = after.skin.width;
    let (mut of, mut weights) = (after.skin.joints.to_vec(), after.skin.weights.to_vec());
    for &vertex in &vertices {
        let row = vertex as usize * width..(vertex as usize + 1) * width;
        // Those farther behind keep half of their first weight.
        let kept = if vertex % 3 == 0 { 0.5 } else { 0.0 };
        weights[row.clone()].fill(0.0);
        let first = of[row.start];
        of[row.clone()].fill(0);
        (of[row.start], of[row.start + 1]) = (joints.len() as u16 - 1, first);
        (weights[row.start], weights[row.start + 1]) = (1.0 - kept, kept);
    }
    after.skeleton.joints = joints.into();
    (after.skin.joints, after.skin.weights) = (of.into(), weights.into());
    (before, after, regions)
}

#[test]
fn two_characters_side_by_side_measure_what_each_measures_alone() {
    let (before, after, regions) = foxes();
    let cx = Cx::detached();
    let tiles = Tiles::new(&before, Some(&regions), Which::Treated, &cx).unwrap();
    assert!(tiles.are_of(&after));
    let [first, second] = [&before, &after].map(|character| Subject::new(character, "walk", 23).unwrap());
    let alike = subject::Alike::new(&first, &second);
    let shared = (0..tiles.len()).filter(|&tile| alike.tile(tiles.tile(tile))).count();
    assert!(shared > tiles.len() / 4 && shared < tiles.len() * 3 / 4, "{shared} of {} are alike", tiles.len());
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let together = pool.install(|| tables(&tiles, [&first, &second], &cx).unwrap());
        let alone = [&before, &after].map(|character| run(character, Some(&regions), "walk", 23).table);
        assert_eq!(together, alone);
        assert!(together[0] != together[1]);
    }
}

/// Every edge by a set, every ratio kept and sorted.
#[test]
fn figures_are_those_of_a_plain_way() {
    let (_, character, regions) = foxes();
    let samples = 5;
    let rig = crate::pose::Rig::new(&character.skeleton).unwrap();
    let out = run(&character, Some(&regions), "walk", samples);
    let clip = find_clip(&character.clips, "walk").unwrap();
    let edges: std::collections::BTreeSet<[u32; 2]> = character
        .mesh
        .triangles
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]].map(|[a, b]| [a.min(b), a.max(b)]))
        .collect();
    let length = |at: &[Vec3], [a, b]: [u32; 2]| f64::from(at[a as usize].distance(at[b as usize]));
    let inside = |[a, b]: [u32; 2]| [a, b].iter().all(|end| regions.regions[0].vertices.contains(end));
    let edges: Vec<_> = edges.into_iter().filter(|&edge| length(&character.mesh.positions, edge) > 0.0).collect();
    let (mut ratios, mut counts) = ([Vec::new(), Vec::new()], [0, 0]);
    let mut worst = vec![0.0f64; character.mesh.positions.len()];
    let rows: Vec<usize> = edges.iter().map(|&edge| usize::from(!inside(edge))).collect();
    rows.iter().for_each(|&row| counts[row] += 1);
    for k in 0..samples {
        let pose = rig.sample(clip, clip.duration * k as f32 / samples as f32).unwrap();
        let mut moved = Vec::new();
        crate::pose::skin_positions(&character.mesh, &character.skin, &rig.matrices(&pose), &mut moved).unwrap();
        for (&edge, &row) in edges.iter().zip(&rows) {
            let ratio = length(&moved, edge) / length(&character.mesh.positions, edge);
            ratios[row].push(ratio);
            for end in edge {
                worst[end as usize] = worst[end as usize].max(ratio);
            }
        }
    }
    for (row, (mut ratios, count)) in ratios.into_iter().zip(counts).enumerate() {
        assert_eq!(number(&out.table, "edges", row), f64::from(count));
        let torn = ratios.iter().filter(|&&ratio| !(0.67..=1.5).contains(&ratio)).count();
        let share = 100.0 * torn as f64 / ratios.len() as f64;
        assert!((number(&out.table, "torn", row) - share).abs() < 0.01, "row {row}");
        ratios.sort_by(f64::total_cmp);
        for (name, share) in [("p95", 0.95), ("p99", 0.99), ("max", 1.0)] {
            let place = share * (ratios.len() - 1) as f64;
            let (low, high) = (ratios[place.floor() as usize], ratios[place.ceil() as usize]);
            let expected = low + (high - low) * place.fract();
            let found = number(&out.table, name, row);
            assert!((found - expected).abs() < 1e-4 * expected, "row {row}, {name}: {found}, not {expected}");
        }
    }
    for (vertex, (&found, &expected)) in out.stretch.values.iter().zip(&worst).enumerate() {
        // A vertex without edges has 1.
        let expected = if expected == 0.0 { 1.0 } else { expected };
        assert!((f64::from(found) - expected).abs() < 1e-3 * expected, "vertex {vertex}: {found}, not {expected}");
    }
}

#[test]
fn an_edge_in_two_regions_counts_to_both() {
    let character = arm();
    let mut regions = regions_of(&character, &[2, 3, 4, 5]);
    let mut other = regions.regions[0].clone();
    (other.number, other.finding.name, other.vertices) = (1, "Hand".into(), Arc::from([3u32, 4, 5]));
    regions.regions.push(other);
    // 2-3, 2-4, 3-4, 3-5, 4-5 are of the first, the last three of both; 3-4 is torn.
    let table = run(&character, Some(&regions), "walk", 2).table;
    assert_eq!([0, 1, 2].map(|row| number(&table, "edges", row)), [5.0, 3.0, 4.0]);
    assert_eq!([0, 1, 2].map(|row| number(&table, "torn", row)), [10.0, 1.0 / 6.0 * 100.0, 0.0]);
    assert!((number(&table, "max", 1) - 1.0).abs() < 1e-6);
}

#[test]
fn a_sample_of_edges_that_misleads_changes_no_figure() {
    let mut character = arm();
    // Triangles on their own, of 3 edges each. Of the 63 edges of each 21 triangles a sample sees the first, and that is
    // one of two that become twice as long.
    let count = 21 * 2048;
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
    let positions: Vec<Vec3> = (0..3 * count).map(|k| corners[k % 3]).collect();
    character.mesh.normals = positions.iter().map(|_| Vec3::Z).collect();
    character.mesh.colours = positions.iter().map(|_| [255; 4]).collect();
    character.mesh.triangles = (0..count as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    character.mesh.positions = positions.into();
    let joint = |k: usize| u16::from(k % 63 == 1);
    character.skin =
        Skin { width: 1, joints: (0..3 * count).map(joint).collect(), weights: (0..3 * count).map(|_| 1.0).collect() };
    let slide = Channel {
        node: 1,
        target: Target::Translation,
        interpolation: Interpolation::Linear,
        times: Arc::from([0.0f32]),
        values: Arc::from([2.0f32, 0.0, 0.0]),
    };
    character.clips.clips = vec![clip("Slide", vec![slide])];
    let table = run(&character, None, "", 1).table;
    // 3.2 % of all edges are longer: of (2, 0) and (0, 1) from (0, 0) and (0, 1).
    assert!((number(&table, "p95", 0) - 1.0).abs() < 1e-6, "{}", number(&table, "p95", 0));
    assert!((number(&table, "p99", 0) - 2.0).abs() < 1e-6, "{}", number(&table, "p99", 0));
    assert!((number(&table, "max", 0) - 2.0).abs() < 1e-6);
}

#[test]
fn figures_have_the_same_bits_on_any_number_of_threads() {
    let (_, character, regions) = foxes();
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&character, Some(&regions), "walk", 24))
    };
    let one = on(1);
    assert_eq!(on(2), one);
    assert_eq!(on(3), one);
}
