//! Primitives whose results are their operands: barriers and placement.

use super::super::*;
use crate::error::Result;
use crate::jaxpr::{Atom, Aval, Builder};

impl Primitive for OptimizationBarrier {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        Ok(operands.into())
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        Ok(JvpResult {
            primals: b.emit(*self, primals)?,
            tangents: of_nonzero(b, *self, tangents)?,
        })
    }

    fn batch(
        &self,
        b: &Builder,
        operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        in_place(b, *self, operands)
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        _operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        of_nonzero(b, *self, cotangents)
    }
}

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
        Ok(JvpResult {
            primals: results,
            tangents: tangents.into_iter().map(Some).collect(),
        })
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
        let moved = crate::marks::present(cotangents);
        let only_moved = |places: &Opaque| match &places.0 {
            PyValue::Tuple(places) if places.len() == moved.len() => {
                let places = places.iter().zip(&moved).filter(|(_, moved)| **moved);
                Opaque(PyValue::Tuple(
                    places.map(|(place, _)| place.clone()).collect(),
                ))
            }
            _ => places.clone(),
        };
        let count = moved.iter().filter(|moved| **moved).count();
        let copy = PyValue::Word("ArrayCopySemantics.ALWAYS_COPY".to_owned());
        let back = DevicePut {
            copy_semantics: Opaque(PyValue::Tuple(vec![copy; count])),
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
    let there: Vec<Atom> = values.iter().flatten().copied().collect();
    let mut results = b.emit(prim, &there)?.into_iter();
    Ok(values
        .iter()
        .map(|value| value.and_then(|_| results.next()))
        .collect())
}

/// Applies `prim` whatever the mapped axes are.
fn in_place(b: &Builder, prim: impl Into<Prim>, operands: &[Batched]) -> Result<BatchedResults> {
    let values = Batched::values(operands);
    let results = b.emit(prim, &values)?;
    let batched = |(value, operand): (Atom, &Batched)| Batched {
        value,
        dim: operand.dim,
    };
    Ok(results.into_iter().zip(operands).map(batched).collect())
}

/// Rules of linear identities of one operand.
macro_rules! linear_identities {
    ($($prim:ident;)*) => { $(
        impl Primitive for $prim {
            fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
                Ok(operands.into())
            }

            fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
                Ok(JvpResult {
                    primals: b.emit(self.clone(), primals)?,
                    tangents: of_nonzero(b, self.clone(), tangents)?,
                })
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
                of_nonzero(b, self.clone(), cotangents)
            }
        }
    )* };
}
linear_identities! { Reshard; ShardingConstraint; }

/// JAX tags the tangent, and leaves the cotangent as it is.
impl Primitive for XlaMetadataValue {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        Ok(operands.into())
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        Ok(JvpResult {
            primals: b.emit(self.clone(), primals)?,
            tangents: of_nonzero(b, self.clone(), tangents)?,
        })
    }

    fn batch(
        &self,
        b: &Builder,
        operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        in_place(b, self.clone(), operands)
    }

    fn transpose(
        &self,
        _b: &Builder,
        cotangents: &[Option<Atom>],
        _operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        Ok(cotangents.iter().copied().collect())
    }
}
