//! Results that are not numbers as mistakes.

use std::cell::Cell;

use jaxide_core::{ClosedJaxpr, Error, ErrorKind, Result, Scalar, Tensor, eval};

use super::cancel::check_scope;

thread_local! {
    static CHECKING: Cell<bool> = const { Cell::new(false) };
}

/// Gives the thread its choice back when dropped, by a panic too.
struct Restore(bool);

impl Drop for Restore {
    fn drop(&mut self) {
        CHECKING.set(self.0);
    }
}

/// Calls `f`, in which a result that is not a number is a mistake that names the operation and its line.
///
/// Every operation that this thread runs outside `jit` is looked at. Of a jitted function, and of a derivative, which runs
/// as one program, the results are looked at; where one is not a number, the program runs again equation by equation to
/// find the one that made it, in loops and branches too.
///
/// ```
/// use jaxide::{Array, debug_nans, grad, jit};
/// let x = Array::from(-1.0f32);
/// let f = jit(|x: Array| x.log() * 2.0);
/// assert!(f(x.clone()).item::<f32>().is_nan());
/// let error = debug_nans(|| f.try_call((x,))).unwrap_err();
/// assert_eq!(error.operation(), Some("log"));
///
/// let slope = grad(|x: Array| (&x * 0.0).sqrt());
/// let error = debug_nans(|| slope.try_call((Array::from(1.0f32),))).unwrap_err();
/// assert_eq!(error.operation(), Some("mul"));
/// ```
pub fn debug_nans<T>(f: impl FnOnce() -> T) -> T {
    let _restore = Restore(CHECKING.replace(true));
    f()
}

/// Refuses results that are not numbers where [`debug_nans`] asks for it.
pub(super) fn check_results(results: &[Tensor]) -> Result<()> {
    if !CHECKING.get() {
        return Ok(());
    }
    results.iter().try_for_each(check)
}

/// The same of the results of a program, with the name and the place of the equation that made them.
pub(super) fn check_program(
    jaxpr: &ClosedJaxpr,
    args: impl FnOnce() -> Vec<Tensor>,
    results: &[Tensor],
) -> Result<()> {
    let Err(error) = check_results(results) else {
        return Ok(());
    };
    eval::eval_checked(jaxpr, &args(), check)?;
    Err(error.note("no equation gives one when they run one after the other"))
}

/// Whether [`debug_nans`] asks for checks.
pub(super) fn checking() -> bool {
    CHECKING.get()
}

fn check(tensor: &Tensor) -> Result<()> {
    check_scope()?;
    if !tensor.dtype().is_inexact() {
        return Ok(());
    }
    let is_nan = |index: &usize| match tensor.scalar_at(*index) {
        Some(Scalar::Float(x)) => x.is_nan(),
        Some(Scalar::Complex(re, im)) => re.is_nan() || im.is_nan(),
        Some(Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_)) | None => false,
    };
    let count = (0..tensor.len()).filter(is_nan).count();
    if count == 0 {
        return Ok(());
    }
    let message = if tensor.shape().is_empty() {
        format!("the result {} is not a number", tensor.aval())
    } else {
        format!(
            "of the result {}, {count} of {} elements are not numbers",
            tensor.aval(),
            tensor.len()
        )
    };
    Err(Error::new(ErrorKind::NotANumber, message))
}
