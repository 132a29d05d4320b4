//! Parts that compute one field from another, each timed together with a copy.

use std::cell::RefCell;

use super::arguments::Common;
use super::check::difference;
use super::measure::{interleaved, rotating};
use super::output::{CopyReport, Report, Row, shape};
use super::place::{Place, Ready, Setup, Work};
use super::pool::{FEWEST, Pool, fitting};
use crate::error::Result;
use crate::real::Values;

/// A part, and its result as far as it is known.
pub(super) struct Subject<'a> {
    pub(super) row: Row,
    pub(super) work: Ready<'a>,
    pub(super) error: Check<'a>,
}

/// The error of a result, from its source and the result.
pub(super) type Check<'a> = Box<dyn Fn(&Values<'_>, &Values<'_>) -> f64 + 'a>;

/// Measure `subjects` in turn and check them; errors above `tolerance` are reported as failures.
pub(super) fn measure(
    common: &Common,
    (place, points): (&dyn Place, [usize; 3]),
    pool: &RefCell<Pool>,
    subjects: Vec<Subject<'_>>,
    tolerance: f64,
    report: &mut Report,
) -> Result<()> {
    let negation = place.ready(Work::Negation, points)?;
    let parts = subjects.iter().map(|subject| rotating(place, pool, &subject.work));
    let copy = rotating(place, pool, &negation);
    let (copy, times) = interleaved(common.repeats, copy, parts.collect())?;
    let size = place.precision().bytes();
    let copy = CopyReport::new(&copy, points.iter().product(), size);
    let mut rows = Vec::new();
    for (Subject { row, work, error }, times) in subjects.into_iter().zip(&times) {
        let [given, found] = pool.borrow_mut().checked(place, |from, to| work(from, to))?;
        let row = Row { error: Some(error(&given, &found)), ..row };
        rows.push(row.timed(Some(2 * size), times, copy));
    }
    report.add(copy, tolerance, rows);
    Ok(())
}

/// Run `size` for each of `sizes` that fits in memory. Failures are reported under `name`.
pub(super) fn each_size(
    name: &str,
    sizes: Vec<[usize; 3]>,
    setup: &Setup,
    report: &mut Report,
    size: impl Fn([usize; 3], &mut Report) -> Result<()>,
) -> Result<()> {
    for points in fitting(setup, sizes, &mut report.notes)? {
        let result = size(points, report);
        report.attempt(&format!("{name} on {}", shape(points)), result)?;
    }
    Ok(())
}

/// Two copies: the reference for all other parts, and the copy of a library or a driver.
pub(super) fn copy(common: &Common, setup: &Setup, report: &mut Report) -> Result<()> {
    each_size("copy", common.sizes(256), setup, report, |points, report| {
        let len = points.iter().product();
        let place = setup.place(len, None)?;
        let pool = RefCell::new(Pool::new(&*place, len, FEWEST)?);
        let subject = |method, work, sign| {
            let row = Row { name: "copy", method, ..common.row(&*place, points) };
            let off = move |(given, found): (f64, f64)| difference(found, sign * given);
            let error = move |given: &Values<'_>, found: &Values<'_>| {
                given.iter().zip(found.iter()).map(off).fold(0.0, f64::max)
            };
            Ok(Subject { row, work: place.ready(work, points)?, error: Box::new(error) })
        };
        let [ours, library] = place.copies();
        let subjects =
            vec![subject(ours, Work::Negation, -1.0)?, subject(library, Work::LibraryCopy, 1.0)?];
        measure(common, (&*place, points), &pool, subjects, 0.0, report)
    })
}
