//! The steps of a tail rig on large characters, one thread, each beside the plain way to do it.
//!
//! `cargo bench -p sinew-tests --bench pipeline`; a word after `--` keeps the rows that have it in their name.

use std::sync::Arc;
use std::time::{Duration, Instant};

use glam::Vec3;
use peak_alloc::PeakAlloc;
use sinew_graph::{Cx, NodeError, Result, Value};
use sinew_nodes::data::{
    Body, Character, Collar, Field, Finding, Kind, Mesh, Region, Regions, Skin, Stance, Table, Treatment, Weld,
};
use sinew_nodes::export::gltf::{Format, export_gltf};
use sinew_nodes::io::sample_character::{Sample, sample_character};
use sinew_nodes::measure::compare::compare;
use sinew_nodes::measure::edge_stretch::edge_stretch;
use sinew_nodes::measure::region::Which;
use sinew_nodes::mesh::edges::unique_edges;
use sinew_nodes::mesh::weld::{weld, weld_positions};
use sinew_nodes::pose::{JointMatrices, Place4, QuadMatrices, Rig, find_clip, skin_positions};
use sinew_nodes::rig::anatomy::Anatomy;
use sinew_nodes::rig::anatomy::Segment;
use sinew_nodes::rig::apply::apply;
use sinew_nodes::rig::chain::geodesic::spread;
use sinew_nodes::rig::chain::patch::Patch;
use sinew_nodes::rig::chain_weights::chain_weights;
use sinew_nodes::rig::collar::collar;
use sinew_nodes::rig::dijkstra_chain::{ChainsOut, dijkstra_chain};
use sinew_nodes::rig::flood_regions::{Mode, flood_regions};
use sinew_nodes::rig::merge_regions::merge_regions;
use sinew_nodes::rig::pca_classify::pca_classify;
use sinew_nodes::rig::skeleton_distance::{STUB, distances, skeleton_distance};
use sinew_nodes::rig::sweep::MergeTree;
use sinew_nodes::rig::sweep::merge_tree::Significance;
use sinew_tests::large;
use sinew_tests::stopwatch::{Stopwatch, Unit, time};

#[path = "pipeline/plain.rs"]
mod plain;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const WELD: f32 = 1e-6;
const SAMPLES: u32 = 24;
const CLIP: &str = "Walk";

/// Thresholds, in heights: the least, and how many the plain way looks at. The sweep looks at all there are.
const LOWEST: f32 = 0.04;
const LEVELS: usize = 64;

fn main() -> Result<()> {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one thread can be made");
    one.install(|| {
        let cx = Cx::detached();
        let fox = sample_character(Sample::Fox, 1.0, &cx)?;
        // Splitting twice makes some sixteen vertices of one.
        let million = large::at_least(&sample_character(Sample::Fox, 1.8, &cx)?, 900_000);
        steps(&million)?;
        whole(&fox, true, 25.0, 5)?;
        whole(&million, false, 1000.0, 1)
    })
}

