//! The case `custom`: the user's own initial state.

use std::f64::consts::TAU;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use kolmo::cases::{Domain, FlowCase, TaylorGreen};
use kolmo::config::{Config, parse};
use kolmo::grid::Grid;
use kolmo::time::Simulation;
use kolmo::{Error, backend};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::common::{config, float, max_difference, on_host, state};

const POINTS: [usize; 3] = [12, 10, 9];
/// The Taylor-Green vortex as in the README of the case.
const VORTEX: [&str; 3] = [
    "case.u='sin(x)*cos(y)*cos(z)'",
    "case.v='-cos(x)*sin(y)*cos(z)'",
    "case.p='p0 + (cos(2*x) + cos(2*y))*(cos(2*z) + 2)/16'",
];

/// A `.npy` file of version 1.0 with these bytes.
pub(crate) fn npy(descr: &str, fortran: bool, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let padded = format!("{text:<width$}\n", width = length - 1);
    let head = [b"\x93NUMPY\x01\x00", &u16::try_from(length).unwrap().to_le_bytes()[..]].concat();
    [&head, padded.as_bytes(), bytes].concat()
}

/// The values of `f` at the points of a grid over the box of 2π, i fastest.
pub(crate) fn sampled(points: [usize; 3], f: impl Fn([f64; 3]) -> f64) -> Vec<f64> {
    let grid = Grid::periodic(points, &Domain::cube(TAU));
    (0..grid.len()).map(|at| f(grid.coordinates(grid.index(at)))).collect()
}

/// A `.npy` file with (nz, ny, nx) doubles.
pub(crate) fn doubles([nx, ny, nz]: [usize; 3], values: &[f64]) -> Vec<u8> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    npy("<f8", false, &format!("({nz}, {ny}, {nx})"), &bytes)
}

