//! Programs as what XLA calls: one program of XLA's whose only operation is a compiled program of ours.
//!
//! Then a call goes through JAX's own dispatch, which makes arrays of results several times as fast as anything that Python can ask for.
//! What stands here is the part of XLA's interface for such operations (its `c_api.h`) that is used, and this is the second place of the
//! crate with `unsafe`: XLA gives memory as pointers, and promises that it has the types that its program states, which
//! `python/jaxide/_dispatch.py` writes from those of the compiled program.

#![allow(unsafe_code)]

use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use jaxide_cpu::Executable;
use pyo3::ffi;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The interface that is written here.
const MAJOR: c_int = 0;
const MINOR: c_int = 5;

/// The extension of a frame that asks which interface a function has, in place of calling it.
const METADATA: c_int = 1;
/// The stage in which XLA has compiled a program, and keeps what its calls need.
const INSTANTIATE: c_int = 0;
/// XLA's number of a mistake inside of what it calls.
const INTERNAL: c_int = 13;

#[repr(C)]
struct Extension {
    size: usize,
    kind: c_int,
    next: *mut Extension,
}

#[repr(C)]
struct Asked {
    extension: Extension,
    metadata: *mut Metadata,
}

#[repr(C)]
struct Version {
    size: usize,
    extension: *mut Extension,
    major: c_int,
    minor: c_int,
}

#[repr(C)]
struct Metadata {
    size: usize,
    version: Version,
    traits: u32,
    state: i64,
}

/// Arguments, or results.
#[repr(C)]
struct Buffers {
    size: usize,
    extension: *mut Extension,
    count: i64,
    kinds: *const c_int,
    buffers: *const *const Buffer,
}

#[repr(C)]
struct Buffer {
    size: usize,
    extension: *mut Extension,
    dtype: c_int,
    data: *mut c_void,
    rank: i64,
    dims: *const i64,
}

#[repr(C)]
struct Attributes {
    size: usize,
    extension: *mut Extension,
    count: i64,
    kinds: *const c_int,
    names: *const *const c_void,
    values: *const *const Number,
}

#[repr(C)]
struct Number {
    dtype: c_int,
    value: *const i64,
}

/// A mistake, which XLA makes and frees.
type Mistake = *mut c_void;

/// What XLA does when it is asked; what is not used here has no type.
#[repr(C)]
struct Api {
    size: usize,
    extension: *mut Extension,
    version: Version,
    internal: *const c_void,
    make_error: unsafe extern "C" fn(*mut MakeError) -> Mistake,
    _errors_handlers_streams: [*const c_void; 4],
    register_type: unsafe extern "C" fn(*mut RegisterType) -> Mistake,
    _context: *const c_void,
    set_state: unsafe extern "C" fn(*mut State) -> Mistake,
    get_state: unsafe extern "C" fn(*mut State) -> Mistake,
}

#[repr(C)]
struct MakeError {
    size: usize,
    extension: *mut Extension,
    message: *const c_char,
    code: c_int,
}

#[repr(C)]
struct Text {
    first: *const u8,
    length: usize,
}

#[repr(C)]
struct RegisterType {
    size: usize,
    extension: *mut Extension,
    name: Text,
    number: *mut i64,
    info: *const TypeInfo,
}

#[repr(C)]
struct TypeInfo {
    size: usize,
    extension: *mut Extension,
    free: unsafe extern "C" fn(*mut c_void),
}

/// What stays with a program of XLA, when it is set or asked for.
#[repr(C)]
struct State {
    size: usize,
    extension: *mut Extension,
    context: *mut c_void,
    stage: c_int,
    kind: *const i64,
    state: *mut c_void,
}

#[repr(C)]
struct Frame {
    size: usize,
    extension: *mut Extension,
    api: *const Api,
    context: *mut c_void,
    stage: c_int,
    arguments: Buffers,
    results: Buffers,
    attributes: Attributes,
}

/// A program that XLA may call.
struct Program {
    code: Arc<Executable>,
    /// Arguments that the program may write to, with their sizes.
    donated: Vec<(usize, usize)>,
}

static PROGRAMS: Mutex<Option<FxHashMap<i64, Arc<Program>>>> = Mutex::new(None);

/// Makes a program one that XLA may call, by the number that is given back: a program of XLA's with this number keeps it, if it is made before
/// the number is withdrawn. `donated` are the arguments that it was compiled to write to, with their sizes in bytes: they are copied, since
/// they are small where programs are called so.
pub(crate) fn offer(code: Arc<Executable>, donated: Vec<(usize, usize)>) -> i64 {
    static NEXT: AtomicI64 = AtomicI64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    let program = Arc::new(Program { code, donated });
    programs.get_or_insert_default().insert(number, program);
    number
}

