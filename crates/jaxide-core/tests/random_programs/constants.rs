//! Constants that belong to the bodies of loops, branches and calls: no transformation may tell them from the same
//! numbers made in the body.

use std::sync::Arc;

use jaxide_core::prims::{BroadcastInDim, Mul};
use jaxide_core::transform::Step;
use jaxide_core::{
    Atom, ClosedJaxpr, DType, Eqn, Jaxpr, Literal, Prim, Scalar, Source, Tensor, Var,
};
use jaxide_testing::compare::{Nearness, compare};
use jaxide_testing::laws::{Outcome, jvp, legal, run, tame_arguments, transformed, vjp};
use jaxide_testing::{Profile, Program, config, programs};
use proptest::prelude::*;

use super::{holds, jit};

/// Where the numbers come from.
#[derive(Clone, Copy, PartialEq)]
enum From {
    Constants,
    Equations,
}

/// The program with a number in every body of a loop, branch or call: a result is multiplied by it, or is it.
fn with_numbers(closed: &ClosedJaxpr, from: From, seed: u64) -> ClosedJaxpr {
    let mut jaxpr = (*closed.jaxpr).clone();
    let mut seed = seed;
    for eqn in &mut jaxpr.eqns {
        let has_bodies = matches!(
            eqn.prim,
            Prim::Jit(_) | Prim::Scan(_) | Prim::While(_) | Prim::Cond(_) | Prim::Remat(_)
        );
        if has_bodies {
            eqn.prim.visit_mut(&mut |body| {
                seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
                *body = with_number(&with_numbers(body, from, seed >> 7), from, seed >> 33);
            });
        }
    }
    ClosedJaxpr::new(jaxpr, closed.consts.clone())
}

fn with_number(body: &ClosedJaxpr, from: From, seed: u64) -> ClosedJaxpr {
    let mut jaxpr = (*body.jaxpr).clone();
    let mut consts = body.consts.clone();
    let fits = |atom: &Atom| {
        let aval = jaxpr.aval(*atom);
        aval.dtype == DType::F64 && !aval.weak_type
    };
    let places: Vec<usize> = (0..jaxpr.outvars.len())
        .filter(|&place| fits(&jaxpr.outvars[place]))
        .collect();
    let Some(&place) = places.get(seed as usize % places.len().max(1)) else {
        return body.clone();
    };
    let aval = jaxpr.aval(jaxpr.outvars[place]);
    let value = 0.5 + (seed % 7) as f64 / 8.0;
    let number: Var = jaxpr.new_var(aval.clone());
    let push = |jaxpr: &mut Jaxpr, prim: Prim, inputs: &[Atom], output: Var| {
        jaxpr.eqns.push(Eqn {
            prim,
            inputs: inputs.iter().copied().collect(),
            outputs: [output].into_iter().collect(),
            source: Source::Unknown,
        });
    };
    match from {
        From::Constants => {
            jaxpr.constvars.push(number);
            let numbers = vec![value; aval.shape.iter().product()];
            consts.push(Tensor::from_vec(&aval.shape, numbers).expect("as many"));
        }
        From::Equations => {
            let literal = Literal {
                value: Scalar::Float(value),
                dtype: DType::F64,
                weak_type: false,
            };
            let prim = BroadcastInDim {
                broadcast_dimensions: Vec::new().into(),
                shape: aval.shape.clone(),
            };
            push(&mut jaxpr, prim.into(), &[Atom::Lit(literal)], number);
        }
    }
    jaxpr.outvars[place] = if seed.is_multiple_of(3) {
        Atom::Var(number)
    } else {
        let product = jaxpr.new_var(aval);
        let old = jaxpr.outvars[place];
        let operands = [old, Atom::Var(number)];
        push(
            &mut jaxpr,
            Mul { out_dtype: None }.into(),
            &operands,
            product,
        );
        Atom::Var(product)
    };
    ClosedJaxpr {
        jaxpr: Arc::new(jaxpr),
        consts,
    }
}

/// The step that a transformation of this program is.
type Request = fn(&ClosedJaxpr) -> Step;

/// Transformations, one after the other.
fn chains() -> [Vec<Request>; 8] {
    let (forward, backward): (Request, Request) = (jvp, vjp);
    let checkpoint: Request = |_| Step::Checkpoint;
    let call: Request = |_| jit();
    let lanes: Request = |jaxpr| Step::Vmap {
        in_axes: vec![None; jaxpr.in_avals().len()],
        out_axes: 0,
        axis_size: 2,
        axis_name: None,
    };
    [
        vec![forward],
        vec![backward],
        vec![checkpoint, backward],
        vec![forward, checkpoint, backward],
        vec![call, forward],
        vec![call, checkpoint, backward],
        vec![backward, forward],
        vec![lanes, backward],
    ]
}

fn constants_are_numbers(program: &Program) -> Outcome {
    let seed = program.seed;
    let [constants, equations] =
        [From::Constants, From::Equations].map(|from| with_numbers(&program.jaxpr, from, seed));
    legal(&constants)?;
    for chain in chains() {
        let (mut one, mut other) = (constants.clone(), equations.clone());
        for step in chain {
            one = transformed(&one, &step(&one))?;
            other = transformed(&other, &step(&other))?;
            legal(&one)?;
        }
        let Some(args) = tame_arguments(&other, seed)? else {
            continue;
        };
        compare(
            &run(&one, &args)?,
            &run(&other, &args)?,
            Nearness::Relative(1e-9),
        )
        .map_err(|message| format!("{message}\n{one}\n{other}"))?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn constants_of_bodies_are_numbers(program in programs(Profile::Reversible(DType::F64), 8)) {
        holds(constants_are_numbers(&program))?;
    }
}
