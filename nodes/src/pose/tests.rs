use std::f32::consts::FRAC_1_SQRT_2;
use std::sync::Arc;

use glam::{Quat, Vec3};

use super::*;
use crate::data::{Channel, Clips, Interpolation, Joint, Mesh, Skin, Target};

fn at(x: f32, y: f32, z: f32) -> Transform {
    Transform { translation: Vec3::new(x, y, z), ..Transform::IDENTITY }
}

fn joint(name: &str, parent: Option<u16>, node: Option<u32>) -> Joint {
    Joint { name: name.into(), parent, node, has_bind: true }
}

fn bind(x: f32, y: f32, z: f32) -> [f32; 16] {
    Mat4::from_translation(Vec3::new(x, y, z)).to_cols_array()
}

/// An arm along X: shoulder at 0, elbow at 1, and an added hand at 2. The elbow is stored bent, which nothing may see.
fn arm() -> Skeleton {
    let stored = Transform { rotation: Quat::from_rotation_y(0.5).to_array(), ..at(1.0, 0.0, 0.0) };
    Skeleton {
        joints: Arc::from([
            joint("shoulder", None, Some(0)),
            joint("elbow", Some(0), Some(1)),
            joint("hand", Some(1), None),
        ]),
        binds: Arc::from([bind(0.0, 0.0, 0.0), bind(1.0, 0.0, 0.0), bind(2.0, 0.0, 0.0)]),
        node_parents: Arc::from([-1, 0]),
        node_names: Arc::from(["shoulder".into(), "elbow".into()]),
        node_locals: Arc::from([Transform::IDENTITY, stored]),
        to_world: Mat4::IDENTITY.to_cols_array(),
    }
}

fn channel(node: u32, target: Target, interpolation: Interpolation, times: &[f32], values: &[f32]) -> Channel {
    Channel { node, target, interpolation, times: times.into(), values: values.into() }
}

fn clip(channels: Vec<Channel>) -> Clip {
    Clip { name: "Bend".into(), duration: 1.0, channels }
}

/// Bends the elbow from 0 to 90 degrees about Z within a second.
fn bend() -> Clip {
    let values = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, FRAC_1_SQRT_2, FRAC_1_SQRT_2];
    clip(vec![channel(1, Target::Rotation, Interpolation::Linear, &[0.0, 1.0], &values)])
}

fn points(positions: &[Vec3]) -> Mesh {
    Mesh {
        positions: positions.into(),
        normals: positions.iter().map(|_| Vec3::Y).collect(),
        colours: positions.iter().map(|_| [255; 4]).collect(),
        triangles: Arc::from([]),
        parts: Arc::from([]),
    }
}

fn near(a: Vec3, b: Vec3) {
    assert!(a.distance(b) < 1e-6, "{a} is not {b}");
}

#[test]
fn an_elbow_bent_by_90_degrees_puts_the_hand_above_it() {
    let rig = Rig::new(&arm()).unwrap();
    let mesh = points(&[Vec3::new(0.5, 0.0, 0.0), Vec3::new(2.0, 0.0, 0.0), Vec3::new(1.0, 0.25, 0.0), Vec3::Z]);
    let skin = Skin {
        width: 2,
        joints: Arc::from([0u16, 0, 2, 0, 0, 1, 0, 0]),
        weights: Arc::from([1.0f32, 0.0, 1.0, 0.0, 0.5, 0.5, 0.0, 0.0]),
    };
    let mut out = Vec::new();
    skin_positions(&mesh, &skin, &rig.matrices(&rig.sample(&bend(), 1.0).unwrap()), &mut out).unwrap();
    near(out[0], Vec3::new(0.5, 0.0, 0.0));
    near(out[1], Vec3::new(1.0, 1.0, 0.0));
    // Halfway between (1, 0.25) unmoved and (0.75, 0) turned.
    near(out[2], Vec3::new(0.875, 0.125, 0.0));
    // Without weights it stays.
    near(out[3], Vec3::Z);
    skin_positions(&mesh, &skin, &rig.matrices(&rig.sample(&bend(), 1.0 / 3.0).unwrap()), &mut out).unwrap();
    near(out[1], Vec3::new(1.0 + 30f32.to_radians().cos(), 0.5, 0.0));
}

