//! Arrays among the arguments of a call: what they are, and where their elements stand.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jaxide_core::{DType, Error, Scalar, Shape, Tensor};
use pyo3::exceptions::PyOverflowError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyComplex, PyDict, PyFloat, PyInt, PyWeakrefMethods, PyWeakrefReference,
};
use rustc_hash::FxHashMap;

use crate::error::raised;
use crate::jax::Jax;
use crate::memory::{Address, Arguments, Hold, held};

/// What a leaf is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An array of JAX.
    Array,
    /// An array of typed random keys.
    Keys,
    /// An array or scalar of NumPy, or what JAX keeps on the host.
    Numpy,
    /// A number of Python.
    Number,
}

/// A leaf of a call's arguments.
pub(crate) struct Leaf<'py> {
    pub(crate) object: Bound<'py, PyAny>,
    pub(crate) kind: Kind,
    /// What says which type it has.
    pub(crate) number: u64,
    /// Whether it is an array that the user has put on its device.
    pub(crate) committed: bool,
    /// Where its elements are known to stand.
    place: Option<Place>,
}

/// Where elements stand.
#[derive(Clone)]
enum Place {
    /// In an array of JAX, as long as it is not deleted.
    Array(Address),
    /// In a result of a program, which holds them too, and is told that somebody asks for them.
    Result(Tensor, Arc<AtomicBool>),
}

/// What is known of an array.
struct Known {
    array: Py<PyWeakrefReference>,
    place: Place,
    number: u64,
    committed: bool,
}

/// Arrays that calls have met.
#[derive(Default)]
struct Arrays {
    known: FxHashMap<usize, Known>,
    /// Those that are gone are looked for when there are so many.
    most: usize,
    /// The numbers of types, by the object that is the type.
    types: FxHashMap<usize, (Py<PyAny>, u64)>,
    /// Shardings of arrays that are whole, in the memory of the device.
    local: FxHashMap<usize, Py<PyAny>>,
}

/// Results of up to so many bytes are held beside JAX, so that the next call has them at once.
const SMALL: usize = 4096;

/// So many are held before those that are gone are looked for.
const FEW: usize = 1024;

/// So many objects that are types are remembered.
const MANY_TYPES: usize = 4096;

static ARRAYS: Mutex<Option<Arrays>> = Mutex::new(None);

fn arrays() -> MutexGuard<'static, Option<Arrays>> {
    ARRAYS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of a hashable object: equal objects have equal numbers.
///
/// # Errors
/// When it cannot be hashed.
pub(crate) fn number(jax: &Jax, object: &Bound<'_, PyAny>) -> PyResult<u64> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let py = object.py();
    let numbers = jax.numbers.bind(py).cast::<PyDict>()?;
    if let Some(number) = numbers.get_item(object)? {
        return number.extract();
    }
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    numbers
        .call_method1(intern!(py, "setdefault"), (object, next))?
        .extract()
}

fn address_of(object: &Bound<'_, PyAny>) -> usize {
    object.as_ptr() as usize
}

/// The number of an array's type.
fn type_number(jax: &Jax, aval: Bound<'_, PyAny>) -> PyResult<u64> {
    let at = address_of(&aval);
    if let Some((_, number)) = arrays().get_or_insert_default().types.get(&at) {
        return Ok(*number);
    }
    let number = number(jax, &aval)?;
    let mut arrays = arrays();
    let types = &mut arrays.get_or_insert_default().types;
    // What is dropped may run Python code: outside of the lock.
    let dropped = (types.len() >= MANY_TYPES).then(|| std::mem::take(types));
    types.insert(at, (aval.unbind(), number));
    drop(arrays);
    drop(dropped);
    Ok(number)
}

/// Whether arrays of a sharding are whole, in the memory of the device.
fn is_local(jax: &Jax, sharding: Bound<'_, PyAny>) -> PyResult<bool> {
    let at = address_of(&sharding);
    if arrays().get_or_insert_default().local.contains_key(&at) {
        return Ok(true);
    }
    let py = sharding.py();
    let local: bool = jax.is_local.bind(py).call1((&sharding,))?.extract()?;
    if local {
        let mut arrays = arrays();
        let known = &mut arrays.get_or_insert_default().local;
        let dropped = (known.len() >= MANY_TYPES).then(|| std::mem::take(known));
        known.insert(at, sharding.unbind());
        drop(arrays);
        drop(dropped);
    }
    Ok(local)
}

