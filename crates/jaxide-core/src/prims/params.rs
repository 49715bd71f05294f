//! Values that parameters of primitives have, and how each kind is written in the text.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::dtype::DType;
use crate::jaxpr::{Aval, ClosedJaxpr, Dims, Scalar, Shape};

/// A parameter's value as the printer lays it out and the parser reads it.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamValue {
    /// A Python value: one unbreakable text.
    Py(PyValue),
    /// A sub-jaxpr, nested or hoisted.
    Jaxpr(ClosedJaxpr),
    /// A tuple of sub-jaxprs: `branches`.
    Jaxprs(Vec<ClosedJaxpr>),
    /// A named tuple of optional sub-jaxprs, printed through `repr`: `_LinearSolveTuple(matvec={...}, ...)`.
    NamedJaxprs {
        /// The tuple's type.
        name: String,
        /// Field names and their jaxprs; `None` prints `None`.
        fields: Vec<(String, Option<ClosedJaxpr>)>,
    },
}

/// The Python values that occur in parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum PyValue {
    /// `None`.
    None,
    /// `True`, `False`, `3`, `0.5`, `(1+2j)`; `np.int64(3)` is read as `3`.
    Scalar(Scalar),
    /// A string, quoted inside containers and bare at the top level.
    Str(String),
    /// A name that is never quoted: `float32`, `GatherScatterMode.CLIP`, `<f>`.
    Word(String),
    /// A dtype: `float32` at the top level, `dtype('float32')` inside containers.
    DType(DType),
    /// `(a, b)`.
    Tuple(Vec<PyValue>),
    /// `[a, b]`.
    List(Vec<PyValue>),
    /// `Name(a, b, key=value)`.
    Call {
        /// The name before the parenthesis.
        name: String,
        /// Positional arguments.
        args: Vec<PyValue>,
        /// Keyword arguments, in order.
        fields: Vec<(String, PyValue)>,
    },
    /// Any other text, kept verbatim (addresses removed).
    Opaque(String),
}

impl PyValue {
    /// An integer.
    pub fn int(value: i64) -> PyValue {
        PyValue::Scalar(Scalar::Int(value))
    }

    /// The text inside a container (`repr`).
    fn write_repr(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PyValue::Str(text) => {
                write!(f, "'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
            }
            PyValue::DType(dtype) => write!(f, "dtype('{}')", dtype.numpy_name()),
            other => write!(f, "{other}"),
        }
    }
}

/// Comma-separated `repr`s.
fn write_items(f: &mut fmt::Formatter<'_>, items: &[PyValue]) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        item.write_repr(f)?;
    }
    Ok(())
}

/// The text at the top level (`str`).
impl fmt::Display for PyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PyValue::None => f.write_str("None"),
            PyValue::Scalar(value) => write!(f, "{value}"),
            PyValue::Str(text) | PyValue::Word(text) | PyValue::Opaque(text) => f.write_str(text),
            PyValue::DType(dtype) => f.write_str(dtype.numpy_name()),
            PyValue::Tuple(items) => {
                f.write_str("(")?;
                write_items(f, items)?;
                f.write_str(if items.len() == 1 { ",)" } else { ")" })
            }
            PyValue::List(items) => {
                f.write_str("[")?;
                write_items(f, items)?;
                f.write_str("]")
            }
            PyValue::Call { name, args, fields } => {
                write!(f, "{name}(")?;
                write_items(f, args)?;
                for (index, (key, value)) in fields.iter().enumerate() {
                    write!(
                        f,
                        "{}{key}=",
                        if index > 0 || !args.is_empty() {
                            ", "
                        } else {
                            ""
                        }
                    )?;
                    value.write_repr(f)?;
                }
                f.write_str(")")
            }
        }
    }
}

/// A type that a parameter of a primitive has.
pub trait ParamType: Clone + PartialEq + fmt::Debug {
    /// What the type is called in the reference table.
    const KIND: &'static str;

    /// The value as it is written.
    fn to_value(&self) -> ParamValue;

    /// The value that was written.
    ///
    /// # Errors
    /// What was expected instead, in plain words.
    fn from_value(value: &ParamValue) -> Result<Self, String>;

    /// The value where older text has none; `None` when it must be there.
    fn missing() -> Option<Self> {
        None
    }

