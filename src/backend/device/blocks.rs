//! Device operations on lines split across ranks: sums of planes, distribution of lines to ranks, and staging memory on
//! the host.

use std::sync::Arc;

use super::ends::{Lines, THREADS};
use super::job::{Job, LaunchSize};
use super::text::Text;
use super::{Arg, Buffer, Device};
use crate::backend::ranks::{Staging, Sums, TransposeLayout};
use crate::error::Result;
use crate::real::Precision;

/// Sums of planes, compiled for a device.
pub(super) struct PlaneSums {
    job: Job,
    lists: Buffer,
    rows: Buffer,
    terms: Buffer,
}

impl PlaneSums {
    /// Prepares `sums` of planes of `lines` values.
    pub(super) fn new(
        (device, precision): (&Arc<Device>, Precision),
        lines: usize,
        sums: &Sums,
    ) -> Result<Self> {
        let (mut lists, mut rows, mut terms) = (Vec::new(), Vec::new(), Vec::new());
        let as_f64 = |n: usize| n as f64;
        for list in sums {
            lists.extend([as_f64(rows.len() / 3), as_f64(list.len())]);
            for (to, sum) in list {
                rows.extend([as_f64(*to), as_f64(terms.len() / 2), as_f64(sum.len())]);
                terms.extend(sum.iter().flat_map(|(plane, factor)| [as_f64(*plane), *factor]));
            }
        }
        let mut text = Text::new(precision);
        text.define("LINES", lines);
        text.define("THREADS", THREADS);
        text.push(include_str!("../../../kernels/ranks/combine.cu"));
        let mut shape = LaunchSize::over(lines, THREADS);
        shape.blocks[1] = sums.len();
        let table = |values: &[f64]| Buffer::table(device, precision, values);
        Ok(Self {
            job: Job::new(device, &text.source("combine.cu"), "combine", &shape)?,
            lists: table(&lists)?,
            rows: table(&rows)?,
            terms: table(&terms)?,
        })
    }

    pub(super) fn run(&self, planes: &Buffer) {
        self.job.launch([self.lists.arg(), self.rows.arg(), self.terms.arg(), planes.arg()]);
    }
}

/// Distributes the lines of `field` to `parts`, or collects them from there; `field` is number `at` of several.
pub(super) fn deal(
    layout: &TransposeLayout,
    collect: bool,
    at: usize,
    [field, parts]: [&Buffer; 2],
) -> Result<()> {
    let lines = Lines::along(layout.axis, layout.points);
    let mut text = Text::new(field.precision);
    lines.define(&mut text);
    text.define("THREADS", THREADS);
    text.define("PARTS", layout.parts);
    text.define("FIELDS", layout.fields);
    text.define("COLLECT", u8::from(collect));
    text.push(include_str!("../../../kernels/ranks/deal.cu"));
    let shape = LaunchSize::over(lines.count * lines.points, THREADS);
    let job = Job::new(&field.device, &text.source("deal.cu"), "deal", &shape)?;
    job.launch([field.arg(), parts.arg(), Arg::Int(i32::try_from(at).unwrap_or(i32::MAX))]);
    Ok(())
}

/// Returns staging memory on the host, page-locked if the driver can.
pub(super) fn staging(device: &Arc<Device>, bytes: usize) -> Staging {
    Staging::locked(bytes, |start, bytes| {
        let device = device.clone();
        device.runtime.pin(start, bytes).then_some(move |start| device.unpin(start))
    })
}
