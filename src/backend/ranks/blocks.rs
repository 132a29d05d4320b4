//! Operations of a backend on lines split across ranks.

use std::ops::{Deref, DerefMut, Range};

use super::DeviceGroup;
use crate::backend::{
    Backend, BlockSolver, Combination, Field, Program, Sources, Targets, Weights,
};
use crate::blocks::Sweeps;
use crate::error::{Error, Result};
use crate::grid::Axis;

/// Memory of an array, as the source and target of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Host memory that starts at this address.
    Host(*mut u8),
    /// CUDA device memory that starts at this address.
    Device(*mut u8),
    /// Memory without an address.
    Opaque,
}

/// A sum of planes: the plane that receives it, and (plane, coefficient) for each term. The receiving plane is not a
/// term.
pub type Sum<T = f64> = (usize, Vec<(usize, T)>);

/// Lists of sums, one per operand. The sums of a list are computed in order: a sum may use planes that earlier sums of
/// its list have set. No list reads or writes a plane that another list sets.
pub type Sums = Vec<Vec<Sum>>;

/// Lines of a block divided among `parts` ranks: each rank gets contiguous lines, and each of the first ranks gets one
/// line of the remainder.
#[derive(Clone, Copy, Debug)]
pub struct TransposeLayout {
    /// Points of the block.
    pub points: [usize; 3],
    /// The axis of the lines.
    pub axis: Axis,
    /// Number of ranks that the lines are divided among.
    pub parts: usize,
    /// Number of fields that are distributed together.
    pub fields: usize,
}

impl TransposeLayout {
    /// Returns the number of lines of the block.
    pub fn lines(&self) -> usize {
        self.points.iter().product::<usize>() / self.points[self.axis.index()].max(1)
    }

    /// Returns the lines of part `part`, counted with x before y before z.
    pub fn share(&self, part: usize) -> Range<usize> {
        let (each, more) = (self.lines() / self.parts, self.lines() % self.parts);
        let first = part * each + part.min(more);
        first..first + each + usize::from(part < more)
    }
}

/// Host buffer for copies from and to a device, in bytes.
pub struct Staging {
    bytes: Vec<u8>,
    /// Undoes the page-locking of the memory.
    release: Option<Box<dyn FnMut(*mut u8) + Send + Sync>>,
}

impl Staging {
    /// Returns `bytes` zeros.
    pub fn new(bytes: usize) -> Self {
        Self { bytes: vec![0; bytes], release: None }
    }

    /// As [`Staging::new`], page-locked by `lock`, which returns the function that unlocks it, or `None` if locking
    /// failed.
    pub(in crate::backend) fn locked<R>(
        bytes: usize,
        lock: impl FnOnce(*mut u8, usize) -> Option<R>,
    ) -> Self
    where
        R: FnMut(*mut u8) + Send + Sync + 'static,
    {
        let mut staging = Self::new(bytes);
        if bytes > 0 {
            let release = lock(staging.bytes.as_mut_ptr(), bytes);
            staging.release = release.map(|release| Box::new(release) as _);
        }
        staging
    }
}

impl Deref for Staging {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for Staging {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if let Some(release) = &mut self.release {
            release(self.bytes.as_mut_ptr());
        }
    }
}

/// A backend whose fields can be blocks of larger fields. Calls fail like those of [`Backend`].
pub trait Blocks: Backend {
    /// Returns host memory for `values` values, page-locked if that makes copies faster.
    fn staging(&self, values: usize) -> Staging;

    /// Returns `len` zeros, an array for the planes of messages.
    fn planes(&self, len: usize) -> Result<Field>;

    /// Fills the slots of `planes[stage]` that are computed from the operands of that stage of `program`. `planes` of
    /// earlier stages hold their interface values. The fields are as for [`Backend::run`].
    fn pack(
        &self,
        program: &Program,
        stage: usize,
        read: Sources,
        write: Targets,
        planes: &mut [Field],
    );

    /// Completes [`Backend::run`] with the interface values of all stages in `planes`, after every stage was packed.
    fn complete(
        &self,
        program: &Program,
        read: Sources,
        write: Targets,
        planes: &[Field],
        weights: Weights,
    );

    /// Runs a program for complete lines, which reads one array and sets one, like [`Backend::run`]. The values of the
    /// program's grid lie at the start of both arrays, which may be longer.
    fn run_on_leading_values(&self, program: &Program, read: &Field, write: &mut Field);

    /// Prepares `sums` of planes of `lines` values.
    fn combination(&self, lines: usize, sums: Sums) -> Result<Combination>;

    /// Computes the sums.
    fn combine(&self, combination: &Combination, planes: &mut Field);

    /// Distributes the lines of a block, for field `at` of several. The part with lines l₀ to l₁ starts in `parts` at (l₀
    /// · points per line · fields) and holds `[point][field][line]`.
    fn deal(&self, deal: &TransposeLayout, at: usize, field: &Field, parts: &mut Field);

    /// The reverse of [`Blocks::deal`].
    fn collect(&self, deal: &TransposeLayout, at: usize, parts: &Field, field: &mut Field);

    /// Like [`Backend::sweep_blocks`], for rows that use unknowns of other ranks: after each colour except the last,
    /// `exchange` is called with the number of the colour and the array of values to send and to receive, in the layout
    /// of [`Halo`](crate::blocks::Halo).
    fn sweep_blocks_with_exchange(
        &self,
        solver: &mut BlockSolver,
        sweeps: Sweeps,
        b: Sources,
        x: Targets,
        exchange: &mut (dyn FnMut(usize, &mut Field) + Send),
    );

    /// Returns the memory of an array.
    fn memory(&self, array: &mut Field) -> Memory;

    /// Reads the memory of an array from value `first` on, after all work queued before.
    fn fetch(&self, array: &Field, first: usize, to: &mut [u8]) -> Result<()>;

    /// Writes the memory of an array from value `first` on. A [`Staging`] used as the source may be reused after the next
    /// [`Blocks::fetch`].
    fn put(&self, array: &mut Field, first: usize, from: &[u8]) -> Result<()>;

    /// Returns, on rank 0, the identifier that all ranks need to join a new group of their devices; other ranks return
    /// nothing and only check that they can join one. The error is a sentence that explains why there is no group.
    fn group_id(&self, _rank: usize) -> Result<Vec<u8>> {
        Err(Error::Device("host memory needs no messages between devices".into()))
    }

    /// Joins the group of the devices of all ranks that have `id`, as (this rank, number of ranks). Collective.
    fn join(&self, _id: &[u8], _: [usize; 2]) -> Result<Box<dyn DeviceGroup>> {
        unreachable!("there is no group identifier without groups")
    }
}
