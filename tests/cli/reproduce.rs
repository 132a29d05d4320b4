//! `kolmo reproduce`: what it lists, refuses and leaves, and numbers that the papers give.

use super::*;

/// The rows of a CSV without its header, as cells.
fn rows(path: &Path) -> Vec<Vec<String>> {
    let text = read(path);
    let cells = |line: &str| line.split(',').map(String::from).collect();
    text.lines().skip(1).map(cells).collect()
}

/// The points of a series of a chart.
fn series(rows: &[Vec<String>], name: &str) -> Vec<[f64; 2]> {
    let own = rows.iter().filter(|row| row[2] == name);
    own.map(|row| [&row[3], &row[4]].map(|cell| cell.parse().unwrap())).collect()
}

/// Catches a figure that is listed and cannot be named, and one that does not say whether it is measured or modelled.
#[test]
fn every_figure_is_listed_with_its_cost_and_what_its_numbers_are() {
    let dir = tempfile::tempdir().unwrap();
    let listed = done(dir.path(), ["reproduce", "list"]).out;
    assert_eq!(listed, done(dir.path(), ["reproduce"]).out);
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
    assert!(names(dir.path()).is_empty(), "a list writes nothing");
}

/// Catches a name that is passed over, a directory of others that is written all the same, and a figure that is begun before all are known.
#[test]
fn an_unknown_figure_and_a_directory_of_something_else_are_refused_before_anything_is_made() {
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
        assert_eq!(outcome.code, Some(2), "{}", outcome.err);
        assert!(outcome.err.contains(message), "{}", outcome.err);
        assert!(outcome.err.contains("kolmo reproduce list"), "{}", outcome.err);
    }
    assert!(names(dir.path()).is_empty());
    let csv = dir.path().join("figures/song-fig2/song-fig2.csv");
    fs::create_dir_all(csv.parent().unwrap()).unwrap();
    fs::write(&csv, "mine").unwrap();
    let both = ["reproduce", "song-fig2", "inverse-decay", "--out", "figures"];
    let refused = |arguments: &[&str], what: &str| {
        let outcome = kolmo(dir.path(), arguments);
        assert_eq!(outcome.code, Some(2), "{}", outcome.err);
        assert!(outcome.err.contains(what), "{}", outcome.err);
        assert!(outcome.err.contains("--overwrite"), "{}", outcome.err);
        assert_eq!(names(&dir.path().join("figures")), ["song-fig2"]);
    };
    refused(&both, "figures/song-fig2 already exists\n");
    assert_eq!(read(&csv), "mine");
    done(dir.path(), ["reproduce", "song-fig2", "--out", "figures", "--overwrite"]);
    assert!(read(&csv).starts_with("round,"));
    // The figure of other options is another one.
    refused(
        &[&both[..], &["--quick"]].concat(),
        "figures/song-fig2 already exists, made by `kolmo reproduce song-fig2`\n",
    );
    fs::write(dir.path().join("file"), "mine").unwrap();
    let outcome = kolmo(dir.path(), ["reproduce", "song-fig2", "--out", "file"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    assert!(outcome.err.contains("file is a file"), "{}", outcome.err);
}

/// Catches a command that cannot be repeated after a signal, or begins anew then; a half-filled directory that passes for a figure.
#[test]
fn the_same_command_again_makes_what_is_not_made_and_leaves_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let both = ["reproduce", "song-fig2", "song-fig7"];
    done(dir.path(), both);
    let file = |id: &str, ending: &str| dir.path().join(format!("reproduce/{id}/{id}{ending}"));
    let text = read(file("song-fig7", ".md"));
    assert!(text.ends_with("\nMade by `kolmo reproduce song-fig7`.\n"), "{text}");
    // As a signal leaves it.
    let begun = "# Song\n\nUnfinished: run the same command again to complete it.\n";
    fs::write(file("song-fig7", ".md"), begun).unwrap();
    fs::remove_file(file("song-fig7", ".csv")).unwrap();
    fs::write(file("song-fig2", ".csv"), "made before").unwrap();
    let told = done(dir.path(), both);
    assert!(
        told.err.contains("reproduce/song-fig2 is complete, and is not changed\n"),
        "{}",
        told.err
    );
    assert_eq!(told.out, "reproduce/song-fig7/song-fig7.md\n");
    assert_eq!(
        (read(file("song-fig2", ".csv")), read(file("song-fig7", ".md"))),
        ("made before".into(), text)
    );
    assert!(read(file("song-fig7", ".csv")).starts_with("round,"));
    // Without its numbers none is made, nor where a kill came as its first file was written.
    fs::remove_file(file("song-fig2", ".csv")).unwrap();
    fs::remove_dir_all(dir.path().join("reproduce/song-fig7")).unwrap();
    fs::create_dir(dir.path().join("reproduce/song-fig7")).unwrap();
    fs::write(file("song-fig7", ".md.part"), "half").unwrap();
    assert_eq!(done(dir.path(), both).out.lines().count(), 2);
}

