//! Buffers for arrays and intermediate results, reused instead of returned to the system.
//!
//! Writing into a fresh large allocation costs more than most computations: every 4 KB page faults
//! once. Buffers therefore come from a pool of size classes (four per power of two), are 64-byte
//! aligned, and from 2 MB on are mapped so that huge pages can back them. Small buffers are kept
//! per thread first, so that taking and returning one needs no lock.
//!
//! Nobody waits for long at a list of free blocks: who cannot have it soon takes memory from the system, or gives it
//! back there. So a thread that is not scheduled holds up no other, and the child of a `fork` goes on where a thread that
//! it does not have was at a list.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::RefCell;
use std::fmt;
use std::ptr::NonNull;
use std::sync::LazyLock;

use bytemuck::Pod;
use jaxide_core::memory;

use super::free::Free;

/// The alignment of every buffer in bytes: a cache line, and the widest vector.
pub const ALIGNMENT: usize = 64;

/// From this size on new memory is held against the limit.
const LARGE: usize = 16 << 20;

/// No buffer is larger.
const MOST: usize = 1 << 46;

/// From this size on a buffer is mapped separately, in whole huge pages.
pub(super) const HUGE_PAGE: usize = 2 << 20;

/// An array's storage: initialised, aligned to [`ALIGNMENT`], returned to its pool when dropped.
pub struct PoolBuffer {
    /// For an empty buffer a dangling pointer; else a block of class `class_of(len)`.
    pointer: NonNull<u8>,
    len: usize,
    pool: &'static BufferPool,
}

// SAFETY: a buffer owns its bytes as a `Box<[u8]>` does, and the pool behind it is `Sync`.
unsafe impl Send for PoolBuffer {}
// SAFETY: as above; a shared reference gives only shared access to the bytes.
unsafe impl Sync for PoolBuffer {}

/// A buffer could not be had: the system refused, or the size exceeds the machine's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// The size asked for.
    pub bytes: usize,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "out of memory: cannot allocate {} bytes", self.bytes)
    }
}

impl std::error::Error for OutOfMemory {}

impl PoolBuffer {
    /// A buffer of `len` bytes from the global pool. The contents are initialised but arbitrary.
    ///
    /// # Errors
    /// If the system has no such memory, or [`memory::check`] does not allow a large buffer that is not there
    /// yet.
    ///
    /// ```
    /// use jaxide_cpu::runtime::PoolBuffer;
    /// let mut buffer = PoolBuffer::new(12)?;
    /// buffer.as_mut_slice::<f32>().fill(1.5);
    /// assert_eq!(buffer.as_slice::<f32>(), [1.5; 3]);
    /// assert!(PoolBuffer::new(usize::MAX).is_err());
    /// # Ok::<(), jaxide_cpu::runtime::OutOfMemory>(())
    /// ```
    pub fn new(len: usize) -> Result<Self, OutOfMemory> {
        BufferPool::global().allocate(len)
    }

    /// A buffer of `len` zero bytes from the global pool.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn zeroed(len: usize) -> Result<Self, OutOfMemory> {
        let mut buffer = Self::new(len)?;
        buffer.bytes_mut().fill(0);
        Ok(buffer)
    }

    /// A buffer for `count` elements of type `T`; an overflowing size is out of memory.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn for_elements<T: Pod>(count: usize) -> Result<Self, OutOfMemory> {
        Self::new(
            count
                .checked_mul(size_of::<T>())
                .ok_or(OutOfMemory { bytes: usize::MAX })?,
        )
    }

    /// A copy of `bytes` from the global pool.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, OutOfMemory> {
        let mut buffer = Self::new(bytes.len())?;
        buffer.bytes_mut().copy_from_slice(bytes);
        Ok(buffer)
    }

    /// The size in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the size is 0.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first byte; aligned also when the buffer is empty.
    pub fn as_ptr(&self) -> *const u8 {
        self.pointer.as_ptr()
    }

    /// The first byte, for writing.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.pointer.as_ptr()
    }

    /// The contents.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the block holds at least `len` bytes, which were zeroed when it was mapped; it is
        // ours until dropped.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr(), self.len) }
    }

    /// The contents, for writing.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr(), self.len) }
    }

    /// The contents as elements.
    ///
    /// # Panics
    /// If the size is not a whole number of elements.
    pub fn as_slice<T: Pod>(&self) -> &[T] {
        bytemuck::cast_slice(self.bytes())
    }

    /// The contents as elements, for writing.
    ///
    /// # Panics
    /// If the size is not a whole number of elements.
    pub fn as_mut_slice<T: Pod>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(self.bytes_mut())
    }
}

