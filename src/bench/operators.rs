//! One derivative along lines, by one solver after another: what `derivative` and `lines` have in common.

use std::cell::RefCell;
use std::f64::consts::TAU;

use super::arguments::{Common, Methods, OperatorOptions};
use super::check::operator_error;
use super::measure::{interleaved, rotating};
use super::output::{CopyReport, Report, Row, shape};
use super::place::{Place, Setup};
use super::pool::{FEWEST, Pool, fitting};
use super::refusal;
use crate::backend::device::LineSolver;
use crate::cases::Domain;
use crate::engine::{LineOperators, Op};
use crate::error::Result;
use crate::grid::{Axis, Grid};
use crate::real::Real;

/// What is to be measured.
pub(super) struct Request<'a> {
    pub(super) name: &'static str,
    pub(super) common: &'a Common,
    pub(super) options: &'a OperatorOptions,
    pub(super) sizes: Vec<[usize; 3]>,
    /// Along which axis; `None` is along all that have more than one point.
    pub(super) axis: Option<Axis>,
    pub(super) methods: Methods,
}

/// The largest error of a right answer, as a fraction of the largest result: some thousand times the round-off in f64.
fn tolerance<T: Real>() -> f64 {
    if size_of::<T>() == size_of::<f64>() { 1e-12 } else { 1e-5 }
}

pub(super) fn run<P: Place>(
    request: &Request<'_>,
    setup: &Setup,
    report: &mut Report,
) -> Result<()> {
    for points in fitting::<P>(setup, request.sizes.clone(), &mut report.notes)? {
        let active = |axis: &Axis| points[axis.index()] > 1;
        let axes: Vec<Axis> = match request.axis {
            Some(axis) => vec![axis],
            None => Axis::ALL.into_iter().filter(active).collect(),
        };
        axes.iter().try_for_each(|&axis| request.options.check(points, axis))?;
        let result = size::<P>(request, setup, report, points, &axes);
        report.attempt(&format!("{} on {}", request.name, shape(points)), result)?;
    }
    Ok(())
}

/// One size by every solver that can. Only one solver's scratch memory is there at a time.
fn size<P: Place>(
    request: &Request<'_>,
    setup: &Setup,
    report: &mut Report,
    points: [usize; 3],
    axes: &[Axis],
) -> Result<()> {
    let grid = Grid::new(points, &Domain::cube(TAU), [request.options.periodic(); 3]);
    let operators = LineOperators::new(request.options.scheme, None, &grid, P::Real::PRECISION);
    let pool = RefCell::new(Pool::new(&P::at(setup, grid.len(), None)?, grid.len(), FEWEST)?);
    let problem = Problem { request, setup, grid, axes, operators, pool };
    for solver in request.methods.list() {
        let obstacle = |&axis| P::obstacle(setup, solver?, &problem.operators, axis);
        match (axes.iter().find_map(obstacle), request.methods) {
            (Some(sentence), Methods::All) => report.note(format!("left out: {sentence}")),
            (Some(sentence), _) => {
                return Err(refusal(&sentence, "use another method, or `--method all`"));
            }
            (None, _) => {
                let what = format!("{} {} on {}", request.name, name(solver), shape(points));
                let result = problem.solve_with(solver, report);
                report.attempt(&what, result)?;
            }
        }
    }
    Ok(())
}

struct Problem<'a, P: Place> {
    request: &'a Request<'a>,
    setup: &'a Setup,
    grid: Grid,
    axes: &'a [Axis],
    operators: LineOperators,
    pool: RefCell<Pool<P>>,
}

impl<P: Place> Problem<'_, P> {
    /// The derivatives along all axes by one solver.
    fn solve_with(&self, solver: Option<LineSolver>, report: &mut Report) -> Result<()> {
        let Self { request, setup, grid, axes, operators, pool } = self;
        let Request { common, options, .. } = request;
        let (points, bytes) = (grid.points, size_of::<P::Real>());
        let place = &P::at(setup, grid.len(), solver)?;
        let derivatives = axes.iter().map(|&axis| place.derivative(operators, points, axis));
        let derivatives: Vec<P::Operator> = derivatives.collect::<Result<_>>()?;
        let copier = place.copier()?;
        let copy = rotating(place, pool, |from, to| place.negated(&copier, from, to));
        let subjects = derivatives
            .iter()
            .map(|by| rotating(place, pool, move |from, to| place.differentiate(by, from, to)));
        let (copy, times) = interleaved(common.repeats, copy, subjects.collect())?;

        let copy = CopyReport::new(&copy, grid.len(), bytes);
        let reference = LineOperators::new(options.scheme, None, grid, crate::Precision::F64);
        let mut rows = Vec::new();
        for ((&axis, by), times) in axes.iter().zip(&derivatives).zip(&times) {
            let differentiate =
                |from: &P::Field, to: &mut P::Field| place.differentiate(by, from, to);
            let (given, found) = pool.borrow_mut().checked(place, differentiate)?;
            let expected = reference.get(axis, Op::D1);
            let row = Row {
                name: request.name,
                axis: Some(["x", "y", "z"][axis.index()]),
                scheme: Some(options.scheme.name),
                method: name(solver),
                error: Some(operator_error(expected, points, axis, &given, &found)),
                ends: Some(if options.periodic() { "periodic" } else { "closed" }),
                pencils: setup.pencils(),
                ..common.row(place, points)
            };
            rows.push(row.timed(Some(2 * bytes), times, copy));
        }
        report.add(copy, tolerance::<P::Real>(), rows);
        Ok(())
    }
}

fn name(solver: Option<LineSolver>) -> &'static str {
    solver.map_or("auto", LineSolver::name)
}
