//! Inputs are resolved with their defaults, and resolved inputs read back unchanged. No input makes the reader panic.

use std::path::PathBuf;

use kolmo::Error;
use kolmo::backend::device::LineSolver;
use kolmo::cases::{Case, Domain, NAMES, Start, TaylorGreen, input};
use kolmo::config::{
    Backend, Config, Convection, EnergyForm, FilterConfig, Pencils, Precision, Schedule, StepSize,
    SweepConfig, Variable, ViscousForm, Wish, parse,
};
use kolmo::physics::Viscosity;

const LEAST: &str = "case.name = \"taylor-green\"\ngrid.points = [16, 16, 16]\ntime.end = 1\n";

fn read(text: &str, overrides: &[&str]) -> Config {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    parse(text, "in.toml", &overrides).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn three_keys_suffice_and_the_others_have_the_documented_defaults() {
    let config = read(LEAST, &[]);
    assert_eq!(config.case, Case::TaylorGreen(TaylorGreen::default()));
    assert_eq!((config.gas.mach, config.gas.reynolds), (0.1, 1600.0));
    assert_eq!((config.gas.gamma, config.gas.prandtl), (1.4, 0.71));
    assert_eq!(config.gas.viscosity, Viscosity::Constant);
    assert_eq!(config.grid.points, [16; 3]);
    assert_eq!(config.grid.domain, config.case.domain());
    assert_eq!(config.scheme.derivative.name, "compact6");
    assert_eq!(config.scheme.convection, Convection::KennedyGruber);
    assert_eq!(config.scheme.energy, EnergyForm::SplitPressure);
    assert_eq!(config.scheme.viscous, ViscousForm::Laplacian);
    assert_eq!(config.scheme.filter, None);
    assert_eq!(config.time.integrator.name, "hale64");
    assert_eq!(config.time.step, StepSize::Cfl(0.8));
    assert_eq!((config.time.end, config.time.max_steps), (Some(1.0), None));
    assert_eq!((config.compute.backend, config.compute.device), (Backend::Auto, None));
    assert_eq!((config.compute.distributed, config.compute.ranks), (None, None));
    assert_eq!([config.compute.device_aware, config.compute.nccl], [Wish::Auto; 2]);
    assert_eq!(config.compute.sweeps, SweepConfig::default());
    assert_eq!((config.compute.line_solver, config.compute.pencils), (None, Pencils::Strided));
    assert_eq!((config.compute.threads, config.compute.precision), (None, Precision::F64));
    assert_eq!(config.output.directory, PathBuf::from("runs/taylor-green"));
    assert_eq!(config.output.series, Schedule { every_steps: Some(10), ..Schedule::default() });
    assert_eq!(config.output.fields, None);
}

#[test]
fn devices_accept_every_line_solver_and_the_cpu_all_but_three() {
    for solver in LineSolver::ALL {
        let name = solver.name();
        let set = format!("compute.line_solver={name}");
        for backend in ["auto", "cuda", "opencl"] {
            let config = read(LEAST, &[&set, &format!("compute.backend={backend}")]);
            assert_eq!(config.compute.line_solver, Some(solver));
        }
        let on_cpu = parse(LEAST, "in.toml", &[set, "compute.backend=cpu".into()]);
        let needs_device = ["neato-global", "chunked", "cusparse"].contains(&name);
        assert_eq!(on_cpu.is_ok(), !needs_device, "{name}");
    }
}

#[test]
fn default_viscous_form_depends_on_the_viscosity_law() {
    assert_eq!(read(LEAST, &["gas.viscosity=power"]).scheme.viscous, ViscousForm::Midpoint);
    let named = read(LEAST, &["gas.viscosity=sutherland", "scheme.viscous=conservative"]);
    assert_eq!(named.scheme.viscous, ViscousForm::Conservative);
    // The ends of an axis with one point do not count as boundaries.
    let flat =
        ["grid.points=[16, 16, 1]", "boundary.z={ low = \"symmetry\", high = \"symmetry\" }"];
    let plane = read(LEAST, &[&flat[..], &["gas.viscosity=power"]].concat());
    assert_eq!(plane.scheme.viscous, ViscousForm::Midpoint);
    assert_eq!(named.gas.viscosity, Viscosity::Sutherland { temperature_ratio: 110.4 / 273.15 });
}

#[test]
fn every_energy_form_combines_with_every_convective_form() {
    for convection in ["divergence", "feiereisen", "kennedy-gruber", "staggered"] {
        for energy in ["divergence", "split-enthalpy", "split-pressure"] {
            let sets =
                [format!("scheme.convection={convection}"), format!("scheme.energy={energy}")];
            assert!(parse(LEAST, "in.toml", &sets).is_ok(), "{convection} {energy}");
        }
    }
}

#[test]
fn resolved_configurations_read_back_unchanged() {
    let sets: [&[&str]; 16] = [
        &[],
        &[
            "case.reynolds=inf",
            "case.start=constant-temperature",
            "case.mach=0.1234567890123456789",
        ],
        &["gas.viscosity={ law = \"power\", exponent = 0.7 }", "scheme.viscous=laplacian"],
        &["gas.viscosity=sutherland", "scheme.derivative=compact10-penta"],
        &["scheme.filter={ order = 6, alpha = -0.1, every = 5 }", "time.integrator=ck54"],
        &["time.dt=1e-3", "time.max_steps=7", "compute.threads=3", "compute.precision=f32"],
        &["grid.length=[1, 2.5, 1e-3]", "compute.backend=cpu"],
        &[
            "output.directory=a b/\"c\\d",
            "output.series.every_time=0.1",
            "output.series.every_wall=60",
        ],
        &["compute.backend=cuda", "compute.device=3", "compute.line_solver=chunked"],
        &["compute.backend=opencl", "compute.pencils=permuted"],
        &["compute.sweeps={ points = 5, lines = 3, link = false }", "compute.sweeps.resident=2"],
        &["compute.sweeps={ early = false, turns = 4 }"],
        &["compute.sweeps.points=auto", "compute.backend=cpu"],
        &[
            "compute.distributed=transpose",
            "compute.ranks=[2, 3, 1]",
            "compute.device_aware=off",
            "compute.nccl=force",
        ],
        &["compute.ranks=auto", "compute.device=auto", "compute.device_aware=force"],
        &["output.fields.every_wall=3600", "output.fields.variables=[\"vorticity\", \"density\"]"],
    ];
    for set in sets {
        let config = read(LEAST, set);
        let text = config.to_toml();
        assert_eq!(read(&text, &[]), config, "{text}");
    }
}

#[test]
fn inputs_of_all_cases_are_valid_and_read_back_unchanged() {
    for name in NAMES {
        let config = read(input(name).unwrap(), &[]);
        assert_eq!(config.case.name(), name);
        assert_eq!(read(&config.to_toml(), &[]), config, "{name}");
        // With fewer points, the grid around an aerofoil folds.
        let n = if name == "aerofoil" { 48 } else { 18 };
        let least =
            format!("case.name = {name:?}\ngrid.points = [{n}, {n}, 18]\ntime.max_steps = 3");
        assert_eq!(read(&read(&least, &[]).to_toml(), &[]), read(&least, &[]), "{name}");
    }
}

#[test]
fn resolved_configurations_keep_the_order_of_the_sections() {
    let text = read(LEAST, &["output.fields.every_steps=5"]).to_toml();
    let sections: Vec<&str> = text.lines().filter(|line| line.starts_with('[')).collect();
    assert_eq!(
        sections,
        ["[case]", "[grid]", "[gas]", "[scheme]", "[time]", "[compute]", "[output]"]
    );
    assert!(text.contains("viscous = \"laplacian\""), "{text}");
}

#[test]
fn overrides_accept_toml_values_and_bare_words_and_the_last_one_wins() {
    let config = read(
        LEAST,
        &[
            "case.start = constant-temperature",
            "case.mach=0.2",
            "case.mach=3",
            "grid.points=[8, 9, 0x0a]",
            "scheme.filter.order=4",
            "scheme.filter.alpha=0.3",
            "output.directory=2024-01-01",
            "output.fields.every_time=1",
        ],
    );
    assert_eq!(
        config.case,
        Case::TaylorGreen(TaylorGreen {
            start: Start::ConstantTemperature,
            ..TaylorGreen::default()
        })
    );
    assert_eq!(config.gas.mach, 3.0);
    assert_eq!(config.grid.points, [8, 9, 10]);
    assert_eq!(
        config.scheme.filter,
        Some(FilterConfig { order: 4, alpha: 0.3, every: 1, time: None })
    );
    assert_eq!(config.output.directory, PathBuf::from("2024-01-01"));
    let variables = config.output.fields.unwrap().variables;
    let default = [Variable::Velocity, Variable::Density, Variable::Pressure, Variable::QCriterion];
    assert_eq!(variables, default);
}

#[test]
fn variables_all_selects_every_field_of_the_case() {
    let flow = "[case]\nname = 'taylor-green'\n[grid]\npoints = [16, 16, 16]\n[time]\nend = 1.0\n";
    let scalar = flow.replace("taylor-green", "scalar-advection");
    for all in ["all", "[\"all\"]"] {
        let set = [
            format!(
                "output.fields={{ every_time = 1, variables = {} }}",
                if all == "all" { "'all'" } else { all }
            ),
            format!(
                "output.planes={{ every_time = 1, z = [0.0], variables = {} }}",
                if all == "all" { "'all'" } else { all }
            ),
        ];
        let set = set.each_ref().map(String::as_str);
        for (text, count) in [(flow, 7), (&*scalar, 1)] {
            let config = read(text, &set);
            assert_eq!(config.output.planes.clone().unwrap().variables.len(), count);
            let fields = config.output.fields.clone().unwrap().variables;
            assert_eq!(fields.len(), count);
            // The resolved input names every field.
            assert_eq!(read(&config.to_toml(), &[]), config);
        }
    }
}

#[test]
fn overriding_dt_replaces_cfl_and_vice_versa() {
    let with_cfl = format!("{LEAST}time.cfl = 0.5\n");
    assert_eq!(read(&with_cfl, &["time.dt=0.01"]).time.step, StepSize::Fixed(0.01));
    let with_dt = format!("{LEAST}time.dt = 0.01\n");
    assert_eq!(read(&with_dt, &["time.cfl=0.5"]).time.step, StepSize::Cfl(0.5));
    let both = ["time.dt=0.01".to_owned(), "time.cfl=0.5".to_owned()];
    assert!(parse(LEAST, "in.toml", &both).is_err());
}

#[test]
fn table_overrides_replace_words_of_resolved_inputs() {
    let resolved = read(LEAST, &[]).to_toml();
    let config = read(&resolved, &["scheme.filter.order=4", "gas.viscosity.law=power"]);
    assert_eq!(config.scheme.filter.map(|filter| filter.order), Some(4));
    assert_eq!(config.gas.viscosity, Viscosity::Power { exponent: 0.76 });
}

#[test]
fn domain_depends_on_the_case_unless_a_length_is_given() {
    let vortex = "case.name = \"isentropic-vortex\"\ngrid.points = [32, 32, 1]\ntime.end = 1\n";
    let cube = |half: f64| Domain { origin: [-half; 3], length: [2.0 * half; 3] };
    assert_eq!(read(vortex, &["case.half_width=8"]).grid.domain, cube(8.0));
    let resolved = read(vortex, &["case.half_width=8"]).to_toml();
    assert_eq!(read(&resolved, &["case.half_width=12"]).grid.domain, cube(12.0));
    let long = read(vortex, &["grid.length=[40, 20, 20]"]).grid.domain;
    assert_eq!(long, Domain { origin: [-20.0, -10.0, -10.0], length: [40.0, 20.0, 20.0] });
}

#[test]
fn grids_with_one_point_along_an_axis_are_accepted_if_the_case_allows() {
    let points = |name: &str, points: [usize; 3]| {
        let text = format!("case.name = {name:?}\ngrid.points = {points:?}\ntime.end = 1\n");
        parse(&text, "in.toml", &[]).map(|config| config.grid.points)
    };
    for (name, valid) in [
        ("taylor-green", [16, 16, 1]),
        ("kida-vortex", [16, 15, 17]),
        ("abc-flow", [1, 16, 1]),
        ("double-shear-layer", [16, 17, 1]),
        ("isentropic-vortex", [32, 32, 1]),
        ("entropy-wave", [1, 1, 16]),
        ("acoustic-wave", [16, 1, 1]),
        ("shear-wave", [16, 16, 1]),
        ("couette-flow", [1, 18, 8]),
        ("stokes-layer", [1, 18, 1]),
        ("poiseuille-flow", [1, 18, 1]),
        ("channel", [16, 17, 15]),
        ("boundary-layer", [18, 17, 1]),
        ("lid-driven-cavity", [18, 17, 1]),
        ("acoustic-pulse", [18, 1, 1]),
        ("vortex-outflow", [16, 16, 1]),
        ("cylinder", [16, 17, 1]),
        ("aerofoil", [128, 33, 1]),
        ("scalar-advection", [1, 16, 1]),
    ] {
        assert_eq!(points(name, valid).unwrap(), valid, "{name}");
    }
    assert!(points("taylor-green", [16, 1, 16]).is_err());
    assert!(points("shear-wave", [1, 16, 16]).is_err());
}

#[test]
fn inputs_with_a_byte_order_mark_and_crlf_line_ends_are_read() {
    let text = format!("\u{feff}{}", LEAST.replace('\n', "\r\n"));
    assert_eq!(read(&text, &[]), read(LEAST, &[]));
    let bad = text.replace("time.end = 1", "time.end = 0");
    let message = parse(&bad, "in.toml", &[]).unwrap_err().to_string();
    assert!(message.starts_with("error: in.toml:3: end = 0"), "{message}");
}

/// xorshift64* (Vigna 2016).
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    }

    /// `text` with one piece deleted, doubled or moved, or with a special token in place of a piece or a digit.
    fn corrupt(&mut self, text: &[u8]) -> Vec<u8> {
        const TOKENS: [&str; 24] = [
            "\"",
            "'",
            "[",
            "]",
            "{",
            "}",
            "=",
            ".",
            ",",
            "#",
            "\n",
            "\r\n",
            "\0",
            "\u{feff}",
            "é",
            "[[",
            "\"\"\"",
            "nan",
            "-inf",
            "1e308",
            "1e-320",
            "-1",
            "99999999999999999999",
            "0x7fffffffffffffff",
        ];
        let (i, j) = (self.below(text.len() + 1), self.below(12));
        let end = (i + j).min(text.len());
        let (head, piece, tail) = (&text[..i], &text[i..end], &text[end..]);
        let token = TOKENS[self.below(TOKENS.len())].as_bytes();
        match self.below(5) {
            0 => [head, tail].concat(),
            1 => [head, piece, piece, tail].concat(),
            2 => [tail, piece, head].concat(),
            3 => [head, token, tail].concat(),
            _ => {
                let is_digit = |&at: &usize| text[at].is_ascii_digit();
                let digits: Vec<usize> = (0..text.len()).filter(is_digit).collect();
                let Some(&at) = digits.get(self.below(digits.len().max(1))) else {
                    return text.to_vec();
                };
                [&text[..at], token, &text[at + 1..]].concat()
            }
        }
    }
}