#[test]
fn a_channel_beyond_the_file_nodes_moves_an_added_joint() {
    let rig = Rig::new(&arm()).unwrap();
    let turned = [0.0, 0.0, FRAC_1_SQRT_2, FRAC_1_SQRT_2];
    let mut clip = bend();
    clip.channels.push(channel(2, Target::Rotation, Interpolation::Linear, &[0.0], &turned));
    let globals = rig.joint_globals(&rig.sample(&clip, 1.0).unwrap());
    near(globals[2].transform_point3(DVec3::X).as_vec3(), Vec3::new(0.0, 1.0, 0.0));
    assert_eq!((rig.nodes(), rig.joints(), rig.joint_node(2), rig.parent(2)), (3, 3, 2, Some(1)));
}

#[test]
fn channels_are_constant_beyond_their_keys_and_rest_without_any() {
    let rig = Rig::new(&arm()).unwrap();
    let times = [1.0, 2.0];
    let step = channel(0, Target::Translation, Interpolation::Step, &times, &[1.0, 0.0, 0.0, 2.0, 0.0, 0.0]);
    let linear = channel(0, Target::Scale, Interpolation::Linear, &times, &[1.0, 1.0, 1.0, 3.0, 5.0, 1.0]);
    let empty = channel(1, Target::Rotation, Interpolation::Linear, &[], &[]);
    let clip = clip(vec![step, linear, empty]);
    for (time, x, scale) in
        [(-1.0, 1.0, 1.0), (1.0, 1.0, 1.0), (1.5, 1.0, 2.0), (1.99, 1.0, 2.98), (2.0, 2.0, 3.0), (9.0, 2.0, 3.0)]
    {
        let pose = rig.sample(&clip, time).unwrap();
        assert_eq!(pose.locals[0].translation.x, x, "{time}");
        assert!((pose.locals[0].scale.x - scale).abs() < 1e-5, "{time}");
        assert_eq!(pose.locals[1..], rig.rest().locals[1..]);
    }
}

#[test]
fn cubic_channels_are_hermite_curves_with_tangents_per_second() {
    // In-tangent, value, out-tangent per key; the middle of a Hermite span of width w is
    // (a + b) / 2 + w (out_a - in_b) / 8.
    let values = [9.0, 9.0, 9.0, 1.0, 0.0, 0.0, 4.0, 0.0, 8.0, 2.0, 0.0, 0.0, 3.0, 2.0, 0.0, 9.0, 9.0, 9.0];
    let cubic = channel(0, Target::Translation, Interpolation::Cubic, &[1.0, 3.0], &values);
    let mut out = [0.0; 3];
    assert_eq!(sample_channel(&cubic, 2.0, &mut out), Ok(true));
    assert_eq!(out, [2.0 + 2.0 * (4.0 - 2.0) / 8.0, 1.0, 2.0]);
    for (time, value) in [(0.0, [1.0, 0.0, 0.0]), (1.0, [1.0, 0.0, 0.0]), (3.0, [3.0, 2.0, 0.0])] {
        assert_eq!(sample_channel(&cubic, time, &mut out), Ok(true));
        assert_eq!(out, value, "{time}");
    }
    // Without tangents the middle of two quaternions 90 degrees apart is their normalised mean: 45 degrees.
    let (zero, tangent) = ([0.0, 0.0, 0.0, 1.0], [0.0; 4]);
    let turned = [0.0, 0.0, FRAC_1_SQRT_2, FRAC_1_SQRT_2];
    let values = [tangent, zero, tangent, tangent, turned, tangent].concat();
    let cubic = channel(0, Target::Rotation, Interpolation::Cubic, &[0.0, 1.0], &values);
    let mut out = [0.0; 4];
    assert_eq!(sample_channel(&cubic, 0.5, &mut out), Ok(true));
    let expected = Quat::from_rotation_z(45f32.to_radians());
    assert!(
        Quat::from_array(out).angle_between(expected) < 1e-3 && (Quat::from_array(out).length() - 1.0).abs() < 1e-6
    );
}

