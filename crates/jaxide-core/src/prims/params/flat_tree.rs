//! Flat trees: how many constants, carries and stacked values a `scan` has.

use super::{PyType, PyValue, expected, field, items};

/// How many constants, carries and stacked inputs a `scan` has; prints as tuples of `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScanInputs {
    /// Loop-invariant operands.
    pub consts: usize,
    /// Carried values.
    pub carry: usize,
    /// Stacked inputs, one slice per step.
    pub xs: usize,
}

/// How many carries and stacked results a `scan` has; prints as tuples of `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScanOutputs {
    /// Carried values.
    pub carry: usize,
    /// Stacked results, one slice per step.
    pub ys: usize,
}

fn nones(count: usize) -> PyValue {
    PyValue::Tuple(vec![PyValue::None; count])
}

/// The leaves of a flat tree. Each is `None`, or `*` in a treedef; inside `RightsOnly` a leaf is `Left(...)` or
/// `Right(...)`, of which only the second kind is kept, with what it holds.
fn leaves<'v>(value: &'v PyValue, out: &mut Vec<&'v PyValue>) {
    match value {
        PyValue::Tuple(items) | PyValue::List(items) => {
            items.iter().for_each(|item| leaves(item, out))
        }
        PyValue::Call(call) => match (call.name.as_str(), call.args.as_slice()) {
            ("RightsOnly", [tree]) => {
                let mut all = Vec::new();
                leaves(tree, &mut all);
                out.extend(all.into_iter().filter_map(right));
            }
            ("Left" | "Right", _) => out.push(value),
            // The treedef of a `Pytree` has the leaves again.
            ("Pytree", _) => {
                if let Ok(values) = field(call, "vals") {
                    leaves(values, out);
                }
            }
            // Children of nodes in treedefs; `Static(...)` has no leaves.
            ("CustomNode", args) => args.iter().for_each(|item| leaves(item, out)),
            _ => {}
        },
        PyValue::Word(word) if word != "*" => {}
        PyValue::None | PyValue::Word(_) => out.push(value),
        PyValue::Scalar(_) | PyValue::Str(_) | PyValue::DType(_) | PyValue::Opaque(_) => {}
    }
}

/// What `Right(...)` holds.
fn right(value: &PyValue) -> Option<&PyValue> {
    match value {
        PyValue::Call(call) if call.name == "Right" => call.args.first(),
        _ => None,
    }
}

/// The leaves of each part of `ft_in` or `ft_out`. The whole is a tuple of the parts, or
/// `Pytree(vals=[...], tree=PyTreeDef(...))` whose treedef is such a tuple, or either of them inside `RightsOnly`.
fn parts(value: &PyValue, count: usize) -> Result<Vec<Vec<&PyValue>>, String> {
    let of_tuple = |tuple| {
        let parts = items(tuple)?;
        if parts.len() != count {
            return expected(&format!("a tuple of {count} flat trees"), tuple);
        }
        let leaves_of = |part| {
            let mut out = Vec::new();
            leaves(part, &mut out);
            out
        };
        Ok(parts.iter().map(leaves_of).collect::<Vec<_>>())
    };
    let PyValue::Call(call) = value else {
        return of_tuple(value);
    };
    match (call.name.as_str(), call.args.as_slice()) {
        ("RightsOnly", [tree]) => {
            let parts = parts(tree, count)?.into_iter();
            Ok(parts
                .map(|part| part.into_iter().filter_map(right).collect())
                .collect())
        }
        ("Pytree", _) => {
            let treedef = match field(call, "tree")? {
                PyValue::Call(treedef) if treedef.args.len() == 1 => of_tuple(&treedef.args[0])?,
                other => return expected("a treedef", other),
            };
            let mut values = Vec::new();
            leaves(field(call, "vals")?, &mut values);
            let mut values = values.into_iter();
            Ok(treedef
                .iter()
                .map(|part| values.by_ref().take(part.len()).collect())
                .collect())
        }
        _ => expected("a flat tree", value),
    }
}

/// The numbers of leaves of the parts.
fn part_sizes<const N: usize>(value: &PyValue) -> Result<[usize; N], String> {
    let sizes: Vec<usize> = parts(value, N)?.iter().map(Vec::len).collect();
    sizes
        .try_into()
        .map_err(|_| format!("a tuple of {N} flat trees is expected"))
}

impl PyType for ScanInputs {
    const KIND: &'static str = "(consts, carry, xs)";

    fn to_py(&self) -> PyValue {
        PyValue::Tuple(vec![nones(self.consts), nones(self.carry), nones(self.xs)])
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        let [consts, carry, xs] = part_sizes(value)?;
        Ok(ScanInputs { consts, carry, xs })
    }
}

impl PyType for ScanOutputs {
    const KIND: &'static str = "(carry, ys)";

    fn to_py(&self) -> PyValue {
        PyValue::Tuple(vec![nones(self.carry), nones(self.ys)])
    }

    /// Counts what is written; the number of results of the equation corrects `ys` afterwards.
    fn from_py(value: &PyValue) -> Result<Self, String> {
        let [carry, ys] = part_sizes(value).unwrap_or_default();
        Ok(ScanOutputs { carry, ys })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arg: PyValue) -> PyValue {
        PyValue::call(name, vec![arg], Vec::new())
    }

    #[test]
    fn leaves_that_were_filtered_out_do_not_count() {
        let kept = call("RightsOnly", call("Right", PyValue::None));
        let gone = call("RightsOnly", call("Left", PyValue::None));
        let inner_gone = call(
            "RightsOnly",
            call("RightsOnly", call("Right", call("Left", PyValue::None))),
        );
        let inner_kept = call(
            "RightsOnly",
            call("RightsOnly", call("Right", call("Right", PyValue::None))),
        );
        let carry = PyValue::Tuple(vec![kept, gone, inner_gone, inner_kept]);
        let tree = PyValue::Tuple(vec![nones(1), carry, nones(0)]);
        let want = ScanInputs {
            consts: 1,
            carry: 2,
            xs: 0,
        };
        assert_eq!(ScanInputs::from_py(&tree), Ok(want));
    }
}
