//! One skeleton and one bind space for all skins of a character.
//!
//! A skin maps its mesh into joint space by inverse bind matrices; their inverses place the joints around that mesh. Two
//! skins of one character may use different mesh spaces. The space of the skin with the most vertices is the character's
//! *bind space*; the others are brought to it by `B_ref(j) * IBM_other(j)`, which must be the same matrix for every joint
//! that both skins use.

use std::collections::BTreeMap;

use glam::{DMat3, DMat4, DVec3, Vec3};
use sinew_graph::{Cx, NodeError, Result};

use super::accessor::{Accessors, bad};
use super::document::Document;
use super::tree::{Tree, transform};
use crate::data::{Joint, Skeleton};

/// How far two joints may disagree, as a share of the mesh's extent.
const AGREEMENT: f64 = 1e-3;
/// Cosine between two axes of a bind matrix from which on it counts as sheared: 3 degrees.
const SHEAR: f64 = 0.052;
/// Joints asked for the way from bind space to the world.
const WITNESSES: usize = 256;

/// A skin as a document has it, and what of it is used.
#[derive(Debug)]
pub struct SkinUse {
    /// Its inverse bind matrices; `None` where the file has none.
    pub inverse_binds: Vec<Option<DMat4>>,
    /// Which of its joints move a vertex.
    pub used: Vec<bool>,
    /// How many vertices it moves.
    pub vertices: usize,
    /// The box around them, in mesh space.
    pub bounds: (Vec3, Vec3),
    /// The node that shows most of them.
    pub node: usize,
}

/// What all skins agree on.
#[derive(Debug)]
pub struct Unified {
    /// The skeleton.
    pub skeleton: Skeleton,
    /// Per skin, per joint of it: its number in the skeleton.
    pub numbers: BTreeMap<usize, Vec<u16>>,
    /// Per skin: mesh space to bind space; `None` where both are one.
    pub to_bind: BTreeMap<usize, Option<DMat4>>,
}

/// Reads the inverse bind matrices of a skin and checks its joints.
pub fn inverse_binds(accessors: &Accessors, skin: usize, cx: &Cx) -> Result<Vec<Option<DMat4>>> {
    let document = accessors.document();
    let path = format!("skins[{skin}]");
    let joints = &document.skins[skin].joints;
    let mut seen = vec![false; document.nodes.len()];
    for (k, &node) in joints.iter().enumerate() {
        match seen.get_mut(node) {
            None => {
                let nodes = document.nodes.len();
                return Err(bad(&format!("{path}.joints[{k}]"), format!("node {node} of {nodes} is named")));
            }
            Some(seen) if *seen => {
                return Err(bad(&format!("{path}.joints[{k}]"), format!("node {node} stands twice")));
            }
            Some(seen) => *seen = true,
        }
    }
    if joints.is_empty() || joints.len() > usize::from(u16::MAX) {
        return Err(bad(&format!("{path}.joints"), format!("{} joints", joints.len())));
    }
    let Some(index) = document.skins[skin].inverse_bind_matrices else { return Ok(vec![None; joints.len()]) };
    let matrices = accessors.floats::<16>(index, &format!("{path}.inverseBindMatrices"))?;
    if matrices.len() < joints.len() {
        cx.warn(format!(
            "{path}.inverseBindMatrices: {} matrices for {} joints; the others are taken as identity",
            matrices.len(),
            joints.len()
        ));
    }
    let matrix = |m: &[f32; 16]| DMat4::from_cols_array(&m.map(f64::from));
    Ok((0..joints.len()).map(|k| matrices.get(k).map(matrix)).collect())
}

