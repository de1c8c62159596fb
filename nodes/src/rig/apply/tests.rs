use std::sync::Arc;

use super::*;
use crate::rig::chain_weights::chain_weights;
use crate::rig::dijkstra_chain::dijkstra_chain;
use crate::rig::test_support::{HIPS, character, straight_tail};

fn made() -> (Character, Chains, Skin) {
    let regions = straight_tail();
    let cx = Cx::detached();
    let chains = dijkstra_chain(&regions, 0.1, 3, 8, &cx).unwrap().chains;
    let skin = chain_weights(&chains, None, &cx).unwrap();
    (character(&regions.body), chains, skin)
}

#[test]
fn existing_joints_nodes_and_clips_stay_and_the_new_ones_stand_last() {
    let (before, chains, skin) = made();
    let cx = Cx::detached();
    let after = apply(&before, Some(&chains), &skin, &cx).unwrap();
    assert_eq!(after.skeleton.joints[..3], before.skeleton.joints[..]);
    assert_eq!(after.skeleton.binds[..3], before.skeleton.binds[..]);
    assert!(Arc::ptr_eq(&after.skeleton.node_names, &before.skeleton.node_names));
    assert!(Arc::ptr_eq(&after.source_skin.weights, &before.source_skin.weights));
    assert_eq!((after.clips, &after.skin), (before.clips, &skin));
    let added: Vec<(&str, Option<u16>)> = after.skeleton.joints[3..].iter().map(|j| (&*j.name, j.parent)).collect();
    let expected =
        [("Tail_1", Some(HIPS)), ("Tail_2", Some(3)), ("Tail_3", Some(4)), ("Tail_4", Some(5)), ("Tail_End", Some(6))];
    assert_eq!(added, expected);
    assert!(after.skeleton.joints[3..].iter().all(|joint| joint.node.is_none() && joint.has_bind));
    assert!(cx.warnings().is_empty());
}

#[test]
fn each_new_joint_is_a_pure_translation_in_its_parent() {
    let (before, chains, skin) = made();
    let after = apply(&before, Some(&chains), &skin, &Cx::detached()).unwrap();
    let bind = |joint| after.skeleton.bind(joint);
    for (k, joint) in after.skeleton.joints.iter().enumerate().skip(3) {
        assert_eq!(after.skeleton.position(k), chains.chains[0].joints[k - 3]);
        let local = bind(usize::from(joint.parent.unwrap())).inverse() * bind(k);
        let turn = Mat4 { w_axis: glam::Vec4::W, ..local };
        assert!(turn.abs_diff_eq(Mat4::IDENTITY, 1e-5), "{turn}");
    }
}

#[test]
fn weights_alone_change_no_joint() {
    let (before, ..) = made();
    let skin =
        Skin { width: 1, joints: vec![2; before.skin.len()].into(), weights: vec![1.0; before.skin.len()].into() };
    let after = apply(&before, None, &skin, &Cx::detached()).unwrap();
    assert_eq!((&after.skeleton, &after.skin), (&before.skeleton, &skin));
}

#[test]
fn weights_of_chains_need_their_chains() {
    let (before, chains, skin) = made();
    let error = apply(&before, None, &skin, &Cx::detached()).unwrap_err();
    assert!(error.to_string().ends_with("but there are 3 joints; connect the chains too"), "{error}");
    let cx = Cx::detached();
    apply(&before, Some(&chains), &before.skin, &cx).unwrap();
    assert_eq!(cx.warnings()[0].what, "no vertex follows chain Tail: connect its chain weights");
}

#[test]
fn weights_that_do_not_fit_are_an_error() {
    let (before, chains, skin) = made();
    let short = Skin { width: 4, joints: skin.joints[4..].into(), weights: skin.weights[4..].into() };
    let error = apply(&before, Some(&chains), &short, &Cx::detached()).unwrap_err();
    assert!(error.to_string().starts_with("skin: has weights for 246 vertices, the character has 247"), "{error}");
    let mut weights = skin.weights.to_vec();
    weights[9] = f32::NAN;
    let broken = Skin { weights: weights.into(), ..skin };
    let error = apply(&before, Some(&chains), &broken, &Cx::detached()).unwrap_err();
    assert!(error.to_string().starts_with("skin: vertex 2 has a weight of NaN"), "{error}");
}

#[test]
fn chains_of_another_skeleton_are_an_error() {
    let (before, chains, skin) = made();
    let once = apply(&before, Some(&chains), &skin, &Cx::detached()).unwrap();
    let error = apply(&once, Some(&chains), &skin, &Cx::detached()).unwrap_err();
    assert!(error.to_string().starts_with("chains: the chains were made for another skeleton"), "{error}");
}

#[test]
fn a_flat_bind_is_an_error_that_names_the_joint() {
    let (mut before, mut chains, skin) = made();
    let mut binds = before.skeleton.binds.to_vec();
    binds[usize::from(HIPS)] = Mat4::from_scale(Vec3::new(1.0, 0.0, 1.0)).to_cols_array();
    before.skeleton.binds = binds.into();
    chains.body.skeleton = before.skeleton.clone();
    let error = apply(&before, Some(&chains), &skin, &Cx::detached()).unwrap_err();
    assert!(error.to_string().contains("joint 1 (Hips), which Tail hangs from, has a flat bind"), "{error}");
}