    /// The sub-jaxprs in it, in the order in which they are printed.
    fn visit<'a>(&'a self, _visitor: &mut dyn FnMut(&'a ClosedJaxpr)) {}

    /// The sub-jaxprs in it, replaceable.
    fn visit_mut(&mut self, _visitor: &mut dyn FnMut(&mut ClosedJaxpr)) {}
}

/// A parameter type whose text is a plain Python value.
pub trait PyType: Clone + PartialEq + fmt::Debug {
    /// What the type is called in the reference table.
    const KIND: &'static str;

    /// The value as it is written.
    fn to_py(&self) -> PyValue;

    /// The value that was written.
    ///
    /// # Errors
    /// What was expected instead, in plain words.
    fn from_py(value: &PyValue) -> Result<Self, String>;

    /// The value where older text has none; `None` when it must be there.
    fn missing() -> Option<Self> {
        None
    }
}

impl<T: PyType> ParamType for T {
    const KIND: &'static str = T::KIND;

    fn to_value(&self) -> ParamValue {
        ParamValue::Py(self.to_py())
    }

    fn from_value(value: &ParamValue) -> Result<Self, String> {
        match value {
            ParamValue::Py(value) => T::from_py(value),
            _ => Err(format!("{} is expected, and a jaxpr is given", T::KIND)),
        }
    }

    fn missing() -> Option<Self> {
        T::missing()
    }
}

fn expected<T>(kind: &str, got: &PyValue) -> Result<T, String> {
    let mut text = got.to_string();
    if text.len() > 60 {
        let end = (0..=60)
            .rev()
            .find(|&end| text.is_char_boundary(end))
            .unwrap_or(0);
        text.truncate(end);
        text.push_str("...");
    }
    Err(format!("{kind} is expected, and `{text}` is given"))
}

impl PyType for bool {
    const KIND: &'static str = "bool";

    fn to_py(&self) -> PyValue {
        PyValue::Scalar(Scalar::Bool(*self))
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        match value {
            PyValue::Scalar(Scalar::Bool(value)) => Ok(*value),
            other => expected("a bool", other),
        }
    }
}

macro_rules! integers {
    ($($ty:ty, $kind:literal;)*) => { $(
        impl PyType for $ty {
            const KIND: &'static str = $kind;

            fn to_py(&self) -> PyValue {
                PyValue::Scalar(Scalar::from_integer(*self as i128).unwrap_or(Scalar::Int(0)))
            }

            fn from_py(value: &PyValue) -> Result<Self, String> {
                match value {
                    PyValue::Scalar(scalar @ (Scalar::Int(_) | Scalar::UInt(_))) => scalar
                        .as_integer()
                        .and_then(|value| <$ty>::try_from(value).ok())
                        .map_or_else(|| expected(concat!("an integer (", $kind, ")"), value), Ok),
                    other => expected(concat!("an integer (", $kind, ")"), other),
                }
            }
        }
    )* };
}
integers! { usize, "non-negative int"; i64, "int"; i32, "int"; u32, "non-negative int"; }

impl PyType for f64 {
    const KIND: &'static str = "float";

    fn to_py(&self) -> PyValue {
        PyValue::Scalar(Scalar::Float(*self))
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        match value {
            PyValue::Scalar(scalar @ (Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_))) => {
                scalar
                    .as_f64()
                    .map_or_else(|| expected("a float", value), Ok)
            }
            other => expected("a float", other),
        }
    }
}

impl PyType for Scalar {
    const KIND: &'static str = "number";

    fn to_py(&self) -> PyValue {
        PyValue::Scalar(*self)
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        match value {
            PyValue::Scalar(value) => Ok(*value),
            other => expected("a number", other),
        }
    }
}

impl PyType for DType {
    const KIND: &'static str = "dtype";

    fn to_py(&self) -> PyValue {
        PyValue::DType(*self)
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        match value {
            PyValue::DType(dtype) => Ok(*dtype),
            PyValue::Word(name) | PyValue::Str(name) | PyValue::Opaque(name) => {
                DType::from_numpy_name(name).map_or_else(|| expected("a dtype", value), Ok)
            }
            other => expected("a dtype", other),
        }
    }
}

impl<T: PyType> PyType for Option<T> {
    const KIND: &'static str = T::KIND;

    fn to_py(&self) -> PyValue {
        self.as_ref().map_or(PyValue::None, PyType::to_py)
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        match value {
            PyValue::None => Ok(None),
            other => T::from_py(other).map(Some),
        }
    }

    fn missing() -> Option<Self> {
        Some(None)
    }
}

fn items(value: &PyValue) -> Result<&[PyValue], String> {
    match value {
        PyValue::Tuple(items) | PyValue::List(items) => Ok(items),
        other => expected("a tuple", other),
    }
}

