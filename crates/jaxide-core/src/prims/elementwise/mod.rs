//! Elementwise arithmetic, comparison, selection and conversion.
//!
//! Operands of one equation have equal shapes, or rank 0, or length 1 along an axis where others are longer: such
//! axes are repeated. Batching relies on it, and transposition sums over what was repeated ([`unbroadcast`]).

mod arithmetic;
mod bits;
mod convert;
mod exponent;
mod functions;
mod gamma;
mod select;

use smallvec::{SmallVec, smallvec};

use super::{Avals, Batched, BatchedResults, Prim};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::jaxpr::{Atom, Aval, Builder, Shape};
pub(crate) use crate::transform::move_axis;

/// Which element types an operand may have.
#[derive(Clone, Copy)]
struct Accepts {
    name: &'static str,
    test: fn(DType) -> bool,
}

const FLOAT: Accepts = Accepts {
    name: "floating-point",
    test: DType::is_float,
};
const COMPLEX: Accepts = Accepts {
    name: "complex",
    test: DType::is_complex,
};
const COMPLEX_PART: Accepts = Accepts {
    name: "f32, f64 or complex",
    test: |dtype| dtype.complex().is_some(),
};
const INEXACT: Accepts = Accepts {
    name: "floating-point or complex",
    test: DType::is_inexact,
};
const INTEGER: Accepts = Accepts {
    name: "integer",
    test: DType::is_integer,
};
const INTEGER_OR_FLOAT: Accepts = Accepts {
    name: "integer or floating-point",
    test: |d| d.is_integer() || d.is_float(),
};
const NUMBER: Accepts = Accepts {
    name: "integer, floating-point or complex",
    test: |d| d.is_integer() || d.is_inexact(),
};
const BITS: Accepts = Accepts {
    name: "bool or integer",
    test: |d| d == DType::Bool || d.is_integer(),
};
const ORDERED: Accepts = Accepts {
    name: "bool, integer or floating-point",
    test: |d| d == DType::Bool || d.is_integer() || d.is_float(),
};
const ANY: Accepts = Accepts {
    name: "bool, integer, floating-point or complex",
    test: |d| d == DType::Bool || d.is_integer() || d.is_inexact(),
};
const EQUATABLE: Accepts = Accepts {
    name: "any but float0",
    test: |d| d != DType::Float0,
};

impl Accepts {
    fn check(self, aval: &Aval) -> Result<()> {
        if (self.test)(aval.dtype) {
            return Ok(());
        }
        Err(Error::dtype(format!(
            "an operand has element type {}, and {} is expected",
            aval.dtype, self.name
        )))
    }
}

/// The only operand, or an error that says how many there are.
fn one(operands: &[Aval]) -> Result<&Aval> {
    match operands {
        [only] => Ok(only),
        other => Err(arity(1, other.len())),
    }
}

/// A wrong number of operands.
pub(super) fn arity(want: usize, got: usize) -> Error {
    Error::new(
        crate::error::ErrorKind::Arity,
        format!("{want} operands are expected, and {got} are given"),
    )
}

/// The shape of an elementwise result: rank-0 operands fit everything, axes of length 1 fit longer ones.
fn broadcast_shape(operands: &[Aval]) -> Result<Shape> {
    let mut shape: Option<Shape> = None;
    for aval in operands.iter().filter(|aval| aval.rank() > 0) {
        let Some(shape) = &mut shape else {
            shape = Some(aval.shape.clone());
            continue;
        };
        let fits = shape.len() == aval.rank()
            && shape
                .iter()
                .zip(&aval.shape)
                .all(|(&a, &b)| a == b || a == 1 || b == 1);
        if !fits {
            let types: Vec<String> = operands.iter().map(Aval::to_string).collect();
            return Err(Error::shape(format!(
                "operands of incompatible shapes: {}",
                types.join(" and ")
            )));
        }
        for (a, &b) in shape.iter_mut().zip(&aval.shape) {
            if *a == 1 {
                *a = b;
            }
        }
    }
    Ok(shape.unwrap_or_default())
}

/// Whether all operands have one element type.
fn same_dtype(operands: &[Aval]) -> Result<DType> {
    let first = operands.first().ok_or_else(|| arity(1, 0))?.dtype;
    if operands.iter().any(|aval| aval.dtype != first) {
        let types: Vec<&str> = operands
            .iter()
            .map(|aval| aval.dtype.short_name())
            .collect();
        return Err(Error::dtype(format!(
            "operands have different element types: {}",
            types.join(" and ")
        ))
        .note("convert one of them with `convert_element_type`"));
    }
    Ok(first)
}

