use proptest::prelude::*;

use super::*;
use crate::rig::dijkstra_chain::dijkstra_chain;
use crate::rig::test_support::{HIPS, straight_tail};

fn chains() -> Chains {
    dijkstra_chain(&straight_tail(), 0.1, 3, 8, &Cx::detached()).unwrap().chains
}

fn one(bones: usize, length: f32) -> Chain {
    Chain { length, joints: vec![glam::Vec3::ZERO; bones + 1].into(), ..chains().chains[0].clone() }
}

#[test]
fn weights_along_a_segment_are_those_of_the_table() {
    // One bone per unit of distance, so that s = g; the first joint has number 10 and hangs from the hips.
    let chain = one(4, 4.0);
    let of = |s: f32| {
        let found = Law::of(&chain, 10).at(s);
        [(found.joints[0], found.weights[0]), (found.joints[1], found.weights[1])]
    };
    let none = (0, 0.0);
    let table = [
        (0.0, [(10, 0.5), (HIPS, 0.5)]),
        (0.125, [(10, 0.75), (HIPS, 0.25)]),
        (0.25, [(10, 1.0), none]),
        (0.5, [(10, 1.0), none]),
        (0.75, [(10, 1.0), none]),
        (0.875, [(10, 0.75), (11, 0.25)]),
        (1.0, [(11, 0.5), (10, 0.5)]),
        (2.25, [(12, 1.0), none]),
        (3.0, [(13, 0.5), (12, 0.5)]),
        (3.875, [(13, 1.0), none]),
        (4.0, [(13, 1.0), none]),
        (9.0, [(13, 1.0), none]),
    ];
    for (s, expected) in table {
        assert_eq!(of(s), expected, "s = {s}");
    }
}

proptest! {
    #[test]
    fn weights_are_a_partition_of_unity_without_jumps(s in 0.0f32..12.0, bones in 1usize..9) {
        let chain = one(bones, bones as f32);
        let total = |g: f32| {
            let mut all = vec![0.0f32; 12];
            let found = Law::of(&chain, 2).at(g);
            for (joint, weight) in found.joints.iter().zip(found.weights) {
                prop_assert!(weight >= 0.0 && usize::from(*joint) < 2 + bones);
                all[usize::from(*joint)] += weight;
            }
            prop_assert_eq!(all.iter().sum::<f32>(), 1.0);
            Ok(all)
        };
        let (here, near) = (total(s)?, total(s + 1e-3)?);
        for (a, b) in here.iter().zip(&near) {
            prop_assert!((a - b).abs() < 2.1e-3, "{:?} {:?}", here, near);
        }
    }
}

#[test]
fn stored_copies_are_equal_and_the_rest_keeps_its_bits() {
    let chains = chains();
    let skin = chain_weights(&chains, None, &Cx::detached()).unwrap();
    let body = &chains.body;
    assert_eq!((skin.width, skin.len()), (4, body.skin.len()));
    let inside = &chains.chains[0].vertices;
    let mut copies = 0;
    for (vertex, &welded) in body.weld.welded.iter().enumerate() {
        let row = |skin: &Skin| {
            let row = vertex * 4..vertex * 4 + 4;
            (skin.joints[row.clone()].to_vec(), skin.weights[row].to_vec())
        };
        if inside.binary_search(&welded).is_err() {
            assert_eq!(row(&skin), row(&body.skin));
            continue;
        }
        assert_eq!(skin.influences(vertex).map(|(_, w)| w).sum::<f32>(), 1.0);
        assert!(skin.influences(vertex).all(|(joint, _)| joint == HIPS || (3..7).contains(&joint)));
        let first = body.weld.first[welded as usize] as usize;
        copies += usize::from(first != vertex);
        assert!(skin.influences(vertex).eq(skin.influences(first)));
    }
    assert_eq!(copies, 16, "one copy in each of the 16 rings");
}

#[test]
fn a_second_chain_counts_on_and_a_given_skin_is_kept() {
    let mut chains = chains();
    let mut second = chains.chains[0].clone();
    let (near, far) = second.vertices.split_at(96);
    let (near, far): (Vec<u32>, Vec<u32>) = (near.to_vec(), far.to_vec());
    chains.chains[0].vertices = near.into();
    chains.chains[0].geodesic = second.geodesic[..96].into();
    second.geodesic = second.geodesic[96..].into();
    second.vertices = far.into();
    chains.chains.push(second);
    let count = chains.body.skin.len();
    let wide = Skin {
        width: 8,
        joints: vec![0; count * 8].into(),
        weights: [1.0f32, 0., 0., 0., 0., 0., 0., 0.].repeat(count).into(),
    };
    let skin = chain_weights(&chains, Some(&wide), &Cx::detached()).unwrap();
    assert_eq!((skin.width, skin.len()), (8, count));
    // Joints 0 to 2 of the body, 3 to 7 of the first chain (its end is 7), 8 to 12 of the second.
    let last = chains.chains[1].vertices[95];
    let vertex = chains.body.weld.first[last as usize] as usize;
    assert_eq!(skin.influences(vertex).collect::<Vec<_>>(), [(11, 1.0)]);
    assert_eq!(skin.influences(0).collect::<Vec<_>>(), [(0, 1.0)]);
}

#[test]
fn a_narrow_skin_gets_room() {
    let chains = chains();
    let count = chains.body.skin.len();
    let narrow = Skin { width: 1, joints: vec![2; count].into(), weights: vec![1.0; count].into() };
    let skin = chain_weights(&chains, Some(&narrow), &Cx::detached()).unwrap();
    assert_eq!((skin.width, skin.len()), (2, count));
    assert_eq!(skin.influences(0).collect::<Vec<_>>(), [(2, 1.0)]);
}

#[test]
fn a_skin_of_another_character_is_an_error() {
    let chains = chains();
    let other = Skin { width: 1, joints: vec![0; 5].into(), weights: vec![1.0; 5].into() };
    let error = chain_weights(&chains, Some(&other), &Cx::detached()).unwrap_err();
    assert!(error.to_string().starts_with("skin: has weights for 5 vertices, the character has 247"), "{error}");
}

#[test]
fn joints_beyond_16_bits_are_an_error() {
    let mut chains = chains();
    let long = vec![glam::Vec3::ZERO; 65_534];
    chains.chains[0].joints = long.into();
    let error = chain_weights(&chains, None, &Cx::detached()).unwrap_err();
    assert!(error.to_string().contains("65537 joints"), "{error}");
}
