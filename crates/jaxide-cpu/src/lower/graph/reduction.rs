//! Reductions in the form that loop nests like: without axes of length 1, and in two steps where one result has several axes of elements.

use super::{Bytes, Combine, Op, Scope, ValueId, own_cost};
use jaxide_core::{DType, Dims, Result, Scalar, small_float};
use rustc_hash::FxHashSet as HashSet;
use smallvec::smallvec;

/// Reductions of several axes take the first one last when it has at least this length, so that threads share its rows.
const FIRST_LAST: usize = 8;
/// Up to so many elements are combined at once, if no more bytes are added than this to make them: one thread does it.
const FEW: usize = 1 << 12;
const LITTLE: usize = 1 << 18;
/// Values that are looked at for it.
const STEPS: usize = 512;

impl Scope {
    /// Axes combined away.
    ///
    /// # Errors
    /// When the element type has no neutral element for an empty reduction.
    pub(crate) fn reduce(
        &mut self,
        combine: Combine,
        x: ValueId,
        axes: &[usize],
    ) -> Result<ValueId> {
        let dtype = self.dtype(x);
        let own = self.shape(x);
        let shape: Dims = (0..own.len())
            .filter(|axis| !axes.contains(axis))
            .map(|axis| own[axis])
            .collect();
        if axes.is_empty() {
            return Ok(x);
        }
        if own.contains(&0) {
            let neutral = neutral_bytes(combine, dtype)?;
            return Ok(self.splat_bytes(neutral, dtype, &shape));
        }
        // Without axes of length 1.
        let kept: Dims = (0..own.len()).filter(|&axis| own[axis] > 1).collect();
        let squeezed: Dims = kept.iter().map(|&axis| own[axis]).collect();
        let x = self.reshape(x, &squeezed);
        let axes: Dims = (0..kept.len())
            .filter(|&k| axes.contains(&kept[k]))
            .collect();
        let result = self.reduce_squeezed(combine, x, &axes)?;
        Ok(self.reshape(result, &shape))
    }

    fn reduce_squeezed(&mut self, combine: Combine, x: ValueId, axes: &[usize]) -> Result<ValueId> {
        let shape = self.shape(x);
        let all = axes.len() == shape.len();
        match axes {
            [] => Ok(x),
            [0, rest @ ..]
                if all && !rest.is_empty() && shape[0] >= FIRST_LAST && !self.is_little_work(x) =>
            {
                let rows = self.reduce_once(combine, x, rest);
                self.reduce(combine, rows, &[0])
            }
            _ => Ok(self.reduce_once(combine, x, axes)),
        }
    }

    /// Whether an array has few elements, and little is computed for each, as far as it is seen.
    fn is_little_work(&self, x: ValueId) -> bool {
        let count = |value: ValueId| self.shape(value).iter().product::<usize>();
        if count(x) > FEW {
            return false;
        }
        let mut seen = HashSet::from_iter([x]);
        let mut left = vec![x];
        let mut work = 0;
        while let Some(value) = left.pop() {
            let Some(maker) = self.graph.def(value) else {
                continue;
            };
            let node = self.graph.node(maker);
            let elements = count(value).saturating_mul(self.dtype(value).size());
            work = own_cost(&self.graph, node, 0)
                .saturating_mul(elements)
                .saturating_add(work);
            if work > LITTLE || seen.len() > STEPS {
                return false;
            }
            if !matches!(node.op, Op::Call(_)) {
                left.extend(node.args.iter().filter(|&&arg| seen.insert(arg)));
            }
        }
        true
    }

    fn reduce_once(&mut self, combine: Combine, x: ValueId, axes: &[usize]) -> ValueId {
        let (dtype, own) = (self.dtype(x), self.shape(x));
        let shape: Dims = (0..own.len())
            .filter(|axis| !axes.contains(axis))
            .map(|axis| own[axis])
            .collect();
        let axes = Dims::from_slice(axes);
        self.one(Op::Reduce { combine, axes }, &[x], dtype, &shape)
    }
}

/// The element that leaves others unchanged, which is the result of an empty reduction.
pub(super) fn neutral_bytes(combine: Combine, dtype: DType) -> Result<Bytes> {
    let bits = dtype.bits().clamp(1, 64);
    let scalar = match combine {
        Combine::Add | Combine::Sub | Combine::Or | Combine::Xor | Combine::Replace => {
            Scalar::Int(0)
        }
        Combine::Mul => Scalar::Int(1),
        Combine::And if dtype == DType::Bool => Scalar::Bool(true),
        // Of types that do not fill their byte the bits above are a number's sign, or zero.
        Combine::And if dtype.bits() < 8 && dtype.is_unsigned_integer() => {
            return Ok(smallvec![0xff >> (8 - dtype.bits())]);
        }
        Combine::And => return Ok(smallvec![0xff; dtype.size()]),
        Combine::Min if dtype == DType::Bool => Scalar::Bool(true),
        Combine::Max if dtype == DType::Bool => Scalar::Bool(false),
        Combine::Min if dtype.is_unsigned_integer() => Scalar::UInt(u64::MAX >> (64 - bits)),
        Combine::Max if dtype.is_unsigned_integer() => Scalar::Int(0),
        Combine::Min if dtype.is_signed_integer() => Scalar::Int(i64::MAX >> (64 - bits)),
        Combine::Max if dtype.is_signed_integer() => Scalar::Int(i64::MIN >> (64 - bits)),
        Combine::Min => {
            let range = small_float::extremes(dtype);
            Scalar::Float(range.map_or(f64::INFINITY, |range| range.1))
        }
        Combine::Max => {
            let range = small_float::extremes(dtype);
            Scalar::Float(range.map_or(f64::NEG_INFINITY, |range| range.0))
        }
    };
    scalar.to_bytes(dtype)
}
