//! Jitted functions: what a call costs is decided here.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jaxide_core::{DType, Scalar, Tensor, byte_size};
use jaxide_cpu::Executable;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::error::raised;
use crate::jax::Jax;
use crate::leaf::{Kind, Leaf, Seen, Wanted, know_result, number};
use crate::memory::{Arguments, Memory, large_at};
use crate::program::Code;

/// Structure and types of the arguments of a call.
type Key = SmallVec<[u64; 16]>;

/// Marks of what stands in a [`Key`]; the number of the object stands above.
const BITS: u32 = 4;
const TUPLE: u64 = 0;
const LIST: u64 = 1;
const DICT: u64 = 2;
const NONE: u64 = 3;
const TREE: u64 = 4;
const ARRAY: u64 = 5;
const COMMITTED: u64 = 6;
const NUMPY: u64 = 7;
const NUMBER: u64 = 8;
const STATIC: u64 = 9;
const KEYWORDS: u64 = 10;

/// Runs that take at most so long keep the interpreter's lock: to give it away would take arrays to be held one by one.
const SHORT: Duration = Duration::from_micros(100);

/// Results of up to so many bytes together are made by JAX's dispatch; the memory of larger ones is better kept here.
const SMALL_RESULTS: usize = 1 << 21;
/// What a call saves by JAX's dispatch, and each of its results, in nanoseconds.
const SAVED: [u64; 2] = [1000, 500];
/// What it takes to prepare that, and for each result.
const PREPARED: [u64; 2] = [6_000_000, 40_000];
/// Functions that are called less often than so are not prepared for it.
const CALLS: u64 = 16;

/// After so many runs it is known whether results become arguments.
const FIRST_RUNS: u64 = 16;

/// Programs of one function, by what they were made for. Functions that wrap the same one share them.
#[pyclass(frozen, module = "jaxide._jaxide")]
#[derive(Default)]
pub(crate) struct Cache(Mutex<FxHashMap<Key, Vec<Arc<Entry>>>>);

#[pymethods]
impl Cache {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// The number of programs.
    fn __len__(&self) -> usize {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.values().map(Vec::len).sum()
    }

    /// Forgets all programs.
    fn clear(&self) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let dropped = std::mem::take(&mut *entries);
        drop(entries);
        drop(dropped);
    }
}

/// What runs calls of one signature.
struct Entry {
    /// Values of the static arguments.
    statics: Vec<Py<PyAny>>,
    /// The program, unless `jax.jit` runs them.
    program: Option<Native>,
}

/// A compiled program with what its arguments and results are in Python.
struct Native {
    code: Arc<Executable>,
    /// Whether it has loops whose number of turns is not known.
    open: bool,
    inputs: Vec<Wanted>,
    outputs: Vec<Output>,
    donated: Vec<usize>,
    /// What prints: it is called with the number of what is printed, and arrays.
    print: Option<Py<PyAny>>,
    /// Whether JAX's dispatch may call it.
    light: bool,
    /// The structure of the results; none for a single array.
    tree: Option<Py<PyAny>>,
    /// How long the last run took.
    last: AtomicU64,
    /// How often it ran.
    runs: AtomicU64,
    /// Whether a program has taken a result: then they are remembered, so that it has them at once.
    asked: Arc<AtomicBool>,
    /// What JAX's dispatch calls in place of this; none where it cannot.
    path: PyOnceLock<Option<Py<PyAny>>>,
    /// The same as Python has it.
    object: Py<Code>,
}

/// A result.
struct Output {
    shape: Py<PyAny>,
    dtype: Py<PyAny>,
    aval: Py<PyAny>,
    number: u64,
    /// What makes typed keys of their words.
    wrap: Option<Py<PyAny>>,
    /// The result itself, where it is always the same.
    constant: Option<Py<PyAny>>,
    /// Whether JAX would make its numbers shorter, if it were not told the type.
    long: bool,
}