/// Forgets the number of a program.
#[pyfunction]
pub(crate) fn withdraw(number: i64) {
    let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    let gone = programs.get_or_insert_default().remove(&number);
    drop(programs);
    drop(gone);
}

/// The functions that XLA calls, as JAX registers them: when it has compiled a program, and in each run of it.
#[pyfunction]
pub(crate) fn call_targets(py: Python<'_>) -> PyResult<[Bound<'_, PyAny>; 2]> {
    let capsule = |function: unsafe extern "C" fn(*mut Frame) -> Mistake| {
        let name = c"xla._CUSTOM_CALL_TARGET".as_ptr();
        // SAFETY: the pointer is that of a function, which is always there, and so is the name.
        unsafe {
            let capsule = ffi::PyCapsule_New(function as *mut c_void, name, None);
            Bound::from_owned_ptr_or_err(py, capsule)
        }
    };
    Ok([capsule(compiled)?, capsule(called)?])
}

/// The number that XLA has for [`Program`] among types of what it keeps; 0 before it is known.
static KIND: AtomicI64 = AtomicI64::new(0);

/// Keeps the program whose number is the one attribute of a call.
///
/// # Safety
/// XLA calls it with a frame as its header has it.
unsafe extern "C" fn compiled(frame: *mut Frame) -> Mistake {
    // SAFETY: XLA's promise.
    unsafe { answer(frame, keep) }
}

/// Runs the program that was kept.
///
/// # Safety
/// XLA calls it with a frame as its header has it.
unsafe extern "C" fn called(frame: *mut Frame) -> Mistake {
    // SAFETY: XLA's promise.
    unsafe { answer(frame, run) }
}

/// Why a call fails.
enum Failure {
    Words(String),
    /// What XLA said.
    Theirs(Mistake),
}

impl From<&str> for Failure {
    fn from(words: &str) -> Failure {
        Failure::Words(words.to_owned())
    }
}

/// Does what XLA asks for, and says why it could not be done.
///
/// # Safety
/// XLA calls it with a frame as its header has it.
unsafe fn answer(frame: *mut Frame, work: impl FnOnce(&Frame) -> Result<(), Failure>) -> Mistake {
    // SAFETY: nothing else has the frame meanwhile.
    let frame = unsafe { &*frame };
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: an extension is there as long as its frame.
        match unsafe { frame.extension.as_ref() } {
            // SAFETY: XLA's promise.
            Some(extension) if extension.kind == METADATA => unsafe { tell(frame, extension) },
            _ => work(frame),
        }
    }));
    let message = match outcome {
        Ok(Ok(())) => return ptr::null_mut(),
        Ok(Err(Failure::Theirs(mistake))) => return mistake,
        Ok(Err(Failure::Words(words))) => words,
        Err(_) => "jaxide: a panic".to_owned(),
    };
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    let mut error = MakeError {
        size: size_of::<MakeError>(),
        extension: ptr::null_mut(),
        message: message.as_ptr(),
        code: INTERNAL,
    };
    // SAFETY: XLA's promise; the message is copied.
    unsafe { ((*frame.api).make_error)(&raw mut error) }
}

/// Says which interface this is, and of which type what is kept.
///
/// # Safety
/// The extension asks for that, in a frame as XLA's header has it.
unsafe fn tell(frame: &Frame, extension: &Extension) -> Result<(), Failure> {
    let asked = ptr::from_ref(extension).cast::<Asked>();
    // SAFETY: an extension of this kind has metadata to be filled in.
    let metadata = unsafe { &mut *(*asked).metadata };
    metadata.version.major = MAJOR;
    metadata.version.minor = MINOR;
    metadata.traits = 0;
    static REGISTERED: Mutex<()> = Mutex::new(());
    let registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    if KIND.load(Ordering::Acquire) == 0 {
        static INFO: TypeInfo = TypeInfo {
            size: size_of::<TypeInfo>(),
            extension: ptr::null_mut(),
            free,
        };
        let name = "jaxide.program";
        let mut number = 0;
        let mut register = RegisterType {
            size: size_of::<RegisterType>(),
            extension: ptr::null_mut(),
            name: Text {
                first: name.as_ptr(),
                length: name.len(),
            },
            number: &raw mut number,
            info: &raw const INFO,
        };
        // SAFETY: what is pointed to is there, and `INFO` and the name always are.
        let mistake = unsafe { ((*frame.api).register_type)(&raw mut register) };
        if !mistake.is_null() {
            return Err(Failure::Theirs(mistake));
        }
        KIND.store(number, Ordering::Release);
    }
    drop(registered);
    metadata.state = KIND.load(Ordering::Acquire);
    Ok(())
}

