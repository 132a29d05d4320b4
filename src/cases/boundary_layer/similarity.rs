//! Self-similar laminar boundary layers over a flat plate without a pressure gradient.

use crate::cases::FlowPoint;
use crate::gas::Gas;
use crate::simd::array_of;

/// The solution of the boundary-layer equations in Y = y √(Re/2x), with ψ = √(2x/Re) f the stream function of ρu and x the distance
/// from the leading edge,
///
/// ```text
/// f' = ρu,  (μ u')' + f u' = 0,  (μ T')'/Pr + f T' + (γ − 1) Ma² μ u'² = 0,  ρ = 1/T
/// f = u = 0 and T' = 0, or T = T_w, on the plate;  u = T = 1 far away
/// ```
///
/// For ρ = μ = 1 this is the equation of Blasius (1908); for variable T, Y is ∫T dη of the variables of Illingworth (1949) and Howarth
/// (1948).
#[derive(Clone, Debug)]
pub struct Similarity {
    gas: Gas,
    /// Table from the plate outwards, `step` apart.
    rows: Vec<State>,
    step: f64,
}

/// f, u, μu', T and μT'/Pr.
type State = [f64; 5];

/// Intervals of the table: the errors of the fourth-order integration are below 1e-10.
const INTERVALS: u32 = 4000;
/// Maximum number of Newton iterations for the values on the plate, and tolerance of the far-field values.
const MAX_ITERATIONS: usize = 100;
const TOLERANCE: f64 = 1e-11;
/// Shortest continuation step from the first layer to the requested one, as a fraction of the total.
const MIN_STEP: f64 = 1.0 / 64.0;

impl Similarity {
    /// The layer of `gas` over a plate of this temperature, or over an adiabatic one; `None` if none is found.
    pub fn new(gas: &Gas, plate: Option<f64>) -> Option<Self> {
        // Recovery temperature from the recovery factor √Pr.
        let recovery = 1.0 + 0.5 * gas.prandtl.sqrt() * (gas.gamma - 1.0) * gas.mach * gas.mach;
        // f reaches its asymptote, and T its Gaussian tail.
        let hottest = plate.unwrap_or(1.0).max(recovery);
        let end = 1.7 * hottest + 9.0 / gas.prandtl.min(1.0).sqrt();
        let mut trial = Self { gas: *gas, rows: Vec::new(), step: end / f64::from(INTERVALS) };
        // Continuation from Blasius's layer, where T = 1, in steps of Ma² and of the plate temperature, as long as they converge.
        let mut wall_values = [0.4696, plate.map_or(1.0, |_| 0.0)];
        let (mut reached, mut step) = (0.0, 1.0);
        while reached < 1.0 {
            let next = f64::min(reached + step, 1.0);
            trial.gas.mach = gas.mach * next.sqrt();
            match trial.solve(plate.map(|t| 1.0 + next * (t - 1.0)), wall_values) {
                Some(solution) => (reached, wall_values) = (next, solution),
                None if step < MIN_STEP => return None,
                None => step *= 0.5,
            }
        }
        (trial.displacement() > 0.0).then_some(trial)
    }

    /// The unknown values on a plate of this temperature, from a guess, by Newton's method; `None` if it does not converge.
    fn solve(&mut self, plate: Option<f64>, guess: [f64; 2]) -> Option<[f64; 2]> {
        let mut wall_values = guess;
        let mut errors = self.shoot(plate, wall_values);
        for _ in 0..MAX_ITERATIONS {
            if size(errors) < TOLERANCE {
                return Some(wall_values);
            }
            let mut changes = [[0.0; 2]; 2];
            for (which, change) in changes.iter_mut().enumerate() {
                const INCREMENT: f64 = 1e-7;
                let mut perturbed = wall_values;
                perturbed[which] += INCREMENT;
                let new_errors = self.shoot(plate, perturbed);
                *change = [0, 1].map(|k| (new_errors[k] - errors[k]) / INCREMENT);
            }
            let [[a, c], [b, d]] = changes;
            let det = a * d - b * c;
            let newton =
                [(d * errors[0] - b * errors[1]) / det, (a * errors[1] - c * errors[0]) / det];
            // Damped Newton step: halved until the error decreases.
            let mut damping = 1.0;
            (wall_values, errors) = loop {
                let next = [0, 1].map(|k| wall_values[k] - damping * newton[k]);
                let new_errors = self.shoot(plate, next);
                if size(new_errors) < size(errors) {
                    break (next, new_errors);
                }
                damping *= 0.5;
                if damping < 1e-3 {
                    return None;
                }
            };
        }
        None
    }

