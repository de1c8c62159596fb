//! Up, forward and height, from the skeleton and the soles.

use glam::{Mat4, Vec2, Vec3};

use super::limbs::{Limb, Place};
use super::names::hint;
use super::{Bones, Mirror, Role};
use crate::data::{Mesh, Skeleton, Skin, Stance};

/// How far the skeleton's own up may be from a file axis that makes it exact, radians.
const SNAP: f32 = 0.35;

/// How far a file axis may lean out of the mirror plane and still be up, as a sine.
const LEAN: f32 = 0.1;

/// Tells how a character stands.
pub fn tell(
    mesh: &Mesh,
    skeleton: &Skeleton,
    skin: &Skin,
    bones: &Bones,
    mirror: Option<&Mirror>,
    limbs: &[Limb],
    roles: &[Role],
) -> Stance {
    let to_bind = Mat4::from_cols_array(&skeleton.to_world).inverse();
    let file = |axis: Vec3| to_bind.transform_vector3(axis).try_normalize().unwrap_or(axis);
    let hind = limbs.iter().find(|limb| limb.place == Place::Hind);
    let (Some(hind), Some(mirror)) = (hind, mirror) else {
        let up = file(Vec3::Y);
        let forward = flat(file(Vec3::Z), up).unwrap_or_else(|| up.any_orthonormal_vector());
        return Stance { up, forward, height: extent(mesh, up) };
    };
    let fore = limbs.iter().find(|limb| limb.place == Place::Fore);
    let soles = Soles::of(mesh, skeleton, skin, bones, mirror, hind);
    let guesses = guess_up(skeleton, mirror, hind, fore, &soles);
    let up = snap(guesses, mirror.axis, file(Vec3::Y));
    let forward = forward(skeleton, bones, mirror, hind, fore, roles, &soles, up);
    Stance { up, forward, height: extent(mesh, up) }
}

fn extent(mesh: &Mesh, up: Vec3) -> f32 {
    let (lo, hi) = mesh.positions.iter().fold((f32::MAX, f32::MIN), |(lo, hi), p| {
        let y = p.dot(up);
        (if y < lo { y } else { lo }, if y > hi { y } else { hi })
    });
    if hi > lo { hi - lo } else { 0.0 }
}

fn flat(v: Vec3, up: Vec3) -> Option<Vec3> {
    (v - up * v.dot(up)).try_normalize()
}

/// The skin of both feet.
struct Soles {
    /// Per side: where the foot's first joint is.
    ankles: [Vec3; 2],
    /// Per side: the skin that the foot's joints rule.
    skin: [Vec<Vec3>; 2],
}

impl Soles {
    fn of(mesh: &Mesh, skeleton: &Skeleton, skin: &Skin, bones: &Bones, mirror: &Mirror, hind: &Limb) -> Self {
        let at = |joint: u16| skeleton.position(usize::from(joint));
        let side = |path: &[u16]| {
            let hip = at(path[hind.hip(skeleton, mirror, path)]);
            let end = path.last().map_or(hip, |&joint| at(joint));
            let down = end - hip;
            // The foot: the joints in the last quarter of the leg, and at least the last one.
            let first = path
                .iter()
                .position(|&joint| (end - at(joint)).dot(down) <= 0.26 * down.length_squared())
                .unwrap_or(path.len() - 1);
            path[first]
        };
        let feet = [side(&hind.paths[0]), side(&hind.paths[1])];
        let mut of = vec![2u8; bones.used.len()];
        for joint in 0..bones.used.len() as u16 {
            if let Some(side) =
                feet.iter().position(|&foot| bones.used[usize::from(joint)] && bones.hangs_from(joint, foot))
            {
                of[usize::from(joint)] = side as u8;
            }
        }
        let mut soles = Self { ankles: feet.map(at), skin: [Vec::new(), Vec::new()] };
        if skin.width == 0 {
            return soles;
        }
        let rows = skin.joints.chunks_exact(skin.width).zip(skin.weights.chunks_exact(skin.width));
        for (&p, (joints, weights)) in mesh.positions.iter().zip(rows) {
            // Influences fall by weight: the first one rules. Few vertices are a foot's, so that most weights are not read.
            let side = of[usize::from(joints[0])];
            if side < 2 && weights[0] > 0.5 {
                soles.skin[usize::from(side)].push(p);
            }
        }
        soles
    }
}

/// Up as far as the ground and the legs tell it, in the mirror plane; what tells it better comes first.
fn guess_up(skeleton: &Skeleton, mirror: &Mirror, hind: &Limb, fore: Option<&Limb>, soles: &Soles) -> [Vec3; 2] {
    let in_plane = |v: Vec3| v - mirror.axis * v.dot(mirror.axis);
    let reach = |limb: &Limb| in_plane(limb.end(skeleton) - limb.root(skeleton, mirror));
    let mut down = reach(hind);
    let mut ground = None;
    if let Some(fore) = fore {
        let front = reach(fore);
        if front.length() > 0.6 * fore.own_length(skeleton)
            && front.normalize_or_zero().dot(down.normalize_or_zero()) > 0.5
        {
            down = down.normalize_or_zero() + front.normalize_or_zero();
            ground = Some(in_plane(fore.end(skeleton) - hind.end(skeleton)));
        }
    }
    let Some(mut up) = (-down).try_normalize() else {
        return [mirror.axis.any_orthonormal_vector(); 2];
    };
    let legs = up;
    let across = mirror.axis.cross(up);
    let upright = |line: Vec3| {
        let n = mirror.axis.cross(line).normalize_or_zero();
        if n.dot(up) < 0.0 { -n } else { n }
    };
    // Four feet on the ground tell it best; else the line from heel to toe.
    let four = ground.filter(|g| g.length() > 0.4 * hind.length).map(upright).filter(|n| n.dot(up) > 0.77);
    if let Some(n) = four {
        up = n;
    } else {
        let points: Vec<Vec2> = soles.skin.iter().flatten().map(|p| Vec2::new(p.dot(across), p.dot(up))).collect();
        if let Some(edge) = resting_edge(points) {
            let n = upright(across * edge.x + up * edge.y);
            if n.dot(up) > 0.9 {
                up = n;
            }
        }
    }
    [up, legs]
}

