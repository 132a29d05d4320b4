//! Every command that the texts show is run, at reduced size.

use super::*;

/// Commands that no test runs: `./test` runs the tests, makes the environment, and installs program and package itself.
const NOT_HERE: [&str; 4] = [
    "./test",
    "python3 -m venv .venv",
    ".venv/bin/pip install './python[plot]'",
    "cargo install --path .",
];

/// The commands in the code blocks of a text: lines that begin with a program of ours.
fn commands(text: &str) -> Vec<String> {
    let mut fenced = None;
    let mut commands = Vec::new();
    for line in text.replace("\\\n", " ").lines() {
        if let Some(kind) = line.strip_prefix("```") {
            fenced = if fenced.is_some() { None } else { Some(kind.to_string()) };
            continue;
        }
        // Blocks that are no shell's are outputs and inputs.
        let shell =
            fenced.as_deref() == Some("sh") || (fenced.is_none() && line.starts_with("    "));
        let ours = ["kolmo ", "mpirun ", "cargo ", "./", ".venv/", "python3 "]
            .iter()
            .any(|p| line.trim().starts_with(p));
        match (shell, ours) {
            (true, true) => commands.push(line.split(" #").next().unwrap().trim().to_string()),
            (true, false) if fenced.is_some() => panic!("`{line}` is run by no test"),
            _ => {}
        }
    }
    commands
}

/// The command on few points and for few steps.
fn reduced(command: &str) -> String {
    let command = command.replace("cargo run --release --", "kolmo");
    // Without the network: the environment that `./test` made has to have it all.
    let command = command.replace("pip install ", "pip install --quiet --no-index ");
    // All of it is run by the tests of `kolmo verify`.
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
    // Fewer points than these fold the grid about an aerofoil.
    let points = match (flat, command.contains("aerofoil")) {
        (true, _) => "[18, 18, 1]",
        (_, true) => "[64, 33, 1]",
        _ => "[18, 18, 18]",
    };
    format!("{command} --set 'grid.points={points}' --set time.max_steps=2")
}

/// A command for many ranks as it has to be typed for the launcher of the tests.
fn launched(command: &str) -> String {
    if command.starts_with("mpirun ") {
        let set = crate::ranks::ENVIRONMENT.map(|(name, value)| format!("export {name}={value}; "));
        let launcher = crate::ranks::launcher();
        return set.concat() + &command.replacen("mpirun", &launcher.display().to_string(), 1);
    }
    command.into()
}

/// Type every command of `text`, in order, in a directory with the shipped inputs and scripts; returns them.
fn type_all(name: &str, text: &str, alternatives: bool) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    for part in ["cases", "configs", "postprocess", ".venv"] {
        std::os::unix::fs::symlink(root().join(part), dir.path().join(part)).unwrap();
    }
    let program = Path::new(program()).parent().unwrap().display();
    let commands = commands(text);
    for command in commands.iter().filter(|command| !NOT_HERE.contains(&command.as_str())) {
        let mut line = reduced(command);
        if alternatives && line.contains("kolmo run") {
            line += " --overwrite";
        }
        // What PoCL compiles works a moment.
        let set = format!("PATH={program}:$PATH; export POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable");
        let outcome = shell(dir.path(), &format!("{set}; {}", launched(&line)));
        assert_eq!(outcome.code, Some(0), "{name}: {line}\n{}", outcome.err);
    }
    commands
}

#[test]
fn every_command_of_the_readme_works_in_the_order_in_which_it_stands() {
    let text = read(root().join("README.md"));
    let commands = type_all("README.md", &text, false);
    assert_eq!(commands[0], "cargo run --release -- run taylor-green");
    assert_eq!(commands[1], "./test");
    assert!(commands.len() >= 14, "{commands:?}");
}

#[test]
fn every_command_of_the_guides_and_of_the_cases_works() {
    let root = root();
    let cases = kolmo::cases::NAMES.map(|case| root.join("cases").join(case).join("README.md"));
    let mut texts = cases.to_vec();
    let docs = names(&root.join("docs"));
    texts.extend(
        docs.iter().filter(|n| n.ends_with(".md")).map(|name| root.join("docs").join(name)),
    );
    let count: usize = texts
        .iter()
        .map(|path| type_all(&path.display().to_string(), &read(path), true).len())
        .sum();
    assert!(count >= 12, "{count}");
}

#[test]
fn the_readme_leads_only_to_files_that_are_there_and_names_every_case() {
    let root = root();
    let mut texts = vec![root.join("README.md")];
    let docs = names(&root.join("docs"));
    texts.extend(
        docs.iter().filter(|n| n.ends_with(".md")).map(|name| root.join("docs").join(name)),
    );
    for path in texts {
        let text = read(&path);
        for link in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            let target = link.split('#').next().unwrap();
            if !target.is_empty() && !target.starts_with("http") {
                let there = path.parent().unwrap().join(target).exists();
                assert!(there, "{}: {link}", path.display());
            }
        }
    }
    let readme = read(root.join("README.md"));
    for case in kolmo::cases::NAMES {
        assert!(readme.contains(&format!("[`{case}`](cases/{case}/README.md)")), "{case}");
    }
}
