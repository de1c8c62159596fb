//! `value.vector`.

use glam::DVec3;
use sinew_graph::basic::Vector;
use sinew_graph::node;

/// Three numbers as one: a place, a direction, a size.
#[node(id = "value.vector", revision = 1)]
pub fn vector(
    /// The first: to the side.
    #[param(default = 0.0)]
    x: f64,
    /// The second: up.
    #[param(default = 0.0)]
    y: f64,
    /// The third: forward.
    #[param(default = 0.0)]
    z: f64,
) -> Vector {
    Vector(DVec3::new(x, y, z))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_numbers_keep_their_order() {
        assert_eq!(vector(1.0, -2.0, 0.1), Vector(DVec3::new(1.0, -2.0, 0.1)));
    }
}