// SAFETY: it holds a function and sizes, and its pointer is null.
unsafe impl Sync for TypeInfo {}

/// Frees what was kept.
///
/// # Safety
/// XLA has it from [`keep`], and has forgotten it.
unsafe extern "C" fn free(program: *mut c_void) {
    // SAFETY: it was an `Arc`; a panic of what it drops does not go into XLA.
    let _ = catch_unwind(|| drop(unsafe { Arc::from_raw(program.cast::<Program>()) }));
}

fn keep(frame: &Frame) -> Result<(), Failure> {
    if frame.stage != INSTANTIATE || frame.attributes.count != 1 {
        return Err("jaxide: a call without the number of a program".into());
    }
    // SAFETY: there is one attribute, and it is a number, as the program of XLA states it.
    let number = unsafe { *(**frame.attributes.values).value };
    let program = {
        let programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        let found = programs.as_ref().and_then(|all| all.get(&number).cloned());
        found.ok_or("jaxide: a program whose number was withdrawn")?
    };
    let kept = Arc::into_raw(program).cast_mut();
    let kind = KIND.load(Ordering::Acquire);
    let mut state = State::of(frame, &kind, kept.cast());
    // SAFETY: what is pointed to is there; XLA frees what it keeps once.
    let mistake = unsafe { ((*frame.api).set_state)(&raw mut state) };
    if mistake.is_null() {
        return Ok(());
    }
    // SAFETY: it is not kept.
    drop(unsafe { Arc::from_raw(kept) });
    Err(Failure::Theirs(mistake))
}

impl State {
    fn of(frame: &Frame, kind: &i64, state: *mut c_void) -> State {
        State {
            size: size_of::<State>(),
            extension: ptr::null_mut(),
            context: frame.context,
            stage: INSTANTIATE,
            kind,
            state,
        }
    }
}

fn run(frame: &Frame) -> Result<(), Failure> {
    let kind = KIND.load(Ordering::Acquire);
    let mut state = State::of(frame, &kind, ptr::null_mut());
    // SAFETY: what is pointed to is there.
    let mistake = unsafe { ((*frame.api).get_state)(&raw mut state) };
    if !mistake.is_null() {
        return Err(Failure::Theirs(mistake));
    }
    // SAFETY: what has this type was kept by `keep`, and XLA keeps it as long as it runs its program.
    let program = unsafe { &*state.state.cast::<Program>() };
    // SAFETY: as promised for the frame.
    let (mut inputs, outputs) = unsafe { (pointers(&frame.arguments), pointers(&frame.results)) };
    let mut copies: SmallVec<[Vec<u128>; 2]> = SmallVec::new();
    for &(position, bytes) in &program.donated {
        let mut copy = vec![0u128; bytes.div_ceil(size_of::<u128>())];
        // SAFETY: the argument has so many bytes, and so has the copy.
        unsafe { ptr::copy_nonoverlapping(inputs[position], copy.as_mut_ptr().cast(), bytes) };
        inputs[position] = copy.as_mut_ptr().cast();
        copies.push(copy);
    }
    let read: SmallVec<[*const u8; 16]> = inputs.iter().map(|input| input.cast_const()).collect();
    // SAFETY: XLA's program states the types of ours for arguments and results, so that the memory has their sizes; XLA aligns it for
    // vectors; results overlap nothing, since the operation is not said to work in place.
    let ran = unsafe { program.code.run_pointers(&read, &outputs) };
    ran.map_err(|error| Failure::Words(error.to_string()))
}

/// Where arrays are.
///
/// # Safety
/// There are so many as `buffers` says.
unsafe fn pointers(buffers: &Buffers) -> SmallVec<[*mut u8; 16]> {
    let count = usize::try_from(buffers.count).unwrap_or(0);
    let mut pointers = SmallVec::with_capacity(count);
    for k in 0..count {
        // SAFETY: the caller's promise.
        let data: *mut u8 = unsafe { (**buffers.buffers.add(k)).data.cast() };
        // Arrays without elements may have no memory.
        let empty = ptr::without_provenance_mut(align_of::<u128>());
        pointers.push(if data.is_null() { empty } else { data });
    }
    pointers
}
