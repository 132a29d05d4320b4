//! A custom initial state in a gas, a box and a grid: the flow at every point.

use super::noise::uniform;
use super::{Custom, Expression, Formula, Quantity};
use crate::cases::FlowPoint;
use crate::expression::shown;
use crate::gas::Gas;
use crate::grid::{Domain, Grid};

/// An initial state that can be evaluated at any point.
pub(super) struct Start<'a> {
    custom: &'a Custom,
    gas: Gas,
    grid: Grid,
    /// One entry for every quantity.
    formulas: [Option<Formula<'a>>; 6],
    amplitude: Option<Formula<'a>>,
    /// Whether each of (ρ, p, T) is given.
    given: [bool; 3],
    in_file: Vec<Quantity>,
}

impl<'a> Start<'a> {
    /// The initial state of `custom`, with arrays of `in_file` in its file. If a quantity is given more than once: a sentence, with advice
    /// on a second line.
    pub(super) fn new(
        custom: &'a Custom,
        gas: &Gas,
        domain: &Domain,
        grid: &Grid,
        in_file: &[Quantity],
    ) -> Result<Self, String> {
        if let Some((_, sentence)) = custom.conflict(in_file) {
            return Err(sentence);
        }
        let parameters = Some(&custom.parameters);
        let formula =
            |expression: &'a Expression| Formula::new(expression, parameters, gas, domain);
        Ok(Self {
            custom,
            gas: *gas,
            grid: grid.clone(),
            formulas: Quantity::ALL.map(|quantity| custom.expression(quantity).map(formula)),
            amplitude: custom.noise.as_ref().map(|noise| formula(&noise.amplitude)),
            given: custom.thermodynamic(in_file),
            in_file: in_file.to_vec(),
        })
    }

    /// The flow at the point `index`, where the arrays of the file have the values `array`, in their order. If the values are not a flow: a
    /// sentence, with the allowed values on a second line.
    pub(super) fn at(
        &self,
        index: [usize; 3],
        array: impl Fn(usize) -> f64,
    ) -> Result<FlowPoint, String> {
        let x = self.grid.coordinates(index);
        let checked = |quantity: Quantity, value: f64| {
            let is_velocity = matches!(quantity, Quantity::U | Quantity::V | Quantity::W);
            let is_valid = value.is_finite() && (is_velocity || value > 0.0);
            is_valid.then_some(value).ok_or_else(|| self.invalid_value(quantity, value, index))
        };
        let value = |quantity: Quantity| {
            let formula = self.formulas[quantity as usize].as_ref();
            let in_file = self.in_file.iter().position(|known| *known == quantity);
            let mean = match (formula, in_file) {
                (Some(formula), _) => formula.at(x),
                (None, Some(at)) => array(at),
                (None, None) => quantity.reference(&self.gas),
            };
            let noise = self.custom.noise.as_ref().zip(self.amplitude.as_ref());
            let value = match noise.filter(|_| self.custom.is_noisy(quantity)) {
                Some((noise, amplitude)) => {
                    mean + amplitude.at(x) * uniform(noise.seed, quantity, index, self.grid.points)
                }
                None => mean,
            };
            checked(quantity, value)
        };
        let p0 = self.gas.reference_pressure();
        let (density, pressure) = match self.given {
            [true, true, _] | [false, true, false] | [_, false, false] => {
                (value(Quantity::Rho)?, value(Quantity::P)?)
            }
            [true, false, true] => {
                let density = value(Quantity::Rho)?;
                (density, p0 * density * value(Quantity::T)?)
            }
            [false, _, true] => {
                let pressure = value(Quantity::P)?;
                (pressure / (p0 * value(Quantity::T)?), pressure)
            }
        };
        let velocity = [value(Quantity::U)?, value(Quantity::V)?, value(Quantity::W)?];
        checked(Quantity::Rho, density)?;
        checked(Quantity::P, pressure)?;
        checked(Quantity::T, self.gas.temperature(density, pressure))?;
        Ok(FlowPoint { density, velocity, pressure })
    }

    /// Message for an invalid value: its source, and the allowed values on a second line.
    fn invalid_value(&self, quantity: Quantity, value: f64, index: [usize; 3]) -> String {
        let ([i, j, k], [x, y, z]) = (index, self.grid.coordinates(index));
        let name = quantity.name();
        let from = match self.custom.expression(quantity) {
            Some(expression) => format!(": case.{name} = {:?}", shown(expression.text())),
            None if self.in_file.contains(&quantity) => {
                let file = self.custom.file.as_deref().unwrap_or("".as_ref());
                format!(": an array of {}", file.display())
            }
            None => String::new(),
        };
        let noisy = if self.custom.is_noisy(quantity) { ", with noise" } else { "" };
        let allowed = match quantity {
            Quantity::U | Quantity::V | Quantity::W => "finite numbers",
            _ => "positive finite numbers",
        };
        format!(
            "the initial state has {name} = {value:?} at point ({i}, {j}, {k}), x = {x}, y = {y}, z = {z}{from}{noisy}\nallowed: {allowed}"
        )
    }
}