#[test]
fn rotations_take_the_shortest_way_at_a_constant_rate() {
    let (a, b) = (Quat::from_rotation_x(0.2), Quat::from_rotation_x(2.2));
    for sign in [1.0, -1.0] {
        let values = [a.to_array(), (b * sign).to_array()].concat();
        let linear = channel(0, Target::Rotation, Interpolation::Linear, &[0.0, 2.0], &values);
        for step in 0..=8 {
            let mut out = [0.0; 4];
            let time = step as f32 / 4.0;
            assert_eq!(sample_channel(&linear, time.into(), &mut out), Ok(true));
            let expected = Quat::from_rotation_x(0.2 + time);
            assert!(Quat::from_array(out).dot(expected).abs() > 1.0 - 1e-6, "{time}");
            assert!(((out[0] / out[3]).atan() * 2.0 - (0.2 + time)).abs() < 1e-6, "{time}: {out:?}");
        }
    }
}

#[test]
fn malformed_channels_are_refused_by_name() {
    let rig = Rig::new(&arm()).unwrap();
    let refuse = |channel: Channel| rig.sample(&clip(vec![channel]), 0.5).unwrap_err().to_string();
    let short = channel(0, Target::Translation, Interpolation::Linear, &[0.0, 1.0], &[0.0; 5]);
    assert!(refuse(short).contains("\"Bend\", Translation of node 0: 2 keys need 6 values but there are 5"));
    let nowhere = channel(7, Target::Scale, Interpolation::Linear, &[0.0], &[1.0; 3]);
    assert!(refuse(nowhere).contains("node 7: there are 3 nodes"));
    let zero = channel(0, Target::Rotation, Interpolation::Step, &[0.0], &[0.0; 4]);
    assert!(refuse(zero).contains("is not a rotation"));
    let nan = channel(0, Target::Scale, Interpolation::Linear, &[0.0], &[f32::NAN; 3]);
    assert!(refuse(nan).contains("a value is NaN"));
}

#[test]
fn broken_skeletons_are_refused_by_name() {
    let cycle = Skeleton { node_parents: Arc::from([1, 0]), ..arm() };
    assert!(Rig::new(&cycle).unwrap_err().to_string().contains("cycle"));
    let flat = Skeleton { binds: Arc::from([bind(0.0, 0.0, 0.0), [0.0; 16], bind(2.0, 0.0, 0.0)]), ..arm() };
    assert!(Rig::new(&flat).unwrap_err().to_string().contains("joint 1 (\"elbow\") cannot be inverted"));
    let beyond = Skeleton { node_parents: Arc::from([-1, 5]), ..arm() };
    assert!(Rig::new(&beyond).unwrap_err().to_string().contains("node 5 of 2"));
}

#[test]
fn skins_of_any_width_and_threads_of_any_number_give_the_same_positions() {
    let rig = Rig::new(&arm()).unwrap();
    let matrices = rig.matrices(&rig.sample(&bend(), 0.7).unwrap());
    let count = 3 * 8192 + 17;
    let mesh = points(&(0..count).map(|k| Vec3::new(k as f32 * 1e-4, (k % 7) as f32, 0.3)).collect::<Vec<_>>());
    let skin = |width: usize| {
        let (mut joints, mut weights) = (Vec::new(), Vec::new());
        for k in 0..count {
            let last = 0.25 * (k % 3) as f32 / 2.0;
            let mut row = vec![(0u16, 0.0f32); width];
            row[..3].copy_from_slice(&[(1, 0.5), (0, 0.5 - last), (2, last)]);
            joints.extend(row.iter().map(|r| r.0));
            weights.extend(row.iter().map(|r| r.1));
        }
        Skin { width, joints: joints.into(), weights: weights.into() }
    };
    let run = |width, threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut out = Vec::new();
        pool.install(|| skin_positions(&mesh, &skin(width), &matrices, &mut out)).unwrap();
        out
    };
    let first = run(4, 1);
    for (width, threads) in [(4, 2), (4, 5), (3, 2), (5, 1), (8, 3)] {
        assert_eq!(run(width, threads), first, "width {width}, {threads} threads");
    }
}

#[test]
fn a_skin_that_does_not_fit_is_refused() {
    let rig = Rig::new(&arm()).unwrap();
    let matrices = rig.matrices(rig.rest());
    let skin = Skin { width: 1, joints: Arc::from([3u16]), weights: Arc::from([1.0f32]) };
    let mut out = Vec::new();
    let error = skin_positions(&points(&[Vec3::X]), &skin, &matrices, &mut out).unwrap_err();
    assert!(error.to_string().contains("joint 3 of 3"));
    let error = skin_positions(&points(&[Vec3::X, Vec3::Y]), &skin, &matrices, &mut out).unwrap_err();
    assert!(error.to_string().contains("2 vertices"));
}

