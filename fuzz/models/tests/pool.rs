//! The pool of threads, in every order in which its threads may run, and every order in which they may see what others wrote.

use jaxide_models::pool::ThreadPool;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// Numbers that are written without a lock, which loom watches: two threads at one of them at once are a mistake.
struct Numbers(Vec<UnsafeCell<usize>>);

// SAFETY: loom ends the model where two threads are at a number at once.
unsafe impl Sync for Numbers {}

impl Numbers {
    fn new(count: usize) -> Self {
        Numbers((0..count).map(|_| UnsafeCell::new(0)).collect())
    }

    fn add(&self, at: usize) {
        // SAFETY: as above.
        self.0[at].with_mut(|number| unsafe { *number += 1 });
    }

    fn get(&self, at: usize) -> usize {
        // SAFETY: as above.
        self.0[at].with(|number| unsafe { *number })
    }
}

/// Runs loops of `chunks` one after the other; each chunk of each runs once, and is seen by the caller.
fn loops(pool: &ThreadPool, chunks: usize, count: usize) {
    let numbers = Numbers::new(chunks);
    for turn in 1..=count {
        pool.parallel_for(2, chunks, |chunk| numbers.add(chunk));
        assert!((0..chunks).all(|chunk| numbers.get(chunk) == turn));
    }
}

fn model(preemptions: usize, f: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(preemptions);
    builder.check(f);
}

#[test]
fn a_loop_runs_every_chunk_once() {
    model(4, || loops(&ThreadPool::new(2), 2, 1));
}

#[test]
fn more_chunks_than_threads() {
    model(3, || loops(&ThreadPool::new(2), 3, 1));
}

#[test]
fn one_loop_after_another() {
    model(3, || loops(&ThreadPool::new(2), 2, 2));
}

#[test]
fn two_callers_share_a_helper() {
    model(2, || {
        let pool = Arc::new(ThreadPool::new(2));
        let other = pool.clone();
        let caller = thread::spawn(move || loops(&other, 2, 1));
        loops(&pool, 2, 1);
        caller.join().unwrap();
    });
}

#[test]
fn a_pool_that_is_not_used_ends() {
    model(4, || drop(ThreadPool::new(3)));
}

#[test]
fn loops_in_chunks_run_where_they_are() {
    model(3, || {
        let pool = ThreadPool::new(2);
        let numbers = Numbers::new(4);
        pool.parallel_for(2, 2, |outer| {
            pool.parallel_for(2, 2, |inner| numbers.add(2 * outer + inner));
        });
        assert!((0..4).all(|chunk| numbers.get(chunk) == 1));
    });
}
