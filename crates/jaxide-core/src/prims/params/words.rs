//! Enums whose members are fixed words.

use super::{Name, PyType, PyValue, expected};
use crate::dtype::DType;

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