#[test]
fn clips_are_found_as_people_write_them() {
    let named = |name: &str| Clip { name: name.into(), duration: 1.0, channels: vec![] };
    let clips = Clips { clips: ["Armature|Run_Fast", "Walk_Slow", "Armature|Walk", "walk"].map(named).to_vec() };
    let find = |name| find_clip(&clips, name).map(|clip| clip.name.to_string());
    assert_eq!(find("walk").unwrap(), "walk");
    assert_eq!(find("WALK").unwrap(), "walk");
    assert_eq!(find("Walk Slow").unwrap(), "Walk_Slow");
    assert_eq!(find("run fast").unwrap(), "Armature|Run_Fast");
    assert_eq!(find("slow").unwrap(), "Walk_Slow");
    assert!(find("Swim").unwrap_err().to_string().contains("choose one of Armature|Run_Fast, Walk_Slow"));
}

#[test]
fn many_times_at_once_are_those_of_one_at_a_time() {
    let rig = Rig::new(&arm()).unwrap();
    let mesh = points(&[Vec3::new(0.5, 0.1, 0.0), Vec3::new(2.0, 0.0, 0.3), Vec3::new(1.0, 0.25, 0.0), Vec3::Z]);
    let skin = Skin {
        width: 3,
        joints: Arc::from([0u16, 0, 0, 2, 0, 1, 0, 1, 0, 0, 0, 0]),
        weights: Arc::from([1.0f32, 0.0, 0.0, 0.5, 0.0, 0.5, 0.75, 0.25, 0.0, 0.0, 0.0, 0.0]),
    };
    let times: Vec<f32> = (0..10).map(|k| k as f32 / 9.0).collect();
    let times: Vec<JointMatrices> =
        times.iter().map(|&time| rig.matrices(&rig.sample(&bend(), time).unwrap())).collect();
    let quads = QuadMatrices::new(&times);
    assert_eq!((quads.quads(), quads.joints()), (3, 3));
    let mut out = Vec::new();
    for (time, matrices) in times.iter().enumerate() {
        skin_positions(&mesh, &skin, matrices, &mut out).unwrap();
        for (vertex, &one) in out.iter().enumerate() {
            let row = vertex * 3..vertex * 3 + 3;
            let (joints, weights) = (&skin.joints[row.clone()], &skin.weights[row]);
            // The first quad on its own, or the two behind it.
            let span = if time < FOUR { 0..1 } else { 1..3 };
            let mut found = Vec::new();
            quads.place(mesh.positions[vertex], joints, weights, span.clone(), |quad, place| found.push((quad, place)));
            let (quad, [x, y, z]) = found[time / FOUR - span.start];
            assert_eq!(quad, time / FOUR - span.start);
            near(Vec3::new(x[time % FOUR], y[time % FOUR], z[time % FOUR]), one);
        }
    }
}

#[test]
fn joints_that_another_skeleton_moves_alike_are_known() {
    let times = |skeleton: &Skeleton| {
        let rig = Rig::new(skeleton).unwrap();
        QuadMatrices::new(&[0.0, 0.3].map(|time| rig.matrices(&rig.sample(&bend(), time).unwrap())))
    };
    let (whole, mut longer) = (times(&arm()), arm());
    longer.binds = Arc::from([bind(0.0, 0.0, 0.0), bind(1.0, 0.0, 0.0), bind(2.0, 0.5, 0.0)]);
    let longer = times(&longer);
    assert_eq!([0, 1, 2, 3].map(|joint| whole.moves_alike(&longer, joint)), [true, true, true, false]);
    let mut other = arm();
    other.node_locals = Arc::from([Transform { scale: Vec3::splat(2.0), ..Transform::IDENTITY }, Transform::IDENTITY]);
    other.to_world = bind(1.0, 0.0, 0.0);
    let other = times(&other);
    assert_eq!([0, 1].map(|joint| whole.moves_alike(&other, joint)), [false, false]);
}
