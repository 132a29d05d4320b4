//! Messages, and one derivative along lines that are split across all ranks.

use std::sync::Arc;

use super::rates::Problem;
use super::report::{self, RanksRow};
use super::{Probe, by_phase, copies, max_traffic, note_omission, note_placement};
use crate::backend::ranks::Ranks;
use crate::backend::{Backend, Field, Weights};
use crate::bench::arguments::CommOptions;
use crate::bench::check::error_of_lines;
use crate::bench::measure::{calls_for, collective, interleaved};
use crate::bench::output::{CopyReport, Report, Row};
use crate::bench::place::{self, Setup};
use crate::bench::pool::{MIN_FIELDS, Pool};
use crate::bench::step::vortex;
use crate::bench::{axes, tolerance};
use crate::comm::{Communicator, all_or_error};
use crate::config::{ComputeConfig, Config, Wish};
use crate::engine::distributed::Method;
use crate::engine::{LineOperator, LineOperators, Op, Sweep, SweepBuilder};
use crate::error::{Result, refused};
use crate::grid::{Axis, Block, Decomposition, Grid};
use crate::model::{Network, Rates, Work, predict};
use crate::real::{Precision, Values};
use crate::splitmix::{STEP, mixed, unit};

/// Maximum number of lines of a block that are solved again for a check.
const MAX_CHECKED_LINES: usize = 200;

pub(in crate::bench) fn run(
    options: &CommOptions,
    setup: &Setup,
    comm: &Arc<dyn Communicator>,
    report: &mut Report,
) -> Result<()> {
    let axes = axes(&options.axis);
    note_placement(setup, report);
    let sizes = options.common.sizes(64);
    let config = all_or_error(&**comm, configurations(options, setup, &sizes, &axes, &**comm))?;
    for (points, config) in sizes.into_iter().zip(config) {
        Size { options, setup, comm, points, config, axes: &axes }.run(report)?;
    }
    Ok(())
}

/// The configurations of all sizes, which fit in the memory of the ranks.
fn configurations(
    options: &CommOptions,
    setup: &Setup,
    sizes: &[[usize; 3]],
    axes: &[Axis],
    comm: &dyn Communicator,
) -> Result<Vec<Config>> {
    let one = |points: &[usize; 3]| {
        let min_points = options.scheme.first.min_points();
        if let Some(axis) = axes.iter().find(|axis| points[axis.index()] < min_points) {
            let (n, scheme) = (points[axis.index()], options.scheme.name);
            let problem = format!("{n} points along {} are too few", axis.name());
            return Err(refused(&problem, format!("{scheme} needs {min_points}")));
        }
        let scheme = format!("scheme.derivative={}", options.scheme.name);
        let config = vortex(*points, &options.common.precision, &[scheme])?;
        let block = Block { start: [0; 3], points: *points };
        setup.check_fits(&config, Decomposition::ONE, &block, comm.local().1)?;
        Ok(config)
    };
    sizes.iter().map(one).collect()
}

/// Blocks of one size.
struct Size<'a> {
    options: &'a CommOptions,
    setup: &'a Setup,
    comm: &'a Arc<dyn Communicator>,
    /// Points per rank.
    points: [usize; 3],
    config: Config,
    axes: &'a [Axis],
}

