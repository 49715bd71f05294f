//! Laws of transformations, checked with the reference interpreter. Each function says what is broken, in words.

use jaxide_core::transform::{Step, apply};
use jaxide_core::{Atom, Aval, AvalKind, ClosedJaxpr, DType, Tensor, check, eval};

use crate::arrays::{Numbers, arguments, array, numbers};
use crate::compare::largest;

/// What is broken, in words.
pub type Outcome<T = ()> = Result<T, String>;

/// The step of differences, so that roundoff and curvature are both small.
const STEP: f64 = 1e-6;

/// The results of the interpreter.
///
/// # Errors
/// When it refuses.
pub fn run(jaxpr: &ClosedJaxpr, args: &[Tensor]) -> Outcome<Vec<Tensor>> {
    eval::eval(jaxpr, args).map_err(|error| format!("{error}\n{jaxpr}"))
}

/// The program after a transformation.
///
/// # Errors
/// When it cannot be transformed, or the result is illegal.
pub fn transformed(jaxpr: &ClosedJaxpr, step: &Step) -> Outcome<ClosedJaxpr> {
    let result = apply(jaxpr, step).map_err(|error| format!("{step:?}: {error}\n{jaxpr}"))?;
    legal(&result)?;
    Ok(result)
}

/// The checker's answer.
///
/// # Errors
/// When the jaxpr is illegal.
pub fn legal(jaxpr: &ClosedJaxpr) -> Outcome {
    check(jaxpr).map_err(|errors| format!("{}\n{jaxpr}", errors[0]))
}

/// Which values are real floats: they have tangents of their own type.
pub fn floats(avals: &[Aval]) -> Vec<usize> {
    (0..avals.len())
        .filter(|&index| avals[index].dtype.is_float())
        .collect()
}

/// Forward mode in all float arguments.
pub fn jvp(jaxpr: &ClosedJaxpr) -> Step {
    Step::Jvp {
        argnums: floats(&jaxpr.in_avals()),
        tangent_outs: floats(&jaxpr.out_avals()),
    }
}

/// Reverse mode from all float results.
pub fn vjp(jaxpr: &ClosedJaxpr) -> Step {
    Step::Vjp {
        argnums: floats(&jaxpr.in_avals()),
        cotangent_outs: floats(&jaxpr.out_avals()),
    }
}

/// Whether all numbers are finite and of moderate size.
pub fn tame(results: &[Tensor]) -> bool {
    results.iter().all(|result| {
        largest(result) < 1e4
            && (0..result.len()).all(|index| {
                let scalar = result.scalar_at(index);
                scalar.is_none_or(|scalar| scalar.as_complex().0.is_finite())
            })
    })
}

/// The program with every float that it computes as a result: where one is large, those behind it are worth little.
fn with_all_results(jaxpr: &ClosedJaxpr) -> ClosedJaxpr {
    let mut all = (*jaxpr.jaxpr).clone();
    let computed = (all.eqns.iter()).flat_map(|eqn| eqn.outputs.iter().copied());
    let floats = computed.filter(|&var| {
        let aval = all.aval_of(var);
        aval.kind == AvalKind::Array && aval.dtype.is_inexact()
    });
    let outvars: Vec<Atom> = floats.map(Atom::Var).collect();
    all.outvars.extend(outvars);
    ClosedJaxpr::new(all, jaxpr.consts.clone())
}

/// Arguments with which a program computes moderate numbers only, if the first that are tried do.
///
/// # Errors
/// When the interpreter refuses.
pub fn tame_arguments(jaxpr: &ClosedJaxpr, seed: u64) -> Outcome<Option<Vec<Tensor>>> {
    let args = arguments(jaxpr, Numbers::Tame, seed);
    let results = run(&with_all_results(jaxpr), &args)?;
    Ok(tame(&results).then_some(args))
}

/// Tangents or cotangents for some of these types.
fn directions(avals: &[Aval], which: &[usize], seed: u64) -> Vec<Tensor> {
    (which.iter().zip(0u64..))
        .map(|(&index, place)| array(&avals[index], Numbers::Tame, seed * 77 + place + 1))
        .collect()
}

/// The arguments moved along the tangents of those that have some.
fn moved(args: &[Tensor], argnums: &[usize], tangents: &[Tensor], step: f64) -> Vec<Tensor> {
    let mut args = args.to_vec();
    for (&argnum, tangent) in argnums.iter().zip(tangents) {
        let elements = (numbers(&args[argnum]).iter().zip(numbers(tangent)))
            .map(|(x, t)| x + step * t)
            .collect();
        let moved = Tensor::from_vec::<f64>(args[argnum].shape(), elements);
        args[argnum] = moved.expect("as many elements");
    }
    args
}

