//! Messages, and one derivative along lines that are spread over all ranks.

use std::sync::Arc;

use super::parts::{Bench, Problem};
use super::report::{self, Spreading};
use super::{busiest, by_phase, copies};
use crate::backend::ranks::Ranks;
use crate::backend::{Backend, Weights};
use crate::bench::arguments::CommOptions;
use crate::bench::check::{applied, difference};
use crate::bench::measure::{calls_for, interleaved, together};
use crate::bench::output::{CopyReport, Report, Row};
use crate::bench::place::{Place, Setup};
use crate::bench::pool::{FEWEST, Pool};
use crate::bench::refusal;
use crate::bench::step::vortex;
use crate::comm::{Communicator, agree};
use crate::config::{ComputeConfig, Config};
use crate::engine::distributed::Method;
use crate::engine::{LineOperators, Number, Op, Sweep, SweepBuilder};
use crate::error::Result;
use crate::grid::{Axis, Block, Decomposition, Grid};
use crate::model::{Network, Rates, Sweeping, Work, predict};
use crate::real::Real;
use crate::time::{check_device_memory, check_memory};

/// Most lines of a block that are solved again for a check.
const CHECKED: usize = 200;

pub(in crate::bench) fn run<P: Place>(
    options: &CommOptions,
    setup: &Setup,
    comm: &Arc<dyn Communicator>,
    report: &mut Report,
) -> Result<()> {
    let axes = match options.axis.as_str() {
        "x" => vec![Axis::X],
        "y" => vec![Axis::Y],
        "z" => vec![Axis::Z],
        _ => Axis::ALL.to_vec(),
    };
    if let Some(text) = &setup.placement {
        text.lines().for_each(|line| report.note(line.into()));
    }
    let sizes = options.common.sizes(64);
    let config = agree(&**comm, prepared(options, setup, &sizes, &axes, &**comm))?;
    for (points, config) in sizes.into_iter().zip(config) {
        Size { options, setup, comm, points, config, axes: &axes }.run::<P>(report)?;
    }
    Ok(())
}

/// The configuration of each size, which the ranks have room for.
fn prepared(
    options: &CommOptions,
    setup: &Setup,
    sizes: &[[usize; 3]],
    axes: &[Axis],
    comm: &dyn Communicator,
) -> Result<Vec<Config>> {
    let one = |points: &[usize; 3]| {
        let fewest = options.scheme.first.min_points();
        if let Some(axis) = axes.iter().find(|axis| points[axis.index()] < fewest) {
            let (n, scheme) = (points[axis.index()], options.scheme.name);
            let found = format!("{n} points along {} are too few", axis.name());
            return Err(refusal(&found, &format!("{scheme} needs {fewest}")));
        }
        let scheme = format!("scheme.derivative={}", options.scheme.name);
        let config = vortex(*points, &options.common.precision, &[scheme])?;
        let block = Block { start: [0; 3], points: *points };
        match &setup.device {
            Some(device) => check_device_memory(&config, Decomposition::ONE, &block, device)?,
            None => check_memory(&config, Decomposition::ONE, &block, comm.local().1)?,
        }
        Ok(config)
    };
    sizes.iter().map(one).collect()
}

/// Blocks of one size.
struct Size<'a> {
    options: &'a CommOptions,
    setup: &'a Setup,
    comm: &'a Arc<dyn Communicator>,
    /// Points of a rank.
    points: [usize; 3],
    config: Config,
    axes: &'a [Axis],
}

