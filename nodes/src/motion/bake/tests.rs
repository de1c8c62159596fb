use super::*;
use crate::data::{Chains, Colliders};
use crate::motion::settings::Settings;
use crate::motion::spring::simulate;
use crate::motion::test_support::{clip, sway, tailed, with};

fn moved(character: &Character, chains: &Chains) -> Motion {
    let (none, cx) = (Colliders::default(), Cx::detached());
    simulate(character, chains, &character.clips, &none, &Settings::default(), &cx).unwrap().motion
}

fn swaying(bones: u32) -> (Character, Motion) {
    let (character, chains) = tailed(bones);
    let character = with(&character, sway(&character, 0.25, 0.0, 4.0 / 3.0));
    let motion = moved(&character, &chains);
    (character, motion)
}

fn baked(character: &Character, motion: &Motion, fps: f32, keep: bool) -> Character {
    bake(character, &[motion], None, fps, keep, &Cx::detached()).unwrap().character
}

#[test]
fn bakes_at_24_30_60_and_120_fps_agree_within_half_a_centimetre() {
    let (character, motion) = swaying(4);
    let rig = Rig::new(&character.skeleton).unwrap();
    let tips = |fps: f32| {
        let clip = &baked(&character, &motion, fps, false).clips.clips[0];
        let tip = |k: usize| {
            let pose = rig.sample(clip, clip.duration * k as f32 / 1000.0).unwrap();
            rig.joint_globals(&pose).last().unwrap().translation
        };
        (0..=1000).map(tip).collect::<Vec<_>>()
    };
    let finest = tips(480.0);
    for fps in [24.0, 30.0, 60.0, 120.0] {
        let squares = tips(fps).iter().zip(&finest).map(|(a, b)| a.distance_squared(*b)).sum::<f64>();
        let rms = (squares / 1001.0).sqrt();
        assert!(rms < 0.005, "{fps} fps: {:.2} cm", rms * 100.0);
    }
}

#[test]
fn only_rotations_of_chain_bones_are_keyed_and_a_loop_ends_with_its_first_key() {
    let (character, motion) = swaying(5);
    let before = &character.clips.clips[0];
    let made = baked(&character, &motion, 30.0, false);
    assert_eq!(made.clips.clips.len(), 1);
    let clip = &made.clips.clips[0];
    assert_eq!((&clip.name, clip.duration), (&before.name, before.duration));
    let (old, new): (Vec<&Channel>, Vec<&Channel>) =
        clip.channels.iter().partition(|channel| before.channels.contains(channel));
    assert_eq!((old.len(), new.len()), (before.channels.len(), 5));
    for (channel, &node) in new.iter().zip(motion.chains[0].nodes.iter()) {
        assert_eq!((channel.node, channel.target), (node, Target::Rotation));
        assert_eq!(channel.times.len(), 41);
        assert_eq!((channel.times[0], channel.times[40]), (0.0, clip.duration));
        assert_eq!(channel.values[..4], channel.values[160..]);
        let pairs = channel.values[..160].chunks(4).zip(channel.values[4..160].chunks(4));
        for (a, b) in pairs {
            assert!(a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>() > 0.0, "signs run on");
        }
    }
    // Baked again it is the same, and nothing is keyed twice.
    assert_eq!(baked(&made, &motion, 30.0, false), made);
}

#[test]
fn originals_are_kept_on_request_under_a_free_name() {
    let (mut character, motion) = swaying(3);
    let first = character.clips.clips[0].clone();
    character.clips.clips.push(clip("Sway_original", 1.0, first.channels.clone()));
    let made = baked(&character, &motion, 30.0, true);
    let names: Vec<&str> = made.clips.clips.iter().map(|clip| &*clip.name).collect();
    assert_eq!(names, ["Sway", "Sway_original", "Sway_original2"]);
    assert_eq!(made.clips.clips[2].channels, first.channels);
    assert_eq!(made.clips.clips[1], character.clips.clips[1]);
}

#[test]
fn a_motion_of_another_character_or_clip_is_refused() {
    let (character, motion) = swaying(3);
    let refuse = |character: &Character, motion: &Motion| {
        bake(character, &[motion], None, 30.0, false, &Cx::detached()).unwrap_err().to_string()
    };
    let mut other = motion.clone();
    other.chains[0].nodes = [77].into();
    assert!(refuse(&character, &other).contains("chain Tail moves nodes that \"made\" does not have"));
    let shorter = with(&character, clip("Sway", 0.5, vec![]));
    assert!(refuse(&shorter, &motion).contains("\"Sway\" has another length than"));
    let none = with(&character, clip("Walk", 0.5, vec![]));
    assert!(refuse(&none, &motion).contains("\"Sway\" is not among the clips of"));
    let cx = Cx::detached();
    assert_eq!(bake(&character, &[], None, 30.0, false, &cx).unwrap().character, character);
    assert!(cx.warnings()[0].what.contains("nothing was baked"));
}