/// What is read of a call.
struct Call<'py> {
    key: Key,
    leaves: SmallVec<[Leaf<'py>; 8]>,
    statics: SmallVec<[Bound<'py, PyAny>; 2]>,
}

/// Why a call is left to `jax.jit`.
enum Left {
    Traced,
    Refused(String),
}

/// `Ok(None)`: all is well.
type Looked = PyResult<Option<Left>>;

impl<'py> Call<'py> {
    fn mark(&mut self, mark: u64, number: u64) {
        self.key.push(number << BITS | mark);
    }

    /// Flattens an argument as JAX does.
    fn look(&mut self, jax: &Jax, object: Bound<'py, PyAny>) -> Looked {
        if !object.get_type().is(&jax.array) {
            if object.is_none() {
                self.mark(NONE, 0);
                return Ok(None);
            }
            if let Ok(tuple) = object.cast_exact::<PyTuple>() {
                self.mark(TUPLE, tuple.len() as u64);
                return self.look_at_all(jax, tuple.iter());
            }
            if let Ok(list) = object.cast_exact::<PyList>() {
                self.mark(LIST, list.len() as u64);
                return self.look_at_all(jax, list.iter());
            }
            if let Ok(dict) = object.cast_exact::<PyDict>() {
                let keys = dict.keys();
                if keys.sort().is_ok() {
                    let number = number(jax, keys.to_tuple().as_any())?;
                    self.mark(DICT, number);
                    let values: Vec<_> = keys
                        .iter()
                        .map(|key| dict.as_any().get_item(key))
                        .collect::<PyResult<_>>()?;
                    return self.look_at_all(jax, values);
                }
                return self.look_at_tree(jax, object);
            }
        }
        match Leaf::see(jax, object)? {
            Seen::Leaf(leaf) => {
                self.add(leaf);
                Ok(None)
            }
            Seen::Tracer => Ok(Some(Left::Traced)),
            Seen::Refused(why) => Ok(Some(Left::Refused(why.to_owned()))),
            Seen::Other(object) => self.look_at_tree(jax, object),
        }
    }

    fn add(&mut self, leaf: Leaf<'py>) {
        let mark = match (leaf.kind, leaf.committed) {
            (Kind::Array | Kind::Keys, false) => ARRAY,
            (Kind::Array | Kind::Keys, true) => COMMITTED,
            (Kind::Numpy, _) => NUMPY,
            (Kind::Number, _) => NUMBER,
        };
        self.mark(mark, leaf.number);
        self.leaves.push(leaf);
    }

    fn look_at_all(
        &mut self,
        jax: &Jax,
        objects: impl IntoIterator<Item = Bound<'py, PyAny>>,
    ) -> Looked {
        for object in objects {
            if let Some(left) = self.look(jax, object)? {
                return Ok(Some(left));
            }
        }
        Ok(None)
    }

    /// A tree of a class that JAX knows, or an object that is no array.
    fn look_at_tree(&mut self, jax: &Jax, object: Bound<'py, PyAny>) -> Looked {
        let py = object.py();
        let flat = jax.flatten.bind(py).call1((&object,))?;
        let (leaves, tree): (Bound<'py, PyList>, Bound<'py, PyAny>) = flat.extract()?;
        let alone = leaves.len() == 1 && leaves.get_item(0)?.is(&object);
        if alone {
            let name = object.get_type().name()?;
            return Ok(Some(Left::Refused(format!("an argument of type {name}"))));
        }
        let number = number(jax, &tree)?;
        self.mark(TREE, number);
        for leaf in leaves.iter() {
            match Leaf::see(jax, leaf)? {
                Seen::Leaf(leaf) => self.add(leaf),
                Seen::Tracer => return Ok(Some(Left::Traced)),
                Seen::Refused(why) => return Ok(Some(Left::Refused(why.to_owned()))),
                Seen::Other(object) => {
                    let name = object.get_type().name()?;
                    return Ok(Some(Left::Refused(format!("an argument of type {name}"))));
                }
            }
        }
        Ok(None)
    }
}

impl Entry {
    /// Whether the static arguments of a call are those it was made for.
    fn fits(&self, call: &Call<'_>) -> PyResult<bool> {
        for (ours, theirs) in self.statics.iter().zip(&call.statics) {
            let ours = ours.bind(theirs.py());
            if ours.is(theirs) {
                continue;
            }
            if !ours.get_type().is(theirs.get_type()) || !ours.eq(theirs)? {
                return Ok(false);
            }
        }
        Ok(self.statics.len() == call.statics.len())
    }
}

/// A function that is traced by JAX, compiled by jaxide, and run natively.
#[pyclass(frozen, dict, weakref, module = "jaxide")]
pub(crate) struct Function {
    /// `jax.jit` of the same function.
    jitted: Py<PyAny>,
    /// Traces and compiles: what is run for a signature, or none for what `jax.jit` runs.
    compile: Py<PyAny>,
    /// Told why a call is left to `jax.jit`.
    refuse: Py<PyAny>,
    cache: Py<Cache>,
    static_positions: SmallVec<[isize; 2]>,
    static_names: Vec<Py<PyString>>,
    /// How often it was called.
    calls: AtomicU64,
    /// The same function in JAX's dispatch, once a program of it is called from there.
    dispatch: PyOnceLock<Py<PyAny>>,
}

/// Whether JAX's dispatch calls a program from now on, and what.
enum Later {
    Now(Py<PyAny>),
    Perhaps,
    Never,
}

#[pymethods]
impl Function {
    #[new]
    fn new(
        jitted: Py<PyAny>,
        compile: Py<PyAny>,
        refuse: Py<PyAny>,
        cache: Py<Cache>,
        static_positions: Vec<isize>,
        static_names: Vec<Py<PyString>>,
    ) -> Self {
        Function {
            jitted,
            compile,
            refuse,
            cache,
            static_positions: static_positions.into(),
            static_names,
            calls: AtomicU64::new(0),
            dispatch: PyOnceLock::new(),
        }
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = args.py();
        let function = slf.get();
        if let Some(dispatch) = function.dispatch.get(py) {
            return dispatch.bind(py).call(args, kwargs);
        }
        let jax = Jax::get(py)?;
        let (results, later) = function.call(py, jax, args, kwargs)?;
        if let Later::Now(_) = later {
            function.dispatch(slf, jax)?;
        }
        Ok(results)
    }

    /// What JAX's dispatch asks where it does not know what to call: the results of a call, what is called from now on, and whether it shall
    /// ask again.
    #[pyo3(signature = (*args, **kwargs))]
    fn _miss<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Py<PyAny>>, bool)> {
        let py = args.py();
        let (results, later) = self.call(py, Jax::get(py)?, args, kwargs)?;
        Ok(match later {
            Later::Now(path) => (results, Some(path), false),
            Later::Perhaps => (results, None, true),
            Later::Never => (results, None, false),
        })
    }

    fn __get__<'py>(
        slf: Bound<'py, Self>,
        object: &Bound<'py, PyAny>,
        _class: Option<&Bound<'py, PyType>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if object.is_none() {
            return Ok(slf.into_any());
        }
        let py = slf.py();
        let method = py
            .import(intern!(py, "types"))?
            .getattr(intern!(py, "MethodType"))?;
        method.call1((slf, object))
    }

    /// As the function of `jax.jit` has it.
    #[getter]
    fn lower<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.jitted.bind(py).getattr(intern!(py, "lower"))
    }

    /// As the function of `jax.jit` has it.
    #[getter]
    fn trace<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.jitted.bind(py).getattr(intern!(py, "trace"))
    }

    /// As the function of `jax.jit` has it.
    #[getter]
    fn eval_shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.jitted.bind(py).getattr(intern!(py, "eval_shape"))
    }

    /// What `jax.jit` gives such functions besides.
    fn __getattr__<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyString>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.jitted.bind(py).getattr(name)
    }

    /// Forgets the programs, here and in `jax.jit`.
    fn clear_cache(&self, py: Python<'_>) -> PyResult<()> {
        self.cache.get().clear();
        self.jitted
            .bind(py)
            .call_method0(intern!(py, "clear_cache"))?;
        if let Some(dispatch) = self.dispatch.get(py) {
            (dispatch.bind(py)).call_method0(intern!(py, "_clear_cache"))?;
        }
        Ok(())
    }

    /// The number of signatures that calls had.
    fn _cache_size(&self) -> usize {
        self.cache.get().__len__()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let name = slf.getattr(intern!(slf.py(), "__name__"));
        Ok(match name {
            Ok(name) => format!("<jaxide.jit of {name}>"),
            Err(_) => "<jaxide.jit of a function>".to_owned(),
        })
    }
}

