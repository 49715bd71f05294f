//! Short forms of the primitives that rules write most: `b.mul(b.cos(x), t)`.
//!
//! Like [`Builder::op`], they give a result whatever happens and keep the first mistake.

use super::*;
use crate::dtype::DType;
use crate::jaxpr::{Atom, Builder, Dims, Literal, Scalar};

macro_rules! unary {
    ($($method:ident $prim:expr;)*) => {
        /// Elementwise functions of one operand.
        impl Builder {
            $(
                #[doc = concat!("Applies `", stringify!($method), "`.")]
                pub fn $method(&self, x: Atom) -> Atom {
                    self.op($prim, &[x])
                }
            )*
        }
    };
}

macro_rules! binary {
    ($($method:ident $prim:expr;)*) => {
        /// Elementwise functions of two operands of the same type, or of one and a scalar literal.
        impl Builder {
            $(
                #[doc = concat!("Applies `", stringify!($method), "`.")]
                pub fn $method(&self, x: Atom, y: Atom) -> Atom {
                    self.op($prim, &[x, y])
                }
            )*
        }
    };
}

unary! {
    neg Neg; sign Sign; abs Abs; floor Floor; ceil Ceil; square Square; not Not; real Real; imag Imag;
    sin Sin { accuracy: None }; cos Cos { accuracy: None }; tan Tan { accuracy: None };
    exp Exp { accuracy: None }; exp2 Exp2 { accuracy: None }; log Log { accuracy: None }; log1p Log1p { accuracy: None };
    expm1 Expm1 { accuracy: None }; sqrt Sqrt { accuracy: None }; rsqrt Rsqrt { accuracy: None };
    tanh Tanh { accuracy: None }; logistic Logistic { accuracy: None };
    sinh Sinh; cosh Cosh; one_minus_square OneMinusSquare; erf Erf; is_finite IsFinite;
}

binary! {
    add Add; add_any AddAny; sub Sub; mul Mul { out_dtype: None }; div Div; rem Rem; max Max; min Min; pow Pow; atan2 Atan2;
    and And; or Or; xor Xor; eq Equal; ne NotEqual; lt Less; le LessEqual; gt Greater; ge GreaterEqual; complex Complex;
}

/// Primitives with parameters.
impl Builder {
    /// `x` to the power `y`.
    pub fn integer_pow(&self, x: Atom, y: i64) -> Atom {
        self.op(IntegerPow { y }, &[x])
    }

    /// `on_true` where `which`, else `on_false`.
    pub fn select(&self, which: Atom, on_true: Atom, on_false: Atom) -> Atom {
        self.op(SelectN, &[which, on_false, on_true])
    }

    /// `x` as elements of `dtype`, strongly typed; unchanged when it is that already.
    pub fn convert(&self, x: Atom, dtype: DType) -> Atom {
        if self.dtype(x) == dtype && !self.aval(x).weak_type {
            return x;
        }
        self.op(
            ConvertElementType {
                new_dtype: dtype,
                weak_type: false,
            },
            &[x],
        )
    }

    /// `x` with its axes at `broadcast_dimensions` of `shape`; unchanged when it has that shape already.
    pub fn broadcast_in_dim(
        &self,
        x: Atom,
        shape: &[usize],
        broadcast_dimensions: &[usize],
    ) -> Atom {
        let shape = Dims::from_slice(shape);
        self.op(
            BroadcastInDim {
                broadcast_dimensions: Dims::from_slice(broadcast_dimensions),
                shape,
            },
            &[x],
        )
    }

    /// An array filled with a number.
    pub fn full(&self, shape: &[usize], value: f64, dtype: DType) -> Atom {
        let number = match self.number(value, dtype) {
            Atom::Lit(literal) if shape.is_empty() => return self.computed(literal),
            number => number,
        };
        self.broadcast_in_dim(number, shape, &[])
    }

    /// `x` in row-major order under another shape; unchanged when it has that shape already.
    pub fn reshape(&self, x: Atom, shape: &[usize]) -> Atom {
        if !shape.is_empty() && self.shape(x).as_slice() == shape {
            return x;
        }
        self.op(
            Reshape {
                dimensions: None,
                new_sizes: Dims::from_slice(shape),
                sharding: Opaque::none(),
            },
            &[x],
        )
    }

