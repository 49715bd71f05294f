//! Memory that Python and compiled programs share. This is one of the two places of the crate with `unsafe`.
//!
//! Arrays go in as tensors that see the memory of Python's objects, and come out as objects whose buffer is a tensor's memory.

#![allow(unsafe_code)]

use std::os::raw::c_int;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use jaxide_core::{DType, Error, ErrorKind, Result, Storage, Tensor};
use jaxide_cpu::Executable;
use jaxide_cpu::runtime::{PoolBuffer, Printer};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The memory of an array that Python owns.
#[derive(Clone, Copy)]
pub(crate) struct Address {
    first: NonNull<u8>,
    bytes: usize,
}

// SAFETY: an address by itself reads nothing; what does says why it may.
unsafe impl Send for Address {}
// SAFETY: as above.
unsafe impl Sync for Address {}

/// A hold of an array's memory: as long as it is there, the array is neither freed nor given away.
pub(crate) struct Hold(Box<ffi::Py_buffer>);

// SAFETY: a view may be read by any thread, and is released under the interpreter's lock.
unsafe impl Send for Hold {}
// SAFETY: as above.
unsafe impl Sync for Hold {}

impl Hold {
    /// The memory of an object that has Python's buffer protocol. An array that is still being computed is waited for.
    ///
    /// # Errors
    /// When it has no such memory, or not in row-major order.
    pub(crate) fn new(array: &Bound<'_, PyAny>) -> PyResult<Hold> {
        let mut view = Box::new(ffi::Py_buffer::new());
        // SAFETY: the object is alive, and the view is ours to be filled; it stays where it is until it is released.
        let status = unsafe {
            ffi::PyObject_GetBuffer(array.as_ptr(), &raw mut *view, ffi::PyBUF_C_CONTIGUOUS)
        };
        if status == 0 {
            return Ok(Hold(view));
        }
        Err(PyErr::fetch(array.py()))
    }

    /// Where the memory is.
    pub(crate) fn address(&self) -> Address {
        let empty = || NonNull::<u128>::dangling().cast();
        Address {
            first: NonNull::new(self.0.buf.cast()).unwrap_or_else(empty),
            bytes: usize::try_from(self.0.len).unwrap_or(0),
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // While the interpreter ends, nothing is given back any more.
        Python::try_attach(|_| {
            // SAFETY: the view was filled by `PyObject_GetBuffer` and is released once, under the lock.
            unsafe { ffi::PyBuffer_Release(&raw mut *self.0) }
        });
    }
}

/// An array's memory, as a tensor sees it.
struct Seen {
    address: Address,
    /// Keeps the memory, where the tensor may outlive the call that made it.
    _hold: Option<Hold>,
}

impl Storage for Seen {
    fn bytes(&self) -> &[u8] {
        // SAFETY: the memory is there and is not written to: the hold keeps it, or `Arguments`, which this does not outlive. It is
        // initialised, since an array is waited for before its address is told.
        unsafe { std::slice::from_raw_parts(self.address.first.as_ptr(), self.address.bytes) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        unreachable!("programs that overwrite arguments are not made here")
    }
}

/// An array that keeps its memory by a hold.
///
/// # Errors
/// When the memory has not the size of such an array.
pub(crate) fn held(shape: &[usize], dtype: DType, hold: Hold) -> Result<Tensor> {
    let address = hold.address();
    let _hold = Some(hold);
    Tensor::from_storage(shape, dtype, Seen { address, _hold })
}

/// Memory of the pool as an array's.
struct Pooled(PoolBuffer);

impl Storage for Pooled {
    fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        self.0.bytes_mut()
    }
}

/// An array with the same elements in memory of its own, which comes back to be used again.
///
/// # Errors
/// When there is no such memory.
fn copied(tensor: &Tensor) -> Result<Tensor> {
    let bytes = PoolBuffer::from_bytes(tensor.bytes())
        .map_err(|error| Error::new(ErrorKind::TooLarge, error.to_string()))?;
    Tensor::from_storage(tensor.shape(), tensor.dtype(), Pooled(bytes))
}

/// The arguments of one run, and what keeps their memory until it is over.
///
/// Their tensors never leave this: results that lie in an argument's memory are copied.
#[derive(Default)]
pub(crate) struct Arguments<'py> {
    tensors: SmallVec<[Tensor; 8]>,
    addresses: SmallVec<[Address; 8]>,
    holds: Vec<Hold>,
    /// Arrays of JAX that were known before: they may have been deleted since.
    known: SmallVec<[Bound<'py, PyAny>; 8]>,
    /// Shares in donated arrays whose memory is not the program's to write to.
    shared: Vec<Tensor>,
    /// Whether some of them keep their memory as long as nothing deletes them or gives them away, which only Python code does: so
    /// the run keeps the interpreter's lock.
    locked: bool,
}

impl<'py> Arguments<'py> {
    /// Adds an array that has its own memory.
    pub(crate) fn push(&mut self, tensor: Tensor) {
        self.tensors.push(tensor);
    }

    /// Adds an array of JAX whose elements a tensor holds too.
    pub(crate) fn push_result(&mut self, array: &Bound<'py, PyAny>, tensor: Tensor) {
        self.known.push(array.clone());
        self.addresses.extend(Address::of(&tensor));
        self.tensors.push(tensor);
    }

    /// Adds an array that is held until the run is over.
    ///
    /// # Errors
    /// When its memory has not the size of such an array.
    pub(crate) fn push_held(&mut self, shape: &[usize], dtype: DType, hold: Hold) -> Result<()> {
        let address = hold.address();
        self.holds.push(hold);
        self.see(shape, dtype, address)
    }

