//! The named axes that are in scope: mapped by a surrounding `vmap` or `pmap`, or given to `make_jaxpr`.

use std::cell::RefCell;

use jaxide_core::prims::Name;

/// Named axes with their sizes, innermost last.
pub(crate) type AxisEnv = Vec<(Name, usize)>;

thread_local! {
    static AXES: RefCell<AxisEnv> = const { RefCell::new(Vec::new()) };
}

/// Gives the thread its axes back when dropped, by a panic too.
struct Restore(AxisEnv);

impl Drop for Restore {
    fn drop(&mut self) {
        AXES.set(std::mem::take(&mut self.0));
    }
}

/// Runs `f` where these axes are in scope beside those that are already.
pub(crate) fn with_axes<T>(axes: &[(Name, usize)], f: impl FnOnce() -> T) -> T {
    let _restore = Restore(axes_in_scope());
    AXES.with_borrow_mut(|all| all.extend_from_slice(axes));
    f()
}

/// Runs `f` where these axes are in scope and no others: for a closure that is called after its surroundings are gone.
pub(crate) fn within_axes<T>(axes: &[(Name, usize)], f: impl FnOnce() -> T) -> T {
    let _restore = Restore(AXES.replace(axes.to_vec()));
    f()
}

/// The axes in scope.
pub(crate) fn axes_in_scope() -> AxisEnv {
    AXES.with_borrow(Clone::clone)
}

/// Whether these are the axes in scope.
pub(crate) fn are_in_scope(axes: &[(Name, usize)]) -> bool {
    AXES.with_borrow(|all| all.as_slice() == axes)
}

/// The size of the innermost axis of a name.
pub(crate) fn named_axis_size(name: &str) -> Option<usize> {
    AXES.with_borrow(|axes| {
        let own = axes.iter().rev().find(|(own, _)| &*own.0 == name);
        own.map(|(_, size)| *size)
    })
}
