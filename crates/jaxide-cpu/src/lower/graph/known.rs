//! Integer arrays whose elements are known, for indices that turn out to be constants.

use super::{Bytes, Def, Graph, MapOp, Op, ValueId};
use crate::narrow;
use jaxide_core::{DType, Scalar};
use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;
use std::rc::Rc;

/// Larger arrays are not looked into, unless somebody asks.
const MOST: usize = 64;
/// Elements that are computed for one question at most.
const MOST_WORK: usize = 1 << 15;

impl Graph {
    /// The bytes of all elements of an operation's result of type `dtype`, where it is one of integers and truth values, and each operand has
    /// one known element everywhere, or the result is the same whatever an operand is.
    pub(crate) fn known_everywhere(
        &self,
        op: MapOp,
        args: &[ValueId],
        dtype: DType,
    ) -> Option<Bytes> {
        let whole = |dtype: DType| dtype.is_integer() || dtype == DType::Bool;
        if !whole(dtype) {
            return self.converted_everywhere(op, args, dtype);
        }
        let known = args.iter().map(|&arg| {
            let own = self.dtype(arg);
            self.splat(arg)
                .filter(|_| whole(own))
                .and_then(|bytes| read_int(own, bytes))
        });
        let known: SmallVec<[Option<i64>; 3]> = known.collect();
        let unsigned = args
            .first()
            .is_some_and(|&arg| self.dtype(arg).is_unsigned_integer());
        let value = match (op, &known[..]) {
            // As in the remainders of NumPy, whose sign is the divisor's.
            (MapOp::Lt, [_, Some(0)]) | (MapOp::Gt, [Some(0), _]) if unsigned => 0,
            (MapOp::Ge, [_, Some(0)]) | (MapOp::Le, [Some(0), _]) if unsigned => 1,
            _ => {
                let known: Option<SmallVec<[i64; 3]>> = known.into_iter().collect();
                fold(op, &known?)?
            }
        };
        let value = wrap(dtype, value);
        Some(Bytes::from_slice(&value.to_le_bytes()[..dtype.size()]))
    }

    /// The bytes of all elements of a conversion to floats, where what is converted is one known number that a float is exactly, as the bounds of
    /// `clip` are.
    fn converted_everywhere(&self, op: MapOp, args: &[ValueId], dtype: DType) -> Option<Bytes> {
        let &[arg] = args else {
            return None;
        };
        if op != MapOp::Convert
            || !matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
        {
            return None;
        }
        let number = Scalar::from_bytes(self.dtype(arg), self.splat(arg)?)?.as_f64()?;
        let bytes = Scalar::Float(number).to_bytes(dtype).ok()?;
        let back = Scalar::from_bytes(dtype, &bytes)?.as_f64()?;
        // Zeros keep their signs.
        (back.to_bits() == number.to_bits()).then_some(bytes)
    }

    /// The elements of a small array of integers or truth values, in row-major order, where they follow from constants.
    pub(crate) fn int_elements(&self, value: ValueId) -> Option<Vec<i64>> {
        self.int_elements_of(value, MOST)
    }

    /// The same of an array of at most so many elements.
    pub(crate) fn int_elements_of(&self, value: ValueId, most: usize) -> Option<Vec<i64>> {
        let mut search = Search {
            graph: self,
            most,
            left: MOST_WORK,
            found: HashMap::default(),
        };
        search.elements(value).map(|elements| elements.to_vec())
    }
}

/// A search for known elements: each value is looked at once.
struct Search<'a> {
    graph: &'a Graph,
    /// Elements of an array at most.
    most: usize,
    /// Elements that may still be computed.
    left: usize,
    found: HashMap<ValueId, Option<Rc<[i64]>>>,
}

