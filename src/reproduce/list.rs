//! All figures and tables that can be reproduced, paper by paper.

use super::Basis::{Exact, Measured, Modelled, Simulated};
use super::finding::Finding;
use super::lab::Lab;
use super::{Basis, Experiment, blocks, cluster, flows, patterns, schemes, solvers, song};
use crate::error::Result;

/// In the order of the papers: name, [source, contents], basis of its numbers, [cost, cost with `--quick`].
#[rustfmt::skip]
pub(super) const EXPERIMENTS: &[Experiment] = &[
    figure("srinath-fig1.1", ["Srinath 2015, figure 1.1", "modified wavenumbers of first derivatives"], &[Exact], ["1 s", "1 s"], schemes::wavenumbers),
    figure("srinath-fig4.1", ["Srinath 2015, figure 4.1", "NEATO in global and shared memory, n systems"], &[Measured], ["2 min", "10 s"], |lab| solvers::compare_memories(lab, true)),
    figure("srinath-fig4.2", ["Srinath 2015, figure 4.2", "NEATO in global and shared memory, n² systems"], &[Measured], ["10 min", "10 s"], |lab| solvers::compare_memories(lab, false)),
    figure("srinath-fig4.3", ["Srinath 2015, figure 4.3", "line solvers over NEATO, n systems"], &[Measured], ["2 min", "10 s"], |lab| solvers::relative(lab, true)),
    figure("srinath-fig4.4", ["Srinath 2015, figure 4.4", "line solvers over NEATO, n² systems"], &[Measured], ["10 min", "10 s"], |lab| solvers::relative(lab, false)),
    figure("srinath-table4.1", ["Srinath 2015, table 4.1", "times of line solvers"], &[Measured], ["12 min", "20 s"], solvers::table_4_1),
    figure("srinath-fig4.5", ["Srinath 2015, figure 4.5", "steps of a derivative of 1024³ points on 64 GPUs"], &[Modelled], ["1 s", "1 s"], |lab| cluster::profile(lab, 1024)),
    figure("srinath-fig4.6", ["Srinath 2015, figure 4.6", "steps of a derivative of 2048³ points on 64 GPUs"], &[Modelled], ["1 s", "1 s"], |lab| cluster::profile(lab, 2048)),
    figure("srinath-fig4.7", ["Srinath 2015, figure 4.7", "strong scaling of a derivative, 256³ points"], &[Modelled], ["1 s", "1 s"], |lab| cluster::strong(lab, 256)),
    figure("srinath-fig4.8", ["Srinath 2015, figure 4.8", "strong scaling of a derivative, 512³ points"], &[Modelled], ["1 s", "1 s"], |lab| cluster::strong(lab, 512)),
    figure("srinath-fig4.9", ["Srinath 2015, figure 4.9", "weak scaling of a derivative, 128³ points per GPU"], &[Modelled], ["1 s", "1 s"], |lab| cluster::weak(lab, 128)),
    figure("srinath-fig4.10", ["Srinath 2015, figure 4.10", "weak scaling of a derivative, 256³ points per GPU"], &[Modelled], ["1 s", "1 s"], |lab| cluster::weak(lab, 256)),
    figure("srinath-fig4.11", ["Srinath 2015, figure 4.11", "speedup of GPUs over cores"], &[Modelled], ["1 s", "1 s"], cluster::figure_4_11),
    figure("srinath-table4.2", ["Srinath 2015, table 4.2", "times of a derivative on cores and GPUs"], &[Modelled, Measured], ["20 s", "5 s"], cluster::table_4_2),
    figure("song-fig2", ["Song et al. 2022, figure 2", "messages of PCR, 8 rows"], &[Exact], ["1 s", "1 s"], patterns::figure_2),
    figure("song-fig7", ["Song et al. 2022, figure 7", "messages of PCR, 11 cyclic rows"], &[Exact], ["1 s", "1 s"], patterns::figure_7),
    figure("song-fig9", ["Song et al. 2022, figure 9", "strong scaling of a line solver"], &[Modelled], ["1 s", "1 s"], song::figure_9),
    figure("song-fig10", ["Song et al. 2022, figure 10", "weak scaling of a line solver"], &[Modelled], ["1 s", "1 s"], song::figure_10),
    figure("song-fig11", ["Song et al. 2022, figure 11", "weak scaling with 2ⁿ and 2ⁿ − 1 GPUs"], &[Modelled], ["1 s", "1 s"], song::figure_11),
    figure("song-fig12", ["Song et al. 2022, figure 12", "vortices of the Taylor-Green flow"], &[Simulated], ["5 h", "1 min"], flows::vortex),
    figure("song-fig13", ["Song et al. 2022, figure 13", "weak scaling of the Taylor-Green vortex"], &[Modelled], ["5 s", "5 s"], song::figure_13),
    figure("esfahanian-operations", ["Esfahanian et al. 2014, section 2", "operations of reduction and elimination"], &[Exact], ["1 s", "1 s"], schemes::operations),
    figure("esfahanian-sorted", ["Esfahanian et al. 2014, section 3", "cyclic reduction, sorted and unsorted"], &[Measured], ["3 min", "10 s"], solvers::sorted),
    figure("esfahanian-cylinder", ["Esfahanian et al. 2014, section 4", "flow around a cylinder"], &[Simulated], ["3 h", "1 min"], flows::cylinder),
    figure("esfahanian-aerofoil", ["Esfahanian et al. 2014, section 4", "flow around a NACA 0012"], &[Simulated], ["20 min", "3 min"], flows::aerofoil),
    figure("zubair-table2", ["Zubair et al. 2017, table II", "meshes and their colours"], &[Exact], ["1 min", "10 s"], blocks::table_ii),
    figure("zubair-table3", ["Zubair et al. 2017, table III", "sweeps over blocks, medium meshes"], &[Measured], ["10 min", "30 s"], |lab| blocks::sweeps(lab, 1..4, 10)),
    figure("zubair-table4", ["Zubair et al. 2017, table IV", "sweeps over blocks, large meshes"], &[Measured], ["10 min", "30 s"], |lab| blocks::sweeps(lab, 4..6, 6)),
    figure("zubair-fig14", ["Zubair et al. 2017, figure 14", "sweeps over blocks of 1 to 64 rows"], &[Measured], ["5 min", "20 s"], blocks::figure_14),
    figure("zubair-fig15", ["Zubair et al. 2017, figure 15", "sweeps over blocks of 1 to 100 rows"], &[Measured], ["10 min", "40 s"], blocks::figure_15),
    figure("inverse-decay", ["behind Srinath 2015, Song et al. 2022", "decay of the inverse of A"], &[Exact], ["1 s", "1 s"], schemes::decay),
];

const fn figure(
    id: &'static str,
    [source, what]: [&'static str; 2],
    basis: &'static [Basis],
    cost: [&'static str; 2],
    make: fn(&Lab<'_>) -> Result<Finding>,
) -> Experiment {
    Experiment { id, source, what, basis, cost, make }
}