impl PyType for Dims {
    const KIND: &'static str = "(int, ...)";

    fn to_py(&self) -> PyValue {
        PyValue::Tuple(self.iter().map(PyType::to_py).collect())
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        items(value)?.iter().map(usize::from_py).collect()
    }
}

impl<T: PyType> PyType for Vec<T> {
    const KIND: &'static str = T::KIND;

    fn to_py(&self) -> PyValue {
        PyValue::Tuple(self.iter().map(PyType::to_py).collect())
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        items(value)?.iter().map(T::from_py).collect()
    }
}

impl<A: PyType, B: PyType> PyType for (A, B) {
    const KIND: &'static str = "pair";

    fn to_py(&self) -> PyValue {
        PyValue::Tuple(vec![self.0.to_py(), self.1.to_py()])
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        match items(value)? {
            [a, b] => Ok((A::from_py(a)?, B::from_py(b)?)),
            _ => expected("a pair", value),
        }
    }
}

impl<A: PyType, B: PyType, C: PyType> PyType for (A, B, C) {
    const KIND: &'static str = "triple";

    fn to_py(&self) -> PyValue {
        PyValue::Tuple(vec![self.0.to_py(), self.1.to_py(), self.2.to_py()])
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        match items(value)? {
            [a, b, c] => Ok((A::from_py(a)?, B::from_py(b)?, C::from_py(c)?)),
            _ => expected("a triple", value),
        }
    }
}

/// A name: of a function, an axis, an implementation. Bare at the top level, quoted in tuples.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(pub Arc<str>);

impl Name {
    /// The name `text`.
    pub fn new(text: &str) -> Self {
        Name(text.into())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PyType for Name {
    const KIND: &'static str = "name";

    fn to_py(&self) -> PyValue {
        PyValue::Str(self.0.to_string())
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        match value {
            PyValue::Tuple(_) | PyValue::List(_) => expected("a name", value),
            other => Ok(Name(other.to_string().into())),
        }
    }
}

/// A value without meaning here, kept as it was written: shardings, policies, function reprs.
#[derive(Clone, Debug, PartialEq)]
pub struct Opaque(pub PyValue);

impl Default for Opaque {
    fn default() -> Self {
        Opaque(PyValue::None)
    }
}

impl Opaque {
    /// The value `None`.
    pub fn none() -> Self {
        Self::default()
    }
}

impl PyType for Opaque {
    const KIND: &'static str = "opaque";

    fn to_py(&self) -> PyValue {
        self.0.clone()
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        Ok(Opaque(value.clone()))
    }

    fn missing() -> Option<Self> {
        Some(Self::none())
    }
}

/// The empty tuple: constants of a combiner, of which there are never any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NoConsts;

impl PyType for NoConsts {
    const KIND: &'static str = "()";

    fn to_py(&self) -> PyValue {
        PyValue::Tuple(Vec::new())
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        if items(value)?.is_empty() {
            Ok(NoConsts)
        } else {
            expected("an empty tuple", value)
        }
    }

    fn missing() -> Option<Self> {
        Some(NoConsts)
    }
}

/// A mesh or `vmap` axis by name, or an axis of the array by number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AxisName {
    /// A named axis.
    Named(Name),
    /// An axis of the operand.
    Positional(usize),
}

impl PyType for AxisName {
    const KIND: &'static str = "axis";

    fn to_py(&self) -> PyValue {
        match self {
            AxisName::Named(name) => name.to_py(),
            AxisName::Positional(axis) => axis.to_py(),
        }
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        match value {
            PyValue::Scalar(_) => usize::from_py(value).map(AxisName::Positional),
            other => Name::from_py(other).map(AxisName::Named),
        }
    }
}

/// Axis names of a collective: `i` or `('i', 'j')`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AxisNames {
    /// One name, written bare.
    One(Name),
    /// A tuple.
    Many(Vec<Name>),
}

impl AxisNames {
    /// The names as a slice.
    pub fn names(&self) -> &[Name] {
        match self {
            AxisNames::One(name) => std::slice::from_ref(name),
            AxisNames::Many(names) => names,
        }
    }
}

impl PyType for AxisNames {
    const KIND: &'static str = "axis names";

    fn to_py(&self) -> PyValue {
        match self {
            AxisNames::One(name) => name.to_py(),
            AxisNames::Many(names) => names.to_py(),
        }
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        match value {
            PyValue::Tuple(_) | PyValue::List(_) => Vec::from_py(value).map(AxisNames::Many),
            other => Name::from_py(other).map(AxisNames::One),
        }
    }
}

