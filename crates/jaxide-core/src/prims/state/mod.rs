//! Mutable references.
//!
//! The tangent of a reference is a reference to the tangent, and its cotangent one to the cotangent: see
//! [`RefCotangent`].

mod lanes;

use smallvec::{SmallVec, smallvec};

use super::*;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::{Atom, Aval, AvalKind, Builder, Shape};
use crate::transform::{RefCotangent, Split, broadcast, move_axis};
use lanes::Lanes;

/// The array a reference refers to.
fn contents(aval: &Aval) -> Result<Aval> {
    if aval.kind != AvalKind::Ref {
        return Err(Error::new(
            ErrorKind::Invalid,
            format!("a reference is expected, and {aval} is given"),
        ));
    }
    Ok(Aval {
        kind: AvalKind::Array,
        ..aval.clone()
    })
}

fn operand(operands: &[Aval], index: usize) -> Result<&Aval> {
    operands.get(index).ok_or_else(|| {
        Error::new(
            ErrorKind::Arity,
            format!("operand {index} is missing of {}", operands.len()),
        )
    })
}

/// The type of the part of a reference that indices name.
fn part(reference: &Aval, indices: &RefIndices, operands: &[Aval]) -> Result<Aval> {
    let array = contents(reference)?;
    let mut shape = array.shape.clone();
    let mut operands = operands;
    for indexer in indices {
        if indexer.len() > shape.len() {
            return Err(Error::shape(format!(
                "{} indices are given for shape {:?}",
                indexer.len(),
                shape.as_slice()
            )));
        }
        let dynamic = |index: &&RefIndex| !matches!(index, RefIndex::Slice { .. });
        let count = indexer.iter().filter(dynamic).count();
        if operands.len() < count {
            return Err(Error::new(ErrorKind::Arity, "an index operand is missing"));
        }
        let (own, rest) = operands.split_at(count);
        check_bounds(indexer, &shape, own)?;
        shape = indexed_shape(&shape, &whole(indexer, &shape), own);
        operands = rest;
    }
    Ok(array.with_shape(&shape))
}

/// Refuses what no array of `shape` has: slices that are longer than their axis or leave it, and elements of an empty
/// axis. The values of index operands are known to the run alone, which moves those of slices and of scalars into range.
fn check_bounds(indexer: &RefIndexer, shape: &[usize], operands: &[Aval]) -> Result<()> {
    let span = |size: usize, stride: usize| {
        let last = size
            .checked_sub(1)
            .map(|last| last.checked_mul(stride)?.checked_add(1));
        last.unwrap_or(Some(0))
    };
    let mut operands = operands.iter();
    for (axis, (index, &length)) in indexer.iter().zip(shape).enumerate() {
        let (what, end) = match *index {
            RefIndex::Slice {
                start,
                size,
                stride,
            } => {
                let end = span(size, stride).and_then(|span| span.checked_add(start));
                ("slice", end)
            }
            RefIndex::DynamicSlice { size, stride } => {
                operands.next();
                ("slice", span(size, stride))
            }
            RefIndex::Operand => {
                let names_none = operands.next().is_some_and(|aval| aval.shape.contains(&0));
                ("index", Some(usize::from(!names_none)))
            }
        };
        if end.is_none_or(|end| end > length) {
            return Err(Error::shape(format!(
                "the {what} of axis {axis} is out of range: its length is {length}"
            )));
        }
    }
    Ok(())
}

/// The indexer with the axes that it leaves out taken whole.
fn whole(indexer: &RefIndexer, shape: &[usize]) -> RefIndexer {
    let all = |&size: &usize| RefIndex::Slice {
        start: 0,
        size,
        stride: 1,
    };
    let rest = shape.get(indexer.len()..).unwrap_or_default();
    indexer
        .iter()
        .copied()
        .chain(rest.iter().map(all))
        .collect()
}

fn check_value(value: &Aval, part: &Aval) -> Result<()> {
    if value.dtype == part.dtype && value.shape == part.shape {
        return Ok(());
    }
    Err(Error::shape(format!("{value} is written where {part} is")))
}

const PLAIN_REFERENCE: &str = "a value with a tangent is written to a reference without one: make the reference inside the differentiated function, or pass it as an argument";

const SHARED_REFERENCE: &str = "a value that differs by lane is written to a reference that all lanes share: make the reference inside the mapped function, or map it too";

/// What reads or writes a reference is transposed by `transpose_reference`.
macro_rules! transposed_by_cotangent {
    () => {
        fn transpose(
            &self,
            _b: &Builder,
            _cotangents: &[Option<Atom>],
            _operands: &[TransposeArg],
        ) -> Result<Cotangents> {
            Err(Error::new(
                ErrorKind::Internal,
                "a reference is transposed by its cotangent",
            ))
        }
    };
}

