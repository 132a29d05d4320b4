//! Curvilinear grids: tests beyond the checks of `kolmo verify curved`.

use std::f64::consts::TAU;
use std::process::Command;

use kolmo::config::{Config, Precision, parse};
use kolmo::engine::distributed::Method;
use kolmo::grid::{Block, Decomposition};
use kolmo::io::fields::Layout;
use kolmo::io::pieces::Selection;
use kolmo::io::{FieldData, FieldWriter};
use kolmo::time::Simulation;

use crate::common::{
    assert_reproducible, config, max_difference, on_host, rate, set_flow, state, steps,
};
use crate::device::gpu;
use crate::io::python;
use crate::spread::blocks::assert_cuts_agree;
use crate::spread::threads::on_ranks;
use crate::verify::assert_verified;

const WAVY: &str = "grid.mapping={ kind = 'wavy', amplitude = 0.05 }";

/// A viscous flow around a cylinder, which uses all metrics and both ends.
fn flow_around_a_cylinder(points: [usize; 3], more: &[&str]) -> Config {
    let set = [
        "grid.mapping={ kind = 'ring', inner = 0.5, outer = 6.0 }",
        "boundary.y={ low = 'wall', high = { kind = 'far-field', velocity = [1.0, 0.0, 0.0], temperature = 1.0, sponge = { width = 2.0, strength = 0.2 } } }",
        "case.gust=0.3",
        "case.reynolds=40",
        "gas.viscosity=sutherland",
        "time.dt=0.002",
        "scheme.filter={ order = 6, alpha = 0.45, every = 3 }",
    ];
    config("cylinder", points, &[&set, more].concat())
}

/// The value of the column `name` in the current row of the time series.
fn column(flow: &mut Simulation, config: &Config, name: &str) -> f64 {
    let names = kolmo::physics::columns(&config.problem());
    flow.row().unwrap()[names.iter().position(|other| other == name).unwrap()]
}

/// Catches drag and lift columns for a wall that is not surrounded by grid lines.
#[test]
fn force_columns_exist_only_if_grid_lines_surround_a_wall() {
    let wall = "{ kind = 'wall', temperature = 1.0 }";
    let walls = format!("boundary.y={{ low = {wall}, high = {wall} }}");
    let between = "grid.mapping={ kind = 'expressions', x = '2*s + 0.1*sin(pi*t)*sin(2*pi*s)', y = 't + 0.1*sin(2*pi*s)*sin(pi*t)' }";
    let around = "grid.mapping={ kind = 'expressions', x = '(1 + t)*cos(2*pi*s)', y = '-(1 + t)*sin(2*pi*s)' }";
    for (map, is_body) in [(between, false), (around, true)] {
        let flow = on_host(&config("custom", [24, 17, 1], &["case.u='0'", map, &walls]));
        assert_eq!(flow.columns().iter().any(|name| name == "drag"), is_body, "{map}");
    }
}

#[test]
fn every_check_of_curvilinear_grids_passes() {
    assert_verified(&["curved"]);
}

/// Catches metrics of the wrong block, temperature gradients without halo exchange, and face averages over the wrong rank.
#[test]
fn ranks_and_device_agree_with_one_host() {
    let config = flow_around_a_cylinder([20, 36, 8], &[]);
    let cuts = [
        ([2, 1, 1], Some(Method::Transpose)),
        ([3, 1, 1], Some(Method::Pcr)),
        ([1, 2, 1], Some(Method::Gather)),
        ([2, 1, 2], None),
    ];
    assert_cuts_agree(&config, 6, &cuts);
    let device = gpu(Precision::F64, config.grid().len());
    let mut device = Simulation::on(std::sync::Arc::new(device), &config).unwrap();
    steps(&mut device, 6);
    let mut host = on_host(&config);
    steps(&mut host, 6);
    for (a, b) in state(&host).iter().zip(&state(&device)) {
        let difference = max_difference(a, b) / a.iter().map(|a| a.abs()).fold(1.0, f64::max);
        assert!(difference <= 1e-12, "device: {difference:e}");
    }
}

