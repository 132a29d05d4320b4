//! Inputs that a fuzzer found worth keeping (see fuzz/README.md): none makes the program break.

use std::fs;
use std::path::Path;

use kolmo::config::parse;
use kolmo::io::checkpoint::Head;

use crate::common::root;

/// The bytes of every file in a folder of the corpus.
fn corpus(of: &str) -> Vec<Vec<u8>> {
    let folder = root().join("fuzz/corpus").join(of);
    let files = fs::read_dir(folder).unwrap().map(|file| fs::read(file.unwrap().path()).unwrap());
    files.collect()
}

#[test]
fn an_input_of_the_corpus_is_refused_or_means_the_same_once_it_is_resolved() {
    let inputs = corpus("config");
    assert!(inputs.len() >= 20);
    let texts = inputs.iter().filter_map(|bytes| std::str::from_utf8(bytes).ok());
    let sound = texts.filter_map(|text| parse(text, "input", &[]).ok()).map(|config| {
        assert_eq!(parse(&config.to_toml(), "resolved", &[]).unwrap(), config);
    });
    assert!(sound.count() >= 6);
}

#[test]
fn a_head_of_the_corpus_is_refused_or_sound() {
    let heads = corpus("checkpoint");
    assert!(heads.len() >= 3);
    let sound = heads.iter().filter(|text| Head::parse(text, Path::new("zarr.json")).is_ok());
    assert!(sound.count() >= 1);
    for head in heads.iter().filter_map(|text| serde_json::from_slice::<Head>(text).ok()) {
        let again = serde_json::to_vec(&head).unwrap();
        assert_eq!(serde_json::from_slice::<Head>(&again).unwrap(), head);
    }
}
