//! The corpus of inputs found by a fuzzer (see fuzz/README.md): none makes the program panic.

use std::fs;
use std::path::Path;

use kolmo::config::parse;
use kolmo::io::checkpoint::Head;

use crate::common::root;

/// The bytes of every file in a folder of the corpus.
fn corpus(kind: &str) -> Vec<Vec<u8>> {
    let folder = root().join("fuzz/corpus").join(kind);
    let files = fs::read_dir(folder).unwrap().map(|file| fs::read(file.unwrap().path()).unwrap());
    files.collect()
}

#[test]
fn corpus_inputs_are_rejected_or_unchanged_when_resolved() {
    let inputs = corpus("config");
    assert!(inputs.len() >= 20);
    let texts = inputs.iter().filter_map(|bytes| std::str::from_utf8(bytes).ok());
    let valid = texts.filter_map(|text| parse(text, "input", &[]).ok()).map(|config| {
        assert_eq!(parse(&config.to_toml(), "resolved", &[]).unwrap(), config);
    });
    assert!(valid.count() >= 6);
}

#[test]
fn corpus_checkpoint_metadata_are_rejected_or_round_trip() {
    let heads = corpus("checkpoint");
    assert!(heads.len() >= 3);
    let valid = heads.iter().filter(|text| Head::parse(text, Path::new("zarr.json")).is_ok());
    assert!(valid.count() >= 1);
    for head in heads.iter().filter_map(|text| serde_json::from_slice::<Head>(text).ok()) {
        let again = serde_json::to_vec(&head).unwrap();
        assert_eq!(serde_json::from_slice::<Head>(&again).unwrap(), head);
    }
}