/// Catches metrics differenced in f32, and curvilinear terms without the base state: fields contain deviations from it.
#[test]
fn single_precision_flow_matches_double_to_round_off() {
    let run = |precision: &str| {
        let mut flow = on_host(&flow_around_a_cylinder([20, 22, 7], &[precision]));
        steps(&mut flow, 20);
        let base = flow.system_and_state().0.base_state();
        let with_base =
            |(field, base): (Vec<f64>, f64)| field.into_iter().map(|x| x + base).collect();
        state(&flow).into_iter().zip(base).map(with_base).collect::<Vec<Vec<f64>>>()
    };
    let (double, single) = (run("compute.precision=f64"), run("compute.precision=f32"));
    for (k, (a, b)) in double.iter().zip(&single).enumerate() {
        // 120 stages, each with rounding errors of 6e-8 that add up as a random walk. Scales: ρ₀, ρ₀c at Ma = 0.2, and ρE.
        let scale = [1.0, 5.0, 5.0, 5.0, a.iter().fold(0.0, |max: f64, x| max.max(*x))][k];
        let difference = max_difference(a, b) / scale;
        assert!(difference < 1e-6, "variable {k}: {difference:e}");
    }
}

#[test]
fn runs_and_restarts_are_bitwise_identical() {
    for more in [&[][..], &["compute.precision=f32"]] {
        assert_reproducible(&flow_around_a_cylinder([18, 19, 1], more), &format!("{more:?}"));
    }
}

/// A box rotated by a map has the flow of the straight box. Catches a chain rule with a wrong sign, which a uniform stream does not
/// reveal.
#[test]
fn rotated_box_has_the_rates_of_the_straight_box() {
    let points = [16, 18, 10];
    let rotated = "grid.mapping={ kind = 'expressions', x = '2*pi*(0.6*s - 0.8*t)', y = '2*pi*(0.8*s + 0.6*t)' }";
    let forms = ["scheme.viscous=conservative", "case.reynolds=10", "gas.viscosity=sutherland"];
    let rates = |more: &[&str], rotation: [f64; 2]| {
        let mut flow = on_host(&config("taylor-green", points, &[&forms[..], more].concat()));
        set_flow(&mut flow, 1.4, |[i, j, k], _| {
            let [x, y, z] = [i, j, k].map(|i| i as f64);
            let [x, y, z] = [TAU * x / 16.0, TAU * y / 18.0, TAU * z / 10.0];
            let (u, v) = (0.3 + (x + y).sin(), x.cos() * z.sin());
            let [c, s] = rotation;
            let rho = 1.0 + 0.1 * (x - y).cos();
            [rho, c * u - s * v, s * u + c * v, 0.4 * y.sin(), 71.0 + z.cos() + x.sin()]
        });
        let mut rate = rate(&mut flow);
        let [_, m, n, ..] = &mut rate[..] else { unreachable!() };
        for (m, n) in m.iter_mut().zip(n) {
            (*m, *n) = (rotation[0] * *m + rotation[1] * *n, rotation[0] * *n - rotation[1] * *m);
        }
        rate
    };
    let (straight, rotated) = (rates(&[], [1.0, 0.0]), rates(&[rotated], [0.6, 0.8]));
    for (k, (a, b)) in straight.iter().zip(&rotated).enumerate() {
        let size = a.iter().fold(1.0, |size: f64, x| size.max(x.abs()));
        let difference = max_difference(a, b) / size;
        assert!(difference < 1e-12, "variable {k}: {difference:e}");
    }
}

