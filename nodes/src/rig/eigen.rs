//! Eigenvalues of small symmetric matrices (cyclic Jacobi; Golub and Van Loan, *Matrix Computations*, 8.5).

use glam::{DMat3, DVec3};

/// Eigenvalues, falling, and the unit eigenvectors that belong to them.
pub fn symmetric(matrix: DMat3) -> ([f64; 3], [DVec3; 3]) {
    let mut a = matrix.to_cols_array_2d();
    let mut v = DMat3::IDENTITY.to_cols_array_2d();
    for _ in 0..32 {
        let off = a[0][1].powi(2) + a[0][2].powi(2) + a[1][2].powi(2);
        let diagonal = a[0][0].powi(2) + a[1][1].powi(2) + a[2][2].powi(2);
        if off <= 1e-30 * diagonal || off == 0.0 {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q] == 0.0 {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            for row in &mut a {
                (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
            }
            let (x, y) = (a[p], a[q]);
            for k in 0..3 {
                (a[p][k], a[q][k]) = (c * x[k] - s * y[k], s * x[k] + c * y[k]);
            }
            let (x, y) = (v[p], v[q]);
            for k in 0..3 {
                (v[p][k], v[q][k]) = (c * x[k] - s * y[k], s * x[k] + c * y[k]);
            }
        }
    }
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| a[j][j].total_cmp(&a[i][i]));
    (order.map(|k| a[k][k]), order.map(|k| DVec3::from(v[k])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turned_diagonal_matrix_gives_its_values_and_axes() {
        let turn = DMat3::from_euler(glam::EulerRot::XYZ, 0.3, -1.1, 2.0);
        let matrix = turn * DMat3::from_diagonal(DVec3::new(2.0, 9.0, 4.0)) * turn.transpose();
        let (values, vectors) = symmetric(matrix);
        for (value, expected) in values.iter().zip([9.0, 4.0, 2.0]) {
            assert!((value - expected).abs() < 1e-12);
        }
        for (vector, axis) in vectors.iter().zip([turn.y_axis, turn.z_axis, turn.x_axis]) {
            assert!(vector.dot(axis).abs() > 1.0 - 1e-12);
        }
    }

    #[test]
    fn zero_and_equal_values_are_no_trouble() {
        assert_eq!(symmetric(DMat3::ZERO).0, [0.0; 3]);
        assert_eq!(symmetric(DMat3::IDENTITY).0, [1.0; 3]);
    }
}
