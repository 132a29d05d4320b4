//! What a checkpoint that was found sound cannot be: put together from others, or made up.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use kolmo::comm::Solo;
use kolmo::io::checkpoint::{self, Checkpoint, Head, OutputProgress};
use kolmo::io::{CheckpointConfig, RunId};
use kolmo::time::Simulation;
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_128;

use super::threads::on_ranks;
use super::{Config, config, on_host};
use crate::common::host;

const POINTS: [usize; 3] = [8, 8, 8];

fn vortex() -> Config {
    config("taylor-green", POINTS, &[])
}

/// The checkpoints of some steps of one run in `directory`.
fn run(directory: &Path, steps: &[u64]) -> Vec<PathBuf> {
    run_of(vortex(), directory, steps)
}

fn run_of(config: Config, directory: &Path, steps: &[u64]) -> Vec<PathBuf> {
    let id = RunId::new();
    let mut simulation = on_host(&config);
    let path = |step: &u64| {
        while simulation.steps() < *step {
            simulation.step(None).unwrap();
        }
        let path = checkpoint::path(directory, *step);
        let of = (id, OutputProgress::default());
        let manner = CheckpointConfig::LAST;
        let writing = simulation.begin_to_save(&path, of, manner).unwrap();
        writing.finish(&Solo).unwrap();
        path
    };
    steps.iter().map(path).collect()
}

/// Why the checkpoint at `path` is refused.
fn refusal(path: &Path) -> String {
    Checkpoint::open(&Solo, path).expect_err("is refused").report()
}

/// Put `file` of the checkpoint `other` in the place of `own` of that at `path`, which is refused until it is put back.
fn assert_swap_is_found(path: &Path, own: &str, other: &Path, file: &str) {
    let (own, other) = (path.join(own), other.join(file));
    let sound = fs::read(&own).unwrap();
    fs::copy(&other, &own).unwrap();
    let told = refusal(path);
    assert!(told.contains(own.to_str().unwrap()) && told.contains("checksum does not"), "{told}");
    fs::write(own, sound).unwrap();
    Checkpoint::open(&Solo, path).unwrap();
}

#[test]
fn a_shard_of_another_run_step_or_variable_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let first = run(&dir.path().join("first"), &[1, 2]);
    let viscous = config("taylor-green", POINTS, &["case.reynolds=50"]);
    let other = run_of(viscous, &dir.path().join("other"), &[1]);
    let shard = "momentum_x/c.0.0.0";
    Checkpoint::open(&Solo, &first[0]).unwrap();
    // Of two shards of one length the CRC32C is the same, whatever they hold: only a hash tells them apart.
    let shards = [shard, "momentum_y/c.0.0.0"].map(|file| first[0].join(file));
    let sums = shards.map(|file| crc32c::crc32c(&fs::read(file).unwrap()));
    assert_eq!(sums, [1_884_942_615; 2]);
    assert_swap_is_found(&first[0], shard, &other[0], shard);
    assert_swap_is_found(&first[1], shard, &first[0], shard);
    assert_swap_is_found(&first[0], shard, &first[0], "momentum_y/c.0.0.0");
    // The hash of a file is bound to its run: that of the same bytes in another run is another one.
    let second = run(&dir.path().join("second"), &[1]);
    assert_eq!(fs::read(first[0].join(shard)).unwrap(), fs::read(second[0].join(shard)).unwrap());
    let mut head = attributes(&first[0]);
    head["files"][shard] = attributes(&second[0])["files"][shard].clone();
    forge(&first[0], &head);
    assert!(refusal(&first[0]).contains("its checksum does not match what was written"));
}

#[test]
fn the_directory_of_another_step_is_found_by_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let paths = run(dir.path(), &[1, 2]);
    let aside = dir.path().join("aside.zarr");
    fs::rename(&paths[0], &aside).unwrap();
    fs::rename(&paths[1], &paths[0]).unwrap();
    let told = refusal(&paths[0]);
    assert!(
        told.contains("this is the checkpoint of step 2, not of the step in its name"),
        "{told}"
    );
    // Under a name that says no step it is what it is.
    assert_eq!(Checkpoint::open(&Solo, &aside).unwrap().head.step, 1);
    fs::rename(&aside, &paths[1]).unwrap();
    let (newest, damaged) = Checkpoint::newest(&Solo, dir.path(), None).unwrap();
    assert!(newest.is_none() && damaged.len() == 2);
}

