//! The one type users hold: an array, concrete or traced.

mod convert;
mod display;
mod elements;
#[cfg(feature = "faer")]
mod faer;
mod methods;
#[cfg(feature = "nalgebra")]
mod nalgebra;
#[cfg(feature = "ndarray")]
mod ndarray;
mod numeric;
mod operators;
mod promote;
mod shape;
mod shaped;
mod values;

use jaxide_core::{Aval, DType, Element, Error, Literal, Result, Scalar, Tensor};

pub use convert::{Leaf, Nested};
pub(crate) use elements::{Donation, Elements};
pub(crate) use promote::{
    as_dtype, as_dtype_exactly, check_fits, check_number, common_dtype, fitting, holds, is_wide,
    promote, promote_dtypes, promote_ranks, result_dtype,
};
pub use shape::{AsShape, Axes, Integer, Numbers};
pub(crate) use shape::{lengths, normalize_axis};
pub use values::Values;

use crate::trace::{OrRaise, Tracer, aval_of, raise, value_of};

/// An array: a shape, an element type and elements, or a stand-in for one while a function is traced.
///
/// Cloning is cheap: clones share their elements, but for the one of a rank-0 array. Arithmetic works on both kinds alike; inside `jit`, `vmap`, `grad` and
/// the like it is recorded, outside it runs at once.
///
/// ```
/// use jaxide::Array;
/// let x = Array::from([1.0f32, 2.0, 3.0]);
/// let y = &x * 2.0 + 1.0;
/// assert_eq!(y.to_vec::<f32>(), [3.0, 5.0, 7.0]);
/// ```
#[derive(Clone)]
pub struct Array(pub(crate) Repr);

#[derive(Clone)]
pub(crate) enum Repr {
    /// A number of the program, not rounded to its element type yet.
    Number(Literal),
    /// Elements.
    Concrete { elements: Elements, weak: bool },
    /// A value inside a trace.
    Tracer(Box<Tracer>),
    /// A type without elements, for `make_jaxpr`.
    Spec(Box<Aval>),
}

jaxide_tree::leaf!(Array);

impl Array {
    /// An array of elements.
    #[inline]
    pub(crate) fn concrete(tensor: Tensor, weak: bool) -> Self {
        let elements = Elements::new(tensor);
        Array(Repr::Concrete { elements, weak })
    }

    /// A rank-0 array of a number that yields to the element types it meets, as a bare number in Python does.
    pub(crate) fn weak(value: Scalar, dtype: DType) -> Self {
        Array(Repr::Number(Literal {
            value,
            dtype,
            weak_type: true,
        }))
    }

    /// A rank-0 array with the element type of the Rust type: unlike the number itself, which an operation converts to the
    /// element type of the array beside it, it takes part in promotion.
    ///
    /// ```
    /// use jaxide::{Array, DType};
    /// let x = Array::from([1.0f32, 2.0]);
    /// assert_eq!((&x * 0.6f64).dtype(), DType::F32);
    /// assert_eq!((&x * Array::scalar(0.6f64)).dtype(), DType::F64);
    /// ```
    pub fn scalar<T: Leaf>(value: T) -> Self {
        Array::from(T::build(&[], vec![value]).or_raise())
    }

    /// Elements in row-major order under a shape.
    ///
    /// # Panics
    /// When the number of elements is not the product of `shape`.
    ///
    /// ```
    /// use jaxide::Array;
    /// let a = Array::from_vec(&[2, 2], vec![1, 2, 3, 4]);
    /// assert_eq!(a.shape(), [2, 2]);
    /// ```
    #[track_caller]
    pub fn from_vec<T: Element>(shape: impl AsShape, elements: Vec<T>) -> Self {
        Array::from(Tensor::from_vec(&lengths("from_vec", &shape), elements).or_raise())
    }

