//! Stretched grids: tests beyond the checks of `kolmo verify walls`.

use std::f64::consts::{PI, TAU};
use std::process::Command;

use kolmo::Error;
use kolmo::comm::Solo;
use kolmo::config::{Config, Precision, parse};
use kolmo::grid::{Block, Decomposition, Domain, Grid, Stretching};
use kolmo::io::fields::Layout;
use kolmo::io::pieces::Selection;
use kolmo::io::{FieldData, FieldWriter};
use kolmo::time::Simulation;

use crate::common::{
    CONVECTION, ENERGY, VISCOUS, assert_close, assert_reproducible, config, float, host,
    max_difference, on_host, rate, set_flow, state, steps,
};
use crate::device::gpu;
use crate::io::python;
use crate::spread::blocks::assert_cuts_agree;
use crate::spread::threads::on_ranks;

/// Maps along every axis, with walls along y.
const MAPS: &str = "grid.stretching={ x = 's + 0.1*sin(2*pi*s)', y = { map = 'tanh', factor = 1.5 }, z = 's - 0.05*cos(2*pi*s)' }";
/// The same for a periodic box.
const CLOSED: &str = "grid.stretching={ x = 's + 0.1*sin(2*pi*s)', y = 's + 0.05*sin(4*pi*s)/2', z = 's - 0.05*cos(2*pi*s)' }";
const ADIABATIC: &str = "boundary.y={ low = 'wall', high = 'wall' }";
const WALLS: &str = "boundary.y={ low = 'wall', high = { kind = 'wall', heat_flux = 0.05, velocity = [0.4, 0.0, 0.1] } }";

fn size(fields: &[Vec<f64>]) -> f64 {
    fields.iter().flatten().fold(0.0, |size, x| size.max(x.abs()))
}

/// Catches a term with a metric inside an operator, or with two metrics that cancel only analytically: both leave a source.
#[test]
fn uniform_stream_is_preserved_to_round_off_in_every_form() {
    let assert_preserved = |set: &[&str], convection: &str, energy: &str, viscous: &str| {
        let forms = [
            format!("scheme.convection={convection}"),
            format!("scheme.energy={energy}"),
            format!("scheme.viscous={viscous}"),
            "gas.viscosity=sutherland".into(),
        ];
        let set: Vec<&str> = set.iter().copied().chain(forms.iter().map(String::as_str)).collect();
        let config = config("taylor-green", [17, 18, 19], &set);
        let mut flow = on_host(&config);
        set_flow(&mut flow, 1.4, |_, _| [1.1, 0.5, 0.3, -0.2, 71.0]);
        let rates = size(&rate(&mut flow));
        // One rounding error of (ρE + p) u/h per difference; the metric m is at most 3.5.
        let unit = f64::EPSILON * 250.0 * 3.5 * 2.7;
        assert!(rates <= 16.0 * unit, "{convection} {energy} {viscous}: {rates:e}, unit {unit:e}");
    };
    for convection in CONVECTION {
        for viscous in VISCOUS {
            let midpoints = convection == "staggered" || viscous == "midpoint";
            assert_preserved(&[CLOSED], convection, "divergence", viscous);
            if !midpoints {
                assert_preserved(&[MAPS, ADIABATIC], convection, "divergence", viscous);
            }
        }
    }
    for energy in ENERGY {
        assert_preserved(&[CLOSED], "kennedy-gruber", energy, "laplacian");
    }
}

/// Catches weights other than dx/dξ by the same operator, and a metric that is not in front of the derivative: both leave a source.
#[test]
fn volume_averages_are_exact_and_conserved_by_the_fluxes() {
    let set = [CLOSED, "scheme.viscous=conservative", "scheme.convection=divergence"];
    let mut flow = on_host(&config("taylor-green", [17, 18, 19], &set));
    let grid = flow.grid().clone();
    let weights: Vec<f64> =
        (0..grid.len()).map(|at| grid.weight(grid.index(at)) * grid.per_interval()).collect();
    let sum = |field: &[f64]| field.iter().zip(&weights).map(|(f, w)| f * w).sum::<f64>();
    // Exact to round-off: x − ξ is periodic, for which the rule has spectral accuracy.
    assert!((sum(&vec![1.0; grid.len()]) - 1.0).abs() < 1e-14);
    // Conservative fluxes do not change the average over the box.
    for (k, rate) in rate(&mut flow).iter().enumerate() {
        let (change, size) = (sum(rate), rate.iter().fold(0.0, |size: f64, x| size.max(x.abs())));
        assert!(change.abs() < 1e-14 * size.max(1.0), "variable {k}: {change:e} of {size}");
    }
    let walls = config(
        "couette-flow",
        [1, 33, 1],
        &["grid.stretching={ y = { map = 'tanh', factor = 2.0 } }"],
    );
    let grid = walls.grid();
    let mean = |f: &dyn Fn(f64) -> f64| -> f64 {
        let along = (0..33).map(|j| f(grid.coordinate(1, j)) * grid.weight([0, j, 0]));
        along.sum::<f64>() * grid.per_interval()
    };
    assert_close(mean(&|y| y), 0.5, 1e-14, "the mean of y, by symmetry");
    assert_close(mean(&|y| y * y), 1.0 / 3.0, 2e-3, "trapezoidal rule");
}