/// One row for each step, on what the steps before it make.
fn steps(character: &Character) -> Result<()> {
    let cx = &Cx::detached();
    let mesh = &character.mesh;
    let vertices = mesh.positions.len();
    let rows = Stopwatch::new(&format!("steps, {vertices} vertices, one thread"), 3);
    let ns = Unit::Nanoseconds;

    rows.row(
        "weld, vertices alone (plain: meshoptimizer)",
        vertices,
        ns,
        20.0,
        || weld_positions(&mesh.positions, &[], WELD, cx),
        || meshopt::generate_vertex_remap(&mesh.positions, None),
    );
    rows.row(
        "weld with its triangles, per vertex",
        vertices,
        ns,
        f64::INFINITY,
        || weld_positions(&mesh.positions, &mesh.triangles, WELD, cx),
        || plain::weld(&mesh.positions, &mesh.triangles),
    );

    let anatomy = Anatomy::of(mesh, &character.skeleton, &character.skin);
    let bones = divided(anatomy.bones.segments(&character.skeleton, STUB), 65);
    rows.row(
        &format!("skeleton distance, {} bones, per vertex", bones.len()),
        vertices,
        ns,
        25.0,
        || distances(&mesh.positions, &bones, cx),
        || plain::skeleton_distance(&mesh.positions, &bones),
    );

    let found = rig(character, &mut Laps::default(), cx)?;
    let body = &found.regions.body;
    let height = found.regions.stance.height;
    let values: Vec<f32> = body.weld.first.iter().map(|&v| body.distance.values[v as usize] / height).collect();
    let levels: Vec<f32> = (0..LEVELS).map(|k| LOWEST + 0.46 * k as f32 / LEVELS as f32).collect();
    let least = Significance { persistence: 0.015, vertices: 3 };
    rows.row(
        &format!("regions: all thresholds (plain: {LEVELS})"),
        vertices,
        Unit::Milliseconds,
        60.0,
        || MergeTree::of(&values, &body.weld.triangles, LOWEST, least, cx),
        || plain::components(&values, &body.weld.triangles, &levels),
    );

    let tube = tube(character, 1000, 1000);
    let region = &tube.regions[0];
    let ring = region.collar.as_ref().expect("the tube has a collar");
    let patch = Patch::new(&tube.body, region, &ring.ring, cx)?;
    rows.row(
        "Dijkstra, 1 M in the region, per vertex",
        region.vertices.len(),
        ns,
        120.0,
        || {
            let mut distance = vec![f32::INFINITY; patch.positions.len()];
            patch.ring.iter().for_each(|&v| distance[v as usize] = 0.0);
            let place = |v: u32| patch.positions[v as usize];
            spread(&patch.graph, place, &mut distance, patch.ring.iter().copied(), f32::INFINITY, |_| true, cx)?;
            Ok::<_, NodeError>(distance)
        },
        || plain::dijkstra(region, ring, |v| tube.body.mesh.positions[v as usize], &tube.body.weld.triangles),
    );
    rows.row(
        "the chain with its joints, per vertex",
        region.vertices.len(),
        ns,
        f64::INFINITY,
        || dijkstra_chain(&tube, 0.1, 3, 8, cx),
        || plain::dijkstra(region, ring, |v| tube.body.mesh.positions[v as usize], &tube.body.weld.triangles),
    );

    let skin = &character.skin;
    rows.row(
        "chain weights, per vertex",
        vertices,
        ns,
        5.0,
        || chain_weights(&found.chains.chains, Some(skin), cx),
        || plain::chain_weights(&found.chains.chains, skin),
    );

    let posed = Rig::new(&character.skeleton)?;
    let walk = find_clip(&character.clips, CLIP)?;
    let matrices = posed.matrices(&posed.sample(walk, 0.3)?);
    let plain_matrices = plain::matrices(&posed, walk, 0.3);
    let mut moved = Vec::new();
    rows.row(
        &format!("skinning, {} influences, per vertex", skin.width),
        vertices,
        ns,
        8.0,
        || skin_positions(mesh, skin, &matrices, &mut moved),
        || plain::skin(&mesh.positions, skin, &plain_matrices),
    );

    let times = (0..SAMPLES).map(|k| posed.sample(walk, walk.duration * k as f32 / SAMPLES as f32));
    let times: Vec<JointMatrices> = times.map(|pose| Ok(posed.matrices(&pose?))).collect::<Result<_>>()?;
    let quads = QuadMatrices::new(&times);
    rows.row(
        &format!("skinning at {SAMPLES} times, per vertex and time"),
        vertices * SAMPLES as usize,
        ns,
        5.0,
        || many_times(mesh, skin, &quads),
        || times.iter().map(|time| skin_positions(mesh, skin, time, &mut moved)).collect::<Result<Vec<_>>>(),
    );

    let edges = unique_edges(vertices, &mesh.triangles, cx)?.len();
    rows.row(
        "edge stretch with skinning, per edge and sample",
        edges * SAMPLES as usize,
        ns,
        5.0,
        || edge_stretch(character, Some(&found.regions), CLIP.into(), SAMPLES, Which::Treated, cx),
        || plain::edge_stretch(character, walk, SAMPLES),
    );
    Ok(())
}

