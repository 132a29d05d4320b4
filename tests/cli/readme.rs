//! Runs every command that the documentation shows, at reduced size.

use super::*;

/// Commands that these tests do not run: `./test` runs the tests, creates the environment, and installs program and package itself.
const NOT_RUN: [&str; 4] = [
    "./test",
    "python3 -m venv .venv",
    ".venv/bin/pip install './python[plot]'",
    "cargo install --path .",
];

/// The commands in the code blocks of a text: lines that start with one of the programs listed below.
fn commands(text: &str) -> Vec<String> {
    let mut fenced = None;
    let mut commands = Vec::new();
    for line in text.replace("\\\n", " ").lines() {
        if let Some(kind) = line.strip_prefix("```") {
            fenced = if fenced.is_some() { None } else { Some(kind.to_string()) };
            continue;
        }
        // Blocks in other languages show output and input files.
        let is_shell =
            fenced.as_deref() == Some("sh") || (fenced.is_none() && line.starts_with("    "));
        let is_command = ["kolmo ", "mpirun ", "cargo ", "./", ".venv/", "python3 "]
            .iter()
            .any(|p| line.trim().starts_with(p));
        match (is_shell, is_command) {
            (true, true) => commands.push(line.split(" #").next().unwrap().trim().to_string()),
            (true, false) if fenced.is_some() => panic!("no test runs `{line}`"),
            _ => {}
        }
    }
    commands
}

/// The command with few points and few steps.
fn reduced(command: &str) -> String {
    let command = command.replace("cargo run --release --", "kolmo");
    // Without network access: the environment that `./test` created must contain all packages.
    let command = command.replace("pip install ", "pip install --quiet --no-index ");
    // The tests of `kolmo verify` run all of it.
    if command == "kolmo verify --quick" {
        return format!("{command} filters");
    }
    if command.contains("kolmo bench blocks") {
        return format!("{command} --points 8 --nb 1-3 --repeats 1");
    }
    if command.contains("kolmo bench ") {
        return format!("{} --points 20 --repeats 1", command.replace("--table4.1", ""));
    }
    if !command.contains("kolmo run ") {
        return command;
    }
    let flat = ["isentropic", "wave", "scalar"].iter().any(|word| command.contains(word));
    // With fewer points than these, the grid around an aerofoil folds.
    let points = match (flat, command.contains("aerofoil")) {
        (true, _) => "[18, 18, 1]",
        (_, true) => "[64, 33, 1]",
        _ => "[18, 18, 18]",
    };
    format!("{command} --set 'grid.points={points}' --set time.max_steps=2")
}

/// The command, adapted to the MPI launcher of the tests if it starts several ranks.
fn with_test_launcher(command: &str) -> String {
    if command.starts_with("mpirun ") {
        let set = crate::ranks::ENVIRONMENT.map(|(name, value)| format!("export {name}={value}; "));
        let launcher = crate::ranks::launcher();
        return set.concat() + &command.replacen("mpirun", &launcher.display().to_string(), 1);
    }
    command.into()
}

/// Runs every command of `text`, in order, in a directory with the shipped inputs and scripts; returns the commands.
fn run_all(name: &str, text: &str, overwrite: bool) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    for part in ["cases", "configs", "postprocess", ".venv"] {
        std::os::unix::fs::symlink(root().join(part), dir.path().join(part)).unwrap();
    }
    let program = Path::new(program()).parent().unwrap().display();
    let commands = commands(text);
    for command in commands.iter().filter(|command| !NOT_RUN.contains(&command.as_str())) {
        let mut line = reduced(command);
        if overwrite && line.contains("kolmo run") {
            line += " --overwrite";
        }
        // Kernels that PoCL compiles run only for a moment, so optimization does not pay off.
        let set = format!("PATH={program}:$PATH; export POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable");
        let outcome = shell(dir.path(), &format!("{set}; {}", with_test_launcher(&line)));
        assert_eq!(outcome.code, Some(0), "{name}: {line}\n{}", outcome.stderr);
    }
    commands
}

#[test]
fn commands_of_the_readme_run_in_the_given_order() {
    let text = read(root().join("README.md"));
    let commands = run_all("README.md", &text, false);
    assert_eq!(commands[0], "cargo run --release -- run taylor-green");
    assert_eq!(commands[1], "./test");
    assert!(commands.len() >= 14, "{commands:?}");
}

#[test]
fn every_command_of_the_guides_and_case_readmes_runs() {
    let root = root();
    let cases = kolmo::cases::NAMES.map(|case| root.join("cases").join(case).join("README.md"));
    let mut texts = cases.to_vec();
    let docs = file_names(&root.join("docs"));
    texts.extend(
        docs.iter().filter(|n| n.ends_with(".md")).map(|name| root.join("docs").join(name)),
    );
    let count: usize = texts
        .iter()
        .map(|path| run_all(&path.display().to_string(), &read(path), true).len())
        .sum();
    assert!(count >= 12, "{count}");
}

#[test]
fn links_of_readme_and_docs_resolve_and_the_readme_lists_every_case() {
    let root = root();
    let mut texts = vec![root.join("README.md")];
    let docs = file_names(&root.join("docs"));
    texts.extend(
        docs.iter().filter(|n| n.ends_with(".md")).map(|name| root.join("docs").join(name)),
    );
    for path in texts {
        let text = read(&path);
        for link in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            let target = link.split('#').next().unwrap();
            if !target.is_empty() && !target.starts_with("http") {
                let exists = path.parent().unwrap().join(target).exists();
                assert!(exists, "{}: {link}", path.display());
            }
        }
    }
    let readme = read(root.join("README.md"));
    for case in kolmo::cases::NAMES {
        assert!(readme.contains(&format!("[`{case}`](cases/{case}/README.md)")), "{case}");
    }
}