fn inner(a: &[Tensor], b: &[Tensor]) -> f64 {
    (a.iter().zip(b))
        .flat_map(|(a, b)| numbers(a).into_iter().zip(numbers(b)))
        .map(|(a, b)| a * b)
        .sum()
}

fn magnitude(arrays: &[Tensor]) -> f64 {
    inner(arrays, arrays).sqrt()
}

/// Whether the floats of arguments and results are `f64`, so that differences mean something.
pub fn is_double(jaxpr: &ClosedJaxpr) -> bool {
    let double = |avals: &[Aval]| {
        let floats = floats(avals);
        floats.iter().all(|&index| avals[index].dtype == DType::F64)
    };
    double(&jaxpr.in_avals()) && double(&jaxpr.out_avals())
}

/// `jvp` is the limit of differences, where they have one: away from kinks.
///
/// # Errors
/// When it is not.
///
/// # Panics
/// When a float argument or result is not `f64`.
pub fn derivative_is_a_limit(jaxpr: &ClosedJaxpr, seed: u64) -> Outcome {
    assert!(is_double(jaxpr), "differences need f64");
    let Some(args) = tame_arguments(jaxpr, seed)? else {
        return Ok(());
    };
    let (argnums, outs) = (floats(&jaxpr.in_avals()), floats(&jaxpr.out_avals()));
    let tangents = directions(&jaxpr.in_avals(), &argnums, seed);
    let all = [args.clone(), tangents.clone()].concat();
    let forward = transformed(jaxpr, &jvp(jaxpr))?;
    let pushed = run(&forward, &all)?.split_off(jaxpr.out_avals().len());
    let here = run(jaxpr, &args)?;
    let above = run(jaxpr, &moved(&args, &argnums, &tangents, STEP))?;
    let below = run(jaxpr, &moved(&args, &argnums, &tangents, -STEP))?;
    for (&out, pushed) in outs.iter().zip(&pushed) {
        let (values, pushed) = (numbers(&here[out]), numbers(pushed));
        let sides = numbers(&above[out]).into_iter().zip(numbers(&below[out]));
        for (index, (above, below)) in sides.enumerate() {
            let right = (above - values[index]) / STEP;
            let left = (values[index] - below) / STEP;
            let both = (above - below) / (2.0 * STEP);
            let smooth = (right - left).abs() <= 1e-3 * (1.0 + both.abs());
            let got = pushed[index];
            let near = (got - both).abs() <= 2e-3 * (1.0 + both.abs());
            if smooth && !near {
                return Err(format!(
                    "result {out}, element {index}: the tangent is {got}, and differences give {both}\n{jaxpr}\n{forward}"
                ));
            }
        }
    }
    Ok(())
}

/// Moving cotangents back keeps inner products: ⟨ct, J v⟩ = ⟨Jᵀ ct, v⟩.
///
/// # Errors
/// When it does not.
///
/// # Panics
/// When a float argument or result is not `f64`.
pub fn transposed_keeps_products(jaxpr: &ClosedJaxpr, seed: u64) -> Outcome {
    assert!(is_double(jaxpr), "products need f64");
    let Some(args) = tame_arguments(jaxpr, seed)? else {
        return Ok(());
    };
    let (argnums, outs) = (floats(&jaxpr.in_avals()), floats(&jaxpr.out_avals()));
    let tangents = directions(&jaxpr.in_avals(), &argnums, seed);
    let cotangents = directions(&jaxpr.out_avals(), &outs, seed + 13);
    let count = jaxpr.out_avals().len();
    let forward = transformed(jaxpr, &jvp(jaxpr))?;
    let pushed = run(&forward, &[args.clone(), tangents.clone()].concat())?.split_off(count);
    let backward = transformed(jaxpr, &vjp(jaxpr))?;
    let pulled = run(&backward, &[args, cotangents.clone()].concat())?.split_off(count);
    if !tame(&pushed) || !tame(&pulled) {
        return Ok(());
    }
    let (there, back) = (inner(&cotangents, &pushed), inner(&pulled, &tangents));
    let scale = 1.0
        + magnitude(&cotangents) * magnitude(&pushed)
        + magnitude(&pulled) * magnitude(&tangents);
    if (there - back).abs() > 1e-9 * scale {
        return Err(format!(
            "⟨ct, Jv⟩ is {there}, and ⟨Jᵀct, v⟩ is {back}\n{jaxpr}\n{forward}\n{backward}"
        ));
    }
    Ok(())
}
