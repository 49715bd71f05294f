//! NumPy's meaning, function by function: every public function of `numpy`, the numeric methods of arrays and the operators
//! give what `jax.numpy` gives, eagerly, interpreted and compiled, in every element type and corner.
//!
//! `meaning/record.py` recorded the cases from JAX. What this crate means differently on purpose is in `DIFFERENCES` of
//! `meaning/differences.rs`, each with its reason.

#[path = "meaning/case.rs"]
mod case;
#[path = "meaning/compare.rs"]
mod compare;
#[path = "meaning/coverage.rs"]
mod coverage;
#[path = "meaning/differences.rs"]
mod differences;
#[path = "meaning/functions.rs"]
mod functions;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::{Arc, Once};

use jaxide::prelude::*;

use case::{Case, Want};

/// Accepted cases are compiled together, this many in one program.
const TOGETHER: usize = 48;

/// Runs the cases of a file eagerly, interpreted and compiled.
fn check(text: &str) {
    let cases: Vec<Case> = text.lines().map(Case::parse).collect();
    assert!(!cases.is_empty());
    let (refused, accepted): (Vec<Case>, Vec<Case>) = cases
        .into_iter()
        .filter(|case| differences::reason(case).is_none())
        .partition(|case| case.want == Want::Refused);
    let mut failures: Vec<String> = Vec::new();
    for case in refused {
        failures.extend(not_refused(&Arc::new(case)));
    }
    let accepted: Vec<Arc<Case>> = accepted.into_iter().map(Arc::new).collect();
    let mut runnable = Vec::new();
    for case in accepted {
        match caught(|| functions::call(&case, &case.arrays())) {
            Ok(got) => {
                failures.extend(
                    compare::difference(&case, &got).map(|text| report(&case, "eager", &text)),
                );
                let method = functions::method(&case, &case.arrays());
                failures.extend(
                    method
                        .and_then(|got| compare::difference(&case, &got))
                        .map(|text| report(&case, "method", &text)),
                );
                let interpreted =
                    jaxide::with_interpreter(|| functions::call(&case, &case.arrays()));
                failures.extend(
                    compare::difference(&case, &interpreted)
                        .map(|text| report(&case, "interpreted", &text)),
                );
                runnable.push(case);
            }
            Err(message) => failures.push(report(&case, "eager", &format!("panics: {message}"))),
        }
    }
    for cases in runnable.chunks(TOGETHER) {
        for (case, got) in cases.iter().zip(compiled(cases)) {
            failures
                .extend(compare::difference(case, &got).map(|text| report(case, "jitted", &text)));
        }
    }
    assert!(
        failures.is_empty(),
        "{} deviations:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

fn report(case: &Case, how: &str, text: &str) -> String {
    format!("{}, {how}: {text}", case.text)
}

/// The results of many cases from one compiled program, whose arguments are the arrays of all.
fn compiled(cases: &[Arc<Case>]) -> Vec<Array> {
    let arrays: Vec<Array> = cases.iter().flat_map(|case| case.arrays()).collect();
    let cases = cases.to_vec();
    let all = jit(move |arrays: Vec<Array>| -> Vec<Array> {
        let mut arrays = arrays.into_iter();
        let call = |case: &Arc<Case>| {
            let own: Vec<Array> = arrays.by_ref().take(case.array_count()).collect();
            functions::call(case, &own)
        };
        cases.iter().map(call).collect()
    });
    all(arrays)
}

/// A case that must be refused: eagerly with a panic, traced with an error that has a kind.
fn not_refused(case: &Arc<Case>) -> Option<String> {
    if let Ok(got) = caught(|| functions::call(case, &case.arrays())) {
        return Some(report(case, "eager", &format!("gives {got:?}")));
    }
    let own = case.clone();
    let traced = jit(move |arrays: Vec<Array>| functions::call(&own, &arrays));
    match catch_unwind(AssertUnwindSafe(|| traced.try_call((case.arrays(),)))) {
        Ok(Err(_)) => None,
        Ok(Ok(got)) => Some(report(case, "jitted", &format!("gives {got:?}"))),
        Err(_) => Some(report(case, "jitted", "panics without an error")),
    }
}

thread_local! {
    /// Whether a panic on this thread is looked at, and need not be printed.
    static CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Leaves out the reports of panics that are caught: there are thousands.
fn quiet_while_catching() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let report = take_hook();
        set_hook(Box::new(move |panic| {
            if !CATCHING.get() {
                report(panic);
            }
        }));
    });
}

/// What `f` gives, or the first line of its panic.
fn caught(f: impl FnOnce() -> Array) -> std::result::Result<Array, String> {
    quiet_while_catching();
    CATCHING.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(f));
    CATCHING.set(false);
    outcome.map_err(|payload| {
        let message = payload.downcast_ref::<String>();
        message
            .and_then(|text| text.lines().next())
            .unwrap_or("")
            .to_owned()
    })
}

macro_rules! families {
    ($($name:ident $file:literal;)*) => { $(
        #[test]
        fn $name() {
            check(include_str!($file));
        }
    )* };
}

families! {
    functions_of_one_operand "meaning/unary.txt";
    functions_of_two_operands "meaning/binary.txt";
    element_types_of_results "meaning/promotion.txt";
    numbers_beside_arrays "meaning/numbers.txt";
    reductions_and_orders "meaning/reductions.txt";
    shapes_and_products "meaning/shapes.txt";
    indices "meaning/indexing.txt";
    random_samples "meaning/samples.txt";
}

/// The text of all cases.
const FILES: [&str; 8] = [
    include_str!("meaning/unary.txt"),
    include_str!("meaning/binary.txt"),
    include_str!("meaning/promotion.txt"),
    include_str!("meaning/numbers.txt"),
    include_str!("meaning/reductions.txt"),
    include_str!("meaning/shapes.txt"),
    include_str!("meaning/indexing.txt"),
    include_str!("meaning/samples.txt"),
];

#[test]
fn every_function_has_cases() {
    coverage::check(&FILES);
}
