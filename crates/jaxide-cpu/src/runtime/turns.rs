//! Loops whose turns are shared out among threads.

use super::upper;
use super::{Context, PoolBuffer};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Some turns of a loop, as generated code: `frame` holds what is the same for all, `own` is where the memory of a turn would be if it were
/// at its place in the arena. Gives 0, or another number after the execution took an error or is to end.
type Body = unsafe extern "C" fn(
    frame: *const *mut u8,
    own: *mut u8,
    from: usize,
    to: usize,
    context: *const Context<'_>,
) -> u32;

/// A loop whose turns can be run in any order.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct TurnsLaunch {
    /// Filled in when the data has its place.
    pub(crate) body: Option<Body>,
    pub(crate) count: usize,
    /// How many turns a thread takes at once.
    pub(crate) at_once: usize,
    /// Where the memory that each thread has for itself begins in the arena.
    pub(crate) start: usize,
    /// How many bytes it has.
    pub(crate) bytes: usize,
    /// Not 0 if steps of a turn are better run by several threads than by one.
    pub(crate) splits: usize,
    /// At most so many threads share out the turns.
    pub(crate) threads: usize,
}

/// Entries of a frame: pointers to inputs, outputs and constants, and the arena; behind them the loops around and their pointers.
pub(crate) const FRAME_WORDS: usize = 4;

/// The entry of a frame that is the arena.
const ARENA: usize = 3;

/// If steps split themselves, threads share out turns if there are at least so many for each.
const TURNS_FOR_EACH: usize = 2;

impl TurnsLaunch {
    /// The data, but for the address of the code, which stands in front.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        const { assert!(size_of::<TurnsLaunch>() == 7 * 8, "words alone") };
        let words = [
            0,
            self.count,
            self.at_once,
            self.start,
            self.bytes,
            self.splits,
            self.threads,
        ];
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    /// How many threads share out the turns.
    fn workers(&self, context: &Context<'_>) -> usize {
        let threads = context.threads();
        if self.splits != 0 && self.count < TURNS_FOR_EACH * threads {
            return 1;
        }
        let threads = threads.min(self.threads);
        threads.min(self.count.div_ceil(self.at_once))
    }
}

/// What turns share: the frame, and the arena in it.
struct Frame(*const *mut u8, *mut u8);

// SAFETY: the frame is only read, and turns write to different memory.
unsafe impl Sync for Frame {}

/// Runs the turns of a loop; called by generated code. Gives 0, or another number after the execution took an error or is to end.
///
/// # Safety
/// `launch` and `context` point to live values; `frame` holds what the body asks for, with the arena of the program. Different turns write
/// to different memory, but for what each thread has for itself.
pub(crate) unsafe extern "C" fn run_turns(
    launch: *const TurnsLaunch,
    frame: *const *mut u8,
    context: *const Context<'_>,
) -> u32 {
    // SAFETY: the caller promises live values, and an arena in the frame.
    let (launch, context, arena) = unsafe { (&*launch, &*context, *frame.add(ARENA)) };
    let body = launch.body.expect("the data has the code's address");
    let workers = launch.workers(context);
    if workers == 1 {
        upper::clear();
        // SAFETY: the caller's promises; one thread has the memory in the arena.
        return unsafe { body(frame, arena, 0, launch.count, context) };
    }
    let frame = &Frame(frame, arena);
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    context.parallel_for(workers, |worker| {
        if next.load(Ordering::Relaxed) >= launch.count {
            return;
        }
        let mut memory = None;
        let own = if worker == 0 || launch.bytes == 0 {
            frame.1
        } else {
            match PoolBuffer::new(launch.bytes) {
                Ok(buffer) => memory
                    .insert(buffer)
                    .as_mut_ptr()
                    .wrapping_sub(launch.start),
                // Others run the turns: the first has its memory.
                Err(_) => return,
            }
        };
        while !failed.load(Ordering::Relaxed) {
            let from = next.fetch_add(launch.at_once, Ordering::Relaxed);
            if from >= launch.count {
                break;
            }
            let to = launch.count.min(from + launch.at_once);
            upper::clear();
            // SAFETY: as above; each worker has memory of its own, and each turn is run once.
            let status = unsafe { body(frame.0, own, from, to, context) };
            if status != 0 {
                failed.store(true, Ordering::Relaxed);
            }
        }
    });
    u32::from(failed.into_inner())
}
