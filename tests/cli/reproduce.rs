//! `kolmo reproduce`: what it lists, rejects and writes, and its agreement with numbers in the papers.

use super::*;

/// The rows of a CSV file without its header, as cells.
fn rows(path: &Path) -> Vec<Vec<String>> {
    let text = read(path);
    let cells = |line: &str| line.split(',').map(String::from).collect();
    text.lines().skip(1).map(cells).collect()
}

/// The points of a series of a chart.
fn series(rows: &[Vec<String>], name: &str) -> Vec<[f64; 2]> {
    let selected = rows.iter().filter(|row| row[2] == name);
    selected.map(|row| [&row[3], &row[4]].map(|cell| cell.parse().unwrap())).collect()
}

/// Catches a figure that is listed without its name, and one that does not state whether it is measured or modelled.
#[test]
fn every_figure_is_listed_with_its_cost_and_the_basis_of_its_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let listed = run_ok(dir.path(), ["reproduce", "list"]).stdout;
    assert_eq!(listed, run_ok(dir.path(), ["reproduce"]).stdout);
    for id in
        ["srinath-fig1.1", "srinath-table4.2", "song-fig7", "esfahanian-sorted", "zubair-fig15"]
    {
        assert!(listed.contains(id), "{id}: {listed}");
    }
    let bases = ["exact", "measured", "modelled", "simulated"];
    let heads = listed.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
    let mut count = 0;
    for line in heads {
        assert!(bases.iter().any(|basis| line.contains(basis)), "{line}");
        assert!(line.trim_end().ends_with(" s") || line.trim_end().ends_with(" min"), "{line}");
        count += 1;
    }
    assert!(count >= 30, "{listed}");
    assert!(file_names(dir.path()).is_empty(), "a list writes nothing");
}

/// Catches an unknown name that is skipped, a foreign directory that is written to, and a figure that is started before all are checked.
#[test]
fn unknown_figures_and_foreign_directories_are_rejected_before_writing() {
    let dir = tempfile::tempdir().unwrap();
    for (arguments, message) in [
        (
            &["srinath-fig1.2"][..],
            "`srinath-fig1.2` is not a figure or table; did you mean `srinath-fig1.1`?",
        ),
        (&["song-fig2", "figure"], "`figure` is not a figure or table"),
        (&["song-fig2", "list"], "`list` is not a figure or table"),
    ] {
        let outcome = kolmo(dir.path(), [&["reproduce"], arguments].concat());
        assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("kolmo reproduce list"), "{}", outcome.stderr);
    }
    assert!(file_names(dir.path()).is_empty());
    let csv = dir.path().join("figures/song-fig2/song-fig2.csv");
    fs::create_dir_all(csv.parent().unwrap()).unwrap();
    fs::write(&csv, "mine").unwrap();
    let both = ["reproduce", "song-fig2", "inverse-decay", "--out", "figures"];
    let rejects = |arguments: &[&str], message: &str| {
        let outcome = kolmo(dir.path(), arguments);
        assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("--overwrite"), "{}", outcome.stderr);
        assert_eq!(file_names(&dir.path().join("figures")), ["song-fig2"]);
    };
    rejects(&both, "figures/song-fig2 already exists\n");
    assert_eq!(read(&csv), "mine");
    run_ok(dir.path(), ["reproduce", "song-fig2", "--out", "figures", "--overwrite"]);
    assert!(read(&csv).starts_with("round,"));
    // The same figure with other options is a different figure.
    rejects(
        &[&both[..], &["--quick"]].concat(),
        "figures/song-fig2 already exists, made by `kolmo reproduce song-fig2`\n",
    );
    fs::write(dir.path().join("file"), "mine").unwrap();
    let outcome = kolmo(dir.path(), ["reproduce", "song-fig2", "--out", "file"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("file is a file"), "{}", outcome.stderr);
}

