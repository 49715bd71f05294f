//! Functions of two elements that are operations which reductions know by name.

use super::known::truth;
use super::{Combine, Graph, MapOp, Op, Region, ValueId};
use jaxide_core::DType;
use rustc_hash::FxHashMap as HashMap;

impl Graph {
    /// The operation that a function of two scalars computes, where it is one whose order does not count: of integers and truth values.
    ///
    /// Of truth values the function itself is looked at: the four results say which it is. Of integers it is an operation, or a choice
    /// by a comparison.
    pub(crate) fn combines(&self, function: &Region) -> Option<Combine> {
        let (&[a, b], &[result]) = (&function.params[..], &function.results[..]) else {
            return None;
        };
        let dtype = self.dtype(result);
        if self.dtype(a) != dtype || self.dtype(b) != dtype {
            return None;
        }
        if dtype == DType::Bool {
            return self.of_truth(function, a, b, result);
        }
        if !dtype.is_integer() {
            return None;
        }
        let (op, args) = self.mapped(result)?;
        let both = |x, y| (x, y) == (a, b) || (x, y) == (b, a);
        match (op, args) {
            (MapOp::Select, &[which, no, yes]) if both(no, yes) => {
                let (compared, &[x, y]) = self.mapped(which)? else {
                    return None;
                };
                // Between equals it does not matter which one is taken.
                let largest = match compared {
                    MapOp::Gt | MapOp::Ge => (x, y) == (yes, no),
                    MapOp::Lt | MapOp::Le => (x, y) == (no, yes),
                    _ => return None,
                };
                let compares = both(x, y);
                compares.then_some(if largest { Combine::Max } else { Combine::Min })
            }
            (op, &[x, y]) if both(x, y) => match op {
                MapOp::Add => Some(Combine::Add),
                MapOp::Mul => Some(Combine::Mul),
                MapOp::Max => Some(Combine::Max),
                MapOp::Min => Some(Combine::Min),
                MapOp::And => Some(Combine::And),
                MapOp::Or => Some(Combine::Or),
                MapOp::Xor => Some(Combine::Xor),
                _ => None,
            },
            _ => None,
        }
    }

    fn mapped(&self, value: ValueId) -> Option<(MapOp, &[ValueId])> {
        let node = self.node(self.def(value)?);
        match node.op {
            Op::Map(op) => Some((op, &node.args)),
            _ => None,
        }
    }

    /// The operation by the results for (0, 0), (0, 1), (1, 0) and (1, 1).
    fn of_truth(
        &self,
        function: &Region,
        a: ValueId,
        b: ValueId,
        result: ValueId,
    ) -> Option<Combine> {
        let mut table = [false; 4];
        for (k, entry) in table.iter_mut().enumerate() {
            let mut known = HashMap::from_iter([(a, k & 2 != 0), (b, k & 1 != 0)]);
            for &id in &function.nodes {
                let node = self.node(id);
                let (Op::Map(op), &[to]) = (&node.op, &node.results[..]) else {
                    return None;
                };
                let args: Option<Vec<bool>> = node
                    .args
                    .iter()
                    .map(|arg| known.get(arg).copied())
                    .collect();
                if self.dtype(to) != DType::Bool {
                    return None;
                }
                known.insert(to, truth(*op, &args?)?);
            }
            *entry = *known.get(&result)?;
        }
        match table {
            [false, false, false, true] => Some(Combine::Min),
            [false, true, true, true] => Some(Combine::Max),
            [false, true, true, false] => Some(Combine::Xor),
            _ => None,
        }
    }
}
