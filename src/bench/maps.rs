//! Parts that compute one field from another, each timed together with a copy.

use std::cell::RefCell;

use super::arguments::Common;
use super::check::difference;
use super::measure::{interleaved, rotating};
use super::output::{CopyReport, Report, Row, shape};
use super::place::{Place, PreparedWork, Setup, Work};
use super::pool::{MIN_FIELDS, Pool, sizes_that_fit};
use crate::error::Result;
use crate::real::Values;

/// A part, and its result as far as it is known.
pub(super) struct Subject<'a> {
    pub(super) row: Row,
    pub(super) work: PreparedWork<'a>,
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
    let negation = place.prepare_work(Work::Negation, points)?;
    let parts = subjects.iter().map(|subject| rotating(place, pool, &subject.work));
    let copy = rotating(place, pool, &negation);
    let (copy, times) = interleaved(common.repeats, copy, parts.collect())?;
    let size = place.precision().bytes();
    let copy = CopyReport::new(&copy, points.iter().product(), size);
    let mut rows = Vec::new();
    for (Subject { row, work, error }, times) in subjects.into_iter().zip(&times) {
        let [input, output] = pool.borrow_mut().run_once(place, |from, to| work(from, to))?;
        let row = Row { error: Some(error(&input, &output)), ..row };
        rows.push(row.timed(Some(2 * size), times, copy));
    }
    report.add(copy, tolerance, rows);
    Ok(())
}

/// Run `measure_one` for each of `sizes` that fits in memory. Failures are reported under `name`.
pub(super) fn for_each_size(
    name: &str,
    sizes: Vec<[usize; 3]>,
    setup: &Setup,
    report: &mut Report,
    measure_one: impl Fn([usize; 3], &mut Report) -> Result<()>,
) -> Result<()> {
    for points in sizes_that_fit(setup, sizes, &mut report.notes)? {
        let result = measure_one(points, report);
        report.attempt(&format!("{name} on {}", shape(points)), result)?;
    }
    Ok(())
}

/// Two copies: the reference for all other parts, and the copy of a library or a driver.
pub(super) fn copy(common: &Common, setup: &Setup, report: &mut Report) -> Result<()> {
    for_each_size("copy", common.sizes(256), setup, report, |points, report| {
        let len = points.iter().product();
        let place = setup.place(len, None)?;
        let pool = RefCell::new(Pool::new(&*place, len, MIN_FIELDS)?);
        let subject = |method, work, sign| {
            let row = Row { name: "copy", method, ..common.row(&*place, points) };
            let deviation = move |(input, output): (f64, f64)| difference(output, sign * input);
            let error = move |input: &Values<'_>, output: &Values<'_>| {
                input.iter().zip(output.iter()).map(deviation).fold(0.0, f64::max)
            };
            Ok(Subject { row, work: place.prepare_work(work, points)?, error: Box::new(error) })
        };
        let [ours, library] = place.copies();
        let subjects =
            vec![subject(ours, Work::Negation, -1.0)?, subject(library, Work::LibraryCopy, 1.0)?];
        measure(common, (&*place, points), &pool, subjects, 0.0, report)
    })
}