/// The whole job beside a plain one, which does no detection but the components of its thresholds, and takes our region.
fn whole(character: &Character, export: bool, target: f64, rounds: usize) -> Result<()> {
    let cx = &Cx::detached();
    let vertices = character.mesh.positions.len();
    let title = format!("whole job, {vertices} vertices, {} joints, one thread", character.skeleton.joints.len());
    let rows = Stopwatch::new(&title, rounds);
    let name = format!("whole job{}, a clip of 1 s", if export { " with export" } else { "" });
    if !rows.wants(&name) {
        return Ok(());
    }
    let found = rig(character, &mut Laps::default(), cx)?;
    rows.row(
        &name,
        vertices,
        Unit::Milliseconds,
        target,
        || job(character, export, cx),
        || plain_job(character, &found),
    );

    let input = Value::memory([&Value::new(character.clone())]);
    let before = MEMORY.current_usage();
    let (laps, _) = job(character, export, cx)?;
    let most = laps.0.iter().map(|(_, _, [most, _])| *most).max().unwrap_or(before);
    let ours = (most.saturating_sub(before) + input) as f64 / input as f64;
    let plain = multiple(input, || plain_job(character, &found));
    rows.figures("  most memory, of the input's, with the input", ours, plain, Unit::Times, 3.0);
    laps.tell(before, input);
    Ok(())
}

/// Moves every vertex at many times, and adds the places up: none is kept.
fn many_times(mesh: &Mesh, skin: &Skin, quads: &QuadMatrices) -> Place4 {
    let mut sum = Place4::default();
    for (vertex, &position) in mesh.positions.iter().enumerate() {
        let row = vertex * skin.width..(vertex + 1) * skin.width;
        quads.place(position, &skin.joints[row.clone()], &skin.weights[row], 0..quads.quads(), |_, place| {
            sum.iter_mut().zip(place).for_each(|(sum, x)| *sum += x);
        });
    }
    sum
}

/// The most memory in use during a run, the input counted in, as a multiple of the input's.
fn multiple<T>(input: usize, mut run: impl FnMut() -> T) -> f64 {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    time(&mut run);
    (MEMORY.peak_usage().saturating_sub(before) + input) as f64 / input as f64
}