/// What Kolmo writes into the group at `path`.
fn attributes(path: &Path) -> Value {
    let text = fs::read(path.join("zarr.json")).unwrap();
    serde_json::from_slice::<Value>(&text).unwrap()["attributes"]["kolmo"].take()
}

/// Give the group at `path` other attributes, with the checksum that belongs to them: whoever forges one can compute it.
fn forge(path: &Path, attributes: &Value) {
    let mut attributes = attributes.clone();
    let format = attributes["format"].as_u64().unwrap();
    let files: BTreeMap<String, Value> =
        serde_json::from_value(attributes["files"].clone()).unwrap();
    let mut told = json!({ "time": null, "step": null });
    // What is no head has no checksum either.
    if let Ok(head) = serde_json::from_value::<Head>(attributes["head"].clone()) {
        let text = serde_json::to_vec(&(format, &head, &files)).unwrap();
        attributes["checksum"] = json!(format!("{:032x}", xxh3_128(&text)));
        told = json!({ "time": head.time, "step": head.step });
    }
    told["kolmo"] = attributes;
    let group = json!({ "zarr_format": 3, "node_type": "group", "attributes": told });
    fs::write(path.join("zarr.json"), serde_json::to_vec(&group).unwrap()).unwrap();
}

#[test]
fn a_head_that_was_made_up_is_refused_in_a_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let path = &run(dir.path(), &[1])[0];
    let sound = attributes(path);
    forge(path, &sound);
    Checkpoint::open(&Solo, path).unwrap();
    let moments = json!({ "weight": 1.0, "means": [1.0], "pairs": [[7, 7]], "products": [1.0] });
    let running = json!({ "duration": 1.0, "averages": [moments], "last": [0.0, [moments]] });
    let many = json!({ "bytes": 1, "xxh3_128": "0" });
    let mut without_x = sound["files"].clone();
    without_x.as_object_mut().unwrap().retain(|file, _| !file.starts_with("x/"));
    for (at, value, told) in [
        ("/head/references", json!([]), "0 references of 5 fields"),
        ("/head/references", json!([0.0, 0.0]), "2 references of 5 fields"),
        ("/head/references", json!([null, 0.0, 0.0, 0.0, 0.0]), "damaged: "),
        ("/head/points", json!([0, 8, 8]), "points = [0, 8, 8]: must be 1 to 65536"),
        ("/head/points", json!([8, 8, u64::MAX]), "must be 1 to 65536"),
        ("/head/points", json!([8, 9, 8]), "values along z, y, x, not 8 x 9 x 8"),
        ("/head/points", json!([65536, 65536, 65536]), "values along z, y, x, not"),
        ("/head/fields/1", json!("../density"), "fields has \"../density\""),
        ("/head/fields/1", json!("density"), "fields has \"density\""),
        ("/head/fields/1", json!("x"), "fields has \"x\""),
        ("/head/fields/1", json!(""), "fields has \"\""),
        ("/head/fields", json!([]), "it has no fields"),
        ("/head/step", json!(u64::MAX), "step = 18446744073709551615: must be at most"),
        ("/head/step", json!(7), "the checkpoint of step 7, not of the step in its name"),
        ("/head/time", json!(null), "damaged: "),
        ("/head/time", json!(-1.0), "time = -1: must be finite and not negative"),
        ("/head/last_dt", json!(-1.0), "last_dt = -1: must be"),
        ("/head/unfiltered", json!(-1.0), "unfiltered = -1: must be"),
        ("/head/version", json!("\u{1b}[31m"), "no number of a version"),
        ("/head/run", json!("x"), "is not a run ID"),
        ("/head/run", json!(null), "damaged: "),
        ("/head/course/written", json!({ "series": 2 }), "behind step 1"),
        ("/head/course/restarts", json!([9]), "course.restarts = [9]: behind step 1"),
        ("/head/course/pictures", json!(u64::MAX), "course.pictures = "),
        ("/head/course/wall_seconds", json!(-3.0), "course.wall_seconds = -3"),
        ("/head/course/statistics", running, "the averages are not those of the fields"),
        ("/files", json!({}), "it lists no files of \"density\""),
        ("/files", without_x, "it lists no files of \"x\""),
        ("/files/..~1outside", many.clone(), "a file \"../outside\", which none of its fields has"),
        ("/files/density~1..", many.clone(), "which none of its fields has"),
        ("/files/~1etc~1passwd", many, "which none of its fields has"),
    ] {
        let mut forged = sound.clone();
        match at.strip_prefix("/files/") {
            Some(file) => forged["files"][file.replace("~1", "/")] = value,
            None => *forged.pointer_mut(at).unwrap() = value,
        }
        forge(path, &forged);
        let found = Checkpoint::open(&Solo, path);
        let found = found.and_then(|saved| {
            Simulation::resume(host(&vortex().compute), &vortex(), &saved).map(drop)
        });
        let report = found.expect_err(at).report();
        // Of what does not even fit into memory that is said first.
        let too_much = at == "/head/points" && report.contains("GiB of memory");
        assert!(report.contains(told) || too_much, "{at}: {report}");
    }
}