/// An enum whose members print as fixed words.
macro_rules! word_enum {
    ($(#[$doc:meta])* $name:ident, $kind:literal { $($(#[$vdoc:meta])* $variant:ident = $text:literal $(| $also:literal)*,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl PyType for $name {
            const KIND: &'static str = $kind;

            fn to_py(&self) -> PyValue {
                PyValue::Word(match self { $($name::$variant => $text,)* }.to_owned())
            }

            fn from_py(value: &PyValue) -> Result<Self, String> {
                match value.to_string().as_str() {
                    $($text $(| $also)* => Ok($name::$variant),)*
                    _ => expected($kind, value),
                }
            }
        }
    };
}

word_enum! {
    /// What indexing does out of bounds.
    GatherScatterMode, "GatherScatterMode" {
        /// Windows are moved into the array.
        Clip = "GatherScatterMode.CLIP" | "1",
        /// Reads outside give the fill value, writes outside are dropped.
        FillOrDrop = "GatherScatterMode.FILL_OR_DROP" | "2",
        /// The caller promises that it does not happen.
        PromiseInBounds = "GatherScatterMode.PROMISE_IN_BOUNDS" | "3",
        /// One-hot products.
        OneHot = "GatherScatterMode.ONE_HOT" | "4",
    }
}

word_enum! {
    /// How exact a product of `f32` has to be.
    Precision, "Precision" {
        /// As the backend likes.
        Default = "Precision.DEFAULT",
        /// Better.
        High = "Precision.HIGH",
        /// Full.
        Highest = "Precision.HIGHEST",
    }
}

word_enum! {
    /// How ties are rounded.
    RoundingMethod, "rounding method" {
        /// Halves away from zero.
        AwayFromZero = "0",
        /// Halves to even.
        ToNearestEven = "1",
    }
}

word_enum! {
    /// Which Fourier transform.
    FftType, "fft type" {
        /// Complex, forward.
        Fft = "0",
        /// Complex, inverse, divided by the length.
        Ifft = "1",
        /// Real to half a spectrum.
        Rfft = "2",
        /// Half a spectrum to real.
        Irfft = "3",
    }
}

word_enum! {
    /// The generator behind `rng_bit_generator`.
    RngAlgorithm, "RNG algorithm" {
        /// The backend's choice.
        Default = "RNG_DEFAULT",
        /// Threefry 2x32.
        ThreeFry = "RNG_THREE_FRY",
        /// Philox 4x32.
        Philox = "RNG_PHILOX",
    }
}

word_enum! {
    /// Which neighbour of equal values `searchsorted` gives.
    SearchSide, "side" {
        /// Before them.
        Left = "left",
        /// After them.
        Right = "right",
    }
}

word_enum! {
    /// The comparison that selects in a window.
    SelectPrim, "select primitive" {
        /// Largest.
        Ge = "ge",
        /// Smallest.
        Le = "le",
    }
}

word_enum! {
    /// How typed random keys are implemented.
    KeyImpl, "key implementation" {
        /// Threefry.
        Fry = "fry" | "threefry2x32",
        /// The bit generator.
        Rbg = "rbg",
        /// The bit generator with cheap splitting.
        UnsafeRbg = "urbg" | "unsafe_rbg",
    }
}

impl KeyImpl {
    /// The element type of such keys.
    pub const fn dtype(self) -> DType {
        match self {
            KeyImpl::Fry => DType::KeyFry,
            KeyImpl::Rbg => DType::KeyRbg,
            KeyImpl::UnsafeRbg => DType::KeyUnsafeRbg,
        }
    }
}

/// How exact a product has to be: per operand, or an algorithm by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DotPrecision {
    /// One precision per operand.
    Operands(Precision, Precision),
    /// An algorithm: `F32_F32_F32`.
    Algorithm(Name),
}

impl PyType for DotPrecision {
    const KIND: &'static str = "(Precision, Precision)";

    fn to_py(&self) -> PyValue {
        match self {
            DotPrecision::Operands(lhs, rhs) => (*lhs, *rhs).to_py(),
            DotPrecision::Algorithm(name) => PyValue::Word(name.to_string()),
        }
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        match value {
            PyValue::Tuple(_) => {
                <(Precision, Precision)>::from_py(value).map(|(l, r)| DotPrecision::Operands(l, r))
            }
            PyValue::Word(name) if name.starts_with("Precision.") => {
                Precision::from_py(value).map(|p| DotPrecision::Operands(p, p))
            }
            other => Ok(DotPrecision::Algorithm(Name(other.to_string().into()))),
        }
    }
}

