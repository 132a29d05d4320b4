//! Opaque handles to objects of a backend: the code above does not depend on their types.

use std::any::Any;
use std::borrow::{Borrow, BorrowMut};

use smallvec::SmallVec;

use crate::engine::Sweep;

/// Number of fields that a list stores without heap memory, so that a time step allocates nothing.
const INLINE_FIELDS: usize = 24;

/// Data that only the backend that created it can read.
type Object = Box<dyn Any + Send + Sync>;

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        pub struct $name(Object);

        impl $name {
            /// Wraps a backend's object of type `T`.
            pub(super) fn new<T: Any + Send + Sync>(object: T) -> Self {
                Self(Box::new(object))
            }

            /// Returns the backend's object.
            ///
            /// # Panics
            /// If another backend created it.
            pub fn get<T: Any>(&self) -> &T {
                self.0.downcast_ref().unwrap_or_else(|| wrong_backend())
            }

            /// Returns the backend's object for modification.
            ///
            /// # Panics
            /// If another backend created it.
            pub fn get_mut<T: Any>(&mut self) -> &mut T {
                self.0.downcast_mut().unwrap_or_else(|| wrong_backend())
            }
        }
    };
}

handle! {
    /// One value per point, `[k][j][i]` with i fastest, or planes of such values.
    Field
}
handle! {
    /// A [`PointFormula`](crate::engine::PointFormula) prepared for execution.
    Prepared
}
handle! {
    /// Storage for a block matrix, and for sweeps over it.
    BlockSolver
}
handle! {
    /// Prepared linear combinations [`Sums`](super::ranks::Sums) of planes.
    Combination
}

/// A [`Sweep`] prepared for execution.
pub struct Program {
    object: Object,
    /// True if it adds to fields: then β applies to it.
    pub(super) adds: bool,
}

impl Program {
    /// Wraps a backend's object of type `T` that runs `sweep`.
    pub(super) fn new<T: Any + Send + Sync>(object: T, sweep: &Sweep) -> Self {
        Self { object: Box::new(object), adds: !sweep.accesses().adds.is_empty() }
    }

    /// Returns the backend's object.
    ///
    /// # Panics
    /// If another backend created it.
    pub fn get<T: Any>(&self) -> &T {
        self.object.downcast_ref().unwrap_or_else(|| wrong_backend())
    }
}

fn wrong_backend() -> ! {
    panic!("made by another backend, or for another precision")
}

/// The backend's objects of fields.
pub(super) fn all<T: Any>(fields: &[impl Borrow<Field>]) -> SmallVec<[&T; INLINE_FIELDS]> {
    fields.iter().map(|field| field.borrow().get()).collect()
}

/// The backend's objects of fields that are written.
pub(super) fn all_mut<T: Any>(
    fields: &mut [impl BorrowMut<Field>],
) -> SmallVec<[&mut T; INLINE_FIELDS]> {
    fields.iter_mut().map(|field| field.borrow_mut().get_mut()).collect()
}
