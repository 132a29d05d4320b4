//! Derivatives along lines by several solvers in turn: `derivative` and `lines`.

use std::cell::RefCell;
use std::f64::consts::TAU;

use super::arguments::{Common, DerivativeOptions, LinesOptions, OperatorOptions};
use super::check::operator_error;
use super::maps::{Subject, for_each_size, measure};
use super::output::{Report, Row, shape};
use super::place::{Setup, Work};
use super::pool::{MIN_FIELDS, Pool};
use super::{axes, tolerance};
use crate::backend::device::LineSolver;
use crate::cases::Domain;
use crate::engine::{LineOperators, Op};
use crate::error::{Result, refused};
use crate::grid::{Axis, End, Grid};
use crate::real::{Precision, Values};

/// The requested measurement.
pub(super) struct Request<'a> {
    name: &'static str,
    common: &'a Common,
    options: &'a OperatorOptions,
    sizes: Vec<[usize; 3]>,
    /// The axes; if none was requested, axes with one point are omitted.
    axes: Vec<Axis>,
    axis_requested: bool,
    methods: &'a [Option<LineSolver>],
}

impl<'a> Request<'a> {
    /// One derivative along each axis.
    pub(super) fn derivative(options: &'a DerivativeOptions) -> Self {
        Self {
            name: "derivative",
            common: &options.common,
            options: &options.operator,
            sizes: options.common.sizes(256),
            axes: axes(&options.axis),
            axis_requested: options.axis != "all",
            methods: &options.method.0,
        }
    }

    /// All line solvers, along x.
    pub(super) fn lines(options: &'a LinesOptions) -> Self {
        Self {
            name: "lines",
            common: &options.common,
            options: &options.operator,
            sizes: if options.table { table() } else { options.common.sizes(256) },
            axes: vec![Axis::X],
            axis_requested: true,
            methods: &options.method.0,
        }
    }
}

/// n systems of n points, and n² systems: the sizes of table 4.1 of Srinath (2015).
fn table() -> Vec<[usize; 3]> {
    let few = [32, 64, 128, 256, 512, 1024, 2048].map(|n| [n, n, 1]);
    let many = [32, 64, 128, 256, 512].map(|n| [n, n, n]);
    few.into_iter().chain(many).collect()
}

pub(super) fn run(request: &Request<'_>, setup: &Setup, report: &mut Report) -> Result<()> {
    let Request { name, options, ref sizes, ref axes, axis_requested, .. } = *request;
    for_each_size(name, sizes.clone(), setup, report, |points, report| {
        let measured = |axis: &&Axis| axis_requested || points[axis.index()] > 1;
        let axes: Vec<Axis> = axes.iter().filter(measured).copied().collect();
        for ends in options.ends() {
            axes.iter().try_for_each(|&axis| options.check(points, axis, ends))?;
        }
        measure_size(request, setup, report, points, &axes)
    })
}

/// Lines with one kind of ends.
struct Lines {
    ends: &'static str,
    operators: LineOperators,
    /// Operators in f64.
    reference: LineOperators,
}

/// Measure one size with every suitable solver. Only one solver's scratch memory is allocated at a time.
fn measure_size(
    request: &Request<'_>,
    setup: &Setup,
    report: &mut Report,
    points: [usize; 3],
    axes: &[Axis],
) -> Result<()> {
    let Request { name, common, options, methods, .. } = *request;
    let (len, precision) = (points.iter().product(), setup.compute.precision);
    let lines_with_ends = |ends: &&'static str| {
        let line = (*ends == "closed").then_some([End::ByParts; 2]);
        let grid = Grid::new(points, &Domain::cube(TAU), [line; 3]);
        let operators = |precision| LineOperators::new(options.scheme, None, &grid, precision);
        Lines { ends, operators: operators(precision), reference: operators(Precision::F64) }
    };
    let lines: Vec<Lines> = options.ends().iter().map(lines_with_ends).collect();
    let parts = || axes.iter().flat_map(|&axis| lines.iter().map(move |lines| (axis, lines)));
    let pool = RefCell::new(Pool::new(&*setup.place(len, None)?, len, MIN_FIELDS)?);
    for &solver in methods {
        let reason = |(axis, of): (_, &Lines)| setup.why_unsupported(solver?, &of.operators, axis);
        if let Some(sentence) = parts().find_map(reason) {
            if methods.len() == 1 {
                return Err(refused(&sentence, "use another method, or `--method all`"));
            }
            report.note(format!("left out: {sentence}"));
            continue;
        }
        let method = solver.map_or("auto", LineSolver::name);
        let result = setup.place(len, solver).and_then(|place| {
            let mut subjects = Vec::new();
            for (axis, Lines { ends, operators, reference }) in parts() {
                let row = Row {
                    name,
                    axis: Some(axis.name()),
                    scheme: Some(options.scheme.name),
                    method,
                    ends: Some(ends),
                    pencils: setup.pencils(),
                    ..common.row(&*place, points)
                };
                let expected = reference.get(axis, Op::D1);
                let error = move |input: &Values<'_>, output: &Values<'_>| {
                    operator_error(expected, points, axis, input, output)
                };
                let work = place.prepare_work(Work::Derivative(operators, axis), points)?;
                subjects.push(Subject { row, work, error: Box::new(error) });
            }
            let (allowed_error, count) = (tolerance(precision), subjects.len());
            measure(common, (&*place, points), &pool, subjects, allowed_error, report)?;
            if lines.len() > 1 {
                let rows = &report.results[report.results.len() - count..];
                let pairs = rows.as_chunks::<2>().0.iter();
                let ratios: Vec<_> = pairs.map(|[before, after]| after.ratio_to(before)).collect();
                ratios.into_iter().for_each(|ratio| report.note(ratio));
            }
            Ok(())
        });
        report.attempt(&format!("{name} {method} on {}", shape(points)), result)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::Bench;
    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(subcommand)]
        bench: Bench,
    }

    #[test]
    fn table_4_1_has_seven_plane_and_five_cubic_grids() {
        let sizes = |typed: &str| {
            let line = Line::parse_from(format!("bench {typed}").split_whitespace());
            let Bench::Lines(options) = line.bench else { panic!("`{typed}` is not `lines`") };
            Request::lines(&options).sizes
        };
        let table = sizes("lines --table4.1");
        assert_eq!(table.len(), 12);
        assert_eq!([table[0], table[6]], [[32, 32, 1], [2048, 2048, 1]]);
        assert_eq!([table[7], table[11]], [[32; 3], [512; 3]]);
        assert_eq!(sizes("lines --points 8,9x10x11"), [[8; 3], [9, 10, 11]]);
        assert_eq!(sizes("lines"), [[256; 3]]);
    }
}