/// Fields of a named tuple.
fn field<'a>(
    name: &str,
    fields: &'a [(String, PyValue)],
    key: &str,
) -> Result<&'a PyValue, String> {
    fields
        .iter()
        .find(|(name, _)| name == key)
        .map(|(_, value)| value)
        .ok_or_else(|| format!("{name} needs a field `{key}`"))
}

/// A struct that prints as a named tuple.
macro_rules! named_tuple {
    ($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name { $($(#[$fdoc])* pub $field: $ty,)* }

        impl PyType for $name {
            const KIND: &'static str = stringify!($name);

            fn to_py(&self) -> PyValue {
                PyValue::Call {
                    name: stringify!($name).to_owned(),
                    args: Vec::new(),
                    fields: vec![$((stringify!($field).to_owned(), self.$field.to_py()),)*],
                }
            }

            fn from_py(value: &PyValue) -> Result<Self, String> {
                match value {
                    PyValue::Call { name, args, fields } if name == stringify!($name) && args.is_empty() => {
                        Ok($name { $($field: <$ty>::from_py(field(name, fields, stringify!($field))?)
                            .map_err(|error| format!("{}: {error}", stringify!($field)))?,)* })
                    }
                    other => expected(stringify!($name), other),
                }
            }
        }
    };
}

named_tuple! {
    /// Which axes of operand, indices and result mean what in `gather`.
    GatherDimensionNumbers {
        /// Axes of the result that run over the window.
        offset_dims: Dims,
        /// Axes of the operand with window length 1 that the result does not have.
        collapsed_slice_dims: Dims,
        /// The axis of the operand that each index component moves along.
        start_index_map: Dims,
        /// Axes of the operand that are batched together with the indices.
        operand_batching_dims: Dims,
        /// Axes of the indices that are batched together with the operand.
        start_indices_batching_dims: Dims,
    }
}

named_tuple! {
    /// Which axes of operand, indices and updates mean what in `scatter`.
    ScatterDimensionNumbers {
        /// Axes of the updates that run over the window.
        update_window_dims: Dims,
        /// Axes of the operand that the window does not have.
        inserted_window_dims: Dims,
        /// The axis of the operand that each index component moves along.
        scatter_dims_to_operand_dims: Dims,
        /// Axes of the operand that are batched together with the indices.
        operand_batching_dims: Dims,
        /// Axes of the indices that are batched together with the operand.
        scatter_indices_batching_dims: Dims,
    }
}

named_tuple! {
    /// Which axes of a convolution's operands are batch, feature and space, in this order.
    ConvDimensionNumbers {
        /// Batch, feature, space of the left operand.
        lhs_spec: Dims,
        /// Output feature, input feature, space of the kernel.
        rhs_spec: Dims,
        /// Batch, feature, space of the result.
        out_spec: Dims,
    }
}

named_tuple! {
    /// Which axes of a ragged product mean what.
    RaggedDotDimensionNumbers {
        /// As in `dot_general`, with tuples.
        dot_dimension_numbers: ((Dims, Dims), (Dims, Dims)),
        /// The ragged axis of the left operand.
        lhs_ragged_dimensions: Dims,
        /// The group axis of the right operand.
        rhs_group_dimensions: Dims,
    }
}

/// Contracting and batch axes of a product, printed with lists: `(([1], [0]), ([], []))`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DotDimensionNumbers {
    /// Contracted axes of the left operand.
    pub lhs_contracting: Dims,
    /// Contracted axes of the right operand.
    pub rhs_contracting: Dims,
    /// Batch axes of the left operand.
    pub lhs_batch: Dims,
    /// Batch axes of the right operand.
    pub rhs_batch: Dims,
}

impl PyType for DotDimensionNumbers {
    const KIND: &'static str = "(([int], [int]), ([int], [int]))";

    fn to_py(&self) -> PyValue {
        let list = |dims: &Dims| PyValue::List(dims.iter().map(PyType::to_py).collect());
        PyValue::Tuple(vec![
            PyValue::Tuple(vec![
                list(&self.lhs_contracting),
                list(&self.rhs_contracting),
            ]),
            PyValue::Tuple(vec![list(&self.lhs_batch), list(&self.rhs_batch)]),
        ])
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        let ((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)) =
            <((Dims, Dims), (Dims, Dims))>::from_py(value)?;
        Ok(DotDimensionNumbers {
            lhs_contracting,
            rhs_contracting,
            lhs_batch,
            rhs_batch,
        })
    }
}

/// How many constants, carries and stacked inputs a `scan` has; prints as tuples of `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScanInputs {
    /// Loop-invariant operands.
    pub consts: usize,
    /// Carried values.
    pub carry: usize,
    /// Stacked inputs, one slice per step.
    pub xs: usize,
}

/// How many carries and stacked results a `scan` has; prints as tuples of `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScanOutputs {
    /// Carried values.
    pub carry: usize,
    /// Stacked results, one slice per step.
    pub ys: usize,
}

