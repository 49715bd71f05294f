//! Pages that hold machine code.

use cranelift_jit::{BranchProtection, JITMemoryKind, JITMemoryProvider, SystemMemoryProvider};
use std::io;

/// Machine code in memory that can be executed but no longer written; given back when dropped.
pub struct ExecMemory {
    provider: SystemMemoryProvider,
    start: *const u8,
    len: usize,
}

// SAFETY: after construction the memory is only read and executed, and `provider` is only used by `drop`.
unsafe impl Send for ExecMemory {}
// SAFETY: as above.
unsafe impl Sync for ExecMemory {}

impl ExecMemory {
    /// Places `code` on pages of its own, at an address that is a multiple of 64.
    ///
    /// # Errors
    /// If the system gives no memory, or does not let it be executed.
    pub fn new(code: &[u8]) -> io::Result<ExecMemory> {
        let mut provider = SystemMemoryProvider::new();
        let start = provider.allocate(code.len().max(1), 64, JITMemoryKind::Executable)?;
        // SAFETY: `start` points to at least `code.len()` writable bytes that nothing else refers to.
        unsafe { start.copy_from_nonoverlapping(code.as_ptr(), code.len()) };
        let memory = ExecMemory {
            provider,
            start,
            len: code.len(),
        };
        memory.seal()
    }

    /// Places pieces of code in one memory, each at a multiple of 64, and says where they start.
    ///
    /// # Errors
    /// As [`ExecMemory::new`].
    pub fn of(pieces: &[impl AsRef<[u8]>]) -> io::Result<(ExecMemory, Vec<usize>)> {
        let mut code = Vec::new();
        let mut starts = Vec::with_capacity(pieces.len());
        for piece in pieces {
            code.resize(code.len().next_multiple_of(64), 0);
            starts.push(code.len());
            code.extend_from_slice(piece.as_ref());
        }
        Ok((ExecMemory::new(&code)?, starts))
    }

    /// Address of the first byte.
    pub fn start(&self) -> *const u8 {
        self.start
    }

    /// The code.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the pages are readable as long as `self` lives, and nothing writes to them.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }

    fn seal(mut self) -> io::Result<ExecMemory> {
        self.provider
            .finalize(BranchProtection::None)
            .map_err(io::Error::other)?;
        Ok(self)
    }
}

impl Drop for ExecMemory {
    fn drop(&mut self) {
        // SAFETY: whoever calls the code holds `self`, so nothing runs in these pages any more.
        unsafe { self.provider.free_memory() };
    }
}

impl std::fmt::Debug for ExecMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ExecMemory({} bytes)", self.len)
    }
}
