//! Whole steps on 1, 2, 4, ... and all ranks, or on the requested numbers of ranks, one after another, while the unused ranks
//! sleep.

use std::sync::Arc;
use std::time::Instant;

use super::messages::sleep_until_released;
use super::rates::Problem;
use super::report::{self, RanksRow};
use super::{Probe, by_phase, copies, max_traffic, note_omission, note_placement};
use crate::backend::ranks::{ALONG, PhaseTimes, Ranks, Route};
use crate::bench::arguments::{Group, StepOptions};
use crate::bench::measure::Times;
use crate::bench::output::{CopyReport, Report, Row, Spread, shape};
use crate::bench::place::{self, Setup};
use crate::bench::pool::{MIN_FIELDS, Pool};
use crate::bench::step::{config, right_hand_sides, row};
use crate::comm::{Communicator, all_or_error};
use crate::config::Config;
use crate::error::{Result, refused};
use crate::grid::{Axis, Decomposition};
use crate::model::{Network, Rates, Work, most_cubic, predict};
use crate::time::{Simulation, decomposition};

pub(in crate::bench) fn run(
    options: &StepOptions,
    setup: &Setup,
    comm: &Arc<dyn Communicator>,
    report: &mut Report,
) -> Result<()> {
    let groups = all_or_error(&**comm, groups(&options.ranks, comm.size()))?;
    note_placement(setup, report);
    let given_rates = options.rates.as_deref().map(Rates::load).transpose();
    let given_rates = all_or_error(&**comm, given_rates)?;
    for points in options.common.sizes(64) {
        let mut rows: Vec<Row> = Vec::new();
        for &ranks in &groups {
            let group: Arc<dyn Communicator> =
                comm.split(usize::from(comm.rank() >= ranks), comm.rank()).into();
            if comm.rank() < ranks {
                let group =
                    RankGroup { options, setup, comm: &group, given_rates: given_rates.as_ref() };
                rows.extend(group.run(points, report)?);
            }
            sleep_until_released(&**comm, ranks);
        }
        efficiencies(options.weak, &mut rows);
        let (kind, of) = if options.weak { ("Weak", "per rank") } else { ("Strong", "in total") };
        let heading = format!("{kind} scaling, {} points {of}", shape(points));
        report.tables.push(report::scaling(&heading, &rows));
        let heading =
            "Microseconds per step on the slowest rank; each phase ends before the next begins";
        report.tables.push(report::phases(heading, &rows));
        report.tables.push(report::sent(&rows, "per step"));
        report.results.extend(rows);
    }
    Ok(())
}

/// Numbers of ranks, up to the `available` of the job: those requested, otherwise 1, 2, 4, ... and all.
fn groups(requested: &[Group], available: usize) -> Result<Vec<usize>> {
    let powers = std::iter::successors(Some(1), |ranks| Some(2 * ranks));
    let mut groups: Vec<usize> = match requested {
        [] => powers.take_while(|&ranks| ranks < available).chain([available]).collect(),
        _ => requested.iter().map(|group| group.unwrap_or(available)).collect(),
    };
    groups.sort_unstable();
    groups.dedup();
    match groups.last() {
        Some(&ranks) if ranks > available => Err(refused(
            format!(
                "--ranks {ranks}: this job has {available} {}",
                if available == 1 { "rank" } else { "ranks" }
            ),
            format!("start more, as with `mpirun -n {ranks}`, or remove that number"),
        )),
        _ => Ok(groups),
    }
}

/// Efficiencies relative to one rank, and to the smallest number of ranks that exchange along all axes.
fn efficiencies(weak: bool, rows: &mut [Row]) {
    // Seconds per unit of work on a rank.
    let cost = |row: &Row| {
        let spread = row.spread.as_ref()?;
        let seconds = spread.seconds.min;
        Some(if weak { seconds } else { seconds * spread.ranks as f64 })
    };
    let all_axes = |row: &&Row| {
        row.spread.as_ref().is_some_and(|spread| spread.decomposition.iter().all(|&p| p > 1))
    };
    let one = rows.first().filter(|row| row.spread.as_ref().is_some_and(|s| s.ranks == 1));
    let one = one.and_then(cost);
    let exchanging = rows.iter().find(all_axes).and_then(cost);
    for row in rows {
        let own = cost(row);
        let has_all = all_axes(&&*row);
        let Some((spread, own)) = row.spread.as_mut().zip(own) else { continue };
        spread.efficiency = one.map(|one| one / own);
        spread.efficiency_exchanging = exchanging.filter(|_| has_all).map(|base| base / own);
    }
}

/// Ranks that take steps together.
struct RankGroup<'a> {
    options: &'a StepOptions,
    setup: &'a Setup,
    comm: &'a Arc<dyn Communicator>,
    given_rates: Option<&'a Rates>,
}

