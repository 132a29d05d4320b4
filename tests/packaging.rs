//! Package recipes and job scripts: their versions, commands and options match this program.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{program, root};

/// All files below these folders, with their text.
fn texts(folders: &[&str]) -> Vec<(PathBuf, String)> {
    let mut pending: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    let mut texts = Vec::new();
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            texts.push((path.clone(), fs::read_to_string(&path).unwrap()));
        }
    }
    texts
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The value of a key of `Cargo.toml`.
fn cargo(key: &str) -> String {
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    manifest["package"][key].as_str().unwrap().to_string()
}

#[test]
fn recipes_have_the_program_version_and_the_minimum_compiler_version() {
    let (version, rust) = (cargo("version"), cargo("rust-version"));
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    let eb = read(&format!("packaging/easybuild/Kolmo-{version}-gompi-2025b.eb"));
    assert!(eb.contains(&format!("\nversion = '{version}'\n")), "{eb}");
    assert!(eb.contains(&format!("[('Rust', '{rust}.")), "{eb}");
    let spack = read("packaging/spack/spack_repo/kolmo/packages/kolmo/package.py");
    assert!(spack.contains(&format!("    version(\"{version}\", sha256=\"")), "{spack}");
    assert!(spack.contains(&format!("/kolmo-{version}.tar.gz\"")), "{spack}");
    assert!(spack.contains(&format!("depends_on(\"rust@{rust}:\"")), "{spack}");
    // The images have the version of NVRTC that the tests compile kernels with.
    let tested = read("tests/requirements.txt");
    for image in ["packaging/docker/Dockerfile", "packaging/apptainer/kolmo.def"] {
        let image = read(image);
        assert!(image.contains(&format!("rust:{rust}-slim-bookworm")), "{image}");
        let compiler = image.split_whitespace().find(|word| word.starts_with("nvidia-cuda-nvrtc"));
        assert!(tested.lines().any(|line| Some(line) == compiler), "{compiler:?}");
    }
}

/// The commands of `kolmo` in a text, with their options.
fn commands(text: &str) -> Vec<Vec<String>> {
    let text = text.replace("\\\n", " ");
    let mut found = Vec::new();
    for line in text.lines() {
        for rest in line.split("kolmo ").skip(1) {
            let end = rest.find(['>', '#', '|', '`', ')', ';', '&']).unwrap_or(rest.len());
            let words: Vec<String> = rest[..end]
                .split_whitespace()
                .map(|word| word.trim_matches(['"', '\'', ',', '.']).into())
                .collect();
            if words.first().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
            {
                found.push(words);
            }
        }
    }
    found
}

#[test]
fn commands_and_options_in_recipes_and_job_scripts_exist() {
    let mut pages: BTreeMap<Vec<String>, String> = BTreeMap::new();
    let mut page = |command: &[String]| {
        let help = || {
            let mut program = Command::new(program());
            let output = program.args(command).arg("--help").output().unwrap();
            assert!(output.status.success(), "`kolmo {}` is not a command", command.join(" "));
            String::from_utf8(output.stdout).unwrap()
        };
        pages.entry(command.to_vec()).or_insert_with(help).clone()
    };
    let mut count = 0;
    for (path, text) in texts(&["packaging", "configs/cluster"]) {
        for words in commands(&text) {
            let depth = if words[0] == "bench" { 2 } else { 1 };
            let help = page(&words[..depth.min(words.len())]);
            for option in words.iter().filter(|word| word.starts_with("--") && word.len() > 2) {
                let name = option.split('=').next().unwrap();
                assert!(
                    help.contains(&format!("{name} ")) || help.contains(&format!("{name}\n")),
                    "{}: `kolmo {}`",
                    path.display(),
                    words.join(" ")
                );
            }
            count += 1;
        }
    }
    assert!(count >= 15, "{count}");
}

#[test]
fn scripts_and_recipes_have_valid_syntax() {
    let mut count = 0;
    for (path, text) in texts(&["packaging", "configs/cluster"]) {
        let end = path.extension().map(|end| end.to_string_lossy().into_owned());
        let checked = match end.as_deref() {
            Some("sh" | "slurm") => Command::new("bash").arg("-n").arg(&path).output(),
            Some("py" | "eb") => python(&path),
            None if text.starts_with("#!/usr/bin/env python3") => python(&path),
            _ => continue,
        };
        let checked = checked.unwrap();
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
        count += 1;
    }
    assert!(count >= 9, "{count}");
}

fn python(path: &Path) -> std::io::Result<std::process::Output> {
    let script = "import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])";
    Command::new("python3").args(["-c", script]).arg(path).output()
}