impl Size<'_> {
    fn run(&self, report: &mut Report) -> Result<()> {
        let Self { setup, comm, points, config, axes, .. } = self;
        let len = points.iter().product();
        let place = setup.place(len, None)?;
        let probe = Probe {
            setup,
            place: &*place,
            comm: &***comm,
            points: *points,
            repeats: self.options.common.repeats,
        };
        let (along, other) = (Decomposition::along(Axis::Z, comm.size()), setup.place(len, None)?);
        let other = Ranks::new(other, (*comm).clone(), along, &self.compute(None))?;
        report.note(other.route_choice().note());
        let route = other.route();
        let problem = Problem::right_hand_side(config, *points);
        let rates = probe.rates(&problem, axes, route)?;
        report.tables.push(report::rates(&rates));
        match comm.size() {
            1 => {
                report.note("one rank sends no messages: `rates` are printed by two or more".into())
            }
            _ => report.rates = Some(rates),
        }
        let messages = probe.time_sizes(route)?;
        if !messages.is_empty() {
            report.tables.push(report::messages(&messages));
        }
        report.messages.extend(messages);
        let mut rows = Vec::new();
        for &axis in *axes {
            let problem = Problem {
                family: self.options.scheme,
                domain: &config.grid.domain,
                sweeps: vec![(axis, self.sweep())],
                beta: 0.0,
            };
            let methods = match comm.size() {
                1 => vec![Method::Neighbour],
                _ => self.options.method.0.clone(),
            };
            for method in methods {
                // Measured now, since the speed of the machine may vary.
                let rates = probe.rates(&problem, &[axis], route)?;
                rows.extend(self.method(&probe, axis, method, &rates, report)?);
            }
        }
        let heading = "Microseconds on the slowest rank; each phase ends before the next begins";
        report.tables.push(report::phases(heading, &rows));
        report.tables.push(report::sent(&rows, "per repeat"));
        Ok(())
    }

    /// The configuration with messages by MPI, whose rates are measured.
    fn compute(&self, distributed: Option<Method>) -> ComputeConfig {
        ComputeConfig { distributed, nccl: Wish::Off, ..self.setup.compute.clone() }
    }

    /// The derivatives of all operands.
    fn sweep(&self) -> Sweep {
        let s = SweepBuilder::new();
        for slot in 0..usize::from(self.options.operands) {
            s.store(slot, s.d1(s.read(slot)));
        }
        s.build()
    }

    /// The result of one method; none if blocks are too short for it.
    fn method(
        &self,
        probe: &Probe<'_>,
        axis: Axis,
        method: Method,
        rates: &Rates,
        report: &mut Report,
    ) -> Result<Option<Row>> {
        let Self { options, setup, comm, .. } = self;
        let (sweep, decomposition) = (self.sweep(), Decomposition::along(axis, comm.size()));
        let points = std::array::from_fn(|a| self.points[a] * decomposition.ranks[a]);
        let grid = Grid::periodic(points, &self.config.grid.domain);
        let precision = setup.compute.precision;
        let operators = LineOperators::new(options.scheme, None, &grid, precision);
        let len: usize = self.points.iter().product();
        let own = setup.place(len, None)?;
        let compute = self.compute(Some(method));
        let ranks = Ranks::new(own, (*comm).clone(), decomposition, &compute)?;
        let backend: &dyn Backend = &ranks;
        let program =
            match all_or_error(&***comm, ranks.program(&sweep, (axis, points, &operators))) {
                Ok(program) => program,
                Err(why) => {
                    note_omission(
                        &format!("{} along {}", method.name(), axis.name()),
                        &why,
                        report,
                    );
                    return Ok(None);
                }
            };
        let operands = usize::from(options.operands);
        let own_block = ranks.block(points);
        let input: Vec<_> = (0..operands)
            .map(|operand| {
                let value = |at| value(points, own_block.index(at), operand);
                ranks.field(&(0..len).map(value).collect::<Vec<_>>().into())
            })
            .collect::<Result<_>>()?;
        let read: Vec<&Field> = input.iter().collect();
        let mut output: Vec<Field> = (0..operands)
            .map(|_| ranks.field(&vec![f64::NAN; len].into()))
            .collect::<Result<_>>()?;
        let before = ranks.sent();
        let mut write: Vec<&mut Field> = output.iter_mut().collect();
        ranks.run(&program, &read, &mut write, Weights::SET);
        ranks.finish()?;
        let sent = max_traffic(&***comm, before, ranks.sent());
        let whole = LineOperators::new(options.scheme, None, &grid, Precision::F64);
        let mut worst = [0.0_f64];
        for (operand, output) in output.iter().enumerate() {
            let (output, expected) = (ranks.values(output)?, whole.get(axis, Op::D1));
            let error = || error(expected, points, axis, &own_block, operand, &output);
            worst[0] = worst[0].max(backend.within(error));
        }
        comm.max(&mut worst);

        let place = probe.place;
        let negation = place.prepare_work(place::Work::Negation, self.points)?;
        let mut pool = Pool::new(place, len, MIN_FIELDS)?;
        let copy = copies(place, &***comm, &negation, &mut pool);
        let mut write: Vec<&mut Field> = output.iter_mut().collect();
        let (copy, times) = {
            let all = || ranks.run(&program, &read, &mut write, Weights::SET);
            interleaved(probe.repeats, copy, vec![collective(&ranks, &***comm, all)])?
        };
        let calls = calls_for(times[0].min(), 1);
        ranks.wait_for_phases(true);
        let phases = by_phase(&***comm, probe.repeats, || {
            let before = ranks.phases();
            backend.within(|| {
                (0..calls).for_each(|_| ranks.run(&program, &read, &mut write, Weights::SET));
            });
            ranks.finish()?;
            let mut spent = ranks.phases().since(&before);
            spent.0.iter_mut().for_each(|seconds| *seconds /= f64::from(calls));
            Ok(spent.0)
        })?;
        let mut spread = RanksRow::new(decomposition.ranks, &times[0], &phases, sent);
        spread.operands = Some(operands);
        let work =
            Work::of_sweep((axis, &sweep), decomposition, points, &operators, (method, precision));
        if let Ok(work) = work {
            spread.predict(&predict(&work, rates, Network::Flat));
        }
        let copy = CopyReport::new(&copy, len, precision.bytes());
        let row = Row {
            name: "derivative",
            axis: Some(axis.name()),
            scheme: Some(options.scheme.name),
            method: if comm.size() == 1 { "whole" } else { method.name() },
            error: Some(worst[0]),
            spread: Some(spread),
            ..options.common.row(place, self.points)
        };
        let bytes = 2 * operands * precision.bytes();
        let row = row.timed(Some(bytes), &times[0], copy);
        report.add(copy, tolerance(precision), vec![row.clone()]);
        Ok(Some(row))
    }
}

/// Noise in [-1/2, 1/2): the value of an operand at a point of the whole grid of `points`.
fn value(points: [usize; 3], [i, j, k]: [usize; 3], operand: usize) -> f64 {
    let at = i + points[0] * (j + points[1] * k);
    unit(mixed(((at as u64) << 8 | operand as u64).wrapping_mul(STEP))) - 0.5
}

/// The largest difference between the derivatives `output` of an operand on the block `own_block` of a grid of `points` and those of
/// whole lines, on some of the lines, relative to the largest value.
fn error(
    operator: &LineOperator,
    points: [usize; 3],
    axis: Axis,
    own_block: &Block,
    operand: usize,
    output: &Values<'_>,
) -> f64 {
    let a = axis.index();
    let across = own_block.len() / own_block.points[a];
    let stride: usize = own_block.points[..a].iter().product();
    let start = |q: usize| q / stride * stride * own_block.points[a] + q % stride;
    let input = |q: usize, m: usize| {
        let mut at = own_block.index(start(q));
        at[a] = m;
        output.precision().rounded(value(points, at, operand))
    };
    let first = own_block.start[a];
    let output = |q: usize, m: usize| output.at(start(q) + (m - first) * stride);
    let lines: Vec<usize> = (0..across).step_by(across.div_ceil(MAX_CHECKED_LINES)).collect();
    error_of_lines(operator, &lines, first..first + own_block.points[a], input, output)
}
