//! What a backend does for the blocks of lines that are spread over ranks.

use std::ops::Range;

use crate::backend::{Backend, Weights};
use crate::error::Result;
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

/// A backend whose fields can be blocks of larger ones.
pub trait Blocks: Backend {
    /// [`Sums`] made ready to be taken.
    type Combination: Send;
    /// Host memory that what is copied from and to a device goes through.
    type Staging: AsRef<[Self::Real]> + AsMut<[Self::Real]> + Send;

    /// `len` zeros in host memory, locked to their place where that makes copies faster.
    fn staging(&self, len: usize) -> Self::Staging;

    /// `len` zeros that messages are made of.
    ///
    /// # Errors
    /// Where there is no memory left.
    fn planes(&self, len: usize) -> Result<Self::Field>;

    /// Fill those slots of `planes[stage]` that are made from the operands of the operators of that stage of `program`.
    /// `planes` of earlier stages hold their inflow. The fields are as for [`Backend::run`].
    fn pack(
        &self,
        program: &Self::Program,
        stage: usize,
        read: &[&Self::Field],
        write: &mut [&mut Self::Field],
        planes: &mut [Self::Field],
    );

    /// [`Backend::run`] with the inflow of all stages in `planes`, once every stage was packed.
    fn complete(
        &self,
        program: &Self::Program,
        read: &[&Self::Field],
        write: &mut [&mut Self::Field],
        planes: &[Self::Field],
        weights: Weights,
    );

    /// [`Backend::run`] of a program for whole lines with one array to read and one to set, which both begin with the values of
    /// its grid and may be longer.
    fn run_on_beginnings(
        &self,
        program: &Self::Program,
        read: &Self::Field,
        write: &mut Self::Field,
    );

    /// `sums` of planes of `lines` values.
    ///
    /// # Errors
    /// What a compiler says.
    fn combination(&self, lines: usize, sums: Sums) -> Result<Self::Combination>;

    /// Take the sums.
    fn combine(&self, combination: &Self::Combination, planes: &mut Self::Field);

    /// Deal out the lines of a block, field `at` of several. The part with lines l₀ to l₁ begins in `parts` at
    /// (l₀ · points of a line · fields) and holds `[point][field][line]`.
    fn deal(&self, deal: &TransposeLayout, at: usize, field: &Self::Field, parts: &mut Self::Field);

    /// The reverse of [`Blocks::deal`].
    fn collect(
        &self,
        deal: &TransposeLayout,
        at: usize,
        parts: &Self::Field,
        field: &mut Self::Field,
    );

    /// Where an array lies.
    fn memory(&self, array: &mut Self::Field) -> Memory;

    /// Read values of an array from `first` on, after all work asked for before.
    ///
    /// # Errors
    /// What the device says of the work so far.
    fn fetch(&self, array: &Self::Field, first: usize, to: &mut [Self::Real]) -> Result<()>;

    /// Write values to an array from `first` on. Those of a [`Blocks::Staging`] may be reused after the next
    /// [`Blocks::fetch`].
    ///
    /// # Errors
    /// What the device says.
    fn put(&self, array: &mut Self::Field, first: usize, values: &[Self::Real]) -> Result<()>;
}
