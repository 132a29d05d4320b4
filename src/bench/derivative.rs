//! One derivative along each axis.

use super::arguments::DerivativeOptions;
use super::operators::{self, Request};
use super::output::Report;
use super::place::{Place, Setup};
use crate::error::Result;
use crate::grid::Axis;

pub(super) fn run<P: Place>(
    options: &DerivativeOptions,
    setup: &Setup,
    report: &mut Report,
) -> Result<()> {
    let request = Request {
        name: "derivative",
        common: &options.common,
        options: &options.operator,
        sizes: options.common.sizes(256),
        axis: match options.axis.as_str() {
            "x" => Some(Axis::X),
            "y" => Some(Axis::Y),
            "z" => Some(Axis::Z),
            _ => None,
        },
        methods: options.method,
    };
    operators::run::<P>(&request, setup, report)
}