/// The positions of the points, and the time-step limit from the smallest spacing.
#[test]
fn maps_place_points_by_their_formulas_and_limit_the_time_step() {
    let place = |map: &str, s: f64| {
        let set = format!("grid.stretching={{ y = {map} }}");
        let config = config("couette-flow", [1, 17, 1], &[&*set]);
        let map: &Stretching = config.grid.stretching[1].as_ref().unwrap();
        map.place(s, 0.0, 1.0)
    };
    for map in [
        "{ map = 'tanh', factor = 2.0 }",
        "{ map = 'tanh', factor = 2.0, ends = 'low' }",
        "{ map = 'tanh', factor = 2.0, ends = 'high' }",
        "{ map = 'sinh', factor = 3.0, at = 0.3 }",
        "{ map = 'polynomial', coefficients = [1.0, 0.5] }",
        "'exp(s)'",
    ] {
        assert_eq!([place(map, 0.0), place(map, 1.0)], [0.0, 1.0], "{map}");
    }
    let tanh = |x: f64| x.tanh();
    let low = place("{ map = 'tanh', factor = 2.0, ends = 'low' }", 0.5);
    assert_close(low, 1.0 - tanh(1.0) / tanh(2.0), 1e-14, "low");
    assert_close(
        place("{ map = 'tanh', factor = 2.0 }", 0.75),
        0.5 + 0.5 * tanh(1.0) / tanh(2.0),
        1e-14,
        "both",
    );
    assert_close(
        place("{ map = 'polynomial', coefficients = [1.0, 0.5] }", 0.5),
        0.625 / 1.5,
        1e-14,
        "polynomial",
    );
    // The spacing is smallest near 0.3.
    let sinh = |s: f64| place("{ map = 'sinh', factor = 3.0, at = 0.3 }", s);
    let widths: Vec<f64> =
        (0..100).map(|i| sinh(float(i + 1) / 100.0) - sinh(float(i) / 100.0)).collect();
    let closest = (0..100).min_by(|i, j| widths[*i].total_cmp(&widths[*j])).unwrap();
    assert!((sinh(float(closest) / 100.0) - 0.3).abs() < 0.01, "{closest}");

    let rate = |more: &[&str]| {
        1.0 / on_host(&config("couette-flow", [1, 33, 1], &[&["time.cfl=1"], more].concat()))
            .step(None)
            .unwrap()
    };
    let stretched = rate(&["grid.stretching={ y = { map = 'tanh', factor = 2.0 } }"]);
    // dx/dξ at the wall is 2 β / sinh 2β = 4 / sinh 4; the diffusive part of the step limit decreases with its square.
    let slope = 4.0 / 4.0_f64.sinh();
    let ratio = stretched / rate(&[]);
    assert!(ratio > 0.9 / slope && ratio < 1.1 / (slope * slope), "{ratio} {slope}");
}

/// The upper half of a mirror-symmetric flow, between a symmetry plane and the wall, has the rates of the full channel. Checks the
/// parities of the metric and of the coordinates it is computed from.
#[test]
fn half_channel_with_a_symmetry_plane_matches_the_full_channel() {
    const HALF: usize = 17;
    for viscous in ["laplacian", "conservative"] {
        let rates = |n: usize, length: f64, low: &str, ends: &str| {
            let set = [
                &*format!(
                    "grid.stretching={{ y = {{ map = 'tanh', factor = 1.7, ends = '{ends}' }} }}"
                ),
                &format!("grid.length=[1.0, {length}, 1.0]"),
                &format!("boundary.y={{ low = '{low}', high = 'wall' }}"),
                &format!("scheme.viscous={viscous}"),
                "case.reynolds=20",
                "gas.viscosity=sutherland",
            ];
            let mut flow = on_host(&config("taylor-green", [9, n, 1], &set));
            set_flow(&mut flow, 1.4, |_, [x, y, _]| {
                let eta = y - (length - 1.0);
                let wave = (std::f64::consts::TAU * x).sin();
                let across = 0.2 * eta * (1.0 - eta * eta);
                [
                    1.0 + 0.1 * eta * eta,
                    (1.0 - eta * eta) * (1.0 + 0.1 * wave),
                    across,
                    0.1,
                    71.0 + wave + (2.0 * eta).cos(),
                ]
            });
            rate(&mut flow)
        };
        let full = rates(2 * HALF - 1, 2.0, "wall", "both");
        let half = rates(HALF, 1.0, "symmetry", "high");
        for (k, (half, full)) in half.iter().zip(&full).enumerate() {
            let upper = &full[9 * (HALF - 1)..];
            let size = upper.iter().fold(1.0, |size: f64, x| size.max(x.abs()));
            let difference = max_difference(half, upper) / size;
            assert!(difference < 1e-11, "{viscous}, variable {k}: {difference:e} of {size}");
        }
    }
}