impl Search<'_> {
    fn elements(&mut self, value: ValueId) -> Option<Rc<[i64]>> {
        if let Some(found) = self.found.get(&value) {
            return found.clone();
        }
        let found = self.compute(value).map(Rc::from);
        self.found.insert(value, found.clone());
        found
    }

    fn compute(&mut self, value: ValueId) -> Option<Vec<i64>> {
        let graph = self.graph;
        let info = graph.value(value);
        let (dtype, count) = (info.dtype, info.len());
        if count > self.most || !(dtype.is_integer() || dtype == DType::Bool) {
            return None;
        }
        let Def::Node(id, _) = info.def else {
            return None;
        };
        self.left = self.left.checked_sub(count.max(1))?;
        let node = graph.node(id);
        let elements = match &node.op {
            Op::Splat(bytes) => vec![read_int(dtype, bytes)?; count],
            Op::Const(index) => {
                let bytes = graph.consts[*index as usize].bytes();
                let elements = bytes.chunks_exact(dtype.size());
                elements
                    .map(|element| read_int(dtype, element))
                    .collect::<Option<_>>()?
            }
            Op::Iota { .. } if info.shape.len() == 1 => {
                (0..count as i64).map(|k| wrap(dtype, k)).collect()
            }
            Op::Reshape => self.elements(node.args[0])?.to_vec(),
            Op::Broadcast { dims }
                if dims.is_sorted() && graph.value(node.args[0]).len() == count =>
            {
                self.elements(node.args[0])?.to_vec()
            }
            Op::Broadcast { .. } if graph.value(node.args[0]).len() == 1 => {
                vec![self.elements(node.args[0])?[0]; count]
            }
            Op::Slice { start, stride } if info.shape.len() == 1 => {
                let all = self.elements(node.args[0])?;
                (0..count).map(|k| all[start[0] + k * stride[0]]).collect()
            }
            Op::Concat { .. } if info.shape.len() == 1 => {
                let mut elements = Vec::with_capacity(count);
                for &arg in &node.args {
                    elements.extend_from_slice(&self.elements(arg)?);
                }
                elements
            }
            Op::Map(map) => {
                let mut operands: SmallVec<[Rc<[i64]>; 3]> = SmallVec::new();
                for &arg in &node.args {
                    operands.push(self.elements(arg)?);
                }
                let element = |k: usize| {
                    let at: SmallVec<[i64; 4]> = (operands.iter())
                        .map(|all| if all.len() == 1 { all[0] } else { all[k] })
                        .collect();
                    fold(*map, &at).map(|result| wrap(dtype, result))
                };
                (0..count).map(element).collect::<Option<_>>()?
            }
            _ => return None,
        };
        // Those of `u64` beyond the positive ones of `i64` would be compared as negative ones.
        let unknown = dtype == DType::U64 && elements.iter().any(|&element| element < 0);
        (!unknown).then_some(elements)
    }
}

/// The result of an operation on known integers or truth values, before it is one of a type.
fn fold(map: MapOp, args: &[i64]) -> Option<i64> {
    Some(match (map, args) {
        (MapOp::Add, [a, b]) => a.wrapping_add(*b),
        (MapOp::Sub, [a, b]) => a.wrapping_sub(*b),
        (MapOp::Mul, [a, b]) => a.wrapping_mul(*b),
        (MapOp::Neg, [a]) => a.wrapping_neg(),
        (MapOp::Max, [a, b]) => *a.max(b),
        (MapOp::Min, [a, b]) => *a.min(b),
        (MapOp::Lt, [a, b]) => i64::from(a < b),
        (MapOp::Le, [a, b]) => i64::from(a <= b),
        (MapOp::Gt, [a, b]) => i64::from(a > b),
        (MapOp::Ge, [a, b]) => i64::from(a >= b),
        (MapOp::Eq, [a, b]) => i64::from(a == b),
        (MapOp::Ne, [a, b]) => i64::from(a != b),
        (MapOp::Select, [which, cases @ ..]) => *cases.get(usize::try_from(*which).ok()?)?,
        (MapOp::Clamp, [low, x, high]) => *x.max(low).min(high),
        (MapOp::Convert, [a]) => *a,
        (MapOp::And, [a, b]) => a & b,
        (MapOp::Or, [a, b]) => a | b,
        (MapOp::Xor, [a, b]) => a ^ b,
        (MapOp::Sign, [a]) => a.signum(),
        _ => return None,
    })
}

/// The result of an operation on known truth values, where it is one.
pub(crate) fn truth(map: MapOp, args: &[bool]) -> Option<bool> {
    match (map, args) {
        (MapOp::Not, [a]) => Some(!a),
        _ => {
            let args: SmallVec<[i64; 3]> = args.iter().copied().map(i64::from).collect();
            fold(map, &args).map(|result| result != 0)
        }
    }
}

/// An integer as an element of `dtype`; `u64` above `i64::MAX` is not handled.
fn wrap(dtype: DType, value: i64) -> i64 {
    let drop = 64 - narrow::<_, u32>(dtype.bits());
    match dtype {
        DType::Bool => i64::from(value != 0),
        DType::U64 | DType::I64 => value,
        _ if dtype.is_unsigned_integer() => ((value as u64) << drop >> drop) as i64,
        _ => value << drop >> drop,
    }
}

pub(crate) fn read_int(dtype: DType, bytes: &[u8]) -> Option<i64> {
    let mut wide = [0u8; 8];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let value = i64::from_le_bytes(wide);
    if dtype == DType::U64 && value < 0 {
        return None;
    }
    Some(match dtype {
        DType::I2 | DType::I4 => i64::from(bytes[0] as i8),
        DType::U2 | DType::U4 => value,
        _ => wrap(dtype, value),
    })
}
