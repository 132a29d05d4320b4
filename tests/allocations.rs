//! The time loop allocates nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use kolmo::Real;
use kolmo::backend::cpu::Cpu;
use kolmo::time::Simulation;

/// The system's allocator, which counts what watched threads ask for.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Requests of threads that work for a simulation, and of those that call it, with the largest of these.
static WORKER: AtomicUsize = AtomicUsize::new(0);
static CALLER: AtomicUsize = AtomicUsize::new(0);
static LARGEST: AtomicUsize = AtomicUsize::new(0);

#[derive(Clone, Copy, PartialEq)]
enum Role {
    Unwatched,
    Worker,
    Caller,
}

thread_local! {
    static ROLE: Cell<Role> = const { Cell::new(Role::Unwatched) };
}

fn count(size: usize) {
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
        // SAFETY: passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Give the thread that calls and the only one that works their roles.
fn watch<T: Real>(simulation: &mut Simulation<Cpu<T>>, caller: Role, worker: Role) {
    let cpu = simulation.system_and_state().0.backend();
    cpu.within(|| ROLE.set(worker));
    ROLE.set(caller);
}

/// Steps that are counted.
const STEPS: usize = 20;

/// (requests of the worker, of the caller) in [`STEPS`] steps after the first two.
fn requests<T: Real>(case: &str, scheme: &str, integrator: &str) -> (usize, usize) {
    let text = format!(
        "[case]\nname = '{case}'\n[grid]\npoints = [16, 16, 16]\n[scheme]\n{scheme}\n\
         [time]\nend = 1.0\nintegrator = '{integrator}'\n[compute]\nthreads = 1\n"
    );
    let config = kolmo::config::parse(&text, "test", &[]).unwrap();
    let mut simulation = Simulation::<Cpu<T>>::new(&config).unwrap();
    for _ in 0..2 {
        simulation.step(None).unwrap();
    }
    let counts = || [&WORKER, &CALLER].map(|count| count.load(Ordering::Relaxed));
    watch(&mut simulation, Role::Caller, Role::Worker);
    let before = counts();
    for _ in 0..STEPS {
        simulation.step(None).unwrap();
    }
    let after = counts();
    watch(&mut simulation, Role::Unwatched, Role::Unwatched);
    (after[0] - before[0], after[1] - before[1])
}

#[test]
fn a_step_allocates_nothing_but_rarely_a_block_of_the_queue_of_jobs() {
    let filter = "filter = { order = 8, alpha = 0.49 }";
    let staggered = "convection = 'staggered'";
    let runs = [
        requests::<f64>("taylor-green", "", "hale64"),
        requests::<f64>("taylor-green", filter, "rk4"),
        requests::<f32>("isentropic-vortex", staggered, "ssprk3"),
        requests::<f64>("scalar-advection", "", "rk4"),
    ];
    for (worker, caller) in runs {
        assert_eq!(worker, 0, "requests of the thread that computes");
        // A step is one job or two for the pool, and rayon's queue takes memory once for 63 jobs.
        assert!(caller <= 1, "{caller} requests of the thread that calls in {STEPS} steps");
    }
    assert!(LARGEST.load(Ordering::Relaxed) <= 2048, "a request is larger than a block of jobs");
}
