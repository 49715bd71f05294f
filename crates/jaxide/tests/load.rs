//! Under load: threads that call, compile, drop, fail and cancel the same and different programs get the same bits each
//! time, never wait for each other for ever, and take no more memory as time goes on.
//!
//! ```text
//! JAXIDE_LOAD_SECONDS=600 cargo test --release -p jaxide --test load -- --nocapture
//! ```
//!
//! works for ten minutes instead of a few seconds. `JAXIDE_LOAD_SEED` asks for other choices.

#[path = "load/work.rs"]
mod work;

use std::panic::set_hook;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jaxide::prelude::*;
use jaxide::{cache, numpy};
use jaxide_testing::{Random, asked};

use work::{DEEDS, Work};

/// What both tests look at belongs to the process.
static ALONE: Mutex<()> = Mutex::new(());

/// So many threads work at once.
const THREADS: usize = 8;

/// A thread that does one thing for so long waits for ever.
const STUCK: Duration = Duration::from_secs(120);

/// What the cache may keep, so little that it is full soon.
const CACHE: usize = 16 << 20;

/// Bytes of memory that the process has; `None` where the system does not tell.
fn resident() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

/// What one thread is at, and how much it has done.
#[derive(Default)]
struct Progress {
    doing: AtomicU64,
    done: AtomicU64,
    wrong: Mutex<Vec<String>>,
}

/// Works until it is to stop.
fn go_on(work: &Work, thread: usize, seed: u64, progress: &Progress, stop: &AtomicBool) {
    let mut random = Random(seed ^ (thread as u64) << 32);
    while !stop.load(Ordering::Relaxed) {
        let deed = random.below(DEEDS.len());
        progress.doing.store(deed as u64, Ordering::Relaxed);
        if let Err(message) = (DEEDS[deed].1)(work, &mut random) {
            let mut wrong = progress.wrong.lock().unwrap();
            wrong.push(format!("{}: {message}", DEEDS[deed].0));
            return;
        }
        progress.done.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn threads_that_share_everything_stay_right() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // What is meant to panic is silent.
    set_hook(Box::new(|info| {
        if !work::is_meant(info.payload()) {
            eprintln!("{info}");
        }
    }));
    let seconds: f64 = asked("JAXIDE_LOAD_SECONDS").unwrap_or(6.0);
    let seed: u64 = asked("JAXIDE_LOAD_SEED").unwrap_or(0);
    cache().set_limit(CACHE);
    let work = Arc::new(Work::new());
    let stop = Arc::new(AtomicBool::new(false));
    let progress: Vec<Arc<Progress>> = (0..THREADS).map(|_| Arc::default()).collect();
    let start = Instant::now();
    // Not scoped: a thread that waits for ever must not keep the message from being said.
    let threads: Vec<_> = (progress.iter().cloned().enumerate())
        .map(|(thread, progress)| {
            let (work, stop) = (work.clone(), stop.clone());
            let own = move || go_on(&work, thread, seed, &progress, &stop);
            std::thread::Builder::new()
                .stack_size(16 << 20)
                .spawn(own)
                .unwrap()
        })
        .collect();
    let counts = || -> Vec<u64> {
        let each = progress.iter();
        each.map(|one| one.done.load(Ordering::Relaxed)).collect()
    };
    let (mut before, mut moved) = (counts(), vec![start; THREADS]);
    let (mut warm, mut said) = (None, start);
    let watch = |before: &mut Vec<u64>, moved: &mut Vec<Instant>| {
        let now = counts();
        for (thread, (old, new)) in before.iter_mut().zip(&now).enumerate() {
            if *old != *new || threads[thread].is_finished() {
                (*old, moved[thread]) = (*new, Instant::now());
            }
            if moved[thread].elapsed() > STUCK {
                let doing = progress[thread].doing.load(Ordering::Relaxed) as usize;
                eprintln!(
                    "thread {thread} is stuck: {}; all have done {now:?}",
                    DEEDS[doing].0
                );
                std::process::exit(1);
            }
        }
    };
    while start.elapsed().as_secs_f64() < seconds && !threads.iter().any(|one| one.is_finished()) {
        std::thread::sleep(Duration::from_millis(20));
        watch(&mut before, &mut moved);
        if warm.is_none() && start.elapsed().as_secs_f64() > seconds * 0.4 {
            warm = resident();
        }
        if said.elapsed() > Duration::from_secs(30) {
            let (megabytes, done) = (resident().unwrap_or(0) >> 20, counts().iter().sum::<u64>());
            println!(
                "{:.0?}: {done} done, {megabytes} MiB, {} programs kept",
                start.elapsed(),
                cache().entries()
            );
            said = Instant::now();
        }
    }
    stop.store(true, Ordering::Relaxed);
    while threads.iter().any(|one| !one.is_finished()) {
        std::thread::sleep(Duration::from_millis(20));
        watch(&mut before, &mut moved);
    }
    let end = resident();
    threads.into_iter().for_each(|one| one.join().unwrap());
    println!(
        "{:?} done in {:.1?} from seed {seed}, from {:?} to {:?} MiB, {} programs kept, {} compiled",
        counts(),
        start.elapsed(),
        warm.map(|bytes| bytes >> 20),
        end.map(|bytes| bytes >> 20),
        cache().entries(),
        cache().misses()
    );
    let wrong: Vec<String> = (progress.iter())
        .flat_map(|one| std::mem::take(&mut *one.wrong.lock().unwrap()))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(counts().iter().all(|&done| done > 0), "{:?}", counts());
    assert!(cache().bytes() <= CACHE + (1 << 20), "{}", cache().bytes());
    if let (Some(warm), Some(end)) = (warm, end) {
        assert!(
            end < warm + warm / 4 + (64 << 20),
            "grows from {warm} to {end} bytes"
        );
    }
    let _ = std::panic::take_hook();
}

/// Different programs, one after another: what is kept of them is bounded, and about as large as is said.
#[test]
fn ever_new_programs_take_no_more_memory() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    cache().set_limit(CACHE);
    let x = Array::from([1.0f32, 2.0, 3.0]);
    let run = |from: u32, to: u32| {
        for k in from..to {
            let (scale, shift) = (1.0 + k as f32 / 1024.0, k as f32);
            let f = jit(move |x: Array| {
                (x * scale + shift).sin().sum() + numpy::sum(&Array::from([shift, scale]), ())
            });
            let y = f(x.clone()).item::<f32>();
            assert!(y.is_finite());
        }
    };
    run(0, 50);
    cache().clear();
    let Some(empty) = resident() else {
        return;
    };
    let mut filled = 0;
    // Until some are dropped, and more than once again.
    while cache().entries() >= filled {
        filled = cache().entries();
        run(1000 + filled as u32, 1100 + filled as u32);
        assert!(filled < 20_000, "the limit is not reached");
    }
    let full = resident().unwrap();
    run(30_000, 30_000 + 2 * filled as u32);
    let end = resident().unwrap();
    println!(
        "{filled} programs took {} MiB, and {} in the end",
        (full - empty) >> 20,
        (end - empty) >> 20
    );
    assert!(cache().entries() <= filled + 100);
    assert!(
        full - empty < 2 * CACHE,
        "{filled} programs took {} bytes",
        full - empty
    );
    assert!(end - empty < 2 * CACHE, "{} bytes", end - empty);
}
