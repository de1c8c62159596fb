use super::*;
use crate::rig::test_support::{HIPS, straight_tail};

#[test]
fn a_rigid_region_follows_one_joint_exactly_and_the_rest_keeps_its_bits() {
    let mut regions = straight_tail();
    regions.regions[0].finding.treatment = Treatment::Rigid;
    let skin = rigid_attach(&regions, None, false, &Cx::detached()).unwrap();
    let before = &regions.body.skin;
    assert_eq!(skin.width, before.width);
    let mut rigid = 0;
    for (vertex, p) in regions.body.mesh.positions.iter().enumerate() {
        if p.z < -0.025 {
            assert_eq!(skin.influences(vertex).collect::<Vec<_>>(), [(HIPS, 1.0)]);
            rigid += 1;
        } else {
            assert!(skin.influences(vertex).eq(before.influences(vertex)));
        }
    }
    assert_eq!(rigid, 16 * 13, "16 rings, seam included");
}

#[test]
fn a_chain_region_becomes_rigid_on_demand_only() {
    let regions = straight_tail();
    let unasked = rigid_attach(&regions, None, false, &Cx::detached()).unwrap();
    assert_eq!(unasked, regions.body.skin);
    let asked = rigid_attach(&regions, None, true, &Cx::detached()).unwrap();
    assert_eq!(asked.weights.iter().filter(|&&weight| weight == 1.0).count(), 16 * 13);
}

#[test]
fn a_region_without_a_joint_is_an_error_that_names_it() {
    let mut regions = straight_tail();
    regions.regions[0].collar = None;
    let error = rigid_attach(&regions, None, true, &Cx::detached()).unwrap_err();
    assert!(error.to_string().starts_with("regions: region 0 (Tail) has no joint to hang from"), "{error}");
}

#[test]
fn an_unknown_joint_is_an_error() {
    let mut regions = straight_tail();
    regions.regions[0].collar.as_mut().unwrap().joint = 3;
    let error = rigid_attach(&regions, None, true, &Cx::detached()).unwrap_err();
    assert!(error.to_string().contains("the skeleton has 3 joints"), "{error}");
}