/// The type of a result of `dtype` from operands that have been checked.
fn result(operands: &[Aval], dtype: DType) -> Result<Avals> {
    let weak = operands.iter().all(|aval| aval.weak_type);
    let shape = broadcast_shape(operands)?;
    let annotations = operands
        .iter()
        .find(|aval| aval.rank() == shape.len())
        .and_then(|aval| aval.annotations.clone());
    Ok(smallvec![Aval {
        annotations,
        ..Aval::new(dtype, &shape).weak(weak)
    }])
}

/// Batching of elementwise primitives: agreeing axes stay; otherwise the axis goes to the front, and operands without
/// it get one of length 1.
fn batch_elementwise(prim: Prim, b: &Builder, operands: &[Batched]) -> Result<BatchedResults> {
    let first = operands.iter().find(|operand| operand.dim.is_some());
    let Some((shape, dim)) = first.map(|operand| (b.shape(operand.value), operand.dim)) else {
        let atoms: SmallVec<[Atom; 3]> = operands.iter().map(|operand| operand.value).collect();
        return Ok(smallvec![Batched {
            value: b.op(prim, &atoms),
            dim: None
        }]);
    };
    let agree = operands.iter().all(|operand| {
        b.rank(operand.value) == 0 || (operand.dim == dim && b.shape(operand.value) == shape)
    });
    if agree {
        let atoms: SmallVec<[Atom; 3]> = operands.iter().map(|operand| operand.value).collect();
        return Ok(smallvec![Batched {
            value: b.op(prim, &atoms),
            dim
        }]);
    }
    let mut atoms: SmallVec<[Atom; 3]> = operands
        .iter()
        .map(|operand| {
            if b.rank(operand.value) == 0 {
                operand.value
            } else {
                to_front(b, *operand, 1)
            }
        })
        .collect();
    let rank = atoms.iter().map(|&atom| b.rank(atom)).max().unwrap_or(0);
    for (atom, operand) in atoms.iter_mut().zip(operands) {
        let own = b.rank(*atom);
        if operand.dim.is_some() && own < rank {
            let mut shape = b.shape(*atom);
            shape.resize(rank, 1);
            let dims: Vec<usize> = (0..own).collect();
            *atom = b.broadcast_in_dim(*atom, &shape, &dims);
        }
    }
    Ok(smallvec![Batched {
        value: b.op(prim, &atoms),
        dim: Some(0)
    }])
}

/// The operand with its mapped axis first; without one, a new first axis of length `size`.
pub(crate) fn to_front(b: &Builder, operand: Batched, size: usize) -> Atom {
    match operand.dim {
        Some(dim) => move_axis(b, operand.value, dim, 0),
        None => {
            let mut shape = b.shape(operand.value);
            let dims: Vec<usize> = (1..=shape.len()).collect();
            shape.insert(0, size);
            b.broadcast_in_dim(operand.value, &shape, &dims)
        }
    }
}

/// The cotangent of an operand of type `aval` that was repeated to the shape of `x`: sums over what was repeated.
pub(super) fn unbroadcast(b: &Builder, aval: &Aval, x: Atom) -> Atom {
    let shape = b.shape(x);
    if shape == aval.shape {
        return x;
    }
    if aval.rank() == 0 {
        let axes: Vec<usize> = (0..shape.len()).collect();
        return b.reduce_sum(x, &axes);
    }
    let axes: Vec<usize> = (0..shape.len())
        .filter(|&axis| aval.shape.get(axis) != Some(&shape[axis]))
        .collect();
    let sum = if axes.is_empty() {
        x
    } else {
        b.reduce_sum(x, &axes)
    };
    b.reshape(sum, &aval.shape)
}

/// The sum of two tangents, either of which may be zero.
pub(crate) fn add_tangents(b: &Builder, x: Option<Atom>, y: Option<Atom>) -> Option<Atom> {
    match (x, y) {
        (Some(x), Some(y)) => Some(b.add_any(x, y)),
        (x, None) => x,
        (None, y) => y,
    }
}

/// The element type of numbers that rules count with beside `dtype`: programs with 64-bit numbers count in `i64`.
pub(crate) fn index_dtype(dtype: DType) -> DType {
    if dtype.real().bits() == 64 {
        DType::I64
    } else {
        DType::I32
    }
}

/// The answer of primitives that are not linear in the operands transposition asks for.
pub(crate) fn not_linear(prim: &str) -> Error {
    Error::no_rule(prim, "transpose", super::NOT_LINEAR)
}

/// `x` repeated to `shape` from rank 0 or along axes of length 1, unchanged when it has it already.
fn maybe_broadcast(b: &Builder, x: Atom, shape: &[usize]) -> Atom {
    let own = b.shape(x);
    if own.as_slice() == shape {
        return x;
    }
    let dims: Vec<usize> = (0..own.len())
        .filter(|&axis| own[axis] == shape[axis])
        .collect();
    let squeezed: Vec<usize> = dims.iter().map(|&axis| own[axis]).collect();
    let x = if own.is_empty() {
        x
    } else {
        b.reshape(x, &squeezed)
    };
    b.broadcast_in_dim(x, shape, &dims)
}

