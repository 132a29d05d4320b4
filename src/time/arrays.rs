//! Fields as arrays, for programs that use the library.

use std::borrow::Cow;

use ndarray::{Array3, ArrayView3, CowArray, Ix3};

use super::Simulation;
use super::rejections::invalid_initial_state;
use crate::comm::all_or_error;
use crate::config::Variable;
use crate::error::{Result, refused};
use crate::physics::ERROR_COLUMNS;
use crate::real::Values;

impl Simulation {
    /// Names known to [`Simulation::field`]: of every [`Variable`], with `_x`, `_y`, `_z` where it has components.
    pub fn field_names(&self) -> Vec<String> {
        self.components().map(|(name, ..)| name).collect()
    }

    /// The field `name` (`density`, `velocity_x`, `vorticity_z`, …) at the points of [`Simulation::block`], in an array of
    /// `[nz, ny, nx]` values: `[[k, j, i]]` is the value at point (i, j, k). Non-dimensional, as in the files of a run.
    ///
    /// # Errors
    /// Where there is no such field; errors of the device.
    pub fn field(&mut self, name: &str) -> Result<Array3<f64>> {
        let Some((_, variable, component)) = self.components().find(|(known, ..)| known == name)
        else {
            let known = format!("known: {}", self.field_names().join(", "));
            return Err(refused(format!("there is no field `{name}`"), known));
        };
        let values = self.output(&variable)?;
        let values = values.iter().skip(component).step_by(variable.components());
        Ok(self.array(values.collect()))
    }

    /// The conserved variable `name` (`density`, `momentum_x`, …, `total_energy`, `rho_NAME` of a passive scalar; `scalar`), in
    /// an array as above: a view of the field itself where it is in host memory in 64 bit, else a copy.
    ///
    /// # Errors
    /// Where there is no such field; errors of the device.
    pub fn conserved(&self, name: &str) -> Result<CowArray<'_, f64, Ix3>> {
        let names = self.system.names();
        let Some(at) = names.iter().position(|known| known == name) else {
            let known = format!("known: {}", names.join(", "));
            return Err(refused(format!("there is no conserved variable `{name}`"), known));
        };
        let (values, at_rest) =
            (self.backend.values(&self.state[at])?, self.system.base_state()[at]);
        Ok(match values {
            Values::F64(Cow::Borrowed(values)) if at_rest == 0.0 => {
                let view = ArrayView3::from_shape(self.shape(), values);
                view.unwrap_or_else(|_| unreachable!("a field of this block")).into()
            }
            values => self.array(values.iter().map(|value| value + at_rest).collect()).into(),
        })
    }

    /// Start from arrays: `density`, `velocity_x`, `velocity_y`, `velocity_z` and `pressure` of a flow and its passive scalars by
    /// name, or `scalar`, at the points of [`Simulation::block`], each `[nz, ny, nx]` values as [`Simulation::field`] returns
    /// them. Time and step count do not change. Walls then impose their own velocity and temperature on this state, and faces
    /// with `state = "initial"` take the flow of these arrays. The exact solution is then unknown, so that [`Simulation::error`]
    /// returns `None` and the error columns disappear. Collective.
    ///
    /// # Errors
    /// On all ranks, where an array is missing, unknown or of another shape, and where the flow is invalid (ρ or p ≤ 0, or not finite).
    /// The previous state is then unchanged.
    pub fn start_from(&mut self, arrays: &[(&str, ArrayView3<'_, f64>)]) -> Result<()> {
        let comm = self.backend.comm();
        let state = self.ordered(arrays).and_then(|ordered| {
            let [nx, ny, _] = self.block().points;
            let index = |at: usize| [at / (nx * ny), at / nx % ny, at % nx];
            self.system.state_of(&|at, to| {
                to.iter_mut().zip(&ordered).for_each(|(to, array)| *to = array[index(at)]);
            })
        });
        let mut state = all_or_error(comm, state)?;
        self.system.hold(&mut state, self.time_level.time);
        let allowed = "allowed: positive density and pressure, and finite numbers";
        self.system.check_now(&state, self.time_level).map_err(|error| {
            invalid_initial_state(&error).map_or(error, |found| refused(found, allowed))
        })?;
        self.system.capture_initial(&mut state)?;
        self.system.impose(&mut state, self.time_level.time);
        let rate = self.system.check_now(&state, self.time_level)?;
        self.state_mut().iter_mut().zip(state).for_each(|(old, new)| *old = new);
        self.rate = Some(rate);
        self.has_exact = false;
        self.columns.retain(|column| !ERROR_COLUMNS.contains(&column.as_str()));
        Ok(())
    }

    /// The initial arrays in the order of the equations.
    fn ordered<'a>(
        &self,
        arrays: &'a [(&str, ArrayView3<'_, f64>)],
    ) -> Result<Vec<ArrayView3<'a, f64>>> {
        let (names, shape) = (self.system.start_names(), self.shape());
        let allowed = || format!("allowed: {}, each once, as {shape:?} values", names.join(", "));
        let is_known = |name: &str| names.iter().any(|known| known == name);
        if let Some((name, _)) = arrays.iter().find(|(name, _)| !is_known(name)) {
            return Err(refused(format!("`{name}` is not an initial field"), allowed()));
        }
        let find = |wanted: &String| {
            let found: Vec<_> = arrays.iter().filter(|(name, _)| name == wanted).collect();
            let wrong = match found[..] {
                [(_, array)] if array.shape() == shape => return Ok(array.view()),
                [(_, array)] => format!("has {:?} values", array.shape()),
                [] => "is missing".into(),
                _ => "is given more than once".into(),
            };
            Err(refused(format!("`{wanted}` {wrong}"), allowed()))
        };
        names.iter().map(find).collect()
    }

    /// Every component of every variable, by its name.
    fn components(&self) -> impl Iterator<Item = (String, Variable, usize)> {
        self.system.variables().into_iter().flat_map(|variable| {
            let axes: &[&str] =
                if variable.components() == 1 { &[""] } else { &["_x", "_y", "_z"] };
            let name =
                move |(at, axis)| (format!("{}{axis}", variable.name()), variable.clone(), at);
            axes.iter().enumerate().map(name)
        })
    }

    /// Shape of the arrays of the block.
    fn shape(&self) -> [usize; 3] {
        let [nx, ny, nz] = self.block().points;
        [nz, ny, nx]
    }

    fn array(&self, values: Vec<f64>) -> Array3<f64> {
        Array3::from_shape_vec(self.shape(), values)
            .unwrap_or_else(|_| unreachable!("one value per point"))
    }
}