fn nones(count: usize) -> PyValue {
    PyValue::Tuple(vec![PyValue::None; count])
}

/// Leaves of a flat-tree description: every `None` and `*`, however nested.
fn leaves(value: &PyValue) -> usize {
    match value {
        PyValue::None => 1,
        PyValue::Word(word) if word == "*" => 1,
        PyValue::Tuple(items) | PyValue::List(items) => items.iter().map(leaves).sum(),
        // The values of a `Pytree` are its leaves; its treedef has them again.
        PyValue::Call { name, fields, .. } if name == "Pytree" => fields
            .iter()
            .filter(|(key, _)| key == "vals")
            .map(|(_, value)| leaves(value))
            .sum(),
        PyValue::Call { args, fields, .. } => {
            args.iter().map(leaves).sum::<usize>()
                + fields.iter().map(|(_, value)| leaves(value)).sum::<usize>()
        }
        PyValue::Scalar(_)
        | PyValue::Str(_)
        | PyValue::Word(_)
        | PyValue::DType(_)
        | PyValue::Opaque(_) => 0,
    }
}

/// The parts of `ft_in` or `ft_out`: of the tuple itself, or of the treedef inside `Pytree(vals=..., tree=PyTreeDef(...))`.
fn flat_tree_parts(value: &PyValue, count: usize) -> Result<Vec<usize>, String> {
    let tuple = match value {
        PyValue::Call { name, fields, .. } if name == "Pytree" => {
            match field(name, fields, "tree")? {
                PyValue::Call { args, .. } if args.len() == 1 => &args[0],
                other => return expected("a treedef", other),
            }
        }
        other => other,
    };
    let parts = items(tuple)?;
    if parts.len() != count {
        return expected(&format!("a tuple of {count} flat trees"), value);
    }
    Ok(parts.iter().map(leaves).collect())
}

impl PyType for ScanInputs {
    const KIND: &'static str = "(consts, carry, xs)";

    fn to_py(&self) -> PyValue {
        PyValue::Tuple(vec![nones(self.consts), nones(self.carry), nones(self.xs)])
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        let parts = flat_tree_parts(value, 3)?;
        Ok(ScanInputs {
            consts: parts[0],
            carry: parts[1],
            xs: parts[2],
        })
    }
}

impl PyType for ScanOutputs {
    const KIND: &'static str = "(carry, ys)";

    fn to_py(&self) -> PyValue {
        PyValue::Tuple(vec![nones(self.carry), nones(self.ys)])
    }

    /// Counts what is written; the number of results of the equation corrects `ys` afterwards.
    fn from_py(value: &PyValue) -> Result<Self, String> {
        match flat_tree_parts(value, 2) {
            Ok(parts) => Ok(ScanOutputs {
                carry: parts[0],
                ys: parts[1],
            }),
            Err(_) => Ok(ScanOutputs { carry: 0, ys: 0 }),
        }
    }
}

impl ParamType for ClosedJaxpr {
    const KIND: &'static str = "jaxpr";

    fn to_value(&self) -> ParamValue {
        ParamValue::Jaxpr(self.clone())
    }

    fn from_value(value: &ParamValue) -> Result<Self, String> {
        match value {
            ParamValue::Jaxpr(jaxpr) => Ok(jaxpr.clone()),
            ParamValue::Py(other) => expected("a jaxpr", other),
            ParamValue::Jaxprs(_) | ParamValue::NamedJaxprs { .. } => {
                Err("one jaxpr is expected".to_owned())
            }
        }
    }

    fn visit<'a>(&'a self, visitor: &mut dyn FnMut(&'a ClosedJaxpr)) {
        visitor(self);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut ClosedJaxpr)) {
        visitor(self);
    }
}

/// A jaxpr or `None`: the combiner of a scatter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OptionalJaxpr(pub Option<ClosedJaxpr>);

