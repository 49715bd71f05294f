//! The persistent thread pool: fork-join over numbered chunks.
//!
//! A call offers its job to helper threads that are idle, works itself, and then takes back every
//! offer that no helper has accepted yet. It waits only for helpers that are in the middle of a
//! chunk, so a helper that the operating system has not scheduled never delays anybody. Helpers
//! watch for about 150 µs after their last job, so that loops in quick succession start within a
//! fraction of a microsecond, and then sleep.
//!
//! Which thread runs a chunk is left open; what a chunk is, the caller fixes. Results therefore do
//! not depend on the number of threads. Chunks are handed out by ranges: each participant starts in
//! its own share of the index space, the same share in every call, so that data stays in its core's
//! cache, and helps in the others' shares when its own is done.
//!
//! The child of a `fork` has none of the helpers. A pool from before runs its loops on the calling
//! thread there; the [global](ThreadPool::global) one is made anew.

use std::any::Any;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;

use super::Process;
use super::subnormals::FloatMode;
use super::sync::{
    Arc, AtomicBool, AtomicPtr, AtomicUsize, Builder, JoinHandle, MAX_PARTICIPANTS, Mutex,
    Ordering, Thread, current, inside_chunk, park, set_inside_chunk, spin_until, watch_until,
};

/// Threads that run chunks of loops together with the thread that calls
/// [`ThreadPool::parallel_for`].
pub struct ThreadPool {
    helpers: Vec<Helper>,
    /// Where the helpers are.
    process: Process,
}

impl ThreadPool {
    /// A pool for loops on `threads` threads, the calling thread included: `threads - 1` helpers
    /// are started (fewer if the system refuses).
    pub fn new(threads: usize) -> Self {
        let wanted = threads.clamp(1, MAX_PARTICIPANTS) - 1;
        Self {
            process: Process::current(),
            helpers: (0..wanted).map_while(Helper::spawn).collect(),
        }
    }

    /// Whether the helpers are threads of this process.
    pub(super) fn is_here(&self) -> bool {
        self.process.is_current()
    }

    /// The number of threads that can work on one loop, the caller's included.
    pub fn threads(&self) -> usize {
        self.helpers.len() + 1
    }

    /// Runs `body(0)`, … `body(chunks - 1)`, each exactly once, on at most `threads` threads, and
    /// returns when all are done.
    ///
    /// May be called from many threads at once. A call from inside a chunk runs on the calling
    /// thread alone. Waking sleeping helpers costs the caller a few microseconds, so a loop is
    /// worth splitting from about 5 µs of work.
    ///
    /// # Panics
    /// If a chunk panics, with the same payload; some chunks may then not have run.
    pub fn parallel_for(&self, threads: usize, chunks: usize, body: impl Fn(usize) + Sync) {
        self.for_each_chunk(threads, chunks, &body);
    }

    /// [`parallel_for`](Self::parallel_for), compiled once and not for each loop.
    pub(super) fn for_each_chunk(
        &self,
        threads: usize,
        chunks: usize,
        body: &(dyn Fn(usize) + Sync),
    ) {
        let participants = threads.min(chunks).min(self.threads());
        if participants <= 1 || inside_chunk() || !self.is_here() {
            (0..chunks).for_each(body);
        } else {
            self.fork_join(participants, chunks, body);
        }
    }

    fn fork_join(&self, participants: usize, chunks: usize, body: &(dyn Fn(usize) + Sync)) {
        // SAFETY: only the lifetime changes. The job does not outlive this call: the loop below
        // takes every offer back or waits until the helper that accepted it is done.
        let body = unsafe {
            std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(body)
        };
        let mut next = [const { MaybeUninit::uninit() }; MAX_PARTICIPANTS];
        for (rank, counter) in next[..participants].iter_mut().enumerate() {
            counter.write(CacheLine(AtomicUsize::new(chunks * rank / participants)));
        }
        let job = Job {
            body,
            chunks,
            participants,
            next,
            running: AtomicUsize::new(0),
            caller: current(),
            mode: FloatMode::current(),
            stopped: AtomicBool::new(false),
            panic: Mutex::new(None),
        };
        let job_address = ptr::from_ref(&job).cast_mut();
        let mut offered = 0u64;
        for (index, helper) in self.helpers.iter().enumerate() {
            if offered.count_ones() as usize + 1 == participants {
                break;
            }
            // Counted before the offer, since the helper may accept and finish at once.
            job.running.fetch_add(1, Ordering::Relaxed);
            if helper.slot.offer(job_address, &helper.thread) {
                offered |= 1 << index;
            } else {
                job.running.fetch_sub(1, Ordering::Relaxed);
            }
        }
        job.work(0);
        for (index, helper) in self.helpers.iter().enumerate() {
            if offered & (1 << index) != 0 && helper.slot.take_back(job_address) {
                job.running.fetch_sub(1, Ordering::Relaxed);
            }
        }
        job.wait_for_helpers();
        if let Some(payload) = job
            .panic
            .into_inner()
            .unwrap_or_else(|poison| poison.into_inner())
        {
            resume_unwind(payload);
        }
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        if !self.is_here() {
            // Their threads are the parent's.
            self.helpers.drain(..).for_each(std::mem::forget);
        }
        for helper in &self.helpers {
            helper.slot.job.swap(SHUTDOWN, Ordering::AcqRel);
            helper.thread.unpark();
        }
        for helper in &mut self.helpers {
            if let Some(handle) = helper.handle.take() {
                // A helper catches the panics of chunks, so there is nothing to report here.
                let _ = handle.join();
            }
        }
    }
}

