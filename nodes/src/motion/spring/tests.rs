use std::f64::consts::TAU;

use glam::{DQuat, DVec3, Vec3};

use super::*;
use crate::data::{Channel, Clip, Collider, Target};
use crate::motion::test_support::{HIPS, bound, clip, keyed, scaled, sway, tailed, with};
use crate::pose::Rig;

fn moved(character: &Character, chains: &Chains, settings: &Settings) -> Motion {
    let sprung =
        simulate(character, chains, &character.clips, &Colliders::default(), settings, &Cx::detached()).unwrap();
    sprung.motion
}

fn refused(character: &Character, chains: &Chains, settings: &Settings) -> String {
    let none = Colliders::default();
    simulate(character, chains, &character.clips, &none, settings, &Cx::detached()).unwrap_err().to_string()
}

/// The track of the one chain in the one clip.
fn track(motion: &Motion) -> &crate::data::Track {
    &motion.takes[0].tracks[0]
}

#[test]
fn the_bones_of_the_rig_end_where_the_particles_are() {
    for bones in [1, 3, 8] {
        let (character, chains) = tailed(bones);
        let character = with(&character, sway(&character, 0.25, 0.5, 4.0 / 3.0));
        let motion = moved(&character, &chains, &Settings::default());
        let (take, rig) = (&motion.takes[0], Rig::new(&character.skeleton).unwrap());
        assert_eq!(take.samples(), 321);
        for sample in (0..take.samples()).step_by(40) {
            let time = take.duration * sample as f64 / 320.0;
            let mut pose = rig.sample(&character.clips.clips[0], time as f32).unwrap();
            let links = motion.chains[0].nodes.len();
            for (link, &node) in motion.chains[0].nodes.iter().enumerate() {
                pose.locals[node as usize].rotation = track(&motion).rotations[sample * links + link];
            }
            let globals = rig.joint_globals(&pose);
            for (k, point) in track(&motion).line(sample).enumerate() {
                let joint = globals[character.skeleton.joints.len() - links - 1 + k].translation;
                assert!(joint.distance(point) < 2e-6, "{bones} bones, joint {k} of sample {sample}: {joint}, {point}");
            }
        }
    }
}

#[test]
fn preview_and_bake_give_the_same_bits() {
    let (character, chains) = tailed(4);
    let character = with(&character, sway(&character, 0.25, 0.7, 4.0 / 3.0));
    let settings = Settings::default();
    let motion = moved(&character, &chains, &settings);
    let scene = Scene::new(&character, &chains, &Colliders::default()).unwrap();
    let mut live = Playback::new(&scene, &character.clips.clips[0], &settings).unwrap();
    // As a viewer would: some steps per frame, looking at the chain now and then, for as many rounds as were played.
    for step in 0..motion.takes[0].passes as usize * live.steps() {
        if step % 7 == 0 {
            let state = live.state();
            live.step().unwrap();
            live.restore(&state);
        }
        live.step().unwrap();
    }
    for sample in 1..=live.steps() {
        live.step().unwrap();
        assert_eq!(live.at(), sample);
        assert!(live.line(0).eq(track(&motion).line(sample)), "sample {sample}");
    }
}

#[test]
fn a_loop_closes_within_a_tenth_of_a_percent_also_where_the_walk_goes_somewhere() {
    for bones in 3..=8 {
        let (character, chains) = tailed(bones);
        for (ahead, damping) in [(0.0, 0.65), (1.4, 0.65), (0.0, 0.45)] {
            let character = with(&character, sway(&character, 0.25, ahead, 4.0 / 3.0));
            let motion = moved(&character, &chains, &Settings { damping, ..Settings::default() });
            let take = &motion.takes[0];
            assert!(take.looped && take.passes > 1 && take.passes < 32, "{bones}: {} rounds", take.passes);
            assert!(take.gap <= 0.001 * 0.8, "{bones} bones, damping {damping}: {}", take.gap);
            // The tail is really moved.
            let local = |sample| {
                let tip = track(&motion).line(sample).last().unwrap() - track(&motion).roots[sample];
                track(&motion).turn(sample).conjugate() * tip
            };
            let travel = (0..take.samples()).map(|k| local(k).distance(local(0))).fold(0.0, f64::max);
            assert!(travel > 0.03 * 0.8, "{bones}: {travel}");
        }
    }
}

#[test]
fn a_loop_that_cannot_close_says_so() {
    let (character, chains) = tailed(4);
    let character = with(&character, sway(&character, 0.25, 0.0, 4.0 / 3.0));
    let (cx, settings) = (Cx::detached(), Settings { warm_up: 1, damping: 0.05, ..Settings::default() });
    let made = simulate(&character, &chains, &character.clips, &Colliders::default(), &settings, &cx).unwrap();
    assert_eq!(made.motion.takes[0].passes, 1);
    assert!(made.motion.takes[0].gap > 0.001 * 0.8);
    let warning = &cx.warnings()[0].what;
    assert!(warning.contains("\"Sway\" does not close: after 1 rounds"), "{warning}");
}