/// Brings all skins to one skeleton and one bind space.
pub fn unify(document: &Document, tree: &Tree, skins: &BTreeMap<usize, SkinUse>, cx: &Cx) -> Result<Unified> {
    let globals = tree.globals(document);
    let (nodes, numbers) = number_joints(document, skins)?;
    let name = |joint: usize| joint_name(document, nodes[joint]);

    let mut order: Vec<usize> = skins.keys().copied().collect();
    order.sort_by_key(|skin| (std::cmp::Reverse(skins[skin].vertices), *skin));
    // Bind and whether a skin placed before uses the joint: an unused joint's matrix is not to be trusted.
    let mut binds: Vec<Option<(DMat4, bool)>> = vec![None; nodes.len()];
    let mut has_bind = vec![false; nodes.len()];
    let mut to_bind = BTreeMap::new();
    let mut reference_world: Option<DMat4> = None;
    for skin in order {
        cx.check()?;
        let (entry, numbers) = (&skins[&skin], &numbers[&skin]);
        let own = own_binds(skin, entry, numbers, &name)?;
        let world = to_world(numbers, &nodes, tree, &globals, entry, |k| own[k]);
        let shift = match reference_world {
            None => None,
            Some(reference) => {
                let shared = |both_use: bool| -> Vec<(usize, DMat4)> {
                    let joints = numbers.iter().enumerate().filter_map(|(k, &n)| {
                        let (bind, used) = binds[usize::from(n)]?;
                        (!both_use || (used && entry.used[k])).then_some((usize::from(n), bind * own[k]?.inverse()))
                    });
                    joints.collect()
                };
                let used = shared(true);
                agree(skin, &used, entry.bounds, &name)?;
                let shared = if used.is_empty() { shared(false) } else { used };
                let shift = shared.first().map_or(reference.inverse() * world, |(_, shift)| *shift);
                (!same(&shift, &DMat4::IDENTITY, entry.bounds, 1e-6)).then_some(shift)
            }
        };
        for (k, &n) in numbers.iter().enumerate() {
            let slot = &mut binds[usize::from(n)];
            let Some(own) = own[k] else { continue };
            if slot.is_none_or(|(_, used)| !used && entry.used[k]) {
                *slot = Some((shift.map_or(own, |shift| shift * own), entry.used[k]));
                has_bind[usize::from(n)] = entry.inverse_binds[k].is_some();
            }
        }
        reference_world.get_or_insert(world);
        to_bind.insert(skin, shift);
    }
    let parents = joint_parents(&nodes, tree);
    let binds = complete(&binds, &nodes, tree, &globals, reference_world.unwrap_or_default(), &name, cx);
    let joints = (0..nodes.len()).map(|k| Joint {
        name: name(k).into(),
        parent: parents[k],
        node: Some(nodes[k] as u32),
        has_bind: has_bind[k],
    });
    let skeleton = Skeleton {
        joints: joints.collect(),
        binds: binds.iter().map(|bind| bind.as_mat4().to_cols_array()).collect(),
        node_parents: tree.parents.clone().into(),
        node_names: (0..document.nodes.len()).map(|node| joint_name(document, node).into()).collect(),
        node_locals: document.nodes.iter().map(transform).collect(),
        to_world: reference_world.unwrap_or_default().as_mat4().to_cols_array(),
    };
    Ok(Unified { skeleton, numbers, to_bind })
}

fn joint_name(document: &Document, node: usize) -> String {
    document.nodes[node].name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| format!("node {node}"))
}

/// Joints of all skins by node, in the order of the skins.
fn number_joints(
    document: &Document,
    skins: &BTreeMap<usize, SkinUse>,
) -> Result<(Vec<usize>, BTreeMap<usize, Vec<u16>>)> {
    let (mut nodes, mut by_node, mut numbers) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    for &skin in skins.keys() {
        let mut own = Vec::with_capacity(document.skins[skin].joints.len());
        for &node in &document.skins[skin].joints {
            let next = nodes.len();
            let number = *by_node.entry(node).or_insert_with(|| {
                nodes.push(node);
                next
            });
            own.push(u16::try_from(number).map_err(|_| bad("skins", "more than 65,536 joints are not read"))?);
        }
        numbers.insert(skin, own);
    }
    Ok((nodes, numbers))
}

/// The bind matrices of a skin in its own mesh space; `None` for an unused joint whose matrix is no use.
fn own_binds(
    skin: usize,
    entry: &SkinUse,
    numbers: &[u16],
    name: &impl Fn(usize) -> String,
) -> Result<Vec<Option<DMat4>>> {
    let bind = |(k, inverse): (usize, &Option<DMat4>)| {
        let inverse = inverse.unwrap_or(DMat4::IDENTITY);
        let place = || format!("skins[{skin}].inverseBindMatrices: matrix {k} of joint {:?}", name(numbers[k].into()));
        let bind = inverse.inverse();
        let affine = inverse.row(3).abs_diff_eq(glam::DVec4::W, 1e-3);
        if !bind.is_finite() || !affine || inverse.determinant().abs() < 1e-30 {
            return match entry.used[k] {
                false => Ok(None),
                true => Err(bad(&place(), "it has no inverse")),
            };
        }
        let axes = DMat3::from_mat4(bind);
        let [x, y, z] = [axes.x_axis, axes.y_axis, axes.z_axis].map(DVec3::normalize_or_zero);
        let shear = x.dot(y).abs().max(y.dot(z).abs()).max(z.dot(x).abs());
        if shear > SHEAR && entry.used[k] {
            let angle = shear.min(1.0).asin().to_degrees();
            return Err(NodeError::new(format!("{}: it is sheared by {angle:.0} degrees", place()))
                .help("apply the scale of the armature and its parents where the model was made, then export again"));
        }
        Ok(Some(bind))
    };
    entry.inverse_binds.iter().enumerate().map(bind).collect()
}

fn corners((lo, hi): (Vec3, Vec3)) -> [DVec3; 8] {
    let (lo, hi) = (lo.as_dvec3(), hi.as_dvec3());
    std::array::from_fn(|k| DVec3::select(glam::BVec3::new(k & 1 > 0, k & 2 > 0, k & 4 > 0), hi, lo))
}

