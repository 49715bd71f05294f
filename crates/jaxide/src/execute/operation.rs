//! Single operations.

use jaxide_core::{Aval, Builder, Error, ErrorKind, Prim, Result, Tensor};
use jaxide_cpu::{CompileOptions, compile};
use smallvec::SmallVec;

use super::cache::{Entry, TABLE, describe_operation};
use super::cancel;
use super::interpreter::interpreting;
use super::key::{Key, OperationKey, Type, Types};
use super::nans::check_results;
use crate::array::Array;
use crate::trace::value_of;

/// Runs a primitive on arrays.
///
/// # Errors
/// When the operands do not fit the primitive, or memory runs out.
pub(crate) fn operation(prim: &Prim, operands: &[Array]) -> Result<SmallVec<[Array; 1]>> {
    let types: Types = operands
        .iter()
        .map(|operand| Type {
            dtype: operand.dtype(),
            weak: operand.weak_type(),
            shape: operand.shape().into(),
        })
        .collect();
    if is_view(prim) {
        let [aval] = results(prim, &types)?;
        let value = value_of(&operands[0])?.reshaped(&aval.shape)?;
        return Ok([Array::concrete(value, aval.weak_type)].into());
    }
    let entry = entry(prim, types)?;
    let values = operands
        .iter()
        .map(value_of)
        .collect::<Result<SmallVec<[Tensor; 4]>>>()?;
    let tensors = apply(prim, &entry, &values)?;
    let weak = entry.weak.iter();
    Ok(tensors
        .into_iter()
        .zip(weak)
        .map(|(tensor, &weak)| Array::concrete(tensor, weak))
        .collect())
}

/// Runs a primitive on values.
///
/// # Errors
/// As [`operation`].
pub(crate) fn equation(prim: &Prim, operands: &[Tensor]) -> Result<Vec<Tensor>> {
    let types: Types = operands
        .iter()
        .map(|operand| Type {
            dtype: operand.dtype(),
            weak: false,
            shape: operand.shape().into(),
        })
        .collect();
    if is_view(prim) {
        let [aval] = results(prim, &types)?;
        return Ok(vec![operands[0].reshaped(&aval.shape)?]);
    }
    let entry = entry(prim, types)?;
    apply(prim, &entry, operands)
}

/// Whether the result is the operand under another shape, for which there is nothing to run.
fn is_view(prim: &Prim) -> bool {
    match prim {
        Prim::Reshape(reshape) => reshape.dimensions.is_none(),
        _ => matches!(prim, Prim::Squeeze(_)),
    }
}

fn results<const N: usize>(prim: &Prim, types: &Types) -> Result<[Aval; N]> {
    let avals: SmallVec<[Aval; 3]> = types.iter().map(Type::aval).collect();
    let results = prim.rules().abstract_eval(&avals)?;
    let count = results.len();
    results
        .into_iter()
        .collect::<SmallVec<[Aval; N]>>()
        .into_inner()
        .map_err(|_| {
            Error::new(
                ErrorKind::Arity,
                format!("{count} results, and {N} are expected"),
            )
        })
}

/// The entry of the cache for a primitive and types of operands.
fn entry(prim: &Prim, types: Types) -> Result<std::sync::Arc<Entry>> {
    let key = OperationKey {
        prim,
        types: &types,
    };
    if let Some(entry) = TABLE.find(&key) {
        return Ok(entry);
    }
    let avals: SmallVec<[Aval; 3]> = types.iter().map(Type::aval).collect();
    let results = prim.rules().abstract_eval(&avals)?;
    let weak = results.iter().map(|aval| aval.weak_type).collect();
    let key = Key::Operation {
        prim: Box::new(prim.clone()),
        types,
    };
    Ok(TABLE.insert(key, Entry::new(weak)))
}

fn apply(prim: &Prim, entry: &Entry, values: &[Tensor]) -> Result<Vec<Tensor>> {
    let results = run(prim, entry, values)?;
    check_results(&results).map_err(|error| error.in_operation(prim.name()))?;
    Ok(results)
}

fn run(prim: &Prim, entry: &Entry, values: &[Tensor]) -> Result<Vec<Tensor>> {
    if interpreting() {
        return cancel::interpret_eqn(prim, values);
    }
    let what = || {
        let types = values.iter().map(|value| Type {
            dtype: value.dtype(),
            weak: false,
            shape: value.shape().into(),
        });
        describe_operation(prim, &types.collect())
    };
    let code = entry.code(what, || {
        let b = Builder::new();
        let operands: Vec<_> = values.iter().map(|value| b.input(value.aval())).collect();
        let results = b.emit(prim.clone(), &operands)?;
        compile(&b.finish(&results)?, &CompileOptions::default())
    });
    match code {
        Ok(executable) => cancel::run(executable, values),
        // It has no native form.
        Err(error) if error.kind() == ErrorKind::Unsupported => cancel::interpret_eqn(prim, values),
        Err(error) => Err(error.clone()),
    }
    .map_err(|error| error.in_operation(prim.name()))
}