impl ParamType for OptionalJaxpr {
    const KIND: &'static str = "jaxpr or None";

    fn to_value(&self) -> ParamValue {
        self.0
            .as_ref()
            .map_or(ParamValue::Py(PyValue::None), ParamType::to_value)
    }

    fn from_value(value: &ParamValue) -> Result<Self, String> {
        match value {
            ParamValue::Py(PyValue::None) => Ok(OptionalJaxpr(None)),
            other => ClosedJaxpr::from_value(other).map(|jaxpr| OptionalJaxpr(Some(jaxpr))),
        }
    }

    fn visit<'a>(&'a self, visitor: &mut dyn FnMut(&'a ClosedJaxpr)) {
        self.0.iter().for_each(visitor);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut ClosedJaxpr)) {
        self.0.iter_mut().for_each(visitor);
    }
}

/// The branches of a `cond`, by index.
#[derive(Clone, Debug, PartialEq)]
pub struct Branches(pub Vec<ClosedJaxpr>);

impl ParamType for Branches {
    const KIND: &'static str = "(jaxpr ...)";

    fn to_value(&self) -> ParamValue {
        ParamValue::Jaxprs(self.0.clone())
    }

    fn from_value(value: &ParamValue) -> Result<Self, String> {
        match value {
            ParamValue::Jaxprs(jaxprs) => Ok(Branches(jaxprs.clone())),
            ParamValue::Jaxpr(_) | ParamValue::NamedJaxprs { .. } => {
                Err("a tuple of jaxprs is expected".to_owned())
            }
            ParamValue::Py(PyValue::Tuple(items)) if items.is_empty() => Ok(Branches(Vec::new())),
            ParamValue::Py(other) => expected("a tuple of jaxprs", other),
        }
    }

    fn visit<'a>(&'a self, visitor: &mut dyn FnMut(&'a ClosedJaxpr)) {
        self.0.iter().for_each(visitor);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut ClosedJaxpr)) {
        self.0.iter_mut().for_each(visitor);
    }
}

/// The four functions of a `custom_linear_solve`.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearSolveJaxprs {
    /// The linear map.
    pub matvec: ClosedJaxpr,
    /// Its transpose.
    pub vecmat: Option<ClosedJaxpr>,
    /// Solves with the map.
    pub solve: ClosedJaxpr,
    /// Solves with the transpose.
    pub transpose_solve: Option<ClosedJaxpr>,
}

const LINEAR_SOLVE: &str = "_LinearSolveTuple";

impl ParamType for LinearSolveJaxprs {
    const KIND: &'static str = "_LinearSolveTuple of jaxprs";

    fn to_value(&self) -> ParamValue {
        ParamValue::NamedJaxprs {
            name: LINEAR_SOLVE.to_owned(),
            fields: vec![
                ("matvec".to_owned(), Some(self.matvec.clone())),
                ("vecmat".to_owned(), self.vecmat.clone()),
                ("solve".to_owned(), Some(self.solve.clone())),
                ("transpose_solve".to_owned(), self.transpose_solve.clone()),
            ],
        }
    }

    fn from_value(value: &ParamValue) -> Result<Self, String> {
        let ParamValue::NamedJaxprs { name, fields } = value else {
            return Err(format!("{LINEAR_SOLVE} is expected"));
        };
        let get = |key: &str| {
            fields
                .iter()
                .find(|(name, _)| name == key)
                .and_then(|(_, jaxpr)| jaxpr.clone())
        };
        let need = |key: &str| get(key).ok_or_else(|| format!("{name} needs a jaxpr `{key}`"));
        Ok(LinearSolveJaxprs {
            matvec: need("matvec")?,
            vecmat: get("vecmat"),
            solve: need("solve")?,
            transpose_solve: get("transpose_solve"),
        })
    }

    fn visit<'a>(&'a self, visitor: &mut dyn FnMut(&'a ClosedJaxpr)) {
        visitor(&self.matvec);
        self.vecmat.iter().for_each(&mut *visitor);
        visitor(&self.solve);
        self.transpose_solve.iter().for_each(visitor);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut ClosedJaxpr)) {
        visitor(&mut self.matvec);
        self.vecmat.iter_mut().for_each(&mut *visitor);
        visitor(&mut self.solve);
        self.transpose_solve.iter_mut().for_each(visitor);
    }
}

/// How many constants each function of a `custom_linear_solve` takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LinearSolveLengths {
    /// Of the linear map.
    pub matvec: usize,
    /// Of its transpose.
    pub vecmat: usize,
    /// Of the solver.
    pub solve: usize,
    /// Of the transposed solver.
    pub transpose_solve: usize,
}

