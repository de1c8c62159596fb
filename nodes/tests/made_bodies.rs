//! Promises of detection on made bodies, which need no file: a biped of tubes, and what may hang on it.

#![allow(clippy::unwrap_used, reason = "a helper of tests fails and tells as a test does")]

use std::sync::Arc;

use glam::{Mat4, Vec3};
use sinew_graph::Cx;
use sinew_nodes::data::{
    Character, Clips, Finding, Joint, Kind, Mesh, Part, Region, Regions, Skeleton, Skin, Source, Transform, Treatment,
};
use sinew_nodes::mesh::weld::weld;
use sinew_nodes::rig::anatomy::{Anatomy, Role};
use sinew_nodes::rig::collar::collar;
use sinew_nodes::rig::flood_regions::{Flooded, Mode, flood_regions};
use sinew_nodes::rig::merge_regions::merge_regions;
use sinew_nodes::rig::pca_classify::pca_classify;
use sinew_nodes::rig::pick_regions::{Others, Picked, pick_regions};
use sinew_nodes::rig::skeleton_distance::skeleton_distance;

/// Name, parent and place of each joint. The names tell nothing.
const JOINTS: [(&str, Option<u16>, [f32; 3]); 18] = [
    ("a", None, [0.0, 1.0, 0.0]),
    ("b", Some(0), [0.0, 1.18, 0.0]),
    ("c", Some(1), [0.0, 1.4, 0.0]),
    ("d", Some(2), [0.0, 1.55, 0.0]),
    ("e", Some(0), [0.1, 0.95, 0.0]),
    ("f", Some(4), [0.1, 0.5, 0.02]),
    ("g", Some(5), [0.1, 0.06, 0.0]),
    ("h", Some(6), [0.1, 0.04, 0.14]),
    ("i", Some(0), [-0.1, 0.95, 0.0]),
    ("j", Some(8), [-0.1, 0.5, 0.02]),
    ("k", Some(9), [-0.1, 0.06, 0.0]),
    ("l", Some(10), [-0.1, 0.04, 0.14]),
    ("m", Some(2), [0.18, 1.4, 0.0]),
    ("n", Some(12), [0.45, 1.4, 0.0]),
    ("o", Some(13), [0.7, 1.4, 0.0]),
    ("p", Some(2), [-0.18, 1.4, 0.0]),
    ("q", Some(15), [-0.45, 1.4, 0.0]),
    ("r", Some(16), [-0.7, 1.4, 0.0]),
];

