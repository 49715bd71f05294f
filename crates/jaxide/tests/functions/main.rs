//! The functions of the library beside JAX's: every recorded case gives JAX's numbers, eagerly, interpreted and compiled, under
//! `grad` and `vmap`, and its jaxpr is written as JAX writes it.
//!
//! `record/record.py` recorded the cases from JAX, area by area. An area tells how its functions are called here, and which of them are
//! written differently, each with the reason.

mod areas;
mod arguments;
mod case;
mod compare;
mod mistakes;
mod names;
#[rustfmt::skip]
mod paths;
mod texts;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use jaxide::prelude::*;
use jaxide::{Tensor, make_jaxpr_of};

use case::{Case, Mode, generated};
use compare::Tolerance;

/// Accepted cases are compiled together, this many in one program.
const TOGETHER: usize = 32;

/// Functions that belong together.
pub(crate) struct Area {
    /// The recorded cases.
    pub(crate) cases: &'static str,
    /// The results of the function of a case for its operands; `None` when the area has no such function.
    pub(crate) call: fn(&Case, &[Array]) -> Option<Vec<Array>>,
    /// How exact a function is.
    pub(crate) tolerance: fn(&Case) -> Tolerance,
    /// Beginnings of cases, all of which have jaxprs that are not written as JAX writes them, and why.
    pub(crate) written_differently: &'static [(&'static str, &'static str)],
    /// Beginnings of cases that mean something else here on purpose, and why.
    pub(crate) different: &'static [(&'static str, &'static str)],
    /// What the program of a file of the folder `texts` computes; `None` when it is not of this area.
    pub(crate) text: fn(&str, &[Array]) -> Option<Vec<Array>>,
}

fn starts<'a>(case: &Case, list: &'a [(&'a str, &'a str)]) -> Option<usize> {
    list.iter()
        .position(|(start, _)| case.text.starts_with(start))
}

