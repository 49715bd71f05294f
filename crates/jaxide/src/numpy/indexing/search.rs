//! Places in sorted arrays.

use jaxide_core::prims::{Name, SearchSide, SearchSorted};
use jaxide_core::{DType, Error};

use super::gather::literal;
use crate::array::{Array, promote_dtypes};
use crate::lax;
use crate::numpy::where_;
use crate::options::options;
use crate::trace::library::library_call;
use crate::trace::{bind_one, library, raise};

/// How [`searchsorted`] searches; the result is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchMethod {
    /// By halving, in a loop.
    Scan,
    /// By halving, without a loop.
    ScanUnrolled,
    /// By sorting both together.
    Sort,
    /// By comparing with all.
    CompareAll,
}

impl SearchMethod {
    fn name(self) -> &'static str {
        match self {
            SearchMethod::Scan => "scan",
            SearchMethod::ScanUnrolled => "scan_unrolled",
            SearchMethod::Sort => "sort",
            SearchMethod::CompareAll => "compare_all",
        }
    }
}

options! {
    /// What [`searchsorted`] takes beside the arrays; a side alone is one too.
    pub struct Searchsorted {
        /// Whether the place is before equal elements or behind them.
        side: SearchSide = SearchSide::Left;
        /// Indices that sort the array, where it is not sorted.
        sorter: Option<Array> = None, |sorter: impl Into<Array>| Some(sorter.into());
        /// How it is searched.
        method: SearchMethod = SearchMethod::Scan;
    }

    /// What [`digitize`] takes beside the arrays.
    pub struct Digitize {
        /// Whether bins contain their right ends instead of their left ones.
        right: bool = false;
        /// How they are searched.
        method: SearchMethod = SearchMethod::Scan;
    }
}

impl From<SearchSide> for Searchsorted {
    fn from(side: SearchSide) -> Self {
        Searchsorted::new().side(side)
    }
}

/// Where the elements of `v` would be inserted in the sorted vector `a`, so that it stays sorted.
///
/// # Panics
/// When `a` is no vector, or there is no common element type.
///
/// ```
/// use jaxide::{Array, core::prims::SearchSide, numpy};
/// let a = Array::from([1, 2, 2, 3]);
/// assert_eq!(numpy::searchsorted(&a, 2, ()).item::<i32>(), 1);
/// assert_eq!(numpy::searchsorted(&a, [2, 9], SearchSide::Right).to_vec::<i32>(), [3, 4]);
/// ```
#[track_caller]
pub fn searchsorted(a: &Array, v: impl Into<Array>, options: impl Into<Searchsorted>) -> Array {
    let _named = crate::trace::named("searchsorted");
    const OPERATION: &str = "searchsorted";
    let Searchsorted {
        side,
        sorter,
        method,
    } = options.into();
    if a.ndim() != 1 {
        raise(
            Error::shape(format!("a vector is searched, and {} is given", a.aval()))
                .in_operation(OPERATION),
        );
    }
    let mut operands = vec![a.clone(), v.into()];
    operands.extend(sorter);
    let key = format!("{side:?} {method:?}");
    let mut results = library_call(OPERATION, &key, &operands, |operands| {
        let [a, v] = promote_dtypes(OPERATION, [&operands[0], &operands[1]]);
        let a = match operands.get(2) {
            Some(sorter) => a.index(sorter),
            None => a,
        };
        let prim = SearchSorted {
            side,
            dimension: 0,
            batch_dims: 0,
            method: Name::new(method.name()),
        };
        vec![bind_one(prim, &[a, v])]
    });
    results.swap_remove(0)
}

/// The number of the bin that each element of `x` is in: bins are between the elements of the vector `bins`, which ascend or
/// descend. What lies before the first has number 0, what lies behind the last `bins.size()`.
///
/// # Panics
/// When `bins` is no vector, or there is no common element type.
///
/// ```
/// use jaxide::{Array, numpy};
/// let bins = Array::from([1.0f32, 2.0, 3.0]);
/// assert_eq!(numpy::digitize(&Array::from([0.5f32, 2.0, 9.0]), &bins, ()).to_vec::<i32>(), [0, 2, 3]);
/// ```
#[track_caller]
pub fn digitize(x: &Array, bins: &Array, options: impl Into<Digitize>) -> Array {
    let _named = crate::trace::named("digitize");
    const OPERATION: &str = "digitize";
    let Digitize { right, method } = options.into();
    if bins.ndim() != 1 {
        raise(
            Error::shape(format!("bins are a vector, and {} is given", bins.aval()))
                .in_operation(OPERATION),
        );
    }
    let key = format!("{right} {method:?}");
    library(OPERATION, &key, [x, bins], |[x, bins]| {
        let count = bins.size();
        if count == 0 {
            return lax::full(x.shape(), 0, DType::I32);
        }
        let side = if right {
            SearchSide::Left
        } else {
            SearchSide::Right
        };
        let options = || Searchsorted::new().side(side).method(method);
        let ascending = crate::numpy::greater_equal(&bins.index(-1), &bins.index(0));
        let up = searchsorted(bins, x, options());
        let turned = bins.index(crate::idx![..; -1]);
        let down = searchsorted(&turned, x, options());
        let down = lax::sub(&literal(count as i64, down.dtype(), false), &down);
        where_(&ascending, &up, &down)
    })
}

impl Array {
    /// Where elements would be inserted in this sorted vector: see [`numpy::searchsorted`](crate::numpy::searchsorted).
    ///
    /// # Panics
    /// As that does.
    #[track_caller]
    pub fn searchsorted(&self, v: impl Into<Array>, options: impl Into<Searchsorted>) -> Array {
        searchsorted(self, v, options)
    }
}
