//! The line solvers side by side, along x.

use super::arguments::LinesOptions;
use super::operators::{self, Request};
use super::output::Report;
use super::place::{Place, Setup};
use crate::error::Result;
use crate::grid::Axis;

/// n systems of n points, and n² of them: the sizes of table 4.1 of Srinath (2015).
fn table() -> Vec<[usize; 3]> {
    let few = [32, 64, 128, 256, 512, 1024, 2048].map(|n| [n, n, 1]);
    let many = [32, 64, 128, 256, 512].map(|n| [n, n, n]);
    few.into_iter().chain(many).collect()
}

fn sizes(options: &LinesOptions) -> Vec<[usize; 3]> {
    if options.table { table() } else { options.common.sizes(256) }
}

pub(super) fn run<P: Place>(
    options: &LinesOptions,
    setup: &Setup,
    report: &mut Report,
) -> Result<()> {
    let request = Request {
        name: "lines",
        common: &options.common,
        options: &options.operator,
        sizes: sizes(options),
        axis: Some(Axis::X),
        methods: options.method,
    };
    operators::run::<P>(&request, setup, report)
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
    fn the_table_of_the_thesis_has_seven_plane_problems_and_five_boxes() {
        let sizes = |typed: &str| {
            let line = Line::parse_from(format!("bench {typed}").split_whitespace());
            let Bench::Lines(options) = line.bench else { panic!("`{typed}` is read otherwise") };
            sizes(&options)
        };
        let table = sizes("lines --table4.1");
        assert_eq!(table.len(), 12);
        assert_eq!([table[0], table[6]], [[32, 32, 1], [2048, 2048, 1]]);
        assert_eq!([table[7], table[11]], [[32; 3], [512; 3]]);
        assert_eq!(sizes("lines --points 8,9x10x11"), [[8; 3], [9, 10, 11]]);
        assert_eq!(sizes("lines"), [[256; 3]]);
    }
}
