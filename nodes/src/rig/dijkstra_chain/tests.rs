use std::f32::consts::FRAC_PI_2;

use glam::Vec3;

use super::*;
use crate::data::{Body, Cells};
use crate::rig::test_support::{HIPS, Shape, body, region, regions, straight_tail};

fn chain(regions: &Regions) -> ChainsOut {
    dijkstra_chain(regions, 0.1, 3, 8, &Cx::detached()).unwrap()
}

fn at(body: &Body, vertex: u32) -> Vec3 {
    body.mesh.positions[body.weld.first[vertex as usize] as usize]
}

#[test]
fn a_straight_tail_has_its_length_and_its_joints_on_its_axis() {
    let regions = straight_tail();
    let out = chain(&regions);
    let [tail] = &out.chains.chains[..] else { panic!("one tail, one chain") };
    assert_eq!((&*tail.name, tail.parent, tail.region), ("Tail", HIPS, 0));
    // 16 rings of 12 vertices: the 99th percentile lies in the last ring.
    assert!((tail.length - 0.8).abs() < 1e-5, "{}", tail.length);
    assert_eq!(tail.bones(), 4, "0.8 over a tenth of a height of 2");
    // Centroids at 0.2, 0.4, 0.6 and, where half a band is left, 0.75; then the two smoothing passes by hand.
    for (joint, z) in tail.joints.iter().zip([0.0, 0.2, 0.396_875, 0.581_25, 0.75]) {
        assert!(joint.distance(Vec3::new(0.0, 1.0, -z)) < 1e-4, "{joint} instead of {z}");
    }
    for (&vertex, &g) in tail.vertices.iter().zip(tail.geodesic.iter()) {
        assert!((g + at(&regions.body, vertex).z).abs() < 1e-5);
    }
}

#[test]
fn the_field_holds_the_distance_of_every_stored_copy() {
    let regions = straight_tail();
    let field = chain(&regions).geodesic;
    assert_eq!(field.values.len(), regions.body.mesh.positions.len());
    for (p, &g) in regions.body.mesh.positions.iter().zip(field.values.iter()) {
        let expected = if p.z < -0.025 { -p.z } else { 0.0 };
        assert!((g - expected).abs() < 1e-5, "{p} {g}");
    }
}

#[test]
fn the_count_of_bones_follows_the_knobs() {
    let regions = straight_tail();
    let bones = |segment, least, most| {
        dijkstra_chain(&regions, segment, least, most, &Cx::detached()).unwrap().chains.chains[0].bones()
    };
    assert_eq!([bones(0.1, 3, 8), bones(0.4, 3, 8), bones(0.01, 3, 8), bones(0.01, 3, 12)], [4, 3, 8, 12]);
    let error = dijkstra_chain(&regions, 0.1, 5, 4, &Cx::detached()).unwrap_err();
    assert_eq!(error.at, Some("most".into()));
}

#[test]
fn units_change_no_decision() {
    for unit in [0.01, 100.0] {
        let scaled = |regions: &Regions| {
            let mut regions = regions.clone();
            regions.body.mesh.positions = regions.body.mesh.positions.iter().map(|&p| p * unit).collect();
            regions.stance.height *= unit;
            for collar in regions.regions.iter_mut().filter_map(|region| region.collar.as_mut()) {
                collar.centre *= unit;
            }
            regions
        };
        for regions in [straight_tail(), two_shells()] {
            let (one, other) = (chain(&regions), chain(&scaled(&regions)));
            let (one, other) = (&one.chains.chains[0], &other.chains.chains[0]);
            assert_eq!(one.bones(), other.bones());
            for (a, b) in one.joints.iter().zip(other.joints.iter()) {
                assert!((*a * unit).distance(*b) < 1e-5 * unit);
            }
        }
    }
}