/// Runs the cases of an area in every way.
fn check(area: &'static Area) {
    let cases: Vec<Case> = area.cases.lines().map(Case::parse).collect();
    assert!(!cases.is_empty());
    let mut failures: Vec<String> = Vec::new();
    let mut runnable: Vec<Arc<Case>> = Vec::new();
    for case in cases.into_iter().map(Arc::new) {
        if starts(&case, area.different).is_some() {
            continue;
        }
        let tolerance = (area.tolerance)(&case);
        let mut compare = |way: &str, got: &[Array]| {
            let difference = compare::difference(&case, got, tolerance);
            failures.extend(difference.map(|text| format!("{}, {way}: {text}", case.text)));
        };
        let eager = caught(|| run(area, &case, case.arrays()));
        if case.want.is_none() {
            if eager.is_ok() {
                compare("eager", &[]);
            }
            continue;
        }
        match eager {
            Ok(got) => {
                compare("eager", &got);
                let interpreted = jaxide::with_interpreter(|| run(area, &case, case.arrays()));
                compare("interpreted", &interpreted);
                if case.traceable() {
                    runnable.push(case);
                }
            }
            Err(message) => failures.push(format!("{}: panics: {message}", case.text)),
        }
    }
    for cases in runnable.chunks(TOGETHER) {
        for (case, got) in cases.iter().zip(compiled(area, cases)) {
            let difference = compare::difference(case, &got, (area.tolerance)(case));
            failures.extend(difference.map(|text| format!("{}, jitted: {text}", case.text)));
        }
    }
    assert!(
        failures.is_empty(),
        "{} deviations:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

/// The results of a case whose arrays are given.
fn run(area: &'static Area, case: &Arc<Case>, arrays: Vec<Array>) -> Vec<Array> {
    let own = case.clone();
    let call = move |arrays: &[Array]| {
        let results = (area.call)(&own, &own.operands(arrays));
        results.unwrap_or_else(|| panic!("no function {}", own.function))
    };
    match case.mode {
        Mode::Plain => call(&arrays),
        Mode::Vmap => vmap(move |arrays: Vec<Array>| call(&arrays))(arrays),
        Mode::Grad => {
            let is_float = |array: &Array| array.dtype().is_float();
            let floats: Vec<Array> = arrays.iter().filter(|x| is_float(x)).cloned().collect();
            let f = |floats: Vec<Array>| -> Vec<Array> {
                let mut floats = floats.into_iter();
                let all = arrays.iter().map(|array| match is_float(array) {
                    true => floats.next().unwrap(),
                    false => array.clone(),
                });
                let results = call(&all.collect::<Vec<Array>>());
                results.into_iter().filter(|y| is_float(y)).collect()
            };
            let (results, pull) = vjp(f, floats);
            let cotangents = results.iter().map(|y| {
                let bytes = generated(y.dtype(), y.shape(), "", 9);
                Array::from(Tensor::from_bytes(y.shape(), y.dtype(), &bytes).unwrap())
            });
            let (cotangents,) = pull.apply(&cotangents.collect::<Vec<Array>>());
            cotangents
        }
    }
}

/// The results of many cases from one compiled program, whose arguments are the arrays of all.
fn compiled(area: &'static Area, cases: &[Arc<Case>]) -> Vec<Vec<Array>> {
    let arrays: Vec<Vec<Array>> = cases.iter().map(|case| case.arrays()).collect();
    let cases = cases.to_vec();
    let all = jit(move |arrays: Vec<Vec<Array>>| -> Vec<Vec<Array>> {
        let pairs = cases.iter().zip(arrays);
        pairs.map(|(case, own)| run(area, case, own)).collect()
    });
    all(arrays)
}

/// Checks that jaxprs are written as JAX writes them.
fn check_texts(area: &'static Area) {
    let (mut same, mut scalars, mut listed) = (0, 0, 0);
    let mut wrong = Vec::new();
    let mut used = vec![false; area.written_differently.len()];
    for case in area.cases.lines().map(Case::parse) {
        let Some(want) = case.jaxpr else { continue };
        if starts(&case, area.different).is_some() {
            continue;
        }
        let case = Arc::new(case);
        let own = case.clone();
        let f = move |arrays: Vec<Array>| run(area, &own, arrays);
        let got = caught(|| make_jaxpr_of(&f, (case.arrays(),)).map(|jaxpr| jaxpr.to_string()));
        let got = match got {
            Ok(Ok(text)) => text,
            Ok(Err(error)) => error.to_string(),
            Err(message) => message,
        };
        let matches = hash(&got) == want.hash;
        // The text of cases that begin so, or of all that differ.
        let shown = std::env::var("JAXIDE_SHOW").is_ok_and(|start| match start.as_str() {
            "different" => !matches,
            start => case.text.starts_with(start),
        });
        if shown {
            println!("{}\n{got}\n", case.text);
        }
        match starts(&case, area.written_differently) {
            Some(entry) if !matches => {
                used[entry] = true;
                listed += 1;
            }
            Some(_) => wrong.push(format!("{} is listed, and is the same", case.text)),
            None if !matches => wrong.push(case.text.clone()),
            _ if want.scalars => scalars += 1,
            _ => same += 1,
        }
    }
    println!(
        "of {} texts {same} are as JAX writes them, {scalars} but for `np.int64(1)` instead of `1`, {listed} are listed as different",
        same + scalars + listed + wrong.len()
    );
    assert!(
        wrong.is_empty(),
        "{} texts differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    for ((start, _), used) in area.written_differently.iter().zip(used) {
        assert!(used, "{start} is listed, and no case of it differs");
    }
}

/// FNV-1a of 64 bits.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

/// What `f` gives, or the first line of its panic.
pub(crate) fn caught<T>(f: impl FnOnce() -> T) -> std::result::Result<T, String> {
    let outcome = catch_unwind(AssertUnwindSafe(f));
    outcome.map_err(|payload| {
        let message = payload.downcast_ref::<String>();
        let line = message.and_then(|text| text.lines().next());
        line.unwrap_or("").to_owned()
    })
}

/// Two tests for each area.
macro_rules! areas {
    ($($name:ident)*) => {
        $(mod $name {
            #[test]
            fn numbers() {
                super::check(&super::areas::$name::AREA);
            }

            #[test]
            fn texts() {
                super::check_texts(&super::areas::$name::AREA);
            }
        })*

        /// All areas.
        const AREAS: &[&Area] = &[$(&areas::$name::AREA),*];
    };
}

areas! {
    arrays
    elementwise
    fft
    image
    indexing
    lax
    linalg
    nn
    reductions
    sampling
    scipy_linalg
    sequences
    shapes
    signals
    solvers
    special
    stats
    trees
}