impl Primitive for NewRef {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        Ok(smallvec![operand(operands, 0)?.clone().reference()])
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let reference = b.op(self.clone(), primals);
        let tangent = b.instantiate(tangents[0], &b.aval(primals[0]));
        Ok(JvpResult::one(
            reference,
            Some(b.op(self.clone(), &[tangent])),
        ))
    }

    /// Tangents may be written later, so that there is a tangent reference in any case.
    fn linearize(
        &self,
        split: &Split<'_>,
        primals: &[Atom],
        tangents: &[Option<Atom>],
    ) -> Result<Option<JvpResult>> {
        let reference = split.known.op(self.clone(), primals);
        let aval = split.known.aval(primals[0]);
        let tangent = split.unknown.instantiate(tangents[0], &aval);
        let tangent = split.unknown.op(self.clone(), &[tangent]);
        Ok(Some(JvpResult::one(reference, Some(tangent))))
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let x = operands[0];
        let (value, dim) = match x.dim {
            Some(dim) => (x.value, dim),
            None => (broadcast(b, x.value, axis.size, 0), 0),
        };
        Ok(smallvec![Batched {
            value: b.op(self.clone(), &[value]),
            dim: Some(dim)
        }])
    }

    transposed_by_cotangent! {}

    fn transpose_reference(
        &self,
        b: &Builder,
        reference: &mut RefCotangent,
        _cotangents: &[Option<Atom>],
        _operands: &[TransposeArg],
    ) -> Result<Option<Cotangents>> {
        Ok(Some(smallvec![reference.freeze(b)]))
    }

    fn makes_reference(&self) -> bool {
        true
    }
}

impl Primitive for FreezeRef {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        Ok(smallvec![contents(operand(operands, 0)?)?])
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let value = b.op(*self, primals);
        let tangent = tangents[0].map(|tangent| b.op(*self, &[tangent]));
        Ok(JvpResult::one(value, tangent))
    }

    fn batch(
        &self,
        b: &Builder,
        operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        Ok(smallvec![Batched {
            value: b.op(*self, &[operands[0].value]),
            dim: operands[0].dim
        }])
    }

    transposed_by_cotangent! {}

    fn transpose_reference(
        &self,
        b: &Builder,
        reference: &mut RefCotangent,
        cotangents: &[Option<Atom>],
        _operands: &[TransposeArg],
    ) -> Result<Option<Cotangents>> {
        reference.accumulate(b, cotangents[0]);
        Ok(Some(smallvec![None]))
    }
}

impl Primitive for RefGet {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let reference = operand(operands, 0)?;
        Ok(smallvec![part(reference, &self.indices, &operands[1..])?])
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let value = b.op(self.clone(), primals);
        let tangent = tangents[0].map(|tangent| {
            let operands = [&[tangent], &primals[1..]].concat();
            b.op(self.clone(), &operands)
        });
        Ok(JvpResult::one(value, tangent))
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let reference = operands[0];
        let lanes = Lanes::new(b, reference, &self.indices, &operands[1..], axis)?;
        let prim = RefGet {
            indices: lanes.indices.clone(),
        };
        let value = b.op(prim, &lanes.operands(&[reference.value]));
        Ok(smallvec![lanes.restore(b, value)])
    }

    transposed_by_cotangent! {}

    fn transpose_reference(
        &self,
        b: &Builder,
        reference: &mut RefCotangent,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Option<Cotangents>> {
        match cotangents[0] {
            Some(cotangent) if !self.indices.is_empty() => {
                let prim = RefAddUpdate {
                    indices: self.indices.clone(),
                };
                let target = [reference.instantiate(b), cotangent];
                b.emit(prim, &with_indices(&target, &operands[1..]))?;
            }
            cotangent => reference.accumulate(b, cotangent),
        }
        Ok(Some(operands.iter().map(|_| None).collect()))
    }
}