/// A box with walls, all axes stretched.
fn flow_in_a_box(more: &[&str]) -> Config {
    let set = [
        MAPS,
        WALLS,
        "case.mach=0.3",
        "case.reynolds=40",
        "time.dt=0.001",
        "scheme.filter={ order = 6, alpha = 0.45, every = 3 }",
    ];
    config("taylor-green", [16, 19, 12], &[&set, more].concat())
}

#[test]
fn ranks_device_and_composed_right_hand_side_agree_with_one_host() {
    for more in [&[][..], &["scheme.viscous=laplacian", "gas.viscosity=sutherland"]] {
        let config = flow_in_a_box(more);
        let cuts = [[2, 1, 1], [1, 3, 1], [1, 2, 2]].map(|ranks| (ranks, None));
        assert_cuts_agree(&config, 8, &cuts);
        if more.is_empty() {
            let device = gpu(Precision::F64, config.grid().len());
            let mut device = Simulation::on(std::sync::Arc::new(device), &config).unwrap();
            steps(&mut device, 8);
            let mut host = on_host(&config);
            steps(&mut host, 8);
            for (a, b) in state(&host).iter().zip(&state(&device)) {
                let difference =
                    max_difference(a, b) / a.iter().map(|a| a.abs()).fold(1.0, f64::max);
                assert!(difference <= 1e-12, "device: {difference:e}");
            }
        }
    }
}

#[test]
fn restarts_are_bitwise_identical_and_reject_another_stretched_grid() {
    for more in [&[][..], &["compute.precision=f32"]] {
        let config = flow_in_a_box(more);
        let (_directory, saved) = assert_reproducible(&config, &format!("{more:?}"));
        let error_message = |set: &str| {
            let other = flow_in_a_box(&[more, &[set]].concat());
            let resumed = Simulation::resume(host(&other.compute), &other, &saved);
            let Err(Error::Config(messages)) = resumed else { panic!("{set}") };
            messages[0].clone()
        };
        let message = error_message("grid.stretching.y={ map = 'tanh', factor = 1.6 }");
        assert!(message.contains("its values belong to those points"), "{message}");
        let message = error_message("grid.points=[16, 19, 14]");
        assert!(
            message.contains("12 points along z, the grid has 14; along a stretched axis"),
            "{message}"
        );
    }
}