    /// A specification: an element type and a shape without elements, for [`make_jaxpr`](crate::make_jaxpr).
    ///
    /// ```
    /// use jaxide::{Array, DType, make_jaxpr};
    /// let f = |x: Array| x.sin();
    /// let jaxpr = make_jaxpr(f)(Array::spec(DType::F32, &[4])).unwrap();
    /// assert_eq!(jaxpr.to_string(), "{ lambda ; a:f32[4]. let b:f32[4] = sin a in (b,) }");
    /// ```
    ///
    /// # Panics
    /// When a length is negative.
    #[track_caller]
    pub fn spec(dtype: DType, shape: impl AsShape) -> Self {
        Array::of_type(Aval::new(dtype, &lengths("spec", &shape)))
    }

    /// A specification of this type.
    pub(crate) fn of_type(aval: Aval) -> Self {
        Array(Repr::Spec(Box::new(aval)))
    }

    /// Lengths of the axes.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        match &self.0 {
            Repr::Number(_) => &[],
            Repr::Concrete { elements, .. } => elements.shape(),
            Repr::Tracer(tracer) => &tracer.aval.shape,
            Repr::Spec(aval) => &aval.shape,
        }
    }

    /// The element type.
    #[inline]
    pub fn dtype(&self) -> DType {
        match &self.0 {
            Repr::Number(literal) => literal.dtype,
            Repr::Concrete { elements, .. } => elements.dtype(),
            Repr::Tracer(tracer) => tracer.aval.dtype,
            Repr::Spec(aval) => aval.dtype,
        }
    }

    /// Number of axes.
    pub fn ndim(&self) -> usize {
        self.shape().len()
    }

    /// Number of elements.
    pub fn size(&self) -> usize {
        self.shape().iter().product()
    }

    /// Shape, element type and weakness.
    pub fn aval(&self) -> Aval {
        aval_of(self)
    }

    /// Whether the element type yields to others in promotion, because it came from a bare number.
    #[inline]
    pub fn weak_type(&self) -> bool {
        match &self.0 {
            Repr::Number(literal) => literal.weak_type,
            Repr::Concrete { weak, .. } => *weak,
            Repr::Tracer(tracer) => tracer.aval.weak_type,
            Repr::Spec(aval) => aval.weak_type,
        }
    }

    /// Whether this stands for an array inside a trace.
    pub fn is_tracer(&self) -> bool {
        matches!(self.0, Repr::Tracer(_))
    }

    /// The elements as they are in memory.
    ///
    /// # Errors
    /// When the array is traced and has no value yet; the message says how to stage the decision.
    pub fn try_value(&self) -> Result<Tensor> {
        value_of(self)
    }

    /// The elements as they are in memory.
    ///
    /// # Panics
    /// When the array is traced and has no value yet.
    #[track_caller]
    pub fn value(&self) -> Tensor {
        match self.try_value() {
            Ok(value) => value,
            Err(error) => raise(error),
        }
    }

    /// The elements in row-major order.
    ///
    /// # Panics
    /// When `T` is not their type, or the array is traced and has no value yet.
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Vec<T> {
        match self.value().to_vec() {
            Ok(elements) => elements,
            Err(error) => raise(error),
        }
    }

    /// The elements in row-major order, of an array of truth values.
    ///
    /// # Panics
    /// When they are not truth values, or the array is traced and has no value yet.
    #[track_caller]
    pub fn to_bools(&self) -> Vec<bool> {
        if self.dtype() != DType::Bool {
            raise(Error::dtype(format!(
                "the elements are {}, and bool was asked for",
                self.dtype()
            )));
        }
        self.value().bytes().iter().map(|&byte| byte != 0).collect()
    }

    /// The only element.
    ///
    /// # Panics
    /// When there is not exactly one of type `T`, or the array is traced and has no value yet.
    #[track_caller]
    pub fn item<T: Element>(&self) -> T {
        match self.value().item() {
            Ok(element) => element,
            Err(error) => raise(error),
        }
    }

    /// The only element as a truth value: whether it is not zero. For Rust's own `if` and `while`.
    ///
    /// # Panics
    /// When there is not exactly one element, or the array is traced and has no value yet.
    #[track_caller]
    pub fn truth(&self) -> bool {
        let value = self.value();
        match value.scalar_at(0) {
            Some(scalar) if value.len() == 1 => scalar.as_complex() != (0.0, 0.0),
            _ => raise(Error::shape(format!(
                "the truth of {} is ambiguous: one element is needed",
                self.aval()
            ))),
        }
    }
}
