//! Execution of a program: distribution of its tiles of lines over the threads.

use std::ops::Range;
use std::sync::{MutexGuard, PoisonError};

use rayon::prelude::*;
use smallvec::SmallVec;

use super::copy::Points;
use super::direct_step::{COLUMNS, DirectStep};
use super::memory::{CACHE_LINE, stream_fence};
use super::program::{Code, Program, Slot, Step};
use super::rows::{Scratch, lanes};
use super::tile::{Group, SharedField, Tiling};
use super::work::Tile;
use super::{Cpu, Field, MAX_FIELDS};
use crate::backend::Weights;
use crate::grid::Axis;
use crate::real::Real;

/// Tasks per thread: threads that finish early take tasks from others.
const TASKS_PER_THREAD: usize = 16;

/// Data for the work on tiles.
pub(super) struct Job<'a, T> {
    pub(super) program: &'a Program<T>,
    pub(super) code: &'a Code<T>,
    read: &'a [&'a Field<T>],
    write: [Option<SharedField<T>>; MAX_FIELDS],
    /// Planes of the stages with known interface values.
    pub(super) interface_planes: &'a [&'a Field<T>],
    /// Planes of the stage that is packed.
    pub(super) packed: Option<SharedField<T>>,
    pub(super) weights: Weights,
    /// Whether stores bypass the caches because the data are not needed soon.
    pub(super) bypass_caches: bool,
}

impl<T: Real> Job<'_, T> {
    #[inline]
    pub(super) fn written(&self, slot: usize) -> *mut T {
        self.write[slot].unwrap_or_else(|| unreachable!("as counted")).start
    }

    #[inline]
    pub(super) fn field(&self, field: Slot) -> *const T {
        match field {
            Slot::Read(slot) | Slot::Plane(slot) => self.read[slot].as_ptr(),
            Slot::Written(slot) => self.written(slot),
        }
    }

    /// Location in a field of the points of a tile, starting at point `first` of its lines.
    #[inline]
    pub(super) fn points(&self, field: Slot, tile: Group, first: usize) -> Points {
        let [nx, ny, _] = self.program.grid;
        match field {
            Slot::Plane(_) => Points { tile: tile.in_plane(nx * ny), first },
            Slot::Read(_) | Slot::Written(_) => Points { tile, first },
        }
    }

    /// Its tiles; `in_planes`: no tile extends beyond the end of a plane.
    fn tiling(&self, in_planes: bool) -> Tiling {
        let Self { program, code, .. } = self;
        let width = columns(program, code) * lanes::<T>();
        Tiling::new(program.grid, program.axis, width, in_planes || !code.planes.is_empty())
    }

    /// Calls `work` for each of its tiles in turn.
    fn for_tiles(
        &self,
        arch: pulp::Arch,
        scratch: &mut Scratch<T>,
        tiling: &Tiling,
        tiles: Range<usize>,
        work: impl Fn(Tile<'_, T>),
    ) {
        let Self { program, code, .. } = self;
        let rows = scratch.rows(code.needs, program.points, columns(program, code));
        for at in tiles.clone() {
            let (tile, is_first) = (tiling.group(at), at == tiles.start);
            let next = (at + 1 < tiles.end).then(|| tiling.group(at + 1));
            work(Tile { arch, job: self, tile, is_first, next, end: None, rows });
        }
    }
}

impl<T: Real> Tile<'_, T> {
    /// Processes the tile with the chosen instruction set; not inlined, since it is the largest piece of code.
    #[inline(never)]
    fn dispatch(self) {
        self.arch.dispatch(self);
    }

    /// Runs the complete sweep on the tile.
    fn sweep(self) {
        let Self { arch, job, tile, next, rows, .. } = self;
        let steps = &job.code.steps;
        if steps.is_empty() || !steps.iter().all(|step| DirectStep::supports(&step.solver, &tile)) {
            return self.dispatch();
        }
        let workspace_len = tile.lines / lanes::<T>() * rows.column_stride;
        assert!(DirectStep::<T>::workspace_len(&tile) <= workspace_len, "workspace for its points");
        for (at, Step { solver, from, to }) in steps.iter().enumerate() {
            let next = match steps.get(at + 1) {
                Some(step) => Some((job.field(step.from), tile)),
                None => next.map(|next| (job.field(steps[0].from), next)),
            };
            let (from, to, workspace) = (job.field(*from), job.written(*to), rows.start());
            let bypass_caches = job.bypass_caches;
            arch.dispatch(DirectStep { solver, tile, from, to, next, workspace, bypass_caches });
        }
    }
}