/// VTK reads each value at the point where it was computed, also at the closing planes and from several files.
#[test]
fn vtk_reads_rectilinear_grids_from_one_or_several_files() {
    let grid = flow_in_a_box(&[]).grid();
    let values: Vec<f64> = (0..grid.len())
        .map(|at| {
            let [x, y, z] = grid.coordinates(grid.index(at));
            x.sin() + 10.0 * y + z.cos()
        })
        .collect();
    for files in [1, 3] {
        let directory = tempfile::tempdir().unwrap();
        let ranks = [1, files, 1];
        let cut = Decomposition { ranks };
        on_ranks(files, |comm| {
            let layout = Layout { grid: grid.clone(), selection: Selection::all(&grid), files };
            let mut writer = FieldWriter::new(directory.path(), "fields", layout);
            let block: Block = cut.block(comm.rank(), grid.points);
            let own: Vec<f64> = (0..block.len())
                .map(|at| {
                    let [i, j, k] = block.index(at);
                    values[i + grid.points[0] * (j + grid.points[1] * k)]
                })
                .collect();
            let field = FieldData { name: "f".into(), components: 1, values: own.into() };
            let field = writer.selection().of(&block, &field);
            writer.write(&*comm, &cut, (7, 0.5), [Ok(field)]).unwrap();
        });
        let name = if files == 1 { "step_00000007.vtr" } else { "step_00000007.pvtr" };
        let script = "import sys, numpy, pyvista\n\
             m = pyvista.read(sys.argv[1])\n\
             x, y, z = m.points.T\n\
             off = numpy.abs(m['f'] - (numpy.sin(x) + 10*y + numpy.cos(z))).max()\n\
             print(type(m).__name__, *m.dimensions, off < 1e-12, m.y[0], m.x[-1])\n";
        let path = directory.path().join(name);
        let output = Command::new(python()).args(["-c", script]).arg(&path).output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let expected = format!("RectilinearGrid 17 19 13 True 0.0 {:?}\n", std::f64::consts::TAU);
        assert_eq!(stdout, expected, "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(uniform_grid_is_image_data());
}

/// Whether a uniform grid is written as image data.
fn uniform_grid_is_image_data() -> bool {
    let directory = tempfile::tempdir().unwrap();
    let grid = Grid::periodic([4, 4, 4], &Domain::cube(1.0));
    let layout = Layout { selection: Selection::all(&grid), grid, files: 1 };
    let mut writer = FieldWriter::new(directory.path(), "fields", layout);
    let field = FieldData { name: "f".into(), components: 1, values: vec![0.0; 64].into() };
    let field = writer.selection().of(&Block::whole([4; 3]), &field);
    writer.write(&Solo, &Decomposition::ONE, (1, 0.0), [Ok(field)]).unwrap();
    let text = std::fs::read_to_string(directory.path().join("step_00000001.vti")).unwrap();
    text.contains(
        "<ImageData WholeExtent=\"0 4 0 4 0 4\" Origin=\"0 0 0\" Spacing=\"0.25 0.25 0.25\">",
    )
}

const GOOD: &str = "[case]\nname = 'taylor-green'\n[grid]\npoints = [17, 18, 8]\n\
    stretching = { y = { map = 'tanh', factor = 2.0 } }\n[boundary]\ny = { low = 'wall', high = 'wall' }\n[time]\nend = 1\n";

#[test]
fn errors_for_bad_maps_give_line_and_allowed_values() {
    let y = "y = { map = 'tanh', factor = 2.0 }";
    let in_y = |map: &str| format!("y = {map}");
    #[rustfmt::skip]
    let rows = [
        (in_y("{ map = 'tan', factor = 2.0 }"), "map = \"tan\": unknown; did you mean `tanh`?"),
        (in_y("{ factor = 2.0 }"), "[grid.stretching.y] needs `map`"),
        (in_y("{ map = 'tanh' }"), "[grid.stretching.y] needs `factor`"),
        (in_y("{ map = 'tanh', factor = -2.0 }"), "factor = -2.0: must be a positive finite number"),
        (in_y("{ map = 'tanh', factor = 2.0, ends = 'left' }"), "ends = \"left\": unknown"),
        (in_y("{ map = 'tanh', factor = 2.0, at = 1.0 }"), "unknown key `at` in [grid.stretching.y]"),
        (in_y("{ map = 'sinh', factor = 2.0 }"), "[grid.stretching.y] needs `at`"),
        (in_y("{ map = 'sinh', factor = 2.0, at = 7.0 }"), "y = { at = 7.0, factor = 2.0, map = \"sinh\" }: at = 7 must lie within the box: from 0 to 6.283185307179586"),
        (in_y("{ map = 'polynomial', coefficients = [1.0, -1.5, 0.6] }"), "y = { coefficients = [1.0, -1.5, 0.6], map = \"polynomial\" }: the map does not increase from s = "),
        (in_y("'1 - tanh(2*s)'"), "y = \"1 - tanh(2*s)\": the map decreases, from 1.000000 at s = 0 to 0.035972 at s = 1"),
        (in_y("'s + t'"), "y = \"s + t\": y = \"s + t\": column 5: unknown name `t`"),
        (in_y("'s - s^2'"), "y = \"s - s^2\": the map does not increase, from 0.000000 at s = 0 to 0.000000 at s = 1"),
        (in_y("'log(s)'"), "y = \"log(s)\": the map has no finite value at s = 0"),
        ("x = 's^2 + s'".into(), "x = \"s^2 + s\": a periodic axis needs a map that continues periodically beyond its ends"),
        ("x = { map = 'tanh', factor = 1.0 }".into(), "x = { factor = 1.0, map = \"tanh\" }: a periodic axis needs"),
        (in_y("{ map = 'tanh', factor = 40.0 }"), "y = { factor = 40.0, map = \"tanh\" }: "),
        (in_y("3"), "y = 3: found a whole number"),
    ];
    parse(GOOD, "in.toml", &[]).expect("a valid input");
    for (to, expected) in rows {
        let text = GOOD.replacen(y, &to, 1);
        let Err(Error::Config(messages)) = parse(&text, "in.toml", &[]) else { panic!("{text}") };
        let first = messages[0].lines().next().unwrap_or_default();
        assert!(first.starts_with(&format!("error: in.toml:5: {expected}")), "{to}: {messages:?}");
    }
    let others = [
        (
            "points = [17, 18, 8]",
            "points = [17, 1, 8]",
            "5: y = { factor = 2.0, map = \"tanh\" }: an axis of one point has no spacings",
        ),
        (
            "name = 'taylor-green'",
            "name = 'scalar-advection'",
            "5: stretching = { y = { factor = 2.0, map = \"tanh\" } }: has no meaning for scalar-advection",
        ),
    ];
    for (from, to, expected) in others {
        let text = GOOD.replacen(from, to, 1);
        let Err(Error::Config(messages)) = parse(&text, "in.toml", &[]) else { panic!("{text}") };
        let expected = format!("error: in.toml:{expected}");
        assert!(
            messages.iter().any(|line| line.lines().any(|line| line == expected)),
            "{to}: {messages:?}"
        );
    }
    let half = GOOD.replace("low = 'wall'", "low = 'symmetry'");
    let Err(Error::Config(messages)) = parse(&half, "in.toml", &[]) else { panic!("{half}") };
    assert!(
        messages[0].contains("at a symmetry plane the map must continue as its mirror image"),
        "{messages:?}"
    );
    parse(&half.replace("factor = 2.0", "factor = 2.0, ends = 'high'"), "in.toml", &[])
        .expect("a map with a mirror image");
    let periodic = GOOD
        .replace("y = { map = 'tanh', factor = 2.0 }", "y = 's + 0.1*sin(2*pi*s)'")
        .replace("[boundary]\ny = { low = 'wall', high = 'wall' }\n", "");
    parse(&periodic, "in.toml", &[]).expect("a periodic map");
    for (more, expected) in [
        (
            "[forcing]\nkind = 'linear'\ncoefficient = 1\n",
            "[forcing] is only available on a grid with equal spacings",
        ),
        (
            "[output]\nstatistics = { every_time = 1 }\n",
            "statistics = { every_time = 1 }: need equal spacings",
        ),
    ] {
        let Err(Error::Config(messages)) = parse(&format!("{periodic}{more}"), "in.toml", &[])
        else {
            panic!("{more}")
        };
        assert!(messages[0].contains(expected), "{messages:?}");
    }
    // A slope of 0 at an end, for either sign of its round-off.
    for map in ["s^2", "s*(2 - s)"] {
        let text = GOOD.replacen(y, &format!("y = '{map}'"), 1);
        let Err(Error::Config(messages)) = parse(&text, "in.toml", &[]) else { panic!("{map}") };
        assert!(messages[0].contains("varies too fast for"), "{messages:?}");
    }
    // Maps round-trip through the resolved input.
    for map in [
        y,
        "y = { map = 'sinh', factor = 2.0, at = 1.5 }",
        "y = { map = 'polynomial', coefficients = [1.0, 0.5] }",
        "y = 's + s^2'",
    ] {
        let config = parse(&GOOD.replacen(y, map, 1), "in.toml", &[]).unwrap();
        assert_eq!(parse(&config.to_toml(), "in.toml", &[]).unwrap(), config, "{map}");
    }
}

/// Catches an omitted axis, an omitted interval across the period, and n instead of n − 1 intervals between two ends.
#[test]
fn largest_spacing_is_taken_over_all_axes_and_intervals() {
    let custom = "case={ name = 'custom', mach = 0.1, reynolds = 50, u = 'sin(x)' }";
    let octant = "case.octant=true";
    // The widest interval is between the last point and the first.
    let shifted = "grid.stretching={ x = 's + 0.02*(sin(2*pi*(s + 1/48)) - sin(2*pi/48))' }";
    let widest = TAU * (1.0 / 24.0 + 0.04 * (PI / 24.0).sin());
    let wavy = "grid.mapping={ kind = 'wavy', amplitude = 0.02 }";
    let long = "grid.length=[6.2, 6.2, 62.0]";
    for (case, points, set, expected) in [
        ("taylor-green", [16; 3], &[octant][..], PI / 15.0),
        ("taylor-green", [30; 3], &[], PI / 15.0),
        ("taylor-green", [24, 32, 32], &[shifted], widest),
        ("custom", [24, 24, 16], &[custom, wavy, long], 62.0 / 16.0),
    ] {
        let found = config(case, points, set).grid().largest_spacing();
        assert_close(found, expected, 1e-14, &format!("{set:?}"));
    }
}
