//! Modules form layers, which the developer guide lists from the top. A module imports only from layers below its own. Detects
//! an import that makes a cycle between folders.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::root;

/// The layers of the developer guide, lowest first: the first block of text below "The map".
fn layers() -> Vec<Vec<String>> {
    let guide = fs::read_to_string(root().join("docs/developer-guide.md")).unwrap();
    let map = guide.split_once("## The map").unwrap().1;
    let block = map.split_once("```text\n").unwrap().1.split_once("```").unwrap().0;
    let words = |line: &str| line.split_whitespace().map(String::from).collect();
    let mut layers: Vec<Vec<String>> = block.lines().map(words).collect();
    layers.reverse();
    layers
}

/// The module of a file of `src`: its folder in `src`, or its own name.
fn module(file: &Path) -> String {
    let within = file.strip_prefix(root().join("src")).unwrap();
    let first = within.components().next().unwrap().as_os_str().to_str().unwrap();
    first.trim_end_matches(".rs").into()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The names after `crate::` or `kolmo::` in the code of a file, without comments and unit tests.
fn imports(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let lines = code.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    let code = lines.collect::<Vec<_>>().join("\n");
    let word = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut found = BTreeSet::new();
    for rest in ["crate::", "kolmo::"].iter().flat_map(|start| code.split(start).skip(1)) {
        let Some(group) = rest.strip_prefix('{') else {
            found.insert(word(rest));
            continue;
        };
        let (mut depth, mut begin) = (0, 0);
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => {
                    found.insert(word(&group[begin..at]));
                    break;
                }
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    found.insert(word(&group[begin..at]));
                    begin = at + 1;
                }
                _ => {}
            }
        }
    }
    found
}

#[test]
fn every_module_is_in_one_layer_and_imports_only_from_lower_ones() {
    let layers = layers();
    let layer = |name: &str| layers.iter().position(|names| names.iter().any(|n| n == name));
    let (mut modules, mut wrong) = (BTreeSet::new(), Vec::new());
    for file in
        files(&root().join("src")).iter().filter(|f| f.extension().is_some_and(|e| e == "rs"))
    {
        let own = module(file);
        if own == "lib" {
            continue;
        }
        let Some(at) = layer(&own) else { panic!("`{own}` is missing in docs/developer-guide.md") };
        modules.insert(own.clone());
        for other in imports(&fs::read_to_string(file).unwrap()) {
            if other != own && layer(&other).is_some_and(|other| other >= at) {
                wrong.push(format!("{}: {other}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "imports from the same layer or a higher one:\n{}", wrong.join("\n"));
    let listed: Vec<String> = layers.concat();
    assert_eq!(listed.iter().cloned().collect::<BTreeSet<_>>(), modules, "listed modules");
    assert_eq!(listed.len(), modules.len(), "a module in two layers");
}

#[test]
fn imports_are_found_in_groups_and_paths_and_not_in_comments() {
    let text = "use crate::{a::{b, c}, d};\nfn f() { crate::e::g(); } // crate::h\nuse kolmo::i;\n";
    let found: Vec<String> = imports(text).into_iter().collect();
    assert_eq!(found, ["a", "d", "e", "i"]);
}