#[derive(Default)]
struct Made {
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

impl Made {
    /// A closed tube along a path of radius `r`.
    fn tube(&mut self, path: &dyn Fn(f32) -> Vec3, r: &dyn Fn(f32) -> f32) -> std::ops::Range<u32> {
        let start = self.positions.len() as u32;
        let (rings, around) = (24u32, 10u32);
        for ring in 0..=rings {
            let t = ring as f32 / rings as f32;
            let along = (path(t + 0.01) - path(t - 0.01)).normalize();
            let side = along.any_orthonormal_vector();
            let up = along.cross(side);
            for k in 0..around {
                let a = k as f32 / around as f32 * std::f32::consts::TAU;
                self.positions.push(path(t) + (side * a.cos() + up * a.sin()) * r(t));
            }
        }
        let at = |ring: u32, k: u32| start + ring * around + k % around;
        for ring in 0..rings {
            for k in 0..around {
                let [a, b, c, d] = [at(ring, k), at(ring, k + 1), at(ring + 1, k + 1), at(ring + 1, k)];
                self.triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        let ends = [(0, path(0.0)), (rings, path(1.0))];
        for (ring, p) in ends {
            let centre = self.positions.len() as u32;
            self.positions.push(p);
            self.triangles.extend((0..around).map(|k| [centre, at(ring, k), at(ring, k + 1)]));
        }
        start..self.positions.len() as u32
    }

    fn straight(&mut self, from: [f32; 3], to: [f32; 3], r: f32) -> std::ops::Range<u32> {
        let (from, to) = (Vec3::from(from), Vec3::from(to));
        self.tube(&move |t| from + (to - from) * t, &move |_| r)
    }

    /// The body: a tube around each bone, and a head.
    fn biped() -> Self {
        let mut made = Self::default();
        for (_, parent, at) in JOINTS {
            if let Some(parent) = parent {
                made.straight(JOINTS[usize::from(parent)].2, at, 0.06);
            }
        }
        made.straight([0.0, 1.55, 0.0], [0.0, 1.85, 0.0], 0.08);
        made
    }

    /// A sheet of 0.5 by 0.6 that hangs behind the body from the shoulders.
    fn cape(&mut self) -> std::ops::Range<u32> {
        let start = self.positions.len() as u32;
        for row in 0..=12u32 {
            for column in 0..=10u32 {
                let (x, y) = (column as f32 / 10.0 - 0.5, row as f32 / 12.0);
                self.positions.push(Vec3::new(x * 0.5, 1.4 - 0.6 * y, -0.06 - 0.22 * y));
            }
        }
        for row in 0..12 {
            for column in 0..10 {
                let a = start + row * 11 + column;
                self.triangles.extend([[a, a + 1, a + 12], [a, a + 12, a + 11]]);
            }
        }
        start..self.positions.len() as u32
    }

    fn character(self) -> Character {
        let n = self.positions.len();
        let at = |k: usize| Vec3::from(JOINTS[k].2);
        // Every vertex follows its nearest joint: what a template rig does with a tail.
        let nearest =
            |p: Vec3| (0..JOINTS.len()).min_by(|&a, &b| at(a).distance(p).total_cmp(&at(b).distance(p))).unwrap();
        let joint =
            |k: usize| Joint { name: JOINTS[k].0.into(), parent: JOINTS[k].1, node: Some(k as u32), has_bind: true };
        let skin = Skin {
            width: 1,
            joints: self.positions.iter().map(|&p| nearest(p) as u16).collect(),
            weights: vec![1.0; n].into(),
        };
        let part = Part {
            name: "made".into(),
            nodes: vec![0],
            mesh: 0,
            primitive: 0,
            skin: 0,
            vertices: 0..n as u32,
            triangles: 0..self.triangles.len() as u32,
        };
        Character {
            name: "made".into(),
            source: Source { json: "{}".into(), buffers: Vec::new(), files: Vec::new(), repaired: Arc::from([0]) },
            mesh: Mesh {
                normals: vec![Vec3::Y; n].into(),
                colours: vec![[255; 4]; n].into(),
                positions: self.positions.into(),
                triangles: self.triangles.into(),
                parts: Arc::from([part]),
            },
            skeleton: Skeleton {
                joints: (0..JOINTS.len()).map(joint).collect(),
                binds: (0..JOINTS.len()).map(|k| Mat4::from_translation(at(k)).to_cols_array()).collect(),
                node_parents: JOINTS.iter().map(|j| j.1.map_or(-1, i32::from)).collect(),
                node_names: JOINTS.iter().map(|j| Arc::from(j.0)).collect(),
                node_locals: vec![Transform::IDENTITY; JOINTS.len()].into(),
                to_world: Mat4::IDENTITY.to_cols_array(),
            },
            source_skin: skin.clone(),
            skin,
            clips: Clips::default(),
        }
    }
}

fn flood(character: &Character, mode: Mode) -> Flooded {
    let cx = Cx::detached();
    let weld = weld(character, 1e-6, &cx).unwrap();
    let distance = skeleton_distance(character, 0.5, &cx).unwrap();
    flood_regions(character, &weld, &distance, mode, 0.07, 0.04, 0.5, 0.015, true, &cx).unwrap()
}

fn judge(flooded: &Flooded) -> Regions {
    let cx = Cx::detached();
    let collared = collar(&flooded.regions, 1.5, String::new(), &cx).unwrap();
    let merged = merge_regions(&collared, 0.5, &cx).unwrap();
    pca_classify(&merged, 1.6, 0.15, 0.4, false, false, String::new(), &cx).unwrap().regions
}

fn tail(t: f32) -> Vec3 {
    Vec3::new(0.0, 1.0 - 0.45 * t, -0.04 - 0.7 * t)
}

fn kinds(regions: &Regions) -> Vec<(Kind, Treatment)> {
    regions.regions.iter().map(|r| (r.finding.kind, r.finding.treatment)).filter(|k| k.0 != Kind::Small).collect()
}

#[test]
fn a_body_of_nameless_joints_is_read_by_its_shape() {
    let character = Made::biped().character();
    let anatomy = Anatomy::of(&character.mesh, &character.skeleton, &character.skin);
    let of = |role: Role| anatomy.joints(role).map(|j| JOINTS[usize::from(j)].0).collect::<String>();
    assert_eq!(
        (of(Role::Pelvis), of(Role::Spine), of(Role::Head), of(Role::Thigh)),
        ("a".into(), "bc".into(), "d".into(), "ei".into())
    );
    assert_eq!((anatomy.stance.up, anatomy.stance.forward), (Vec3::Y, Vec3::Z));
    assert!((anatomy.stance.height - 1.87).abs() < 0.03, "{}", anatomy.stance.height);
}

#[test]
fn regions_are_measured_against_the_stubs_of_their_distance() {
    let cx = Cx::detached();
    for stub in [0.0, 0.5, 2.0] {
        let mut made = Made::biped();
        // Above the head, whose bone is a leaf of 0.15 that ends at 1.55: its stub leads up towards the plume.
        made.straight([0.0, 2.0, 0.0], [0.0, 2.6, 0.0], 0.03);
        let character = made.character();
        let weld = weld(&character, 1e-6, &cx).unwrap();
        let distance = skeleton_distance(&character, stub, &cx).unwrap();
        assert_eq!(distance.stub, Some(stub));
        let flooded =
            flood_regions(&character, &weld, &distance, Mode::Sweep, 0.07, 0.04, 0.5, 0.015, true, &cx).unwrap();
        let regions = judge(&flooded);
        let at = |v: u32| character.mesh.positions[weld.first[v as usize] as usize];
        let plume = regions.regions.iter().find(|region| at(region.vertices[0]).y > 1.9).unwrap();
        let centre = plume.vertices.iter().map(|&v| at(v)).sum::<Vec3>() / plume.vertices.len() as f32;
        let away = centre.y - (1.55 + 0.15 * stub);
        let finding = &plume.finding;
        assert!((finding.offset * finding.extent - away).abs() < 1e-3, "{stub}: {finding:?} {away}");
    }
}

#[test]
fn a_bare_body_has_nothing_to_treat() {
    assert_eq!(kinds(&judge(&flood(&Made::biped().character(), Mode::Sweep))), []);
}

#[test]
fn a_tail_is_found_whole() {
    let mut made = Made::biped();
    let range = made.tube(&tail, &|_| 0.05);
    let regions = judge(&flood(&made.character(), Mode::Sweep));
    assert_eq!(kinds(&regions), [(Kind::Tail, Treatment::Chain)]);
    let region = regions.regions.iter().find(|r| r.finding.kind == Kind::Tail).unwrap();
    assert_eq!(region.vertices.len() as u32, range.end - range.start);
    assert_eq!(region.collar.as_ref().unwrap().joint, 0);
}

#[test]
fn fur_over_skin_is_one_tail() {
    let mut made = Made::biped();
    made.tube(&tail, &|_| 0.05);
    made.tube(&|t| tail(0.95 * t + 0.02), &|_| 0.07);
    assert_eq!(kinds(&judge(&flood(&made.character(), Mode::Sweep))), [(Kind::Tail, Treatment::Chain)]);
}

#[test]
fn a_curled_tail_is_a_tail() {
    let mut made = Made::biped();
    made.tube(
        &|t| {
            let a = 4.5 * t;
            Vec3::new(0.0, 1.25 - 0.25 * a.cos(), -0.06 - 0.25 * a.sin() - 0.5 * t)
        },
        &|_| 0.035,
    );
    let regions = judge(&flood(&made.character(), Mode::Sweep));
    let reasons: Vec<_> = regions.regions.iter().map(|r| &r.finding.reason).collect();
    assert_eq!(kinds(&regions), [(Kind::Tail, Treatment::Chain)], "{reasons:?}");
}

#[test]
fn a_cape_a_scabbard_and_a_loincloth_get_no_bones() {
    let mut made = Made::biped();
    made.cape();
    assert!(kinds(&judge(&flood(&made.character(), Mode::Sweep))).iter().all(|k| k.1 == Treatment::Unchanged));

    let mut made = Made::biped();
    made.straight([0.26, 1.05, 0.0], [0.34, 0.5, -0.35], 0.03);
    assert_eq!(kinds(&judge(&flood(&made.character(), Mode::Sweep))), [(Kind::Worn, Treatment::Unchanged)]);

    let mut made = Made::biped();
    made.straight([0.0, 1.0, 0.1], [0.0, 0.55, 0.45], 0.05);
    assert_eq!(kinds(&judge(&flood(&made.character(), Mode::Sweep))), [(Kind::Worn, Treatment::Unchanged)]);
}

#[test]
fn ears_are_left_alone_until_they_are_picked() {
    let mut made = Made::biped();
    for side in [-1.0, 1.0] {
        made.straight([side * 0.08, 1.8, 0.0], [side * 0.25, 2.25, 0.0], 0.04);
    }
    let flooded = flood(&made.character(), Mode::Sweep);
    let regions = judge(&flooded);
    assert_eq!(kinds(&regions), [(Kind::Ear, Treatment::Unchanged); 2]);
    let cx = Cx::detached();
    let pick = |which: &str, treatment, others| {
        pick_regions(&regions, &flooded.tree, which.into(), treatment, others, String::new(), &cx).unwrap()
    };
    let picked = pick("ear", Picked::Chain, Others::AsJudged);
    let names: Vec<&str> =
        picked.regions.iter().filter(|r| r.finding.treatment == Treatment::Chain).map(|r| &*r.finding.name).collect();
    assert_eq!(names, ["Ear", "Ear2"]);
    let one = pick("0", Picked::Rigid, Others::Dropped);
    assert_eq!((one.regions.len(), one.regions[0].finding.treatment), (1, Treatment::Rigid));
    assert_eq!(pick("", Picked::AsJudged, Others::Dropped), regions);
    let none = pick("wing", Picked::Chain, Others::AsJudged);
    assert_eq!(none, regions);
    assert!(cx.warnings().iter().any(|w| w.what.contains("wing")));
    let branch = flooded.tree.branches.iter().position(|b| b.region == Some(1)).unwrap();
    assert_eq!(pick(&format!("branch {branch}"), Picked::AsJudged, Others::Dropped).regions[0].number, 1);
    let missing =
        pick_regions(&regions, &flooded.tree, "branch 999".into(), Picked::Chain, Others::AsJudged, String::new(), &cx);
    assert!(missing.unwrap_err().to_string().contains("no branch 999"));
}

#[test]
fn one_fixed_threshold_takes_exactly_what_is_further() {
    let mut made = Made::biped();
    made.tube(&tail, &|_| 0.05);
    let flooded = flood(&made.character(), Mode::Fixed);
    let body = &flooded.regions.body;
    let limit = 0.07 * flooded.regions.stance.height;
    let far = body.weld.first.iter().filter(|&&v| body.distance.values[v as usize] > limit).count();
    let held: usize = flooded.regions.regions.iter().map(|r| r.vertices.len()).sum();
    assert_eq!(far, held);
    assert!(flooded.tree.branches.iter().all(|b| b.parent.is_none()));
}

#[test]
fn hips_win_over_the_abdomen_at_one_and_a_half_times_its_distance() {
    let character = Made::biped().character();
    let mut regions = flood(&character, Mode::Sweep).regions;
    let height = regions.stance.height;
    // Where spheres of 0.04 H about the abdomen and 0.06 H about the hips meet.
    let (near, far, apart) = (0.04 * height, 0.06 * height, 0.18f32);
    for (shift, expected) in [(1.0, "a"), (1.0 + 5e-4, "a"), (1.25, "b")] {
        let far = far * shift;
        let y = (far * far - near * near + apart * apart) / (2.0 * apart);
        let z = (far * far - y * y).max(0.0).sqrt();
        let mut moved = regions.body.clone();
        let mut positions = moved.mesh.positions.to_vec();
        let first = moved.weld.first[0] as usize;
        let neighbours: Vec<u32> =
            moved.weld.triangles.iter().filter(|t| t.contains(&0)).flatten().copied().filter(|&v| v != 0).collect();
        for v in neighbours {
            positions[moved.weld.first[v as usize] as usize] = Vec3::new(0.0, 1.0 + y, -z);
        }
        positions[first] = Vec3::new(0.0, 1.0, -1.0);
        moved.mesh.positions = positions.into();
        let finding = Finding {
            kind: Kind::Unknown,
            treatment: Treatment::Unchanged,
            name: "".into(),
            extent: 0.0,
            elongation: 0.0,
            offset: 0.0,
            reason: "".into(),
        };
        regions.regions = vec![Region { number: 0, vertices: Arc::from([0]), collar: None, finding }];
        let placed = Regions { body: moved, ..regions.clone() };
        let found = collar(&placed, 1.5, String::new(), &Cx::detached()).unwrap();
        let joint = found.regions[0].collar.as_ref().unwrap().joint;
        assert_eq!(JOINTS[usize::from(joint)].0, expected, "at {shift} times");
    }
}

#[test]
fn an_unknown_pelvis_name_is_told() {
    let regions = flood(
        &{
            let mut made = Made::biped();
            made.tube(&tail, &|_| 0.05);
            made
        }
        .character(),
        Mode::Sweep,
    )
    .regions;
    let error = collar(&regions, 1.5, "Hüfte".into(), &Cx::detached()).unwrap_err();
    assert!(error.to_string().contains("Hüfte"));
}
