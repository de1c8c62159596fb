//! Chains on a character, made ready to be moved by its clips.

use std::sync::Arc;

use glam::{DAffine3, DMat3, DMat4, DQuat, DVec3};
use sinew_graph::{NodeError, Result};

use super::driver::{Drive, Driver, turn_and_scale};
use super::solver::{Capsule, Frame, Shape, swing};
use crate::data::{Chain, Chains, Character, Clip, Colliders, Kind, MovedChain, Stance};
use crate::pose::{Rig, affine, matrix};

/// Chains and colliders of one character, and what moves them.
pub struct Scene {
    driver: Driver,
    /// The chains.
    pub(super) strands: Vec<Strand>,
    limbs: Vec<Limb>,
    stance: Stance,
    /// Up in the file's world, unit length.
    pub up: DVec3,
    /// One height in the file's world.
    pub height: f64,
    /// How high the lowest skin is that follows no bone of a chain, in the bind pose.
    pub floor: f64,
}

/// A chain of a [`Scene`].
pub(super) struct Strand {
    pub name: Arc<str>,
    pub kind: Kind,
    /// The joint it hangs from, and its place in the driver.
    joint: Arc<str>,
    attach: usize,
    /// Undoes the bind matrix of the joint that it hangs from, world to joint.
    unbind: DAffine3,
    /// Turns hips space to the world in the bind pose.
    basis: DQuat,
    pub shape: Shape,
    bones: Vec<Bone>,
}

/// A joint of a chain.
struct Bone {
    node: u32,
    /// Local transform in the bind pose.
    translation: DVec3,
    rotation: DQuat,
    scale: DVec3,
    /// Where its link points in the bind pose, in its parent's axes.
    bind: DVec3,
}

/// A capsule that moves with a joint.
struct Limb {
    node: usize,
    joint: Arc<str>,
    /// Undoes the bind matrix of its joint, world to joint.
    unbind: DAffine3,
    ends: [DVec3; 2],
    radius: f64,
}

/// What a clip makes of a scene's joints, on an even grid of times.
pub(super) struct Route {
    /// Seconds between two times.
    pub step: f64,
    /// Per strand and time: the matrix of the joint that it hangs from.
    pub joints: Vec<Vec<DAffine3>>,
    /// Per strand and time.
    pub frames: Vec<Vec<Frame>>,
    /// Per time, all capsules.
    pub capsules: Vec<Capsule>,
    /// How many capsules there are at each time.
    pub limbs: usize,
}

impl Scene {
    /// The chains of a character whose bones it has already (after `rig.apply`).
    pub fn new(character: &Character, chains: &Chains, colliders: &Colliders) -> Result<Self> {
        let skeleton = &character.skeleton;
        check(character, chains)?;
        let rig = Rig::new(skeleton).map_err(|error| error.at("character"))?;
        let to_world = affine(&skeleton.to_world);
        let stance = chains.stance;
        let direction = |v: glam::Vec3| to_world.transform_vector3(v.as_dvec3());
        let (up, forward) = (direction(stance.up).normalize_or_zero(), direction(stance.forward));
        let forward = forward.reject_from_normalized(up).normalize_or_zero();
        let left = up.cross(forward);
        let height = f64::from(stance.height) * direction(stance.up).length();
        if left == DVec3::ZERO || !(height.is_finite() && height > 0.0) {
            return Err(NodeError::new(format!("the character stands nowhere: it is {height} tall"))
                .at("chains")
                .help("check that the mesh has an extent along up"));
        }
        let basis = DQuat::from_mat3(&DMat3::from_cols(left, up, forward));
        let world_bind = |joint: usize| to_world * affine(&skeleton.binds[joint]);

        let bones: Vec<(&Chain, Vec<u16>)> = chains.with_joints().collect();
        let attach = |chain: &Chain| rig.joint_node(chain.parent.into());
        let on = |joint: u16| rig.joint_node(joint.into());
        let driver = Driver::new(
            &rig,
            bones.iter().map(|(chain, _)| attach(chain)).chain(colliders.colliders.iter().map(|limb| on(limb.joint))),
        );
        let mut strands = Vec::new();
        for (chain, joints) in &bones {
            let parent = world_bind(chain.parent.into());
            strands.push(Strand {
                name: Arc::clone(&chain.name),
                kind: chain.kind,
                joint: Arc::clone(&skeleton.joints[usize::from(chain.parent)].name),
                attach: driver.place(attach(chain)),
                unbind: parent.inverse(),
                basis,
                shape: shape(chain, &to_world, basis),
                bones: self::bones(chain, joints, &rig, &to_world, &world_bind)?,
            });
        }
        let limbs = colliders.colliders.iter().map(|limb| Limb {
            node: driver.place(on(limb.joint)),
            joint: Arc::clone(&limb.name),
            unbind: world_bind(limb.joint.into()).inverse(),
            ends: limb.ends.map(|end| to_world.transform_point3(end.as_dvec3())),
            radius: f64::from(limb.radius) * to_world.matrix3.determinant().abs().cbrt(),
        });
        let limbs = limbs.collect();
        let joints: Vec<u16> = bones.iter().flat_map(|(_, joints)| joints.iter().copied()).collect();
        let floor = lowest(character, &joints, &to_world, up);
        Ok(Self { driver, strands, limbs, stance, up, height, floor })
    }

