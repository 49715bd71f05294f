//! What calls have in common: the rules of `eval_jaxpr` and `closed_call`, and pieces of those of `jit`.

use super::super::*;
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::{Atom, Aval, Builder, ClosedJaxpr, Eqn};
use crate::marks::{keep, not};
use crate::transform::dce_jaxpr;
use crate::transform::rearrange::prune_results;
use crate::transform::{
    Memo, OutDim, Saving, SavingRequest, SavingResult, Split, batch, bind_constants, jvp,
    linearize, partial_eval, partial_eval_saving, transpose,
};

/// A primitive that calls one jaxpr on its operands.
pub(super) trait Call: Clone + Into<Prim> {
    /// What is called.
    fn callee(&self) -> &ClosedJaxpr;

    /// A call of something else.
    fn with_callee(&self, callee: ClosedJaxpr) -> Self;
}

/// Types of the callee's results, after a check of the operands.
pub(super) fn check_call(callee: &ClosedJaxpr, operands: &[Aval]) -> Result<Avals> {
    check_arguments("the function", callee, operands)?;
    Ok(callee.out_avals().into())
}

/// Checks that `callee` takes operands of these types.
pub(super) fn check_arguments(what: &str, callee: &ClosedJaxpr, operands: &[Aval]) -> Result<()> {
    let want = callee.in_avals();
    if want.len() != operands.len() {
        return Err(Error::new(
            ErrorKind::Arity,
            format!(
                "{what} takes {} arguments, and {} are given",
                want.len(),
                operands.len()
            ),
        ));
    }
    for (index, (want, got)) in want.iter().zip(operands).enumerate() {
        if !want.matches(got) {
            return Err(Error::shape(format!(
                "argument {index} of {what} is {want}, and {got} is given"
            )));
        }
    }
    Ok(())
}

/// Refuses a parameter that counts more operands than there are.
pub(super) fn check_count(name: &str, count: usize, operands: &[Aval]) -> Result<()> {
    if count > operands.len() {
        return Err(Error::parameter(format!(
            "{name} is {count}, and there are {} operands",
            operands.len()
        )));
    }
    Ok(())
}

/// Writes a call.
pub(super) fn bind(
    b: &Builder,
    call: impl Into<Prim>,
    callee: &ClosedJaxpr,
    operands: &[Atom],
) -> Vec<Atom> {
    b.push(call.into(), operands, &callee.out_avals())
        .into_vec()
}

/// Primals, then the tangents that are not zero.
pub(super) fn with_tangents(primals: &[Atom], tangents: &[Option<Atom>]) -> Vec<Atom> {
    primals
        .iter()
        .copied()
        .chain(tangents.iter().flatten().copied())
        .collect()
}

/// Which tangents are not zero.
pub(super) fn nonzeros(tangents: &[Option<Atom>]) -> Vec<bool> {
    tangents.iter().map(Option::is_some).collect()
}

/// Results followed by non-zero tangents, taken apart.
pub(super) fn split_results(results: &[Atom], nonzero: &[bool]) -> JvpResult {
    let (primals, tangents) = results.split_at(nonzero.len());
    JvpResult {
        primals: primals.iter().copied().collect(),
        tangents: spread(tangents, nonzero),
    }
}

/// One entry per flag: the next of `values` where it is set.
pub(super) fn spread<C: FromIterator<Option<Atom>>>(values: &[Atom], flags: &[bool]) -> C {
    let mut values = values.iter().copied();
    flags
        .iter()
        .map(|&flag| if flag { values.next() } else { None })
        .collect()
}