    /// `x` with its axes in another order; unchanged when that is the order they have.
    pub fn transpose(&self, x: Atom, permutation: &[usize]) -> Atom {
        if permutation.iter().copied().eq(0..permutation.len()) {
            return x;
        }
        self.op(
            Transpose {
                permutation: Dims::from_slice(permutation),
            },
            &[x],
        )
    }

    /// `x` without axes of length 1.
    pub fn squeeze(&self, x: Atom, dimensions: &[usize]) -> Atom {
        if dimensions.is_empty() {
            return x;
        }
        self.op(
            Squeeze {
                dimensions: Dims::from_slice(dimensions),
            },
            &[x],
        )
    }

    /// A box of `x` with step 1.
    pub fn slice(&self, x: Atom, start: &[usize], limit: &[usize]) -> Atom {
        let (start_indices, limit_indices) = (Dims::from_slice(start), Dims::from_slice(limit));
        self.op(
            Slice {
                limit_indices,
                start_indices,
                strides: None,
            },
            &[x],
        )
    }

    /// Elements `start..limit` of `x` along one axis, every `stride`-th.
    pub fn slice_in_dim(
        &self,
        x: Atom,
        axis: usize,
        start: usize,
        limit: usize,
        stride: usize,
    ) -> Atom {
        let mut limit_indices = self.shape(x);
        let mut start_indices = Dims::from_elem(0, limit_indices.len());
        let mut strides = Dims::from_elem(1, limit_indices.len());
        (start_indices[axis], limit_indices[axis], strides[axis]) = (start, limit, stride);
        self.op(
            Slice {
                limit_indices,
                start_indices,
                strides: Some(strides),
            },
            &[x],
        )
    }

    /// `x` with low, high and interior padding of `value`.
    pub fn pad(&self, x: Atom, value: Atom, padding_config: &[(i64, i64, i64)]) -> Atom {
        self.op(
            Pad {
                padding_config: padding_config.to_vec(),
            },
            &[x, value],
        )
    }

    /// Arrays joined along an axis; a single one is itself.
    pub fn concatenate(&self, operands: &[Atom], dimension: usize) -> Atom {
        if let [only] = operands {
            return *only;
        }
        self.op(Concatenate { dimension }, operands)
    }

    /// Numbers counted along an axis of `shape`.
    pub fn iota(&self, dtype: DType, shape: &[usize], dimension: usize) -> Atom {
        self.op(
            Iota {
                dimension,
                dtype,
                shape: Dims::from_slice(shape),
                sharding: Opaque::none(),
            },
            &[],
        )
    }

    /// The sum along axes.
    pub fn reduce_sum(&self, x: Atom, axes: &[usize]) -> Atom {
        self.op(
            ReduceSum {
                axes: Dims::from_slice(axes),
                out_sharding: Opaque::none(),
            },
            &[x],
        )
    }

    /// The product of arrays over contracted axes.
    pub fn dot_general(
        &self,
        lhs: Atom,
        rhs: Atom,
        dimension_numbers: DotDimensionNumbers,
        precision: Option<DotPrecision>,
        preferred_element_type: Option<DType>,
    ) -> Atom {
        let prim = DotGeneral {
            dimension_numbers,
            out_sharding: None,
            precision,
            preferred_element_type,
        };
        self.op(prim, &[lhs, rhs])
    }

    /// A zero of an array's type: a broadcast literal, or the literal itself for rank 0.
    pub fn zeros_like(&self, x: Atom) -> Atom {
        let aval = self.aval(x);
        self.zeros(&aval)
    }

    /// A tangent or cotangent of a value of type `aval`: zeros where it is `None`.
    pub fn instantiate(&self, tangent: Option<Atom>, aval: &crate::jaxpr::Aval) -> Atom {
        tangent.unwrap_or_else(|| self.zeros(&aval.tangent()))
    }

    /// A zero of type `aval`: a broadcast literal, or the literal itself for rank 0.
    pub fn zeros(&self, aval: &crate::jaxpr::Aval) -> Atom {
        let zero = match self.number(0.0, aval.dtype) {
            Atom::Lit(literal) => self.computed(Literal {
                weak_type: aval.weak_type,
                ..literal
            }),
            zero => zero,
        };
        if aval.rank() == 0 {
            return zero;
        }
        self.broadcast_in_dim(zero, &aval.shape, &[])
    }

    /// An integer literal.
    pub fn integer(&self, value: i64, dtype: DType) -> Atom {
        self.literal(Scalar::Int(value), dtype)
    }
}
