//! The reference interpreter in place of native code.

use std::cell::Cell;

thread_local! {
    static INTERPRETING: Cell<bool> = const { Cell::new(false) };
}

/// Gives the thread its choice back when dropped, by a panic too.
struct Restore(bool);

impl Drop for Restore {
    fn drop(&mut self) {
        INTERPRETING.set(self.0);
    }
}

/// Calls `f`, and runs what this thread runs in it by the reference interpreter instead of native code: operations,
/// transformed functions and jitted ones. For checking; it is slow.
///
/// ```
/// use jaxide::{Array, jit, with_interpreter};
/// let f = jit(|x: Array| (&x * 2.0).sum());
/// let x = Array::from([1.0f32, 2.0]);
/// assert_eq!(f(x.clone()).item::<f32>(), with_interpreter(|| f(x)).item::<f32>());
/// ```
pub fn with_interpreter<T>(f: impl FnOnce() -> T) -> T {
    let _restore = Restore(INTERPRETING.replace(true));
    f()
}

/// Whether this thread is inside [`with_interpreter`].
pub(super) fn interpreting() -> bool {
    INTERPRETING.get()
}