impl RankGroup<'_> {
    /// The result; none if this number of ranks is not possible.
    fn run(&self, points: [usize; 3], report: &mut Report) -> Result<Option<Row>> {
        let ranks = self.comm.size();
        match all_or_error(&**self.comm, self.prepare(points)) {
            Ok((config, decomposition)) => self.measure(&config, decomposition, report).map(Some),
            Err(why) if ranks > 1 => {
                note_omission(&format!("{ranks} ranks"), &why, report);
                Ok(None)
            }
            Err(why) => Err(why),
        }
    }

    /// The configuration of these ranks, which fits in their memory.
    fn prepare(&self, points: [usize; 3]) -> Result<(Config, Decomposition)> {
        let (weak, ranks) = (self.options.weak, self.comm.size());
        let cubic = most_cubic(ranks, [2; 3]);
        let factors = if weak { cubic.ranks } else { [1; 3] };
        let points = std::array::from_fn(|a| points[a] * factors[a]);
        let config = config(points, &self.options.common, &self.options.set)?;
        let decomposition = match weak {
            true => cubic,
            false => decomposition(&config, &**self.comm, self.setup.device.is_some())?.0,
        };
        let block = decomposition.block(self.comm.rank(), config.grid.points);
        self.setup.check_fits(&config, decomposition, &block, self.comm.local().1)?;
        Ok((config, decomposition))
    }

    fn measure(
        &self,
        config: &Config,
        decomposition: Decomposition,
        report: &mut Report,
    ) -> Result<Row> {
        let Self { options, setup, comm, .. } = self;
        let (common, solver) = (&options.common, options.method.0[0]);
        let block = decomposition.block(comm.rank(), config.grid.points);
        let (len, size) = (block.len(), setup.compute.precision.bytes());
        // Rates are measured with equal blocks on all ranks.
        let largest = decomposition.block(0, config.grid.points);
        let place = &*setup.place(largest.len(), solver)?;
        let own = setup.with_sweeps_of(config, solver)?.place(len, solver)?;
        let backend = Arc::new(Ranks::new(own, (*comm).clone(), decomposition, &setup.compute)?);
        let route = backend.route();
        let mut simulation = Simulation::on(backend.clone(), config)?;
        let negation = place.prepare_work(place::Work::Negation, block.points)?;
        let mut copy_seconds = Vec::new();
        let mut pool = Pool::new(place, len, MIN_FIELDS)?;
        let mut copy = copies(place, &***comm, &negation, &mut pool);
        let before = backend.sent();
        let mut sent = None;
        let mut steps = |simulation: &mut Simulation| {
            by_phase(&***comm, common.repeats, || {
                copy_seconds.push(copy()?);
                comm.barrier();
                let (spent, along) = (backend.phases(), backend.message_seconds());
                let start = Instant::now();
                simulation.step(None)?;
                let seconds = start.elapsed().as_secs_f64();
                sent.get_or_insert(backend.sent());
                let PhaseTimes([a, b, c, d]) = backend.phases().since(&spent);
                let after = backend.message_seconds();
                let [x, y, z] = std::array::from_fn(|axis| after[axis] - along[axis]);
                Ok([a, b, c, d, x, y, z, seconds])
            })
        };
        let [.., whole] = steps(&mut simulation)?;
        backend.wait_for_phases(true);
        let [a, b, c, d, along @ .., _] = steps(&mut simulation)?;
        drop(copy);
        let evaluations = right_hand_sides(config, &simulation);
        let sent = max_traffic(&***comm, before, sent.unwrap_or(before));
        drop((simulation, backend));
        let copy = Times::new(copy_seconds);
        let copy = CopyReport::new(&copy, len, size);

        let mut result = RanksRow::new(decomposition.ranks, &whole, &[a, b, c, d], sent);
        let messages = ALONG.into_iter().zip(along.iter().map(Spread::seconds));
        result.phase_seconds.extend(messages);
        result.scaling = Some(if options.weak { "weak" } else { "strong" });
        result.grid = Some(config.grid.points);
        result.set.clone_from(&options.set);
        let probe =
            Probe { setup, place, comm: &***comm, points: largest.points, repeats: common.repeats };
        let problem = Problem::right_hand_side(config, largest.points);
        let rates = match self.given_rates {
            Some(rates) => Ok(rates.clone()),
            None if route == Route::Nccl => {
                Err("messages use NCCL, but the rates are those of MPI".into())
            }
            None if problem.fits(largest.points) => {
                let cut = |axis: &Axis| decomposition.ranks[axis.index()] > 1;
                let axes: Vec<Axis> = Axis::ALL.into_iter().filter(cut).collect();
                Ok(probe.rates(&problem, &axes, route)?)
            }
            None => Err(format!(
                "blocks of {} points are too short for whole lines",
                shape(largest.points)
            )),
        };
        let work = Work::new(config, config.grid.points, decomposition, None);
        match work.and_then(|work| {
            Ok(predict(&work, rates.as_ref().map_err(String::clone)?, Network::Flat))
        }) {
            Ok(prediction) => result.predict(&prediction),
            Err(why) => report.note(format!("no prediction for {} ranks: {why}", comm.size())),
        }
        report.rates = rates.ok().filter(|_| comm.size() > 1);
        report.copy = copy;
        let row = row(options, (config, evaluations), place, block.points, &whole, copy);
        Ok(Row { spread: Some(result), ..row })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_counts_double_up_to_all_ranks() {
        let doubled = |available| groups(&[], available).unwrap();
        assert_eq!(doubled(1), [1]);
        assert_eq!(doubled(2), [1, 2]);
        assert_eq!(doubled(8), [1, 2, 4, 8]);
        assert_eq!(doubled(12), [1, 2, 4, 8, 12]);
    }

    #[test]
    fn requested_rank_counts_are_sorted_unique_and_available() {
        let [all, one, eight] = [None, Some(1), Some(8)];
        assert_eq!(groups(&[all], 12).unwrap(), [12]);
        assert_eq!(groups(&[all, eight, one, all], 8).unwrap(), [1, 8]);
        let error = groups(&[one, eight], 7).unwrap_err().report();
        assert!(error.contains("--ranks 8: this job has 7 ranks"), "{error}");
    }

    #[test]
    fn weak_scaling_cuts_all_axes_from_eight_ranks_on() {
        let cut = |ranks| most_cubic(ranks, [2; 3]).ranks;
        assert_eq!([1, 2, 4, 8].map(cut), [[1, 1, 1], [1, 1, 2], [1, 2, 2], [2, 2, 2]]);
        assert_eq!([7, 12, 60].map(cut), [[1, 1, 7], [2, 2, 3], [3, 4, 5]]);
    }
}