/// The pressure p = x exerts a force of minus the volume on a body; gas at rest exerts no shear.
#[test]
fn drag_and_lift_are_the_pressure_force_on_the_body() {
    let config = flow_around_a_cylinder([64, 33, 1], &["gas.viscosity=constant"]);
    let mut flow = on_host(&config);
    let p = config.gas.reference_pressure();
    set_flow(&mut flow, 1.4, |_, [x, y, _]| [1.0, 0.0, 0.0, 0.0, p + 0.1 * x + 0.2 * y]);
    let [drag, pressure, friction, lift, ..] =
        kolmo::physics::BODY_COLUMNS.map(|name| column(&mut flow, &config, name));
    let area = std::f64::consts::PI * 0.25;
    // The trapezoidal sum over the points of a circle is exact.
    for (found, expected) in
        [(drag, -0.2 * area), (pressure, -0.2 * area), (friction, 0.0), (lift, -0.4 * area)]
    {
        assert!((found - expected).abs() < 1e-8, "{found} {expected}");
    }
    let surface = flow.surface().unwrap().unwrap();
    for [x, y, pressure, friction] in surface {
        assert!((pressure - 2.0 * (0.1 * x + 0.2 * y)).abs() < 1e-11 && friction.abs() < 1e-12);
    }
}

/// Catches a mean over the span with equal weights for its end planes: with walls across z, 1/n of the drag would be missing.
#[test]
fn drag_is_per_unit_span() {
    let drag = |points: [usize; 3], z: &str, u: &str| {
        let ring = "grid.mapping={ kind = 'ring', inner = 0.5, outer = 3.0 }";
        let far =
            "boundary.y={ low = 'wall', high = { kind = 'far-field', velocity = [1, 0, 0] } }";
        let set = ["case.reynolds=10", "grid.length=[6, 6, 2]", ring, far, z, u];
        let config = config("custom", points, &set);
        column(&mut on_host(&config), &config, "drag_friction")
    };
    let walls = "boundary.z={ low = 'wall', high = 'wall' }";
    let uniform = drag([32, 17, 1], "boundary.z=periodic", "case.u='sqrt(x^2 + y^2) - 0.5'");
    let between = drag([32, 17, 17], walls, "case.u='(sqrt(x^2 + y^2) - 0.5)*z*(2 - z)'");
    // The norm of the operators is exact for z (2 - z), whose mean is 2/3.
    assert!((between / uniform - 2.0 / 3.0).abs() < 1e-12, "{between} {uniform}");
}

/// Catches flow through curved walls at their edges with a moving wall across z: a box and the rotated box must have the same flow.
#[test]
fn moving_lid_across_z_drives_no_flow_through_curved_walls() {
    let energy = |turn: f64| {
        let (c, s) = (turn.cos(), turn.sin());
        let map = format!(
            "grid.mapping={{ kind = 'expressions', x = '{c}*s - ({s})*t', y = '{s}*s + {c}*t' }}"
        );
        let wall = "{ kind = 'wall', temperature = 1 }";
        let moving_wall = |u: f64, v: f64| {
            let [u, v] = [c * u - s * v, s * u + c * v];
            format!("{{ kind = 'wall', temperature = 1, velocity = [{u}, {v}, 0] }}")
        };
        let x = format!("boundary.x={{ low = {wall}, high = {wall} }}");
        let y = format!("boundary.y={{ low = {wall}, high = {wall} }}");
        let z = format!("boundary.z={{ low = {wall}, high = {} }}", moving_wall(0.5, 0.2));
        let set = [
            "case={ name = 'custom', mach = 0.3, reynolds = 50, u = '0' }",
            "grid.length=[1, 1, 1]",
            "scheme.viscous=conservative",
            "time.dt=0.008",
        ];
        let config = config("custom", [17, 18, 19], &[&set[..], &[&map, &x, &y, &z]].concat());
        let mut flow = on_host(&config);
        steps(&mut flow, 20);
        column(&mut flow, &config, "kinetic_energy")
    };
    let (straight, rotated) = (energy(0.0), energy(0.6));
    assert!((straight - rotated).abs() < 1e-12 * straight, "{straight} {rotated}");
}

