//! What a shell and `man` know of the command line.

use super::*;

/// Words that a shell completes to what the program does not have, or a shell that cannot read what is printed.
#[test]
fn a_shell_completes_the_commands_and_options_that_there_are() {
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
        assert_eq!((outcome.code, &*outcome.err), (Some(0), ""));
        outcome.out.trim().to_string()
    };
    assert_eq!(completed("kolmo conv", "conv", "kolmo"), "converge");
    assert_eq!(completed("kolmo restart --fr", "--fr", "restart"), "--from");
    for (shell, start) in [("zsh", "#compdef kolmo"), ("fish", "# Print an optspec")] {
        let script = done(dir.path(), ["completions", shell]).out;
        assert!(script.starts_with(start) && script.contains("allow-physics-change"), "{script}");
    }
    assert_eq!(kolmo(dir.path(), ["completions", "tcsh"]).code, Some(2));
}

/// A page of another command, or none of a command below a command.
#[test]
fn the_manual_has_a_page_for_the_program_and_for_every_command() {
    let dir = tempfile::tempdir().unwrap();
    for (words, what) in [
        (&["man"][..], "kolmo\\-run(1)"),
        (&["man", "run"], "kolmo run taylor\\-green \\-\\-backend cuda"),
        (&["man", "bench", "derivative"], "kolmo bench derivative"),
    ] {
        let page = done(dir.path(), words).out;
        let head = page.lines().find(|line| line.starts_with(".TH kolmo")).unwrap();
        assert!(head.contains(concat!("\"kolmo ", env!("CARGO_PKG_VERSION"), '"')), "{head}");
        assert!(page.contains(what), "{page}");
    }
    let refused = kolmo(dir.path(), ["man", "bench", "flow"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("`kolmo bench` has no command `flow`\n       allowed: "));
}
