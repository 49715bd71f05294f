//! `jit` that does nothing, to see what a program does.

use std::cell::Cell;

thread_local! {
    static DISABLED: Cell<bool> = const { Cell::new(false) };
}

/// Gives the thread its choice back when dropped, by a panic too.
struct Restore(bool);

impl Drop for Restore {
    fn drop(&mut self) {
        DISABLED.set(self.0);
    }
}

/// Calls `f`, in which `jit` calls its function as it is: operations run one by one, arrays have values that can be
/// printed and decided by, and of [`cond`](crate::cond()) and [`switch`](crate::switch) only the branch that is taken is
/// called. Loops are still recorded and run as one operation.
///
/// ```
/// use jaxide::{Array, disable_jit, jit};
/// let f = jit(|x: Array| if x.item::<f32>() > 0.0 { x } else { -x });
/// assert!(f.try_call((Array::from(-2.0f32),)).is_err());
/// assert_eq!(disable_jit(|| f(Array::from(-2.0f32))).item::<f32>(), 2.0);
/// ```
pub fn disable_jit<T>(f: impl FnOnce() -> T) -> T {
    let _restore = Restore(DISABLED.replace(true));
    f()
}

/// Whether this thread is inside [`disable_jit`].
pub(crate) fn jit_is_disabled() -> bool {
    DISABLED.get()
}