/// Force coefficients refer to the far-field flow, also if it is the initial flow.
#[test]
fn initial_and_prescribed_far_fields_give_equal_force_coefficients() {
    let far = |state: &str| {
        format!("boundary.y={{ low = 'wall', high = {{ kind = 'far-field', {state} }} }}")
    };
    let drag_and_lift = |set: &[&str]| {
        let config = config("aerofoil", [96, 49, 1], &[&["case.angle=10"], set].concat());
        let mut flow = on_host(&config);
        ["drag", "lift"].map(|name| column(&mut flow, &config, name))
    };
    let (given, start) = (drag_and_lift(&[]), drag_and_lift(&[&far("state = 'initial'")]));
    for (given, start) in given.iter().zip(start) {
        assert!((given - start).abs() < 1e-12 * given.abs().max(1e-3), "{given} {start}");
    }
    // Gas at rest at a pressure other than the reference pressure p₀ = 1/(γ Ma²) = 17.9.
    let at_rest = "case={ name = 'custom', mach = 0.2, reynolds = 40, u = '0', p = '20' }";
    let ring = "grid.mapping={ kind = 'ring', inner = 0.5, outer = 5.0 }";
    for state in ["velocity = [0.0, 0.0, 0.0], pressure = 20.0", "state = 'initial'"] {
        let config = config("custom", [32, 33, 1], &[at_rest, ring, &far(state)]);
        for [.., pressure, _] in on_host(&config).surface().unwrap().unwrap() {
            assert!(pressure.abs() < 1e-12, "{state}: {pressure}");
        }
    }
}

/// Averages are weighted by the area of the cells in the plane.
#[test]
fn averages_are_weighted_by_cell_area() {
    let ring = flow_around_a_cylinder([64, 65, 1], &[]).grid();
    let sum: f64 = (0..ring.len()).map(|at| ring.weight(ring.index(at))).sum();
    let area = sum * ring.spacing[0] * ring.spacing[1];
    // Error of the trapezoidal rule at the open face, for r dr/dt with r = exp(β t)/2: h² f'/12 at r = 6, β = ln 12. The rule at the wall
    // is more accurate.
    let (h, beta) = (1.0 / 64.0, 12.0_f64.ln());
    let exact = std::f64::consts::PI * (36.0 - 0.25);
    let rule = TAU * h * h / 12.0 * 2.0 * (beta * 6.0_f64).powi(2);
    assert!((area - exact).abs() < 1.1 * rule, "{area} {exact} {rule}");
    assert!((sum * ring.per_interval() - 1.0).abs() < 1e-13);
    let box_ = config("taylor-green", [24, 25, 1], &[WAVY]).grid();
    let sum: f64 = (0..box_.len()).map(|at| box_.weight(box_.index(at))).sum();
    assert!((sum - 24.0 * 25.0).abs() < 1e-9, "Σ J over a periodic box: {sum}");
}

/// The error message for an invalid input.
fn error_message(case: &str, points: [usize; 3], set: &[&str]) -> String {
    let text = format!("[case]\nname = '{case}'\n[grid]\npoints = {points:?}\n[time]\nend = 1\n");
    let set: Vec<String> = set.iter().map(ToString::to_string).collect();
    match parse(&text, "in.toml", &set) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{set:?} is accepted"),
    }
}

