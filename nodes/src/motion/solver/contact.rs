//! What a chain may not go through: the floor, the plane that faces forward, capsules (`tail-3d.md` C6, C7).
//!
//! A tip lives on the sphere around its link's head, so whatever it touches is a cap of directions that it may not have:
//! bones keep their length to the bit, and nothing is pushed but the chain.

use glam::DVec3;

use super::Frame;

/// What is around a chain.
#[derive(Clone, Copy, Debug, Default)]
pub struct World<'a> {
    /// The floor, if there is one.
    pub floor: Option<Floor>,
    /// Whether no tip passes the plane through the root that faces forward.
    pub keep_behind: bool,
    /// Limbs.
    pub capsules: &'a [Capsule],
}

/// A floor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floor {
    /// Up, unit length.
    pub up: DVec3,
    /// How far up tips stay at least: the floor's height and the clearance, world units.
    pub level: f64,
}

/// All points nearer than `radius` to a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capsule {
    /// The ends of the segment.
    pub ends: [DVec3; 2],
    /// World units. With that of the chain itself.
    pub radius: f64,
}

impl Capsule {
    /// The point of the segment that is nearest to `to`.
    #[inline]
    pub fn nearest(&self, to: DVec3) -> DVec3 {
        let [a, b] = self.ends;
        let along = b - a;
        let square = along.length_squared();
        let t = if square > 0.0 { ((to - a).dot(along) / square).clamp(0.0, 1.0) } else { 0.0 };
        a + along * t
    }
}

/// A link that may touch something.
pub(super) struct Contact<'a> {
    pub head: DVec3,
    pub length: f64,
    pub root: &'a Frame,
    /// Where the link points at rest.
    pub rest: DVec3,
    pub link: usize,
    pub links: usize,
    /// Per capsule and link; missing ones are the capsules' radii.
    pub clearances: &'a [f64],
}

/// What came of it.
pub(super) struct Touch {
    pub direction: DVec3,
    pub on_floor: bool,
    /// Unit directions in which the tip may not move: into the plane, into a capsule.
    pub pushes: [Option<DVec3>; 2],
}

/// Directions whose part along `axis` is above `most` are refused.
#[derive(Clone, Copy)]
struct Cap {
    axis: DVec3,
    most: f64,
}

impl Cap {
    /// The allowed direction nearest to `direction`; that of `other`'s side if it points straight along the axis.
    #[inline]
    fn push_out(&self, direction: DVec3, other: DVec3) -> DVec3 {
        let most = self.most.clamp(-1.0, 1.0);
        let side = |d: DVec3| d - d.dot(self.axis) * self.axis;
        let found = [side(direction), side(other)].into_iter().find(|side| side.length_squared() > 1e-18);
        let side = found.unwrap_or_else(|| self.axis.any_orthogonal_vector());
        most * self.axis + (1.0 - most * most).max(0.0).sqrt() * side.normalize()
    }

    #[inline]
    fn refuses(&self, direction: DVec3) -> bool {
        direction.dot(self.axis) > self.most
    }
}

impl Contact<'_> {
    /// The direction nearest to `direction` that goes through nothing. The floor counts most, then the plane, then capsules.
    #[inline]
    pub fn resolve(&self, world: &World<'_>, direction: DVec3) -> Touch {
        let mut touch = Touch { direction, on_floor: false, pushes: [None, None] };
        for (c, capsule) in world.capsules.iter().enumerate() {
            let radius = self.clearances.get(c * self.links + self.link).copied().unwrap_or(capsule.radius);
            // The nearest point of the axis moves as the tip does: twice is near enough, as steps are small.
            for _ in 0..2 {
                let tip = self.head + touch.direction * self.length;
                let Some(cap) = self.cap(capsule.nearest(tip), radius) else { break };
                if !cap.refuses(touch.direction) {
                    break;
                }
                touch.direction = cap.push_out(touch.direction, self.rest);
                touch.pushes[0] = Some(cap.axis);
            }
        }
        let plane = world.keep_behind.then(|| {
            let axis = self.root.turn * DVec3::Z;
            Cap { axis, most: -(self.head - self.root.origin).dot(axis) / self.length }
        });
        if let Some(plane) = plane
            && plane.refuses(touch.direction)
        {
            touch.direction = plane.push_out(touch.direction, self.rest);
            touch.pushes[1] = Some(plane.axis);
        }
        if let Some(floor) = world.floor {
            let least = (floor.level - self.head.dot(floor.up)) / self.length;
            if touch.direction.dot(floor.up) < least {
                touch.direction = self.on_floor(floor.up, least, plane, touch.direction);
                touch.on_floor = true;
            }
        }
        touch
    }

    /// The directions that end in the ball around `centre`; none if the head is its centre, where no direction is better
    /// than another.
    #[inline]
    fn cap(&self, centre: DVec3, radius: f64) -> Option<Cap> {
        let to = centre - self.head;
        let distance = to.length();
        let most = (self.length * self.length + distance * distance - radius * radius) / (2.0 * self.length * distance);
        (distance > 1e-12 * self.length).then(|| Cap { axis: to / distance, most })
    }

    /// On the circle of directions that end on the floor, behind the plane as far as the circle goes.
    fn on_floor(&self, up: DVec3, least: f64, plane: Option<Cap>, direction: DVec3) -> DVec3 {
        let u = least.clamp(-1.0, 1.0);
        let flat = Cap { axis: -up, most: -u };
        let found = flat.push_out(direction, self.rest);
        let Some(plane) = plane.filter(|plane| plane.refuses(found)) else { return found };
        let wide = (1.0 - u * u).max(0.0).sqrt();
        let level = plane.axis - plane.axis.dot(up) * up;
        let slope = level.length();
        if wide <= 1e-12 || slope <= 1e-12 {
            return found;
        }
        let ahead = level / slope;
        // How far ahead the circle may go: where it meets the plane, or straight back if it does not.
        let most = ((plane.most - u * plane.axis.dot(up)) / (wide * slope)).clamp(-1.0, 1.0);
        let across = ahead.cross(up);
        let side = across * (1.0 - most * most).max(0.0).sqrt().copysign(found.dot(across));
        u * up + wide * (most * ahead + side)
    }
}
