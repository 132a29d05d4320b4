//! Jacobians of the fluxes through a face.

use crate::gas::Gas;
use crate::physics::formulas::dot;
use crate::physics::slots::conserved::COUNT;
use crate::simd::{array_of, mapped};

/// A block: entry (i, j) is in row i.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrix(pub(super) [[f64; COUNT]; COUNT]);

impl Matrix {
    /// The identity matrix times `factor`.
    pub(super) fn identity(factor: f64) -> Self {
        let mut matrix = Self([[0.0; COUNT]; COUNT]);
        matrix.add_identity(factor);
        matrix
    }

    pub(super) fn add_identity(&mut self, factor: f64) {
        for i in 0..COUNT {
            self.0[i][i] += factor;
        }
    }

    /// Add `factor` times the outer product of a column and a row.
    pub(super) fn add_product(&mut self, factor: f64, column: &[f64; COUNT], row: &[f64; COUNT]) {
        for i in 0..COUNT {
            for j in 0..COUNT {
                self.0[i][j] += factor * column[i] * row[j];
            }
        }
    }

    pub(super) fn add(&mut self, factor: f64, other: &Matrix) {
        for i in 0..COUNT {
            for j in 0..COUNT {
                self.0[i][j] += factor * other.0[i][j];
            }
        }
    }
}

/// The block for scaled unknowns and equations, in column-major order.
pub(super) fn scaled(matrix: &Matrix, scale: &[f64; COUNT]) -> [f64; COUNT * COUNT] {
    array_of(|at| {
        let (i, j) = (at % COUNT, at / COUNT);
        matrix.0[i][j] * scale[j] / scale[i]
    })
}

/// The flow at a point.
pub(super) struct Flow {
    pub(super) rho: f64,
    u: [f64; 3],
    /// E of ρE.
    pub(super) energy: f64,
    gamma: f64,
}

impl Flow {
    /// From (ρ, ρu, ρv, ρw, ρE).
    pub(super) fn new(gas: &Gas, state: &[f64]) -> Self {
        let rho = state[0];
        let u = array_of(|k| state[1 + k] / rho);
        Self { rho, u, energy: state[4] / rho, gamma: gas.gamma }
    }

    /// ½ u·u.
    fn kinetic(&self) -> f64 {
        0.5 * dot(self.u, self.u)
    }

    /// p/ρ.
    fn pressure_per_density(&self) -> f64 {
        (self.gamma - 1.0) * (self.energy - self.kinetic())
    }

    /// c.
    pub(super) fn sound_speed(&self) -> f64 {
        (self.gamma * self.pressure_per_density()).sqrt()
    }

    /// |u|.
    pub(super) fn speed(&self) -> f64 {
        (2.0 * self.kinetic()).sqrt()
    }

    /// μ/Re.
    pub(super) fn viscosity(&self, gas: &Gas) -> f64 {
        gas.mu(gas.temperature(1.0, self.pressure_per_density())) / gas.reynolds
    }

    /// ∂p/∂U.
    pub(super) fn pressure_derivative(&self) -> [f64; COUNT] {
        let gm1 = self.gamma - 1.0;
        let [u, v, w] = mapped(self.u, |u| -gm1 * u);
        [gm1 * self.kinetic(), u, v, w, gm1]
    }

    /// r = (1, u, H).
    pub(super) fn carried(&self) -> [f64; COUNT] {
        let [u, v, w] = self.u;
        [1.0, u, v, w, self.energy + self.pressure_per_density()]
    }

