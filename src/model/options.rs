//! Command-line options of `kolmo model`.

use std::path::PathBuf;

use clap::{ArgAction, Args};

use super::study::most_cubic;
use super::{Network, Rates};
use crate::engine::distributed::Method;
use crate::error::{Error, Result, refused};
use crate::grid::{Axis, Decomposition};
use crate::io::page::check_drawing;
use crate::options::{Several, points, several};

/// Maximum number of ranks: more than any machine has.
const MOST_RANKS: usize = 1 << 24;

/// The requested predictions.
#[derive(Args, Debug)]
pub struct ModelOptions {
    /// An input file, or the name of a case for its built-in input: its equations, schemes and integrator.
    #[arg(default_value = "taylor-green")]
    pub input: String,
    /// Change a key of the input: `--set scheme.convection=feiereisen`.
    #[arg(long, value_name = "KEY.PATH=VALUE", action = ArgAction::Append)]
    pub set: Vec<String>,
    /// Points per rank, for weak scaling: N for N x N x N, or NXxNYxNZ.
    #[arg(long, value_name = "POINTS", value_parser = points, default_value = "256", conflicts_with = "points")]
    pub(super) points_per_rank: [usize; 3],
    /// Points of the whole grid, for strong scaling.
    #[arg(long, value_name = "POINTS", value_parser = points, conflicts_with = "weak")]
    points: Option<[usize; 3]>,
    /// Weak scaling: the same number of points per rank for any number of ranks. This is the default.
    #[arg(long, conflicts_with = "strong")]
    weak: bool,
    /// Strong scaling: the same grid for any number of ranks: `--points`, otherwise the grid of eight ranks with
    /// `--points-per-rank`.
    #[arg(long)]
    strong: bool,
    /// Numbers of ranks.
    #[arg(long, value_name = "N", value_delimiter = ',', action = ArgAction::Set, value_parser = ranks, default_value = "1,8,64,512,4096,32768,131072")]
    ranks: Vec<usize>,
    /// How the grid is cut: as close to cubes as possible, along one axis only (x, y or z), or as PXxPYxPZ, which overrides
    /// `--ranks`.
    #[arg(long, value_name = "CUT", default_value = "cubic", value_parser = cut)]
    cut: Cut,
    /// Number of ranks that efficiencies are relative to. The default is the smallest run that exchanges along all three axes.
    #[arg(long, value_name = "N", value_parser = ranks, default_value = "8")]
    pub(super) base: usize,
    /// Instead of a step, predict first derivatives of one field by `scheme.derivative`: along x, y or z, or all in turn.
    #[arg(long, value_name = "AXIS", value_parser = axes)]
    pub(super) derivative: Option<Several<Axis>>,
    /// Method for lines that are split across ranks: all, auto, or a name such as neighbour.
    #[arg(long, default_value = "all", value_parser = methods)]
    pub(super) method: Several<Option<Method>>,
    /// torus, fat-tree, dragonfly, flat (all ranks adjacent), or all of the first three.
    #[arg(long, default_value = "all", value_parser = networks)]
    network: Several<Network>,
    /// Ratio by which the upper links of a fat tree, or those between groups of a dragonfly, are slower than the lower ones.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = taper)]
    taper: f64,
    /// A file with the rates of a machine, as printed by `kolmo bench comm --json`; the default is an assumed cluster of H200.
    #[arg(long, value_name = "FILE")]
    rates: Option<PathBuf>,
    /// Change one rate: `--rate bandwidth=25e9`.
    #[arg(long, value_name = "NAME=VALUE", action = ArgAction::Append, value_parser = rate)]
    rate: Vec<(String, f64)>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Draw the efficiencies.
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Replace an existing file with the name of that picture, even if another program wrote it.
    #[arg(long, requires = "plot")]
    overwrite: bool,
}

/// The decompositions of a study.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cut {
    Cubic,
    Along(Axis),
    Exactly(Decomposition),
}

impl ModelOptions {
    /// Numbers of ranks.
    pub(super) fn ranks(&self) -> Vec<usize> {
        match self.cut {
            Cut::Exactly(cut) => vec![cut.size()],
            _ => self.ranks.clone(),
        }
    }

    /// The cut of a grid of `points` over this many ranks.
    pub(super) fn decomposition(&self, ranks: usize, points: [usize; 3]) -> Decomposition {
        match self.cut {
            Cut::Exactly(cut) if cut.size() == ranks => cut,
            Cut::Along(axis) => Decomposition::along(axis, ranks),
            _ => most_cubic(ranks, points),
        }
    }