/// One loop that is being run. It lives on the stack of the calling thread.
struct Job {
    body: &'static (dyn Fn(usize) + Sync),
    chunks: usize,
    participants: usize,
    /// For each participant's share of the index space, the next chunk in it. Only the first
    /// `participants` are initialised.
    next: [MaybeUninit<CacheLine<AtomicUsize>>; MAX_PARTICIPANTS],
    /// Helpers that hold an offer or work; with [`CALLER_SLEEPS`] added when the last one must wake
    /// the caller.
    running: AtomicUsize,
    caller: Thread,
    /// How the caller takes subnormal numbers, and so helpers do.
    mode: FloatMode,
    stopped: AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

const CALLER_SLEEPS: usize = 1 << 32;

/// Keeps counters that different threads write in different cache lines.
#[repr(align(128))]
struct CacheLine<T>(T);

impl Job {
    /// Runs chunks until none is left, beginning with the share of participant `rank`.
    fn work(&self, rank: usize) {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let _inside = InsideChunk::enter();
            for step in 0..self.participants {
                let share = (rank + step) % self.participants;
                let end = self.chunks * (share + 1) / self.participants;
                // SAFETY: `share` is below `participants`, and those counters were written before
                // the job was offered.
                let next = unsafe { &self.next[share].assume_init_ref().0 };
                while !self.stopped.load(Ordering::Relaxed) {
                    let chunk = next.fetch_add(1, Ordering::Relaxed);
                    if chunk >= end {
                        break;
                    }
                    (self.body)(chunk);
                }
            }
        }));
        if let Err(payload) = outcome {
            self.stopped.store(true, Ordering::Relaxed);
            self.panic
                .lock()
                .unwrap_or_else(|poison| poison.into_inner())
                .get_or_insert(payload);
        }
    }

    fn wait_for_helpers(&self) {
        if spin_until(|| self.running.load(Ordering::Acquire) == 0) {
            return;
        }
        if self.running.fetch_add(CALLER_SLEEPS, Ordering::Acquire) == 0 {
            return;
        }
        while self.running.load(Ordering::Acquire) != CALLER_SLEEPS {
            park();
        }
    }
}

/// Says that the thread runs a chunk while it lives, also when a chunk panics.
struct InsideChunk;

impl InsideChunk {
    fn enter() -> Self {
        set_inside_chunk(true);
        Self
    }
}

impl Drop for InsideChunk {
    fn drop(&mut self) {
        set_inside_chunk(false);
    }
}

struct Helper {
    slot: Arc<Slot>,
    thread: Thread,
    handle: Option<JoinHandle<()>>,
}

impl Helper {
    fn spawn(index: usize) -> Option<Self> {
        let slot = Arc::new(Slot {
            job: AtomicPtr::new(IDLE),
        });
        let own_slot = Arc::clone(&slot);
        let handle = Builder::new()
            .name(format!("jaxide-{}", index + 1))
            .spawn(move || {
                while let Some(job) = own_slot.accept() {
                    // SAFETY: between accepting an offer and the decrement of `running` below, the
                    // calling thread keeps the job alive.
                    let job_ref = unsafe { &*job };
                    let rank = 1 + index % (job_ref.participants - 1);
                    job_ref.mode.during(|| job_ref.work(rank));
                    let caller = job_ref.caller.clone();
                    // Free for the next offer before the caller is released, who may come back at
                    // once.
                    own_slot.job.store(IDLE, Ordering::Release);
                    if job_ref.running.fetch_sub(1, Ordering::AcqRel) == CALLER_SLEEPS + 1 {
                        caller.unpark();
                    }
                }
            })
            .ok()?;
        Some(Self {
            slot,
            thread: handle.thread().clone(),
            handle: Some(handle),
        })
    }
}

/// A helper's letter box: one of the states below, or the job it is offered.
#[repr(align(128))]
struct Slot {
    job: AtomicPtr<Job>,
}

/// Watching for an offer.
const IDLE: *mut Job = ptr::null_mut();
/// Asleep: who offers a job must wake it.
const ASLEEP: *mut Job = ptr::without_provenance_mut(1);
/// Working on a job it has accepted.
const BUSY: *mut Job = ptr::without_provenance_mut(2);
/// Told to end.
const SHUTDOWN: *mut Job = ptr::without_provenance_mut(3);

