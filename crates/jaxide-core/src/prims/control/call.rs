//! What calls have in common: their rules, written once for all primitives that call one jaxpr on their operands.

use super::super::*;
use super::halves::{Halves, separate, together, unknowns};
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::{Atom, Aval, Builder, ClosedJaxpr};
use crate::marks::{count, keep, not, present, spread};
use crate::transform::rearrange::prune_results;
use crate::transform::{
    BatchedJaxpr, Memo, OutDim, Saving, SavingResult, Split, batch, dce_jaxpr, jvp, linearize,
    partial_eval, transpose,
};

/// A primitive that calls one jaxpr on its operands.
pub(super) trait Call: Clone + Into<Prim> {
    /// Whether partial evaluation gives the unknown half its residuals behind its arguments.
    const RESIDUALS_LAST: bool = false;

    /// What is called.
    fn callee(&self) -> &ClosedJaxpr;

    /// A call of something else.
    fn with_callee(&self, callee: ClosedJaxpr) -> Self;

    /// The call that linear and transposed functions get.
    fn derived(&self) -> Self {
        self.clone()
    }

    /// Writes a call of `callee`.
    fn bind(&self, b: &Builder, callee: &ClosedJaxpr, operands: &[Atom]) -> Vec<Atom> {
        bind(b, self.with_callee(callee.clone()), callee, operands)
    }

