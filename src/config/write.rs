//! A configuration as the input that repeats its run.

use std::fmt::{Display, Write};

use super::case::{MODES, SHAPES, STARTS};
use super::output::{CHECKPOINTS, ON_FAILURE, STATISTICS};
use super::read::{
    AXES, BACKENDS, CONVECTIONS, DEVICE_AWARE, ENERGIES, PENCILS, PRECISIONS, RIGHT_HAND_SIDES,
    VISCOUS,
};
use super::value::number;
use super::{
    CheckpointConfig, Config, FilterConfig, Precision, Region, Schedule, SchemeConfig, StepSize,
    Variable, WallLimit,
};
use crate::backend::device::LineSolver;
use crate::cases::Case;
use crate::engine::distributed::Method;
use crate::physics::Viscosity;

/// What stands for the name of the case where a run starts from a checkpoint, which knows it.
pub(super) const FROM_CHECKPOINT: &str = "from-checkpoint";

impl Config {
    /// Everything resolved, as an input file; [`parse`](super::parse) makes an equal configuration of it.
    pub fn to_toml(&self) -> String {
        let mut text = Text(String::from(
            "# Everything resolved: `kolmo run` with this file repeats the run.\n",
        ));
        self.write_case(&mut text);
        self.write_grid(&mut text);
        if self.case.flow().is_some() {
            self.write_gas(&mut text);
        }
        self.write_scheme(&mut text);
        self.write_time(&mut text);
        self.write_compute(&mut text);
        self.write_output(&mut text);
        text.0
    }

    fn write_case(&self, text: &mut Text) {
        text.section("case");
        match &self.origin {
            None => text.word("name", self.case.name()),
            Some(path) => {
                text.word("name", FROM_CHECKPOINT);
                text.word("path", &path.to_string_lossy());
            }
        }
        if self.case.flow().is_some() {
            text.key("mach", number(self.gas.mach));
            text.key("reynolds", number(self.gas.reynolds));
        }
        match &self.case {
            Case::TaylorGreen(case) => text.word("start", name(&STARTS, case.start)),
            Case::IsentropicVortex(case) => {
                text.key("strength", number(case.strength));
                text.key("velocity", numbers(&case.velocity));
                text.key("half_width", number(case.half_width));
            }
            Case::EntropyWave(case) => {
                text.key("amplitude", number(case.amplitude));
                text.key("velocity", numbers(&case.velocity));
            }
            Case::AcousticWave(case) => {
                text.key("amplitude", number(case.amplitude));
                text.key("wavenumber", case.wavenumber);
                text.word("mode", name(&MODES, case.mode));
            }
            Case::ShearWave(case) => {
                text.key("amplitude", number(case.amplitude));
                text.key("wavenumber", case.wavenumber);
                text.key("velocity", number(case.velocity));
            }
            Case::ScalarAdvection(case) => {
                text.word("shape", name(&SHAPES, case.shape));
                text.key("velocity", numbers(&case.velocity));
                text.key("diffusivity", number(case.diffusivity));
                text.key("width", number(case.width));
                text.key("wavenumber", format!("{:?}", case.wavenumber));
            }
        }
    }

    fn write_grid(&self, text: &mut Text) {
        text.section("grid");
        text.key("points", format!("{:?}", self.grid.points));
        let length = numbers(&self.grid.domain.length);
        if self.grid.domain == self.case.domain() {
            // Not a key: the box goes on following the case where `--set` changes it.
            text.key("# length", format!("{length} is the box of the case"));
        } else {
            text.key("length", length);
        }
    }

    fn write_gas(&self, text: &mut Text) {
        text.section("gas");
        text.key("gamma", number(self.gas.gamma));
        text.key("prandtl", number(self.gas.prandtl));
        match self.gas.viscosity {
            Viscosity::Constant => text.word("viscosity", "constant"),
            Viscosity::Power { exponent } => {
                let exponent = number(exponent);
                text.key("viscosity", format!("{{ law = \"power\", exponent = {exponent} }}"));
            }
            Viscosity::Sutherland { temperature_ratio } => {
                let ratio = number(temperature_ratio);
                let law = format!("{{ law = \"sutherland\", temperature_ratio = {ratio} }}");
                text.key("viscosity", law);
            }
        }
    }

    fn write_scheme(&self, text: &mut Text) {
        text.section("scheme");
        text.word("derivative", self.scheme.derivative.name);
        if self.case.flow().is_some() {
            let [convection, energy, viscous] = self.scheme.form_names();
            text.word("convection", convection);
            text.word("energy", energy);
            text.word("viscous", viscous);
        }
        match self.scheme.filter {
            None => text.word("filter", "none"),
            Some(filter) => text.key("filter", filter),
        }
    }

    fn write_time(&self, text: &mut Text) {
        text.section("time");
        text.word("integrator", self.time.integrator.name);
        match self.time.step {
            StepSize::Cfl(cfl) => text.key("cfl", number(cfl)),
            StepSize::Fixed(dt) => text.key("dt", number(dt)),
        }
        if let Some(end) = self.time.end {
            text.key("end", number(end));
        }
        if let Some(steps) = self.time.max_steps {
            text.key("max_steps", steps);
        }
        match self.time.wall_limit {
            None => {}
            Some(WallLimit::Auto) => text.word("wall_limit", "auto"),
            Some(WallLimit::Seconds(seconds)) => text.key("wall_limit", number(seconds)),
        }
    }