impl Drop for PoolBuffer {
    fn drop(&mut self) {
        if self.len != 0 {
            self.pool.give_back(Block {
                pointer: self.pointer,
                class: class_of(self.len),
            });
        }
    }
}

impl fmt::Debug for PoolBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PoolBuffer({} bytes)", self.len)
    }
}

/// Free blocks by size class.
pub struct BufferPool {
    free: Free<Block>,
}

impl BufferPool {
    /// A pool that keeps at most `retained_limit` bytes of unused memory.
    pub fn new(retained_limit: usize) -> Self {
        Self {
            free: Free::new(CLASSES, retained_limit),
        }
    }

    /// The process-wide pool. It keeps at most 1 GiB of unused memory, and up to 1 MiB more for
    /// each thread.
    pub fn global() -> &'static Self {
        static GLOBAL: LazyLock<BufferPool> = LazyLock::new(|| BufferPool::new(1 << 30));
        &GLOBAL
    }

    /// Unused bytes that the pool holds, those kept for single threads not counted.
    pub fn retained(&self) -> usize {
        self.free.retained()
    }

    /// Returns all unused memory to the system, except what is kept for other threads or being taken by them.
    pub fn release_unused(&'static self) {
        if self.is_global() {
            let _ = THREAD_CACHE.try_with(|cache| cache.borrow_mut().flush());
        }
        for class in 0..CLASSES {
            let blocks = self.free.take_all(class, capacity(class));
            blocks.into_iter().for_each(Block::free);
        }
    }

    /// A buffer of `len` bytes with arbitrary contents.
    ///
    /// # Errors
    /// As [`PoolBuffer::new`].
    pub fn allocate(&'static self, len: usize) -> Result<PoolBuffer, OutOfMemory> {
        if len == 0 {
            let pointer =
                NonNull::without_provenance(std::num::NonZero::new(ALIGNMENT).expect("not zero"));
            return Ok(PoolBuffer {
                pointer,
                len,
                pool: self,
            });
        }
        if len > MOST {
            return Err(OutOfMemory { bytes: len });
        }
        let class = class_of(len);
        let fresh = || {
            let allowed = len < LARGE || memory::check(len).is_ok();
            allowed.then(|| Block::map(class)).flatten()
        };
        let block = self.take(class).or_else(fresh).or_else(|| {
            // The memory may sit unused in other classes.
            self.release_unused();
            fresh()
        });
        let block = block.ok_or(OutOfMemory { bytes: len })?;
        Ok(PoolBuffer {
            pointer: block.pointer,
            len,
            pool: self,
        })
    }

    fn is_global(&self) -> bool {
        std::ptr::eq(self, Self::global())
    }

    fn take(&self, class: usize) -> Option<Block> {
        if class < CACHED_CLASSES
            && self.is_global()
            && let Some(block) = THREAD_CACHE
                .try_with(|cache| cache.borrow_mut().take(class))
                .ok()
                .flatten()
        {
            return Some(block);
        }
        self.free.take(class, capacity(class))
    }

    fn give_back(&self, block: Block) {
        let mut block = Some(block);
        if self.is_global() {
            // While the thread ends its cache is gone; the block then goes to the shared lists.
            let _ = THREAD_CACHE.try_with(|cache| {
                block = block.take().and_then(|block| cache.borrow_mut().put(block))
            });
        }
        if let Some(block) = block {
            self.keep_or_free(block);
        }
    }

    fn keep_or_free(&self, block: Block) {
        let class = block.class;
        if let Some(block) = self.free.keep(class, capacity(class), block) {
            block.free();
        }
    }
}

thread_local! {
    static THREAD_CACHE: RefCell<ThreadCache> = const { RefCell::new(ThreadCache { free: [const { Vec::new() }; CACHED_CLASSES], bytes: 0 }) };
}

/// Classes of up to 64 KiB are kept per thread.
const CACHED_CLASSES: usize = class_of(64 << 10) + 1;

/// How much one thread keeps for itself.
const CACHE_LIMIT: usize = 1 << 20;

struct ThreadCache {
    free: [Vec<Block>; CACHED_CLASSES],
    bytes: usize,
}

impl ThreadCache {
    fn take(&mut self, class: usize) -> Option<Block> {
        let block = self.free[class].pop()?;
        self.bytes -= capacity(class);
        Some(block)
    }

    /// Keeps the block, or hands it back if it is too large or the cache is full.
    fn put(&mut self, block: Block) -> Option<Block> {
        let size = capacity(block.class);
        if block.class >= CACHED_CLASSES || self.bytes + size > CACHE_LIMIT {
            return Some(block);
        }
        self.bytes += size;
        self.free[block.class].push(block);
        None
    }

