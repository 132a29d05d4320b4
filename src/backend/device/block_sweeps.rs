//! Multicolour point-implicit sweeps over a system of dense blocks on a device (Zubair et al. 2017).

use std::sync::Arc;

use super::job::{Job, LaunchSize};
use super::numbers::to_i32;
use super::text::Text;
use super::{Arg, Buffer, Device, Source};
use crate::blocks::{Colouring, Factored, Sweeps};
use crate::error::{Error, Result};
use crate::real::{Precision, Real, bytes_of};

/// Largest number of threads for the rows within a row of blocks, and largest number of threads per block that every
/// device supports.
const MAX_LANES: usize = 128;
const MAX_THREADS: usize = 256;
/// Threads per block shared by several rows.
const SHARED_THREADS: usize = 128;
/// Threads per row of small blocks: enough to read 128 bytes of the row in 32 bit.
const SMALL_TEAM: usize = 32;
/// Groups of threads on different columns: largest number for small blocks, and number for larger blocks.
const MAX_GROUPS: usize = 8;
const GROUPS: usize = 4;
/// Columns of the factors loaded at once, times the unknowns per thread.
const PANEL: usize = 16;
/// Columns of off-diagonal blocks loaded at once: largest number, and number times the unknowns per thread.
const MAX_AHEAD: usize = 4;
const AHEAD: usize = 8;

/// Kernels that solve the rows of a colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockKernels {
    /// Products and solution in one kernel.
    #[default]
    Fused,
    /// One kernel for the products and one for the solution, as in Zubair et al.
    Split,
}

/// Division of rows of blocks of `nb` rows among threads. `kernels/blocks/product.cu` explains the numbers.
struct Shape {
    nb: usize,
    lanes: usize,
    groups: usize,
    /// Rows of blocks per block of threads.
    rows: usize,
    /// Rows of blocks per block of threads in a kernel that only solves.
    solved: usize,
}

impl Shape {
    fn of(nb: usize) -> Self {
        let lanes = nb.min(MAX_LANES);
        let groups = (SMALL_TEAM / nb).clamp(GROUPS, MAX_GROUPS).min(MAX_THREADS / lanes);
        let rows = (SHARED_THREADS / (lanes * groups)).max(1);
        Self { nb, lanes, groups, rows, solved: SHARED_THREADS / lanes }
    }

    /// Returns the kernel source for off-diagonal blocks of this precision.
    fn source(&self, device: &Device, precision: Precision, kernels: BlockKernels) -> Source {
        let Self { nb, lanes, groups, rows, solved } = *self;
        let share = nb.div_ceil(lanes);
        let panels = nb.div_ceil((PANEL / share).max(1));
        let mut text = Text::new(precision);
        text.define("NB", nb);
        text.define("LANES", lanes);
        text.define("GROUPS", groups);
        text.define("ROWS", rows);
        text.define("SOLVE_ROWS", solved);
        text.define("SHARE", share);
        text.define("PANEL", nb.div_ceil(panels));
        text.define("AHEAD", (AHEAD / share).clamp(1, MAX_AHEAD));
        if !device.info().is_gpu {
            text.make_compact();
        }
        text.push(include_str!("../../../kernels/blocks/system.cu"));
        text.push(include_str!("../../../kernels/blocks/product.cu"));
        text.push(include_str!("../../../kernels/blocks/triangles.cu"));
        let (name, kernels) = match kernels {
            BlockKernels::Fused => ("fused.cu", include_str!("../../../kernels/blocks/fused.cu")),
            BlockKernels::Split => ("split.cu", include_str!("../../../kernels/blocks/split.cu")),
        };
        text.push(kernels);
        text.source(name)
    }

    /// Returns the kernels for a colour of `count` rows of blocks, in order.
    fn launches(&self, count: usize, kernels: BlockKernels) -> Vec<(&'static str, LaunchSize)> {
        let Self { nb, lanes, groups, rows, solved } = *self;
        // Rows of blocks per thread block; threads and on-chip vectors per row of blocks.
        let size = |rows: usize, threads: usize, vectors: usize| {
            let on_chip = rows * vectors * nb * size_of::<f64>();
            LaunchSize::linear(count.div_ceil(rows), rows * threads, on_chip)
        };
        match kernels {
            BlockKernels::Fused => vec![("block_sweep", size(rows, groups * lanes, groups + 1))],
            BlockKernels::Split => vec![
                ("block_product", size(rows, groups * lanes, groups)),
                ("block_solve", size(solved, lanes, 1)),
            ],
        }
    }
}

/// A [`Factored`] matrix in device memory, ready for sweeps.
pub struct BlockSweeps {
    nb: usize,
    rows: usize,
    /// Number of rows of this rank and of other ranks whose unknowns they use.
    width: usize,
    precision: Precision,
    colours: Vec<Colour>,
    starts: Buffer,
    columns: Buffer,
    blocks: Buffer,
    factors: Buffer,
    pivots: Buffer,
    /// Residual b minus the products, for one colour.
    residual: Buffer,
}

/// Rows `begin` to `end` (exclusive) of one colour.
struct Colour {
    /// Kernels run in order, with the same arguments.
    jobs: Vec<Job>,
    begin: i32,
    end: i32,
}

impl BlockSweeps {
    /// Uploads `matrix` and compiles its kernels.
    ///
    /// # Errors
    /// If the device has no 64-bit floating point, or if the driver or the compiler fails.
    pub fn new<S: Real>(
        device: &Arc<Device>,
        matrix: &Factored<S>,
        kernels: BlockKernels,
    ) -> Result<Self> {
        let of = (&*matrix.colouring, matrix.nb, S::PRECISION);
        let mut sweeps = Self::allocate(device, of, kernels)?;
        sweeps.set(matrix)?;
        Ok(sweeps)
    }