/// Whether functions are compiled and run now: outside of traces, and by no switch that asks for something else.
fn plain(py: Python<'_>, jax: &Jax) -> PyResult<bool> {
    let value = intern!(py, "value");
    if !jax.trace_state.bind(py).getattr(value)?.is(&jax.eval_trace) {
        return Ok(false);
    }
    for switch in &jax.jit_is_off {
        if switch.bind(py).getattr(value)?.is_truthy()? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The number of what JAX traces under: precision, 64-bit types and other switches.
fn context(py: Python<'_>, jax: &Jax) -> PyResult<u64> {
    static LAST: Mutex<Option<(Py<PyTuple>, u64)>> = Mutex::new(None);
    let now = jax.trace_context.bind(py).call0()?.cast_into::<PyTuple>()?;
    {
        let last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((tuple, number)) = &*last {
            let tuple = tuple.bind(py);
            let mut pairs = tuple.iter_borrowed().zip(now.iter_borrowed());
            if tuple.len() == now.len() && pairs.all(|(a, b)| a.is(b)) {
                return Ok(*number);
            }
        }
    }
    let number = number(jax, now.as_any())?;
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let before = last.replace((now.unbind(), number));
    drop(last);
    drop(before);
    Ok(number)
}

impl Function {
    /// Calls it without JAX's dispatch.
    fn call<'py>(
        &self,
        py: Python<'py>,
        jax: &Jax,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<(Bound<'py, PyAny>, Later)> {
        let by_jax = |later| Ok((self.jitted.bind(py).call(args, kwargs)?, later));
        if !plain(py, jax)? {
            return by_jax(Later::Perhaps);
        }
        let mut call = Call {
            key: Key::new(),
            leaves: SmallVec::new(),
            statics: SmallVec::new(),
        };
        match self.read(jax, &mut call, args, kwargs)? {
            None => {}
            Some(Left::Traced) => return by_jax(Later::Perhaps),
            Some(Left::Refused(why)) => {
                self.refuse.bind(py).call1((why,))?;
                return by_jax(Later::Never);
            }
        }
        let entry = match self.find(&call)? {
            Some(entry) => entry,
            None => self.make(jax, &call, args, kwargs)?,
        };
        let Some(program) = &entry.program else {
            return by_jax(Later::Never);
        };
        let Some(results) = program.run(py, jax, &call)? else {
            // An array has been deleted, which JAX says in its own words.
            return by_jax(Later::Perhaps);
        };
        let calls = self.calls.fetch_add(1, Ordering::Relaxed);
        let later = if calls < CALLS || self.static_positions.iter().any(|&at| at < 0) {
            Later::Perhaps
        } else {
            program.path(py, jax, &call, &results)?
        };
        Ok((results, later))
    }

    /// Gives the function to JAX's dispatch, which asks it where it does not know more.
    fn dispatch(&self, slf: &Bound<'_, Self>, jax: &Jax) -> PyResult<()> {
        let py = slf.py();
        self.dispatch.get_or_try_init(py, || {
            let positions: Vec<isize> = self.static_positions.to_vec();
            let names: Vec<_> = self.static_names.iter().collect();
            let made = (jax.function.bind(py)).call1((slf, positions, names))?;
            PyResult::Ok(made.unbind())
        })?;
        Ok(())
    }

    /// Reads a call: its key, leaves and static arguments.
    fn read<'py>(
        &self,
        jax: &Jax,
        call: &mut Call<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> Looked {
        let py = args.py();
        let number_of_context = context(py, jax)?;
        call.key.push(number_of_context);
        call.key.push(args.len() as u64);
        for (position, object) in args.iter().enumerate() {
            if self.is_static(position, args.len()) {
                call.mark(STATIC, 0);
                call.statics.push(object);
            } else if let Some(left) = call.look(jax, object)? {
                return Ok(Some(left));
            }
        }
        let Some(kwargs) = kwargs.filter(|kwargs| !kwargs.is_empty()) else {
            return Ok(None);
        };
        let names = kwargs.keys();
        names.sort()?;
        let number = number(jax, names.to_tuple().as_any())?;
        call.mark(KEYWORDS, number);
        for name in names.iter() {
            let object = kwargs.as_any().get_item(&name)?;
            let mut fixed = self.static_names.iter();
            if fixed.any(|fixed| fixed.bind(py).as_any().eq(&name).unwrap_or(false)) {
                call.mark(STATIC, 0);
                call.statics.push(object);
            } else if let Some(left) = call.look(jax, object)? {
                return Ok(Some(left));
            }
        }
        Ok(None)
    }

    fn is_static(&self, position: usize, count: usize) -> bool {
        let count = count.cast_signed();
        let mut fixed = self.static_positions.iter();
        fixed
            .any(|&fixed| (if fixed < 0 { fixed + count } else { fixed }) == position.cast_signed())
    }

    fn find(&self, call: &Call<'_>) -> PyResult<Option<Arc<Entry>>> {
        let entries = self.cache.get();
        let found: SmallVec<[Arc<Entry>; 1]> = {
            let entries = entries.0.lock().unwrap_or_else(PoisonError::into_inner);
            let found = entries.get(&call.key).map(Vec::as_slice);
            found.unwrap_or_default().iter().cloned().collect()
        };
        for entry in found {
            if entry.fits(call)? {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    fn make<'py>(
        &self,
        jax: &Jax,
        call: &Call<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Arc<Entry>> {
        let py = args.py();
        let compiled = self.compile.bind(py).call1((args, kwargs))?;
        let program = if compiled.is_none() {
            None
        } else {
            let program = Native::new(jax, &compiled)?;
            if program.inputs.len() != call.leaves.len() {
                return Err(PyValueError::new_err(format!(
                    "jit: {} arrays are given, and the program takes {}",
                    call.leaves.len(),
                    program.inputs.len()
                )));
            }
            Some(program)
        };
        let statics = call.statics.iter().map(|object| object.clone().unbind());
        let entry = Arc::new(Entry {
            statics: statics.collect(),
            program,
        });
        let mut entries = (self.cache.get().0.lock()).unwrap_or_else(PoisonError::into_inner);
        entries
            .entry(call.key.clone())
            .or_default()
            .push(entry.clone());
        Ok(entry)
    }
}

impl Native {
    fn new(jax: &Jax, compiled: &Bound<'_, PyAny>) -> PyResult<Native> {
        let object = compiled.getattr("code")?.cast_into::<Code>()?.unbind();
        let code = object.get();
        let types: Vec<Py<PyAny>> = compiled.getattr("input_types")?.extract()?;
        let avals = code.executable.in_avals();
        if types.len() != avals.len() {
            return Err(PyTypeError::new_err("jit: a program has lost an argument"));
        }
        let inputs = avals.into_iter().zip(types).map(|(aval, numpy)| Wanted {
            dtype: aval.dtype,
            shape: aval.shape,
            numpy,
        });
        let outputs = compiled.getattr("outputs")?.try_iter()?.map(|output| {
            let output = output?;
            let wrap = output.getattr("wrap")?;
            let aval = output.getattr("aval")?;
            let constant = output.getattr("constant")?;
            Ok(Output {
                shape: output.getattr("shape")?.unbind(),
                dtype: output.getattr("dtype")?.unbind(),
                number: number(jax, &aval)?,
                aval: aval.unbind(),
                wrap: (!wrap.is_none()).then(|| wrap.unbind()),
                constant: (!constant.is_none()).then(|| constant.unbind()),
                long: output.getattr("long")?.extract()?,
            })
        });
        let tree = compiled.getattr("tree")?;
        let print = compiled.getattr("print")?;
        let mut native = Native {
            code: code.executable.clone(),
            open: code.open,
            inputs: inputs.collect(),
            outputs: outputs.collect::<PyResult<_>>()?,
            donated: compiled.getattr("donated")?.extract()?,
            print: (!print.is_none()).then(|| print.unbind()),
            light: false,
            tree: (!tree.is_none()).then(|| tree.unbind()),
            last: AtomicU64::new(u64::MAX),
            runs: AtomicU64::new(0),
            asked: Arc::default(),
            path: PyOnceLock::new(),
            object,
        };
        native.light = native.is_light();
        Ok(native)
    }

    fn run<'py>(
        &self,
        py: Python<'py>,
        jax: &Jax,
        call: &Call<'py>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let short = u64::try_from(SHORT.as_nanos()).unwrap_or(u64::MAX);
        let plain = self.donated.is_empty() && self.print.is_none();
        let locked = plain && !self.open && self.last.load(Ordering::Relaxed) < short;
        let mut arguments = Arguments::default();
        let mut given = Given::new();
        for (k, (leaf, wanted)) in call.leaves.iter().zip(&self.inputs).enumerate() {
            let donated = self.donated.contains(&k);
            if donated && let Some(tensor) = given_up(py, jax, call, k)? {
                arguments.push(
                    Tensor::full(&[], DType::Bool, Scalar::Bool(false))
                        .map_err(|error| raised(py, &error))?,
                );
                given.push((k, tensor));
                continue;
            }
            leaf.push(jax, wanted, locked, &mut arguments)?;
            if donated {
                arguments.share_last();
            }
        }
        // Memory of results that nobody has any more comes back to be used again.
        jax.collect_garbage.bind(py).call0()?;
        if arguments.any_deleted(py)? {
            return Ok(None);
        }
        for (k, tensor) in given {
            (call.leaves[k].object).call_method0(intern!(py, "delete"))?;
            jax.collect_garbage.bind(py).call0()?;
            // Somebody may see the memory in another way: then the program copies it.
            let tensor = Arc::try_unwrap(tensor).unwrap_or_else(|tensor| (*tensor).clone());
            arguments.replace(k, tensor);
        }
        let start = Instant::now();
        let results = match &self.print {
            None => arguments.run(py, &self.code, locked, None),
            Some(print) => {
                let failure = Mutex::new(None);
                let print = |format: &str, arrays: &[Tensor]| {
                    let printed = Python::attach(|py| printed(print.bind(py), format, arrays));
                    if let Err(error) = printed {
                        let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
                        failure.get_or_insert(error);
                    }
                };
                let results = arguments.run(py, &self.code, false, Some(&print));
                let failure = failure.into_inner().unwrap_or_else(PoisonError::into_inner);
                if let Some(error) = failure {
                    return Err(error);
                }
                results
            }
        };
        let took = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.last.store(took, Ordering::Relaxed);
        let results = results.map_err(|error| raised(py, &error))?;
        let committed = call.leaves.iter().any(|leaf| leaf.committed);
        let results = self.results(py, jax, &results, committed)?;
        for &donated in &self.donated {
            let leaf = &call.leaves[donated].object;
            if leaf.get_type().is(&jax.array) {
                leaf.call_method0(intern!(py, "delete"))?;
            }
        }
        let results = match &self.tree {
            None => results.get_item(0)?,
            Some(tree) => (tree.bind(py)).call_method1(intern!(py, "unflatten"), (results,))?,
        };
        Ok(Some(results))
    }

    fn results<'py>(
        &self,
        py: Python<'py>,
        jax: &Jax,
        tensors: &[Tensor],
        committed: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let runs = self.runs.fetch_add(1, Ordering::Relaxed);
        let known = runs < FIRST_RUNS || self.asked.load(Ordering::Relaxed);
        let list = PyList::empty(py);
        for (output, tensor) in self.outputs.iter().zip(tensors) {
            if let Some(constant) = &output.constant {
                list.append(constant)?;
                continue;
            }
            let array = to_jax(py, jax, tensor.clone(), output, committed)?;
            if known {
                let told = (output.number, committed);
                know_result(jax, &array, tensor, &self.asked, told)?;
            }
            match &output.wrap {
                None => list.append(array)?,
                Some(wrap) => list.append(wrap.bind(py).call1((array,))?)?,
            }
        }
        Ok(list)
    }
}

impl Native {
    /// Whether JAX's dispatch may call the program: it makes arrays of its own, and those are better made here if they are large.
    fn is_light(&self) -> bool {
        let plain = |output: &Output| output.wrap.is_none() && output.constant.is_none();
        let sizes = self.code.out_avals();
        let bytes = sizes
            .iter()
            .map(|aval| byte_size(&aval.shape, aval.dtype).unwrap_or(usize::MAX));
        let bytes = bytes.fold(0usize, usize::saturating_add);
        self.print.is_none()
            && !self.outputs.is_empty()
            && self.outputs.iter().all(plain)
            && bytes <= SMALL_RESULTS
    }

    /// What JAX's dispatch calls from now on, if that has paid by now.
    fn path<'py>(
        &self,
        py: Python<'py>,
        jax: &Jax,
        call: &Call<'py>,
        results: &Bound<'py, PyAny>,
    ) -> PyResult<Later> {
        if !self.light {
            return Ok(Later::Never);
        }
        let count = self.outputs.len() as u64;
        let cost = |of: [u64; 2]| of[0] + count * of[1];
        if self.runs.load(Ordering::Relaxed) * cost(SAVED) < cost(PREPARED) {
            return Ok(Later::Perhaps);
        }
        if call.leaves.iter().any(|leaf| leaf.kind != Kind::Array) {
            return Ok(Later::Never);
        }
        let path = self.path.get_or_try_init(py, || {
            let committed = call.leaves.iter().any(|leaf| leaf.committed);
            let code = self.object.bind(py);
            let path = (jax.path.bind(py)).call1((code, &self.donated, results, committed))?;
            PyResult::Ok((!path.is_none()).then(|| path.unbind()))
        })?;
        Ok(match path {
            Some(path) => Later::Now(path.clone_ref(py)),
            None => Later::Never,
        })
    }
}

/// Tensors of donated arrays, with their positions.
type Given = SmallVec<[(usize, Arc<Tensor>); 4]>;

/// The tensor of a donated array, if it is one that a program made, and no other argument.
fn given_up(
    py: Python<'_>,
    jax: &Jax,
    call: &Call<'_>,
    position: usize,
) -> PyResult<Option<Arc<Tensor>>> {
    let array = &call.leaves[position].object;
    let same = |leaf: &&Leaf<'_>| leaf.object.is(array);
    if !array.get_type().is(&jax.array) || call.leaves.iter().filter(same).count() > 1 {
        return Ok(None);
    }
    let address = array.call_method0(intern!(py, "unsafe_buffer_pointer"))?;
    Ok(large_at(address.extract()?))
}

/// Has JAX print.
fn printed(print: &Bound<'_, PyAny>, format: &str, arrays: &[Tensor]) -> PyResult<()> {
    let arrays = arrays.iter().map(|array| {
        let aval = array.aval();
        let told = (aval.dtype.numpy_name(), aval.shape.to_vec(), aval.weak_type);
        (told, Memory::new(array.clone()))
    });
    print.call1((format, arrays.collect::<Vec<_>>()))?;
    Ok(())
}

/// Gives JAX an array, which keeps the tensor's memory.
fn to_jax<'py>(
    py: Python<'py>,
    jax: &Jax,
    tensor: Tensor,
    output: &Output,
    committed: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let memory = Bound::new(py, Memory::new(tensor))?;
    let told = (&output.shape, &output.dtype, memory);
    let mut elements = jax.ndarray.bind(py).call1(told)?;
    if output.long {
        elements = elements.call_method1(intern!(py, "view"), (&jax.typed[0],))?;
    }
    jax.device_put.bind(py).call1((
        &output.aval,
        &jax.sharding,
        PyList::new(py, [elements])?,
        &jax.devices,
        committed,
        false,
        &jax.zero_copy,
    ))
}
