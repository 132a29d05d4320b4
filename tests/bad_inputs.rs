//! Every bad input gives an error message with the line, the value found and the allowed values.

use kolmo::Error;
use kolmo::config::{load, parse};

mod rows;

use rows::*;

/// A valid input of a case with its defaults.
fn wave(name: &str) -> String {
    format!("[case]\nname = {name:?}\n[grid]\npoints = [32, 32, 1]\n[time]\nend = 1.0\n")
}

/// The error messages of a rejected input, without the closing line.
fn messages(text: &str, overrides: &[&str]) -> Vec<String> {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    match parse(text, "in.toml", &overrides) {
        Err(Error::Config(mut lines)) => {
            let count = lines.pop().expect("a closing line");
            let errors =
                if lines.len() == 1 { "1 error" } else { &format!("{} errors", lines.len()) };
            assert_eq!(count, format!("{errors}; nothing was run"));
            lines
        }
        other => panic!("{other:?}\nfrom\n{text}"),
    }
}

fn check(valid: &str, rows: &[Row]) {
    parse(valid, "in.toml", &[]).expect("a valid input");
    for (from, to, expected) in rows {
        assert!(valid.contains(from), "{from} is not in the valid input");
        let found = messages(&valid.replacen(from, to, 1), &[]);
        let first_lines: Vec<&str> = found.iter().filter_map(|text| text.lines().next()).collect();
        assert_eq!(first_lines, [format!("error: in.toml:{expected}")], "{from} -> {to}");
    }
}

#[test]
fn every_bad_flow_input_gives_one_error_with_its_line() {
    check(FLOW, FLOW_ROWS);
}

#[test]
fn every_bad_scalar_input_gives_one_error_with_its_line() {
    check(SCALAR, SCALAR_ROWS);
}

#[test]
fn every_bad_wave_or_vortex_input_gives_one_error_with_its_line() {
    check(&wave("isentropic-vortex"), VORTEX_ROWS);
    check(&wave("kida-vortex").replace("32, 1]", "32, 32]"), KIDA_ROWS);
    check(&wave("abc-flow").replace("32, 1]", "64, 1]"), ABC_ROWS);
    check(&wave("double-shear-layer"), LAYER_ROWS);
    check(&wave("entropy-wave"), ENTROPY_ROWS);
    check(&wave("acoustic-wave"), ACOUSTIC_ROWS);
    check(&wave("shear-wave"), SHEAR_ROWS);
}