    fn flush(&mut self) {
        self.bytes = 0;
        for block in self.free.iter_mut().flat_map(|list| list.drain(..)) {
            BufferPool::global().keep_or_free(block);
        }
    }
}

impl Drop for ThreadCache {
    fn drop(&mut self) {
        self.flush();
    }
}

/// An owned piece of memory of `capacity(class)` initialised bytes.
struct Block {
    pointer: NonNull<u8>,
    class: usize,
}

// SAFETY: a block owns its memory.
unsafe impl Send for Block {}

impl Block {
    /// Fresh zeroed memory from the system.
    fn map(class: usize) -> Option<Self> {
        let size = capacity(class);
        let pointer = if size >= HUGE_PAGE {
            huge::map(size)?
        } else {
            // SAFETY: the layout's size is not 0.
            NonNull::new(unsafe { alloc_zeroed(small_layout(size)) })?
        };
        Some(Self { pointer, class })
    }

    fn free(self) {
        let size = capacity(self.class);
        if size >= HUGE_PAGE {
            // SAFETY: the block was mapped by `huge::map` with this size and nobody uses it any
            // more.
            unsafe { huge::unmap(self.pointer, size) };
        } else {
            // SAFETY: the block was allocated in `map` with this layout and nobody uses it any
            // more.
            unsafe { dealloc(self.pointer.as_ptr(), small_layout(size)) };
        }
    }
}

fn small_layout(size: usize) -> Layout {
    Layout::from_size_align(size, ALIGNMENT)
        .expect("size classes below a huge page are valid layouts")
}

/// Classes 0, 1, … hold 64, 80, 96, 112, 128, 160, … bytes: four to a power of two.
const CLASSES: usize = class_of(1 << 62) + 1;

/// The smallest class that holds `len` bytes, 0 < `len` ≤ 2⁶².
const fn class_of(len: usize) -> usize {
    if len <= ALIGNMENT {
        return 0;
    }
    let last = len - 1;
    let power = last.ilog2() as usize;
    let quarter = (last >> (power - 2)) & 3;
    (power - 6) * 4 + quarter + 1
}

/// The bytes in a block of this class: a multiple of 16, and of a huge page where it is that large.
const fn capacity(class: usize) -> usize {
    let size = (4 + class % 4) << (class / 4 + 4);
    if size >= HUGE_PAGE {
        size.next_multiple_of(HUGE_PAGE)
    } else {
        size
    }
}

#[cfg(target_os = "linux")]
mod huge {
    //! Mappings in whole, aligned huge pages.
    use super::HUGE_PAGE;
    use std::ptr::{self, NonNull};

    /// Maps `size` zeroed bytes, a multiple of a huge page.
    pub(super) fn map(size: usize) -> Option<NonNull<u8>> {
        let mapped = size.checked_add(HUGE_PAGE)?;
        // SAFETY: an anonymous private mapping at an address of the system's choice touches no
        // existing memory.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                mapped,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return None;
        }
        let before = base.addr().next_multiple_of(HUGE_PAGE) - base.addr();
        let after = HUGE_PAGE - before;
        // SAFETY: `before + size + after` is the length of the mapping just made; the ends outside
        // the aligned part are given back, the part in the middle is kept. Advice does not change
        // what the memory means.
        unsafe {
            let start = base.byte_add(before);
            if before > 0 {
                libc::munmap(base, before);
            }
            if after > 0 {
                libc::munmap(start.byte_add(size), after);
            }
            libc::madvise(start, size, libc::MADV_HUGEPAGE);
            NonNull::new(start.cast())
        }
    }

    /// # Safety
    /// The memory came from [`map`] with this size and is not used again.
    pub(super) unsafe fn unmap(pointer: NonNull<u8>, size: usize) {
        // SAFETY: promised by the caller.
        unsafe { libc::munmap(pointer.as_ptr().cast(), size) };
    }
}

#[cfg(not(target_os = "linux"))]
mod huge {
    //! Where huge pages cannot be asked for: plain allocations with their alignment.
    use super::HUGE_PAGE;
    use std::alloc::{Layout, alloc_zeroed, dealloc};
    use std::ptr::NonNull;

    pub(super) fn map(size: usize) -> Option<NonNull<u8>> {
        // SAFETY: the size is not 0.
        NonNull::new(unsafe { alloc_zeroed(Layout::from_size_align(size, HUGE_PAGE).ok()?) })
    }