/// Catches a wait for the other end of a pipe, and figures of other rates that pass for those that are asked for.
#[test]
fn a_figure_of_other_rates_is_made_anew_and_a_pipe_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let (id, rates) = ("song-fig13", dir.path().join("rates.json"));
    let made = ["reproduce", id, "--rates", "rates.json"];
    let given = kolmo::model::Rates::h200();
    fs::write(&rates, serde_json::to_string(&given).unwrap()).unwrap();
    done(dir.path(), made);
    let csv = dir.path().join("reproduce/song-fig13/song-fig13.csv");
    let first = read(&csv);
    fs::write(&rates, serde_json::to_string(&kolmo::model::Rates::core()).unwrap()).unwrap();
    done(dir.path(), made);
    assert_ne!(read(&csv), first);
    let folder = dir.path().join("reproduce/song-fig2");
    fs::create_dir(&folder).unwrap();
    let pipe = Command::new("mkfifo").arg(folder.join("song-fig2.md")).status();
    assert!(pipe.unwrap().success());
    let outcome = kolmo(dir.path(), ["reproduce", "song-fig2"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    assert!(outcome.err.contains("song-fig2 already exists"), "{}", outcome.err);
}

/// Srinath 2015, eq. 1.1 with α = 1/4, a = 3/4 is k'h = 2a sin kh / (1 + 2α cos kh). Song et al. 2022, §3: of 11 cyclic rows 11 is
/// detached first, then 9 and 10, and eight are left. Esfahanian et al. 2014, section 2: 17 N and 8 N − 1 operations. Catches
/// another scheme than that of the thesis, a pattern that is not that of the plan, and rows of a level that are counted twice.
#[test]
fn exact_figures_have_the_numbers_of_the_papers() {
    let dir = tempfile::tempdir().unwrap();
    let figures =
        ["srinath-fig1.1", "song-fig2", "song-fig7", "esfahanian-operations", "inverse-decay"];
    done(dir.path(), [&["reproduce"], &figures[..]].concat());
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
    let from: Vec<&str> =
        cyclic.iter().filter(|row| row[1] == "detach").map(|row| &*row[4]).collect();
    assert_eq!(from, ["11", "11", "9", "9", "10", "10"]);
    let left = cyclic.iter().rfind(|row| row[1] == "reduce").unwrap();
    assert_eq!(left[3], "8");
    let open = rows(&file("song-fig2", ".csv"));
    assert!(open.iter().all(|row| row[1] == "reduce"));
    let strides: Vec<&str> = open.iter().map(|row| &*row[2]).collect();
    // Pairs that are 1, 2 and 4 apart, both ways.
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

/// The model against table 4.2 of the thesis at the time that its rates are taken from. Catches rates in other units, and a model of
/// another derivative.
#[test]
fn the_model_of_one_gpu_has_the_time_that_its_rates_are_taken_from() {
    let dir = tempfile::tempdir().unwrap();
    done(dir.path(), ["reproduce", "srinath-fig4.7"]);
    let all = rows(&dir.path().join("reproduce/srinath-fig4.7/srinath-fig4.7.csv"));
    let modelled = all.iter().find(|row| row[1] == "modelled").unwrap();
    assert_eq!((modelled[3].as_str(), modelled.len()), ("1.0", 5));
    let ms: f64 = modelled[4].parse().unwrap();
    assert!((ms - 19.9).abs() < 0.05, "{ms}");
}

/// Catches a measurement that says neither its command nor its machine, and published numbers that are lost beside it.
#[test]
fn a_measured_table_has_published_and_measured_rows_and_the_command() {
    let dir = tempfile::tempdir().unwrap();
    done(
        dir.path(),
        ["reproduce", "zubair-table2", "--quick", "--repeats", "1", "--backend", "cpu"],
    );
    let all = rows(&dir.path().join("reproduce/zubair-table2/zubair-table2.csv"));
    let basis = |name: &str| all.iter().filter(|row| row[0] == name).count();
    assert_eq!([basis("published"), basis("exact")], [6, 3]);
    // Table II: 6309 points; a box of 17 x 17 x 22.
    assert_eq!((all[0][1].as_str(), all[6][1].as_str()), ("6309", "6358"));
    let text = read(dir.path().join("reproduce/zubair-table2/zubair-table2.md"));
    assert!(text.contains("`kolmo bench blocks --points 17x17x22"), "{text}");
}
