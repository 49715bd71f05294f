//! What is asked of JAX in every call, looked up once.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyType};

/// Objects of JAX and NumPy, which `jaxide._internals` names, and what `jaxide._dispatch` does.
pub(crate) struct Jax {
    pub(crate) array: Py<PyType>,
    pub(crate) tracer: Py<PyType>,
    pub(crate) key_array: Py<PyType>,
    pub(crate) ndarray: Py<PyAny>,
    pub(crate) ndarray_type: Py<PyType>,
    pub(crate) generic: Py<PyType>,
    /// Arrays and numbers that carry a type of JAX.
    pub(crate) typed: Vec<Py<PyType>>,
    pub(crate) devices: Py<PyList>,
    pub(crate) sharding: Py<PyAny>,
    pub(crate) zero_copy: Py<PyAny>,
    pub(crate) device_put: Py<PyAny>,
    pub(crate) collect_garbage: Py<PyAny>,
    pub(crate) trace_context: Py<PyAny>,
    pub(crate) trace_state: Py<PyAny>,
    pub(crate) eval_trace: Py<PyAny>,
    pub(crate) jit_is_off: Vec<Py<PyAny>>,
    pub(crate) flatten: Py<PyAny>,
    pub(crate) is_local: Py<PyAny>,
    pub(crate) as_input: Py<PyAny>,
    pub(crate) numbers: Py<PyAny>,
    pub(crate) weakref: Py<PyAny>,
    pub(crate) path: Py<PyAny>,
    pub(crate) function: Py<PyAny>,
}

impl Jax {
    /// # Errors
    /// When JAX cannot be imported.
    pub(crate) fn get(py: Python<'_>) -> PyResult<&Jax> {
        static JAX: PyOnceLock<Jax> = PyOnceLock::new();
        JAX.get_or_try_init(py, || {
            let module = py.import("jaxide._internals")?;
            let dispatch = py.import("jaxide._dispatch")?;
            let get = |name: &str| -> PyResult<Py<PyAny>> { Ok(module.getattr(name)?.unbind()) };
            let class = |name: &str| -> PyResult<Py<PyType>> {
                Ok(module.getattr(name)?.cast_into::<PyType>()?.unbind())
            };
            Ok(Jax {
                array: class("Array")?,
                tracer: class("Tracer")?,
                key_array: class("KeyArray")?,
                ndarray: get("ndarray")?,
                ndarray_type: class("ndarray")?,
                generic: class("generic")?,
                typed: module.getattr("TYPED")?.extract()?,
                devices: module.getattr("DEVICES")?.cast_into::<PyList>()?.unbind(),
                sharding: get("SHARDING")?,
                zero_copy: get("ZERO_COPY")?,
                device_put: get("device_put")?,
                collect_garbage: get("collect_garbage")?,
                trace_context: get("trace_context")?,
                trace_state: get("TRACE_STATE")?,
                eval_trace: get("EVAL_TRACE")?,
                jit_is_off: module.getattr("JIT_IS_OFF")?.extract()?,
                flatten: get("flatten")?,
                is_local: get("is_local")?,
                as_input: get("as_input")?,
                numbers: get("NUMBERS")?,
                weakref: get("weak_reference")?,
                path: dispatch.getattr("path")?.unbind(),
                function: dispatch.getattr("function")?.unbind(),
            })
        })
    }
}
