//! What a backend makes for those above it, who neither know nor ask what it is.

use std::any::Any;
use std::borrow::{Borrow, BorrowMut};

use smallvec::SmallVec;

use crate::engine::Sweep;

/// Fields that a list of them holds without memory of its own: a step allocates nothing.
const FEW: usize = 24;

/// What is read by the backend that made it, and by no other.
type Own = Box<dyn Any + Send + Sync>;

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        pub struct $name(Own);

        impl $name {
            /// What a backend keeps as `T`.
            pub(super) fn new<T: Any + Send + Sync>(own: T) -> Self {
                Self(Box::new(own))
            }

            /// What it is to the backend that made it.
            ///
            /// # Panics
            /// Where another backend did.
            pub fn get<T: Any>(&self) -> &T {
                self.0.downcast_ref().unwrap_or_else(|| of_another_backend())
            }

            /// What it is to the backend that made it.
            ///
            /// # Panics
            /// Where another backend did.
            pub fn get_mut<T: Any>(&mut self) -> &mut T {
                self.0.downcast_mut().unwrap_or_else(|| of_another_backend())
            }
        }
    };
}

handle! {
    /// One value a point, `[k][j][i]` with i fastest, or planes of such values.
    Field
}
handle! {
    /// A [`PointFormula`](crate::engine::PointFormula) ready to run.
    Prepared
}
handle! {
    /// Room for a matrix of blocks, and for sweeps over it.
    BlockSolver
}
handle! {
    /// [`Sums`](super::ranks::Sums) of planes ready to be taken.
    Combination
}

/// A [`Sweep`] ready to run.
pub struct Program {
    own: Own,
    /// Whether it adds to fields: then it is one that β is for.
    pub(super) adds: bool,
}

impl Program {
    /// What a backend keeps as `T` to run `sweep`.
    pub(super) fn new<T: Any + Send + Sync>(own: T, sweep: &Sweep) -> Self {
        Self { own: Box::new(own), adds: !sweep.accesses().adds.is_empty() }
    }

    /// What it is to the backend that made it.
    ///
    /// # Panics
    /// Where another backend did.
    pub fn get<T: Any>(&self) -> &T {
        self.own.downcast_ref().unwrap_or_else(|| of_another_backend())
    }
}

fn of_another_backend() -> ! {
    panic!("made by another backend, or for another precision")
}

/// What fields are to the backend that made them.
pub(super) fn all<T: Any>(fields: &[impl Borrow<Field>]) -> SmallVec<[&T; FEW]> {
    fields.iter().map(|field| field.borrow().get()).collect()
}

/// The same of fields that are written.
pub(super) fn all_mut<T: Any>(fields: &mut [impl BorrowMut<Field>]) -> SmallVec<[&mut T; FEW]> {
    fields.iter_mut().map(|field| field.borrow_mut().get_mut()).collect()
}
