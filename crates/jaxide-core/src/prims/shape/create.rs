//! Arrays from nothing.

use super::super::*;
use super::*;

/// Primitives without operands: nothing to differentiate, map or transpose.
macro_rules! nullary {
    ($($prim:ident $eval:expr, $complete:expr;)*) => { $(
        impl Primitive for $prim {
            fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
                if !operands.is_empty() {
                    return Err(arity(0, operands.len()));
                }
                let eval: fn(&Self) -> Result<Aval> = $eval;
                eval(self).map(|aval| smallvec![aval])
            }

            fn complete(&mut self, _operands: &[Aval], results: &[Aval]) {
                let complete: fn(&mut Self, &[Aval]) = $complete;
                complete(self, results);
            }

            fn jvp(&self, b: &Builder, primals: &[Atom], _tangents: &[Option<Atom>]) -> Result<JvpResult> {
                Ok(JvpResult::one(b.op(self.clone(), primals), None))
            }

            fn batch(&self, b: &Builder, _operands: &[Batched], _axis: &BatchAxis) -> Result<BatchedResults> {
                Ok(smallvec![Batched { value: b.op(self.clone(), &[]), dim: None }])
            }

            fn transpose(&self, _b: &Builder, _cotangents: &[Option<Atom>], _operands: &[TransposeArg]) -> Result<Cotangents> {
                Ok(smallvec![])
            }
        }
    )* };
}

nullary! {
    Iota |p| {
        let aval = Aval::new(p.dtype, &p.shape);
        crate::aval::byte_size(&p.shape, p.dtype)?;
        check_axis(p.dimension, &aval)?;
        if !(p.dtype.is_integer() || p.dtype.is_inexact()) {
            return Err(Error::dtype(format!("numbers cannot be counted in {}", p.dtype)));
        }
        Ok(aval)
    }, |_, _| {};
    Empty |p| {
        crate::aval::byte_size(&p.shape, p.dtype)?;
        Ok(Aval::new(p.dtype, &p.shape))
    }, |p, results| {
        if let [result] = results {
            p.shape = result.shape.clone();
        }
    };
    EmptyArray |p| {
        crate::aval::byte_size(&p.shape, p.dtype)?;
        Ok(Aval::new(p.dtype, &p.shape))
    }, |_, _| {};
}