#[test]
fn a_clip_that_ends_elsewhere_starts_from_rest() {
    let (character, chains) = tailed(4);
    let fall = |time: f64| DQuat::from_rotation_x(time).to_array();
    let character = with(&character, clip("Fall", 1.0, vec![keyed(HIPS, Target::Rotation, 1.0, fall)]));
    let motion = moved(&character, &chains, &Settings::default());
    let take = &motion.takes[0];
    assert_eq!((take.looped, take.passes, take.gap), (false, 0, 0.0));
    // At rest at first: what one step changes is the start of the fall alone.
    let tips: Vec<DVec3> = (0..2).map(|k| track(&motion).line(k).last().unwrap()).collect();
    assert!(tips[0].distance(tips[1]) < 1e-3, "{tips:?}");
    let always = moved(&character, &chains, &Settings { looping: Looping::Always, ..Settings::default() });
    assert!(always.takes[0].looped);
}

#[test]
fn the_units_of_a_file_change_nothing() {
    let (character, chains) = tailed(4);
    let character = with(&character, sway(&character, 0.25, 0.5, 4.0 / 3.0));
    let motion = moved(&character, &chains, &Settings::default());
    for times in [0.01, 100.0] {
        let (other, others) = scaled(&character, &chains, times);
        let scaled = moved(&other, &others, &Settings::default());
        assert_eq!(scaled.takes[0].passes, motion.takes[0].passes);
        for (a, b) in track(&motion).rotations.iter().zip(track(&scaled).rotations.iter()) {
            let (a, b) = (DQuat::from_array(a.map(f64::from)), DQuat::from_array(b.map(f64::from)));
            assert!(a.normalize().dot(b.normalize()).abs() > 1.0 - 1e-9, "x{times}: {a} and {b}");
        }
    }
}

#[test]
fn two_bakes_with_the_live_pose_disturbed_between_them_are_identical() {
    let (character, chains) = tailed(5);
    let mut character = with(&character, sway(&character, 0.25, 0.0, 4.0 / 3.0));
    let first = moved(&character, &chains, &Settings::default());
    // The pose in the file is another: the hips, which the clip moves, and the shin, which carries no tail.
    let mut locals = character.skeleton.node_locals.to_vec();
    locals[HIPS as usize].translation += Vec3::new(3.0, -1.0, 2.0);
    locals[3].rotation = glam::Quat::from_rotation_x(1.0).to_array();
    character.skeleton.node_locals = locals.into();
    assert_eq!(moved(&character, &chains, &Settings::default()), first);
}

#[test]
fn no_point_goes_below_the_ground_and_no_bone_changes_its_length() {
    // Crouches until the tail lies on the ground, and rises again.
    let (character, chains) = tailed(6);
    let rest = character.skeleton.node_locals[HIPS as usize].translation.as_dvec3();
    let crouch = |time: f64| (rest - DVec3::Y * 0.9 * (0.5 - 0.5 * (TAU * time / 4.0).cos())).to_array();
    let character = with(&character, clip("Crouch", 4.0, vec![keyed(HIPS, Target::Translation, 4.0, crouch)]));
    for (ground, level) in [(Ground::Height(0.0), 0.0), (Ground::Height(0.3), 0.3), (Ground::Off, f64::MIN)] {
        let settings = Settings { ground, keep_behind: false, ..Settings::default() };
        let motion = moved(&character, &chains, &settings);
        let mut lowest = f64::MAX;
        for sample in 0..motion.takes[0].samples() {
            let line: Vec<DVec3> = track(&motion).line(sample).collect();
            for (pair, length) in line.windows(2).zip(motion.chains[0].lengths.iter()) {
                assert!((pair[0].distance(pair[1]) / length - 1.0).abs() < 1e-6);
                // Where a head hangs so low that its link cannot reach up, it points straight up.
                let reach = pair[0].y + length;
                assert!(pair[1].y >= reach.min(level + 0.025) - 1e-6, "{ground:?}, sample {sample}: {}", pair[1]);
                lowest = lowest.min(pair[1].y);
            }
        }
        assert!(lowest < level.max(0.0) + 0.03, "{ground:?}: nothing came near the ground: {lowest}");
    }
}

