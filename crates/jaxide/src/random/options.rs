//! What samplers take by keyword.

use jaxide_core::DType;

use crate::array::{Array, AsShape, Integer, Numbers};
use crate::options::options;

/// The element type of samples: `()` is the usual one of the function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleType(Option<DType>);

impl SampleType {
    /// The element type, which is `usual` when none is given.
    pub(super) fn or(self, usual: DType) -> DType {
        self.0.unwrap_or(usual)
    }
}

impl From<()> for SampleType {
    fn from((): ()) -> Self {
        SampleType::default()
    }
}

impl From<DType> for SampleType {
    fn from(dtype: DType) -> Self {
        SampleType(Some(dtype))
    }
}

impl From<Option<DType>> for SampleType {
    fn from(dtype: Option<DType>) -> Self {
        SampleType(dtype)
    }
}

/// How exact samples are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// By rejection: exact, in a number of rounds that is not known before.
    #[default]
    Exact,
    /// From a fixed number of uniform samples: nearly exact.
    Approximate,
}

/// How many bits of uniform samples are behind others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bits {
    /// As many as the element type has.
    #[default]
    Low,
    /// Twice as many.
    High,
    /// Twice as many, down to the smallest numbers: `f32` only, as [`Bits::High`] of other types.
    Highest,
}

/// How the root of a covariance matrix is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Root {
    /// By the decomposition of Cholesky: positive definite matrices.
    #[default]
    Cholesky,
    /// By singular values.
    Svd,
    /// By eigenvalues.
    Eigh,
}

options! {
    /// What samplers with parameters take beside them; a shape, an element type or a pair of both is one too.
    pub struct Sample by shape {
        /// The element type: `f32` by default, `i32` of numbers that are counted.
        dtype: Option<DType> = None, |dtype: impl Into<Option<DType>>| dtype.into();
    }

    /// What [`gamma`](super::gamma), [`loggamma`](super::loggamma), [`beta`](super::beta), [`chisquare`](super::chisquare) and
    /// [`poisson`](super::poisson) take beside their parameters; a shape, an element type or a pair of both is one too.
    pub struct Gamma by shape {
        /// The element type: `f32` by default, `i32` of Poisson samples.
        dtype: Option<DType> = None, |dtype: impl Into<Option<DType>>| dtype.into();
        /// How exact the samples are.
        method: Method = Method::Exact;
    }

    /// What [`multivariate_normal`](super::multivariate_normal) takes beside mean and covariance; a shape alone is one too.
    pub struct MultivariateNormal by shape {
        /// The element type: that of the mean and the covariance by default.
        dtype: Option<DType> = None, |dtype: impl Into<Option<DType>>| dtype.into();
        /// How the root of the covariance is taken.
        method: Root = Root::Cholesky;
    }

    /// What [`multinomial`](super::multinomial) takes beside its parameters; a shape alone, without the axis of the categories, is one
    /// too.
    pub struct Multinomial by shape {
        /// The element type.
        dtype: DType = DType::F32;
    }

    /// What [`orthogonal`](super::orthogonal) takes beside the number of rows; a shape alone is one too.
    pub struct Orthogonal by shape {
        /// The element type.
        dtype: DType = DType::F32;
        /// Number of columns: as many as rows by default.
        m: Option<usize> = None, |m: impl Into<Option<usize>>| m.into();
    }

    /// What [`bernoulli`](super::bernoulli) takes beside the probability; a shape alone is one too.
    pub struct Bernoulli by shape {
        /// How exactly small probabilities are met.
        mode: Bits = Bits::Low;
    }

    /// What [`choice`](super::choice) takes beside what is chosen from; a shape alone is one too.
    pub struct Choice by shape {
        /// Whether the same may be drawn again.
        replace: bool = true;
        /// How likely each is: as likely as all others by default.
        p: Option<Array> = None, |p: impl Into<Array>| Some(p.into());
        /// The axis along which there is choice.
        axis: i64 = 0, |axis: impl Integer| axis.to_i64();
        /// How many bits are behind draws with probabilities and without replacement.
        mode: Bits = Bits::Low;
    }
}

options! {
    /// What [`categorical`](super::categorical) takes beside the logits; an axis alone is one too.
    pub struct Categorical {
        /// The axis of the categories.
        axis: i64 = -1, |axis: impl Integer| axis.to_i64();
        /// The shape of the result, whose last axes are those of the logits without that of the categories.
        shape: Option<Numbers> = None, |shape: impl AsShape| Some(shape.lengths());
        /// Whether samples may have the same category.
        replace: bool = true;
        /// How many bits are behind a sample.
        mode: Bits = Bits::Low;
    }

    /// What [`gumbel`](super::gumbel) takes beside the shape; an element type alone is one too.
    pub struct Gumbel {
        /// The element type.
        dtype: DType = DType::F32;
        /// How many bits are behind a sample.
        mode: Bits = Bits::Low;
    }

    /// What [`permutation`](super::permutation) takes beside what is permuted; an axis alone is one too.
    pub struct Permutation {
        /// The axis along which slices are permuted.
        axis: i64 = 0, |axis: impl Integer| axis.to_i64();
        /// Whether each vector along the axis has an order of its own.
        independent: bool = false;
    }
}

/// An element type, and a shape with one.
macro_rules! typed {
    ($($name:ident)*) => { $(
        impl From<DType> for $name {
            fn from(dtype: DType) -> Self {
                $name::new().dtype(dtype)
            }
        }

        impl<S: AsShape> From<(S, DType)> for $name {
            fn from((shape, dtype): (S, DType)) -> Self {
                $name::new().shape(shape).dtype(dtype)
            }
        }
    )* };
}

typed!(Sample Gamma MultivariateNormal Multinomial Orthogonal);

impl From<DType> for Gumbel {
    fn from(dtype: DType) -> Self {
        Gumbel::new().dtype(dtype)
    }
}

impl<I: Integer> From<I> for Categorical {
    fn from(axis: I) -> Self {
        Categorical::new().axis(axis)
    }
}

impl<I: Integer> From<I> for Permutation {
    fn from(axis: I) -> Self {
        Permutation::new().axis(axis)
    }
}