/// Catches a command that cannot be repeated after a signal, or then starts over; and an incomplete directory that passes for a figure.
#[test]
fn the_same_command_again_completes_missing_figures_and_keeps_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let both = ["reproduce", "song-fig2", "song-fig7"];
    run_ok(dir.path(), both);
    let file = |id: &str, ending: &str| dir.path().join(format!("reproduce/{id}/{id}{ending}"));
    let text = read(file("song-fig7", ".md"));
    assert!(text.ends_with("\nMade by `kolmo reproduce song-fig7`.\n"), "{text}");
    // The state after an interrupt by a signal.
    let unfinished = "# Song\n\nUnfinished: run the same command again to complete it.\n";
    fs::write(file("song-fig7", ".md"), unfinished).unwrap();
    fs::remove_file(file("song-fig7", ".csv")).unwrap();
    fs::write(file("song-fig2", ".csv"), "made before").unwrap();
    let outcome = run_ok(dir.path(), both);
    assert!(
        outcome.stderr.contains("reproduce/song-fig2 is complete, and is not changed\n"),
        "{}",
        outcome.stderr
    );
    assert_eq!(outcome.stdout, "reproduce/song-fig7/song-fig7.md\n");
    assert_eq!(
        (read(file("song-fig2", ".csv")), read(file("song-fig7", ".md"))),
        ("made before".into(), text)
    );
    assert!(read(file("song-fig7", ".csv")).starts_with("round,"));
    // A figure without its CSV file is incomplete, and so is one that was killed while its first file was written.
    fs::remove_file(file("song-fig2", ".csv")).unwrap();
    fs::remove_dir_all(dir.path().join("reproduce/song-fig7")).unwrap();
    fs::create_dir(dir.path().join("reproduce/song-fig7")).unwrap();
    fs::write(file("song-fig7", ".md.part"), "half").unwrap();
    assert_eq!(run_ok(dir.path(), both).stdout.lines().count(), 2);
}