impl Slot {
    /// Puts a job into the box of an idle or sleeping helper.
    fn offer(&self, job: *mut Job, helper: &Thread) -> bool {
        loop {
            let state = self.job.load(Ordering::Relaxed);
            if state != IDLE && state != ASLEEP {
                return false;
            }
            if self
                .job
                .compare_exchange(state, job, Ordering::Release, Ordering::Relaxed)
                .is_ok()
            {
                if state == ASLEEP {
                    helper.unpark();
                }
                return true;
            }
        }
    }

    /// Withdraws an offer that the helper has not accepted.
    fn take_back(&self, job: *mut Job) -> bool {
        self.job
            .compare_exchange(job, IDLE, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// Waits for an offer and accepts it; `None` means that the pool is gone.
    fn accept(&self) -> Option<*mut Job> {
        loop {
            let offered = |state| state != IDLE && state != ASLEEP;
            watch_until(|| offered(self.job.load(Ordering::Relaxed)));
            let _ = self
                .job
                .compare_exchange(IDLE, ASLEEP, Ordering::Relaxed, Ordering::Relaxed);
            while self.job.load(Ordering::Relaxed) == ASLEEP {
                park();
            }
            let job = self.job.load(Ordering::Relaxed);
            if job == SHUTDOWN {
                return None;
            }
            if offered(job)
                && self
                    .job
                    .compare_exchange(job, BUSY, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
            {
                return Some(job);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sync::WATCH;
    use super::*;
    use std::sync::atomic::AtomicU32;
    use std::thread;
    use std::time::{Duration, Instant};

    /// Runs a loop and returns how often each chunk ran.
    fn counts(pool: &ThreadPool, threads: usize, chunks: usize) -> Vec<u32> {
        let counters: Vec<AtomicU32> = (0..chunks).map(|_| AtomicU32::new(0)).collect();
        pool.parallel_for(threads, chunks, |chunk| {
            counters[chunk].fetch_add(1, Ordering::Relaxed);
        });
        counters.into_iter().map(AtomicU32::into_inner).collect()
    }

    #[test]
    fn every_chunk_runs_once() {
        for size in [1, 2, 3, 8] {
            let pool = ThreadPool::new(size);
            for threads in [1, 2, 5, 100] {
                for chunks in [0, 1, 2, 3, 7, 64, 1000] {
                    assert!(
                        counts(&pool, threads, chunks).iter().all(|&c| c == 1),
                        "{size} {threads} {chunks}"
                    );
                }
            }
        }
    }

    #[test]
    fn calls_from_many_threads_do_not_disturb_each_other() {
        let pool = ThreadPool::new(3);
        thread::scope(|scope| {
            for user in 0..6 {
                let pool = &pool;
                scope.spawn(move || {
                    for round in 0..300 {
                        assert!(
                            counts(pool, 3, 1 + (user + round) % 9)
                                .iter()
                                .all(|&c| c == 1)
                        );
                    }
                });
            }
        });
    }

    #[test]
    fn sleeping_helpers_wake_up() {
        let pool = ThreadPool::new(2);
        for _ in 0..5 {
            thread::sleep(WATCH * 10);
            let threads = Mutex::new(Vec::new());
            let start = Instant::now();
            pool.parallel_for(2, 2, |_| {
                threads.lock().unwrap().push(thread::current().id());
                // Leaves the other chunk to the helper, unless that one does not come.
                while threads.lock().unwrap().len() < 2 && start.elapsed() < Duration::from_secs(10)
                {
                    thread::yield_now();
                }
            });
            let seen = threads.into_inner().unwrap();
            assert!(seen.len() == 2 && seen[0] != seen[1]);
        }
    }

    #[test]
    fn nested_loops_run_on_the_calling_thread() {
        let pool = ThreadPool::new(4);
        let total = AtomicUsize::new(0);
        pool.parallel_for(4, 10, |_| {
            let outer = thread::current().id();
            pool.parallel_for(4, 10, |_| {
                assert_eq!(thread::current().id(), outer);
                total.fetch_add(1, Ordering::Relaxed);
            });
        });
        assert_eq!(total.into_inner(), 100);
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_pool_survives() {
        let pool = ThreadPool::new(2);
        for bad in 0..20 {
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                pool.parallel_for(2, 20, |chunk| assert_ne!(chunk, bad, "chunk {bad}"));
            }));
            let message = *outcome.unwrap_err().downcast::<String>().unwrap();
            assert!(message.contains(&format!("chunk {bad}")));
            assert!(counts(&pool, 2, 50).iter().all(|&c| c == 1));
        }
    }

    #[test]
    fn no_more_threads_work_than_may() {
        let pool = ThreadPool::new(6);
        for limit in [1, 2, 3] {
            for _ in 0..30 {
                let threads = Mutex::new(std::collections::HashSet::new());
                pool.parallel_for(limit, 40, |_| {
                    threads.lock().unwrap().insert(thread::current().id());
                    thread::sleep(Duration::from_micros(20));
                });
                let count = threads.into_inner().unwrap().len();
                assert!(count <= limit, "{count} threads, {limit} may work");
            }
        }
    }
}