    /// Adds an array of JAX whose elements stand where a hold of it once was.
    ///
    /// # Errors
    /// When its memory has not the size of such an array.
    pub(crate) fn push_known(
        &mut self,
        (shape, dtype): (&[usize], DType),
        array: &Bound<'py, PyAny>,
        address: Address,
    ) -> Result<()> {
        self.known.push(array.clone());
        self.locked = true;
        self.see(shape, dtype, address)
    }

    /// Has the program copy the array that was added last before it writes to it.
    pub(crate) fn share_last(&mut self) {
        self.shared.extend(self.tensors.last().cloned());
    }

    /// Puts an array in the place of the one at this position.
    pub(crate) fn replace(&mut self, position: usize, tensor: Tensor) {
        self.tensors[position] = tensor;
    }

    /// Whether an array has been deleted since it was met.
    ///
    /// # Errors
    /// When JAX fails.
    pub(crate) fn any_deleted(&self, py: Python<'py>) -> PyResult<bool> {
        for array in &self.known {
            let deleted = array.call_method0(intern!(py, "is_deleted"))?;
            if deleted.is_truthy()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn see(&mut self, shape: &[usize], dtype: DType, address: Address) -> Result<()> {
        self.addresses.push(address);
        let _hold = None;
        let seen = Seen { address, _hold };
        self.tensors.push(Tensor::from_storage(shape, dtype, seen)?);
        Ok(())
    }

    /// Runs a program on them, which may write to those that it was compiled to write to; with the interpreter's lock if `locked` says so, or an
    /// argument needs it. None of the arrays [has been deleted](Self::any_deleted), and no Python code has run since that was asked, if an
    /// argument needs the lock. `print` has what is printed; with it there is no lock.
    ///
    /// # Errors
    /// Those of the run.
    pub(crate) fn run(
        self,
        py: Python<'py>,
        code: &Executable,
        locked: bool,
        print: Option<&Printer<'_>>,
    ) -> Result<Vec<Tensor>> {
        let Arguments {
            tensors,
            addresses,
            holds,
            known,
            shared,
            locked: needs_lock,
        } = self;
        let results = if let Some(print) = print {
            py.detach(|| code.run_printing(tensors.into_vec(), print))
        } else if locked || needs_lock {
            code.run(&tensors)
        } else {
            py.detach(|| code.run_owned(tensors.into_vec()))
        };
        let results = results.and_then(|mut results| {
            for result in &mut results {
                if addresses.iter().any(|address| address.holds(result)) {
                    *result = copied(result)?;
                }
            }
            Ok(results)
        });
        drop((holds, known, shared));
        results
    }
}

/// A tensor whose memory Python reads by its buffer protocol.
#[pyclass(frozen, module = "jaxide._jaxide")]
pub(crate) struct Memory(Arc<Tensor>);

/// Large tensors that Python has, by where their elements stand: a donated array is found here, so that its memory becomes the program's.
static LARGE: Mutex<Option<FxHashMap<usize, Weak<Tensor>>>> = Mutex::new(None);

/// From so many bytes on it pays not to copy what is donated.
const SMALL: usize = 4096;

impl Memory {
    pub(crate) fn new(tensor: Tensor) -> Memory {
        let kept = Arc::new(tensor);
        if kept.bytes().len() > SMALL {
            let mut large = LARGE.lock().unwrap_or_else(PoisonError::into_inner);
            let all = large.get_or_insert_default();
            all.insert(kept.bytes().as_ptr() as usize, Arc::downgrade(&kept));
        }
        Memory(kept)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.0.bytes().len() > SMALL {
            let mut large = LARGE.lock().unwrap_or_else(PoisonError::into_inner);
            let all = large.get_or_insert_default();
            let at = self.0.bytes().as_ptr() as usize;
            // Another may have the same memory.
            if all
                .get(&at)
                .is_some_and(|other| other.as_ptr() == Arc::as_ptr(&self.0))
            {
                all.remove(&at);
            }
        }
    }
}

/// The large tensor whose elements stand at an address, if Python has one there.
pub(crate) fn large_at(address: usize) -> Option<Arc<Tensor>> {
    let mut large = LARGE.lock().unwrap_or_else(PoisonError::into_inner);
    large.get_or_insert_default().get(&address)?.upgrade()
}

#[pymethods]
impl Memory {
    /// Gives the bytes, which cannot be written.
    ///
    /// # Safety
    /// `view` is a buffer that Python wants filled.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let bytes = slf.get().0.bytes();
        let length = isize::try_from(bytes.len())
            .map_err(|_| PyBufferError::new_err("an array is too large for Python"))?;
        let first = bytes.as_ptr().cast_mut().cast();
        // SAFETY: Python gives a view to fill; the view holds a reference to this object, whose tensor keeps the bytes where they are, and
        // is marked as one that cannot be written.
        let status = unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), first, length, 1, flags) };
        if status == 0 {
            return Ok(());
        }
        Err(PyErr::fetch(slf.py()))
    }
}

impl Address {
    /// Where a tensor's elements stand.
    fn of(tensor: &Tensor) -> Option<Address> {
        let bytes = tensor.bytes();
        NonNull::new(bytes.as_ptr().cast_mut()).map(|first| Address {
            first,
            bytes: bytes.len(),
        })
    }

    /// Whether a tensor lies in this memory.
    fn holds(&self, tensor: &Tensor) -> bool {
        let at = tensor.bytes().as_ptr() as usize;
        let first = self.first.as_ptr() as usize;
        !tensor.bytes().is_empty() && (first..first + self.bytes).contains(&at)
    }
}
