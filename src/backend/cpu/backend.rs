//! The host as a [`Backend`].

use std::borrow::Cow;

use super::{Cpu, Field, Program, SHAPES};
use crate::backend::ComputeConfig;
use crate::backend::{Backend, Reduction, Weights};
use crate::engine::{LineOperators, PointFormula, Sweep};
use crate::error::Result;
use crate::grid::Axis;
use crate::real::Real;

impl<T: Real> Backend for Cpu<T> {
    type Real = T;
    type Field = Field<T>;
    type Program = Program<T>;
    type Prepared = PointFormula;

    fn open(compute: &ComputeConfig, _: usize) -> Result<Self> {
        Cpu::new(compute.threads)
    }

    fn name(&self) -> &'static str {
        "cpu"
    }

    fn threads(&self) -> usize {
        self.threads()
    }

    fn simd(&self) -> &'static str {
        self.simd()
    }

    fn device_name(&self) -> Option<String> {
        None
    }

    fn shapes(&self) -> Vec<&'static str> {
        SHAPES.iter().map(|shape| shape.name).collect()
    }

    fn shaped(self, shape: &str) -> Self {
        let known = SHAPES.iter().copied().find(|known| known.name == shape);
        Self { shape: known.unwrap_or(self.shape), ..self }
    }

    fn shape(&self) -> Option<&'static str> {
        Some(self.shape.name)
    }

    fn finish(&self) -> Result<()> {
        Ok(())
    }

    fn field(&self, values: Vec<T>) -> Result<Field<T>> {
        let mut field = Field::zeros(values.len());
        field.copy_from_slice(&values);
        Ok(field)
    }

    fn zeros(&self, len: usize) -> Result<Field<T>> {
        Ok(Field::zeros(len))
    }

    fn values<'a>(&self, field: &'a Field<T>) -> Result<Cow<'a, [T]>> {
        Ok(Cow::Borrowed(field))
    }

    fn copy(&self, from: &Field<T>, to: &mut Field<T>) {
        to.copy_from_slice(from);
    }

    fn clear(&self, field: &mut Field<T>) {
        field.fill(T::ZERO);
    }

    fn program(
        &self,
        sweep: &Sweep,
        axis: Axis,
        points: [usize; 3],
        operators: &LineOperators,
    ) -> Result<Program<T>> {
        Ok(Program::new(sweep, axis, points, operators))
    }

    fn program_of_advanced(
        &self,
        sweep: &Sweep,
        axis: Axis,
        points: [usize; 3],
        operators: &LineOperators,
    ) -> Result<Option<Program<T>>> {
        self.program(sweep, axis, points, operators).map(Some)
    }

    fn run(
        &self,
        program: &Program<T>,
        read: &[&Field<T>],
        write: &mut [&mut Field<T>],
        weights: Weights,
    ) {
        self.run(program, read, write, weights);
    }

    fn prepare(&self, formula: PointFormula) -> Result<PointFormula> {
        Ok(formula)
    }

    fn map(
        &self,
        formula: &PointFormula,
        read: &[&Field<T>],
        write: &mut [&mut Field<T>],
        parameters: &[f64],
    ) {
        self.map(formula, read, write, parameters);
    }

    fn reduce(
        &self,
        formula: &PointFormula,
        read: &[&Field<T>],
        parameters: &[f64],
    ) -> Result<Reduction> {
        let mut totals = [0.0; Reduction::MOST];
        self.reduce_to(formula, read, parameters, &mut totals[..formula.results.len()]);
        Ok(Reduction::Done(totals))
    }

    fn within<A: Send>(&self, work: impl FnOnce() -> A + Send) -> A {
        self.within(work)
    }
}