impl Size<'_> {
    fn run<P: Place>(&self, report: &mut Report) -> Result<()> {
        let Self { setup, comm, points, config, axes, .. } = self;
        let len = points.iter().product();
        let place = P::at(setup, len, None)?;
        let bench = Bench {
            setup,
            place: &place,
            comm: &***comm,
            points: *points,
            repeats: self.repeats(),
        };
        let probe = P::at(setup, len, None)?;
        let along = Decomposition { ranks: [1, 1, comm.size()] };
        let route = Ranks::new(probe, (*comm).clone(), along, &setup.compute)?.route();
        report.note(format!("messages go {}", route.name()));
        let problem = Problem::right_hand_side(config, *points);
        let rates = bench.rates(&problem, axes, route)?;
        report.tables.push(report::rates(&rates));
        match comm.size() {
            1 => {
                report.note("one rank sends no messages: `rates` are printed by two or more".into())
            }
            _ => report.rates = Some(rates),
        }
        let messages = bench.growing(route)?;
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
                _ => self.options.method.list(),
            };
            for method in methods {
                // As fast as the machine is now.
                let rates = bench.rates(&problem, &[axis], route)?;
                rows.extend(self.method(&bench, axis, method, &rates, report)?);
            }
        }
        let heading = "Microseconds on the slowest rank; each phase ends before the next begins";
        report.tables.push(report::phases(heading, &rows));
        report.tables.push(report::sent(&rows, "each time"));
        Ok(())
    }

    fn repeats(&self) -> u32 {
        self.options.common.repeats
    }

    /// The derivatives of all operands.
    fn sweep(&self) -> Sweep {
        let s = SweepBuilder::new();
        for slot in 0..usize::from(self.options.operands) {
            s.store(slot, s.d1(s.read(slot)));
        }
        s.build()
    }

    /// By one method; none where blocks are too short for it.
    fn method<P: Place>(
        &self,
        bench: &Bench<'_, P>,
        axis: Axis,
        method: Method,
        rates: &Rates,
        report: &mut Report,
    ) -> Result<Option<Row>> {
        let Self { options, setup, comm, .. } = self;
        let (sweep, a) = (self.sweep(), axis.index());
        let mut ranks = [1; 3];
        ranks[a] = comm.size();
        let decomposition = Decomposition { ranks };
        let points: [usize; 3] = std::array::from_fn(|b| self.points[b] * ranks[b]);
        let grid = Grid::periodic(points, &self.config.grid.domain);
        let operators = LineOperators::new(options.scheme, None, &grid, P::Real::PRECISION);
        let len: usize = self.points.iter().product();
        let compute = ComputeConfig { distributed: Some(method), ..setup.compute.clone() };
        let ranks = Ranks::new(P::at(setup, len, None)?, (*comm).clone(), decomposition, &compute)?;
        let program = match agree(&***comm, ranks.program(&sweep, axis, points, &operators)) {
            Ok(program) => program,
            Err(why) => {
                let why = why.to_string();
                let why = why.lines().next().unwrap_or_default().trim_start_matches("error: ");
                report.note(format!("left out: {} along {}: {why}", method.name(), axis.name()));
                return Ok(None);
            }
        };
        let operands = usize::from(options.operands);
        let mine = ranks.block(points);
        let given: Vec<_> = (0..operands)
            .map(|operand| {
                let value = |at: usize| {
                    let [i, j, k] = mine.index(at);
                    P::Real::of(value(i + points[0] * (j + points[1] * k), operand))
                };
                ranks.field((0..len).map(value).collect())
            })
            .collect::<Result<_>>()?;
        let read: Vec<&P::Field> = given.iter().collect();
        let mut found: Vec<P::Field> = (0..operands)
            .map(|_| ranks.field(vec![P::Real::of(f64::NAN); len]))
            .collect::<Result<_>>()?;
        let before = ranks.sent();
        let mut write: Vec<&mut P::Field> = found.iter_mut().collect();
        ranks.run(&program, &read, &mut write, Weights::SET);
        ranks.finish()?;
        let sent = busiest(&***comm, before, ranks.sent());
        let whole = LineOperators::new(options.scheme, None, &grid, crate::Precision::F64);
        let mut error = 0.0_f64;
        for (operand, found) in found.iter().enumerate() {
            let lines = Lines { points, axis, mine, operand, operator: whole.get(axis, Op::D1) };
            error = error.max(lines.error::<P::Real>(&ranks.values(found)?));
        }
        let mut errors = [error];
        comm.max(&mut errors);

        let place = bench.place;
        let copier = place.copier()?;
        let mut pool = Pool::new(place, len, FEWEST)?;
        let copy = copies(place, &***comm, &copier, &mut pool);
        let mut write: Vec<&mut P::Field> = found.iter_mut().collect();
        let (copy, times) = {
            let all = || ranks.run(&program, &read, &mut write, Weights::SET);
            interleaved(self.repeats(), copy, vec![together(&ranks, &***comm, all)])?
        };
        let calls = calls_for(times[0].min(), 1);
        ranks.wait_for_phases(true);
        let (phases, _) = by_phase(&***comm, self.repeats(), || {
            let before = ranks.phases();
            ranks.within(|| {
                (0..calls).for_each(|_| ranks.run(&program, &read, &mut write, Weights::SET));
            });
            ranks.finish()?;
            let mut spent = ranks.phases().since(&before);
            spent.0.iter_mut().for_each(|seconds| *seconds /= f64::from(calls));
            Ok((spent, 0.0))
        })?;
        let mut spread = Spreading::new(decomposition.ranks, &times[0], &phases, sent);
        spread.operands = Some(operands);
        if let Some(work) =
            work::<P::Real>(&(axis, sweep), decomposition, points, &operators, method)
        {
            spread.predict(&predict(&work, rates, Network::Flat));
        }
        let copy = CopyReport::new(&copy, len, size_of::<P::Real>());
        let row = Row {
            name: "derivative",
            axis: Some(axis.name()),
            scheme: Some(options.scheme.name),
            method: if comm.size() == 1 { "whole" } else { method.name() },
            error: Some(errors[0]),
            spread: Some(spread),
            ..options.common.row(place, self.points)
        };
        let bytes = 2 * operands * size_of::<P::Real>();
        let row = row.timed(Some(bytes), &times[0], copy);
        let tolerance = if size_of::<P::Real>() == 8 { 1e-12 } else { 1e-5 };
        report.add(copy, tolerance, vec![row.clone()]);
        Ok(Some(row))
    }
}

