//! The time loop allocates nothing, and a run stores exactly as many fields as its memory estimate states.

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
use kolmo::time::{Parts, Simulation, message_bytes};

use crate::common::{config, float, on_host};
use crate::spread::threads::on_ranks;

/// The system's allocator, which counts the requests of watched threads.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Requests of the worker threads of a simulation, requests of its caller, and the largest request of the caller in bytes.
static WORKER: AtomicUsize = AtomicUsize::new(0);
static CALLER: AtomicUsize = AtomicUsize::new(0);
static LARGEST: AtomicUsize = AtomicUsize::new(0);

/// Bytes of an allocation that counts as a field, on any thread; the current and the largest number of fields.
static FIELD: AtomicUsize = AtomicUsize::new(usize::MAX);
static FIELDS: AtomicIsize = AtomicIsize::new(0);
static MOST_FIELDS: AtomicIsize = AtomicIsize::new(0);

fn count_field(size: usize, change: isize) {
    if size == FIELD.load(Ordering::Relaxed) {
        let before = FIELDS.fetch_add(change, Ordering::Relaxed);
        MOST_FIELDS.fetch_max(before + change, Ordering::Relaxed);
    }
}

/// Bytes that threads of ranks have allocated in pieces of more than [`LARGE`] bytes: fields, planes, and lines that are exchanged, but
/// no programs and tables.
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

// SAFETY: all calls are forwarded to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: forwarded.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: forwarded.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        count_field(layout.size(), -1);
        count_held(layout.size(), -1);
        // SAFETY: forwarded.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count_field(layout.size(), -1);
        count_held(layout.size(), -1);
        // SAFETY: forwarded.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Sets the roles of the calling thread and of the only worker thread.
fn watch(simulation: &Simulation, caller: Role, worker: Role) {
    simulation.backend().within(|| ROLE.set(worker));
    ROLE.set(caller);
}

/// Two passive scalars of an input file.
const SCALARS: &str =
    "[scalars]\ndye = { schmidt = 0.7, start = 'sin(x)' }\nink = { schmidt = 7.0, start = 1 }";

/// Number of steps whose requests are counted.
const STEPS: usize = 20;

/// The requests of (the worker, the caller) in [`STEPS`] steps after the first two.
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
fn steps_allocate_only_rare_blocks_of_the_job_queue() {
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
        assert_eq!(worker, 0, "requests of the worker thread");
        // A step submits few jobs to the pool, and rayon's queue allocates one block per 63 jobs.
        assert!(caller <= 2, "{caller} requests of the calling thread in {STEPS} steps");
    }
    assert!(
        LARGEST.load(Ordering::Relaxed) <= 2048,
        "a request exceeds the size of a block of jobs"
    );
}

/// Sums over all ranks: the number of fields that a run stores, and the largest number during start, steps, rows and samples.
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
        assert_eq!(FIELDS.load(Ordering::Relaxed), held[0], "outputs release all their fields");
        simulation.backend().comm().barrier();
        held
    };
    on_ranks(ranks.iter().product(), of_rank)[0]
}

#[test]
fn stored_fields_match_the_memory_estimate() {
    // No other test has fields of this size, and no other array of a run has this length.
    let points = [29, 37, 82];
    let law = "gas.viscosity=sutherland";
    // Methods that exchange complete lines would take as much memory for them as for fields.
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
        // A force of three components, and one component in transfer on the host.
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
        assert_eq!(most, held, "{ranks:?} {set:?}: start or diagnostics take more fields");
        let block = Decomposition { ranks }.block(0, points);
        let estimate = Parts::of(&config, &block, None).bytes_per_point();
        assert!(
            (estimate - 8.0 * float(expected)).abs() < 1e-9,
            "{ranks:?} {set:?}: {estimate} bytes"
        );
    }
}

/// The bytes that all ranks have allocated after a step, and the bytes estimated for them before the run.
fn bytes(ranks: [usize; 3], config: &Config) -> [f64; 2] {
    let cut = Decomposition { ranks };
    HELD.store(0, Ordering::Relaxed);
    let of_rank = |comm: Arc<dyn Communicator>| {
        let cpu = Cpu::<f64>::new(Some(1)).unwrap();
        // Fields are allocated on both threads.
        cpu.within(|| RANK.set(true));
        RANK.set(true);
        let backend = Ranks::new(Box::new(cpu), comm.clone(), cut, &config.compute).unwrap();
        let mut simulation = Simulation::on(Arc::new(backend), config).unwrap();
        // Later allocations of the worker are scratch arrays with the length of a few lines.
        simulation.backend().within(|| RANK.set(false));
        simulation.step(None).unwrap();
        comm.barrier();
        let held = HELD.load(Ordering::Relaxed);
        comm.barrier();
        drop(simulation);
        let block = cut.block(comm.rank(), config.grid.points);
        [
            held as f64,
            Parts::of(config, &block, None).bytes(&block) + message_bytes(config, cut, &block),
        ]
    };
    let all = on_ranks(cut.size(), of_rank);
    [all[0][0], all.iter().map(|of_rank| of_rank[1]).sum()]
}

#[test]
fn memory_estimate_of_ranks_matches_the_use_of_every_method() {
    let long = ([24, 22, 90], [1, 1, 2]);
    let uneven = ([37, 40, 44], [2, 2, 2]);
    for (method, (points, ranks), extra) in [
        ("neighbour", long, &[][..]),
        ("pcr", uneven, &[]),
        ("gather", long, &[]),
        ("chain", long, &["scheme.convection=staggered"]),
        // Separate copies for every sweep, and for all operands at once, once took thirty times the estimated memory.
        ("transpose", uneven, &[]),
        ("transpose", uneven, &["compute.right_hand_side=composed"]),
        ("pcr", uneven, &["scalars.dye={ schmidt = 0.7, start = 'sin(x)' }"]),
        ("transpose", ([24, 44, 42], [1, 3, 2]), &["scheme.convection=staggered"]),
    ] {
        let method = format!("compute.distributed={method}");
        let set: Vec<&str> = extra.iter().copied().chain([&*method]).collect();
        let [allocated, estimated] = bytes(ranks, &config("taylor-green", points, &set));
        let ratio = allocated / estimated;
        assert!(
            (0.8..=1.0).contains(&ratio),
            "{set:?}: {allocated} bytes allocated, {estimated} estimated"
        );
    }
}