#[test]
fn randomly_corrupted_inputs_cause_no_panic() {
    let valid: Vec<&str> = NAMES.iter().filter_map(|name| input(name)).collect();
    let mut random = Xorshift(0x9E37_79B9_7F4A_7C15);
    let (mut accepted, mut rejected) = (0, 0);
    for round in 0..6000 {
        let mut bytes = valid[round % valid.len()].as_bytes().to_vec();
        for _ in 0..=random.below(3) {
            bytes = random.corrupt(&bytes);
        }
        let text = String::from_utf8_lossy(&bytes);
        let set = random.corrupt(b"time.cfl=0.5");
        let overrides: &[String] = match round % 3 {
            0 => &[String::from_utf8_lossy(&set).into_owned()],
            _ => &[],
        };
        let read = std::panic::catch_unwind(|| parse(&text, "in.toml", overrides));
        match read.unwrap_or_else(|_| panic!("with {overrides:?} from\n{text}")) {
            Ok(config) => {
                accepted += 1;
                let again = parse(&config.to_toml(), "config.toml", &[]);
                assert_eq!(again.unwrap(), config, "from\n{text}");
            }
            Err(Error::Config(lines)) => {
                rejected += 1;
                let (count, problems) = lines.split_last().unwrap();
                assert!(count.ends_with("; nothing was run") && !problems.is_empty(), "{lines:?}");
                assert!(problems.iter().all(|text| text.starts_with("error: ")), "{lines:?}");
            }
            Err(other) => panic!("{other:?} from\n{text}"),
        }
    }
    assert!(accepted > 600 && rejected > 600, "{accepted} accepted, {rejected} rejected");
}