/// Skin with a collar, and a shell of fur around it, wider and with other rings.
fn two_shells() -> Regions {
    let root = Vec3::new(0.0, 1.0, 0.0);
    let body = body(&[
        Shape::straight(root + Vec3::Z * 0.1, root - Vec3::Z * 0.8, 0.06, 18, 12),
        Shape::straight(root - Vec3::Z * 0.07, root - Vec3::Z * 0.83, 0.1, 23, 17),
    ]);
    let tail = region(&body, 0, |p| p.z < -0.025, |_| false);
    regions(body, 2.0, vec![tail])
}

#[test]
fn fur_over_skin_is_one_chain_with_one_distance() {
    let regions = two_shells();
    let out = chain(&regions);
    let [tail] = &out.chains.chains[..] else { panic!("one tail, one chain") };
    assert_eq!(tail.bones(), 4);
    assert!((tail.length - 0.83).abs() < 0.01, "{}", tail.length);
    for (&vertex, &g) in tail.vertices.iter().zip(tail.geodesic.iter()) {
        let p = at(&regions.body, vertex);
        assert!((g + p.z).abs() < 0.01, "{p}: {g}");
    }
    let bridged = &out.reasons.column("bridged vertices").unwrap().cells;
    assert_eq!(bridged, &Cells::Integer([24 * 17].into()));
}

#[test]
fn a_tail_in_pieces_is_measured_along_all_of_them() {
    // A quarter circle of radius 0.5, whole and in five pieces with gaps: 0.785 long along its middle.
    let path = |t: f32| {
        let (sin, cos) = (t * FRAC_PI_2).sin_cos();
        Vec3::new(0.0, 1.0 + 0.5 * (1.0 - cos), -0.5 * sin)
    };
    let chain_of = |shapes: &[Shape]| {
        let body = body(shapes);
        let tail = region(&body, 0, |_| true, |p| p.z > -1e-4);
        chain(&regions(body, 2.0, vec![tail]))
    };
    let whole = chain_of(&[Shape::tube(path, 0.04, 30, 10)]);
    let piece = |k: i32| Shape::tube(move |t| path((k as f32 + 0.9 * t) / 5.0), 0.04, 6, 10);
    let pieces = chain_of(&(0..5).map(piece).collect::<Vec<_>>());
    assert_eq!(pieces.reasons.column("bridged shells").unwrap().cells, Cells::Integer([4].into()));
    let (whole, pieces) = (&whole.chains.chains[0], &pieces.chains.chains[0]);
    assert!((whole.length / 0.785 - 1.0).abs() < 0.05, "{}", whole.length);
    assert!((pieces.length / (0.785 * 0.98) - 1.0).abs() < 0.05, "{}", pieces.length);
    for (k, (a, b)) in whole.joints.iter().zip(pieces.joints.iter()).enumerate() {
        assert!(a.distance(*b) < 0.02, "joint {k} at {b} instead of {a}");
    }
}

#[test]
fn loose_specks_change_neither_count_nor_joints() {
    let clean = straight_tail();
    let speck =
        |at: Vec3| Shape { positions: vec![at, at + Vec3::X * 1e-3, at + Vec3::Y * 1e-3], triangles: vec![[0, 1, 2]] };
    let root = Vec3::new(0.0, 1.0, 0.0);
    let body = body(&[
        Shape::straight(root + Vec3::Z * 0.1, root - Vec3::Z * 0.8, 0.06, 18, 12),
        speck(root + Vec3::new(0.1, 0.0, -0.4)),
        speck(root + Vec3::new(0.0, 0.09, -0.7)),
    ]);
    let tail = region(&body, 0, |p| p.z < -0.025, |_| false);
    let dirty = chain(&regions(body, 2.0, vec![tail]));
    let clean = chain(&clean);
    let (clean, dirty) = (&clean.chains.chains[0], &dirty.chains.chains[0]);
    assert_eq!(clean.length, dirty.length);
    for (a, b) in clean.joints.iter().zip(dirty.joints.iter()) {
        assert!(a.distance(*b) < 1e-3);
    }
    for (&vertex, &g) in dirty.vertices.iter().zip(dirty.geodesic.iter()) {
        assert!(g.is_finite(), "vertex {vertex}");
    }
}

