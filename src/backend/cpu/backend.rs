//! The host as a [`Backend`].

use std::borrow::Cow;
use std::sync::Arc;

use smallvec::SmallVec;

use super::program::How;
use super::{Cpu, PointCode, SHAPES, block_solver, shapes};
use crate::backend::handles::{BlockSolver, Field, Prepared, Program, all, all_mut};
use crate::backend::ranks::Blocks;
use crate::backend::{Backend, Lines, OnPart, Reduction, Sources, Targets, Weights};
use crate::blocks::{Colouring, Factored, Halo, Sweeps};
use crate::engine::{PointFormula, Sweep};
use crate::error::Result;
use crate::real::{Precision, Real, Values};

impl<T: Real> Backend for Cpu<T> {
    fn precision(&self) -> Precision {
        T::PRECISION
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
        shapes(self.arch).iter().map(|(name, _)| *name).collect()
    }

    fn set_shape(&mut self, shape: &str) {
        if let Some((_, shape)) = shapes(self.arch).iter().find(|(name, _)| *name == shape) {
            self.shape = *shape;
        }
    }

    fn shape(&self) -> Option<&'static str> {
        let known = SHAPES.into_iter().find(|(_, shape)| *shape == self.shape);
        known.map(|(name, _)| name)
    }

    fn finish(&self) -> Result<()> {
        Ok(())
    }

    fn field(&self, values: &Values<'_>) -> Result<Field> {
        let mut field = self.zeros(values.len())?;
        self.write(&mut field, values)?;
        Ok(field)
    }

    fn zeros(&self, len: usize) -> Result<Field> {
        Ok(Field::new(super::Field::<T>::zeros(len)))
    }

    fn values<'a>(&self, field: &'a Field) -> Result<Values<'a>> {
        Ok(T::values(Cow::Borrowed(field.get::<super::Field<T>>())))
    }

    fn write(&self, field: &mut Field, values: &Values<'_>) -> Result<()> {
        let field = field.get_mut::<super::Field<T>>();
        assert_eq!(field.len(), values.len(), "values for another field");
        field.iter_mut().zip(values.iter()).for_each(|(to, value)| *to = T::of(value));
        Ok(())
    }

    fn copy(&self, from: &Field, to: &mut Field) {
        to.get_mut::<super::Field<T>>().copy_from_slice(from.get::<super::Field<T>>());
    }

    fn clear(&self, field: &mut Field) {
        field.get_mut::<super::Field<T>>().fill(T::ZERO);
    }

    fn program(&self, sweep: &Sweep, lines: Lines<'_>) -> Result<Program> {
        let how = How {
            loading: self.shape.loading,
            line_solver: self.line_solver,
            generated_for: self.shape.generated.then_some(self.arch),
        };
        Ok(Program::new(super::Program::<T>::prepared(sweep, lines, how)?, sweep))
    }

    fn program_on_advanced_field(
        &self,
        sweep: &Sweep,
        lines: Lines<'_>,
    ) -> Result<Option<Program>> {
        self.program(sweep, lines).map(Some)
    }

    fn run(&self, program: &Program, read: Sources, write: Targets, weights: Weights) {
        let (read, mut write) = (all(read), all_mut(write));
        self.run(program.get(), &read, &mut write, weights);
    }

    /// Programs along x and y run together, plane by plane.
    fn run_all(
        &self,
        programs: &mut dyn Iterator<Item = &Program>,
        read: Sources,
        write: Targets,
        weights: Weights,
    ) {
        let weighted = weights.of_each(programs);
        let programs: SmallVec<[_; 8]> =
            weighted.map(|(program, weights)| (program.get(), weights)).collect();
        let (read, mut write) = (all(read), all_mut(write));
        let mut rest = &programs[..];
        while let [(program, weights), ..] = rest {
            let (together, after) = rest.split_at(self.leading_plane_programs(rest).max(1));
            match together.len() {
                1 => self.run(*program, &read, &mut write, *weights),
                _ => self.run_planes(together, &read, &mut write),
            }
            rest = after;
        }
    }

    fn prepare(&self, formula: PointFormula) -> Result<Prepared> {
        Ok(Prepared::new(PointCode::new(formula)))
    }

    fn map(&self, formula: &Prepared, read: Sources, write: Targets, parameters: &[f64]) {
        let (read, mut write) = (all(read), all_mut(write));
        self.map(formula.get(), &read, &mut write, parameters);
    }

    fn prepare_part(&self, map: OnPart) -> Result<Prepared> {
        let code = PointCode::new(map.formula.clone());
        Ok(Prepared::new((map, code)))
    }

    fn map_part(&self, formula: &Prepared, fields: Targets, parameters: &[f64]) {
        self.map_part(formula.get(), &mut all_mut(fields), parameters);
    }

    fn reduce(&self, formula: &Prepared, read: Sources, parameters: &[f64]) -> Result<Reduction> {
        let code: &PointCode = formula.get();
        let mut totals = [0.0; Reduction::MAX];
        let own = &mut totals[..code.formula.results.len()];
        self.reduce_to(code, &all(read), parameters, own);
        Ok(Reduction::Done(totals))
    }

    fn block_solver(
        &self,
        colouring: &Arc<Colouring>,
        halo: &Halo,
        nb: usize,
    ) -> Result<BlockSolver> {
        let border = self.planes(halo.len(nb))?;
        Ok(BlockSolver::new(block_solver::Solver::new(colouring, (halo, border), nb)))
    }

    fn set_blocks(&self, solver: &mut BlockSolver, matrix: Factored<f32>) -> Result<()> {
        solver.get_mut::<block_solver::Solver>().matrix = Some(matrix);
        Ok(())
    }

    fn sweep_blocks(&self, solver: &mut BlockSolver, sweeps: Sweeps, b: Sources, x: Targets) {
        self.sweep_blocks_with_exchange(solver, sweeps, b, x, &mut |_, _| ());
    }

    fn execute(&self, work: &mut (dyn FnMut() + Send)) {
        self.within(work);
    }
}