#[test]
fn bad_overrides_are_quoted_in_their_error_messages() {
    let rows = [
        ("time.cfl=fast", r#"cfl = "fast": found a string, must be a positive finite number"#),
        ("time.cfll=0.5", "unknown key `cfll` in [time]; did you mean `cfl`?"),
        ("cfl=0.5", "`cfl` is outside any section; it belongs in [time]"),
        ("tme.cfl=0.5", "unknown section [tme]; did you mean [time]?"),
        ("grid.points=[8, 8", "not a TOML value: unclosed array, expected `]`"),
        ("case.mach", "no `=` in it"),
        (
            "grid.points=[8 8 8]",
            "not a TOML value: the values of an array are separated by commas: [8, 8, 8]",
        ),
        (".mach=1", "an empty key"),
        ("=1", "an empty key"),
        ("case.mach=", r#"mach = "": found a string, must be a positive finite number"#),
        ("grid.points.x=8", "`points` has no keys of its own"),
        ("grid=8", "grid = 8: found a whole number, must be a section [grid]"),
        ("output.directory=7", "directory = 7: found a whole number, must be a string"),
    ];
    for (text, expected) in rows {
        let found = messages(FLOW, &[text]);
        assert!(
            found.iter().any(|message| {
                message.lines().next() == Some(&format!("error: --set {text}: {expected}"))
            }),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn advice_is_indented_below_the_error_message() {
    let full = |from: &str, to: &str| messages(&FLOW.replacen(from, to, 1), &[]).join("\n");
    assert_eq!(
        full("[32, 32, 32]", "[32, 3, 32]"),
        "error: in.toml:7: points = [32, 3, 32]: 3 points along y; compact6 needs 5\n       \
         use at least 5 points, 1 where nothing varies, or a narrower formula"
    );
    assert_eq!(
        full("\"taylor-green\"", "\"mixing-layer\""),
        "error: in.toml:2: name = \"mixing-layer\": unknown\n       \
         allowed: `taylor-green`, `isotropic-turbulence`, `kida-vortex`, `abc-flow`,\n       \
         `double-shear-layer`, `isentropic-vortex`, `entropy-wave`, `acoustic-wave`, `shear-wave`,\n       \
         `couette-flow`, `stokes-layer`, `poiseuille-flow`, `channel`, `boundary-layer`,\n       \
         `lid-driven-cavity`, `acoustic-pulse`, `vortex-outflow`, `cylinder`, `aerofoil`,\n       \
         `scalar-advection`, `custom`"
    );
    assert_eq!(
        full("gamma", "rgas"),
        "error: in.toml:9: unknown key `rgas` in [gas]\n       \
         [gas] takes `gamma`, `prandtl`, `viscosity`"
    );
}

#[test]
fn grid_lines_need_as_many_points_as_the_widest_stencil_in_use() {
    let narrow = FLOW.replacen("[32, 32, 32]", "[32, 5, 32]", 1);
    parse(&narrow, "in.toml", &[]).unwrap();
    let rows = [
        ("scheme.derivative=spectral-like", "5 points along y; spectral-like needs 7"),
        ("scheme.derivative=explicit8", "5 points along y; explicit8 needs 9"),
        ("scheme.filter.order=10", "5 points along y; the filter of order 10 needs 11"),
    ];
    for (text, expected) in rows {
        let found = messages(&narrow, &[text]);
        assert!(found.len() == 1 && found[0].contains(expected), "{found:?}");
    }
}

#[test]
fn all_errors_are_reported_together_in_line_order() {
    let bad = FLOW
        .replacen("mach = 0.1", "mach = -1", 1)
        .replacen("derivative", "derivatve", 1)
        .replacen("prandtl = 0.71", "prandtl = \"air\"", 1)
        .replacen("end = 1.0\n", "", 1);
    let found = messages(&bad, &["time.cfl=0", "compute.threads=0"]);
    let starts = [
        "error: in.toml:3: mach = -1",
        "error: in.toml:10: prandtl = \"air\"",
        "error: in.toml:13: unknown key `derivatve`",
        "error: in.toml:18: [time] needs `end` or `max_steps`",
        "error: --set time.cfl=0: cfl = 0",
        "error: --set compute.threads=0: threads = 0",
    ];
    assert_eq!(found.len(), starts.len(), "{found:?}");
    for (message, start) in found.iter().zip(starts) {
        assert!(message.starts_with(start), "{message} does not start with {start}");
    }
}

#[test]
fn first_50_errors_are_reported_and_the_others_counted() {
    // This takes minutes if each error is compared with all earlier ones.
    let keys: String = (0..100_000).map(|n| format!("a{n} = 1\n")).collect();
    let wrong: String = "mach 0.1\n".repeat(100_000);
    for (many, count, last) in [
        (
            FLOW.replacen("[gas]\n", &format!("[gas]\n{keys}"), 1),
            100_000,
            "unknown key `a49` in [gas]",
        ),
        (FLOW.replacen("[gas]\n", &format!("[gas]\n{wrong}"), 1), 1, "not TOML: key with no value"),
    ] {
        let start = std::time::Instant::now();
        let Err(Error::Config(lines)) = parse(&many, "in.toml", &[]) else { panic!("accepted") };
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
        let first = count.min(50);
        assert!(lines[first - 1].contains(last), "{}", lines[first - 1]);
        let (errors, more) = (if count == 1 { "error" } else { "errors" }, count - first);
        let mut end = vec![format!("{count} {errors}; nothing was run")];
        if more > 0 {
            end.insert(0, format!("... and {more} more"));
        }
        assert_eq!(lines[first..], end);
    }
}

#[test]
fn overrides_nested_deeper_than_any_key_are_rejected() {
    // Deep enough to overflow the stack if each level is a recursive call.
    let deep = format!("{}a=1", "a.".repeat(60_000));
    let found = messages(FLOW, &[&deep]);
    assert!(found[0].contains(": a path of more than 8 keys"), "{}", found[0].len());
}

#[test]
fn unreadable_input_files_are_rejected() {
    let directory = tempfile::tempdir().unwrap();
    let error_of = |path: &std::path::Path| match load(path, &[]) {
        Err(Error::Config(lines)) => lines.join("\n"),
        other => panic!("{other:?}"),
    };
    assert!(error_of(directory.path()).contains(": a directory; the input is a TOML file"));
    let path = directory.path().join("in.toml");
    assert!(error_of(&path).contains("in.toml: no such file"));
    std::fs::write(&path, b"[case]\nname = \"\xff\"\n").unwrap();
    assert!(error_of(&path).contains("in.toml:2: not UTF-8 text"));
    std::fs::write(&path, "\n".repeat((4 << 20) + 1)).unwrap();
    let large = error_of(&path);
    assert!(large.contains("in.toml: cannot be read: too large: at most 4194304 bytes"), "{large}");
    std::fs::write(&path, b"").unwrap();
    assert!(error_of(&path).contains("in.toml: [case] needs `name`"));
}

/// Detects a map that panics, or folds without an error, for an invalid section.
#[test]
fn errors_of_bad_aerofoils_name_the_key() {
    const CASE: &str =
        "[case]\nname = 'aerofoil'\n[grid]\npoints = [128, 33, 1]\n[time]\nend = 1\n";
    parse(CASE, "in.toml", &[]).unwrap();
    let rows = [
        ("digits = '12', radius = 0.003, outer = 30", "digits", "not four digits"),
        ("digits = '00a2', radius = 0.003, outer = 30", "digits", "not four digits"),
        ("digits = '0000', radius = 0.003, outer = 30", "digits", "the section is 0 % thick"),
        ("digits = '0012', radius = 0.1, outer = 30", "radius", "touches both sides before"),
        ("digits = '0012', radius = 0.003, outer = 0.5", "outer", "no more than the chord"),
        ("digits = '0012', radius = 0.003, outer = 30, first = 2", "first", "for equal distances"),
        ("digits = '0012', outer = 30", "radius", "the radius of the trailing edge"),
    ];
    for (keys, key, expected) in rows {
        let set = format!("grid.mapping={{ kind = 'naca', {keys} }}");
        let found = messages(CASE, &[&set]);
        assert!(found.len() == 1 && found[0].contains(key), "{keys}: {found:?}");
        assert!(found[0].contains(expected), "{keys}: {found:?}");
    }
    let found = messages(CASE, &["case.angle=120"]);
    assert!(found.len() == 1 && found[0].contains("degrees from the chord"), "{found:?}");
}
