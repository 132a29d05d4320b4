//! The time loop allocates nothing, and a run holds no more fields than it says.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};

use kolmo::backend::cpu::Cpu;
use kolmo::backend::ranks::Ranks;
use kolmo::comm::Communicator;
use kolmo::config::{Config, Variable};
use kolmo::grid::Decomposition;
use kolmo::physics::Drawn;
use kolmo::time::{Parts, Simulation, for_messages};

use crate::common::{config, float, on_host};
use crate::spread::threads::on_ranks;

/// The system's allocator, which counts what watched threads ask for.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Requests of threads that work for a simulation, and of those that call it, with the largest of these.
static WORKER: AtomicUsize = AtomicUsize::new(0);
static CALLER: AtomicUsize = AtomicUsize::new(0);
static LARGEST: AtomicUsize = AtomicUsize::new(0);

/// Bytes of what is counted as a field, whoever asks for it, and how many there are, now and at most.
static FIELD: AtomicUsize = AtomicUsize::new(usize::MAX);
static FIELDS: AtomicIsize = AtomicIsize::new(0);
static MOST_FIELDS: AtomicIsize = AtomicIsize::new(0);

fn count_field(size: usize, change: isize) {
    if size == FIELD.load(Ordering::Relaxed) {
        let before = FIELDS.fetch_add(change, Ordering::Relaxed);
        MOST_FIELDS.fetch_max(before + change, Ordering::Relaxed);
    }
}

/// Bytes that threads of ranks hold in pieces of more than [`LARGE`] bytes: fields, planes, and lines that travel, but no
/// programs and tables.
static HELD: AtomicIsize = AtomicIsize::new(0);
const LARGE: usize = 1 << 15;