    /// The chains as a [`Motion`](crate::data::Motion) tells of them.
    pub fn chains(&self) -> Vec<MovedChain> {
        let chain = |strand: &Strand| MovedChain {
            name: Arc::clone(&strand.name),
            kind: strand.kind,
            nodes: strand.bones.iter().map(|bone| bone.node).collect(),
            lengths: strand.shape.lengths.as_slice().into(),
            bind: strand.shape.bind.as_slice().into(),
            rest: strand.shape.rest.as_slice().into(),
        };
        self.strands.iter().map(chain).collect()
    }

    /// How the character stands.
    pub fn stance(&self) -> Stance {
        self.stance
    }

    /// All colliders in the bind pose.
    pub(super) fn bind_capsules(&self) -> Vec<Capsule> {
        self.limbs.iter().map(|limb| Capsule { ends: limb.ends, radius: limb.radius }).collect()
    }

    /// What a clip makes of the joints at `steps` + 1 even times from its start to its end; where there is but one time, its
    /// chains are given steps of `still` seconds to come to rest.
    pub(super) fn route(&self, clip: &Clip, steps: usize, still: f64) -> Result<Route> {
        let mut drive = self.driver.drive(clip);
        let times = steps + 1;
        let mut route = Route {
            step: if steps > 0 { f64::from(clip.duration) / steps as f64 } else { still },
            joints: self.strands.iter().map(|_| Vec::with_capacity(times)).collect(),
            frames: self.strands.iter().map(|_| Vec::with_capacity(times)).collect(),
            capsules: Vec::with_capacity(times * self.limbs.len()),
            limbs: self.limbs.len(),
        };
        for k in 0..times {
            let time = f64::from(clip.duration) * (k as f64 / steps.max(1) as f64);
            self.at(&mut drive, time, &mut route).map_err(|error| match error {
                Unusable::Joint(joint) => NodeError::new(format!(
                    "clip {:?} at {time:.3} s moves joint {joint:?} to no finite place, makes it flat or mirrors it",
                    clip.name
                ))
                .at("clips")
                .help("leave this clip out, or export it anew"),
                Unusable::Channel(error) => error.at("clips"),
            })?;
        }
        Ok(route)
    }

    fn at(&self, drive: &mut Drive<'_>, time: f64, route: &mut Route) -> Result<(), Unusable> {
        let globals = drive.globals(time).map_err(Unusable::Channel)?;
        for (k, strand) in self.strands.iter().enumerate() {
            let joint = globals[strand.attach];
            let frame = strand.frame(&joint).ok_or_else(|| Unusable::Joint(Arc::clone(&strand.joint)))?;
            route.joints[k].push(joint);
            route.frames[k].push(frame);
        }
        for limb in &self.limbs {
            let moved = globals[limb.node] * limb.unbind;
            let (ends, scale) = (limb.ends.map(|end| moved.transform_point3(end)), moved.matrix3.determinant().abs());
            if !(ends.iter().all(|end| end.is_finite()) && scale.is_finite()) {
                return Err(Unusable::Joint(Arc::clone(&limb.joint)));
            }
            route.capsules.push(Capsule { ends, radius: limb.radius * scale.cbrt() });
        }
        Ok(())
    }
}

enum Unusable {
    Joint(Arc<str>),
    Channel(NodeError),
}

impl Strand {
    /// Where the chain hangs when its joint is there.
    fn frame(&self, joint: &DAffine3) -> Option<Frame> {
        let (turn, scale) = turn_and_scale(&(*joint * self.unbind).matrix3)?;
        let origin = joint.transform_point3(self.bones.first()?.translation);
        let frame = Frame { origin, turn: turn * self.basis, scale };
        frame.is_usable().then_some(frame)
    }

    /// Where the chain hangs in the bind pose.
    pub fn bind_frame(&self) -> Frame {
        let origin = self.bones.first().map_or(DVec3::ZERO, |bone| bone.translation);
        Frame { origin: self.unbind.inverse().transform_point3(origin), turn: self.basis, scale: 1.0 }
    }

    /// The length of all links, world units.
    pub fn length(&self) -> f64 {
        self.shape.lengths.iter().sum()
    }

    /// The local rotation of every joint so that its link points at its tip (`tail-3d.md` C10), pushed to `out`. Signs run
    /// on from the rotations `before`.
    pub fn rotations(
        &self,
        joint: &DAffine3,
        origin: DVec3,
        tips: &[DVec3],
        before: Option<&[[f32; 4]]>,
        out: &mut Vec<[f32; 4]>,
    ) {
        let (mut parent, mut head) = (*joint, origin);
        for (i, (bone, &tip)) in self.bones.iter().zip(tips).enumerate() {
            let way = (parent.matrix3.inverse() * (tip - head)).normalize_or_zero();
            let turn =
                if bone.bind == DVec3::ZERO || way == DVec3::ZERO { DQuat::IDENTITY } else { swing(bone.bind, way) };
            let mut rotation = (turn * bone.rotation).normalize();
            parent *= DAffine3::from_scale_rotation_translation(bone.scale, rotation, bone.translation);
            if let Some(before) = before
                && rotation.dot(DQuat::from_array(before[i].map(f64::from))) < 0.0
            {
                rotation = -rotation;
            }
            out.push(rotation.to_array().map(|x| x as f32));
            head = tip;
        }
    }
}

