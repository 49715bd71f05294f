//! Remembers the sub-jaxprs a transformation has made, so that the same input gives the same object.
//!
//! The printer writes a sub-jaxpr that occurs twice *as the same object* only once. Transforming one sub-jaxpr twice
//! in the same way must therefore give one result, not two equal ones; it also keeps deep nestings from being
//! transformed exponentially often.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use smallvec::SmallVec;

use super::{ClosedJaxpr, Jaxpr};
use crate::error::{Error, ErrorKind, Result};

/// Results by what was done, to which jaxpr, with which arguments. Clones share their entries.
#[derive(Clone, Default)]
pub struct Memo {
    entries: Rc<RefCell<HashMap<Key, Entry>>>,
}

struct Entry {
    /// Keeps the address in the key from being used again.
    _jaxpr: Option<Arc<Jaxpr>>,
    value: Rc<dyn Any>,
}

/// Arguments of a transformation as numbers.
pub type MemoArgs = SmallVec<[i64; 12]>;

#[derive(PartialEq, Eq, Hash)]
struct Key {
    what: &'static str,
    jaxpr: usize,
    args: MemoArgs,
}

impl Memo {
    /// The result of doing `what` to `jaxpr` with `args`, made by `make` the first time.
    ///
    /// # Errors
    /// Those of `make`; they are not remembered.
    pub fn of_jaxpr<T: Clone + 'static>(
        &self,
        what: &'static str,
        jaxpr: &ClosedJaxpr,
        args: MemoArgs,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let key = Key {
            what,
            jaxpr: Arc::as_ptr(&jaxpr.jaxpr) as usize,
            args,
        };
        self.get(key, Some(jaxpr.jaxpr.clone()), make)
    }

    /// The jaxpr called `what` with `args` (shapes, dtypes), made by `make` the first time: a helper function that
    /// rules call by name.
    ///
    /// # Errors
    /// Those of `make`; they are not remembered.
    pub fn function(
        &self,
        what: &'static str,
        args: MemoArgs,
        make: impl FnOnce() -> Result<ClosedJaxpr>,
    ) -> Result<ClosedJaxpr> {
        let key = Key {
            what,
            jaxpr: 0,
            args,
        };
        self.get(key, None, make)
    }

    fn get<T: Clone + 'static>(
        &self,
        key: Key,
        jaxpr: Option<Arc<Jaxpr>>,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let known = self.entries.borrow().get(&key).map(|e| e.value.clone());
        if let Some(value) = known {
            return value
                .downcast_ref::<T>()
                .cloned()
                .ok_or_else(|| Error::new(ErrorKind::Internal, "a memo entry of another type"));
        }
        let value = make()?;
        let entry = Entry {
            _jaxpr: jaxpr,
            value: Rc::new(value.clone()),
        };
        self.entries.borrow_mut().insert(key, entry);
        Ok(value)
    }
}

/// Flags as memo arguments.
pub(crate) fn flags(args: &mut MemoArgs, flags: &[bool]) {
    args.push(flags.len() as i64);
    args.extend(flags.iter().map(|&flag| flag.into()));
}

/// Optional axes or indices as memo arguments.
pub(crate) fn options(args: &mut MemoArgs, options: &[Option<usize>]) {
    args.push(options.len() as i64);
    args.extend(
        options
            .iter()
            .map(|axis| axis.map_or(-1, |axis| axis as i64)),
    );
}
