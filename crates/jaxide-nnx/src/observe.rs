//! Calls of modules, seen while they are made.

use std::any::type_name;
use std::cell::RefCell;
use std::collections::HashMap;

use jaxide::tree::{self, LeafRef, Pytree};
use jaxide::{Array, named_scope};

use crate::graph::Flatten;
use crate::{Attribute, Path};

/// Where a module stands in memory, and its type: a struct and its first attribute have one place.
pub(crate) type Place = (usize, &'static str);

pub(crate) fn place<T: ?Sized>(value: &T) -> Place {
    ((&raw const *value).addr(), type_name::<T>())
}

/// A call of a module.
#[derive(Debug)]
pub(crate) struct Observed {
    pub(crate) path: Path,
    pub(crate) method: &'static str,
    pub(crate) inputs: Vec<Array>,
    pub(crate) outputs: Vec<Array>,
}

struct Observer {
    paths: HashMap<Place, Path>,
    calls: Vec<Observed>,
}

thread_local! {
    static OBSERVER: RefCell<Option<Observer>> = const { RefCell::new(None) };
}

/// Gives the thread its observer back when dropped, by a panic too.
struct Restore(Option<Observer>);

impl Drop for Restore {
    fn drop(&mut self) {
        OBSERVER.replace(self.0.take());
    }
}

/// What `f` gives, and the calls of the parts of `module` that are observed, in the order in which they begin.
pub(crate) fn observe<M: Attribute, Out>(
    module: &M,
    f: impl FnOnce() -> Out,
) -> (Out, Vec<Observed>) {
    let observer = Observer {
        paths: Flatten::places(module),
        calls: Vec::new(),
    };
    let _restore = Restore(OBSERVER.replace(Some(observer)));
    let out = f();
    let calls = OBSERVER
        .take()
        .map_or_else(Vec::new, |observer| observer.calls);
    (out, calls)
}

/// What scopes of a call are named.
pub(crate) fn scope(call: usize) -> String {
    format!("call#{call}")
}

/// A call that is being made.
#[derive(Debug)]
pub struct Call(usize);

/// Begins a call of a module, if somebody looks at it.
#[doc(hidden)]
pub fn begin<M>(module: &M, method: &'static str) -> Option<Call> {
    OBSERVER.with_borrow_mut(|observer| {
        let observer = observer.as_mut()?;
        let path = observer.paths.get(&place(module))?.clone();
        observer.calls.push(Observed {
            path,
            method,
            inputs: Vec::new(),
            outputs: Vec::new(),
        });
        Some(Call(observer.calls.len() - 1))
    })
}

impl Call {
    /// Makes the call.
    pub fn inside<T>(&self, f: impl FnOnce() -> T) -> T {
        named_scope(&scope(self.0), f)
    }

    fn note(&self, f: impl FnOnce(&mut Observed)) {
        OBSERVER.with_borrow_mut(|observer| {
            if let Some(call) = observer
                .as_mut()
                .and_then(|observer| observer.calls.get_mut(self.0))
            {
                f(call);
            }
        });
    }
}

/// An argument or result of a call, which is noted if it is a tree of arrays.
#[doc(hidden)]
#[derive(Debug)]
pub struct See<'a, T: ?Sized>(pub &'a T);

/// Trees of arrays.
#[doc(hidden)]
pub trait Seen {
    fn input(&self, call: &Call);
    fn output(&self, call: &Call);
}

/// Everything else.
#[doc(hidden)]
pub trait NotSeen {
    fn input(&self, call: &Call);
    fn output(&self, call: &Call);
}

fn arrays<T: Pytree<Array>>(value: &T) -> Vec<Array> {
    let leaves = tree::leaf_refs::<Array, T>(value).into_iter();
    leaves
        .map(|leaf| match leaf {
            LeafRef::Borrowed(array) => array.clone(),
            LeafRef::Made(array) => array,
        })
        .collect()
}

impl<T: Pytree<Array>> Seen for See<'_, T> {
    fn input(&self, call: &Call) {
        call.note(|observed| observed.inputs.extend(arrays(self.0)));
    }

    fn output(&self, call: &Call) {
        call.note(|observed| observed.outputs.extend(arrays(self.0)));
    }
}

impl<T: ?Sized> NotSeen for &See<'_, T> {
    fn input(&self, _: &Call) {}

    fn output(&self, _: &Call) {}
}