/// The derivative as the model sees it.
fn work<T: Real>(
    sweep: &(Axis, Sweep),
    decomposition: Decomposition,
    points: [usize; 3],
    operators: &LineOperators,
    method: Method,
) -> Option<Work> {
    let sweeping = Sweeping::new(sweep, decomposition, points, operators, Some(method)).ok()?;
    Some(Work {
        decomposition,
        points,
        value: size_of::<T>(),
        stages: 1,
        right_hand_side: vec![vec![Arc::new(sweeping)]],
        filter: Vec::new(),
        filterings: 0.0,
        words: 0,
        reductions: 0,
    })
}

/// Noise in [-1/2, 1/2): what an operand is at a point of the whole grid (the mixer of SplitMix64: Steele, Lea and Flood
/// 2014, figure 16).
#[allow(clippy::cast_precision_loss, reason = "noise")]
fn value(at: usize, operand: usize) -> f64 {
    let mut z = ((at as u64) << 8 | operand as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
}

/// Lines of the whole grid that go through a block.
struct Lines<'a> {
    points: [usize; 3],
    axis: Axis,
    mine: Block,
    operand: usize,
    operator: &'a crate::engine::LineOperator,
}

impl Lines<'_> {
    /// The largest difference of the derivatives `found` on the block from those of whole lines, on some of the lines, as a
    /// fraction of the largest.
    fn error<T: Real>(&self, found: &[T]) -> f64 {
        let (a, block) = (self.axis.index(), &self.mine.points);
        let across = block.iter().product::<usize>() / block[a];
        let stride: usize = block[..a].iter().product();
        let every = across.div_ceil(CHECKED);
        let (mut worst, mut largest) = (0.0_f64, 0.0_f64);
        for q in (0..across).step_by(every) {
            let start = q / stride * stride * block[a] + q % stride;
            let [i, j, k] = self.mine.index(start);
            let f: Vec<f64> = (0..self.points[a])
                .map(|m| {
                    let mut at = [i, j, k];
                    at[a] = m;
                    let at = at[0] + self.points[0] * (at[1] + self.points[1] * at[2]);
                    T::of(value(at, self.operand)).f64()
                })
                .collect();
            let expected = applied(self.operator, &f);
            largest = expected.iter().fold(largest, |largest, x| largest.max(x.abs()));
            let mine = &expected[self.mine.start[a]..][..block[a]];
            for (m, expected) in mine.iter().enumerate() {
                worst = worst.max(difference(found[start + m * stride].f64(), *expected));
            }
        }
        worst / largest
    }
}