/// The longest edge of the hull's underside: what a foot stands on.
fn resting_edge(points: Vec<Vec2>) -> Option<Vec2> {
    // By x, then by y, as whole numbers in the order of the floats: a quarter of the time.
    let rising = |x: f32| {
        let bits = x.to_bits();
        u64::from(if bits >> 31 == 0 { bits | 1 << 31 } else { !bits })
    };
    let float = |key: u32| f32::from_bits(if key >> 31 == 1 { key & !(1 << 31) } else { !key });
    let mut keys: Vec<u64> = points.iter().map(|p| rising(p.x) << 32 | rising(p.y)).collect();
    keys.sort_unstable();
    let mut points: Vec<Vec2> =
        keys.into_iter().map(|key| Vec2::new(float((key >> 32) as u32), float(key as u32))).collect();
    points.dedup();
    let mut hull: Vec<Vec2> = Vec::new();
    for p in points {
        while hull.len() >= 2 && (hull[hull.len() - 1] - hull[hull.len() - 2]).perp_dot(p - hull[hull.len() - 1]) <= 0.0
        {
            hull.pop();
        }
        hull.push(p);
    }
    hull.windows(2)
        .map(|w| w[1] - w[0])
        .filter(|e| e.y.abs() < 0.8 * e.length())
        .max_by(|a, b| a.length().total_cmp(&b.length()))
}

/// The file axis that a guess means, or the better guess itself.
fn snap(guesses: [Vec3; 2], side: Vec3, file_up: Vec3) -> Vec3 {
    let axes = [file_up, Vec3::Y, Vec3::Z, Vec3::X, -Vec3::Y, -Vec3::Z, -Vec3::X];
    for guess in guesses {
        let mut best: Option<(f32, Vec3)> = None;
        for axis in axes {
            let angle = axis.angle_between(guess);
            // The file's own up comes first: another axis must be clearly nearer.
            if angle < SNAP && axis.dot(side).abs() < LEAN && best.is_none_or(|(least, _)| angle < least - 1e-3) {
                best = Some((angle, axis));
            }
        }
        if let Some((_, axis)) = best {
            return axis;
        }
    }
    guesses[0]
}

#[expect(clippy::too_many_arguments, reason = "one place that weighs all that tells forward")]
fn forward(
    skeleton: &Skeleton,
    bones: &Bones,
    mirror: &Mirror,
    hind: &Limb,
    fore: Option<&Limb>,
    roles: &[Role],
    soles: &Soles,
    up: Vec3,
) -> Vec3 {
    let at = |joint: u16| skeleton.position(usize::from(joint));
    let axis = flat(mirror.axis, up).unwrap_or_else(|| up.any_orthonormal_vector());
    let ahead = axis.cross(up);
    let towards = |v: Vec3| v.dot(ahead);
    // A trunk that lies: from the hips to the shoulders.
    let hips = hind.root(skeleton, mirror);
    if let Some(fore) = fore {
        let trunk = fore.root(skeleton, mirror) - hips;
        if towards(trunk).abs() > 0.6 * trunk.length() {
            return ahead * towards(trunk).signum();
        }
    }
    // Feet: skin and bones reach further to the front of the ankle than behind it.
    let mut votes = 0.0f32;
    for side in 0..2 {
        let skin = &soles.skin[side];
        if skin.is_empty() {
            continue;
        }
        let (mut front, mut back) = (0.0f32, 0.0f32);
        for &p in skin {
            let x = towards(p - soles.ankles[side]);
            front = front.max(x);
            back = back.max(-x);
        }
        votes += (front - back) / (front + back).max(f32::MIN_POSITIVE);
        if let Some(&end) = hind.paths[side].last() {
            votes += towards(at(end) - soles.ankles[side]) / (front + back).max(f32::MIN_POSITIVE);
        }
    }
    // Names: the left is where a character's up x forward points.
    let mut sides = 0.0f32;
    for (k, joint) in skeleton.joints.iter().enumerate().filter(|(k, _)| bones.used[*k] && roles[*k] != Role::Unused) {
        sides += f32::from(hint(&joint.name).side)
            * mirror.off(at(k as u16)).signum()
            * f32::from(u8::from(!mirror.is_medial(k as u16)));
    }
    // `axis` is the left if left-named joints are on its side; forward is left x up.
    let named = if sides.abs() > 0.5 { sides.signum() } else { 0.0 };
    let total = votes + 0.5 * named;
    if total.abs() > 1e-3 { ahead * total.signum() } else { ahead }
}