    fn write_compute(&self, text: &mut Text) {
        text.section("compute");
        text.word("backend", name(&BACKENDS, self.compute.backend));
        match self.compute.device {
            None => text.word("device", "auto"),
            Some(device) => text.key("device", device),
        }
        match self.compute.threads {
            None => text.word("threads", "auto"),
            Some(threads) => text.key("threads", threads),
        }
        text.word("precision", self.compute.precision.name());
        text.word("line_solver", self.compute.line_solver.map_or("auto", LineSolver::name));
        text.word("pencils", name(&PENCILS, self.compute.pencils));
        text.word("right_hand_side", name(&RIGHT_HAND_SIDES, self.compute.right_hand_side));
        text.key("tune", self.compute.tune);
        text.word("distributed", self.compute.distributed.map_or("auto", Method::name));
        match self.compute.ranks {
            None => text.word("ranks", "auto"),
            Some(ranks) => text.key("ranks", format!("{ranks:?}")),
        }
        text.word("device_aware", name(&DEVICE_AWARE, self.compute.device_aware));
    }

    fn write_output(&self, text: &mut Text) {
        text.section("output");
        text.word("directory", &self.output.directory.to_string_lossy());
        text.key("series", format!("{{ {} }}", schedule(&self.output.series)));
        if let Some(fields) = &self.output.fields {
            let mut keys = vec![schedule(&fields.schedule), variables(&fields.variables)];
            keys.extend(fields.precision.map(precision));
            keys.extend(fields.region.map(|Region { from, to }| {
                format!("region = {{ from = {}, to = {} }}", numbers(&from), numbers(&to))
            }));
            keys.extend((fields.stride != 1).then(|| format!("stride = {}", fields.stride)));
            keys.extend(fields.pieces.map(|pieces| format!("pieces = {pieces}")));
            text.table("fields", &keys);
        }
        if let Some(planes) = &self.output.planes {
            let mut keys = vec![schedule(&planes.schedule)];
            let at = AXES.iter().zip(&planes.at).filter(|(_, at)| !at.is_empty());
            keys.extend(at.map(|(axis, at)| format!("{axis} = {}", numbers(at))));
            keys.push(variables(&planes.variables));
            keys.extend(planes.precision.map(precision));
            text.table("planes", &keys);
        }
        if let Some(statistics) = &self.output.statistics {
            let mut keys = vec![schedule(&statistics.schedule)];
            keys.push(format!("from = {}", number(statistics.from)));
            let names = statistics.quantities.iter().map(|&what| name(&STATISTICS, what));
            keys.push(format!("quantities = {:?}", names.collect::<Vec<_>>()));
            text.table("statistics", &keys);
        }
        let checkpoint = &self.output.checkpoint;
        if let Some(CheckpointConfig { schedule: Some(when), keep, asynchronous, compress }) =
            checkpoint
        {
            let mut keys = vec![schedule(when), format!("keep = {keep}")];
            keys.push(format!("asynchronous = {asynchronous}"));
            keys.push(format!("compress = {compress}"));
            text.table("checkpoint", &keys);
        } else {
            text.word("checkpoint", name(&CHECKPOINTS, *checkpoint));
        }
        text.word("on_failure", name(&ON_FAILURE, self.output.on_failure));
    }
}

impl SchemeConfig {
    /// What the user types for the forms of convection, energy and viscous terms.
    pub fn form_names(&self) -> [&'static str; 3] {
        [
            name(&CONVECTIONS, self.convection),
            name(&ENERGIES, self.energy),
            name(&VISCOUS, self.viscous),
        ]
    }
}

impl Display for FilterConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { order, alpha, every } = self;
        write!(f, "{{ order = {order}, alpha = {}, every = {every} }}", number(*alpha))
    }
}

impl Precision {
    /// What the user types.
    pub fn name(self) -> &'static str {
        name(&PRECISIONS, self)
    }
}

/// TOML in the making.
struct Text(String);

impl Text {
    fn section(&mut self, name: &str) {
        let _ = write!(self.0, "\n[{name}]\n");
    }

    fn key(&mut self, key: &str, value: impl Display) {
        let _ = writeln!(self.0, "{key} = {value}");
    }

    fn table(&mut self, key: &str, keys: &[String]) {
        self.key(key, format!("{{ {} }}", keys.join(", ")));
    }

    fn word(&mut self, key: &str, word: &str) {
        self.key(key, toml::Value::from(word));
    }
}

/// What the user types for `value`.
fn name<T: PartialEq>(names: &[(&'static str, T)], value: T) -> &'static str {
    names.iter().find(|(_, known)| *known == value).map_or("", |(name, _)| name)
}

fn numbers(values: &[f64]) -> String {
    let values: Vec<String> = values.iter().map(|&value| number(value)).collect();
    format!("[{}]", values.join(", "))
}

fn variables(variables: &[Variable]) -> String {
    let names: Vec<&str> = variables.iter().map(|variable| variable.name()).collect();
    format!("variables = {names:?}")
}

fn precision(precision: Precision) -> String {
    format!("precision = {:?}", precision.name())
}

/// The keys of a schedule, as inside an inline table.
fn schedule(schedule: &Schedule) -> String {
    let keys = [
        schedule.every_steps.map(|steps| format!("every_steps = {steps}")),
        schedule.every_time.map(|time| format!("every_time = {}", number(time))),
        schedule.every_wall.map(|wall| format!("every_wall = {}", number(wall))),
    ];
    keys.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
