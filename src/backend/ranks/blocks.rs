//! What a backend does for the blocks of lines that are spread over ranks.

use std::ops::{Deref, DerefMut, Range};

use super::DeviceGroup;
use crate::backend::{Backend, BlockSolver, Combination, Field, Program, Weights};
use crate::blocks::Sweeps;
use crate::error::{Error, Result};
use crate::grid::Axis;

/// Where messages to and from an array of a backend go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Host memory that begins here.
    Host(*mut u8),
    /// Memory of a CUDA device that begins here.
    Device(*mut u8),
    /// Memory without an address.
    Opaque,
}

/// A plane that is made, with (plane, coefficient) for each that it is made of, itself not among them.
pub type Sum<T = f64> = (usize, Vec<(usize, T)>);

/// Lists of sums, one for every operand. Those of a list are taken in order: a plane that one makes others after it may read.
/// No list touches a plane that another makes.
pub type Sums = Vec<Vec<Sum>>;

/// Lines of a block dealt out: `parts` ranks get neighbouring lines each, those that the number of lines is not divisible
/// into one each to the first.
#[derive(Clone, Copy, Debug)]
pub struct TransposeLayout {
    /// Points of the block.
    pub points: [usize; 3],
    /// The axis of the lines.
    pub axis: Axis,
    /// Ranks that the lines are dealt out to.
    pub parts: usize,
    /// Fields that are dealt out together.
    pub fields: usize,
}

impl TransposeLayout {
    /// Lines of the block, counted with x before y before z.
    pub fn lines(&self) -> usize {
        self.points.iter().product::<usize>() / self.points[self.axis.index()].max(1)
    }

    /// The lines of part `part`.
    pub fn share(&self, part: usize) -> Range<usize> {
        let (each, more) = (self.lines() / self.parts, self.lines() % self.parts);
        let first = part * each + part.min(more);
        first..first + each + usize::from(part < more)
    }
}

/// Host memory that what is copied from and to a device goes through, in bytes.
pub struct Staging {
    bytes: Vec<u8>,
    /// Undoes what was done to keep it in its place.
    release: Option<Box<dyn FnMut(*mut u8) + Send + Sync>>,
}

impl Staging {
    /// So many zeros.
    pub fn new(bytes: usize) -> Self {
        Self { bytes: vec![0; bytes], release: None }
    }

    /// The same once `lock` has kept it in its place; it returns what undoes that, where it could.
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

/// A backend whose fields can be blocks of larger ones. Calls fail as those of [`Backend`].
pub trait Blocks: Backend {
    /// Host memory for `values` values, locked to its place where that makes copies faster.
    fn staging(&self, values: usize) -> Staging;

    /// `len` zeros that messages are made of.
    fn planes(&self, len: usize) -> Result<Field>;

    /// Fill those slots of `planes[stage]` that are made from the operands of the operators of that stage of `program`.
    /// `planes` of earlier stages hold their inflow. The fields are as for [`Backend::run`].
    fn pack(
        &self,
        program: &Program,
        stage: usize,
        read: &[&Field],
        write: &mut [&mut Field],
        planes: &mut [Field],
    );

    /// [`Backend::run`] with the inflow of all stages in `planes`, once every stage was packed.
    fn complete(
        &self,
        program: &Program,
        read: &[&Field],
        write: &mut [&mut Field],
        planes: &[Field],
        weights: Weights,
    );

    /// [`Backend::run`] of a program for whole lines with one array to read and one to set, which both begin with the values of
    /// its grid and may be longer.
    fn run_on_beginnings(&self, program: &Program, read: &Field, write: &mut Field);

    /// `sums` of planes of `lines` values.
    fn combination(&self, lines: usize, sums: Sums) -> Result<Combination>;

    /// Take the sums.
    fn combine(&self, combination: &Combination, planes: &mut Field);

    /// Deal out the lines of a block, field `at` of several. The part with lines l₀ to l₁ begins in `parts` at
    /// (l₀ · points of a line · fields) and holds `[point][field][line]`.
    fn deal(&self, deal: &TransposeLayout, at: usize, field: &Field, parts: &mut Field);

    /// The reverse of [`Blocks::deal`].
    fn collect(&self, deal: &TransposeLayout, at: usize, parts: &Field, field: &mut Field);

    /// [`Backend::sweep_blocks`] where rows know those of other ranks: after each colour but the last `exchange` gets its number, and the
    /// array of what goes and what comes, as [`Halo`](crate::blocks::Halo) lays it out.
    fn sweep_blocks_among(
        &self,
        solver: &mut BlockSolver,
        sweeps: Sweeps,
        b: &[&Field],
        x: &mut [&mut Field],
        exchange: &mut (dyn FnMut(usize, &mut Field) + Send),
    );

    /// Where an array lies.
    fn memory(&self, array: &mut Field) -> Memory;

    /// Read the memory of an array from value `first` on, after all work asked for before.
    fn fetch(&self, array: &Field, first: usize, to: &mut [u8]) -> Result<()>;

    /// Write the memory of an array from value `first` on. That of a [`Staging`] may be reused after the next
    /// [`Blocks::fetch`].
    fn put(&self, array: &mut Field, first: usize, from: &[u8]) -> Result<()>;

    /// What all ranks have to know of a new group of their devices, from rank 0; nothing from others, which look whether they can
    /// join one. An error is the sentence why there can be none.
    fn group_id(&self, _rank: usize) -> Result<Vec<u8>> {
        Err(Error::Device("the memory of the host needs no messages between devices".into()))
    }

    /// The group of the devices of all ranks that know `id`, for (this rank, number of ranks). Collective.
    fn join(&self, _id: &[u8], _: [usize; 2]) -> Result<Box<dyn DeviceGroup>> {
        unreachable!("there is no number of a group without groups")
    }
}