fn archive(path: &Path, method: CompressionMethod, arrays: &[(&str, Vec<u8>)]) {
    let mut zip = ZipWriter::new(File::create(path).unwrap());
    for (name, bytes) in arrays {
        let options = SimpleFileOptions::default().compression_method(method);
        zip.start_file(format!("{name}.npy"), options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
}

fn folder(path: &Path, arrays: &[(&str, Vec<u8>)]) {
    fs::create_dir(path).unwrap();
    for (name, bytes) in arrays {
        fs::write(path.join(format!("{name}.npy")), bytes).unwrap();
    }
}

/// A custom case with a file of arrays.
pub(crate) fn with_file(points: [usize; 3], path: &Path, set: &[&str]) -> Config {
    let file = format!("case.file='{}'", path.display());
    config("custom", points, &[&[file.as_str()], set].concat())
}

/// The error report for an initial state that is rejected.
fn rejection(config: &Config) -> String {
    let backend = backend::on_host(&config.compute, None).unwrap();
    let error =
        Simulation::on(backend.into(), config).err().expect("the initial state must be rejected");
    assert_eq!(error.exit_code(), 2, "{error}");
    error.report()
}

/// The fields of the built-in vortex at every point: ρ, u, v, w, p.
fn vortex(points: [usize; 3]) -> [Vec<f64>; 5] {
    let (domain, gas) = (Domain::cube(TAU), config("taylor-green", points, &[]).gas);
    let at = |x| TaylorGreen::default().at(&gas, &domain, [true; 3], x, 0.0);
    let velocity = |a: usize| sampled(points, |x| at(x).velocity[a]);
    let (density, pressure) = (|x| at(x).density, |x| at(x).pressure);
    [sampled(points, density), velocity(0), velocity(1), velocity(2), sampled(points, pressure)]
}

/// The expressions of the README give the vortex, and the resolved input preserves them. Catches a name, a sign or a default that differs
/// from the documentation.
#[test]
fn expressions_reproduce_the_taylor_green_vortex_to_round_off() {
    let built_in = state(&on_host(&config("taylor-green", POINTS, &[])));
    let typed = config("custom", POINTS, &VORTEX);
    for config in [parse(&typed.to_toml(), "resolved", &[]).unwrap(), typed] {
        for (found, expected) in state(&on_host(&config)).iter().zip(&built_in) {
            let energy = 1.0 / (1.4 * 0.01) / 0.4;
            assert!(max_difference(found, expected) <= 1e-15 * energy);
        }
    }
}

/// Stored and compressed archives, a folder, and arrays in Fortran order with big-endian bytes. Catches an axis, an offset or a conversion
/// that changes a single bit.
#[test]
fn arrays_reproduce_the_taylor_green_vortex_bit_for_bit() {
    let dir = tempfile::tempdir().unwrap();
    let built_in = state(&on_host(&config("taylor-green", POINTS, &[])));
    let fields = vortex(POINTS);
    let arrays = ["rho", "u", "v", "w", "p"].iter().zip(&fields);
    let arrays: Vec<_> = arrays.map(|(name, values)| (*name, doubles(POINTS, values))).collect();
    let [nx, ny, nz] = POINTS;
    let turned = |values: &[f64]| {
        let bytes = (0..nx * ny * nz).flat_map(|at| {
            let (k, j, i) = (at % nz, at / nz % ny, at / (nz * ny));
            values[i + nx * (j + ny * k)].to_be_bytes()
        });
        npy(">f8", true, &format!("({nz}, {ny}, {nx})"), &bytes.collect::<Vec<_>>())
    };
    let names = ["rho", "u", "v", "w", "p"];
    let others: Vec<_> = names.into_iter().zip(fields.iter().map(|f| turned(f))).collect();
    let [stored, packed, files, fortran] =
        ["stored.npz", "packed.npz", "files", "fortran.npz"].map(|name| dir.path().join(name));
    archive(&stored, CompressionMethod::Stored, &arrays);
    archive(&packed, CompressionMethod::Deflated, &arrays);
    archive(&fortran, CompressionMethod::Stored, &others);
    folder(&files, &arrays);
    for path in [stored, packed, files, fortran] {
        assert_eq!(state(&on_host(&with_file(POINTS, &path, &[]))), built_in, "{path:?}");
    }
}

fn python(directory: &Path, script: &str) {
    let mut python = std::process::Command::new(super::io::python());
    let output = python.args(["-c", script]).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A file written by one line of Python. Catches a version of NumPy's format that the other tests, which write the format themselves, do
/// not cover.
#[test]
fn npz_files_of_numpy_reproduce_the_vortex_bit_for_bit() {
    let dir = tempfile::tempdir().unwrap();
    let fields = vortex(POINTS);
    for (name, values) in ["rho", "u", "v", "w", "p"].iter().zip(&fields) {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    let line = "import numpy as np; np.savez('state.npz', \
                **{n: np.fromfile(n).reshape(9, 10, 12) for n in ('rho', 'u', 'v', 'w', 'p')})";
    python(dir.path(), line);
    let found = state(&on_host(&with_file(POINTS, &dir.path().join("state.npz"), &[])));
    assert_eq!(found, state(&on_host(&config("taylor-green", POINTS, &[]))));
}

/// Groups of both Zarr versions, written by Zarr's own library and by xarray, in chunks that do not divide the grid. Catches an axis, a
/// codec or a position of a chunk that violates the specification.
#[test]
fn zarr_groups_reproduce_the_vortex_bit_for_bit() {
    let dir = tempfile::tempdir().unwrap();
    let fields = vortex(POINTS);
    for (name, values) in ["rho", "u", "v", "w", "p"].iter().zip(&fields) {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    python(dir.path(), WRITE_ZARR);
    let built_in = state(&on_host(&config("taylor-green", POINTS, &[])));
    let kinds = ["v3", "plain", "shards", "turned", "v2", "fortran", "lz4", "blosc", "xarray"];
    for kind in kinds {
        let path = dir.path().join(format!("{kind}.zarr"));
        assert_eq!(state(&on_host(&with_file(POINTS, &path, &[]))), built_in, "{kind}");
    }
    let single = state(&on_host(&with_file(POINTS, &dir.path().join("single.zarr"), &[])));
    assert!(max_difference(&single[1], &built_in[1]) < 1e-7);
    for (kind, expected) in [
        ("axes", "array `u`: its dimensions are x, y, z, not z, y, x\n       xarray: transpose"),
        ("packed", "array `u`: its values are packed"),
        ("integers", "array `u`: its values are of type \"int64\", not float64 or float32"),
        ("plane", "array `u`: it has 2 dimensions, not z, y, x"),
        ("other", "unknown array `q`\n       allowed: rho, u, v, w, p, T"),
        ("bits", "array `u`: damaged"),
    ] {
        let text = rejection(&with_file(POINTS, &dir.path().join(format!("{kind}.zarr")), &[]));
        assert!(text.contains(expected), "{kind}: {text}");
    }
}

/// Writes the fields of the vortex as Zarr groups, and some groups that are invalid.
const WRITE_ZARR: &str = r#"
import json, pathlib, numpy as np, xarray, zarr
from numcodecs import Blosc, GZip, LZ4, Zlib, Zstd
from zarr.codecs import BloscCodec, GzipCodec, TransposeCodec, ZstdCodec
shape = (9, 10, 12)
fields = {n: np.fromfile(n).reshape(shape) for n in ("rho", "u", "v", "w", "p")}
def group(name, format, fields=fields, **how):
    store = zarr.open_group(name + ".zarr", mode="w", zarr_format=format)
    for field, values in fields.items():
        store.create_array(field, data=values, **({"chunks": (4, 5, 7)} | how))
group("v3", 3)
group("plain", 3, compressors=None)
group("shards", 3, shards=(8, 10, 14), compressors=GzipCodec())
group("turned", 3, filters=[TransposeCodec(order=(1, 2, 0))], compressors=BloscCodec(cname="zstd"))
group("v2", 2)
group("fortran", 2, fields={n: v.astype(">f8") for n, v in fields.items()}, order="F", compressors=Zlib())
group("lz4", 2, chunks=shape, compressors=Blosc(cname="lz4", blocksize=2048))
group("blosc", 2, compressors=Blosc(cname="zlib", shuffle=Blosc.NOSHUFFLE))
group("single", 3, fields={"u": fields["u"].astype("f4")})
axes = {a: np.arange(n) for a, n in zip("zyx", shape)}
data = xarray.Dataset({n: (("z", "y", "x"), v) for n, v in fields.items()}, axes)
data.to_zarr("xarray.zarr")
data[["u"]].transpose("x", "y", "z").to_zarr("axes.zarr")
data[["u"]].to_zarr("packed.zarr", encoding={"u": {"scale_factor": 2.0}})
group("integers", 3, fields={"u": np.zeros(shape, "i8")})
group("plane", 3, fields={"u": np.zeros((9, 10))}, chunks=(4, 5))
group("other", 3, fields={"q": np.zeros(shape)})
group("bits", 3, fields={"u": np.zeros(shape)})
pathlib.Path("bits.zarr/u/zarr.json").write_text("{")
"#;

/// A wave that both grids resolve, on finer and coarser grids, and a file with one point along two axes. Catches interpolation of
/// another kind, and the grid of the run used as that of the file.
#[test]
fn arrays_are_interpolated_exactly_if_both_grids_resolve_them() {
    let dir = tempfile::tempdir().unwrap();
    let wave = |[x, y, z]: [f64; 3]| (2.0 * x).sin() * (3.0 * y + 0.3).cos() + (z - 0.7).sin();
    let path = dir.path().join("state.npz");
    let from = [11, 14, 9];
    archive(&path, CompressionMethod::Stored, &[("u", doubles(from, &sampled(from, wave)))]);
    for to in [[16, 20, 15], [8, 9, 7], [11, 8, 12]] {
        let found = state(&on_host(&with_file(to, &path, &[])));
        let deviation = max_difference(&found[1], &sampled(to, wave));
        assert!(deviation < 1e-14, "{to:?}: {deviation:e}");
    }
    let flat = |x: [f64; 3]| x[0].cos();
    let line = dir.path().join("line.npz");
    archive(
        &line,
        CompressionMethod::Stored,
        &[("v", doubles([8, 1, 1], &sampled([8, 1, 1], flat)))],
    );
    let found = state(&on_host(&with_file(POINTS, &line, &[])));
    assert!(max_difference(&found[2], &sampled(POINTS, flat)) < 1e-14);
}

/// ρ, p and T in every combination of up to two. Catches a wrong default or a gas law solved for the wrong variable.
#[test]
fn up_to_two_of_density_pressure_and_temperature_define_the_state() {
    // (ρ, p) of Ma = 0.5, γ = 1.4: p₀ = 1/(1.4 · 0.25).
    let p0 = 1.0 / 0.35;
    let known: [(&[&str], f64, f64); 7] = [
        (&[], 1.0, p0),
        (&["case.rho=2"], 2.0, p0),
        (&["case.p='3*p0'"], 1.0, 3.0 * p0),
        (&["case.T=2.0"], 0.5, p0),
        (&["case.rho=2", "case.p=3"], 2.0, 3.0),
        (
            &["case.rho=2", "case.T='parameters_T'", "case.parameters={ parameters_T = 1.5 }"],
            2.0,
            3.0 * p0,
        ),
        (&["case.p=3", "case.T=1.5"], 2.0 / p0, 3.0),
    ];
    for (set, rho, p) in known {
        let set = [set, &["case.mach=0.5"]].concat();
        let mut run = on_host(&config("custom", [8, 8, 1], &set));
        for (name, expected) in [("density", rho), ("pressure", p)] {
            let deviation = run
                .field(name)
                .unwrap()
                .iter()
                .map(|x| (x / expected - 1.0).abs())
                .fold(0.0, f64::max);
            assert!(deviation < 1e-15 * 8.0, "{set:?}: {name} off by {deviation:e}");
        }
    }
}

/// Noise stays within its amplitude, which may vary in space, applies to the requested variables, and depends on its seed. Catches an
/// amplitude that is evaluated only once, and a seed that is ignored.
#[test]
fn noise_follows_amplitude_variables_and_seed() {
    let run = |noise: &str| state(&on_host(&config("custom", POINTS, &["case.u=1", noise])));
    let reference = run("case.noise={ amplitude = 'x/100', seed = 7 }");
    for (at, (u, v)) in reference[1].iter().zip(&reference[2]).enumerate() {
        let limit = TAU / 12.0 * float(at % 12) / 100.0;
        assert!((u - 1.0).abs() <= limit + 1e-15 && v.abs() <= limit, "{at}: {u} {v}");
        assert!(at % 12 == 0 || *v != 0.0);
    }
    assert_ne!(reference[1], run("case.noise={ amplitude = 'x/100', seed = 8 }")[1]);
    let of_density = run("case.noise={ amplitude = 0.1, variables = ['rho'] }");
    assert!(of_density[0].iter().any(|rho| rho.abs() > 0.01) && of_density[3] == vec![0.0; 1080]);
    // A single-precision run rounds the same numbers.
    let single = config(
        "custom",
        POINTS,
        &["case.u=1", "case.noise={ amplitude = 'x/100', seed = 7 }", "compute.precision=f32"],
    );
    assert!(max_difference(&state(&on_host(&single))[2], &reference[2]) < 1e-8);
}

const LEAST: &str =
    "[case]\nname = 'custom'\nKEYS\n[grid]\npoints = [8, 8, 8]\n[time]\nend = 1.0\n";

/// Every invalid input has its error message with line, key, expression, column and the invalid part. Catches an error that is reported
/// later, without its location, or not at all.
#[test]
fn input_errors_are_reported_with_line_key_and_column() {
    #[rustfmt::skip]
    let rows = [
        ("u = 'sin(x*'", r#"u = "sin(x*": column 7: found the end, where a value is missing"#),
        ("u = 'sin(q)'", r#"u = "sin(q)": column 5: unknown name `q`"#),
        ("u = 'coz(x)'", r#"u = "coz(x)": column 1: no function `coz`"#),
        ("u = true", "u = true: found a boolean, must be a number or an expression in quotes"),
        ("u = inf", "u = inf: must be finite"),
        ("u = ''", r#"u = "": column 1: found the end, where a value is missing"#),
        ("rho = 1\np = 'p0'\nT = 1", "rho, p and T are all given"),
        ("noise = { amplitude = 1, seed = -1 }", "noise = { amplitude = 1, seed = -1 }: seed = -1: must be a whole number, at least 0"),
        ("noise = { amplitude = 'k' }", r#"noise = "k": column 1: unknown name `k`"#),
        ("noise = { seed = 1 }", "noise = { seed = 1 }: missing field `amplitude`"),
        ("noise = { amplitude = 1, sead = 1 }", "noise = { amplitude = 1, sead = 1 }: unknown field `sead`"),
        ("noise = { amplitude = 1, variables = ['q'] }", "noise = { amplitude = 1, variables = [\"q\"] }: variables = [\"q\"]: unknown"),
        ("noise = 0.1", "noise = 0.1: found a decimal number, must be a table of `amplitude`, `seed`, `variables`"),
        ("parameters = { x = 1 }", "parameters: `x` has a meaning already"),
        ("parameters = { sin = 1 }", "parameters: `sin` is a function"),
        ("parameters = { 'a b' = 1 }", "parameters: `a b` is not a name"),
        ("parameters = { a = 'b' }", "parameters = { a = \"b\" }: a = \"b\": found a string, must be a finite number"),
        ("file = 3", "file = 3: found a whole number, must be a string"),
        ("t = 1", "unknown key `t` in [case]"),
    ];
    for (keys, expected) in rows {
        let text = LEAST.replace("KEYS", keys);
        let Err(Error::Config(lines)) = parse(&text, "in.toml", &[]) else { panic!("{keys}") };
        let line = 2 + keys.lines().count();
        let expected = format!("error: in.toml:{line}: {expected}");
        assert!(lines[0].starts_with(&expected), "{keys}: {lines:?}");
    }
}

/// The error message names the first point with an unphysical value, the value and its source. Catches a run that starts from such a value.
#[test]
fn unphysical_initial_values_are_rejected_with_their_point() {
    #[rustfmt::skip]
    let rows: [(&[&str], &str); 6] = [
        (&["case.u='1/(x - 2*pi/12)'"], "u = inf at point (1, 0, 0)"),
        (&["case.rho='1 - z'"], "rho = -"),
        (&["case.T='y*0'"], "T = 0.0 at point (0, 0, 0)"),
        (&["case.p='sqrt(-1 - x)'"], "p = NaN at point (0, 0, 0)"),
        (&["case.noise={ amplitude = 3, variables = ['rho'] }"], "rho = -"),
        (&["case.rho=1e-300", "case.p=1e300"], "T = inf"),
    ];
    for (set, expected) in rows {
        let text = rejection(&config("custom", [12, 8, 8], set));
        assert!(text.starts_with(&format!("error: the initial state has {expected}")), "{text}");
        assert!(text.contains("\n       allowed: "), "{text}");
    }
    let text = rejection(&config("custom", [12, 8, 8], &["case.rho='1 - z'"]));
    assert!(text.contains(r#"at point (0, 0, 2), x = 0, y = 0, z = 1.57"#), "{text}");
    assert!(text.contains(r#": case.rho = "1 - z""#), "{text}");
}

/// Every invalid file has its error message. Catches an array that is misinterpreted.
#[test]
fn invalid_initial_state_files_are_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let ones = |points: [usize; 3]| doubles(points, &vec![1.0; points.iter().product()]);
    let good = ones([4, 4, 4]);
    let mut nan = vec![0.5; 64];
    nan[21] = f64::NAN;
    let short = good[..good.len() - 9].to_vec();
    type File<'a> = (&'a str, Vec<(&'a str, Vec<u8>)>, &'a [&'a str], &'a str);
    #[rustfmt::skip]
    let rows: [File<'_>; 11] = [
        ("name", vec![("velocity", good.clone())], &[], "unknown array `velocity`\n       allowed: rho, u, v, w, p, T, each (nz, ny, nx) values"),
        ("type", vec![("u", npy("<i8", false, "(4, 4, 4)", &[0; 512]))], &[], "array `u`: its values are of type '<i8', not float64 or float32"),
        ("complex", vec![("u", npy("<c16", false, "(4, 4, 4)", &[0; 1024]))], &[], "array `u`: its values are of type '<c16'"),
        ("rank", vec![("u", npy("<f8", false, "(4, 16)", &[0; 512]))], &[], "array `u`: its shape is (4, 16), not (nz, ny, nx)"),
        ("empty", vec![("u", npy("<f8", false, "(0, 4, 4)", &[]))], &[], "array `u`: its shape is (0, 4, 4), not (nz, ny, nx)"),
        ("shapes", vec![("u", good.clone()), ("v", ones([4, 5, 4]))], &[], "`u` has (4, 4, 4) values and `v` (4, 5, 4)"),
        ("nan", vec![("w", doubles([4, 4, 4], &nan))], &[], "the initial state has w = NaN at point (1, 1, 1)"),
        ("short", vec![("u", short)], &[], "array `u`: 503 bytes of values, where its shape needs 512"),
        ("none", vec![], &[], "no arrays in it"),
        ("twice", vec![("u", good.clone())], &["case.u=1"], "u is given by `case.u` and by `case.file`"),
        ("three", vec![("rho", good.clone()), ("p", good.clone())], &["case.T=1"], "rho, p and T are all given"),
    ];
    for (name, arrays, set, expected) in rows {
        let path = dir.path().join(format!("{name}.npz"));
        archive(&path, CompressionMethod::Stored, &arrays);
        let config = with_file([4, 4, 4], &path, &[&["scheme.derivative=explicit2"], set].concat());
        let error =
            Simulation::on(backend::on_host(&config.compute, None).unwrap().into(), &config);
        let text = error.err().expect(name).report();
        assert!(text.contains(expected), "{name}: {text}");
    }
    // One flipped bit of a value: NumPy also rejects such an archive, by its checksum.
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let path = dir.path().join("bit.npz");
        let values: Vec<f64> = (0..64).map(|i| f64::from(i).sin()).collect();
        archive(&path, method, &[("u", doubles([4, 4, 4], &values))]);
        let mut bytes = fs::read(&path).unwrap();
        bytes[300] ^= 8;
        fs::write(&path, bytes).unwrap();
        let damaged = rejection(&with_file([4, 4, 4], &path, &["scheme.derivative=explicit2"]));
        assert!(
            damaged.contains("array `u`: ") && damaged.contains("write the file again"),
            "{damaged}"
        );
    }
    let missing = rejection(&with_file(POINTS, &dir.path().join("missing.npz"), &[]));
    assert!(missing.contains("missing.npz") && missing.contains("No such file"), "{missing}");
    fs::write(dir.path().join("text.npz"), "u = 1").unwrap();
    let text = rejection(&with_file(POINTS, &dir.path().join("text.npz"), &[]));
    assert!(text.contains("not a NumPy .npz file"), "{text}");
}
