//! Checkpoints that contain files of other checkpoints, or forged metadata, are rejected.

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

/// Writes checkpoints of these steps of one run into `directory`.
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
        let settings = CheckpointConfig::LAST;
        let writing = simulation.begin_to_save(&path, of, settings).unwrap();
        writing.finish(&Solo).unwrap();
        path
    };
    steps.iter().map(path).collect()
}

/// Returns the reason why the checkpoint at `path` is rejected.
fn rejection(path: &Path) -> String {
    Checkpoint::open(&Solo, path).expect_err("is rejected").report()
}

/// Replaces `own` of the checkpoint at `path` by `file` of the checkpoint `other`. The checkpoint is rejected until `own` is restored.
fn assert_swap_is_detected(path: &Path, own: &str, other: &Path, file: &str) {
    let (own, other) = (path.join(own), other.join(file));
    let sound = fs::read(&own).unwrap();
    fs::copy(&other, &own).unwrap();
    let message = rejection(path);
    assert!(
        message.contains(own.to_str().unwrap()) && message.contains("checksum does not"),
        "{message}"
    );
    fs::write(own, sound).unwrap();
    Checkpoint::open(&Solo, path).unwrap();
}

#[test]
fn shard_of_another_run_step_or_variable_is_detected() {
    let dir = tempfile::tempdir().unwrap();
    let first = run(&dir.path().join("first"), &[1, 2]);
    let viscous = config("taylor-green", POINTS, &["case.reynolds=50"]);
    let other = run_of(viscous, &dir.path().join("other"), &[1]);
    let shard = "momentum_x/c.0.0.0";
    Checkpoint::open(&Solo, &first[0]).unwrap();
    // Two shards of the same length have the same CRC32C, whatever they contain: only a hash distinguishes them.
    let shards = [shard, "momentum_y/c.0.0.0"].map(|file| first[0].join(file));
    let sums = shards.map(|file| crc32c::crc32c(&fs::read(file).unwrap()));
    assert_eq!(sums, [1_884_942_615; 2]);
    assert_swap_is_detected(&first[0], shard, &other[0], shard);
    assert_swap_is_detected(&first[1], shard, &first[0], shard);
    assert_swap_is_detected(&first[0], shard, &first[0], "momentum_y/c.0.0.0");
    // The hash of a file depends on its run: the same bytes have another hash in another run.
    let second = run(&dir.path().join("second"), &[1]);
    assert_eq!(fs::read(first[0].join(shard)).unwrap(), fs::read(second[0].join(shard)).unwrap());
    let mut head = attributes(&first[0]);
    head["files"][shard] = attributes(&second[0])["files"][shard].clone();
    forge(&first[0], &head);
    assert!(rejection(&first[0]).contains("its checksum does not match what was written"));
}

#[test]
fn checkpoint_under_the_name_of_another_step_is_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let paths = run(dir.path(), &[1, 2]);
    let aside = dir.path().join("aside.zarr");
    fs::rename(&paths[0], &aside).unwrap();
    fs::rename(&paths[1], &paths[0]).unwrap();
    let message = rejection(&paths[0]);
    assert!(
        message.contains("this is the checkpoint of step 2, not of the step in its name"),
        "{message}"
    );
    // Under a name without a step it is accepted.
    assert_eq!(Checkpoint::open(&Solo, &aside).unwrap().head.step, 1);
    fs::rename(&aside, &paths[1]).unwrap();
    let (newest, damaged) = Checkpoint::newest(&Solo, dir.path(), None).unwrap();
    assert!(newest.is_none() && damaged.len() == 2);
}

/// Returns the attributes that Kolmo wrote into the group at `path`.
fn attributes(path: &Path) -> Value {
    let text = fs::read(path.join("zarr.json")).unwrap();
    serde_json::from_slice::<Value>(&text).unwrap()["attributes"]["kolmo"].take()
}

/// Gives the group at `path` other attributes with their valid checksum, which anyone who forges a checkpoint can compute.
fn forge(path: &Path, attributes: &Value) {
    let mut attributes = attributes.clone();
    let format = attributes["format"].as_u64().unwrap();
    let files: BTreeMap<String, Value> =
        serde_json::from_value(attributes["files"].clone()).unwrap();
    let mut group_attributes = json!({ "time": null, "step": null });
    // Attributes without a valid head have no checksum.
    if let Ok(head) = serde_json::from_value::<Head>(attributes["head"].clone()) {
        let text = serde_json::to_vec(&(format, &head, &files)).unwrap();
        attributes["checksum"] = json!(format!("{:032x}", xxh3_128(&text)));
        group_attributes = json!({ "time": head.time, "step": head.step });
    }
    group_attributes["kolmo"] = attributes;
    let group = json!({ "zarr_format": 3, "node_type": "group", "attributes": group_attributes });
    fs::write(path.join("zarr.json"), serde_json::to_vec(&group).unwrap()).unwrap();
}

#[test]
fn forged_checkpoint_head_is_rejected_with_the_reason() {
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
    for (at, value, reason) in [
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
        // Points that do not fit into memory are reported first.
        let too_much = at == "/head/points" && report.contains("GiB of memory");
        assert!(report.contains(reason) || too_much, "{at}: {report}");
    }
}

#[test]
fn ranks_with_different_directories_use_one_checkpoint_or_report_an_error() {
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
    // Rank 0 chooses, even if other ranks see a newer checkpoint.
    for found in newest([older.as_path(), newer.as_path()]) {
        let (head, damaged) = found.unwrap();
        assert_eq!((head.step, damaged), (1, 0));
    }
    // A checkpoint that another rank does not see is not used, and neither is an older one instead.
    for (seen, reason) in [([&newer, &older], "not: "), ([&newer, &other], "it is another one")] {
        for found in newest(seen.map(PathBuf::as_path)) {
            let message = found.unwrap_err();
            assert!(
                message.contains("step_00000002.zarr: rank 0 finds it sound; here"),
                "{message}"
            );
            assert!(message.starts_with("rank 1 on ") && message.contains(reason), "{message}");
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
fn inputs_that_differ_are_reported_with_their_rank_and_key() {
    let errors = on_ranks(3, |comm| {
        let own = if comm.rank() == 2 { "50.0" } else { "1600.0" };
        let facts = |value: &str| vec![("case.reynolds".to_string(), value.to_string())];
        kolmo::comm::same_on_all(&*comm, &facts("1600.0")).unwrap();
        kolmo::comm::same_on_all(&*comm, &facts(own)).unwrap_err()
    });
    for error in errors {
        let message = error.report();
        assert_eq!(error.exit_code(), 2);
        assert!(message.starts_with("error: rank 2 on "), "{message}");
        assert!(message.contains("from rank 0: case.reynolds = 50.0, not 1600.0"), "{message}");
    }
    // Only the threads and the device may differ between ranks.
    let keys = vortex().shared_keys();
    let has = |name: &str| keys.iter().any(|(key, _)| key == name);
    assert!(has("case.reynolds") && has("compute.precision") && has("grid.points"));
    assert!(!has("compute.threads") && !has("compute.device"));
}
