//! The compiled code of the process.

use std::fmt;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use indexmap::{Equivalent, IndexMap};
use jaxide_core::{Aval, Error, Jaxpr, Prim, Result};
use jaxide_cpu::Executable;
use smallvec::SmallVec;

use super::key::{Key, Types};
use super::log::{logs_compilation, report};
use super::shared::Shared;

/// The code of one operation or program.
pub(crate) struct Entry {
    /// Which results are weakly typed.
    pub(super) weak: SmallVec<[bool; 2]>,
    code: OnceLock<Result<Executable, Error>>,
    /// Held while it is compiled.
    compiling: Shared<()>,
    runs: AtomicU64,
    /// When it was looked up last, in look-ups that found nothing.
    used: AtomicU64,
}

impl Entry {
    pub(super) fn new(weak: SmallVec<[bool; 2]>) -> Self {
        Entry {
            weak,
            code: OnceLock::new(),
            compiling: Shared::default(),
            runs: AtomicU64::new(0),
            used: AtomicU64::new(0),
        }
    }

    /// The code, compiled if it has not been; by one thread, while others that want it wait. `what` is said of it in the
    /// log.
    pub(super) fn code(
        &self,
        what: impl FnOnce() -> String,
        compile: impl FnOnce() -> Result<Executable>,
    ) -> &Result<Executable> {
        if let Some(code) = self.code.get() {
            return code;
        }
        let turn = self.compiling.write();
        if let Some(code) = self.code.get() {
            return code;
        }
        let code = compile();
        if logs_compilation() {
            report(&match &code {
                Ok(executable) => {
                    let stats = executable.stats();
                    let time = (stats.lower + stats.codegen).as_secs_f64() * 1e3;
                    format!("compiled {} in {time:.2} ms, {} bytes", what(), stats.code)
                }
                Err(error) => format!("no native code for {}: {error}", what()),
            });
        }
        let code = self.code.get_or_init(|| {
            TABLE.bytes.fetch_add(bytes(&code), Ordering::Relaxed);
            code
        });
        drop(turn);
        TABLE.shrink();
        code
    }

    fn bytes(&self) -> usize {
        self.code.get().map_or(0, bytes)
    }

    fn machine_code(&self) -> usize {
        let code = self.code.get().and_then(|code| code.as_ref().ok());
        code.map_or(0, |executable| executable.stats().code)
    }
}

/// Bytes that code takes: whole pages for the program and each of its kernels, and what it was made from.
fn bytes(code: &Result<Executable>) -> usize {
    code.as_ref().map_or(0, |executable| {
        let stats = executable.stats();
        stats.code * (1 + IR) + (1 + stats.kernels) * PAGE
    })
}

/// Memory is executable in pieces of this size.
const PAGE: usize = 4096;

/// Bytes of loops and lane bodies for each byte of code: 14 to 19 were measured.
const IR: usize = 16;

type Entries = IndexMap<Key, Arc<Entry>>;

/// The cache of the process.
pub(super) struct Table {
    entries: OnceLock<Shared<Entries>>,
    hits: AtomicU64,
    misses: AtomicU64,
    /// [`size`] of the entries, or more: what was compiled after it was dropped is counted until the next time something
    /// is dropped.
    bytes: AtomicUsize,
    limit: AtomicUsize,
}

pub(super) static TABLE: Table = Table {
    entries: OnceLock::new(),
    hits: AtomicU64::new(0),
    misses: AtomicU64::new(0),
    bytes: AtomicUsize::new(0),
    limit: AtomicUsize::new(DEFAULT_LIMIT),
};

/// So many bytes are kept, unless another number is asked for.
const DEFAULT_LIMIT: usize = 256 << 20;

/// What an entry takes beside its code, roughly: its key and tables.
const OVERHEAD: usize = 4096;

impl Table {
    fn entries(&self) -> &Shared<Entries> {
        self.entries.get_or_init(Shared::default)
    }

    fn read<T>(&self, f: impl FnOnce(&Entries) -> T) -> Option<T> {
        self.entries().read().map(|entries| f(&entries))
    }

    fn write<T>(&self, f: impl FnOnce(&mut Entries) -> T) -> Option<T> {
        self.entries().write().map(|mut entries| f(&mut entries))
    }

    /// The entry of a key.
    pub(super) fn find(&self, key: &(impl Hash + Equivalent<Key>)) -> Option<Arc<Entry>> {
        let found = self.read(|entries| entries.get(key).cloned())??;
        self.hits.fetch_add(1, Ordering::Relaxed);
        let now = self.misses.load(Ordering::Relaxed);
        found.used.store(now, Ordering::Relaxed);
        found.runs.fetch_add(1, Ordering::Relaxed);
        Some(found)
    }

    /// Keeps an entry, unless another thread was faster, and gives the one that is kept.
    pub(super) fn insert(&self, key: Key, entry: Entry) -> Arc<Entry> {
        let now = self.misses.fetch_add(1, Ordering::Relaxed);
        entry.used.store(now, Ordering::Relaxed);
        let entry = Arc::new(entry);
        let kept = self.write(|entries| {
            let kept = entries.entry(key).or_insert_with(|| {
                self.bytes.fetch_add(OVERHEAD, Ordering::Relaxed);
                entry.clone()
            });
            kept.clone()
        });
        let kept = kept.unwrap_or(entry);
        kept.runs.fetch_add(1, Ordering::Relaxed);
        self.shrink();
        kept
    }

