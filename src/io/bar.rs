//! A progress bar on a terminal, redrawn in place, with a line of text beside it.

#[cfg(not(target_family = "wasm"))]
mod terminal {
    use std::io::IsTerminal;

    use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

    /// Resolution of the bar.
    const LENGTH: u64 = 1000;

    #[derive(Debug)]
    pub(in crate::io) struct Bar(ProgressBar);

    impl Bar {
        /// On standard error, where that is a terminal.
        pub(in crate::io) fn open() -> Option<Self> {
            std::io::stderr().is_terminal().then(|| {
                let target = ProgressDrawTarget::stderr_with_hz(8);
                let bar = ProgressBar::with_draw_target(Some(LENGTH), target);
                if let Ok(style) = ProgressStyle::with_template("{bar:10.cyan/blue} {msg}") {
                    bar.set_style(style.progress_chars("━━─"));
                }
                Self(bar)
            })
        }

        /// `done` is in 0..1.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1")]
        pub(in crate::io) fn show(&self, done: f64, line: &str) {
            self.0.set_position((done * LENGTH as f64) as u64);
            self.0.set_message(line.to_string());
        }

        /// Leave the bar on the terminal.
        pub(in crate::io) fn leave(&self) {
            self.0.abandon();
        }
    }
}

/// A page in a browser has no terminal.
#[cfg(target_family = "wasm")]
mod terminal {
    #[derive(Debug)]
    pub(in crate::io) enum Bar {}

    impl Bar {
        pub(in crate::io) fn open() -> Option<Self> {
            None
        }

        pub(in crate::io) fn show(&self, _: f64, _: &str) {}

        pub(in crate::io) fn leave(&self) {}
    }
}

pub(super) use terminal::Bar;