/// How long each node of a job took, the most memory that was in use meanwhile, and what is in use behind it.
#[derive(Default)]
struct Laps(Vec<(&'static str, Duration, [usize; 2])>);

impl Laps {
    fn lap<T>(&mut self, name: &'static str, run: impl FnOnce() -> Result<T>) -> Result<T> {
        MEMORY.reset_peak_usage();
        let start = Instant::now();
        let out = run();
        self.0.push((name, start.elapsed(), [MEMORY.peak_usage(), MEMORY.current_usage()]));
        out
    }

    /// Prints them; memory is told as a multiple of the input's, the input counted in.
    #[allow(clippy::print_stdout, reason = "a bench prints its figures")]
    fn tell(&self, before: usize, input: usize) {
        let multiple = |bytes: usize| (bytes.saturating_sub(before) + input) as f64 / input as f64;
        for (name, time, memory) in &self.0 {
            let [most, left] = memory.map(multiple);
            println!("    {name:<42} {:>9.2} ms {most:>8.2} x most {left:>6.2} x left", time.as_secs_f64() * 1e3);
        }
    }
}

/// What detection and chains give.
struct Found {
    regions: Regions,
    chains: ChainsOut,
}

fn rig(character: &Character, laps: &mut Laps, cx: &Cx) -> Result<Found> {
    let welded = laps.lap("weld", || weld(character, WELD, cx))?;
    let distance = laps.lap("skeleton distance", || skeleton_distance(character, STUB, cx))?;
    let flooded = laps.lap("flood regions", || {
        flood_regions(character, &welded, &distance, Mode::Sweep, 0.07, LOWEST, 0.5, 0.015, true, cx)
    })?;
    let collared = laps.lap("collar", || collar(&flooded.regions, 1.5, String::new(), cx))?;
    let merged = laps.lap("merge regions", || merge_regions(&collared, 0.5, cx))?;
    let judged =
        laps.lap("classify", || pca_classify(&merged, 1.6, 0.15, 0.4, false, false, String::new(), cx))?.regions;
    let chains = laps.lap("chain", || dijkstra_chain(&judged, 0.1, 3, 8, cx))?;
    Ok(Found { regions: judged, chains })
}

/// From the character as read to the measured one, and its file.
fn job(character: &Character, export: bool, cx: &Cx) -> Result<(Laps, Table)> {
    let mut laps = Laps::default();
    let Found { regions, chains } = rig(character, &mut laps, cx)?;
    let skin = laps.lap("chain weights", || chain_weights(&chains.chains, None, cx))?;
    let after = laps.lap("apply", || apply(character, Some(&chains.chains), &skin, cx))?;
    let (before, changed) = (Value::new(character.clone()), Value::new(after.clone()));
    let table = laps.lap("compare: stretch and distance, twice", || {
        compare(&before, &changed, Some(&regions), CLIP.into(), SAMPLES, Which::Treated, cx)
    })?;
    if export {
        laps.lap("export glTF", || export_gltf(&after, String::new(), Format::Glb, cx))?;
    }
    Ok((laps, table))
}

fn plain_job(character: &Character, found: &Found) -> [[f32; 3]; 2] {
    let mesh = &character.mesh;
    let (welded, first, triangles) = plain::weld(&mesh.positions, &mesh.triangles);
    let anatomy = Anatomy::of(mesh, &character.skeleton, &character.skin);
    let distance = plain::skeleton_distance(&mesh.positions, &anatomy.bones.segments(&character.skeleton, STUB));
    let height = anatomy.stance.height;
    let values: Vec<f32> = first.iter().map(|&v| distance[v as usize] / height).collect();
    let levels: Vec<f32> = (0..LEVELS).map(|k| LOWEST + 0.46 * k as f32 / LEVELS as f32).collect();
    let counts = plain::components(&values, &triangles, &levels);
    assert!(counts[0] > 0, "some skin is far from the skeleton");
    for region in found.regions.regions.iter().filter(|r| r.finding.treatment == Treatment::Chain) {
        let ring = region.collar.as_ref().expect("a chain has a collar");
        plain::dijkstra(region, ring, |v| mesh.positions[first[v as usize] as usize], &triangles);
    }
    assert_eq!(welded.len(), mesh.positions.len());
    plain::chain_weights(&found.chains.chains, &character.skin);
    let walk = find_clip(&character.clips, CLIP).expect("the sample walks");
    [0, 1].map(|_| plain::edge_stretch(character, walk, SAMPLES))
}

/// Bones cut in halves, the longest first, until there are `count`.
fn divided(mut bones: Vec<Segment>, count: usize) -> Vec<Segment> {
    while bones.len() < count {
        let length = |k: &usize| bones[*k].a.distance(bones[*k].b);
        let Some(longest) = (0..bones.len()).max_by(|a, b| length(a).total_cmp(&length(b))) else { break };
        let Segment { a, b, joint } = bones[longest];
        bones[longest] = Segment { a, b: a.midpoint(b), joint };
        bones.push(Segment { a: a.midpoint(b), b, joint });
    }
    bones
}

/// One region of a bent tube on the skeleton of a character: `rings` rings of `around` vertices, the first one its collar.
fn tube(character: &Character, rings: u32, around: u32) -> Regions {
    let place = |k: u32| {
        let (t, a) = ((k / around) as f32 / rings as f32, (k % around) as f32 / around as f32 * std::f32::consts::TAU);
        let radius = 0.06 + 0.02 * (7.0 * t).sin();
        Vec3::new(radius * a.cos() + 0.3 * t * t, 1.0 - 0.4 * t + radius * a.sin(), -t)
    };
    let positions: Vec<Vec3> = (0..rings * around).map(place).collect();
    let quads = (0..(rings - 1) * around).map(|k| {
        let next = k - k % around + (k + 1) % around;
        [[k, next, next + around], [k, next + around, k + around]]
    });
    let triangles: Arc<[[u32; 3]]> = quads.flatten().collect();
    let all: Arc<[u32]> = (0..rings * around).collect();
    let finding = Finding {
        kind: Kind::Tail,
        treatment: Treatment::Chain,
        name: "Tail".into(),
        extent: 1.0,
        elongation: 5.0,
        offset: 0.5,
        reason: "made".into(),
    };
    let body = Body {
        mesh: Mesh { positions: positions.into(), triangles: Arc::clone(&triangles), ..character.mesh.clone() },
        skeleton: character.skeleton.clone(),
        skin: character.skin.clone(),
        weld: Weld { welded: Arc::clone(&all), first: Arc::clone(&all), triangles },
        distance: Field { name: "none".into(), unit: "file units".into(), values: Arc::from([]), stub: None },
    };
    let collar = Collar { ring: all[..around as usize].into(), centre: Vec3::Y, joint: 0 };
    let region = Region { number: 0, vertices: all[around as usize..].into(), collar: Some(collar), finding };
    let stance = Stance { up: Vec3::Y, forward: Vec3::Z, height: 1.8 };
    Regions { body, stance, regions: vec![region] }
}