pub(super) fn call_jvp(
    call: &impl Call,
    b: &Builder,
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<JvpResult> {
    let callee = call.callee();
    let out = jvp(
        b,
        callee,
        &nonzeros(tangents),
        &vec![false; callee.jaxpr.outvars.len()],
    )?;
    let operands = with_tangents(primals, tangents);
    let results = bind(
        b,
        call.with_callee(out.jaxpr.clone()),
        &out.jaxpr,
        &operands,
    );
    Ok(split_results(&results, &out.nonzero))
}

pub(super) fn call_batch(
    call: &impl Call,
    b: &Builder,
    operands: &[Batched],
    axis: &BatchAxis,
) -> Result<BatchedResults> {
    let callee = call.callee();
    let dims: Vec<Option<usize>> = operands.iter().map(|operand| operand.dim).collect();
    let out = batch(
        b,
        callee,
        axis,
        &dims,
        &vec![OutDim::AsIs; callee.jaxpr.outvars.len()],
    )?;
    let values: Vec<Atom> = operands.iter().map(|operand| operand.value).collect();
    let results = bind(b, call.with_callee(out.jaxpr.clone()), &out.jaxpr, &values);
    Ok(batched(results, &out.dims))
}

/// Results with their mapped axes.
pub(super) fn batched(results: Vec<Atom>, dims: &[Option<usize>]) -> BatchedResults {
    results
        .into_iter()
        .zip(dims)
        .map(|(value, &dim)| Batched { value, dim })
        .collect()
}

/// The linear half is called as `derived`.
pub(super) fn call_linearize<C: Call>(
    call: &C,
    derived: &C,
    split: &Split<'_>,
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<JvpResult> {
    let callee = call.callee();
    let count = callee.jaxpr.outvars.len();
    let forward = vec![true; primals.len()];
    let lin = linearize(
        split.known,
        callee,
        &nonzeros(tangents),
        &vec![false; count],
        &forward,
    )?;
    let results = bind(
        split.known,
        call.with_callee(lin.primal.clone()),
        &lin.primal,
        primals,
    );
    let (results, residuals) = results.split_at(count);
    let residuals = restore_residuals(split.known, callee, &lin.forwarded, primals, residuals);
    let tangents = linear_call(
        split,
        derived.with_callee(lin.linear.clone()),
        &lin.linear,
        &residuals,
        tangents,
    );
    Ok(JvpResult {
        primals: results.iter().copied().collect(),
        tangents: spread(&tangents, &lin.nonzero),
    })
}

/// All residuals, from those computed and those that are constants or arguments of the callee.
pub(super) fn restore_residuals(
    b: &Builder,
    callee: &ClosedJaxpr,
    forwarded: &[Option<usize>],
    arguments: &[Atom],
    computed: &[Atom],
) -> Vec<Atom> {
    let count = callee.jaxpr.constvars.len();
    let uses_constants = forwarded.iter().flatten().any(|&index| index < count);
    let constants = if uses_constants {
        bind_constants(b, callee)
    } else {
        Vec::new()
    };
    let mut computed = computed.iter();
    forwarded
        .iter()
        .filter_map(|from| match *from {
            None => computed.next().copied(),
            Some(index) if index < count => constants.get(index).copied(),
            Some(index) => arguments.get(index - count).copied(),
        })
        .collect()
}

/// Writes the linear half of a call: residuals, then non-zero tangents.
pub(super) fn linear_call(
    split: &Split<'_>,
    call: impl Into<Prim>,
    callee: &ClosedJaxpr,
    residuals: &[Atom],
    tangents: &[Option<Atom>],
) -> Vec<Atom> {
    let residuals = residuals.iter().map(|&atom| split.residual(atom));
    let operands: Vec<Atom> = residuals
        .chain(tangents.iter().flatten().copied())
        .collect();
    bind(&split.unknown, call, callee, &operands)
}

pub(super) fn call_partial_eval(
    call: &impl Call,
    split: &Split<'_>,
    operands: &[Partial],
) -> Result<Partials> {
    let callee = call.callee();
    let unknown: Vec<bool> = operands
        .iter()
        .map(|operand| operand.is_unknown())
        .collect();
    let count = callee.jaxpr.outvars.len();
    let forward = vec![true; operands.len()];
    let parts = partial_eval(split.known, callee, &unknown, &vec![false; count], &forward)?;
    let (known_operands, unknown_operands) = separate(operands);
    let results = bind(
        split.known,
        call.with_callee(parts.known.clone()),
        &parts.known,
        &known_operands,
    );
    let known_count = parts
        .unknown_results
        .iter()
        .filter(|unknown| !**unknown)
        .count();
    let (known_results, residuals) = results.split_at(known_count);
    let residuals = restore_residuals(
        split.known,
        callee,
        &parts.forwarded,
        &known_operands,
        residuals,
    );
    let mut operands: Vec<Atom> = residuals.iter().map(|&atom| split.residual(atom)).collect();
    operands.extend(&unknown_operands);
    let unknown_results = bind(
        &split.unknown,
        call.with_callee(parts.unknown.clone()),
        &parts.unknown,
        &operands,
    );
    Ok(merge(
        &parts.unknown_results,
        known_results,
        &unknown_results,
    ))
}

/// Known and unknown values, each in order.
pub(super) fn separate(values: &[Partial]) -> (Vec<Atom>, Vec<Atom>) {
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for value in values {
        match value {
            Partial::Known(atom) => known.push(*atom),
            Partial::Unknown(atom) => unknown.push(*atom),
        }
    }
    (known, unknown)
}

/// Known and unknown values put together again.
pub(super) fn merge(flags: &[bool], known: &[Atom], unknown: &[Atom]) -> Partials {
    let (mut known, mut unknown) = (known.iter().copied(), unknown.iter().copied());
    flags
        .iter()
        .filter_map(|&flag| {
            if flag {
                unknown.next().map(Partial::Unknown)
            } else {
                known.next().map(Partial::Known)
            }
        })
        .collect()
}

pub(super) fn call_transpose(
    call: &impl Call,
    b: &Builder,
    cotangents: &[Option<Atom>],
    operands: &[TransposeArg],
) -> Result<Cotangents> {
    let linear: Vec<bool> = operands.iter().map(TransposeArg::is_linear).collect();
    let none = vec![false; operands.len()];
    let out = transpose(b, call.callee(), &linear, &nonzeros(cotangents), &none)?;
    let known: Vec<Atom> = operands.iter().filter_map(TransposeArg::known).collect();
    let operands = with_tangents(&known, cotangents);
    let results = bind(
        b,
        call.with_callee(out.jaxpr.clone()),
        &out.jaxpr,
        &operands,
    );
    Ok(spread(&results, &out.nonzero))
}

pub(super) fn call_dce(call: &impl Call, memo: &Memo, used: &[bool]) -> Result<Option<Trimmed>> {
    let callee = call.callee();
    let unused = vec![false; callee.jaxpr.invars.len()];
    let out = dce_jaxpr(memo, callee, used, &unused)?;
    let same = out.jaxpr.same(callee) && !out.inputs.contains(&false) && !used.contains(&false);
    Ok((!same).then(|| Trimmed {
        prim: call.with_callee(out.jaxpr).into(),
        inputs: out.inputs,
        outputs: used.to_vec(),
    }))
}

/// Splits a call under a policy: both sides call their part. Residuals that are arguments or results of the known
/// side are not results again.
pub(super) fn call_saving(call: &impl Call, saving: &mut Saving<'_>) -> Result<SavingResult> {
    let callee = call.callee();
    let eqn = saving.eqn;
    let none = vec![false; callee.jaxpr.outvars.len()];
    let request = SavingRequest {
        unknown: saving.unknown,
        instantiated: saving.instantiated,
        ensure_unknown: &none,
        ensure_instantiated: &none,
        policy: saving.policy,
    };
    let parts = partial_eval_saving(saving.memo, callee, request)?;
    let count = parts.unknown.iter().filter(|unknown| !**unknown).count();
    let (results, residuals) = parts.known.jaxpr.outvars.split_at(count);
    let known_in = keep(&eqn.inputs, &not(saving.unknown));
    let known_out = keep(&eqn.outputs, &not(&parts.unknown));
    let inputs: Vec<Atom> = parts
        .known
        .jaxpr
        .invars
        .iter()
        .map(|&var| Atom::Var(var))
        .collect();
    let (mut kept, mut new, mut values) = (vec![true; count], Vec::new(), Vec::new());
    let avals = &parts.staged.in_avals()[..parts.residuals];
    for (residual, aval) in residuals.iter().zip(avals) {
        let input = inputs.iter().position(|input| input == residual);
        let result = results.iter().position(|result| result == residual);
        kept.push(input.is_none() && result.is_none());
        values.push(match (result, input) {
            (Some(result), _) => Atom::Var(known_out[result]),
            (None, Some(input)) => known_in[input],
            (None, None) => {
                let var = saving.jaxpr.new_var(aval.clone());
                new.push(var);
                Atom::Var(var)
            }
        });
    }
    let known_callee = prune_results(saving.memo, &parts.known, &kept)?;
    let known = Eqn {
        prim: call.with_callee(known_callee).into(),
        inputs: known_in.into(),
        outputs: known_out.into_iter().chain(new).collect(),
        source: eqn.source,
    };
    let given = keep(&eqn.inputs, saving.instantiated);
    let staged = Eqn {
        prim: call.with_callee(parts.staged).into(),
        inputs: values.iter().copied().chain(given).collect(),
        outputs: keep(&eqn.outputs, &parts.instantiated).into(),
        source: eqn.source,
    };
    let mut residuals = saving.missing_operands();
    residuals.extend(values.iter().filter_map(|atom| atom.var()));
    Ok(SavingResult {
        known: Some(known),
        staged: Some(staged),
        unknown: parts.unknown,
        instantiated: parts.instantiated,
        residuals,
    })
}

macro_rules! calls {
    ($($prim:ident;)*) => { $(
        impl Call for $prim {
            fn callee(&self) -> &ClosedJaxpr {
                &self.call_jaxpr
            }

            fn with_callee(&self, call_jaxpr: ClosedJaxpr) -> Self {
                let mut call = self.clone();
                call.call_jaxpr = call_jaxpr;
                call
            }
        }

        impl Primitive for $prim {
            fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
                check_call(&self.call_jaxpr, operands)
            }

            fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
                call_jvp(self, b, primals, tangents)
            }

            fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
                call_batch(self, b, operands, axis)
            }

            fn transpose(
                &self,
                b: &Builder,
                cotangents: &[Option<Atom>],
                operands: &[TransposeArg],
            ) -> Result<Cotangents> {
                call_transpose(self, b, cotangents, operands)
            }

            fn linearize(
                &self,
                split: &Split<'_>,
                primals: &[Atom],
                tangents: &[Option<Atom>],
            ) -> Result<Option<JvpResult>> {
                call_linearize(self, self, split, primals, tangents).map(Some)
            }

            fn partial_eval(
                &self,
                split: &Split<'_>,
                operands: &[Partial],
            ) -> Result<Option<Partials>> {
                call_partial_eval(self, split, operands).map(Some)
            }

            fn partial_eval_saving(&self, saving: &mut Saving<'_>) -> Result<Option<SavingResult>> {
                call_saving(self, saving).map(Some)
            }

            fn dce(&self, memo: &Memo, used: &[bool]) -> Result<Option<Trimmed>> {
                call_dce(self, memo, used)
            }
        }
    )* };
}
calls! { EvalJaxpr; ClosedCall; }
