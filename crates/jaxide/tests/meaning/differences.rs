//! Where this crate means something else than JAX, on purpose.

use super::case::{Case, Number, Want};

/// Why a case is not to be compared; `None` for almost all.
pub(crate) fn reason(case: &Case) -> Option<&'static str> {
    let arrays = case.arrays();
    let beyond = |number: Number| matches!(number, Number::Int(n) if i32::try_from(n).is_err());
    let all_inexact = arrays.iter().all(|x| x.dtype().is_inexact());
    if case.want == Want::Refused && case.numbers().any(beyond) && all_inexact {
        return Some("a number of more than 32 bits is a float beside floats, and refused by JAX");
    }
    let complex = arrays.iter().any(|x| x.dtype().is_complex());
    if matches!(case.function.as_str(), "all" | "any") && complex {
        return Some("JAX takes the truth of the real part only");
    }
    None
}