/// The chains must be of this character, after their joints were added.
fn check(character: &Character, chains: &Chains) -> Result<()> {
    let (own, of) = (&character.skeleton.joints, &chains.body.skeleton.joints);
    let added = chains.added().flat_map(|(chain, first)| chain.joint_names().zip(first..));
    let fits = own.len() >= chains.joint_count()
        && own[..of.len()] == of[..]
        && added.into_iter().all(|(name, joint)| *own[joint].name == *name);
    if fits {
        return Ok(());
    }
    let what = if own == of { "does not have the bones of the chains yet" } else { "is not that of the chains" };
    Err(NodeError::new(format!("{:?} {what}", character.name))
        .at("character")
        .help("connect the character that rig.apply gives, and the chains that went into it"))
}

fn shape(chain: &Chain, to_world: &DAffine3, basis: DQuat) -> Shape {
    let hips = |way: DVec3| (basis.conjugate() * way).normalize_or_zero();
    let ways: Vec<DVec3> =
        chain.joints.windows(2).map(|pair| to_world.transform_vector3((pair[1] - pair[0]).as_dvec3())).collect();
    let mut bind: Vec<DVec3> = ways.iter().map(|&way| hips(way)).collect();
    // A link without length points where its neighbour does.
    let mut last = bind.iter().copied().find(|&way| way != DVec3::ZERO).unwrap_or(DVec3::NEG_Y);
    for way in &mut bind {
        if *way == DVec3::ZERO {
            *way = last;
        }
        last = *way;
    }
    let rest = |(i, &bind): (usize, &DVec3)| {
        let rest = chain.rest.get(i).map_or(DVec3::ZERO, |rest| hips(to_world.transform_vector3(rest.as_dvec3())));
        if rest == DVec3::ZERO { bind } else { rest }
    };
    Shape {
        lengths: ways.iter().map(|way| way.length()).collect(),
        rest: bind.iter().enumerate().map(rest).collect(),
        bind,
    }
}

fn bones(
    chain: &Chain,
    joints: &[u16],
    rig: &Rig,
    to_world: &DAffine3,
    world_bind: &impl Fn(usize) -> DAffine3,
) -> Result<Vec<Bone>> {
    let mut parent = usize::from(chain.parent);
    let mut bones = Vec::new();
    for (i, &joint) in joints.iter().enumerate() {
        let joint = usize::from(joint);
        let node = rig.joint_node(joint);
        if rig.parent(node) != Some(rig.joint_node(parent)) {
            return Err(NodeError::new(format!(
                "bone {} of chain {} hangs from another node than the bone before it",
                i + 1,
                chain.name
            ))
            .at("chains")
            .help("a chain is a row of joints, each the direct child of the one before"));
        }
        let (above, bind) = (world_bind(parent), world_bind(joint));
        let (_, rotation, _) = (above.inverse() * bind).to_scale_rotation_translation();
        // Where a file holds its joints, a player leaves them: only the rotation is ours.
        let stored = matrix(&rig.rest().locals[node]);
        let (scale, _, translation) = stored.to_scale_rotation_translation();
        let way = chain.joints.get(i..i + 2).map_or(DVec3::ZERO, |pair| (pair[1] - pair[0]).as_dvec3());
        let way = to_world.transform_vector3(way);
        bones.push(Bone {
            node: node as u32,
            translation,
            rotation: rotation.normalize(),
            scale,
            bind: (above.matrix3.inverse() * way).normalize_or_zero(),
        });
        parent = joint;
    }
    Ok(bones)
}

/// How high the lowest vertex is that no chain rules, in the bind pose; 0 if chains rule all.
fn lowest(character: &Character, joints: &[u16], to_world: &DAffine3, up: DVec3) -> f64 {
    let mut of_chain = vec![false; character.skeleton.joints.len()];
    joints.iter().for_each(|&joint| of_chain[usize::from(joint)] = true);
    let up = DMat4::from(*to_world).transpose() * up.extend(0.0);
    let width = character.skin.width.max(1);
    let ruled = |row: usize| {
        let own = character.skin.joints.get(row * width..(row + 1) * width).unwrap_or(&[]);
        let weights = character.skin.weights.get(row * width..(row + 1) * width).unwrap_or(&[]);
        own.iter().zip(weights).any(|(&joint, &weight)| weight > 0.0 && of_chain[usize::from(joint)])
    };
    let heights = character.mesh.positions.iter().enumerate().filter(|(row, _)| !ruled(*row));
    let lowest = heights.map(|(_, p)| p.as_dvec3().dot(up.truncate())).fold(f64::INFINITY, f64::min);
    if lowest.is_finite() { lowest + up.w } else { 0.0 }
}
