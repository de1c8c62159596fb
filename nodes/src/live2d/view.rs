//! How a chain in space is seen on a flat screen, and angles there.

use glam::{DVec2, DVec3, Vec3};
use sinew_graph::{Choice, NodeError, Result};

/// From where a chain is seen.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// From the character's left: it faces the left of the screen.
    #[default]
    Side,
    /// From the front: the character's left is at the right of the screen. The view of chains that are flat already.
    Front,
    /// From above: the character faces the top of the screen.
    Top,
    /// From where the direction points.
    Direction,
}

/// A screen in hips space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Screen {
    right: DVec3,
    down: DVec3,
}

impl Screen {
    /// The screen of a view; `direction` is asked for [`View::Direction`] alone.
    pub fn new(view: View, direction: Vec3) -> Result<Self> {
        let towards = match view {
            View::Side => DVec3::X,
            View::Front => DVec3::Z,
            View::Top => DVec3::Y,
            View::Direction => direction.as_dvec3().try_normalize().ok_or_else(|| {
                NodeError::new(format!("{direction} points nowhere"))
                    .at("direction")
                    .help("give the direction to the viewer, such as 1 0 1 for left and forward")
            })?,
        };
        // Up on the screen is up, or forward where the viewer is right above or below.
        let up = if towards.y.abs() > 0.999 { DVec3::Z } else { DVec3::Y };
        let right = up.cross(towards).normalize();
        Ok(Self { right, down: right.cross(towards) })
    }

    /// What a vector in hips space looks like: x to the right, y down.
    pub fn see(&self, vector: DVec3) -> DVec2 {
        DVec2::new(vector.dot(self.right), vector.dot(self.down))
    }
}

/// The angle of a direction on screen, degrees clockwise from up.
pub fn angle(direction: DVec2) -> f64 {
    direction.x.atan2(-direction.y).to_degrees()
}

/// The same angle, above -180 and up to 180.
pub fn wrap(degrees: f64) -> f64 {
    let turned = degrees.rem_euclid(360.0);
    if turned > 180.0 { turned - 360.0 } else { turned }
}

/// Turns a vector on screen clockwise by degrees.
pub fn turn(degrees: f64, vector: DVec2) -> DVec2 {
    DVec2::from_angle(degrees.to_radians()).rotate(vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UP: DVec2 = DVec2::NEG_Y;

    #[test]
    fn angles_are_clockwise_from_up() {
        for (direction, degrees) in [(UP, 0.0), (DVec2::X, 90.0), (DVec2::Y, 180.0), (DVec2::NEG_X, -90.0)] {
            assert_eq!(angle(direction), degrees);
            assert!(turn(degrees, UP).distance(direction) < 1e-15);
        }
        assert_eq!(
            [wrap(190.0), wrap(-190.0), wrap(180.0), wrap(-180.0), wrap(720.0)],
            [-170.0, 170.0, 180.0, 180.0, 0.0]
        );
    }

    #[test]
    fn each_view_shows_left_up_and_forward_where_its_help_says() {
        let seen = |view, direction| {
            let screen = Screen::new(view, direction).unwrap();
            [DVec3::X, DVec3::Y, DVec3::Z].map(|v| screen.see(v))
        };
        let none = DVec2::ZERO;
        assert_eq!(seen(View::Side, Vec3::ZERO), [none, UP, DVec2::NEG_X]);
        assert_eq!(seen(View::Front, Vec3::ZERO), [DVec2::X, UP, none]);
        assert_eq!(seen(View::Top, Vec3::ZERO), [DVec2::NEG_X, none, UP]);
        assert_eq!(seen(View::Direction, Vec3::X * 7.0), seen(View::Side, Vec3::ZERO));
        assert_eq!(seen(View::Direction, Vec3::NEG_Z), [DVec2::NEG_X, UP, none]);
        assert!(Screen::new(View::Direction, Vec3::ZERO).is_err());
        assert!(Screen::new(View::Direction, Vec3::NAN).is_err());
    }
}