    /// # Safety
    /// The memory came from [`map`] with this size and is not used again.
    pub(super) unsafe fn unmap(pointer: NonNull<u8>, size: usize) {
        // SAFETY: promised by the caller; the layout is the one it was allocated with.
        unsafe {
            dealloc(
                pointer.as_ptr(),
                Layout::from_size_align_unchecked(size, HUGE_PAGE),
            )
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaked_pool(limit: usize) -> &'static BufferPool {
        // Somebody holds it to the end, so that leaks can be told from it.
        static POOLS: std::sync::Mutex<Vec<&BufferPool>> = std::sync::Mutex::new(Vec::new());
        let pool = Box::leak(Box::new(BufferPool::new(limit)));
        POOLS.lock().unwrap().push(pool);
        pool
    }

    #[test]
    fn classes_are_tight() {
        for len in (1..5000).chain([
            65535,
            65536,
            65537,
            2097151,
            2097152,
            2097153,
            1 << 40,
            (1 << 40) + 1,
        ]) {
            let class = class_of(len);
            assert!(capacity(class) >= len, "{len}");
            assert!(
                class == 0 || capacity(class - 1) < len || len > HUGE_PAGE / 2,
                "{len}"
            );
            assert!(
                capacity(class)
                    <= (len + len / 4)
                        .max(64)
                        .next_multiple_of(if len > HUGE_PAGE / 2 { HUGE_PAGE } else { 16 }),
                "{len}"
            );
        }
    }

    #[test]
    fn buffers_are_aligned_writable_and_reused() {
        for len in [
            1,
            3,
            64,
            65,
            1000,
            70_000,
            2 << 20,
            (2 << 20) + 1,
            5_000_000,
        ] {
            let pool = leaked_pool(64 << 20);
            let mut buffer = pool.allocate(len).unwrap();
            let address = buffer.as_ptr();
            assert!(address.addr().is_multiple_of(if len >= HUGE_PAGE {
                HUGE_PAGE
            } else {
                ALIGNMENT
            }));
            assert!(
                buffer.bytes().iter().all(|&b| b == 0),
                "fresh memory is zero"
            );
            buffer.bytes_mut().fill(7);
            drop(buffer);
            let again = pool.allocate(len).unwrap();
            assert_eq!((again.as_ptr(), again.len()), (address, len));
        }
    }

    #[test]
    fn unused_memory_is_capped_and_can_be_released() {
        let pool = leaked_pool(1000);
        let buffers: Vec<_> = (0..20).map(|_| pool.allocate(100).unwrap()).collect();
        assert_eq!(pool.retained(), 0);
        drop(buffers);
        assert_eq!(pool.retained(), 8 * 112);
        pool.release_unused();
        assert_eq!(pool.retained(), 0);
    }

    #[test]
    fn nobody_waits_for_a_list() {
        let pool = leaked_pool(1 << 20);
        let buffers = [pool.allocate(100).unwrap(), pool.allocate(100).unwrap()];
        let [one, other] = buffers;
        drop(one);
        let list = pool.free.list(class_of(100)).unwrap();
        // Neither taking nor giving back ends only when the list is free.
        let third = pool.allocate(100).unwrap();
        drop(other);
        assert_eq!((list.len(), pool.retained()), (1, 112));
        pool.release_unused();
        assert_eq!(list.len(), 1);
        drop(list);
        drop(third);
        assert_eq!(pool.retained(), 2 * 112);
        pool.release_unused();
        assert_eq!(pool.retained(), 0);
    }

    #[test]
    fn absurd_sizes_are_errors() {
        for len in [usize::MAX, isize::MAX as usize, 1 << 62, 1 << 50, MOST + 1] {
            assert_eq!(
                PoolBuffer::new(len).unwrap_err(),
                OutOfMemory { bytes: len }
            );
        }
        assert!(PoolBuffer::for_elements::<f64>(usize::MAX / 4).is_err());
    }

    #[test]
    fn the_empty_buffer_has_no_memory() {
        let mut buffer = PoolBuffer::new(0).unwrap();
        assert!(
            buffer.is_empty()
                && buffer.bytes_mut().is_empty()
                && buffer.as_slice::<f64>().is_empty()
        );
    }

    #[test]
    fn buffers_travel_between_threads() {
        let buffers: Vec<_> = (0..100usize)
            .map(|i| PoolBuffer::from_bytes(&vec![i as u8; i * 100]).unwrap())
            .collect();
        std::thread::scope(|scope| {
            let (left, right) = buffers.split_at(50);
            for (half, offset) in [(left, 0), (right, 50)] {
                scope.spawn(move || {
                    for (i, buffer) in half.iter().enumerate() {
                        assert!(buffer.bytes().iter().all(|&b| usize::from(b) == offset + i));
                        assert_eq!(
                            PoolBuffer::zeroed(buffer.len())
                                .unwrap()
                                .bytes()
                                .iter()
                                .max()
                                .copied()
                                .unwrap_or(0),
                            0
                        );
                    }
                });
            }
        });
    }
}