#[test]
fn invalid_curvilinear_grids_are_rejected_with_the_reason() {
    let ring = "grid.mapping={ kind = 'ring', inner = 1.0, outer = 4.0 }";
    let walls = "boundary.y={ low = 'wall', high = 'wall' }";
    let map =
        |x: &str, y: &str| format!("grid.mapping={{ kind = 'expressions', x = '{x}', y = '{y}' }}");
    let (folds, turned) = (map("s + sin(2*pi*s)", "t"), map("t", "s"));
    let (skewed, unknown) = (map("s + t", "t"), map("s", "tt"));
    let (open, sheared) = (map("6*(s + 0.1*s^2)", "6*t"), map("6*s", "6*t*(1 + 0.1*s)"));
    // The outer line begins at the origin, where a tolerance relative to the coordinates would be zero.
    let arc = |by: &str| map(&format!("-2 + (1 + t)*cos({by}*s)"), &format!("(1 + t)*sin({by}*s)"));
    let (half, twice) = (arc("-pi"), arc("-4*pi"));
    let points = [16, 18, 1];
    for (set, expected) in [
        (&[&*folds][..], "the grid folds: its Jacobian"),
        (&[&open], "continues periodically beyond its ends: where t = 0.0000, from s = -0.5000"),
        (&[&sheared], "continues periodically beyond its ends: where t = 0.0156, from s = -0.5000"),
        (&[&half, walls], "a periodic axis needs a map that continues periodically"),
        (&[&twice, walls], "lines along x cross themselves: they wind around 2 times"),
        (&[&turned], "the grid is left-handed"),
        (&[&unknown], "y = \"tt\": column 1: unknown name `tt`"),
        (&[&skewed, walls], "lines meet the adiabatic wall 45.0 degrees off a right angle"),
        (&["grid.mapping={ kind = 'wavy', amplitude = 0.2 }"], "lines cross at 0.2"),
        (&["grid.mapping={ amplitude = 0.2 }"], "allowed: `wavy`, `ring`, `naca`, `expressions`"),
        (
            &[ring],
            "lines along x are closed and surround the body, lines along y go from the body outward",
        ),
        (
            &["grid.mapping={ kind = 'ring', inner = 1.0, outer = 0.5 }", walls],
            "0.5 is not outside of inner = 1",
        ),
        (
            &["grid.mapping={ kind = 'ring', inner = 1.0, outer = 4.0, first = 0.5 }", walls],
            "0.5 is not below 0.17647",
        ),
        (
            &[WAVY, "scheme.convection=staggered"],
            "convection = \"staggered\": is not available on curvilinear grids",
        ),
        (
            &[WAVY, "scheme.viscous=laplacian"],
            "viscous = \"laplacian\": is not available on curvilinear grids",
        ),
        (
            &[WAVY, "boundary.y={ low = 'symmetry', high = 'symmetry' }"],
            "a symmetry plane is not available on curvilinear grids",
        ),
        (
            &[WAVY, "boundary.y={ low = 'wall', high = { kind = 'wall', heat_flux = 0.1 } }"],
            "a curved wall is adiabatic",
        ),
        (
            &[WAVY, "scalars.dye={ schmidt = 1.0, initial = '0' }"],
            "is not available on curvilinear grids yet",
        ),
        (
            &[WAVY, "forcing={ kind = 'linear', coefficient = 0.1 }"],
            "[forcing] is only available on straight grid lines",
        ),
        (
            &[WAVY, "grid.stretching={ y = 's + 0.1*sin(2*pi*s)' }"],
            "cannot be combined with grid.mapping",
        ),
        (
            &[WAVY, "output.planes={ every_time = 1.0, z = [0.0], variables = ['velocity'] }"],
            "are not available on curvilinear grids",
        ),
        (
            &[WAVY, "compute.right_hand_side=composed"],
            "right_hand_side = \"composed\": is not available on curvilinear grids",
        ),
    ] {
        let message = error_message("taylor-green", points, set);
        assert!(message.contains(expected), "{set:?}: {message}");
    }
    let message = error_message("taylor-green", [16, 1, 16], &[WAVY]);
    assert!(message.contains("y has one point"), "{message}");
    let message = error_message("scalar-advection", points, &[WAVY]);
    assert!(message.contains("has no meaning for scalar-advection"), "{message}");
}