/// Catches a read that blocks on a pipe, and figures with other rates that pass for the requested ones.
#[test]
fn a_figure_with_other_rates_is_recomputed_and_a_pipe_is_not_a_figure() {
    let dir = tempfile::tempdir().unwrap();
    let (id, rates) = ("song-fig13", dir.path().join("rates.json"));
    let command = ["reproduce", id, "--rates", "rates.json"];
    let h200 = kolmo::model::Rates::h200();
    fs::write(&rates, serde_json::to_string(&h200).unwrap()).unwrap();
    run_ok(dir.path(), command);
    let csv = dir.path().join("reproduce/song-fig13/song-fig13.csv");
    let first = read(&csv);
    fs::write(&rates, serde_json::to_string(&kolmo::model::Rates::core()).unwrap()).unwrap();
    run_ok(dir.path(), command);
    assert_ne!(read(&csv), first);
    let folder = dir.path().join("reproduce/song-fig2");
    fs::create_dir(&folder).unwrap();
    let pipe = Command::new("mkfifo").arg(folder.join("song-fig2.md")).status();
    assert!(pipe.unwrap().success());
    let outcome = kolmo(dir.path(), ["reproduce", "song-fig2"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("song-fig2 already exists"), "{}", outcome.stderr);
}

/// Srinath 2015, eq. 1.1 with α = 1/4, a = 3/4 is k'h = 2a sin kh / (1 + 2α cos kh). Song et al. 2022, §3: of 11 cyclic rows, row 11
/// is detached first, then rows 9 and 10, and eight rows remain. Esfahanian et al. 2014, section 2: 17 N and 8 N − 1 operations.
/// Catches a scheme other than that of the thesis, a pattern that differs from the plan, and rows of a level that are counted twice.
#[test]
fn exact_figures_have_the_numbers_of_the_papers() {
    let dir = tempfile::tempdir().unwrap();
    let figures =
        ["srinath-fig1.1", "song-fig2", "song-fig7", "esfahanian-operations", "inverse-decay"];
    run_ok(dir.path(), [&["reproduce"], &figures[..]].concat());
    let file = |id: &str, ending: &str| dir.path().join(format!("reproduce/{id}/{id}{ending}"));
    for id in figures {
        let (svg, text) = (read(file(id, ".svg")), read(file(id, ".md")));
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{id}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{id}");
        for part in ["**The paper.**", "**Here** (exact).", "**The difference.**"] {
            assert!(text.contains(part), "{id}: {text}");
        }
    }
    let compact4 = series(&rows(&file("srinath-fig1.1", ".csv")), "compact4");
    assert_eq!(compact4.len(), 65);
    for [w, found] in compact4 {
        let expected = 2.0 * 0.75 * w.sin() / (1.0 + 2.0 * 0.25 * w.cos());
        assert!((found - expected).abs() < 1e-14, "{found} at {w}, not {expected}");
    }
    let cyclic = rows(&file("song-fig7", ".csv"));
    let detached: Vec<&str> =
        cyclic.iter().filter(|row| row[1] == "detach").map(|row| &*row[4]).collect();
    assert_eq!(detached, ["11", "11", "9", "9", "10", "10"]);
    let remaining = cyclic.iter().rfind(|row| row[1] == "reduce").unwrap();
    assert_eq!(remaining[3], "8");
    let open = rows(&file("song-fig2", ".csv"));
    assert!(open.iter().all(|row| row[1] == "reduce"));
    let strides: Vec<&str> = open.iter().map(|row| &*row[2]).collect();
    // Pairs at distances of 1, 2 and 4, in both directions.
    let count = |stride: &str| strides.iter().filter(|own| **own == stride).count();
    assert_eq!([count("1"), count("2"), count("4")], [14, 12, 8]);
    let operations = rows(&file("esfahanian-operations", ".csv"));
    let last = |name: &str| {
        let own: Vec<_> =
            operations.iter().filter(|row| row[1] == "exact" && row[2] == name).collect();
        own.last().unwrap()[4].parse::<f64>().unwrap()
    };
    assert!((16.9..=17.0).contains(&last("cr")), "{}", last("cr"));
    assert!((7.99..=8.0).contains(&last("thomas; factored as it goes")));
}

/// The model against table 4.2 of the thesis, for the time from which its rates are derived. Catches rates in other units, and a model
/// of another derivative.
#[test]
fn single_gpu_model_gives_the_time_from_which_its_rates_are_derived() {
    let dir = tempfile::tempdir().unwrap();
    run_ok(dir.path(), ["reproduce", "srinath-fig4.7"]);
    let all = rows(&dir.path().join("reproduce/srinath-fig4.7/srinath-fig4.7.csv"));
    let modelled = all.iter().find(|row| row[1] == "modelled").unwrap();
    assert_eq!((modelled[3].as_str(), modelled.len()), ("1.0", 5));
    let ms: f64 = modelled[4].parse().unwrap();
    assert!((ms - 19.9).abs() < 0.05, "{ms}");
}

/// Catches a measurement that states neither its command nor its machine, and published numbers that are missing beside it.
#[test]
fn a_measured_table_has_published_and_computed_rows_and_its_command() {
    let dir = tempfile::tempdir().unwrap();
    run_ok(
        dir.path(),
        ["reproduce", "zubair-table2", "--quick", "--repeats", "1", "--backend", "cpu"],
    );
    let all = rows(&dir.path().join("reproduce/zubair-table2/zubair-table2.csv"));
    let basis = |name: &str| all.iter().filter(|row| row[0] == name).count();
    assert_eq!([basis("published"), basis("exact")], [6, 3]);
    // Table II has 6309 points; a box of 17 x 17 x 22 has 6358.
    assert_eq!((all[0][1].as_str(), all[6][1].as_str()), ("6309", "6358"));
    let text = read(dir.path().join("reproduce/zubair-table2/zubair-table2.md"));
    assert!(text.contains("`kolmo bench blocks --points 17x17x22"), "{text}");
}