    /// Fill the table from the plate outwards by the classical Runge-Kutta method, with the given values on the plate. Returns the errors
    /// of u and T at the end, where both should be 1.
    fn shoot(&mut self, plate: Option<f64>, [shear, heat]: [f64; 2]) -> [f64; 2] {
        let mut state = match plate {
            Some(t) => [0.0, 0.0, shear, t, heat],
            None => [0.0, 0.0, shear, heat, 0.0],
        };
        let h = self.step;
        self.rows = vec![state];
        for _ in 0..INTERVALS {
            let to = |slope: State, h: f64| array_of(|k| state[k] + h * slope[k]);
            let a = self.slope(state);
            let b = self.slope(to(a, 0.5 * h));
            let c = self.slope(to(b, 0.5 * h));
            let d = self.slope(to(c, h));
            let mean = array_of(|k| (a[k] + 2.0 * (b[k] + c[k]) + d[k]) / 6.0);
            state = to(mean, h);
            self.rows.push(state);
        }
        [state[1] - 1.0, state[3] - 1.0]
    }

    /// The derivative of the state.
    fn slope(&self, [f, u, shear, t, heat]: State) -> State {
        let Gas { gamma, prandtl, mach, .. } = self.gas;
        let mu = self.gas.mu(t);
        let [du, dt] = [shear / mu, prandtl * heat / mu];
        [u / t, du, -f * du, dt, -f * dt - (gamma - 1.0) * mach * mach * shear * du]
    }

    /// δ* over √(2x/Re): ∫(1 − ρu) dY.
    fn displacement(&self) -> f64 {
        let end = self.step * f64::from(INTERVALS);
        end - self.rows.last().map_or(end, |[f, ..]| *f)
    }

    /// Distance from the leading edge at which δ* = 1.
    pub fn inflow(&self) -> f64 {
        0.5 * self.gas.reynolds / self.displacement().powi(2)
    }

    /// The friction coefficient C_f = 2τ_w at the distance x from the leading edge: 0.664 Re_x^(−1/2) for ρ = μ = 1.
    pub fn friction(&self, x: f64) -> f64 {
        let [_, _, shear, ..] = self.rows[0];
        shear * (2.0 / (self.gas.reynolds * x)).sqrt()
    }

    /// The flow at the distance x from the leading edge and y from the plate.
    pub fn flow(&self, x: f64, y: f64) -> FlowPoint {
        let re = self.gas.reynolds;
        let eta = y * (0.5 * re / x).sqrt();
        let [f, u, t] = self.at(eta);
        let v = (u * eta - t * f) / (2.0 * x * re).sqrt();
        let pressure = self.gas.reference_pressure();
        FlowPoint { density: 1.0 / t, velocity: [u, v, 0.0], pressure }
    }

    /// f, u and T at Y, by cubic interpolation between rows.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the table")]
    fn at(&self, eta: f64) -> [f64; 3] {
        let place = eta / self.step;
        let row = place.floor();
        let Some([low, high]) = self.rows.get(row as usize..).and_then(|rows| rows.first_chunk())
        else {
            // Beyond the table ρ = u = T = 1.
            return [eta - self.displacement(), 1.0, 1.0];
        };
        let (s, r) = (place - row, 1.0 - (place - row));
        let [at_low, at_high] = [low, high].map(|state| self.slope(*state));
        [0, 1, 3].map(|k| {
            let values = r * r * (1.0 + 2.0 * s) * low[k] + s * s * (1.0 + 2.0 * r) * high[k];
            values + self.step * s * r * (r * at_low[k] - s * at_high[k])
        })
    }
}

/// The larger of both magnitudes; infinite if one is not finite.
fn size(errors: [f64; 2]) -> f64 {
    errors.iter().map(|x| if x.is_finite() { x.abs() } else { f64::INFINITY }).fold(0.0, f64::max)
}