    /// Γ |Γ⁻¹A| with A = ∂(F·g)/∂U, where Γ (see [`pseudo_time`](super::pseudo_time)) has the speed c √ε instead of Vᵣ; for ε = 1 it is |A|
    /// (Roe 1981). All wave speeds are at least a twentieth of the speed of sound of this system (Harten 1983). Entropy and shear travel
    /// with |u·g|; dp and ρ c du_n, n = g/|g|, with the matrix ((ε u·g, ε c|g|), (c|g|, u·g)), whose absolute value is a linear combination
    /// of this matrix and the identity.
    pub(super) fn upwind(&self, g: [f64; 3], epsilon: f64) -> Matrix {
        const MIN_SPEED: f64 = 0.05;
        let length = dot(g, g).sqrt();
        let (n, c) = (mapped(g, |g| g / length), self.sound_speed());
        let (theta, sound) = (dot(self.u, g), c * length);
        let middle = 0.5 * (1.0 + epsilon) * theta;
        let half_gap = (0.25 * ((1.0 - epsilon) * theta).powi(2) + epsilon * sound * sound).sqrt();
        let speed = |x: f64| x.abs().max(MIN_SPEED * half_gap);
        let (slow, up, down) = (speed(theta), speed(middle + half_gap), speed(middle - half_gap));
        let times = 0.5 * (up - down) / half_gap;
        let unit = 0.5 * (up + down) - times * middle;
        let (velocity, pressure) = (self.velocity_derivative(), self.pressure_derivative());
        let (carried, through) = (self.carried(), dot(self.u, n));
        let mut a = Matrix::identity(slow);
        for j in 0..COUNT {
            let along: f64 = (0..3).map(|k| n[k] * velocity[k][j]).sum();
            let (p, w) = (pressure[j] / (c * c), self.rho * along / c);
            // Coefficients of (1, u, H) and of (0, n, u_n).
            let s = (times * theta + unit / epsilon - slow) * p + times * sound * w;
            let t = c * (times * sound * p + (times * theta + unit - slow) * w);
            for i in 0..COUNT {
                a.0[i][j] += s * carried[i];
            }
            for k in 0..3 {
                a.0[1 + k][j] += t * n[k];
            }
            a.0[4][j] += t * through;
        }
        a
    }

    /// ∂(F·g)/∂U of the convective flux (Hirsch 1990, section 16.3).
    pub(super) fn convection(&self, g: [f64; 3]) -> Matrix {
        let Self { u, gamma, .. } = *self;
        let gm1 = gamma - 1.0;
        let (theta, phi) = (dot(u, g), gm1 * self.kinetic());
        let enthalpy = self.energy + self.pressure_per_density();
        let mut a = [[0.0; COUNT]; COUNT];
        a[0][1..4].copy_from_slice(&g);
        for i in 0..3 {
            a[1 + i][0] = phi * g[i] - u[i] * theta;
            for j in 0..3 {
                a[1 + i][1 + j] = u[i] * g[j] - gm1 * u[j] * g[i];
            }
            a[1 + i][1 + i] += theta;
            a[1 + i][4] = gm1 * g[i];
        }
        a[4][0] = theta * (phi - enthalpy);
        for j in 0..3 {
            a[4][1 + j] = enthalpy * g[j] - gm1 * u[j] * theta;
        }
        a[4][4] = gamma * theta;
        Matrix(a)
    }

    /// |g|² (μ/Re) ∂(…)/∂U of the viscous flux across a thin layer with the normal n = g/|g|: u + n (n·u)/3 for momentum; for energy, the
    /// work of this with u, and (γ/Pr) e.
    pub(super) fn diffusion(&self, gas: &Gas, g: [f64; 3]) -> Matrix {
        let mut a = [[0.0; COUNT]; COUNT];
        if gas.is_inviscid() {
            return Matrix(a);
        }
        let u = self.u;
        let squares = dot(g, g);
        let factor = self.viscosity(gas) * squares;
        let n = mapped(g, |g| g / squares.sqrt());
        let velocity = self.velocity_derivative();
        for i in 0..3 {
            for j in 0..COUNT {
                let along: f64 = (0..3).map(|k| n[k] * velocity[k][j]).sum();
                let stress = velocity[i][j] + n[i] * along / 3.0;
                a[1 + i][j] = factor * stress;
                a[4][j] += u[i] * factor * stress;
            }
        }
        let heat = factor * self.gamma / gas.prandtl;
        let energy_derivative = self.internal_energy_derivative();
        for j in 0..COUNT {
            a[4][j] += heat * energy_derivative[j];
        }
        Matrix(a)
    }

    /// ∂uᵢ/∂U.
    fn velocity_derivative(&self) -> [[f64; COUNT]; 3] {
        let per_density = 1.0 / self.rho;
        let mut rows = [[0.0; COUNT]; 3];
        for i in 0..3 {
            rows[i][0] = -self.u[i] * per_density;
            rows[i][1 + i] = per_density;
        }
        rows
    }