    /// The rates with the requested changes.
    pub(super) fn rates(&self) -> Result<Rates> {
        let mut rates = match &self.rates {
            Some(path) => Rates::load(path)?,
            None => Rates::h200(),
        };
        for (name, value) in &self.rate {
            if name == "staging" {
                rates.staging = Some(*value);
                continue;
            }
            let mut named = rates.named();
            let Some((_, rate)) = named.iter_mut().find(|(known, _)| known == name) else {
                let names = named.map(|(name, _)| name).join(", ");
                let what = format!("there is no rate `{name}`");
                return Err(refused(what, format!("the rates are {names}, staging")));
            };
            **rate = *value;
        }
        if !self.rate.is_empty() {
            let changes: Vec<_> =
                self.rate.iter().map(|(name, value)| format!("{name} = {value:e}")).collect();
            rates.source += &format!("; given: {}", changes.join(", "));
        }
        rates.check().map_err(|what| Error::Config(vec![format!("error: {what}")]))?;
        Ok(rates)
    }

    /// Refuse a picture that would replace a file not written by Kolmo, or whose name does not end with `.svg`.
    pub(super) fn check_plot(&self) -> Result<()> {
        match &self.plot {
            Some(path) => check_drawing(path, "model", self.overwrite),
            None => Ok(()),
        }
    }

    /// The networks with the requested taper.
    pub(super) fn networks(&self) -> Vec<Network> {
        let tapered = |network: &Network| match network {
            Network::FatTree(_) => Network::FatTree(self.taper),
            Network::Dragonfly(_) => Network::Dragonfly(self.taper),
            other => *other,
        };
        self.network.0.iter().map(tapered).collect()
    }

    /// Points of the whole grid if it is the same for any number of ranks.
    pub(super) fn whole(&self) -> Option<[usize; 3]> {
        let doubled = self.points_per_rank.map(|n| if n > 1 { 2 * n } else { 1 });
        self.points.or(self.strong.then_some(doubled))
    }
}

fn ranks(text: &str) -> Result<usize, String> {
    let number = text.trim().parse().ok().filter(|n| (1..=MOST_RANKS).contains(n));
    number.ok_or_else(|| format!("a number of ranks is 1 to {MOST_RANKS}"))
}

fn cut(text: &str) -> Result<Cut, String> {
    let axis = |name: &str| Axis::ALL.into_iter().find(|axis| axis.name() == name);
    if text == "cubic" {
        return Ok(Cut::Cubic);
    }
    if let Some(axis) = axis(text) {
        return Ok(Cut::Along(axis));
    }
    let numbers: Option<Vec<usize>> = text.split('x').map(|part| ranks(part).ok()).collect();
    let numbers: Option<[usize; 3]> = numbers.and_then(|numbers| numbers.try_into().ok());
    let size = |ranks: &[usize; 3]| ranks.iter().try_fold(1_usize, |all, n| all.checked_mul(*n));
    match numbers.filter(|ranks| size(ranks).is_some_and(|size| size <= MOST_RANKS)) {
        Some(ranks) => Ok(Cut::Exactly(Decomposition { ranks })),
        None => Err(format!(
            "a cut is cubic, x, y, z, or PXxPYxPZ, such as 4x2x2, of at most {MOST_RANKS} ranks"
        )),
    }
}

fn axes(name: &str) -> Result<Several<Axis>, String> {
    let each = Axis::ALL.map(|axis| (axis.name(), axis));
    several("axes", [("all", Axis::ALL.to_vec())], each, name)
}

fn taper(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|factor: &f64| (1.0..=1e3).contains(factor));
    number.ok_or_else(|| "a taper is 1 to 1000".into())
}

fn rate(text: &str) -> Result<(String, f64), String> {
    let parts = text.split_once('=');
    let parsed = parts.and_then(|(name, value)| Some((name.trim(), value.trim().parse().ok()?)));
    let (name, value) = parsed.ok_or("a rate is NAME=VALUE, such as bandwidth=25e9")?;
    Ok((name.to_string(), value))
}

fn methods(name: &str) -> Result<Several<Option<Method>>, String> {
    let all = Method::ALL.map(Some).to_vec();
    let each = Method::ALL.map(|method| (method.name(), Some(method)));
    several("methods", [("auto", vec![None]), ("all", all)], each, name)
}

fn networks(name: &str) -> Result<Several<Network>, String> {
    let each = Network::ALL.into_iter().chain([Network::Flat]);
    let each = each.map(|network| (network.name(), network));
    several("networks", [("all", Network::ALL.to_vec())], each, name)
}