/// What an object is, as an argument of a program.
pub(crate) enum Seen<'py> {
    Leaf(Leaf<'py>),
    /// A value of a trace, or an array that has been deleted: JAX knows what to do or to say.
    Tracer,
    /// An array that programs cannot take, and why.
    Refused(&'static str),
    /// An object that is no array, or a tree of a class of its own.
    Other(Bound<'py, PyAny>),
}

impl<'py> Leaf<'py> {
    /// Looks at an object.
    ///
    /// # Errors
    /// When JAX fails.
    pub(crate) fn see(jax: &Jax, object: Bound<'py, PyAny>) -> PyResult<Seen<'py>> {
        let py = object.py();
        let class = object.get_type();
        let leaf = |object, kind, number, committed, place| {
            Seen::Leaf(Leaf {
                object,
                kind,
                number,
                committed,
                place,
            })
        };
        if class.is(&jax.array) {
            return Self::array(jax, object);
        }
        let kind = [
            class.is(py.get_type::<PyFloat>()),
            class.is(py.get_type::<PyInt>()),
            class.is(py.get_type::<PyBool>()),
            class.is(py.get_type::<PyComplex>()),
        ];
        if let Some(kind) = kind.iter().position(|&is| is) {
            return Ok(leaf(object, Kind::Number, kind as u64, false, None));
        }
        if jax.typed.iter().any(|typed| class.is(typed)) {
            let aval = object.getattr(intern!(py, "aval"))?;
            let number = type_number(jax, aval)?;
            return Ok(leaf(object, Kind::Numpy, number, false, None));
        }
        if class.is(&jax.ndarray_type) || object.is_instance(jax.generic.bind(py))? {
            let dtype = object.getattr(intern!(py, "dtype"))?;
            let shape = object.getattr(intern!(py, "shape"))?;
            let number = number(jax, (dtype, shape).into_pyobject(py)?.as_any())?;
            return Ok(leaf(object, Kind::Numpy, number, false, None));
        }
        if class.is(&jax.key_array) {
            let base = object.getattr(intern!(py, "_base_array"))?;
            if !base.get_type().is(&jax.array) {
                return Ok(Seen::Refused("random keys in an array of another kind"));
            }
            let aval = object.getattr(intern!(py, "aval"))?;
            let number = type_number(jax, aval)?;
            return Ok(match Self::array(jax, base)? {
                Seen::Leaf(base) => {
                    leaf(base.object, Kind::Keys, number, base.committed, base.place)
                }
                other => other,
            });
        }
        if object.is_instance(jax.tracer.bind(py))? {
            return Ok(Seen::Tracer);
        }
        Ok(Seen::Other(object))
    }

    fn array(jax: &Jax, object: Bound<'py, PyAny>) -> PyResult<Seen<'py>> {
        let py = object.py();
        let found = {
            let mut arrays = arrays();
            let known = arrays
                .get_or_insert_default()
                .known
                .get(&address_of(&object));
            known.and_then(|known| {
                let alive = known.array.bind(py).upgrade()?;
                let found = (known.place.clone(), known.number, known.committed);
                alive.is(&object).then_some(found)
            })
        };
        if let Some((place, number, committed)) = found {
            return Ok(Seen::Leaf(Leaf {
                object,
                kind: Kind::Array,
                number,
                committed,
                place: Some(place),
            }));
        }
        if object
            .call_method0(intern!(py, "is_deleted"))?
            .is_truthy()?
        {
            return Ok(Seen::Tracer);
        }
        let sharding = object.getattr(intern!(py, "sharding"))?;
        if !is_local(jax, sharding)? {
            return Ok(Seen::Refused(
                "arrays on several devices, or on another than the CPU",
            ));
        }
        let number = type_number(jax, object.getattr(intern!(py, "aval"))?)?;
        let committed = object.getattr(intern!(py, "_committed"))?.is_truthy()?;
        Ok(Seen::Leaf(Leaf {
            object,
            kind: Kind::Array,
            number,
            committed,
            place: None,
        }))
    }

    /// Adds its elements to the arguments of a program that takes them as `wanted`; `locked` says whether the run keeps the
    /// interpreter's lock.
    ///
    /// # Errors
    /// When it cannot be read, or a number does not fit its type.
    pub(crate) fn push(
        &self,
        jax: &Jax,
        wanted: &Wanted,
        locked: bool,
        arguments: &mut Arguments<'py>,
    ) -> PyResult<()> {
        let py = self.object.py();
        let (shape, dtype) = (wanted.shape.as_slice(), wanted.dtype);
        let pushed = match (self.kind, &self.place) {
            (Kind::Number, _) => {
                arguments.push(self.scalar(dtype)?);
                Ok(())
            }
            (Kind::Array, Some(Place::Result(tensor, asked))) => {
                asked.store(true, Ordering::Relaxed);
                // The words of typed keys are an array of integers too.
                let tensor = if tensor.dtype() == dtype {
                    Ok(tensor.clone())
                } else {
                    tensor.reinterpreted(shape, dtype)
                };
                tensor.map(|tensor| arguments.push_result(&self.object, tensor))
            }
            (_, Some(Place::Array(address))) if locked => {
                arguments.push_known((shape, dtype), &self.object, *address)
            }
            (Kind::Numpy, _) => {
                let numpy = wanted.numpy.bind(py);
                let plain = jax.as_input.bind(py).call1((&self.object, numpy))?;
                arguments.push_held(shape, dtype, Hold::new(&plain)?)
            }
            (Kind::Array | Kind::Keys, _) => match Hold::new(&self.object) {
                Ok(hold) => {
                    if self.place.is_none() && self.kind == Kind::Array {
                        let place = Place::Array(hold.address());
                        know(jax, &self.object, place, self.number, self.committed)?;
                    }
                    arguments.push_held(shape, dtype, hold)
                }
                // Types that are not Python's.
                Err(_) => {
                    let plain = (jax.as_input.bind(py)).call1((&self.object, py.None()))?;
                    arguments.push_held(shape, dtype, Hold::new(&plain)?)
                }
            },
        };
        pushed.map_err(|error| raised(py, &error))
    }

    /// A number of Python in a type.
    fn scalar(&self, dtype: DType) -> PyResult<Tensor> {
        let py = self.object.py();
        let value = if self.object.is_instance_of::<PyBool>() {
            Scalar::Bool(self.object.extract()?)
        } else if self.object.is_instance_of::<PyInt>() {
            let value: i64 = self.object.extract()?;
            if dtype == DType::I32 && i32::try_from(value).is_err() {
                return Err(PyOverflowError::new_err(format!(
                    "Python int {value} too large to convert to int32"
                )));
            }
            Scalar::Int(value)
        } else if self.object.is_instance_of::<PyFloat>() {
            Scalar::Float(self.object.extract()?)
        } else {
            let value = self.object.cast::<PyComplex>()?;
            Scalar::Complex(value.real(), value.imag())
        };
        Tensor::full(&[], dtype, value).map_err(|error| raised(py, &error))
    }
}

/// What a program takes.
pub(crate) struct Wanted {
    pub(crate) dtype: DType,
    pub(crate) shape: Shape,
    /// The type as NumPy has it.
    pub(crate) numpy: Py<PyAny>,
}

/// Remembers where the elements of an array stand.
fn know(
    jax: &Jax,
    array: &Bound<'_, PyAny>,
    place: Place,
    number: u64,
    committed: bool,
) -> PyResult<()> {
    let py = array.py();
    let reference = jax.weakref.bind(py).call1((array,))?;
    let known = Known {
        array: reference.cast_into::<PyWeakrefReference>()?.unbind(),
        place,
        number,
        committed,
    };
    let mut gone = Vec::new();
    let mut arrays = arrays();
    let all = arrays.get_or_insert_default();
    if all.known.len() >= all.most.max(FEW) {
        let is_gone = |_: &usize, known: &mut Known| known.array.bind(py).upgrade().is_none();
        gone.extend(all.known.extract_if(is_gone));
        all.most = 2 * all.known.len();
    }
    let before = all.known.insert(address_of(array), known);
    drop(arrays);
    drop((gone, before));
    Ok(())
}

/// Remembers a small result, which was given to JAX as `array`; `asked` becomes true when a program takes it.
///
/// # Errors
/// When it cannot be referred to.
pub(crate) fn know_result(
    jax: &Jax,
    array: &Bound<'_, PyAny>,
    tensor: &Tensor,
    asked: &Arc<AtomicBool>,
    (number, committed): (u64, bool),
) -> PyResult<()> {
    if tensor.bytes().len() > SMALL {
        return Ok(());
    }
    let place = Place::Result(tensor.clone(), asked.clone());
    know(jax, array, place, number, committed)
}

/// The elements of an array, in its own type, which stay as they are.
///
/// # Errors
/// When it cannot be read, or has a type that programs do not know.
pub(crate) fn tensor(jax: &Jax, array: &Bound<'_, PyAny>) -> PyResult<Tensor> {
    let py = array.py();
    let dtype = array.getattr(intern!(py, "dtype"))?;
    let name: String = dtype.getattr(intern!(py, "name"))?.extract()?;
    let dtype = DType::from_numpy_name(&name).ok_or_else(|| {
        let message = format!("elements of type {name} are not known");
        raised(py, &Error::unsupported(message))
    })?;
    let shape: Vec<usize> = array.getattr(intern!(py, "shape"))?.extract()?;
    let of_keys = array.get_type().is(&jax.key_array);
    let array = if of_keys {
        array.getattr(intern!(py, "_base_array"))?
    } else {
        array.clone()
    };
    let of_jax = array.get_type().is(&jax.array);
    let hold = match Hold::new(&array) {
        Ok(hold) if of_jax => hold,
        _ => Hold::new(&jax.as_input.bind(py).call1((array, py.None()))?)?,
    };
    let tensor = held(&shape, dtype, hold).and_then(|tensor| {
        if of_jax {
            return Ok(tensor);
        }
        // An array of NumPy may be written to later.
        Tensor::from_bytes(&shape, dtype, tensor.bytes())
    });
    tensor.map_err(|error| raised(py, &error))
}
