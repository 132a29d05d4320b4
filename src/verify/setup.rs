//! The backend and the ranks on which the checks run.

use std::sync::Arc;

use super::check::float;
use super::fields::{Place, Run};
use super::options::VerifyOptions;
use crate::backend::device::{Fusing, Gpu};
use crate::backend::ranks::Ranks;
use crate::backend::{Backend, BackendChoice, ComputeConfig, Share, on_device, on_host};
use crate::comm::{Communicator, all_or_error};
use crate::config::{Config, of_case};
use crate::error::{Result, refused};
use crate::grid::{Axis, Decomposition};
use crate::real::Precision;
use crate::scheme::{SchemeFamily, Tableau, family, tableau};
use crate::time::decomposition;

/// Maximum number of ranks: the shortest lines that are split have this many points.
const MAX_RANKS: usize = 8;

/// The choices of the user.
pub(super) struct Setup {
    pub(super) comm: Arc<dyn Communicator>,
    /// Whether the checks must finish within a minute.
    pub(super) quick: bool,
    share: Share,
}

impl Setup {
    /// Each rank of a host gets its share of the cores, and the next device. Collective.
    pub(super) fn new(options: &VerifyOptions, comm: &Arc<dyn Communicator>) -> Result<Self> {
        let backend = options.backend.iter().map(|name| format!("compute.backend={name}"));
        let device = options.device.iter().map(|index| format!("compute.device={index}"));
        let set: Vec<String> = backend.chain(device).collect();
        let config = check_ranks(comm.size()).and_then(|()| of_case("taylor-green", [8; 3], &set));
        let compute = all_or_error(&**comm, config)?.compute;
        let share = Share::find(compute, &**comm)?;
        Ok(Self { comm: comm.clone(), quick: options.quick, share })
    }

    /// Description of the backend and machine.
    pub(super) fn place(&self) -> String {
        let device = self.share.device.as_ref().map(|device| device.info());
        let place = match device {
            Some(info) => format!("{} ({})", info.name, info.api.name()),
            None => "the cpu".into(),
        };
        match self.comm.size() {
            1 => place,
            ranks => format!("{ranks} ranks, each on {place}"),
        }
    }

    /// Whether fields are stored on a device.
    pub(super) fn is_device(&self) -> bool {
        self.share.device.is_some()
    }

    /// Whether the checks are quick and run on a device, where each kernel must be compiled: one form, one scheme and one axis
    /// suffice.
    pub(super) fn is_quick_on_device(&self) -> bool {
        self.quick && self.is_device()
    }

    /// Whether the device supports that precision; the host supports both.
    pub(super) fn has(&self, precision: Precision) -> bool {
        precision == Precision::F32
            || self.share.device.as_ref().is_none_or(|device| device.info().has_f64)
    }

    /// The input of `case` on `points` points with the keys `set` as in `--set`, on this backend, without an end time.
    pub(super) fn config(
        &self,
        case: &str,
        points: [usize; 3],
        set: &[impl AsRef<str>],
    ) -> Result<Config> {
        let set: Vec<String> = set.iter().map(|key| key.as_ref().into()).collect();
        let mut config = of_case(case, points, &set)?;
        let ComputeConfig { backend, device, threads, .. } = self.share.compute;
        config.compute = ComputeConfig { backend, device, threads, ..config.compute };
        Ok(config)
    }

    /// A backend for fields of `points` points with the options `compute`, over all ranks, with the decomposition `cut`.
    pub(super) fn distribute(
        &self,
        points: [usize; 3],
        compute: &ComputeConfig,
        cut: Decomposition,
    ) -> Result<Place> {
        let len = cut.block(self.comm.rank(), points).len();
        let own = match &self.share.device {
            Some(device) => on_device(device.clone(), len, compute),
            None => on_host(compute, self.share.cores.as_deref()),
        };
        let own = all_or_error(&*self.comm, own)?;
        let backend: Arc<dyn Backend> = match self.comm.size() {
            1 => own.into(),
            _ => {
                let ranks = Ranks::new(own, self.comm.clone(), cut, compute);
                Arc::new(all_or_error(&*self.comm, ranks)?)
            }
        };
        Ok(Place { backend, comm: self.comm.clone(), cut, points })
    }

    /// A place for fields of that precision, with all ranks along `axis`.
    pub(super) fn along(
        &self,
        axis: Axis,
        points: [usize; 3],
        precision: Precision,
    ) -> Result<Place> {
        let compute = ComputeConfig { precision, ..self.share.compute.clone() };
        self.distribute(points, &compute, Decomposition::along(axis, self.comm.size()))
    }

    /// A line of `n` points along `axis`, with the indices of the points.
    pub(super) fn one_line(&self, axis: Axis, n: usize) -> Result<(Place, Vec<f64>)> {
        let mut points = [1; 3];
        points[axis.index()] = n;
        let place = self.along(axis, points, Precision::F64)?;
        Ok((place, (0..n).map(float).collect()))
    }

    /// The initial state of the run of `config`, distributed over the ranks as by `kolmo run`.
    pub(super) fn start(&self, config: &Config) -> Result<Run> {
        let (cut, _) = decomposition(config, &*self.comm, self.is_device())?;
        Run::new(self.distribute(config.grid.points, &config.compute, cut)?, config)
    }