impl Primitive for RefSwap {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let (reference, value) = (operand(operands, 0)?, operand(operands, 1)?);
        let part = part(reference, &self.indices, &operands[2..])?;
        check_value(value, &part)?;
        Ok(smallvec![part])
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let Some(reference) = tangents[0] else {
            return Err(Error::no_rule("swap", "jvp", PLAIN_REFERENCE));
        };
        let value = b.op(self.clone(), primals);
        let written = b.instantiate(tangents[1], &b.aval(primals[1]));
        let operands = [&[reference, written], &primals[2..]].concat();
        Ok(JvpResult::one(value, Some(b.op(self.clone(), &operands))))
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let (reference, value) = (operands[0], operands[1]);
        if reference.dim.is_none() {
            return Err(Error::no_rule("swap", "batching", SHARED_REFERENCE));
        }
        let lanes = Lanes::new(b, reference, &self.indices, &operands[2..], axis)?;
        let prim = RefSwap {
            indices: lanes.indices.clone(),
        };
        let written = lanes.place(b, value, axis.size);
        let old = b.op(prim, &lanes.operands(&[reference.value, written]));
        Ok(smallvec![lanes.restore(b, old)])
    }

    transposed_by_cotangent! {}

    /// What was written gets the cotangent that is there, and the cotangent of the old value takes its place.
    fn transpose_reference(
        &self,
        b: &Builder,
        reference: &mut RefCotangent,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Option<Cotangents>> {
        let mut out: Cotangents = operands.iter().map(|_| None).collect();
        let was_empty = reference.is_zero();
        if was_empty && cotangents[0].is_none() {
            return Ok(Some(out));
        }
        let old = b.instantiate(cotangents[0], &operands[1].aval(b));
        let target = [reference.instantiate(b), old];
        let written = b.op(self.clone(), &with_indices(&target, &operands[2..]));
        out[1] = (!was_empty && operands[1].is_linear()).then_some(written);
        Ok(Some(out))
    }

    fn has_effect(&self) -> bool {
        true
    }
}

impl Primitive for RefAddUpdate {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let (reference, value) = (operand(operands, 0)?, operand(operands, 1)?);
        check_value(value, &part(reference, &self.indices, &operands[2..])?)?;
        Ok(SmallVec::new())
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let Some(reference) = tangents[0] else {
            return Err(Error::no_rule("addupdate", "jvp", PLAIN_REFERENCE));
        };
        b.emit(self.clone(), primals)?;
        let added = b.instantiate(tangents[1], &b.aval(primals[1]));
        b.emit(self.clone(), &[&[reference, added], &primals[2..]].concat())?;
        Ok(JvpResult {
            primals: SmallVec::new(),
            tangents: SmallVec::new(),
        })
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let (reference, value) = (operands[0], operands[1]);
        if reference.dim.is_none() {
            return Err(Error::no_rule("addupdate", "batching", SHARED_REFERENCE));
        }
        let lanes = Lanes::new(b, reference, &self.indices, &operands[2..], axis)?;
        let prim = RefAddUpdate {
            indices: lanes.indices.clone(),
        };
        let added = lanes.place(b, value, axis.size);
        b.emit(prim, &lanes.operands(&[reference.value, added]))?;
        Ok(SmallVec::new())
    }

    transposed_by_cotangent! {}

    /// What was added gets the cotangent that is there.
    fn transpose_reference(
        &self,
        b: &Builder,
        reference: &mut RefCotangent,
        _cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Option<Cotangents>> {
        let mut out: Cotangents = operands.iter().map(|_| None).collect();
        if !reference.is_zero() && operands[1].is_linear() {
            let prim = RefGet {
                indices: self.indices.clone(),
            };
            let target = [reference.instantiate(b)];
            out[1] = Some(b.op(prim, &with_indices(&target, &operands[2..])));
        }
        Ok(Some(out))
    }

    fn has_effect(&self) -> bool {
        true
    }
}

/// Operands, then known indices.
fn with_indices(operands: &[Atom], indices: &[TransposeArg]) -> Vec<Atom> {
    let indices = indices.iter().filter_map(TransposeArg::known);
    operands.iter().copied().chain(indices).collect()
}

const RUN_STATE: &str =
    "its body works on references that it shares with nobody: make them with new_ref instead";

impl Primitive for RunState {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let references = self.jaxpr.in_avals();
        if references.len() != self.is_initialized.len() {
            return Err(Error::parameter("is_initialized does not fit the body"));
        }
        let initialized = self.is_initialized.iter().filter(|flag| **flag).count();
        if operands.len() != initialized {
            return Err(Error::new(
                ErrorKind::Arity,
                format!(
                    "{initialized} references have an operand, and {} are given",
                    operands.len()
                ),
            ));
        }
        let results: Avals = references.iter().map(contents).collect::<Result<_>>()?;
        let initialized = results
            .iter()
            .zip(&self.is_initialized)
            .filter(|(_, flag)| **flag);
        for ((want, _), operand) in initialized.zip(operands) {
            if (operand.dtype, &operand.shape) != (want.dtype, &want.shape) {
                return Err(Error::shape(format!(
                    "a reference to {want} cannot begin as {operand}"
                )));
            }
        }
        Ok(results)
    }

    no_rules! { "run_state", RUN_STATE; jvp batch transpose }
}