    /// ∂e/∂U of the internal energy e = E − ½ u·u.
    pub(super) fn internal_energy_derivative(&self) -> [f64; COUNT] {
        let per_density = 1.0 / self.rho;
        let [u, v, w] = mapped(self.u, |u| -u * per_density);
        [(2.0 * self.kinetic() - self.energy) * per_density, u, v, w, per_density]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gas::Viscosity;

    const GAS: Gas =
        Gas { gamma: 1.4, prandtl: 0.7, mach: 0.4, reynolds: 30.0, viscosity: Viscosity::Constant };
    const STATE: [f64; COUNT] = [1.1, 0.5, -0.3, 0.2, 13.0];
    const G: [f64; 3] = [2.0, -1.5, 0.7];

    /// The Jacobian of `function` at `STATE` by central differences, column by column.
    fn differences(function: impl Fn([f64; COUNT]) -> [f64; COUNT]) -> [[f64; COUNT]; COUNT] {
        let mut columns = [[0.0; COUNT]; COUNT];
        for j in 0..COUNT {
            let shifted = |by: f64| {
                let mut state = STATE;
                state[j] += by;
                function(state)
            };
            let [up, down] = [shifted(1e-5), shifted(-1e-5)];
            (0..COUNT).for_each(|i| columns[i][j] = (up[i] - down[i]) / 2e-5);
        }
        columns
    }

    fn assert_near(actual: &Matrix, expected: &[[f64; COUNT]; COUNT]) {
        for (a, b) in actual.0.iter().flatten().zip(expected.iter().flatten()) {
            assert!((a - b).abs() < 1e-7 * (1.0 + b.abs()), "{actual:?}\n{expected:?}");
        }
    }

    /// Detects a wrong sign or index in the Jacobian of the convective flux.
    #[test]
    fn convection_is_the_jacobian_of_the_convective_flux() {
        let flux = |state: [f64; COUNT]| {
            let [rho, x, y, z, e] = state;
            let p = 0.4 * (e - 0.5 * (x * x + y * y + z * z) / rho);
            let through = dot([x, y, z], G) / rho;
            [
                rho * through,
                x * through + p * G[0],
                y * through + p * G[1],
                z * through + p * G[2],
                (e + p) * through,
            ]
        };
        assert_near(&Flow::new(&GAS, &STATE).convection(G), &differences(flux));
    }

    /// Detects an error in the stress, in its work, or in the heat flux.
    #[test]
    fn diffusion_is_the_jacobian_of_the_thin_layer_viscous_flux() {
        let at = Flow::new(&GAS, &STATE);
        let (squares, u) = (dot(G, G), at.u);
        // The flux due to a jump of velocity and temperature, with the coefficients of `at`.
        let flux = |state: [f64; COUNT]| {
            let flow = Flow::new(&GAS, &state);
            let normal = dot(flow.u, G) / squares;
            let stress =
                [0, 1, 2].map(|i| (flow.u[i] + G[i] * normal / 3.0) * squares / GAS.reynolds);
            let t = GAS.temperature(1.0, flow.pressure_per_density());
            let [x, y, z] = stress;
            [0.0, x, y, z, dot(u, stress) + GAS.conductivity() * t * squares]
        };
        assert_near(&at.diffusion(&GAS, G), &differences(flux));
    }

    /// A · B.
    fn product(a: &Matrix, b: &Matrix) -> Matrix {
        let entry = |i: usize, j: usize| (0..COUNT).map(|k| a.0[i][k] * b.0[k][j]).sum();
        Matrix(std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j))))
    }

    /// Detects a wrong wave speed, of sound or of the preconditioned system: (Γ⁻¹D)² = (Γ⁻¹A)² for D = Γ |Γ⁻¹A| if no wave speed
    /// is small.
    #[test]
    fn upwind_matrix_has_the_wave_speeds_of_convection() {
        let flow = Flow::new(&GAS, &STATE);
        let (carried, pressure) = (flow.carried(), flow.pressure_derivative());
        let c2 = flow.sound_speed().powi(2);
        let [plain, preconditioned] = [1.0, 0.3].map(|epsilon| {
            // Γ⁻¹ for β = (1/ε − 1)/c² (Sherman and Morrison 1950), since ∂p/∂U r = c².
            let mut inverse = Matrix::identity(1.0);
            inverse.add_product((epsilon - 1.0) / c2, &carried, &pressure);
            let square = |a: &Matrix| {
                let own = product(&inverse, a);
                product(&own, &own)
            };
            let upwind = flow.upwind(G, epsilon);
            assert_near(&square(&upwind), &square(&flow.convection(G)).0);
            assert!(upwind != flow.convection(G));
            upwind
        });
        assert!(plain != preconditioned);
    }

    /// Detects a wrong derivative of the pressure, which the preconditioner of pseudo-time uses.
    #[test]
    fn pressure_derivative_matches_finite_differences() {
        let differences = differences(|state| {
            let flow = Flow::new(&GAS, &state);
            [flow.rho * flow.pressure_per_density(), 0.0, 0.0, 0.0, 0.0]
        });
        let own = Flow::new(&GAS, &STATE).pressure_derivative();
        let near = own.iter().zip(differences[0]).all(|(a, b)| (a - b).abs() < 1e-7);
        assert!(near, "{own:?} {differences:?}");
    }
}
