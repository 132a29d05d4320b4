//! Shell completions and manual pages, generated from the command-line definition.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use kolmo::{Error, Result};

use crate::arguments::Arguments;
use crate::terminal::say;

/// Print a shell completion script.
pub(crate) fn completions(shell: Shell) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "kolmo", &mut script);
    say(&String::from_utf8_lossy(&script))
}

/// Print the manual page of the program, or of the command named by `words`, such as `bench derivative`.
pub(crate) fn manual(words: &[String]) -> Result<ExitCode> {
    let mut program = Arguments::command();
    program.build();
    let mut command = &program;
    for word in words {
        command = command.find_subcommand(word).ok_or_else(|| unknown(command, word))?;
    }
    let mut page = Vec::new();
    let version = concat!("kolmo ", env!("CARGO_PKG_VERSION"));
    // Writing to memory cannot fail.
    Man::new(command.clone()).source(version).render(&mut page).map_err(Error::io("the page"))?;
    say(&String::from_utf8_lossy(&page))
}

/// The error for a `word` that is not a subcommand of `command`.
fn unknown(command: &clap::Command, word: &str) -> Error {
    let names = command.get_subcommands().map(clap::Command::get_name);
    let names: Vec<&str> = names.filter(|name| *name != "help").collect();
    let parent = command.get_bin_name().unwrap_or("kolmo");
    let allowed = if names.is_empty() { "none".to_string() } else { names.join(", ") };
    Error::Config(vec![
        format!("error: `{parent}` has no command `{word}`"),
        format!("       allowed: {allowed}"),
    ])
}
