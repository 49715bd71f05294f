//! The child of a `fork` has one thread, whatever the threads of its parent were at: it runs, compiles and cancels as the
//! parent does.
#![cfg(unix)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jaxide::prelude::*;
use jaxide::{Cancel, numpy, with_cancel};
use jaxide_cpu::runtime::ThreadPool;

/// After so many seconds the system ends a child that waits for ever.
const STUCK: u32 = 60;

/// Runs `work` in a child, which must end well.
fn in_child(what: &str, work: impl FnOnce()) {
    // SAFETY: the child runs what may be run after a fork of a process of many threads if the claim of this file holds,
    // and leaves without the destructors of its parent.
    unsafe {
        match libc::fork() {
            -1 => panic!("no fork: {}", std::io::Error::last_os_error()),
            0 => {
                libc::alarm(STUCK);
                let done = catch_unwind(AssertUnwindSafe(work));
                libc::_exit(i32::from(done.is_err()));
            }
            child => {
                let mut status = 0;
                assert_eq!(libc::waitpid(child, &mut status, 0), child);
                assert!(
                    libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
                    "{what}: the child ends with {status:#x} (0xe is an alarm)"
                );
            }
        }
    }
}

fn large() -> Array {
    numpy::linspace(0.0, 9.0, 300_000)
}

fn program(x: Array) -> Array {
    numpy::cumsum(&(x.sin() * 2.0 + 1.0).exp(), 0)
}

#[test]
fn children_work_whatever_their_parents_do() {
    let f = jit(program);
    let x = large();
    let want = f(x.clone()).to_vec::<f32>();
    let eager = (x.cos() + 1.0).sum().item::<f32>();
    assert!(ThreadPool::global().threads() >= 1);

    in_child("the first loop on many threads", || {
        assert_eq!(f(x.clone()).to_vec::<f32>(), want);
        // As many threads as the parent has, of its own.
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let asked = std::env::var_os("JAXIDE_THREADS").is_some();
        assert!(asked || ThreadPool::global().threads() == threads.min(64));
        in_child_of_child(&|| assert_eq!(f(x.clone()).to_vec::<f32>(), want));
    });

    // While others compile, run and drop things.
    let stop = AtomicBool::new(false);
    let rounds = 60;
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (stop, f, x) = (&stop, &f, &x);
            scope.spawn(move || {
                let mut k = 0;
                while !stop.load(Ordering::Relaxed) {
                    k += 1;
                    let c = (k * 4 + thread) as f32;
                    let y = jit(move |x: Array| x * c + 1.0)(Array::from([1.0f32, 2.0]));
                    assert_eq!(y.to_vec::<f32>(), [c + 1.0, 2.0 * c + 1.0]);
                    drop(f(x.clone()));
                    drop((x.cos() + c).sum());
                }
            });
        }
        for round in 0..rounds {
            let what = format!("round {round}");
            in_child(&what, || {
                assert_eq!(f(x.clone()).to_vec::<f32>(), want);
                assert_eq!((x.cos() + 1.0).sum().item::<f32>(), eager);
                let c = round as f32 / 16.0;
                let y = jit(move |x: Array| x * c - 1.0)(Array::from([1.0f32, 2.0]));
                assert_eq!(y.to_vec::<f32>(), [c - 1.0, 2.0 * c - 1.0]);
                let forever =
                    jit(|x: Array| while_loop(|x: Array| x.ge(0.0), |x: Array| x * 0.5, x));
                let limit = Cancel::after(Duration::from_millis(5));
                assert!(with_cancel(&limit, || forever(Array::from(1.0f32))).is_err());
            });
        }
        stop.store(true, Ordering::Relaxed);
    });
    // And the parent goes on.
    assert_eq!(f(x).to_vec::<f32>(), want);
}

/// A grandchild, for which the pool of the child is the wrong one.
fn in_child_of_child(work: &dyn Fn()) {
    in_child("a child of a child", work);
}

#[test]
fn pools_of_the_parent_run_on_the_calling_thread() {
    let pool = ThreadPool::new(3);
    in_child("a pool from before", || {
        let own = std::thread::current().id();
        let chunks = std::sync::Mutex::new(Vec::new());
        pool.parallel_for(3, 100, |chunk| {
            assert_eq!(std::thread::current().id(), own);
            chunks.lock().unwrap().push(chunk);
        });
        assert_eq!(chunks.into_inner().unwrap(), Vec::from_iter(0..100));
        // Helpers that are not here cannot be waited for.
        drop(pool);
    });
}
