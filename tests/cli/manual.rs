//! Shell completion and manual pages.

use super::*;

/// Catches completions that the program does not have, and a completion script that a shell cannot read.
#[test]
fn shell_completion_offers_the_existing_commands_and_options() {
    let dir = tempfile::tempdir().unwrap();
    let completed = |words: &str, word: &str, before: &str| {
        let kolmo = program();
        let line = format!(
            "{kolmo} completions bash >script && . ./script
             COMP_WORDS=({words}) COMP_CWORD=$(( $(echo {words} | wc -w) - 1 ))
             _kolmo kolmo {word} {before}; echo ${{COMPREPLY[@]}}"
        );
        let shell = Command::new("bash").args(["-c", &line]).current_dir(dir.path()).output();
        let outcome: Outcome = shell.unwrap().into();
        assert_eq!((outcome.code, &*outcome.stderr), (Some(0), ""));
        outcome.stdout.trim().to_string()
    };
    assert_eq!(completed("kolmo conv", "conv", "kolmo"), "converge");
    assert_eq!(completed("kolmo restart --fr", "--fr", "restart"), "--from");
    for (shell, start) in [("zsh", "#compdef kolmo"), ("fish", "# Print an optspec")] {
        let script = run_ok(dir.path(), ["completions", shell]).stdout;
        assert!(script.starts_with(start) && script.contains("allow-physics-change"), "{script}");
    }
    assert_eq!(kolmo(dir.path(), ["completions", "tcsh"]).code, Some(2));
}

/// Catches the page of another command, and a missing page of a subcommand.
#[test]
fn man_prints_a_page_for_the_program_and_for_every_command() {
    let dir = tempfile::tempdir().unwrap();
    for (words, text) in [
        (&["man"][..], "kolmo\\-run(1)"),
        (&["man", "run"], "kolmo run taylor\\-green \\-\\-backend cuda"),
        (&["man", "bench", "derivative"], "kolmo bench derivative"),
    ] {
        let page = run_ok(dir.path(), words).stdout;
        let head = page.lines().find(|line| line.starts_with(".TH kolmo")).unwrap();
        assert!(head.contains(concat!("\"kolmo ", env!("CARGO_PKG_VERSION"), '"')), "{head}");
        assert!(page.contains(text), "{page}");
    }
    let refused = kolmo(dir.path(), ["man", "bench", "flow"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("`kolmo bench` has no command `flow`\n       allowed: "));
}