#[test]
fn uneven_meshes_do_not_move_joints() {
    // The same tube with three of twelve columns cut eight times finer: the mean of vertices would drift to that side.
    let root = Vec3::new(0.0, 1.0, 0.0);
    let mut shape = Shape::straight(root + Vec3::Z * 0.1, root - Vec3::Z * 0.8, 0.06, 18, 12);
    for _ in 0..3 {
        let corner = |v: u32| shape.positions[v as usize];
        let side =
            |t: &[u32; 3]| t.iter().map(|&v| corner(v).x).sum::<f32>() > 0.12 && t.iter().all(|&v| corner(v).z < -0.03);
        let (fine, mut rest): (Vec<[u32; 3]>, Vec<[u32; 3]>) = shape.triangles.iter().partition(|t| side(t));
        for [a, b, c] in fine {
            let middle = shape.positions.len() as u32;
            shape.positions.push([a, b, c].iter().map(|&v| shape.positions[v as usize]).sum::<Vec3>() / 3.0);
            rest.extend([[a, b, middle], [b, c, middle], [c, a, middle]]);
        }
        shape.triangles = rest;
    }
    let body = body(&[shape]);
    let tail = region(&body, 0, |p| p.z < -0.025, |_| false);
    let out = chain(&regions(body, 2.0, vec![tail]));
    for joint in out.chains.chains[0].joints.iter().take(4) {
        assert!(joint.x.abs() < 1e-4, "{joint}");
    }
}

#[test]
fn only_regions_that_want_one_get_a_chain() {
    let mut regions = straight_tail();
    for treatment in [Treatment::Unchanged, Treatment::Rigid] {
        regions.regions[0].finding.treatment = treatment;
        let out = chain(&regions);
        assert_eq!((out.chains.chains.len(), out.reasons.rows()), (0, 0));
        assert!(out.geodesic.values.iter().all(|&g| g == 0.0));
    }
}

#[test]
fn taken_names_are_left_alone() {
    let mut regions = straight_tail();
    let second = Region { number: 1, ..regions.regions[0].clone() };
    regions.regions.push(second);
    let mut names = regions.body.skeleton.node_names.to_vec();
    names.push("tail_3".into());
    regions.body.skeleton.node_names = names.into();
    let cx = Cx::detached();
    let out = dijkstra_chain(&regions, 0.1, 3, 8, &cx).unwrap();
    let names: Vec<&str> = out.chains.chains.iter().map(|chain| &*chain.name).collect();
    assert_eq!(names, ["Tail2", "Tail3"]);
    assert_eq!(cx.warnings().len(), 2);
    assert_eq!(
        out.chains.chains[0].joint_names().collect::<Vec<_>>(),
        ["Tail2_1", "Tail2_2", "Tail2_3", "Tail2_4", "Tail2_End"]
    );
}

#[test]
fn a_region_without_extent_gets_no_chain_and_a_reason() {
    let mut regions = straight_tail();
    let collar = regions.regions[0].collar.as_ref().unwrap().ring.clone();
    regions.regions[0].vertices = collar;
    let out = chain(&regions);
    assert_eq!((out.chains.chains.len(), out.reasons.rows()), (0, 1));
    assert!(out.reasons.column("reason").unwrap().cells.show(0).starts_with("no chain: its 12 vertices"));
}

#[test]
fn a_region_without_a_collar_is_an_error_that_names_it() {
    let mut regions = straight_tail();
    regions.regions[0].collar = None;
    let error = dijkstra_chain(&regions, 0.1, 3, 8, &Cx::detached()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "regions: region 0 (Tail) has no collar to measure from; pass the regions through the collar node"
    );
}

#[test]
fn a_cancelled_run_ends_without_a_result() {
    let cx = Cx::detached();
    cx.cancel();
    assert!(dijkstra_chain(&straight_tail(), 0.1, 3, 8, &cx).unwrap_err().is_cancelled());
}
