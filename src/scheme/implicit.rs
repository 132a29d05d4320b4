//! Diagonally implicit Runge-Kutta methods: their stages are solved one after another.

/// dU/dt = R(U) in stages Uᵢ = Uₙ + dt Σⱼ aᵢⱼ R(Uⱼ), j ≤ i. All are stiffly accurate: the last stage is the new state. A stage whose row
/// is 0 is the old state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImplicitMethod {
    /// What the user types.
    pub name: &'static str,
    /// Order of accuracy.
    pub order: u32,
    /// Rows of A up to the diagonal (row i has i + 1 entries, counted from 0).
    pub a: &'static [&'static [f64]],
    /// Author and year.
    pub source: &'static str,
}

impl ImplicitMethod {
    /// c of each stage: the sum of its row.
    pub fn nodes(&self) -> impl Iterator<Item = f64> {
        self.a.iter().map(|row| row.iter().sum())
    }
}

/// Every implicit method.
pub static IMPLICIT_METHODS: [&ImplicitMethod; 3] = [&BACKWARD_EULER, &SDIRK2, &ESDIRK64];

/// The implicit method of first order.
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

/// Five implicit stages behind an explicit one, each of second order, L-stable: ARK4(3)6L\[2\]SA, its implicit part (Kennedy and Carpenter
/// 2003, Appl. Numer. Math. 44, 139).
#[rustfmt::skip]
pub static ESDIRK64: ImplicitMethod = ImplicitMethod {
    name: "esdirk64",
    order: 4,
    a: &[
        &[0.0],
        &[1.0 / 4.0, 1.0 / 4.0],
        &[8611.0 / 62500.0, -1743.0 / 31250.0, 1.0 / 4.0],
        &[5012029.0 / 34652500.0, -2922.0 / 441125.0, 174375.0 / 388108.0, 1.0 / 4.0],
        &[15267082809.0 / 155376265600.0, -71443401.0 / 120774400.0, 730878875.0 / 902184768.0,
            2285395.0 / 8070912.0, 1.0 / 4.0],
        &[82889.0 / 524892.0, 0.0, 15625.0 / 83664.0, 69875.0 / 102672.0, -2260.0 / 8211.0, 1.0 / 4.0],
    ],
    source: "Kennedy and Carpenter 2003",
};