    /// The initial state of the run of `config` on a single device, with the alternative form of the sweeps: as single kernels,
    /// or operator by operator. `None` on the host and on several ranks.
    pub(super) fn alternative_sweeps(&self, config: &Config) -> Result<Option<Run>> {
        let Some(device) = self.share.device.as_ref().filter(|_| self.comm.size() == 1) else {
            return Ok(None);
        };
        let points = config.grid.points;
        let gpu = Gpu::configured(device.clone(), points.iter().product(), &config.compute)?;
        let is_fused = !gpu.shapes().is_empty();
        let gpu = gpu.fusing(if is_fused { Fusing::Nothing } else { Fusing::OnChip });
        Run::new(Place::alone(Arc::new(gpu), points), config).map(Some)
    }

    /// The initial state of the run of `case` on `points` points with the keys `set`.
    pub(super) fn run(
        &self,
        case: &str,
        points: [usize; 3],
        set: &[impl AsRef<str>],
    ) -> Result<Run> {
        self.start(&self.config(case, points, set)?)
    }

    /// The same run on this host only, as the reference for comparisons.
    pub(super) fn reference(&self, config: &Config) -> Result<Run> {
        let compute = ComputeConfig { backend: BackendChoice::Cpu, ..config.compute.clone() };
        let config = Config { compute, ..config.clone() };
        let backend = on_host(&config.compute, None)?.into();
        Run::new(Place::alone(backend, config.grid.points), &config)
    }
}

fn check_ranks(size: usize) -> Result<()> {
    if size <= MAX_RANKS {
        return Ok(());
    }
    let problem = format!("verify runs on small grids, which {size} ranks cannot share");
    Err(refused(problem, format!("use at most {MAX_RANKS} ranks")))
}

/// Spacing of n points on a period of length 2π.
pub(super) fn spacing(n: usize) -> f64 {
    std::f64::consts::TAU / float(n)
}

/// The default family of formulas.
pub(super) fn compact6() -> &'static SchemeFamily {
    family("compact6").unwrap_or_else(|| unreachable!("a family of the table"))
}

/// The default integrator.
pub(super) fn hale64() -> &'static Tableau {
    tableau("hale64").unwrap_or_else(|| unreachable!("a method of the table"))
}

/// A filter every other step.
pub(super) const FILTER: &str = "scheme.filter={ order = 8, alpha = 0.45, every = 2 }";

/// Forms of the terms, by their names in an input.
#[derive(Clone, Copy)]
pub(super) struct Forms {
    pub(super) convection: &'static str,
    pub(super) energy: &'static str,
    pub(super) viscous: &'static str,
    pub(super) law: &'static str,
}

impl Default for Forms {
    fn default() -> Self {
        Self { convection: CONVECTION[2], energy: ENERGY[2], viscous: VISCOUS[0], law: LAWS[0] }
    }
}

/// Forms of convection.
pub(super) const CONVECTION: [&str; 4] =
    ["divergence", "feiereisen", "kennedy-gruber", "staggered"];
/// Forms of the energy equation.
pub(super) const ENERGY: [&str; 3] = ["divergence", "split-enthalpy", "split-pressure"];
/// Forms of the viscous terms.
pub(super) const VISCOUS: [&str; 3] = ["laplacian", "midpoint", "conservative"];
/// Viscosity laws.
const LAWS: [&str; 3] = ["constant", "power", "sutherland"];

impl Forms {
    /// Twelve combinations that contain every pair of values of (convection, energy, viscous, law): an orthogonal array.
    pub(super) fn pairs() -> Vec<Self> {
        let mut pairs = Vec::new();
        for (i, convection) in CONVECTION.into_iter().enumerate() {
            for (j, energy) in ENERGY.into_iter().enumerate() {
                let (viscous, law) = (VISCOUS[(i + j) % 3], LAWS[(i + 2 * j) % 3]);
                pairs.push(Self { convection, energy, viscous, law });
            }
        }
        pairs
    }

    /// All of them.
    pub(super) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for (convection, energy) in CONVECTION.into_iter().flat_map(|c| ENERGY.map(|e| (c, e))) {
            for (viscous, law) in VISCOUS.into_iter().flat_map(|v| LAWS.map(|law| (v, law))) {
                all.push(Self { convection, energy, viscous, law });
            }
        }
        all
    }

    /// The keys that select them, and `more`.
    pub(super) fn with(&self, more: &[&str]) -> Vec<String> {
        let Self { convection, energy, viscous, law } = self;
        let mut keys = vec![
            format!("scheme.convection={convection}"),
            format!("scheme.energy={energy}"),
            format!("scheme.viscous={viscous}"),
            format!("gas.viscosity={law}"),
        ];
        keys.extend(more.iter().map(ToString::to_string));
        keys
    }

    /// Their names as one word.
    pub(super) fn name(&self) -> String {
        let Self { convection, energy, viscous, law } = self;
        format!("{convection}/{energy}/{viscous}/{law}")
    }
}

impl Setup {
    /// The forms to check: fewer if each needs a compilation.
    pub(super) fn forms(&self) -> Vec<Forms> {
        if self.quick || self.is_device() { self.pairs() } else { Forms::all() }
    }

    /// Combinations that contain every pair of forms, or only the default in a quick check on a device.
    pub(super) fn pairs(&self) -> Vec<Forms> {
        if self.is_quick_on_device() { vec![Forms::default()] } else { Forms::pairs() }
    }

    /// All forms of a term, or only the `default` one in a quick check on a device.
    pub(super) fn each(&self, all: &[&'static str], default: &'static str) -> Vec<&'static str> {
        if self.is_quick_on_device() { vec![default] } else { all.to_vec() }
    }
}
