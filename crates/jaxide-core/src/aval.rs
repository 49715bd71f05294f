//! Abstract values: what is known of an array before it exists.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};

/// Lengths of axes.
pub type Shape = SmallVec<[usize; 4]>;

/// Whether shapes are equal. As `==`, and faster where there are few axes: slices are compared by a function of the C
/// library, which takes tens of nanoseconds for empty ones.
///
/// ```
/// use jaxide_core::same_shape;
/// assert!(same_shape(&[2, 3], &[2, 3]) && same_shape(&[], &[]));
/// assert!(!same_shape(&[2, 3], &[3, 2]) && !same_shape(&[2], &[2, 2]));
/// ```
#[inline]
pub fn same_shape(a: &[usize], b: &[usize]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}

/// Indices of axes, or one number per axis.
pub type Dims = SmallVec<[usize; 4]>;

/// What kind of thing a variable stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum AvalKind {
    /// An array.
    #[default]
    Array,
    /// A mutable reference to an array, printed `Ref{f32[4]}`.
    Ref,
    /// An ordering token, printed `Tok`.
    Token,
    /// Something whose type is not JAX's own, such as `foo[3]`: only its text is known.
    Opaque {
        /// The element type, or the whole type where it has no shape.
        name: Arc<str>,
        /// Whether a shape follows.
        shaped: bool,
    },
}

/// Where an array lives, printed with its type and without meaning for the values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Annotations {
    /// A memory other than the device's: `host`.
    pub memory: Option<String>,
    /// The memory of a reference: `Ref<smem>{f32[4]}`.
    pub reference_memory: Option<String>,
    /// Mesh axes an axis is split over, by axis: `f32[8@x]`. Empty when none is.
    pub sharding: Vec<Vec<String>>,
    /// The text in braces after the shape: `V:i`.
    pub varying: Option<String>,
}

/// The type of a variable: element type, shape, and whether the element type is weak.
///
/// ```
/// use jaxide_core::{Aval, DType};
/// assert_eq!(Aval::new(DType::F32, &[2, 3]).to_string(), "f32[2,3]");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Aval {
    /// Element type; `float0` for those that are not JAX's own.
    pub dtype: DType,
    /// Lengths of the axes.
    pub shape: Shape,
    /// Whether the type came from a bare number and yields to others in promotion. Not printed.
    pub weak_type: bool,
    /// Array, reference or token.
    pub kind: AvalKind,
    /// Placement, where the text gives one.
    pub annotations: Option<Arc<Annotations>>,
}

impl Aval {
    /// A strongly typed array.
    pub fn new(dtype: DType, shape: &[usize]) -> Self {
        Aval {
            dtype,
            shape: Shape::from_slice(shape),
            weak_type: false,
            kind: AvalKind::Array,
            annotations: None,
        }
    }

    /// A strongly typed rank-0 array.
    pub fn scalar(dtype: DType) -> Self {
        Self::new(dtype, &[])
    }

    /// An ordering token.
    pub fn token() -> Self {
        Aval {
            kind: AvalKind::Token,
            ..Self::scalar(DType::Bool)
        }
    }

    /// Whether only the text of the type is known.
    pub fn is_opaque(&self) -> bool {
        matches!(self.kind, AvalKind::Opaque { .. })
    }

    /// The same with this weakness.
    #[must_use]
    pub fn weak(mut self, weak: bool) -> Self {
        self.weak_type = weak;
        self
    }

    /// The same with another shape.
    #[must_use]
    pub fn with_shape(&self, shape: &[usize]) -> Self {
        Aval {
            shape: Shape::from_slice(shape),
            annotations: self.annotations_for(shape),
            ..self.clone()
        }
    }

    /// The same with another element type, strongly typed.
    #[must_use]
    pub fn with_dtype(&self, dtype: DType) -> Self {
        Aval {
            dtype,
            weak_type: false,
            ..self.clone()
        }
    }

    /// A reference to such an array.
    #[must_use]
    pub fn reference(mut self) -> Self {
        self.kind = AvalKind::Ref;
        self
    }

