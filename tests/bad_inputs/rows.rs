//! Bad inputs and their error messages.

/// (text of the valid input, its replacement, error message after `error: in.toml:`)
pub(super) type Row = (&'static str, &'static str, &'static str);

/// A valid input with a value for nearly every key.
pub(super) const FLOW: &str = r#"[case]
name = "taylor-green"
mach = 0.1
reynolds = 100.0
start = "constant-density"
[grid]
points = [32, 32, 32]
[gas]
gamma = 1.4
prandtl = 0.71
viscosity = "constant"
[scheme]
derivative = "compact6"
convection = "kennedy-gruber"
energy = "split-pressure"
viscous = "auto"
filter = "none"
[time]
integrator = "hale64"
cfl = 0.8
end = 1.0
[compute]
backend = "auto"
threads = "auto"
precision = "f64"
[output]
directory = "runs/x"
series = { every_steps = 10 }
fields = { every_time = 1.0, variables = ["velocity"] }
"#;

pub(super) const SCALAR: &str = r#"[case]
name = "scalar-advection"
shape = "sine"
[grid]
points = [32, 1, 1]
[time]
end = 1.0
"#;

#[rustfmt::skip]
pub(super) const FLOW_ROWS: &[Row] = &[
    ("cfl = 0.8", "cfl = 0.8\nimplicit = { method = 'euler' }", "21: method = \"euler\": must be one of steady, bdf2, backward-euler, sdirk22, esdirk64"),
    ("cfl = 0.8", "cfl = 0.8\nimplicit = { tolerance = 1.0 }", "21: tolerance = 1.0: must be a number between 0 and 1, both excluded"),
    ("cfl = 0.8", "cfl = 0.8\nimplicit = { krylov = 0 }", "21: krylov = 0: must be a whole number from 1 to 10000"),
    ("cfl = 0.8", "cfl = 0.8\nimplicit = 'yes'", "21: implicit = \"yes\": unknown"),
    ("filter = \"none\"", "filter = { time = 0.0 }", "17: time = 0.0: must be a positive finite number"),
    ("[grid]", "[grid", "6: not TOML: unclosed table, expected `]`"),
    ("[grid]", "[scalars.dye]\nschmidt = 1\n[grid]", "6: [scalars.dye] needs `start`"),
    ("[grid]", "[scalars.dye]\nstart = 1\n[grid]", "6: [scalars.dye] needs `schmidt`"),
    ("[grid]", "[scalars.dye]\nschmidt = 0\nstart = 1\n[grid]", "7: scalars.dye.schmidt = 0: must be a positive finite number"),
    ("[grid]", "[scalars.dye]\nschmit = 1\nstart = 1\n[grid]",
     "7: unknown key `schmit` in [scalars.dye]; did you mean `schmidt`?"),
    ("[grid]", "[scalars]\ndye = 3\n[grid]", "7: scalars.dye: found a whole number, must be a table"),
    ("[grid]", "[scalars.dye]\nschmidt = 1\nstart = 'sin(q)'\n[grid]",
     r#"8: scalars.dye.start = "sin(q)": column 5: unknown name `q`"#),
    ("[grid]", "[scalars.dye]\nschmidt = 1\nstart = 'sin(x'\n[grid]",
     r#"8: scalars.dye.start = "sin(x": column 6: found the end, where the `(` of column 4 is not closed"#),
    ("[grid]", "[scalars.density]\nschmidt = 1\nstart = 1\n[grid]",
     "6: [scalars.density]: `density` is a field of the flow"),
    ("[grid]", "[scalars.component]\nschmidt = 1\nstart = 1\n[grid]",
     "6: [scalars.component]: `component` is a coordinate of fields"),
    ("[grid]", "[scalars.mass]\nschmidt = 1\nstart = 1\n[grid]",
     "6: [scalars.mass]: `mass` is a column of the series"),
    ("[grid]", "[scalars.ke]\nschmidt = 1\nstart = 1\n[grid]",
     "6: [scalars.ke]: its column `ke_rate` is a column of the flow"),
    ("[grid]", "[scalars.'a b']\nschmidt = 1\nstart = 1\n[grid]",
     "6: [scalars.a b]: not a valid name of a scalar"),
    ("mach = 0.1", "mach 0.1", "3: not TOML: key with no value, expected `=`"),
    (r#"name = "taylor-green""#, "name = taylor-green",
     r#"2: not TOML: `taylor-green` is not true, false or a number; a string needs quotes: "taylor-green""#),
    (r#"name = "taylor-green""#, "name = vortex",
     r#"2: not TOML: `vortex` is not true, false or a number; a string needs quotes: "vortex""#),
    ("mach = 0.1", "mach =", "3: not TOML: a value is missing after `mach =`"),
    ("mach = 0.1", "mach = # later", "3: not TOML: a value is missing after `mach =`"),
    ("mach = 0.1", "= 0.1", "3: not TOML: a key is missing before `=`"),
    ("mach = 0.1", "mach: 0.1", "3: not TOML: a key and its value are joined by `=`, not by `:`"),
    ("mach = 0.1", "mach = 0,1", "3: not TOML: a decimal number has a point: 0.1"),
    ("mach = 0.1", "mach = .1", "3: not TOML: a decimal number has digits on both sides of its point, as in 0.5 or 1.0"),
    ("mach = 0.1", "mach = 1.", "3: not TOML: a decimal number has digits on both sides of its point, as in 0.5 or 1.0"),
    ("mach = 0.1", "mach = 1.0d-1", "3: not TOML: an exponent is written with e: 1.0e-1"),
    ("mach = 0.1", "mach = 1/10", "3: not TOML: `1/10` is not a number; an input has no arithmetic"),
    ("mach = 0.1", "mach = True", "3: not TOML: `True` is written `true`"),
    ("mach = 0.1", "mach = 0.1 ! low", "3: not TOML: a comment begins with `#`"),
    ("mach = 0.1", "// mach = 0.1", "3: not TOML: a comment begins with `#`"),
    ("mach = 0.1", "mach = 0.1;", "3: not TOML: a line does not end with `;`; a comment begins with `#`"),
    ("mach = 0.1", "mach = 0.1 threads = 2", "3: not TOML: each key needs a line of its own"),
    ("mach = 0.1", "mach = 0x", "3: mach = 0x: found a number without digits, must be a positive finite number"),
    (r#"start = "constant-density""#, "start = “constant-density”", "5: not TOML: `“` is not a TOML quotation mark; use \" or '"),
    ("[32, 32, 32]", "[32 32 32]", "7: not TOML: the values of an array are separated by commas: [32, 32, 32]"),
    ("[32, 32, 32]", "(32, 32, 32)", "7: not TOML: several values need brackets: [32, 32, 32]"),
    ("[32, 32, 32]", "32, 32, 32", "7: not TOML: several values need brackets: [32, 32, 32]"),
    ("[32, 32, 32]", "[32, 32, 32", "8: not TOML: an array above is not closed: a `]` is missing"),
    ("{ every_steps = 10 }", "{ every_steps: 10 }", "28: not TOML: a key and its value are joined by `=`, not by `:`"),
    ("cfl = 0.8", "dt = 1e-18", "20: dt = 1e-18: too small: t + dt = t at end = 1"),
    ("every_time = 1.0, ", "every_time = 1e-300, ", "29: every_time = 1e-300: too small: t + every_time = t at time.end = 1"),
    ("mach = 0.1", "mach = 0.1\nmach = 0.2", "4: not TOML: `mach` appears twice"),
    ("[gas]", "[grid]", "8: not TOML: section [grid] appears twice"),
    (r#""hale64""#, r#""hale64"#, r#"19: not TOML: a string is not closed: a " is missing at its end"#),
    ("[scheme]", "[schem]", "12: unknown section [schem]; did you mean [scheme]?"),
    ("[scheme]", "[numerics]", "12: unknown section [numerics]"),
    ("derivative = ", "derivatve = ", "13: unknown key `derivatve` in [scheme]; did you mean `derivative`?"),
    ("prandtl = 0.71", "mach = 0.1", "10: unknown key `mach` in [gas]; it belongs in [case]"),
    ("gamma = 1.4", "rgas = 287.0", "9: unknown key `rgas` in [gas]"),
    ("[case]", "cfl = 0.5\n[case]", "1: `cfl` is outside any section; it belongs in [time]"),
    ("[case]", "grid = 3\n[case]", "7: not TOML: section [grid] appears twice"),
    ("[compute]", "[[compute]]",
     r#"22: compute = [{ backend = "auto", precision = "f64", threads = "auto" }]: found an array, must be a section [compute]"#),
    ("start = ", "strat = ", "5: unknown key `strat` in [case]; did you mean `start`?"),
    (r#"start = "constant-density""#, "amplitude = 0.1", "5: unknown key `amplitude` in [case]"),
    (r#"name = "taylor-green""#, "", "1: [case] needs `name`"),
    (r#""taylor-green""#, r#""taylor-gren""#, r#"2: name = "taylor-gren": unknown; did you mean `taylor-green`?"#),
    (r#""taylor-green""#, r#""mixing-layer""#, r#"2: name = "mixing-layer": unknown"#),
    (r#""taylor-green""#, "7", "2: name = 7: found a whole number, must be a string"),
    ("mach = 0.1", "mach = 0", "3: mach = 0: must be a positive finite number"),
    ("mach = 0.1", "mach = -0.1", "3: mach = -0.1: must be a positive finite number"),
    ("mach = 0.1", "mach = nan", "3: mach = nan: must be a positive finite number"),
    ("mach = 0.1", "mach = inf", "3: mach = inf: must be a positive finite number"),
    ("mach = 0.1", r#"mach = "low""#, r#"3: mach = "low": found a string, must be a positive finite number"#),
    ("mach = 0.1", "mach = 1e999", "3: mach = 1e999: found a number beyond 64 bits, must be a positive finite number"),
    ("reynolds = 100.0", "reynolds = 0", "4: reynolds = 0: must be a positive number, or inf for no viscosity"),
    ("reynolds = 100.0", "reynolds = -inf", "4: reynolds = -inf: must be a positive number, or inf for no viscosity"),
    ("reynolds = 100.0", "reynolds = true",
     "4: reynolds = true: found a boolean, must be a positive number, or inf for no viscosity"),
    ("reynolds = 100.0", "reynolds = 99999999999999999999",
     "4: reynolds = 99999999999999999999: found a number beyond 64 bits, must be a positive number, or inf for no viscosity"),
    (r#""constant-density""#, r#""constant density""#,
     r#"5: start = "constant density": unknown; did you mean `constant-density`?"#),
    (r#""constant-density""#, "false", "5: start = false: found a boolean, must be a string"),
    ("points = [32, 32, 32]", "", "6: [grid] needs `points`"),
    ("[32, 32, 32]", "32",
     "7: points = 32: found a whole number, must be an array of 3 entries, each a whole number from 1 to 65536"),
    ("[32, 32, 32]", "[32, 32]", "7: points = [32, 32]: found 2 entries, must be 3"),
    ("[32, 32, 32]", "[32, 0, 32]", "7: points = [32, 0, 32]: found 0, each must be a whole number from 1 to 65536"),
    ("[32, 32, 32]", "[32, -32, 32]", "7: points = [32, -32, 32]: found -32, each must be a whole number from 1 to 65536"),
    ("[32, 32, 32]", "[32, 32.5, 32]",
     "7: points = [32, 32.5, 32]: found 32.5, each must be a whole number from 1 to 65536"),
    ("[32, 32, 32]", "[32, 32, 70000]",
     "7: points = [32, 32, 70000]: found 70000, each must be a whole number from 1 to 65536"),
    ("[32, 32, 32]", "[1, 1, 1]", "7: points = [1, 1, 1]: at least one axis needs more than 1 point"),
    ("[32, 32, 32]", "[32, 3, 32]", "7: points = [32, 3, 32]: 3 points along y; compact6 needs 5"),
    ("[32, 32, 32]", "[1, 32, 32]", "7: points = [1, 32, 32]: taylor-green needs more than 1 point along x and y"),
    ("[gas]", "length = [1.0, 0.0, 1.0]\n[gas]",
     "8: length = [1.0, 0.0, 1.0]: found 0.0, each must be a positive finite number"),
    ("[gas]", "length = 6.28\n[gas]",
     "8: length = 6.28: found a decimal number, must be an array of 3 entries, each a positive finite number"),
    ("[gas]", "length = [1, \"pi\", 1]\n[gas]",
     r#"8: length = [1, "pi", 1]: found "pi", each must be a positive finite number"#),
    ("gamma = 1.4", "gamma = 1", "9: gamma = 1: must be a finite number greater than 1"),
    ("prandtl = 0.71", "prandtl = 0.0", "10: prandtl = 0.0: must be a positive finite number"),
    (r#""constant""#, r#""sutherlnd""#, r#"11: viscosity = "sutherlnd": unknown; did you mean `sutherland`?"#),
    (r#""constant""#, "1.0",
     r#"11: viscosity = 1.0: found a decimal number, must be `constant`, `power`, `sutherland`, or { law = "power", exponent = 0.76 }"#),
    (r#"viscosity = "constant""#, "viscosity = { exponent = 0.7 }", "11: [gas.viscosity] needs `law`"),
    (r#"viscosity = "constant""#, r#"viscosity = { law = "powr" }"#, r#"11: law = "powr": unknown; did you mean `power`?"#),
    (r#"viscosity = "constant""#, r#"viscosity = { law = "power", exponent = "n" }"#,
     r#"11: exponent = "n": found a string, must be a finite number"#),
    (r#"viscosity = "constant""#, r#"viscosity = { law = "sutherland", exponent = 0.7 }"#,
     "11: unknown key `exponent` in [gas.viscosity]"),
    (r#"viscosity = "constant""#, r#"viscosity = { law = "sutherland", temperature_ratio = -1.0 }"#,
     "11: temperature_ratio = -1.0: must be zero or a positive finite number"),
    (r#""compact6""#, r#""compact-6""#, r#"13: derivative = "compact-6": unknown; did you mean `compact6`?"#),
    (r#""compact6""#, r#""weno5""#, r#"13: derivative = "weno5": unknown"#),
    (r#""compact6""#, "6", "13: derivative = 6: found a whole number, must be a string"),
    (r#""kennedy-gruber""#, r#""kennedy_gruber""#,
     r#"14: convection = "kennedy_gruber": unknown; did you mean `kennedy-gruber`?"#),
    (r#""split-pressure""#, r#""split-presure""#,
     r#"15: energy = "split-presure": unknown; did you mean `split-pressure`?"#),
    ("\"auto\"\nfilter", "\"laplace\"\nfilter", r#"16: viscous = "laplace": unknown; did you mean `laplacian`?"#),
    (r#""none""#, r#""on""#, r#"17: filter = "on": unknown"#),
    (r#""none""#, "true", "17: filter = true: found a boolean, must be `none`, or { order = 8, alpha = 0.495, every = 1 }"),
    (r#""none""#, "{ order = 7 }", "17: order = 7: must be 2, 4, 6, 8 or 10"),
    (r#""none""#, "{ order = 12 }", "17: order = 12: must be a whole number from 2 to 10"),
    (r#""none""#, "{ alpha = 0.5 }", "17: alpha = 0.5: must be a number between -0.5 and 0.5, both excluded"),
    (r#""none""#, "{ every = 0 }", "17: every = 0: must be a whole number, at least 1"),
    (r#""none""#, "{ every = 2, time = 0.1 }", "17: every = 2: cannot be combined with `time`; only one of them sets the interval"),
    (r#""none""#, "{ strength = 1 }", "17: unknown key `strength` in [scheme.filter]"),
    (r#""hale64""#, r#""rk5""#, r#"19: integrator = "rk5": unknown; did you mean `rk4`?"#),
    (r#""hale64""#, r#""hale46""#, r#"19: integrator = "hale46": unknown; did you mean `hale64`?"#),
    ("cfl = 0.8", "cfl = 0", "20: cfl = 0: must be a positive finite number"),
    ("cfl = 0.8", "cfl = -1.5", "20: cfl = -1.5: must be a positive finite number"),
    ("cfl = 0.8", r#"cfl = "0.8""#, r#"20: cfl = "0.8": found a string, must be a positive finite number"#),
    ("cfl = 0.8", "cfl = nan", "20: cfl = nan: must be a positive finite number"),
    ("cfl = 0.8", "cfl = 0.8\ndt = 0.01", "21: dt = 0.01: cannot be combined with `cfl`; only one of them sets the step"),
    ("cfl = 0.8", "dt = 0.0", "20: dt = 0.0: must be a positive finite number"),
    ("cfl = 0.8", "dt = inf", "20: dt = inf: must be a positive finite number"),
    ("end = 1.0", "", "18: [time] needs `end` or `max_steps`"),
    ("end = 1.0", "end = 0", "21: end = 0: must be a positive finite number"),
    ("end = 1.0", "end = 2026-01-01", "21: end = 2026-01-01: found a date, must be a positive finite number"),
    ("end = 1.0", "max_steps = 0", "21: max_steps = 0: must be a whole number, at least 1"),
    ("end = 1.0", "max_steps = 1e3", "21: max_steps = 1000.0: found a decimal number, must be a whole number, at least 1"),
    (r#"backend = "auto""#, r#"backend = "gpu""#, r#"23: backend = "gpu": unknown; did you mean `cpu`?"#),
    (r#"backend = "auto""#, "backend = \"cpu\"\ndevice = 1", "24: device = 1: the CPU is one device, number 0"),
    (r#"backend = "auto""#, "backend = \"cuda\"\ndevice = -1", "24: device = -1: must be a whole number from 0 to 1023"),
    (r#"backend = "auto""#, "backend = \"cpu\"\nline_solver = \"chunked\"", r#"24: line_solver = "chunked": it is for devices; the CPU has `thomas`, `cr`, `cr-sorted-direct`, `cr-sorted-stepwise`, `pcr`, `neato-shared`, `pcr-banded`"#),
    (r#"backend = "auto""#, "backend = \"cpu\"\npencils = \"permuted\"",
     r#"24: pencils = "permuted": the CPU solves lines in place"#),
    (r#"threads = "auto""#, "threads = 0", "24: threads = 0: must be a whole number from 1 to 4096"),
    (r#"threads = "auto""#, r#"threads = "all""#,
     r#"24: threads = "all": must be "auto" or a whole number from 1 to 4096"#),
    (r#"threads = "auto""#, "threads = 1.5",
     "24: threads = 1.5: found a decimal number, must be \"auto\" or a whole number from 1 to 4096"),
    (r#""f64""#, r#""f16""#, r#"25: precision = "f16": unknown"#),
    (r#""f64""#, "64", "25: precision = 64: found a whole number, must be a string"),
    (r#"precision = "f64""#, r#"line_solver = "tomas""#, r#"25: line_solver = "tomas": unknown; did you mean `thomas`?"#),
    (r#"precision = "f64""#, r#"pencils = "permute""#, r#"25: pencils = "permute": unknown; did you mean `permuted`?"#),
    (r#"precision = "f64""#, r#"distributed = "neighbor""#,
     r#"25: distributed = "neighbor": unknown; did you mean `neighbour`?"#),
    (r#"precision = "f64""#, "ranks = [2, 1]", "25: ranks = [2, 1]: found 2 entries, must be 3"),
    (r#"precision = "f64""#, "ranks = [2, 0, 1]",
     "25: ranks = [2, 0, 1]: found 0, each must be a whole number from 1 to 65536"),
    (r#"precision = "f64""#, "ranks = 8",
     r#"25: ranks = 8: found a whole number, must be "auto" or an array of 3 entries, each a whole number from 1 to 65536"#),
    (r#"precision = "f64""#, r#"ranks = "all""#,
     r#"25: ranks = "all": must be "auto" or an array of 3 entries, each a whole number from 1 to 65536"#),
    (r#"precision = "f64""#, r#"device_aware = "yes""#, r#"25: device_aware = "yes": unknown"#),
    (r#"precision = "f64""#, "device_aware = true", "25: device_aware = true: found a boolean, must be a string"),
    (r#"backend = "auto""#, "backend = \"opencl\"\ndevice_aware = \"force\"",
     r#"24: device_aware = "force": only messages of `--backend cuda` can go from device to device"#),
    (r#"backend = "auto""#, "backend = \"cpu\"\nnccl = \"force\"",
     r#"24: nccl = "force": only messages of `--backend cuda` can go from device to device"#),
    (r#"precision = "f64""#, "nccl = \"force\"\ndevice_aware = \"force\"",
     r#"25: nccl = "force": conflicts with `device_aware = "force"`, another route for messages"#),
    (r#"precision = "f64""#, "sweeps = { points = 9 }", "25: points = 9: must be a whole number from 4 to 8"),
    (r#"precision = "f64""#, "sweeps = { lines = 0 }", "25: lines = 0: must be a whole number from 1 to 1024"),
    (r#"precision = "f64""#, "sweeps = { resident = 2.5 }", "25: resident = 2.5: found a decimal number, must be \"auto\" or a whole number from 1 to 32"),
    (r#"precision = "f64""#, "sweeps = { link = 1 }", "25: link = 1: found a whole number, must be \"auto\" or true or false"),
    (r#"precision = "f64""#, "sweeps = { line = 4 }", "25: unknown key `line` in [compute.sweeps]; did you mean `lines`?"),
    (r#"precision = "f64""#, "sweeps = 4", "25: sweeps = 4: found a whole number, must be a table such as { points = 8, lines = 4, resident = 2, early = true, turns = 16, link = true }"),
    (r#"precision = "f64""#, "sweeps = { turns = 0 }", "25: turns = 0: must be a whole number from 1 to 65536"),
    (r#"precision = "f64""#, "sweeps = { early = 3 }", "25: early = 3: found a whole number, must be \"auto\" or true or false"),
    (r#"precision = "f64""#, "sweeps = { link = false }\npencils = \"permuted\"",
     "25: sweeps = { link = false }: with `line_solver` or `pencils`, sweeps are run operator by operator"),
    (r#"backend = "auto""#, "backend = \"cpu\"\nsweeps = { points = 8 }",
     "24: sweeps = { points = 8 }: the CPU has no thread blocks"),
    (r#"backend = "auto""#, "device = \"first\"",
     r#"23: device = "first": must be "auto" or a whole number from 0 to 1023"#),
    (r#""runs/x""#, r#""""#, r#"27: directory = "": must not be empty"#),
    (r#""runs/x""#, "[]", "27: directory = []: found an array, must be a string"),
    ("{ every_steps = 10 }", "10", "28: series = 10: found a whole number, must be a table such as { every_steps = 10 }"),
    ("{ every_steps = 10 }", "{}", "28: [output.series] needs `every_steps` or `every_time` or `every_wall`"),
    ("{ every_steps = 10 }", "{ every_steps = 0 }", "28: every_steps = 0: must be a whole number, at least 1"),
    ("{ every_steps = 10 }", "{ every_steps = 2.5 }",
     "28: every_steps = 2.5: found a decimal number, must be a whole number, at least 1"),
    ("{ every_steps = 10 }", "{ every_step = 10 }",
     "28: unknown key `every_step` in [output.series]; did you mean `every_steps`?"),
    ("every_time = 1.0, ", "every_time = -1.0, ", "29: every_time = -1.0: must be a positive finite number"),
    ("every_time = 1.0, ", "every_wall = inf, ", "29: every_wall = inf: must be a positive finite number"),
    ("every_time = 1.0, ", "", "29: [output.fields] needs `every_steps` or `every_time` or `every_wall`"),
    (r#"["velocity"]"#, "[]", "29: variables = []: must name at least one field"),
    (r#"["velocity"]"#, r#""velocity""#,
     r#"29: variables = "velocity": found a string, must be an array of names, such as ["velocity"]"#),
    (r#"["velocity"]"#, r#"["velocty"]"#,
     r#"29: variables = ["velocty"]: no such field as `velocty`; did you mean `velocity`?"#),
    (r#"["velocity"]"#, r#"["velocity", "velocity"]"#,
     r#"29: variables = ["velocity", "velocity"]: `velocity` appears twice"#),
    (r#"["velocity"]"#, r#"["scalar"]"#, r#"29: variables = ["scalar"]: no such field as `scalar`"#),
    (r#"["velocity"]"#, "[1]", "29: variables = [1]: found a whole number, each must be a string"),
    ("series = ", "checkpoint = { keep = 2 }\nseries = ", "28: [output.checkpoint] needs `every_steps` or `every_time` or `every_wall`"),
    ("series = ", "checkpoint = { every_steps = 1, keep = 0 }\nseries = ", "28: keep = 0: must be a whole number from 1 to 1048576"),
    ("series = ", "checkpoint = true\nseries = ", "28: checkpoint = true: found a boolean, must be `last`, `none`, or { every_time = 1.0, keep = 2 }"),
    ("series = ", "checkpoint = { every_steps = 1, asynchronous = 1 }\nseries = ", "28: asynchronous = 1: found a whole number, must be true or false"),
    ("series = ", "on_failure = \"panic\"\nseries = ", "28: on_failure = \"panic\": unknown"),
    ("series = ", "planes = { every_steps = 1 }\nseries = ", "28: [output.planes] needs `x` or `y` or `z`"),
    ("series = ", "planes = { every_steps = 1, z = [] }\nseries = ", "28: z = []: must have at least one entry"),
    ("series = ", "planes = { every_steps = 1, z = 1.0 }\nseries = ", "28: z = 1.0: found a decimal number, must be an array of entries, each a finite number"),
    ("series = ", "planes = { every_steps = 1, z = [nan] }\nseries = ", "28: z = [nan]: found nan, each must be a finite number"),
    ("series = ", "planes = { every_steps = 1, z = [3.14, 7.0] }\nseries = ", "28: z = [3.14, 7.0]: 7 lies outside the box"),
    ("series = ", "planes = { every_steps = 1, x = [-0.1] }\nseries = ", "28: x = [-0.1]: -0.1 lies outside the box"),
    ("series = ", "statistics = { every_steps = 1, from = -1 }\nseries = ", "28: from = -1: must be zero or a positive finite number"),
    ("series = ", "statistics = { every_steps = 1, quantities = [\"means\"] }\nseries = ", "28: quantities = [\"means\"]: no such quantity as `means`"),
    ("fields = { every_time = 1.0", "fields = { every_time = 1.0, stride = 0", "29: stride = 0: must be a whole number from 1 to 65536"),
    ("fields = { every_time = 1.0", "fields = { every_time = 1.0, pieces = 0", "29: pieces = 0: must be a whole number from 1 to 1048576"),
    ("fields = { every_time = 1.0", "fields = { every_time = 1.0, precision = \"f16\"", "29: precision = \"f16\": unknown"),
    ("fields = { every_time = 1.0", "fields = { every_time = 1.0, region = { from = [1, 1, 1] }", "29: [output.fields.region] needs `to`"),
    ("fields = { every_time = 1.0", "fields = { every_time = 1.0, region = { from = [1, 1, 1], to = [0, 2, 2] }",
     "29: to = [0, 2, 2]: must not be less than `from` along any axis"),
    ("fields = { every_time = 1.0", "fields = { every_time = 1.0, region = { from = [1, 7, 1], to = [2, 8, 2] }",
     "29: from = [1, 7, 1]: the region lies outside the box"),
    ("fields = { every_time = 1.0", "fields = { every_time = 1.0, region = { from = [-4, -4, -4], to = [2, 8, -2] }",
     "29: to = [2, 8, -2]: the region lies outside the box"),
    ("end = 1.0", "end = 1.0\nwall_limit = \"soon\"", "22: wall_limit = \"soon\": is not a duration"),
    ("end = 1.0", "end = 1.0\nwall_limit = 0", "22: wall_limit = 0: must be a positive finite number"),
    ("end = 1.0", "end = 1.0\nwall_limit = true", "22: wall_limit = true: found a boolean, must be a positive finite number"),
    ("[scheme]", "[forcing]\n[scheme]", "12: [forcing] needs `kind`"),
    ("[scheme]", "[forcing]\nkind = \"liner\"\n[scheme]", r#"13: kind = "liner": unknown; did you mean `linear`?"#),
    ("[scheme]", "[forcing]\nkind = \"linear\"\n[scheme]", "12: [forcing] needs `coefficient` or `energy`"),
    ("[scheme]", "[forcing]\nkind = \"linear\"\ncoefficient = -1\n[scheme]",
     "14: coefficient = -1: must be a positive finite number"),
    ("[scheme]", "[forcing]\nkind = \"linear\"\nenergy = \"fixed\"\n[scheme]", r#"14: energy = "fixed": unknown"#),
    ("[scheme]", "[forcing]\nkind = \"linear\"\nenergy = 0\n[scheme]", "14: energy = 0: must be a positive finite number"),
    ("[scheme]", "[forcing]\nkind = \"linear\"\nenergy = 1\ncoefficient = 1\n[scheme]",
     "14: energy = 1: cannot be combined with `coefficient`; only one of them sets the force"),
    ("[scheme]", "[forcing]\nkind = \"linear\"\nenergy = 1\nseed = 1\n[scheme]", "15: unknown key `seed` in [forcing]"),
    ("[scheme]", "[forcing]\nkind = \"linear\"\nenergy = 1\nheat_removal = 1\n[scheme]",
     "15: heat_removal = 1: found a whole number, must be true or false"),
    ("[scheme]", "[forcing]\nkind = \"stochastic\"\ntime_scale = 1\n[scheme]", "12: [forcing] needs `amplitude`"),
    ("[scheme]", "[forcing]\nkind = \"stochastic\"\namplitude = 1\ntime_scale = 0\n[scheme]",
     "15: time_scale = 0: must be a positive finite number"),
    ("[scheme]", "[forcing]\nkind = \"stochastic\"\namplitude = 1\ntime_scale = 1\nwavenumber = 0.9\n[scheme]",
     "16: wavenumber = 0.9: no wave fits: must be at least 1"),
    ("[scheme]", "[forcing]\nkind = \"stochastic\"\namplitude = 1\ntime_scale = 1\nwavenumber = 16\n[scheme]",
     "16: wavenumber = 16: 32 points along x hold at most 15 periods"),
    ("[scheme]", "[forcing]\nkind = \"stochastic\"\namplitude = 1\ntime_scale = 1\nseed = -1\n[scheme]",
     "16: seed = -1: must be a whole number, at least 0"),
    ("[32, 32, 32]", "[32, 32, 32]\nmapping = { file = \"no.npz\" }",
     r#"8: file = "no.npz": cannot be read: No such file or directory (os error 2)"#),
    ("[32, 32, 32]", "[32, 32, 32]\nmapping = { file = 3 }", "8: file = 3: found a whole number, must be a string"),
    ("[32, 32, 32]", "[32, 32, 32]\nmapping = { fil = \"a.npz\" }",
     "8: unknown key `fil` in [grid.mapping]; did you mean `file`?"),
    ("[32, 32, 32]", "[32, 32, 32]\nmapping = {}", "8: [grid.mapping] needs `kind` or `file`"),
    ("fields = {", r#"fields = "all" # {"#, r#"29: fields = "all": unknown"#),
];

#[rustfmt::skip]
pub(super) const SCALAR_ROWS: &[Row] = &[
    (r#"shape = "sine""#, "shape = \"sine\"\nmach = 0.1", "4: mach = 0.1: has no meaning for scalar-advection"),
    ("[time]", "[gas]\ngamma = 1.4\n[time]", "6: [gas] has no meaning for scalar-advection"),
    ("[time]", "[scalars.dye]\nschmidt = 1\nstart = 1\n[time]",
     "6: [scalars] has no meaning for scalar-advection"),
    ("[time]", "[scheme]\nconvection = \"divergence\"\n[time]",
     r#"7: convection = "divergence": has no meaning for scalar-advection"#),
    ("[time]", "[forcing]\nkind = \"linear\"\n[time]", "6: [forcing] has no meaning for scalar-advection"),
    (r#""sine""#, r#""square""#, r#"3: shape = "square": unknown"#),
    (r#""sine""#, "\"sine\"\nvelocity = [1, 0]", "4: velocity = [1, 0]: found 2 entries, must be 3"),
    (r#""sine""#, "\"sine\"\ndiffusivity = -0.1", "4: diffusivity = -0.1: must be zero or a positive finite number"),
    (r#""sine""#, "\"gaussian\"\nwidth = 0", "4: width = 0: must be a positive finite number"),
    (r#""sine""#, "\"sine\"\nwavenumber = [16, 0, 0]",
     "4: wavenumber = [16, 0, 0]: 32 points along x hold at most 15 periods"),
    (r#""sine""#, "\"sine\"\nwavenumber = 1",
     "4: wavenumber = 1: found a whole number, must be an array of 3 entries, each a whole number from -32768 to 32768"),
    ("end = 1.0", "end = 1.0\n[output]\nfields = { every_time = 1, variables = [\"velocity\"] }",
     r#"9: variables = ["velocity"]: no such field as `velocity`"#),
];

#[rustfmt::skip]
pub(super) const VORTEX_ROWS: &[Row] = &[
    ("[grid]", "strength = 20\n[grid]",
     "3: strength = 20 makes the temperature negative in the centre at mach = 0.8451542547285166; it must be below 10.0828"),
    ("[grid]", "half_width = 0\n[grid]", "3: half_width = 0: must be a positive finite number"),
    ("[grid]", "velocity = [1, 1, 1]\n[grid]", "3: velocity = [1, 1, 1]: found 3 entries, must be 2"),
    ("[32, 32, 1]", "[32, 1, 1]", "4: points = [32, 1, 1]: isentropic-vortex needs more than 1 point along x and y"),
];

#[rustfmt::skip]
pub(super) const KIDA_ROWS: &[Row] = &[
    ("[32, 32, 32]", "[32, 32, 1]", "4: points = [32, 32, 1]: kida-vortex needs more than 1 point along every axis"),
    ("[time]", "length = [1, 1, 2]\n[time]", "5: length = [1, 1, 2]: kida-vortex needs a cube"),
    ("[grid]", "start = \"cold\"\n[grid]", r#"3: start = "cold": unknown"#),
];

#[rustfmt::skip]
pub(super) const ABC_ROWS: &[Row] = &[
    ("[grid]", "wavenumber = 0\n[grid]", "3: wavenumber = 0: must be a whole number from 1 to 32768"),
    ("[grid]", "wavenumber = 16\n[grid]", "3: wavenumber = 16: 32 points along x hold at most 15 periods"),
    ("[grid]", "a = inf\n[grid]", "3: a = inf: must be a finite number"),
    ("[time]", "length = [6, 7, 6]\n[time]", "5: length = [6, 7, 6]: abc-flow needs a cube"),
];

#[rustfmt::skip]
pub(super) const LAYER_ROWS: &[Row] = &[
    ("[grid]", "layer = \"medium\"\n[grid]", r#"3: layer = "medium": unknown"#),
    ("[grid]", "sharpness = 5\n[grid]", "3: sharpness = 5 lets the layers overlap; it must be at least 10"),
    ("[grid]", "sharpness = -80\n[grid]", "3: sharpness = -80: must be a positive finite number"),
    ("[32, 32, 1]", "[1, 32, 1]", "4: points = [1, 32, 1]: double-shear-layer needs more than 1 point along x and y"),
];

#[rustfmt::skip]
pub(super) const ENTROPY_ROWS: &[Row] = &[
    ("[grid]", "amplitude = 1.5\n[grid]", "3: amplitude = 1.5 makes the density negative; it must lie between -1 and 1"),
    ("[grid]", "velocity = [inf, 0, 0]\n[grid]", "3: velocity = [inf, 0, 0]: found inf, each must be a finite number"),
];

#[rustfmt::skip]
pub(super) const ACOUSTIC_ROWS: &[Row] = &[
    ("[grid]", "wavenumber = 0\n[grid]", "3: wavenumber = 0: must be a whole number from 1 to 32768"),
    ("[grid]", "wavenumber = 1.5\n[grid]",
     "3: wavenumber = 1.5: found a decimal number, must be a whole number from 1 to 32768"),
    ("[grid]", "mode = \"sound\"\n[grid]", r#"3: mode = "sound": unknown"#),
    ("[grid]", "wavenumber = 40\nreynolds = inf\n[grid]", "3: wavenumber = 40: 32 points along x hold at most 15 periods"),
    ("[grid]", "reynolds = 0.1\n[grid]",
     r#"1: wavenumber = 1 does not oscillate at reynolds = 0.1 and mach = 0.5; use a longer wave, a larger Reynolds number, or mode = "entropy""#),
    ("[32, 32, 1]", "[32, 1, 1]\n[forcing]\nkind = \"stochastic\"\namplitude = 1\ntime_scale = 1",
     r#"6: kind = "stochastic": needs more than 1 point along two axes"#),
    ("[32, 32, 1]", "[1, 32, 1]", "4: points = [1, 32, 1]: acoustic-wave needs more than 1 point along x"),
];

#[rustfmt::skip]
pub(super) const SHEAR_ROWS: &[Row] = &[
    ("[grid]", "wavenumber = -1\n[grid]", "3: wavenumber = -1: must be a whole number from 1 to 32768"),
    ("[grid]", "velocity = [1, 0, 0]\n[grid]", "3: velocity = [1, 0, 0]: found an array, must be a finite number"),
];
