//! Looking inside: values noted on the way, and gradients of values on the way.

use jaxide::{Array, Error, Result, numpy, raise};

use crate::variable::Value;
use crate::{Filter, Intermediate, Kind, KindRef, Module, Perturbation, State, Variable};

/// What a function of a module gives, and what was noted in the variables that `filter` selects while it ran. What these held before
/// they hold again.
///
/// ```
/// use jaxide_nnx::{self as nnx, Intermediate, Module, Variable};
/// use jaxide::Array;
/// #[derive(Module)]
/// struct Square { result: Variable<Intermediate> }
/// let square = Square { result: Variable::absent() };
/// let (y, noted) = nnx::capture(&square, Intermediate, |square| {
///     square.result.sow(&Array::from(9.0f32));
///     3
/// })?;
/// assert_eq!((y, noted.array("result")?.item::<f32>()), (3, 9.0));
/// assert!(nnx::state(&square, ..)?.is_empty());
/// # Ok::<(), nnx::Error>(())
/// ```
///
/// # Errors
/// When the filter selects an array that is no variable, or the module was made outside of the innermost trace.
pub fn capture<M: Module, Out>(
    module: &M,
    filter: impl Into<Filter>,
    f: impl FnOnce(&M) -> Out,
) -> Result<(Out, State)> {
    let filter = filter.into();
    let before = crate::pop(module, filter.clone())?;
    let out = f(module);
    let noted = crate::pop(module, filter)?;
    crate::update(module, before)?;
    Ok((out, noted))
}

impl<K: Kind> Variable<K> {
    /// Notes a value behind those that were noted before. The variable, made [`absent`](Variable::absent), is no part of the state
    /// until then, and [`pop`](crate::pop) takes it out again.
    ///
    /// ```
    /// use jaxide_nnx::{self as nnx, Intermediate, Module, Variable};
    /// use jaxide::Array;
    /// #[derive(Module)]
    /// struct Square { result: Variable<Intermediate> }
    /// impl Square {
    ///     fn call(&self, x: Array) -> Array {
    ///         let y = x.square();
    ///         self.result.sow(&y);
    ///         y
    ///     }
    /// }
    /// let square = Square { result: Variable::absent() };
    /// square.call(Array::from(3.0f32));
    /// let noted = nnx::pop(&square, Intermediate)?;
    /// assert_eq!(noted.array("result")?.item::<f32>(), 9.0);
    /// assert!(nnx::state(&square, ..)?.is_empty());
    /// # Ok::<(), nnx::Error>(())
    /// ```
    ///
    /// # Panics
    /// When the variable was made outside of the innermost trace.
    #[track_caller]
    pub fn sow(&self, value: &Array) {
        let mut values = self.value().arrays().to_vec();
        values.push(value.clone());
        self.any().set(Value::Tuple(values));
    }
}

/// A variable for values noted on the way.
impl Default for Variable<Intermediate> {
    fn default() -> Self {
        Variable::absent()
    }
}

/// A variable whose gradient is that of the value that it is added to.
impl Default for Variable<Perturbation> {
    fn default() -> Self {
        Variable::absent()
    }
}

impl Variable<Perturbation> {
    /// `value`, and what the variable holds added to it: zeros, which the first call makes. The gradient with respect to the variable
    /// is that with respect to `value`.
    ///
    /// ```
    /// use jaxide_nnx::{self as nnx, Module, Perturbation, Variable};
    /// use jaxide::Array;
    /// #[derive(Clone, Module)]
    /// struct Twice { inner: Variable<Perturbation> }
    /// impl Twice {
    ///     fn call(&self, x: Array) -> Array {
    ///         self.inner.perturb(&(x * 2.0)).square()
    ///     }
    /// }
    /// let twice = Twice { inner: Variable::absent() };
    /// twice.call(Array::from(3.0f32));
    /// let gradient = nnx::grad(Twice::call_of).wrt(Perturbation)(twice, Array::from(3.0f32));
    /// # impl Twice { fn call_of(twice: Twice, x: Array) -> Array { twice.call(x) } }
    /// assert_eq!(gradient.array("inner")?.item::<f32>(), 12.0);
    /// # Ok::<(), nnx::Error>(())
    /// ```
    ///
    /// # Panics
    /// When the shapes differ, or the variable is made by this call and belongs to another trace.
    #[track_caller]
    pub fn perturb(&self, value: &Array) -> Array {
        let held = match self.value() {
            Value::Array(held) => held,
            Value::Absent => {
                let zeros = numpy::zeros_like(value, ());
                self.set(zeros.clone());
                zeros
            }
            Value::Tuple(_) => self.get(),
        };
        if held.shape() != value.shape() {
            raise(
                Error::shape(format!(
                    "the {} is {}, and the value {}",
                    KindRef::of::<Perturbation>().name(),
                    held.aval(),
                    value.aval()
                ))
                .in_operation("perturb"),
            );
        }
        value + held
    }
}
