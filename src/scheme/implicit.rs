//! Diagonally implicit Runge-Kutta methods: their stages are solved one after another.

/// dU/dt = R(U) in stages Uᵢ = Uₙ + dt Σⱼ aᵢⱼ R(Uⱼ), j ≤ i. All are stiffly accurate: the last stage is the new state.
/// A stage whose row is 0 is the old state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImplicitMethod {
    /// Name in an input file.
    pub name: &'static str,
    /// Order of accuracy.
    pub order: u32,
    /// Rows of A up to the diagonal (row i has i + 1 entries, counted from 0).
    pub a: &'static [&'static [f64]],
    /// Author and year.
    pub source: &'static str,
}

/// All implicit methods.
pub static IMPLICIT_METHODS: [&ImplicitMethod; 3] = [&BACKWARD_EULER, &SDIRK2, &ESDIRK64];

/// The first-order implicit method.
pub static BACKWARD_EULER: ImplicitMethod =
    ImplicitMethod { name: "backward-euler", order: 1, a: &[&[1.0]], source: "Euler 1768" };

/// 1 − 1/√2.
const GAMMA: f64 = 1.0 - std::f64::consts::FRAC_1_SQRT_2;

/// Two stages, L-stable (Alexander 1977, SIAM J. Numer. Anal. 14, 1006).
pub static SDIRK2: ImplicitMethod = ImplicitMethod {
    name: "sdirk22",
    order: 2,
    a: &[&[GAMMA], &[1.0 - GAMMA, GAMMA]],
    source: "Alexander 1977",
};

/// Five implicit stages after an explicit one, each of second order, L-stable: the implicit part of ARK4(3)6L\[2\]SA
/// (Kennedy and Carpenter 2003, Appl. Numer. Math. 44, 139).
#[rustfmt::skip]
pub static ESDIRK64: ImplicitMethod = ImplicitMethod {
    name: "esdirk64",
    order: 4,
    a: &[
        &[0.0],
        &[1.0 / 4.0, 1.0 / 4.0],
        &[8611.0 / 62500.0, -1743.0 / 31250.0, 1.0 / 4.0],
        &[5012029.0 / 34652500.0, -654441.0 / 2922500.0, 174375.0 / 388108.0, 1.0 / 4.0],
        &[15267082809.0 / 155376265600.0, -71443401.0 / 120774400.0, 730878875.0 / 902184768.0,
            2285395.0 / 8070912.0, 1.0 / 4.0],
        &[82889.0 / 524892.0, 0.0, 15625.0 / 83664.0, 69875.0 / 102672.0, -2260.0 / 8211.0, 1.0 / 4.0],
    ],
    source: "Kennedy and Carpenter 2003",
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Detects a wrong digit: the order conditions (Hairer, Nørsett and Wanner 1993, section II.2), and L-stability,
    /// R(∞) = 0, which holds for a stiffly accurate method with a regular A.
    #[test]
    fn implicit_methods_satisfy_their_order_conditions() {
        for method in IMPLICIT_METHODS {
            let stages = method.a.len();
            let a = |i: usize, j: usize| method.a[i].get(j).copied().unwrap_or(0.0);
            let b: Vec<f64> = (0..stages).map(|j| a(stages - 1, j)).collect();
            let c: Vec<f64> = method.a.iter().map(|row| row.iter().sum()).collect();
            let times = |x: &[f64]| -> Vec<f64> {
                (0..stages).map(|i| (0..stages).map(|j| a(i, j) * x[j]).sum()).collect()
            };
            let product = |x: &[f64], y: &[f64]| -> Vec<f64> {
                x.iter().zip(y).map(|(x, y)| x * y).collect()
            };
            let ones = vec![1.0; stages];
            let (c2, ac) = (product(&c, &c), times(&c));
            let conditions = [
                (1, ones, 1.0),
                (2, c.clone(), 1.0 / 2.0),
                (3, c2.clone(), 1.0 / 3.0),
                (3, ac.clone(), 1.0 / 6.0),
                (4, product(&c2, &c), 1.0 / 4.0),
                (4, product(&c, &ac), 1.0 / 8.0),
                (4, times(&c2), 1.0 / 12.0),
                (4, times(&ac), 1.0 / 24.0),
            ];
            for (order, vector, expected) in conditions {
                if order > method.order {
                    continue;
                }
                let sum: f64 = product(&b, &vector).iter().sum();
                assert!((sum - expected).abs() < 1e-14, "{}: {sum}, not {expected}", method.name);
            }
            assert!(
                (c[stages - 1] - 1.0).abs() < 1e-14,
                "{} ends at {}",
                method.name,
                c[stages - 1]
            );
            // All stages have the same implicit coefficient, except a possible explicit first stage.
            let own: Vec<f64> = (0..stages).map(|i| a(i, i)).filter(|own| *own != 0.0).collect();
            assert!(own.iter().all(|it| *it == own[0]) && own.len() + 1 >= stages);
        }
    }
}