fn count_held(size: usize, sign: isize) {
    if size > LARGE && RANK.get() {
        HELD.fetch_add(sign * size.cast_signed(), Ordering::Relaxed);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    Unwatched,
    Worker,
    Caller,
}

thread_local! {
    static ROLE: Cell<Role> = const { Cell::new(Role::Unwatched) };
    /// True on a thread whose bytes are counted.
    static RANK: Cell<bool> = const { Cell::new(false) };
}

fn count(size: usize) {
    count_field(size, 1);
    count_held(size, 1);
    match ROLE.get() {
        Role::Unwatched => {}
        Role::Worker => drop(WORKER.fetch_add(1, Ordering::Relaxed)),
        Role::Caller => {
            LARGEST.fetch_max(size, Ordering::Relaxed);
            CALLER.fetch_add(1, Ordering::Relaxed);
        }
    }
}

// SAFETY: everything is passed on to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        count_field(layout.size(), -1);
        count_held(layout.size(), -1);
        // SAFETY: passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count_field(layout.size(), -1);
        count_held(layout.size(), -1);
        // SAFETY: passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Give the thread that calls and the only one that works their roles.
fn watch(simulation: &Simulation, caller: Role, worker: Role) {
    simulation.backend().within(|| ROLE.set(worker));
    ROLE.set(caller);
}

/// Two tables of an input.
const SCALARS: &str =
    "[scalars]\ndye = { schmidt = 0.7, start = 'sin(x)' }\nink = { schmidt = 7.0, start = 1 }";

/// Steps that are counted.
const STEPS: usize = 20;

/// (requests of the worker, of the caller) in [`STEPS`] steps after the first two.
fn requests(precision: &str, case: &str, scheme: &str, integrator: &str) -> (usize, usize) {
    let text = format!(
        "[case]\nname = '{case}'\n[grid]\npoints = [16, 16, 16]\n[scheme]\n{scheme}\n\
         [time]\nend = 1.0\nintegrator = '{integrator}'\n[compute]\nthreads = 1\nprecision = '{precision}'\n"
    );
    let config = kolmo::config::parse(&text, "test", &[]).unwrap();
    let mut simulation = on_host(&config);
    for _ in 0..2 {
        simulation.step(None).unwrap();
    }
    let counts = || [&WORKER, &CALLER].map(|count| count.load(Ordering::Relaxed));
    watch(&simulation, Role::Caller, Role::Worker);
    let before = counts();
    for _ in 0..STEPS {
        simulation.step(None).unwrap();
    }
    let after = counts();
    watch(&simulation, Role::Unwatched, Role::Unwatched);
    (after[0] - before[0], after[1] - before[1])
}

#[test]
fn a_step_allocates_nothing_but_rarely_a_block_of_the_queue_of_jobs() {
    let filter = "filter = { order = 8, alpha = 0.49 }";
    let staggered = "convection = 'staggered'";
    let linear = "[forcing]\nkind = 'linear'\nenergy = 'constant'";
    let stochastic = "[forcing]\nkind = 'stochastic'\namplitude = 1\ntime_scale = 1";
    let runs = [
        requests("f64", "taylor-green", "", "hale64"),
        requests("f64", "taylor-green", filter, "rk4"),
        requests("f32", "isentropic-vortex", staggered, "ssprk3"),
        requests("f64", "scalar-advection", "", "rk4"),
        requests("f64", "taylor-green", linear, "hale64"),
        requests("f32", "taylor-green", stochastic, "rk4"),
        requests("f64", "taylor-green", &format!("{filter}\n{SCALARS}"), "hale64"),
        requests("f64", "taylor-green", SCALARS, "rk4"),
    ];
    for (worker, caller) in runs {
        assert_eq!(worker, 0, "requests of the thread that computes");
        // A step is few jobs for the pool, and rayon's queue takes memory once for 63 jobs.
        assert!(caller <= 2, "{caller} requests of the thread that calls in {STEPS} steps");
    }
    assert!(LARGEST.load(Ordering::Relaxed) <= 2048, "a request is larger than a block of jobs");
}

/// (fields that a run holds, those that it holds at most while it starts, steps, and makes rows and samples), all ranks
/// together.
fn fields(ranks: [usize; 3], config: &Config) -> [isize; 2] {
    let points: usize = config.grid.points.iter().product();
    FIELD.store(points / ranks.iter().product::<usize>() * size_of::<f64>(), Ordering::Relaxed);
    FIELDS.store(0, Ordering::Relaxed);
    MOST_FIELDS.store(0, Ordering::Relaxed);
    let of_rank = |comm: Arc<dyn Communicator>| {
        let cpu = Box::new(Cpu::<f64>::new(Some(1)).unwrap());
        let backend = Ranks::new(cpu, comm, Decomposition { ranks }, &config.compute).unwrap();
        let mut simulation = Simulation::on(Arc::new(backend), config).unwrap();
        for _ in 0..2 {
            simulation.step(None).unwrap();
            simulation.row().unwrap();
        }
        simulation.backend().comm().barrier();
        let held = [&FIELDS, &MOST_FIELDS].map(|count| count.load(Ordering::Relaxed));
        simulation.output(&Variable::QCriterion).unwrap();
        simulation.picture(Drawn::Vorticity).unwrap();
        simulation.backend().comm().barrier();
        assert_eq!(FIELDS.load(Ordering::Relaxed), held[0], "outputs leave nothing");
        simulation.backend().comm().barrier();
        held
    };
    on_ranks(ranks.iter().product(), of_rank)[0]
}

#[test]
fn a_run_holds_the_fields_that_it_says() {
    // No other test has fields of so many bytes, and nothing else of a run is as long.
    let points = [29, 37, 82];
    let law = "gas.viscosity=sutherland";
    // Whole lines would take as much as fields.
    let split = "compute.distributed=pcr";
    let composed = "compute.right_hand_side=composed";
    let dye = "scalars.dye={ schmidt = 0.7, start = 'sin(x)' }";
    let ink = "scalars.ink={ schmidt = 7.0, start = 'y' }";
    for (ranks, set, expected) in [
        ([1, 1, 1], &[][..], 15),
        ([1, 1, 1], &[law], 15),
        ([1, 1, 1], &["time.integrator=rk4"], 5 + 5 + 4 * 5 + 5),
        ([1, 1, 2], &[law, split], 19),
        ([1, 1, 1], &[composed], 24),
        ([1, 1, 1], &[composed, law], 26),
        ([1, 1, 2], &[composed, split], 24),
        ([1, 1, 1], &["forcing.kind=linear", "forcing.coefficient=1"], 15),
        // A force of three components, and one on the host on its way there.
        (
            [1, 1, 1],
            &["forcing.kind=stochastic", "forcing.amplitude=1", "forcing.time_scale=1"],
            15 + 4,
        ),
        ([1, 1, 1], &[dye, ink], 15 + 2 * 2),
        ([1, 1, 2], &[dye, law, split], 19 + 2),
        ([1, 1, 1], &[dye, composed], 24 + 2),
    ] {
        let config = config("taylor-green", points, set);
        let count: usize = ranks.iter().product();
        let [held, most] = fields(ranks, &config);
        assert_eq!(held, (expected * count).cast_signed(), "{ranks:?} {set:?}");
        assert_eq!(most, held, "{ranks:?} {set:?}: the start and what is looked at take more");
        let block = Decomposition { ranks }.block(0, points);
        let told = Parts::of(&config, &block, None).bytes_a_point();
        assert!((told - 8.0 * float(expected)).abs() < 1e-9, "{ranks:?} {set:?}: {told} bytes");
    }
}

/// Bytes that all ranks hold behind a step, and those that are counted for them before a run begins.
fn bytes(ranks: [usize; 3], config: &Config) -> [f64; 2] {
    let cut = Decomposition { ranks };
    HELD.store(0, Ordering::Relaxed);
    let of_rank = |comm: Arc<dyn Communicator>| {
        let cpu = Cpu::<f64>::new(Some(1)).unwrap();
        // Fields are made on either thread.
        cpu.within(|| RANK.set(true));
        RANK.set(true);
        let backend = Ranks::new(Box::new(cpu), comm.clone(), cut, &config.compute).unwrap();
        let mut simulation = Simulation::on(Arc::new(backend), config).unwrap();
        // What it takes later is its scratch, which is as long as a few lines.
        simulation.backend().within(|| RANK.set(false));
        simulation.step(None).unwrap();
        comm.barrier();
        let held = HELD.load(Ordering::Relaxed);
        comm.barrier();
        drop(simulation);
        let block = cut.block(comm.rank(), config.grid.points);
        [
            held as f64,
            Parts::of(config, &block, None).bytes(&block) + for_messages(config, cut, &block),
        ]
    };
    let all = on_ranks(cut.size(), of_rank);
    [all[0][0], all.iter().map(|of_rank| of_rank[1]).sum()]
}

#[test]
fn what_is_counted_for_ranks_before_a_run_is_what_they_hold_by_every_method() {
    let long = ([24, 22, 90], [1, 1, 2]);
    let uneven = ([37, 40, 44], [2, 2, 2]);
    for (method, (points, ranks), more) in [
        ("neighbour", long, &[][..]),
        ("pcr", uneven, &[]),
        ("gather", long, &[]),
        ("chain", long, &["scheme.convection=staggered"]),
        // Copies for every sweep, and for all operands at once, were thirty times as much as was counted.
        ("transpose", uneven, &[]),
        ("transpose", uneven, &["compute.right_hand_side=composed"]),
        ("pcr", uneven, &["scalars.dye={ schmidt = 0.7, start = 'sin(x)' }"]),
        ("transpose", ([24, 44, 42], [1, 3, 2]), &["scheme.convection=staggered"]),
    ] {
        let method = format!("compute.distributed={method}");
        let set: Vec<&str> = more.iter().copied().chain([&*method]).collect();
        let [held, counted] = bytes(ranks, &config("taylor-green", points, &set));
        let part = held / counted;
        assert!((0.8..=1.0).contains(&part), "{set:?}: {held} bytes are held, {counted} counted");
    }
}