/// Boundary conditions, a force and a sponge that the case sets without a key in the input are checked against the other keys.
#[test]
fn implicit_settings_of_a_case_are_checked_like_explicit_keys() {
    let wavy = "grid.mapping={ kind = 'wavy', amplitude = 0.02 }";
    let ring = "grid.mapping={ kind = 'ring', inner = 0.5, outer = 2.0 }";
    let symmetry = "boundary.x={ low = 'symmetry', high = 'symmetry' }";
    for (case, points, set, expected) in [
        (
            "lid-driven-cavity",
            [33, 33, 1],
            &["case.reynolds=inf"][..],
            "boundary.x: a no-slip wall needs viscosity",
        ),
        (
            "couette-flow",
            [33, 33, 1],
            &[symmetry],
            "boundary.y: a wall that moves along x goes through the symmetry plane across x",
        ),
        ("channel", [16, 33, 16], &[wavy], "[forcing] is only available on straight grid lines"),
        (
            "vortex-outflow",
            [33, 33, 1],
            &[wavy],
            "boundary.x: an inflow is not available on curvilinear grids yet",
        ),
        (
            "cylinder",
            [32, 33, 1],
            &["case.mach=0.8"],
            "mach = 0.8 leaves the start no pressure beside the cylinder; it must be below 0.6901",
        ),
        (
            "taylor-green",
            [33, 33, 33],
            &["case.octant=true", wavy],
            "boundary.x: a symmetry plane is not available on curvilinear grids",
        ),
        (
            "cylinder",
            [48, 33, 1],
            &[ring],
            "the sponge is 20 wide, and the ends of a line along y are 1.500000 apart",
        ),
    ] {
        let text = format!("case.name = '{case}'\ngrid.points = {points:?}\ntime.end = 1\n");
        read(&text, if case == "taylor-green" { &["case.octant=true"] } else { &[] });
        let set: Vec<String> = set.iter().map(ToString::to_string).collect();
        let Err(error) = parse(&text, "in.toml", &set) else { panic!("{case}: {set:?}") };
        let message = error.to_string();
        assert_eq!(message.matches(expected).count(), 1, "{case}: {message}");
    }
}

/// A key that must keep its default may be written with the default, with the same result as without the key.
#[test]
fn explicit_defaults_are_accepted_where_no_other_value_is() {
    let stretched = "case={ name = 'custom', mach = 0.1, reynolds = 50, u = 'sin(x)' }\n\
        grid={ points = [24, 16, 1], stretching = { x = 's + 0.1*sin(2*pi*s)' } }\ntime.end = 1\n";
    let curved = "case.name = 'cylinder'\ngrid.points = [48, 33, 1]\ntime.end = 1\n";
    for text in [stretched, curved] {
        let plain = read(text, &[]);
        let written = read(text, &["forcing={ kind = 'none' }", "output.statistics=none"]);
        assert_eq!(written, plain, "{text}");
    }
}
