//! The initial spectrum.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::IsotropicTurbulence;
use crate::expression::Expression;
use crate::fourier::Shells;
use crate::grid::Grid;

/// The keyword for [`Spectrum::PassotPouquet`].
const PASSOT_POUQUET: &str = "passot-pouquet";
/// Names allowed in an expression.
const NAMES: [&str; 3] = ["k", "k0", "pi"];

/// E(k) up to a constant factor.
#[derive(Clone, Debug, PartialEq)]
pub enum Spectrum {
    /// k⁴ exp(−2 k²/k₀²) (Passot and Pouquet 1987), largest at k₀.
    PassotPouquet,
    /// An expression of k and k₀.
    Expression(Expression),
}

impl Spectrum {
    /// E(k) for a peak at `k0`.
    fn at(&self, k: f64, k0: f64) -> f64 {
        match self {
            Self::PassotPouquet => k.powi(4) * (-2.0 * (k / k0).powi(2)).exp(),
            Self::Expression(expression) => expression.value_with(|name| match name {
                "k" => k,
                "k0" => k0,
                "pi" => std::f64::consts::PI,
                _ => f64::NAN,
            }),
        }
    }

    /// Messages about unknown names.
    pub(super) fn problems(&self) -> Vec<String> {
        let Self::Expression(expression) = self else { return Vec::new() };
        let unknown = expression.unknown_names("spectrum", &NAMES).into_iter();
        unknown.map(|(_, why)| format!("{why}; or the word {PASSOT_POUQUET}")).collect()
    }

    fn text(&self) -> &str {
        match self {
            Self::PassotPouquet => PASSOT_POUQUET,
            Self::Expression(expression) => expression.text(),
        }
    }
}

impl Serialize for Spectrum {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.serialize_str(self.text())
    }
}

impl<'de> Deserialize<'de> for Spectrum {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        // For the parser, the keyword is a difference of two names.
        let expression = Expression::deserialize(input)?;
        let is_word = expression.text() == PASSOT_POUQUET;
        Ok(if is_word { Self::PassotPouquet } else { Self::Expression(expression) })
    }
}

impl IsotropicTurbulence {
    /// E_s of every shell on the grid, starting with the mean, where it is 0. The sum is ½⟨u·u⟩. The error is the key, and a sentence with
    /// advice on a second line.
    pub(super) fn energies(&self, grid: &Grid) -> Result<Vec<f64>, (&'static str, String)> {
        let shells = Shells::new(grid);
        let (k0, last) = (self.peak_wavenumber, shells.incomplete - 1);
        let wavenumber = |shell: usize| shell as f64 * shells.smallest;
        let is_beyond = k0 > wavenumber(last);
        if self.spectrum == Spectrum::PassotPouquet && is_beyond {
            let most = wavenumber(last);
            let sentence = format!(
                "peak_wavenumber = {k0} is beyond {most}, the last shell of wavenumbers that the grid holds\nuse more points or a smaller wavenumber"
            );
            return Err(("peak_wavenumber", sentence));
        }
        let text = self.spectrum.text();
        let mut energies = vec![0.0];
        for shell in 1..=last {
            let k = wavenumber(shell);
            let energy = self.spectrum.at(k, k0);
            if !(energy.is_finite() && energy >= 0.0) {
                let sentence = format!(
                    "spectrum = {text:?} is {energy:?} at k = {k}\nallowed: zero or positive finite numbers"
                );
                return Err(("spectrum", sentence));
            }
            energies.push(energy);
        }
        let sum: f64 = energies.iter().sum();
        if !(sum > 0.0 && sum.is_finite()) {
            let sentence = format!(
                "spectrum = {text:?} sums to {sum:?} over the wavenumbers that the grid holds\nallowed: a positive finite sum"
            );
            return Err(("spectrum", sentence));
        }
        let total = 0.5 * grid.active_axes().count() as f64;
        energies.iter_mut().for_each(|energy| *energy *= total / sum);
        Ok(energies)
    }
}