    /// The type of tangents and cotangents: same shape, `float0` for non-differentiable types.
    #[must_use]
    pub fn tangent(&self) -> Self {
        Aval {
            dtype: self.dtype.tangent(),
            ..self.clone()
        }
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Number of elements; saturates when it cannot be addressed.
    pub fn size(&self) -> usize {
        element_count(&self.shape).unwrap_or(usize::MAX)
    }

    /// Whether the two describe the same values: everything but weakness and placement.
    pub fn matches(&self, other: &Aval) -> bool {
        self.dtype == other.dtype && self.shape == other.shape && self.kind == other.kind
    }

    fn annotations_for(&self, shape: &[usize]) -> Option<Arc<Annotations>> {
        let annotations = self.annotations.as_ref()?;
        if annotations.sharding.is_empty() || shape.len() == self.shape.len() {
            return Some(annotations.clone());
        }
        Some(Arc::new(Annotations {
            sharding: Vec::new(),
            ..(**annotations).clone()
        }))
    }
}

/// The printed type: `f32[2,3]`, `Ref{i32[]}`, `f32<host>[8@x]{V:i}`.
impl fmt::Display for Aval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind == AvalKind::Token {
            return f.write_str("Tok");
        }
        if self.kind == AvalKind::Ref {
            let memory = self.annotations.as_deref();
            match memory.and_then(|annotations| annotations.reference_memory.as_deref()) {
                Some(memory) => write!(f, "Ref<{memory}>{{")?,
                None => f.write_str("Ref{")?,
            }
        }
        match &self.kind {
            AvalKind::Array | AvalKind::Ref | AvalKind::Token => {
                f.write_str(self.dtype.short_name())?;
            }
            AvalKind::Opaque { name, shaped: true } => f.write_str(name)?,
            AvalKind::Opaque {
                name,
                shaped: false,
            } => return f.write_str(name),
        }
        let annotations = self.annotations.as_deref();
        if let Some(memory) = annotations.and_then(|a| a.memory.as_deref()) {
            write!(f, "<{memory}>")?;
        }
        f.write_str("[")?;
        for (axis, dim) in self.shape.iter().enumerate() {
            if axis > 0 {
                f.write_str(",")?;
            }
            write!(f, "{dim}")?;
            match annotations
                .and_then(|a| a.sharding.get(axis))
                .map(Vec::as_slice)
            {
                None | Some([]) => {}
                Some([name]) => write!(f, "@{name}")?,
                Some(names) => write!(f, "@({})", names.join(","))?,
            }
        }
        f.write_str("]")?;
        if let Some(varying) = annotations.and_then(|a| a.varying.as_deref()) {
            write!(f, "{{{varying}}}")?;
        }
        if self.kind == AvalKind::Ref {
            f.write_str("}")?;
        }
        Ok(())
    }
}

/// The number of elements of `shape`.
///
/// # Errors
/// When the product does not fit a `usize` (`isize::MAX` at the most).
#[inline]
pub fn element_count(shape: &[usize]) -> Result<usize> {
    if shape.contains(&0) {
        return Ok(0);
    }
    shape
        .iter()
        .try_fold(1usize, |product, &dim| product.checked_mul(dim))
        .filter(|&count| count <= isize::MAX as usize)
        .ok_or_else(|| {
            Error::new(
                ErrorKind::TooLarge,
                format!("shape {shape:?} has more elements than can be addressed"),
            )
        })
}

/// The number of bytes of an array.
///
/// # Errors
/// When the number cannot be addressed.
#[inline]
pub fn byte_size(shape: &[usize], dtype: DType) -> Result<usize> {
    element_count(shape)?
        .checked_mul(dtype.size())
        .filter(|&size| size <= isize::MAX as usize)
        .ok_or_else(|| {
            Error::new(
                ErrorKind::TooLarge,
                format!(
                    "an array {} has more bytes than can be addressed",
                    Aval::new(dtype, shape)
                ),
            )
        })
}