    /// Writes a call of a known half: `count` results, then residuals.
    fn bind_known(
        &self,
        b: &Builder,
        callee: &ClosedJaxpr,
        _count: usize,
        operands: &[Atom],
    ) -> Result<Vec<Atom>> {
        Ok(self.bind(b, callee, operands))
    }
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

/// No mark for any result of `jaxpr`.
pub(super) fn no_results(jaxpr: &ClosedJaxpr) -> Vec<bool> {
    vec![false; jaxpr.jaxpr.outvars.len()]
}

/// The jaxpr with arguments that it ignores at `place`.
pub(super) fn with_unused_arguments(
    jaxpr: &ClosedJaxpr,
    place: usize,
    avals: &[Aval],
) -> ClosedJaxpr {
    let mut new = (*jaxpr.jaxpr).clone();
    for (offset, aval) in avals.iter().enumerate() {
        let var = new.new_var(aval.clone());
        new.invars.insert(place + offset, var);
    }
    ClosedJaxpr::new(new, jaxpr.consts.clone())
}

/// One call of the function and its derivative together.
pub(super) fn call_jvp(
    call: &impl Call,
    b: &Builder,
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<JvpResult> {
    let callee = call.callee();
    let out = jvp(b, callee, &present(tangents), &no_results(callee))?;
    let results = call.bind(b, &out.jaxpr, &with_tangents(primals, tangents));
    Ok(JvpResult::split(&results, &out.nonzero))
}

/// One call of the function over all lanes; each result is mapped where its equations leave it.
pub(super) fn call_batch(
    call: &impl Call,
    b: &Builder,
    operands: &[Batched],
    axis: &BatchAxis,
) -> Result<BatchedResults> {
    let out = batch_callee(call.callee(), b, operands, axis, OutDim::AsIs)?;
    let results = call.bind(b, &out.jaxpr, &Batched::values(operands));
    Ok(Batched::all(results, &out.dims))
}

/// The callee over all lanes, its results mapped as `out` says.
pub(super) fn batch_callee(
    callee: &ClosedJaxpr,
    b: &Builder,
    operands: &[Batched],
    axis: &BatchAxis,
    out: OutDim,
) -> Result<BatchedJaxpr> {
    let out = vec![out; callee.jaxpr.outvars.len()];
    batch(b, callee, axis, &Batched::dims(operands), &out)
}

/// Calls the known half as `call`, and the other behind it as its derivative; gives the known and the unknown results.
fn bind_halves<C: Call>(
    split: &Split<'_>,
    [call, derived]: [&C; 2],
    halves: &Halves,
    known_in: &[Atom],
    unknown_in: &[Atom],
) -> Result<(Vec<Atom>, Vec<Atom>)> {
    let b = split.known;
    let mut results = call.bind_known(b, &halves.known, halves.results, known_in)?;
    let computed = results.split_off(halves.results);
    let residuals = halves.residuals(b, call.callee(), known_in, &computed);
    let residuals: Vec<Atom> = residuals
        .into_iter()
        .map(|atom| split.residual(atom))
        .collect();
    let operands = if halves.residuals_last {
        [unknown_in, &residuals].concat()
    } else {
        [&residuals, unknown_in].concat()
    };
    let unknown = derived.bind(&split.unknown, &halves.unknown, &operands);
    Ok((results, unknown))
}

/// A call for results and residuals, and one of the linear half behind it.
pub(super) fn call_linearize(
    call: &impl Call,
    split: &Split<'_>,
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<JvpResult> {
    let callee = call.callee();
    let (nonzero, forward) = (present(tangents), vec![true; primals.len()]);
    let lin = linearize(split.known, callee, &nonzero, &no_results(callee), &forward)?;
    let nonzero = lin.nonzero.clone();
    let tangents = with_tangents(&[], tangents);
    let calls = [call, &call.derived()];
    let (results, tangents) = bind_halves(split, calls, &lin.into(), primals, &tangents)?;
    Ok(JvpResult::new(results, spread(tangents, &nonzero)))
}

/// A call for what is known and residuals, and one of the rest behind it.
pub(super) fn call_partial_eval<C: Call>(
    call: &C,
    split: &Split<'_>,
    operands: &[Partial],
) -> Result<Partials> {
    let callee = call.callee();
    let forward = vec![true; operands.len()];
    let none = no_results(callee);
    let parts = partial_eval(split.known, callee, &unknowns(operands), &none, &forward)?;
    let unknown = parts.unknown_results.clone();
    let mut halves = Halves::from(parts);
    if C::RESIDUALS_LAST {
        halves = halves.with_residuals_last(split.known.memo())?;
    }
    let (known_in, unknown_in) = separate(operands);
    let (known_out, unknown_out) =
        bind_halves(split, [call, call], &halves, &known_in, &unknown_in)?;
    Ok(together(&unknown, &known_out, &unknown_out))
}

/// One call of the transpose: known operands and cotangents to cotangents.
pub(super) fn call_transpose(
    call: &impl Call,
    b: &Builder,
    cotangents: &[Option<Atom>],
    operands: &[TransposeArg],
) -> Result<Cotangents> {
    let linear = TransposeArg::linears(operands);
    let none = vec![false; operands.len()];
    let out = transpose(b, call.callee(), &linear, &present(cotangents), &none)?;
    let operands = with_cotangents(operands, cotangents);
    let results = call.derived().bind(b, &out.jaxpr, &operands);
    Ok(spread(results, &out.nonzero))
}

/// The call of a function without the results that are not used and the arguments that only they need.
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

/// Splits a call under a policy: both sides call their half. Residuals that are arguments or results of the known
/// side are not results again.
pub(super) fn call_saving(call: &impl Call, saving: &mut Saving<'_>) -> Result<SavingResult> {
    let parts = saving.split_callee(call.callee())?;
    let known = &parts.known.jaxpr;
    let results = parts.unknown.len() - count(&parts.unknown);
    let (results, residuals) = known.outvars.split_at(results);
    let known_in = keep(&saving.eqn.inputs, &not(saving.unknown));
    let known_out = keep(&saving.eqn.outputs, &not(&parts.unknown));
    let (mut kept, mut new, mut values) = (vec![true; results.len()], Vec::new(), Vec::new());
    for (residual, aval) in residuals.iter().zip(parts.residual_avals()) {
        let input = known
            .invars
            .iter()
            .position(|&var| Atom::Var(var) == *residual);
        let result = results.iter().position(|result| result == residual);
        kept.push(input.is_none() && result.is_none());
        values.push(match (result, input) {
            (Some(result), _) => Atom::Var(known_out[result]),
            (None, Some(input)) => known_in[input],
            (None, None) => {
                let var = saving.jaxpr.new_var(aval);
                new.push(var);
                Atom::Var(var)
            }
        });
    }
    let known = prune_results(saving.memo, &parts.known, &kept)?;
    let known = call.with_callee(known).into();
    let staged = call.with_callee(parts.staged.clone()).into();
    Ok(saving.both_sides(parts, [known, staged], &new, values))
}

/// The rules of a call that are named.
macro_rules! call_rules {
    ($($rule:ident)*) => { $( call_rules! { @ $rule } )* };
    (@ abstract_eval) => {
        fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
            check_call(self.callee(), operands)
        }
    };
    (@ jvp) => {
        fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
            call_jvp(self, b, primals, tangents)
        }
    };
    (@ batch) => {
        fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
            call_batch(self, b, operands, axis)
        }
    };
    (@ transpose) => {
        fn transpose(
            &self,
            b: &Builder,
            cotangents: &[Option<Atom>],
            operands: &[TransposeArg],
        ) -> Result<Cotangents> {
            call_transpose(self, b, cotangents, operands)
        }
    };
    (@ linearize) => {
        fn linearize(
            &self,
            split: &Split<'_>,
            primals: &[Atom],
            tangents: &[Option<Atom>],
        ) -> Result<Option<JvpResult>> {
            call_linearize(self, split, primals, tangents).map(Some)
        }
    };
    (@ partial_eval) => {
        fn partial_eval(&self, split: &Split<'_>, operands: &[Partial]) -> Result<Option<Partials>> {
            call_partial_eval(self, split, operands).map(Some)
        }
    };
    (@ partial_eval_saving) => {
        fn partial_eval_saving(&self, saving: &mut Saving<'_>) -> Result<Option<SavingResult>> {
            call_saving(self, saving).map(Some)
        }
    };
    (@ dce) => {
        fn dce(&self, memo: &Memo, used: &[bool]) -> Result<Option<Trimmed>> {
            call_dce(self, memo, used)
        }
    };
}
pub(super) use call_rules;

/// Primitives that call the jaxpr in one of their fields.
macro_rules! calls {
    ($($prim:ident $field:ident;)*) => { $(
        impl Call for $prim {
            fn callee(&self) -> &ClosedJaxpr {
                &self.$field
            }

            fn with_callee(&self, callee: ClosedJaxpr) -> Self {
                let mut call = self.clone();
                call.$field = callee;
                call
            }
        }
    )* };
}
calls! { EvalJaxpr call_jaxpr; ClosedCall call_jaxpr; Composite call_jaxpr; Remat jaxpr; RematOpt fwd_jaxpr; }

impl Primitive for EvalJaxpr {
    call_rules! { abstract_eval jvp batch transpose linearize partial_eval partial_eval_saving dce }
}

impl Primitive for ClosedCall {
    call_rules! { abstract_eval jvp batch transpose linearize partial_eval partial_eval_saving dce }
}
