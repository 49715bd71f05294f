//! What must hold of any bytes. Each function panics where it does not, with what is wrong.

use jaxide_core::jaxpr::notes;
use jaxide_core::jaxpr::parse::parse_bytes;
use jaxide_core::jaxpr::text_compare::normalise;
use jaxide_core::transform::{Step, apply};
use jaxide_core::{
    Aval, ClosedJaxpr, DType, Error, ErrorKind, check as check_jaxpr, cost, parse, simplify,
};

use crate::laws;
use crate::random::Random;

/// Any bytes are refused or read; what is read is printed, and read again as the same jaxpr.
///
/// # Panics
/// When it is not so.
pub fn text(bytes: &[u8]) {
    match parse_bytes(bytes) {
        Ok(jaxpr) => {
            let printed = jaxpr.to_string();
            let again = parse(&printed);
            assert!(
                again.as_ref() == Ok(&jaxpr),
                "read:\n{}\nprinted:\n{printed}\nread again: {:?}",
                String::from_utf8_lossy(bytes),
                again
                    .map(|again| again.to_string())
                    .map_err(|error| error.to_string())
            );
            // Legal or not, it is told without a panic.
            if let Err(errors) = check_jaxpr(&jaxpr) {
                assert!(errors.iter().all(|error| !error.message().is_empty()));
            }
        }
        Err(error) => {
            assert!(!error.diagnostics().is_empty());
            assert!(error.render(Some("damaged"), true).contains("error"));
        }
    }
    normalise(&String::from_utf8_lossy(bytes));
}

/// A legal program, if the bytes are one.
pub fn legal(bytes: &[u8]) -> Option<ClosedJaxpr> {
    parse_bytes(bytes)
        .ok()
        .filter(|jaxpr| check_jaxpr(jaxpr).is_ok())
}

/// What is legal can be described and made simpler, and has the same types then.
///
/// # Panics
/// When it is not so.
pub fn check(bytes: &[u8]) {
    let Some(jaxpr) = legal(bytes) else {
        return;
    };
    notes(&jaxpr);
    cost(&jaxpr.jaxpr);
    match simplify::simplify(&jaxpr) {
        Ok(simple) => {
            has_types(
                &jaxpr,
                &simple,
                &[jaxpr.in_avals(), jaxpr.out_avals()],
                "simplified",
            );
        }
        Err(error) => in_words(&jaxpr, "simplify", &error),
    }
}

/// What is legal can be transformed, or it is said why not; what comes out is legal, and has the types that it should.
///
/// # Panics
/// When it is not so.
pub fn transform(bytes: &[u8]) {
    let Some(jaxpr) = legal(bytes) else {
        return;
    };
    let seed = bytes.iter().fold(0u64, |sum, &byte| {
        sum.wrapping_mul(31).wrapping_add(byte.into())
    });
    let mut random = Random(seed);
    let mut jaxpr = jaxpr;
    for _ in 0..1 + random.below(2) {
        let (step, types) = step(&jaxpr, &mut random);
        match apply(&jaxpr, &step) {
            Ok(result) => {
                has_types(&jaxpr, &result, &types, &format!("{step:?}"));
                jaxpr = result;
            }
            Err(error) => return in_words(&jaxpr, &format!("{step:?}"), &error),
        }
    }
}

/// A step, with the types of arguments and results of what it gives, as far as they are known without doing it.
fn step(jaxpr: &ClosedJaxpr, random: &mut Random) -> (Step, Vec<Vec<Aval>>) {
    let (ins, outs) = (jaxpr.in_avals(), jaxpr.out_avals());
    let mut some = |avals: &[Aval]| -> Vec<usize> {
        let floats = laws::floats(avals).into_iter();
        floats.filter(|_| !random.one_in(4)).collect()
    };
    let (argnums, results) = (some(&ins), some(&outs));
    let with = |avals: &[Aval], more: &[Aval], which: &[usize]| -> Vec<Aval> {
        let tangents = which.iter().map(|&k| more[k].clone());
        avals.iter().cloned().chain(tangents).collect()
    };
    let forward = vec![with(&ins, &ins, &argnums), with(&outs, &outs, &results)];
    let reverse = vec![with(&ins, &outs, &results), with(&outs, &ins, &argnums)];
    match random.below(9) {
        0 | 1 => (
            Step::Jvp {
                argnums,
                tangent_outs: results,
            },
            forward,
        ),
        2 => (
            Step::Linearize {
                argnums,
                tangent_outs: results,
            },
            forward,
        ),
        3 | 4 => (
            Step::Vjp {
                argnums,
                cotangent_outs: results,
            },
            reverse,
        ),
        5 => (Step::Grad { argnums }, Vec::new()),
        6 => (Step::Jacfwd { argnums }, Vec::new()),
        _ => {
            let in_axes = (ins.iter())
                .map(|aval| match random.below(aval.shape.len() + 2) {
                    0 => None,
                    axis => Some(axis as i64 - 1),
                })
                .collect();
            let vmap = Step::Vmap {
                in_axes,
                out_axes: if random.one_in(2) { 0 } else { -1 },
                axis_size: random.below(4),
                axis_name: None,
            };
            (vmap, Vec::new())
        }
    }
}

/// A result is legal, and has these types if any are given: those of arguments, and of results.
fn has_types(before: &ClosedJaxpr, after: &ClosedJaxpr, types: &[Vec<Aval>], what: &str) {
    if let Err(errors) = check_jaxpr(after) {
        panic!("{what} is illegal: {}\n{before}\n{after}", errors[0]);
    }
    let of = |avals: &[Aval]| -> Vec<(DType, Vec<usize>)> {
        let each = avals.iter();
        each.map(|aval| (aval.dtype, aval.shape.to_vec())).collect()
    };
    if let [ins, outs] = types {
        let same = of(ins) == of(&after.in_avals()) && of(outs) == of(&after.out_avals());
        assert!(same, "{what} has other types\n{before}\n{after}");
    }
}

/// An error is the program's or the user's, not the compiler's.
///
/// # Panics
/// When it is the compiler's.
pub fn in_words(jaxpr: &ClosedJaxpr, what: &str, error: &Error) {
    let internal =
        error.kind() == ErrorKind::Internal || error.to_string().contains("internal error");
    assert!(!internal, "{what}: {error}\n{jaxpr}");
    assert!(
        !error.message().is_empty(),
        "{what}: nothing is said\n{jaxpr}"
    );
}