/// Files contain the points in VTK order, including those that close the period.
#[test]
fn files_contain_the_grid_points_in_vtk_order() {
    let grid = config("taylor-green", [12, 14, 5], &[WAVY]).grid();
    let selection = Selection::all(&grid);
    let image = selection.image(&grid);
    let [x, y] = image.plane.clone().unwrap();
    assert_eq!((image.points, x.len()), ([13, 15, 6], 13 * 15));
    let last = [12, 14 * 13, 14 * 13 + 12].map(|at| [x[at] - x[0], y[at] - y[0]]);
    for (found, expected) in last.into_iter().zip([[TAU, 0.0], [0.0, TAU], [TAU, TAU]]) {
        assert!(max_difference(&found, &expected) < 1e-13, "{found:?}");
    }
    for files in [1, 3] {
        let directory = tempfile::tempdir().unwrap();
        let cut = Decomposition { ranks: [1, files, 1] };
        on_ranks(files, |comm| {
            let layout = Layout { grid: grid.clone(), selection: Selection::all(&grid), files };
            let mut writer = FieldWriter::new(directory.path(), "fields", layout);
            let block: Block = cut.block(comm.rank(), grid.points);
            let value = |at: usize| {
                let [x, y, z] = grid.coordinates(block.index(at));
                x.sin() + 10.0 * y.cos() + z.cos()
            };
            let own: Vec<f64> = (0..block.len()).map(value).collect();
            let field = FieldData { name: "f".into(), components: 1, values: own.into() };
            let field = writer.selection().of(&block, &field);
            writer.write(&*comm, &cut, (7, 0.5), [Ok(field)]).unwrap();
        });
        let name = if files == 1 { "step_00000007.vts" } else { "step_00000007.pvts" };
        let script = "import sys, numpy, pyvista, vtk\n\
             reader = [vtk.vtkXMLStructuredGridReader, vtk.vtkXMLPStructuredGridReader]['.pvts' in sys.argv[1]]()\n\
             reader.SetFileName(sys.argv[1])\n\
             reader.Update()\n\
             m = pyvista.wrap(reader.GetOutput())\n\
             x, y, z = m.points.T\n\
             off = numpy.abs(m['f'] - (numpy.sin(x) + 10*numpy.cos(y) + numpy.cos(z))).max()\n\
             print(type(m).__name__, *m.dimensions, off < 1e-12)\n";
        let path = directory.path().join(name);
        let output = Command::new(python()).args(["-c", script]).arg(&path).output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(stdout, "StructuredGrid 13 15 6 True\n", "{stderr}");
    }
}

/// Catches too few points for the trailing edge, and a grid with the wrong orientation.
#[test]
fn grids_around_aerofoils_do_not_fold() {
    for digits in ["0012", "2412", "4415", "0006"] {
        let map = format!(
            "grid.mapping={{ kind = 'naca', digits = '{digits}', radius = 0.003, outer = 30.0, first = 0.002 }}"
        );
        for points in [[128, 65, 1], [256, 129, 1]] {
            let grid = config("aerofoil", points, &[&map]).grid();
            let plane = grid.plane.unwrap();
            let [nx, ny, _] = points;
            let min = plane.jacobian.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(min > 0.0, "{digits}, {points:?}: {min}");
            let z = |i: usize, j: usize| {
                let at = i % nx + nx * j;
                [plane.coordinates[0][at], plane.coordinates[1][at]]
            };
            let distance = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
            let spacings: Vec<f64> = (0..nx).map(|i| distance(z(i + 1, 0), z(i, 0))).collect();
            let [min, max] =
                [f64::min, f64::max].map(|of| spacings.iter().copied().reduce(of).unwrap());
            assert!(max < 15.0 * min, "{digits}: {}", max / min);
            let first = (0..nx).map(|i| distance(z(i, 1), z(i, 0))).fold(0.0, f64::max);
            assert!((first / 0.002 - 1.0).abs() < 0.02, "{digits}: {first}");
            // The centre of the image of a circle is near mid-chord.
            let far = (0..nx).map(|i| distance(z(i, ny - 1), [0.5, 0.0]));
            assert!(far.map(|r| (r / 30.0 - 1.0).abs()).fold(0.0, f64::max) < 0.02);
        }
    }
}
