//! Texts are compiled at once by several threads, each text by one at a time.

use std::collections::HashSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::Source;

/// The texts that somebody compiles now.
#[derive(Default)]
pub(super) struct Turns {
    texts: Mutex<HashSet<Source>>,
    done: Condvar,
}

/// The others wait for this text until it goes.
pub(super) struct Turn<'a> {
    of: &'a Turns,
    text: Source,
}

impl Turns {
    /// Wait until nobody compiles `text`.
    pub(super) fn of(&self, text: &Source) -> Turn<'_> {
        let others = |texts: &mut HashSet<Source>| texts.contains(text);
        let mut texts =
            self.done.wait_while(self.texts(), others).unwrap_or_else(PoisonError::into_inner);
        texts.insert(text.clone());
        Turn { of: self, text: text.clone() }
    }

    fn texts(&self) -> MutexGuard<'_, HashSet<Source>> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.of.texts().remove(&self.text);
        self.of.done.notify_all();
    }
}
