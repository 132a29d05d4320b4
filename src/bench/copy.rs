//! A copy: what everything else is compared with.

use std::cell::RefCell;

use super::arguments::Common;
use super::check::difference;
use super::measure::{interleaved, rotating};
use super::output::{CopyReport, Report, Row, shape};
use super::place::{Place, Setup};
use super::pool::{FEWEST, GivenAndFound, Pool, fitting};
use crate::error::Result;
use crate::real::Real;

pub(super) fn run<P: Place>(common: &Common, setup: &Setup, report: &mut Report) -> Result<()> {
    for points in fitting::<P>(setup, common.sizes(256), &mut report.notes)? {
        let result = size::<P>(common, setup, report, points);
        report.attempt(&format!("copy on {}", shape(points)), result)?;
    }
    Ok(())
}

fn size<P: Place>(
    common: &Common,
    setup: &Setup,
    report: &mut Report,
    points: [usize; 3],
) -> Result<()> {
    let (len, bytes) = (points.iter().product(), size_of::<P::Real>());
    let place = P::at(setup, len, None)?;
    let copier = place.copier()?;
    let pool = RefCell::new(Pool::new(&place, len, FEWEST)?);
    let plain = |from: &P::Field, to: &mut P::Field| place.negated(&copier, from, to);
    let other = |from: &P::Field, to: &mut P::Field| place.other_copy(from, to);
    let (plain_times, others) = interleaved(
        common.repeats,
        rotating(&place, &pool, plain),
        vec![rotating(&place, &pool, other)],
    )?;
    let mut pool = pool.into_inner();
    let negated = error(pool.checked(&place, plain)?, -1.0);
    let same = error(pool.checked(&place, other)?, 1.0);

    let copy = CopyReport::new(&plain_times, len, bytes);
    let parts = [(P::COPIES[0], negated, &plain_times), (P::COPIES[1], same, &others[0])];
    let rows = parts.map(|(method, error, times)| {
        let row = Row { name: "copy", method, error: Some(error), ..common.row(&place, points) };
        row.timed(Some(2 * bytes), times, copy)
    });
    report.add(copy, 0.0, rows.to_vec());
    Ok(())
}

/// The largest difference between the result and `sign` times the source.
fn error<T: Real>((given, found): GivenAndFound<T>, sign: f64) -> f64 {
    let pairs = given.iter().zip(&found);
    pairs.map(|(given, found)| difference(found.f64(), sign * given.f64())).fold(0.0, f64::max)
}
