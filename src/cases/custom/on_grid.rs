//! The initial state on a grid, from the expressions and arrays at every point.

use std::path::Path;

use rayon::prelude::*;

use super::{Custom, Quantity, Start};
use crate::cases::{FlowPoint, GridCase, Place};
use crate::comm::all_or_error;
use crate::error::{Error, Result};

impl GridCase for Custom {
    fn file(&self) -> Option<(&Path, &'static [&'static str])> {
        self.file.as_deref().map(|path| (path, &Quantity::NAMES[..]))
    }

    fn values(&self) -> usize {
        0
    }

    fn start(&self, place: &Place<'_>, arrays: &[(usize, Vec<f64>)]) -> Result<Vec<FlowPoint>> {
        let Place { comm, decomposition, grid, domain, gas } = place;
        let quantities: Vec<Quantity> = arrays.iter().map(|(at, _)| Quantity::ALL[*at]).collect();
        let file = self.file.as_ref().map_or(String::new(), |file| format!("{}: ", file.display()));
        let start = Start::new(self, gas, domain, grid, &quantities);
        let start =
            start.map_err(|sentence| Error::refused_with_advice(&format!("{file}{sentence}")));
        let start = all_or_error(*comm, start)?;
        let block = decomposition.block(comm.rank(), grid.points);
        let nothing = FlowPoint { density: 0.0, velocity: [0.0; 3], pressure: 0.0 };
        let mut flow = vec![nothing; block.len()];
        let points = flow.par_iter_mut().enumerate();
        let problems = points.filter_map(|(at, point)| {
            match start.at(block.index(at), |array| arrays[array].1[at]) {
                Ok(state) => {
                    *point = state;
                    None
                }
                Err(problem) => Some(problem),
            }
        });
        let first = problems.find_first(|_| true);
        let result = first.map_or(Ok(()), |problem| Err(Error::refused_with_advice(&problem)));
        all_or_error(*comm, result)?;
        Ok(flow)
    }
}
