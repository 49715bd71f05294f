//! Primitives whose results are their operands: barriers and placement.

use super::super::*;
use crate::error::Result;
use crate::jaxpr::{Atom, Aval, Builder};
use crate::marks::{count, keep, present, spread};

impl Primitive for DevicePut {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        Ok(operands.into())
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let results = b.emit(self.clone(), primals)?;
        let tangents: Vec<Atom> = tangents
            .iter()
            .zip(primals)
            .map(|(&tangent, &primal)| b.instantiate(tangent, &b.aval(primal)))
            .collect();
        let tangents = b.emit(self.clone(), &tangents)?;
        Ok(JvpResult::new(
            results,
            tangents.into_iter().map(Some).collect(),
        ))
    }

    fn batch(
        &self,
        b: &Builder,
        operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        in_place(b, self.clone(), operands)
    }

    /// Back to where the values came from, as copies.
    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        _operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let moved = present(cotangents);
        let only_moved = |places: &Opaque| match &places.0 {
            PyValue::Tuple(places) if places.len() == moved.len() => {
                Opaque(PyValue::Tuple(keep(places, &moved)))
            }
            _ => places.clone(),
        };
        let copy = PyValue::Word("ArrayCopySemantics.ALWAYS_COPY".to_owned());
        let back = DevicePut {
            copy_semantics: Opaque(PyValue::Tuple(vec![copy; count(&moved)])),
            devices: only_moved(&self.srcs),
            srcs: only_moved(&self.devices),
        };
        of_nonzero(b, back, cotangents)
    }
}

/// Applies `prim` to the values that are there.
fn of_nonzero<C: FromIterator<Option<Atom>>>(
    b: &Builder,
    prim: impl Into<Prim>,
    values: &[Option<Atom>],
) -> Result<C> {
    let results = b.emit(prim, &with_tangents(&[], values))?;
    Ok(spread(results, &present(values)))
}

/// Applies `prim` whatever the mapped axes are.
fn in_place(b: &Builder, prim: impl Into<Prim>, operands: &[Batched]) -> Result<BatchedResults> {
    let results = b.emit(prim, &Batched::values(operands))?;
    Ok(Batched::all(results, &Batched::dims(operands)))
}

/// Rules of identities. A row is the primitive and its cotangents.
macro_rules! identities {
    ($($prim:ident $transpose:expr;)*) => { $(
        impl Primitive for $prim {
            fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
                Ok(operands.into())
            }

            fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
                let results = b.emit(Prim::from(self.clone()), primals)?;
                Ok(JvpResult::new(results, of_nonzero(b, self.clone(), tangents)?))
            }

            fn batch(&self, b: &Builder, operands: &[Batched], _axis: &BatchAxis) -> Result<BatchedResults> {
                in_place(b, self.clone(), operands)
            }

            fn transpose(
                &self,
                b: &Builder,
                cotangents: &[Option<Atom>],
                _operands: &[TransposeArg],
            ) -> Result<Cotangents> {
                let rule: fn(&Self, &Builder, &[Option<Atom>]) -> Result<Cotangents> = $transpose;
                rule(self, b, cotangents)
            }
        }
    )* };
}
identities! {
    OptimizationBarrier |prim, b, cotangents| of_nonzero(b, *prim, cotangents);
    Reshard |prim, b, cotangents| of_nonzero(b, *prim, cotangents);
    ShardingConstraint |prim, b, cotangents| of_nonzero(b, prim.clone(), cotangents);
    // JAX tags the tangent, and leaves the cotangent as it is.
    XlaMetadataValue |_, _, cotangents| Ok(cotangents.into());
}