#[test]
fn ranks_that_see_different_directories_go_on_from_one_checkpoint_or_say_so() {
    let dir = tempfile::tempdir().unwrap();
    let [newer, older, other] = ["newer", "older", "other"].map(|name| dir.path().join(name));
    run(&newer, &[1, 2]);
    copy(&checkpoint::path(&newer, 1), &checkpoint::path(&older, 1));
    run(&other, &[1, 2]);
    let newest = |seen: [&Path; 2]| {
        on_ranks(2, |comm| {
            let found = Checkpoint::newest(&*comm, seen[comm.rank()], None);
            let found = found.map(|(found, damaged)| (found.unwrap().head, damaged.len()));
            found.map_err(|why| why.report())
        })
    };
    // Rank 0 chooses, also where others see more.
    for found in newest([older.as_path(), newer.as_path()]) {
        let (head, damaged) = found.unwrap();
        assert_eq!((head.step, damaged), (1, 0));
    }
    // What another rank does not see is not gone on from, and nothing older instead.
    for (seen, what) in [([&newer, &older], "not: "), ([&newer, &other], "it is another one")] {
        for found in newest(seen.map(PathBuf::as_path)) {
            let told = found.unwrap_err();
            assert!(told.contains("step_00000002.zarr: rank 0 finds it sound; here"), "{told}");
            assert!(told.starts_with("rank 1 on ") && told.contains(what), "{told}");
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(path, target).unwrap();
        }
    }
}

#[test]
fn facts_that_differ_are_told_with_the_rank_that_has_them() {
    let told = on_ranks(3, |comm| {
        let own = if comm.rank() == 2 { "50.0" } else { "1600.0" };
        let facts = |value: &str| vec![("case.reynolds".to_string(), value.to_string())];
        kolmo::comm::same_on_all(&*comm, &facts("1600.0")).unwrap();
        kolmo::comm::same_on_all(&*comm, &facts(own)).unwrap_err()
    });
    for error in told {
        let told = error.report();
        assert_eq!(error.exit_code(), 2);
        assert!(told.starts_with("error: rank 2 on "), "{told}");
        assert!(told.contains("from rank 0: case.reynolds = 50.0, not 1600.0"), "{told}");
    }
    // Threads and devices are each rank's own; nothing else is.
    let keys = vortex().shared_keys();
    let has = |name: &str| keys.iter().any(|(key, _)| key == name);
    assert!(has("case.reynolds") && has("compute.precision") && has("grid.points"));
    assert!(!has("compute.threads") && !has("compute.device"));
}
