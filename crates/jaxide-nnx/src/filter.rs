//! Filters: which part of a state.

use std::fmt;
use std::ops::RangeFull;
use std::sync::Arc;

use crate::state::{Entry, State};
use crate::{Key, Kind, KindRef, Path};

type Predicate = dyn Fn(&Path, &Entry) -> bool + Send + Sync;

/// Which entries of a state are meant: a kind of variables (`Param`), `..` for all, or what the functions of this type make.
///
/// ```
/// use jaxide_nnx::{Filter, Param, BatchStat};
/// let biases = Filter::all((Param, Filter::path_contains("bias")));
/// let rest = Filter::not(Filter::any((Param, BatchStat)));
/// ```
#[derive(Clone)]
pub enum Filter {
    /// Everything; as one of several filters it must be the last.
    Everything,
    /// Nothing.
    Nothing,
    /// Variables of a kind or of a special case of it.
    Kind(KindRef),
    /// What has a key in its path.
    PathContains(Key),
    /// What has one of these paths.
    PathIn(Vec<Path>),
    /// Variables whose metadata has this `tag`.
    WithTag(String),
    /// What the filter does not select.
    Not(Box<Filter>),
    /// What one of the filters selects.
    Any(Vec<Filter>),
    /// What all of the filters select.
    All(Vec<Filter>),
    /// What a function selects.
    Predicate(Arc<Predicate>),
}

impl Filter {
    /// What has a key in its path.
    pub fn path_contains(key: impl Into<Key>) -> Self {
        Filter::PathContains(key.into())
    }

    /// What has one of these paths.
    pub fn path_in<'a>(paths: impl IntoIterator<Item = &'a str>) -> Self {
        Filter::PathIn(paths.into_iter().map(Path::from).collect())
    }

    /// Variables that were made [`with`](crate::Variable::with) this `tag`, as those of a stream of [`Rngs`](crate::Rngs) are.
    pub fn with_tag(tag: impl Into<String>) -> Self {
        Filter::WithTag(tag.into())
    }

    /// What `filter` does not select.
    #[allow(clippy::should_implement_trait)]
    pub fn not(filter: impl Into<Filter>) -> Self {
        Filter::Not(Box::new(filter.into()))
    }

    /// What one of the filters selects.
    pub fn any(filters: impl Filters) -> Self {
        Filter::Any(filters.filters())
    }

    /// What all of the filters select.
    pub fn all(filters: impl Filters) -> Self {
        Filter::All(filters.filters())
    }

    /// What `predicate` says yes to.
    pub fn predicate(predicate: impl Fn(&Path, &Entry) -> bool + Send + Sync + 'static) -> Self {
        Filter::Predicate(Arc::new(predicate))
    }

    /// Whether the entry at `path` is selected.
    pub fn selects(&self, path: &Path, entry: &Entry) -> bool {
        match self {
            Filter::Everything => true,
            Filter::Nothing => false,
            Filter::Kind(kind) => entry.kind().is_some_and(|own| own.is(*kind)),
            Filter::PathContains(key) => path.contains(key),
            Filter::PathIn(paths) => paths.contains(path),
            Filter::WithTag(tag) => entry.tag() == Some(tag),
            Filter::Not(filter) => !filter.selects(path, entry),
            Filter::Any(filters) => filters.iter().any(|filter| filter.selects(path, entry)),
            Filter::All(filters) => filters.iter().all(|filter| filter.selects(path, entry)),
            Filter::Predicate(predicate) => predicate(path, entry),
        }
    }
}

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, name: &str, filters: &[Filter]| {
            let mut tuple = f.debug_tuple(name);
            filters.iter().for_each(|filter| {
                tuple.field(filter);
            });
            tuple.finish()
        };
        match self {
            Filter::Everything => f.write_str(".."),
            Filter::Nothing => f.write_str("Nothing"),
            Filter::Kind(kind) => write!(f, "{kind:?}"),
            Filter::PathContains(key) => write!(f, "PathContains({})", key.repr()),
            Filter::PathIn(paths) => f.debug_tuple("PathIn").field(paths).finish(),
            Filter::WithTag(tag) => write!(f, "WithTag('{tag}')"),
            Filter::Not(filter) => write!(f, "Not({filter:?})"),
            Filter::Any(filters) => list(f, "Any", filters),
            Filter::All(filters) => list(f, "All", filters),
            Filter::Predicate(_) => f.write_str("Predicate"),
        }
    }
}

impl<K: Kind> From<K> for Filter {
    fn from(_: K) -> Self {
        Filter::Kind(KindRef::of::<K>())
    }
}

impl From<KindRef> for Filter {
    fn from(kind: KindRef) -> Self {
        Filter::Kind(kind)
    }
}

impl From<RangeFull> for Filter {
    fn from(_: RangeFull) -> Self {
        Filter::Everything
    }
}

/// One filter, or a tuple of several: each takes what those before it leave.
pub trait Filters {
    /// A [`State`] for each filter, alone or in a tuple.
    type States;

    /// The filters in order.
    fn filters(self) -> Vec<Filter>;

    /// The states, of which there are as many as filters.
    fn states(states: Vec<State>) -> Self::States;
}

impl<F: Into<Filter>> Filters for F {
    type States = State;

    fn filters(self) -> Vec<Filter> {
        vec![self.into()]
    }

    fn states(states: Vec<State>) -> State {
        states.into_iter().next().unwrap_or_default()
    }
}

macro_rules! tuples {
    ($(($($filter:ident)+))*) => { $(
        impl<$($filter: Into<Filter>),+> Filters for ($($filter,)+) {
            type States = ($(tuples!(@state $filter),)+);

            #[allow(non_snake_case)]
            fn filters(self) -> Vec<Filter> {
                let ($($filter,)+) = self;
                vec![$($filter.into()),+]
            }

            fn states(states: Vec<State>) -> Self::States {
                let mut states = states.into_iter();
                ($(tuples!(@next $filter states),)+)
            }
        }
    )* };
    (@state $filter:ident) => { State };
    (@next $filter:ident $states:ident) => { $states.next().unwrap_or_default() };
}

tuples! {
    (A)
    (A B)
    (A B C)
    (A B C D)
    (A B C D E)
    (A B C D E F)
}