#[test]
fn a_chain_stays_out_of_a_leg_that_swings_through_it() {
    let (character, chains) = tailed(5);
    let side = |time: f64| {
        let rest = character.skeleton.node_locals[HIPS as usize].rotation.map(f64::from);
        (DQuat::from_rotation_y(0.9 * (TAU * time / 1.5).sin()) * DQuat::from_array(rest)).to_array()
    };
    let character = with(&character, clip("Turn", 1.5, vec![keyed(HIPS, Target::Rotation, 1.5, side)]));
    // A post beside the tail that stands still: the root does not turn.
    let post = Collider {
        name: "post".into(),
        joint: 0,
        ends: [Vec3::new(0.25, -1.0, -0.6), Vec3::new(0.25, 3.0, -0.6)],
        radius: 0.1,
    };
    let settings = Settings { keep_behind: false, ground: Ground::Off, ..Settings::default() };
    let nearest = |colliders: &Colliders| {
        let cx = Cx::detached();
        let motion = simulate(&character, &chains, &character.clips, colliders, &settings, &cx).unwrap().motion;
        let points = track(&motion).points.iter().map(|p| DVec3::new(p.x - 0.25, 0.0, p.z + 0.6).length());
        points.fold(f64::MAX, f64::min)
    };
    let post = |radius| Colliders { colliders: vec![Collider { radius, ..post.clone() }] };
    assert!(nearest(&Colliders::default()) < 0.09, "the tail comes near: {}", nearest(&Colliders::default()));
    // Contacts are refined twice: within a thousandth of the radius.
    assert!(nearest(&post(0.1)) > 0.1 - 1e-4, "{}", nearest(&post(0.1)));
}

#[test]
fn clips_of_one_key_and_of_more_than_an_hour_are_played() {
    let (character, chains) = tailed(3);
    let one = |time: f32| Clip {
        name: "Pose".into(),
        duration: time,
        channels: vec![Channel { times: [time].into(), values: [0.0, 1.5, 0.0].into(), ..pose(&character) }],
    };
    for time in [0.0, 0.5] {
        let motion = moved(&with(&character, one(time)), &chains, &Settings::default());
        let take = &motion.takes[0];
        assert_eq!(take.samples(), if time > 0.0 { 121 } else { 1 });
        let ends: Vec<DVec3> = [0, take.samples() - 1].map(|k| track(&motion).line(k).last().unwrap()).to_vec();
        assert!(ends[0].distance(ends[1]) < 1e-3 && ends[0].is_finite(), "{ends:?}");
    }
    let hour = with(&character, Clip { duration: 3_700.0, ..one(0.0) });
    let slow = Settings { rate: 60.0, ..Settings::default() };
    let motion = moved(&hour, &chains, &slow);
    assert_eq!(motion.takes[0].samples(), 222_001);
    let days = with(&character, Clip { duration: 120_000.0, ..one(0.0) });
    let error = refused(&days, &chains, &Settings::default());
    assert!(error.contains("lasts 120000 s") && error.contains("lower the rate to 93"), "{error}");
}

fn pose(character: &Character) -> Channel {
    let rest = character.skeleton.node_locals[HIPS as usize].translation.as_dvec3();
    keyed(HIPS, Target::Translation, 1.0, |_| rest.to_array())
}

#[test]
fn what_cannot_be_simulated_is_told_by_name() {
    let (character, chains) = tailed(3);
    let broken = |value: f32, target| {
        let mut channel = pose(&character);
        channel.target = target;
        channel.values = channel.values.iter().map(|_| value).collect();
        refused(&with(&character, clip("Bad", 1.0, vec![channel])), &chains, &Settings::default())
    };
    let error = broken(f32::NAN, Target::Translation);
    assert!(error.contains("clip \"Bad\"") && error.contains("a value is NaN"), "{error}");
    let error = broken(0.0, Target::Scale);
    assert!(error.contains("clip \"Bad\" at 0.000 s moves joint \"Hips\""), "{error}");
    let endless = with(&character, Clip { duration: f32::INFINITY, ..clip("Bad", 1.0, vec![pose(&character)]) });
    assert!(refused(&endless, &chains, &Settings::default()).contains("clip \"Bad\" lasts inf s"));
    // The bones of the chains are not there yet.
    let bare = crate::rig::test_support::character(&chains.body);
    let error = refused(&with(&bound(bare), clip("Ok", 1.0, vec![pose(&character)])), &chains, &Settings::default());
    assert!(error.contains("\"made\" does not have the bones of the chains yet"), "{error}");
    let leg = Collider { name: "leg".into(), joint: 99, ends: [Vec3::ZERO; 2], radius: 0.1 };
    let colliders = Colliders { colliders: vec![leg] };
    let all = (&character, &chains, &character.clips);
    let error =
        simulate(all.0, all.1, all.2, &colliders, &Settings::default(), &Cx::detached()).unwrap_err().to_string();
    assert!(error.contains("collider \"leg\" is on joint 99"), "{error}");
}