/// Whether two maps of a box differ by at most a share of its extent.
fn same(a: &DMat4, b: &DMat4, bounds: (Vec3, Vec3), share: f64) -> bool {
    let corners = corners(bounds);
    let extent = a.transform_point3(corners[0]).distance(a.transform_point3(corners[7]));
    corners.iter().all(|&c| a.transform_point3(c).distance(b.transform_point3(c)) <= share * extent.max(1e-12))
}

/// Checks that all joints bring a skin to bind space in the same way.
fn agree(skin: usize, shifts: &[(usize, DMat4)], bounds: (Vec3, Vec3), name: &impl Fn(usize) -> String) -> Result<()> {
    let Some(((first, reference), rest)) = shifts.split_first() else { return Ok(()) };
    match rest.iter().find(|(_, shift)| !same(reference, shift, bounds, AGREEMENT)) {
        None => Ok(()),
        Some((joint, _)) => Err(NodeError::new(format!(
            "skins[{skin}]: joint {:?} is bound in another pose than in the other skins (joint {:?} is not)",
            name(*joint),
            name(*first)
        ))
        .help("bind all meshes in one pose where the model was made, then export again")),
    }
}

/// Mesh space to world in the bind pose.
///
/// If the file holds the bind pose, `global(j) * IBM(j)` is one matrix for all joints: the one that at least half of them
/// agree with is taken, by the joint nearest to the root. In any other pose the joints tell little, and the transform of
/// the node that shows the mesh is taken: renderers ignore it, but exporters leave it as it was at binding. It must have
/// the size that the joints have; if it has not, the matrix that most joints agree with is all there is.
fn to_world(
    numbers: &[u16],
    nodes: &[usize],
    tree: &Tree,
    globals: &[DMat4],
    entry: &SkinUse,
    own: impl Fn(usize) -> Option<DMat4>,
) -> DMat4 {
    let any_used = entry.used.iter().any(|&used| used);
    let mut witnesses: Vec<(u32, usize, DMat4)> = (0..numbers.len())
        .filter(|&k| entry.used[k] || !any_used)
        .filter_map(|k| {
            let node = nodes[usize::from(numbers[k])];
            Some((tree.depths[node], k, globals[node] * own(k)?.inverse()))
        })
        .filter(|(_, _, world)| world.is_finite() && world.determinant().abs() > 1e-30)
        .collect();
    witnesses.sort_by_key(|&(depth, k, _)| (depth, k));
    witnesses.truncate(WITNESSES);
    let votes = |world: &DMat4| witnesses.iter().filter(|(_, _, w)| same(world, w, entry.bounds, 1e-2)).count();
    let mut best = (0, DMat4::IDENTITY);
    for (_, _, world) in &witnesses {
        let votes = votes(world);
        if votes > best.0 {
            best = (votes, *world);
        }
    }
    let shown = globals[entry.node];
    let sizes = shown.determinant() / best.1.determinant();
    if best.0 * 2 < witnesses.len() && shown.is_finite() && (0.5..2.0).contains(&sizes) { shown } else { best.1 }
}

/// The nearest joint above each joint.
fn joint_parents(nodes: &[usize], tree: &Tree) -> Vec<Option<u16>> {
    let mut number = vec![None; tree.parents.len()];
    for (k, &node) in nodes.iter().enumerate() {
        number[node] = Some(k as u16);
    }
    let mut above: Vec<Option<u16>> = vec![None; tree.parents.len()];
    for &node in &tree.order {
        if let Ok(parent) = usize::try_from(tree.parents[node]) {
            above[node] = number[parent].or(above[parent]);
        }
    }
    nodes.iter().map(|&node| above[node]).collect()
}

/// Places the joints whose matrix was of no use where the stored pose has them, seen from bind space.
fn complete(
    binds: &[Option<(DMat4, bool)>],
    nodes: &[usize],
    tree: &Tree,
    globals: &[DMat4],
    to_world: DMat4,
    name: &impl Fn(usize) -> String,
    cx: &Cx,
) -> Vec<DMat4> {
    let parents = joint_parents(nodes, tree);
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by_key(|&k| (tree.depths[nodes[k]], k));
    let mut out: Vec<DMat4> = binds.iter().map(|bind| bind.map_or(DMat4::IDENTITY, |(bind, _)| bind)).collect();
    let mut placed = Vec::new();
    for k in order {
        if binds[k].is_some() {
            continue;
        }
        let global = globals[nodes[k]];
        let bind = match parents[k].map(usize::from) {
            Some(parent) => out[parent] * globals[nodes[parent]].inverse() * global,
            None => to_world.inverse() * global,
        };
        out[k] = if bind.is_finite() { bind } else { DMat4::IDENTITY };
        placed.push(name(k));
    }
    if let Some(first) = placed.first() {
        cx.warn(format!(
            "{} joints that move no vertex have an inverse bind matrix without inverse (first: {first:?}); they stand where \
             the stored pose has them",
            placed.len()
        ));
    }
    out
}