    /// Allocates memory for matrices of one colouring with off-diagonal blocks of this precision, and compiles the
    /// kernels.
    pub fn allocate(
        device: &Arc<Device>,
        (colouring, nb, precision): (&Colouring, usize, Precision),
        kernels: BlockKernels,
    ) -> Result<Self> {
        if !device.info().has_f64 {
            let name = &device.info().name;
            return Err(Error::Device(format!(
                "sweeps over blocks compute in f64; {name} does not"
            )));
        }
        let (pattern, shape) = (colouring.pattern(), Shape::of(nb));
        let source = shape.source(device, precision, kernels);
        let colour = |rows: std::ops::Range<usize>| {
            let launches = shape.launches(rows.len(), kernels).into_iter();
            let launches = launches.filter(|_| !rows.is_empty());
            let jobs = launches.map(|(entry, size)| Job::new(device, &source, entry, &size));
            let jobs = jobs.collect::<Result<_>>()?;
            Ok(Colour { jobs, begin: to_i32(rows.start)?, end: to_i32(rows.end)? })
        };
        let max_rows = match kernels {
            BlockKernels::Fused => 0,
            BlockKernels::Split => colouring.colours().map(|rows| rows.len()).max().unwrap_or(0),
        };
        let rows = pattern.rows();
        let starts = (0..rows).map(|row| pattern.row(row).start);
        let starts = starts.chain([pattern.blocks()]).map(to_i32).collect::<Result<Vec<_>>>()?;
        let columns = (0..rows).flat_map(|row| pattern.columns_of(row));
        let numbers = |precision, len| Buffer::new(device, precision, len);
        Ok(Self {
            nb,
            rows,
            width: pattern.width(),
            precision,
            colours: colouring.colours().map(colour).collect::<Result<_>>()?,
            starts: integer_buffer(device, starts.into_iter().map(i32::to_ne_bytes))?,
            columns: integer_buffer(device, columns.map(|column| column.to_ne_bytes()))?,
            blocks: numbers(precision, pattern.blocks() * nb * nb)?,
            factors: numbers(Precision::F64, rows * nb * nb)?,
            pivots: integer_buffer(device, std::iter::repeat_n([0; 2], rows * nb))?,
            residual: numbers(Precision::F64, max_rows * nb)?,
        })
    }

    /// Uploads the values of a matrix of this colouring.
    ///
    /// # Panics
    /// If the matrix has another colouring.
    pub fn set<S: Real>(&mut self, matrix: &Factored<S>) -> Result<()> {
        let (blocks, factors) = (matrix.off_diagonal(), &matrix.factors);
        let sizes = (S::PRECISION, blocks.len(), factors.len());
        let own = (self.precision, self.blocks.len(), self.factors.len());
        assert_eq!(sizes, own, "a matrix of another colouring");
        let pivots: Vec<u8> = matrix.pivots.iter().flat_map(|it| it.to_ne_bytes()).collect();
        self.blocks.write(0, bytes_of(blocks))?;
        self.factors.write(0, bytes_of(factors))?;
        self.pivots.write(0, &pivots)
    }

    /// Queues sweeps over A x = b that start from the given x on the device: [`Factored::sweep`], to round-off. Both
    /// vectors are in the order of the [`Colouring`](crate::blocks::Colouring). The next fallible call reports errors.
    ///
    /// # Panics
    /// If the vectors do not have `nb` 64-bit values per row, or are on another device.
    pub fn sweep(&self, b: &Buffer, x: &mut Buffer, sweeps: Sweeps) {
        self.sweep_with_exchange(b, x, sweeps, &mut |_, _| ());
    }

    /// Like [`BlockSweeps::sweep`], with unknowns of other ranks in x: [`Factored::sweep_with_exchange`].
    ///
    /// # Panics
    /// As for [`BlockSweeps::sweep`].
    pub(super) fn sweep_with_exchange(
        &self,
        b: &Buffer,
        x: &mut Buffer,
        sweeps: Sweeps,
        exchange: &mut dyn FnMut(usize, &Buffer),
    ) {
        let unknowns = [self.rows, self.width].map(|rows| (rows * self.nb, Precision::F64));
        let given = [b, x].map(|vector| (vector.len(), vector.precision));
        assert_eq!(given, unknowns, "unknowns");
        let relaxation = [sweeps.relaxation];
        let mut order = sweeps.colours(self.colours.len()).peekable();
        while let Some(colour) = order.next() {
            let Colour { jobs, begin, end } = &self.colours[colour];
            let matrix = [&self.starts, &self.columns, &self.blocks, &self.factors, &self.pivots];
            let buffers = matrix.into_iter().chain([b, x, &self.residual]).map(Buffer::arg);
            let rows = [Arg::Int(*begin), Arg::Int(*end)];
            let scalars = Arg::Scalars(Precision::F64, &relaxation);
            let arguments = buffers.chain(rows).chain([scalars]);
            // The list is empty if no row of this rank has the colour.
            jobs.iter().for_each(|job| job.launch(arguments.clone()));
            if order.peek().is_some() {
                exchange(colour, x);
            }
        }
    }
}

/// Copies integers of `N` bytes to device memory.
pub(super) fn integer_buffer<const N: usize>(
    device: &Arc<Device>,
    numbers: impl Iterator<Item = [u8; N]>,
) -> Result<Buffer> {
    let bytes: Vec<u8> = numbers.flatten().collect();
    let buffer = Buffer::new(device, Precision::F32, bytes.len().div_ceil(Precision::F32.bytes()))?;
    buffer.write(0, &bytes)?;
    Ok(buffer)
}