    /// Drops what was not used for longest where more is kept than the limit allows: a quarter at once, so that it is
    /// not done often.
    fn shrink(&self) {
        let limit = self.limit.load(Ordering::Relaxed);
        if self.bytes.load(Ordering::Relaxed) <= limit {
            return;
        }
        // Given back when others may look again.
        let mut dropped = Vec::new();
        self.write(|entries| {
            let mut uses: Vec<u64> = entries
                .values()
                .map(|entry| entry.used.load(Ordering::Relaxed))
                .collect();
            uses.sort_unstable();
            while size(entries) > limit && !uses.is_empty() {
                let count = uses.len().div_ceil(4);
                let oldest = uses[count - 1];
                uses.drain(..count);
                let old = |entry: &Entry| entry.used.load(Ordering::Relaxed) <= oldest;
                dropped.extend(entries.extract_if(.., |_, entry| old(entry)));
            }
            self.bytes.store(size(entries), Ordering::Relaxed);
        });
    }
}

/// Bytes of everything that is kept.
fn size(entries: &IndexMap<Key, Arc<Entry>>) -> usize {
    entries.values().map(|entry| entry.bytes() + OVERHEAD).sum()
}

/// The cache of compiled code that all functions and operations of the process share: see [`cache`].
#[derive(Clone, Copy, Debug)]
pub struct Cache(());

/// The cache of compiled code that all functions and operations of the process share.
///
/// Code is found by what it does: an operation by its primitive, parameters and types, a program by its equations and
/// small constants. So a function that is jitted twice, or two that do the same, are compiled once. When the code takes
/// more memory than [`limit`](Cache::limit), what was not used for longest is dropped; functions of [`jit`](crate::jit())
/// hold on to theirs.
///
/// ```
/// use jaxide::{Array, cache, jit};
/// for _ in 0..10 {
///     jit(|x: Array| x.sin() * 3.25 + 1.0)(Array::from([0.0f32; 5]));
/// }
/// assert!(cache().hits() >= 9);
/// ```
pub fn cache() -> Cache {
    Cache(())
}

impl Cache {
    /// How many operations and programs are kept.
    pub fn entries(self) -> usize {
        TABLE.read(IndexMap::len).unwrap_or_default()
    }

    /// How often something was found, since the process began.
    pub fn hits(self) -> u64 {
        TABLE.hits.load(Ordering::Relaxed)
    }

    /// How often something was not there, since the process began.
    pub fn misses(self) -> u64 {
        TABLE.misses.load(Ordering::Relaxed)
    }

    /// Bytes of the pages of machine code, and of what goes with it as an estimate.
    pub fn bytes(self) -> usize {
        TABLE.read(size).unwrap_or_default()
    }

    /// How many bytes may be kept: 256 MiB unless set otherwise.
    pub fn limit(self) -> usize {
        TABLE.limit.load(Ordering::Relaxed)
    }

    /// Keeps at most this many bytes from now on.
    pub fn set_limit(self, bytes: usize) {
        TABLE.limit.store(bytes, Ordering::Relaxed);
        TABLE.shrink();
    }

    /// Forgets everything. Functions of [`jit`](crate::jit()) keep what they have; the numbers of
    /// [`hits`](Cache::hits) and [`misses`](Cache::misses) go on.
    pub fn clear(self) {
        let dropped = TABLE.write(|entries| {
            TABLE.bytes.store(0, Ordering::Relaxed);
            std::mem::take(entries)
        });
        drop(dropped);
    }

    /// What is kept, the oldest first.
    pub fn programs(self) -> Vec<CachedProgram> {
        let described = TABLE.read(|entries| {
            let entries = entries.iter();
            entries
                .map(|(key, entry)| CachedProgram::new(key, entry))
                .collect()
        });
        described.unwrap_or_default()
    }
}

/// Something that is kept in the [`cache`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CachedProgram {
    /// The operation with the types of its operands, or the number of equations of the program and its types.
    pub what: String,
    /// Bytes of machine code.
    pub bytes: usize,
    /// How often it was looked up.
    pub uses: u64,
    /// How long it took to compile; zero when it has not been, or cannot be.
    pub compile_time: Duration,
}

impl CachedProgram {
    fn new(key: &Key, entry: &Entry) -> Self {
        let compile_time = match entry.code.get() {
            Some(Ok(executable)) => executable.stats().lower + executable.stats().codegen,
            Some(Err(_)) | None => Duration::ZERO,
        };
        CachedProgram {
            what: key.to_string(),
            bytes: entry.machine_code(),
            uses: entry.runs.load(Ordering::Relaxed),
            compile_time,
        }
    }
}

/// `mul f32[3] f32[]`, or `12 equations (f32[3]) -> (f32[])`.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match self {
            Key::Operation { prim, types } => describe_operation(prim, types),
            Key::Program { jaxpr, .. } => describe_program(jaxpr),
        })
    }
}

/// `mul f32[3] f32[]`.
pub(super) fn describe_operation(prim: &Prim, types: &Types) -> String {
    let types = types.iter().map(|own| format!(" {}", own.aval()));
    prim.name().to_owned() + &types.collect::<String>()
}

/// `12 equations (f32[3]) -> (f32[])`.
pub(super) fn describe_program(jaxpr: &Jaxpr) -> String {
    let list = |avals: Vec<Aval>| {
        let each: Vec<String> = avals.iter().map(ToString::to_string).collect();
        each.join(", ")
    };
    let (ins, outs) = (list(jaxpr.in_avals()), list(jaxpr.out_avals()));
    format!("{} equations ({ins}) -> ({outs})", jaxpr.eqns.len())
}