impl PyType for LinearSolveLengths {
    const KIND: &'static str = "_LinearSolveTuple of int";

    fn to_py(&self) -> PyValue {
        let fields = [
            ("matvec", self.matvec),
            ("vecmat", self.vecmat),
            ("solve", self.solve),
            ("transpose_solve", self.transpose_solve),
        ];
        PyValue::Call {
            name: LINEAR_SOLVE.to_owned(),
            args: Vec::new(),
            fields: fields
                .iter()
                .map(|(key, value)| ((*key).to_owned(), value.to_py()))
                .collect(),
        }
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        let PyValue::Call { name, fields, .. } = value else {
            return expected(LINEAR_SOLVE, value);
        };
        let get = |key: &str| {
            Option::<usize>::from_py(field(name, fields, key)?).map(Option::unwrap_or_default)
        };
        Ok(LinearSolveLengths {
            matvec: get("matvec")?,
            vecmat: get("vecmat")?,
            solve: get("solve")?,
            transpose_solve: get("transpose_solve")?,
        })
    }
}

/// How a reference is indexed along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefIndex {
    /// A run of elements at a fixed place: `1:3`.
    Slice {
        /// First element.
        start: usize,
        /// Number of elements.
        size: usize,
        /// Distance between them.
        stride: usize,
    },
    /// A run of elements that starts at the next index operand: `i:i+2`.
    DynamicSlice {
        /// Number of elements.
        size: usize,
        /// Distance between them.
        stride: usize,
    },
    /// The elements that the next index operand names, a scalar or an array: `i`. The axis disappears, and the axes
    /// of the operand appear.
    Operand,
}

/// One index for each axis of what is indexed.
pub type RefIndexer = SmallVec<[RefIndex; 2]>;

/// The indexers of a reference, each applied to what the one before gives: `[0,:][1:3]`. None is all of it (`[...]`).
pub type RefIndices = SmallVec<[RefIndexer; 1]>;

/// The shape of what an indexer gives of an array of `shape`; `operands` are the types of its index operands.
///
/// All index operands that name elements have one shape, which stands where the first of them is, or in front when
/// there is a slice between them (NumPy's rule).
pub fn indexed_shape(shape: &[usize], indexer: &[RefIndex], operands: &[Aval]) -> Shape {
    let mut operands = operands.iter();
    let mut result = Shape::new();
    let mut indexed: Option<(usize, Shape)> = None;
    let mut positions = Vec::new();
    for (axis, index) in indexer.iter().enumerate().take(shape.len()) {
        match index {
            RefIndex::Slice { size, .. } => result.push(*size),
            RefIndex::DynamicSlice { size, .. } => {
                operands.next();
                result.push(*size);
            }
            RefIndex::Operand => {
                let axes = operands
                    .next()
                    .map(|aval| aval.shape.clone())
                    .unwrap_or_default();
                positions.push(axis);
                indexed.get_or_insert((result.len(), axes));
            }
        }
    }
    if let Some((place, axes)) = indexed {
        let together = positions.windows(2).all(|pair| pair[1] == pair[0] + 1);
        result.insert_many(if together { place } else { 0 }, axes);
    }
    result
}

/// A derivative rule given as a function: printed by name only, so text read back has none.
///
/// `make` gives the rule's jaxpr; what its inputs and results are is said at the primitive that holds it.
#[derive(Clone, Default)]
pub struct Rule {
    /// The printed name.
    pub name: Name,
    /// The rule for a mask of inputs that are perturbed; `None` when read from text.
    pub make: Option<Arc<RuleFn>>,
}

/// The function behind a [`Rule`].
pub type RuleFn = dyn Fn(&[bool]) -> crate::error::Result<ClosedJaxpr> + Send + Sync;

/// The same name and the same function object.
impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && match (&self.make, &other.make) {
                (None, None) => true,
                (Some(a), Some(b)) => Arc::ptr_eq(a, b),
                (Some(_), None) | (None, Some(_)) => false,
            }
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rule({})", self.name)
    }
}

impl PyType for Rule {
    const KIND: &'static str = "rule name";

    fn to_py(&self) -> PyValue {
        PyValue::Word(self.name.to_string())
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        Ok(Rule {
            name: Name(value.to_string().into()),
            make: None,
        })
    }

    fn missing() -> Option<Self> {
        Some(Self::default())
    }
}