/// The end of a line that is packed.
#[derive(Clone, Copy)]
pub(super) enum End {
    First,
    Last,
}

impl<T: Real> Cpu<T> {
    /// Runs `program`.
    ///
    /// # Panics
    /// If there are fewer fields than the program uses or they do not belong to this grid.
    pub fn run(
        &self,
        program: &Program<T>,
        read: &[&Field<T>],
        write: &mut [&mut Field<T>],
        weights: Weights,
    ) {
        self.complete(program, read, write, &[], weights, false);
    }

    /// Number of leading programs that run plane by plane: those along x and y, which share the points of a plane, if
    /// the planes divide nearly evenly among the threads, so that idle time at the end is at most a ninth.
    pub(super) fn leading_plane_programs(&self, programs: &[(&Program<T>, Weights)]) -> usize {
        let [(first, _), ..] = programs else { return 0 };
        let (planes, threads) = (first.grid[2], self.threads());
        if 8 * planes.div_ceil(threads) * threads > 9 * planes {
            return 0;
        }
        let in_planes = |(program, _): &&(&Program<T>, Weights)| {
            program.axis != Axis::Z && program.packs.is_empty()
        };
        programs.iter().take_while(in_planes).count()
    }

    /// Runs programs along x and y, all on one plane before the next: its points stay in the caches from one program to
    /// the next.
    pub(super) fn run_planes(
        &self,
        programs: &[(&Program<T>, Weights)],
        read: &[&Field<T>],
        write: &mut [&mut Field<T>],
    ) {
        for (program, _) in programs {
            check(program, &program.full, read, write, false);
        }
        // Borrow once for all programs: borrowing a field again would invalidate the earlier borrow.
        let write = share_fields(write);
        let jobs = programs.iter().map(|(program, weights)| {
            let code = &program.full;
            let (weights, bypass_caches) = (*weights, false);
            let job = Job {
                program,
                code,
                read,
                write,
                interface_planes: &[],
                packed: None,
                weights,
                bypass_caches,
            };
            (job.tiling(true), job)
        });
        let jobs: SmallVec<[(Tiling, Job<'_, T>); 4]> = jobs.collect();
        let plane = |k: usize| {
            let mut scratch = self.scratch();
            for (tiling, job) in &jobs {
                let tiles = k * tiling.groups_per_row..(k + 1) * tiling.groups_per_row;
                job.for_tiles(self.arch, &mut scratch, tiling, tiles, |tile| tile.sweep());
            }
        };
        let planes = programs[0].0.grid[2];
        self.pool.install(|| (0..planes).into_par_iter().for_each(plane));
    }

    /// Like [`Cpu::run`], for lines that may be split across ranks: `interface_planes` contains the
    /// planes from the neighbours for every stage. `allow_longer`: the fields may hold additional values after those of the grid.
    pub(super) fn complete(
        &self,
        program: &Program<T>,
        read: &[&Field<T>],
        write: &mut [&mut Field<T>],
        interface_planes: &[&Field<T>],
        weights: Weights,
        allow_longer: bool,
    ) {
        assert!(interface_planes.len() >= program.packs.len(), "planes of every stage");
        let code = &program.full;
        let write = check_and_share(program, code, read, write, allow_longer);
        let bypass_caches = bypasses_caches(program, &write);
        let job = Job {
            program,
            code,
            read,
            write,
            interface_planes,
            packed: None,
            weights,
            bypass_caches,
        };
        self.for_each_tile(&job, |tile| tile.sweep());
    }

    /// Fills the slots of `planes[stage]` that are computed from the operands of that stage. The planes of earlier
    /// stages hold their interface values.
    pub(super) fn pack(
        &self,
        program: &Program<T>,
        stage: usize,
        read: &[&Field<T>],
        write: &mut [&mut Field<T>],
        planes: &mut [&mut Field<T>],
    ) {
        let code = &program.packs[stage];
        let write = check_and_share(program, code, read, write, false);
        let (interface_planes, rest) = planes.split_at_mut(stage);
        let interface_planes: SmallVec<[&Field<T>; 4]> =
            interface_planes.iter().map(|planes| &**planes).collect();
        let (interface_planes, packed) = (&interface_planes, Some(SharedField::new(rest[0])));
        let (weights, bypass_caches) = (Weights::SET, false);
        let job =
            Job { program, code, read, write, interface_planes, packed, weights, bypass_caches };
        // If no operator comes before, only the points at the ends are needed.
        let ends = program.solvers.values().filter_map(|solver| solver.operator.ends.as_ref());
        let reach = ends.flat_map(|ends| ends.sources.iter().flatten().map(Vec::len)).max();
        let window = if stage == 0 { reach.unwrap_or(0) } else { program.points };
        self.for_each_tile(&job, |full| {
            for (end, first) in [(End::First, 0), (End::Last, program.points - window)] {
                let (tile, rows) = (full.tile.window(first, window), full.rows.with_points(window));
                let end = Some(end);
                Tile { tile, is_first: true, next: None, end, rows, ..full }.dispatch();
            }
        });
    }

    fn for_each_tile(&self, job: &Job<'_, T>, work: impl Fn(Tile<'_, T>) + Sync) {
        let tiling = job.tiling(false);
        let tasks = tiling.len().min(TASKS_PER_THREAD * self.pool.current_num_threads());
        let share = |task: usize| task * tiling.len() / tasks;
        let task = |index: usize| {
            let tiles = share(index)..share(index + 1);
            job.for_tiles(self.arch, &mut self.scratch(), &tiling, tiles, &work);
            if job.bypass_caches {
                stream_fence();
            }
        };
        self.pool.install(|| (0..tasks).into_par_iter().for_each(task));
    }

    /// Locks the memory of this thread.
    fn scratch(&self) -> MutexGuard<'_, Scratch<T>> {
        let thread = rayon::current_thread_index().unwrap_or(0);
        self.scratch[thread].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Number of adjacent tiles that are processed together along y and z, where fields are copied into the blocks of a
/// tile: memory transfers two neighbouring cache lines faster. More would need more of the L2 cache.
const ADJACENT_TILES: usize = 2;

/// Number of tiles that are processed together.
fn columns<T: Real>(program: &Program<T>, code: &Code<T>) -> usize {
    match (code.steps.is_empty(), code.packed.is_empty()) {
        _ if program.axis == Axis::X || code.transfers => 1,
        (false, _) => COLUMNS,
        (true, true) => ADJACENT_TILES,
        (true, false) => 1,
    }
}

/// Minimum size in bytes of a field that no cache is expected to keep until its next use.
const LARGE_FIELD_BYTES: usize = 8 << 20;

/// Whether the stores of a program bypass the caches: it does not read the fields that it stores, their data are not
/// needed soon, and blocks are complete cache lines.
fn bypasses_caches<T: Real>(
    program: &Program<T>,
    write: &[Option<SharedField<T>>; MAX_FIELDS],
) -> bool {
    let code = &program.full;
    let aligned =
        |slot: &usize| write[*slot].is_some_and(|f| f.start.addr().is_multiple_of(CACHE_LINE));
    program.grid.iter().product::<usize>() * size_of::<T>() >= LARGE_FIELD_BYTES
        && program.grid[0].is_multiple_of(lanes::<T>())
        && code.writes.iter().all(aligned)
        && !code.updates
}

/// The fields that are written, shared by all threads. `allow_longer`: the fields may contain additional values after
/// those of the grid.
fn check_and_share<T: Real>(
    program: &Program<T>,
    code: &Code<T>,
    read: &[&Field<T>],
    write: &mut [&mut Field<T>],
    allow_longer: bool,
) -> [Option<SharedField<T>>; MAX_FIELDS] {
    check(program, code, read, write, allow_longer);
    share_fields(write)
}

/// Checks that the fields match the program.
fn check<T: Real>(
    program: &Program<T>,
    code: &Code<T>,
    read: &[&Field<T>],
    write: &[&mut Field<T>],
    allow_longer: bool,
) {
    assert!(write.len() <= MAX_FIELDS, "at most {MAX_FIELDS} fields can be written");
    let len = program.grid.iter().product::<usize>();
    let fits = |field: usize| if allow_longer { field >= len } else { field == len };
    let plane = program.grid[0] * program.grid[1];
    assert!(code.reads.iter().all(|&slot| fits(read[slot].len())), "field to read");
    assert!(code.planes.iter().all(|&slot| read[slot].len() == plane), "plane to read");
    assert!(code.writes.iter().all(|&slot| fits(write[slot].len())), "field to write");
}

fn share_fields<T: Real>(write: &mut [&mut Field<T>]) -> [Option<SharedField<T>>; MAX_FIELDS] {
    let mut shared = [const { None }; MAX_FIELDS];
    for (to, field) in shared.iter_mut().zip(write.iter_mut()) {
        *to = Some(SharedField::new(field));
    }
    shared
}