/// `x` converted when its element type differs.
pub(crate) fn convert_if_needed(b: &Builder, x: Atom, dtype: DType) -> Atom {
    if b.dtype(x) == dtype {
        x
    } else {
        b.convert(x, dtype)
    }
}

/// A number of the element type of `x`, rounded to it.
fn constant(b: &Builder, x: Atom, value: f64) -> Atom {
    b.number(value, b.dtype(x))
}

/// An array like `x` filled with a number, of another element type if one is given.
fn full_like(b: &Builder, x: Atom, value: f64, dtype: Option<DType>) -> Atom {
    let dtype = dtype.unwrap_or_else(|| b.dtype(x));
    b.full(&b.shape(x), value, dtype)
}

/// `x` with zeros replaced by ones.
fn replace_zero(b: &Builder, x: Atom) -> Atom {
    let is_zero = b.eq(x, constant(b, x, 0.0));
    b.select(is_zero, full_like(b, x, 1.0, None), x)
}

/// Primitives of any number of operands whose derivative is a product per operand.
///
/// A row is the primitive, what each operand may be, the element type of the result, and for each operand its
/// tangent's rule: `|self, b, g, result, operands|` gives `Some` tangent, `None` where it is zero everywhere.
macro_rules! elementwise {
    ($($prim:ident [$($accepts:expr),+] $dtype:expr, $($rule:expr),+;)*) => { $(
        impl Primitive for $prim {
            fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
                let accepts = [$($accepts),+];
                if operands.len() != accepts.len() {
                    return Err(arity(accepts.len(), operands.len()));
                }
                for (accepts, aval) in accepts.iter().zip(operands) {
                    accepts.check(aval)?;
                }
                let dtype: fn(&Self, DType) -> DType = $dtype;
                result(operands, dtype(self, same_dtype(operands)?))
            }

            fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
                type Rule = fn(&$prim, &Builder, Atom, Atom, &[Atom]) -> Option<Atom>;
                let rules: &[Rule] = &[$($rule),+];
                let answer = b.op(self.clone(), primals);
                let mut sum = None;
                for (rule, tangent) in rules.iter().zip(tangents) {
                    if let Some(tangent) = *tangent {
                        let term = rule(self, b, tangent, answer, primals);
                        sum = add_tangents(b, sum, term);
                    }
                }
                Ok(JvpResult::one(answer, sum))
            }

            fn batch(&self, b: &Builder, operands: &[Batched], _axis: &BatchAxis) -> Result<BatchedResults> {
                batch_elementwise(self.clone().into(), b, operands)
            }

            fn transpose(&self, _b: &Builder, _cotangents: &[Option<Atom>], _operands: &[TransposeArg]) -> Result<Cotangents> {
                Err(not_linear(Prim::from(self.clone()).name()))
            }
        }
    )* };
}
use elementwise;

/// Elementwise primitives of one operand that are linear.
///
/// A row is the primitive, what the operand may be, the element type of the result, and the cotangent:
/// `|self, b, ct, aval|`.
macro_rules! linear {
    ($($prim:ident [$accepts:expr] $dtype:expr, $transpose:expr;)*) => { $(
        impl Primitive for $prim {
            fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
                let aval = one(operands)?;
                $accepts.check(aval)?;
                let dtype: fn(&Self, DType) -> DType = $dtype;
                result(operands, dtype(self, aval.dtype))
            }

            fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
                let answer = b.op(self.clone(), primals);
                Ok(JvpResult::one(answer, tangents[0].map(|tangent| b.op(self.clone(), &[tangent]))))
            }

            fn batch(&self, b: &Builder, operands: &[Batched], _axis: &BatchAxis) -> Result<BatchedResults> {
                batch_elementwise(self.clone().into(), b, operands)
            }

            fn transpose(&self, b: &Builder, cotangents: &[Option<Atom>], operands: &[TransposeArg]) -> Result<Cotangents> {
                let rule: fn(&Self, &Builder, Atom, &Aval) -> Atom = $transpose;
                let aval = operands[0].aval(b);
                Ok(smallvec![cotangents[0].map(|ct| rule(self, b, ct, &aval))])
            }
        }
    )* };
}
use linear;

/// The element type of the operands.
fn same<P>(_prim: &P, dtype: DType) -> DType {
    dtype
}

/// Truth values.
fn truth<P>(_prim: &P, _dtype: DType) -> DType {
    DType::Bool
}

/// The rule of piecewise constant functions.
fn zero<P>(_: &P, _: &Builder, _: Atom, _: Atom, _: &[Atom]) -> Option<Atom> {
    None
}
