//! Loops over the slices of arrays.

use jaxide_core::prims::{Scan, ScanInputs, ScanOutputs};
use jaxide_core::{Aval, Error};
use jaxide_tree::Pytree;

use super::carry;
use crate::api::flat::{FlatArgs, flatten, of_structure, unflatten};
use crate::array::{Array, Integer, normalize_axis};
use crate::lax;
use crate::trace::{Captures, Known, OrRaise, bind, raise, trace};

/// Applies `f` to a carry and each slice of `xs` along the first axis, from first to last; gives the last carry and the
/// stacked second results.
///
/// `length` is needed where `xs` has no arrays: `scan(f, init, (), 100)`.
///
/// # Panics
/// When the arrays in `xs` have different lengths, there is no length, or the carry changes its structure or types (the
/// path is named).
///
/// ```
/// use jaxide::{Array, scan};
/// let xs = Array::from([1.0f32, 2.0, 3.0]);
/// let (sum, partial) = scan(|sum: Array, x: Array| (&sum + x, sum), Array::from(0.0f32), xs, None);
/// assert_eq!(sum.item::<f32>(), 6.0);
/// assert_eq!(partial.to_vec::<f32>(), [0.0, 1.0, 3.0]);
/// ```
#[track_caller]
pub fn scan<Carry, X, Y>(
    f: impl FnOnce(Carry, X) -> (Carry, Y),
    init: Carry,
    xs: X,
    length: impl Into<Option<usize>>,
) -> (Carry, Y)
where
    Carry: Pytree<Array>,
    X: Pytree<Array>,
    Y: Pytree<Array>,
{
    run("scan", f, init, xs, length.into(), false)
}

/// As [`scan`], from the last slice to the first; stacked results stay beside their slices.
///
/// # Panics
/// As [`scan`].
#[track_caller]
pub fn scan_reverse<Carry, X, Y>(
    f: impl FnOnce(Carry, X) -> (Carry, Y),
    init: Carry,
    xs: X,
    length: impl Into<Option<usize>>,
) -> (Carry, Y)
where
    Carry: Pytree<Array>,
    X: Pytree<Array>,
    Y: Pytree<Array>,
{
    run("scan", f, init, xs, length.into(), true)
}

/// `f` of each slice of `xs` along the first axis, stacked: one after the other, where `vmap` takes all at once.
///
/// # Panics
/// As [`scan`].
///
/// ```
/// use jaxide::{Array, map};
/// let y = map(|x: Array| x.sum(), Array::from([[1.0f32, 2.0], [3.0, 4.0]]));
/// assert_eq!(y.to_vec::<f32>(), [3.0, 7.0]);
/// ```
#[track_caller]
pub fn map<X: Pytree<Array>, Y: Pytree<Array>>(f: impl FnOnce(X) -> Y, xs: X) -> Y {
    run("map", |(), x| ((), f(x)), (), xs, None, false).1
}

/// One `scan` equation.
#[track_caller]
pub(super) fn run<Carry, X, Y>(
    operation: &'static str,
    f: impl FnOnce(Carry, X) -> (Carry, Y),
    init: Carry,
    xs: X,
    length: Option<usize>,
    reverse: bool,
) -> (Carry, Y)
where
    Carry: Pytree<Array>,
    X: Pytree<Array>,
    Y: Pytree<Array>,
{
    let (init, xs) = (flatten(&init), flatten(&xs));
    let mut f = Some(f);
    let (out, ys) = run_flat(operation, init, xs, length, reverse, &mut |carry, x| {
        let f = f.take().expect("a body is recorded once");
        let (carry, y) = f(carry.unflatten(), x.unflatten());
        [flatten(&carry), flatten(&y)]
    });
    (out.unflatten(), ys.unflatten())
}

/// [`run`] without its types: the body takes a carry and a slice, and gives a carry and what is stacked.
#[track_caller]
fn run_flat(
    operation: &'static str,
    init: FlatArgs,
    xs: FlatArgs,
    length: Option<usize>,
    reverse: bool,
    body: &mut dyn FnMut(FlatArgs, FlatArgs) -> [FlatArgs; 2],
) -> (FlatArgs, FlatArgs) {
    let length = common_length(operation, &xs.leaves, length);
    let carry_count = init.leaves.len();
    let carry_avals = carry::types(&init.leaves);
    let mut avals = carry_avals.clone();
    avals.extend(
        carry::types(&xs.leaves)
            .iter()
            .map(|aval| aval.with_shape(&aval.shape[1..])),
    );
    let traced = trace(operation, &avals, Known::No, Captures::Inputs, |leaves| {
        let (carry, slice) = leaves.split_at(carry_count);
        let carry = of_structure(&init.treedef, carry);
        let [carry, y] = body(carry, of_structure(&xs.treedef, slice));
        let mut results = carry.leaves;
        let outs = results.len();
        results.extend(y.leaves);
        (results, (carry.treedef, y.treedef, outs))
    });
    let (out_treedef, y_treedef, carry_outs) = traced.aux;
    let outs = traced.jaxpr.out_avals();
    let (carry_out_avals, y_avals): (&[Aval], &[Aval]) = outs.split_at(carry_outs);
    carry::check(
        operation,
        &init.treedef,
        &out_treedef,
        &carry_avals,
        carry_out_avals,
    );
    let init_leaves = carry::strengthened(&init.leaves, carry_out_avals);
    let consts = traced.captured.len();
    let prim = Scan {
        ft_in: ScanInputs {
            consts,
            carry: carry_count,
            xs: xs.leaves.len(),
        },
        ft_out: ScanOutputs {
            carry: carry_count,
            ys: y_avals.len(),
        },
        jaxpr: carry::retyped(traced.jaxpr, consts, &carry::types(&init_leaves)),
        length,
        reverse,
        unroll: 1,
    };
    let mut operands = traced.captured;
    operands.extend(init_leaves);
    operands.extend(xs.leaves);
    let mut results = bind(prim, &operands).into_vec();
    let ys = results.split_off(carry_count);
    let carry = FlatArgs {
        leaves: results,
        treedef: init.treedef,
    };
    let ys = FlatArgs {
        leaves: ys,
        treedef: y_treedef,
    };
    (carry, ys)
}

/// The number of slices that all arrays have.
#[track_caller]
fn common_length(operation: &str, leaves: &[Array], given: Option<usize>) -> usize {
    let mut length = given;
    for leaf in leaves {
        let Some(&own) = leaf.shape().first() else {
            raise(
                Error::shape(format!(
                    "an array to scan over must have a first axis, and one is {}",
                    leaf.aval()
                ))
                .in_operation(operation),
            )
        };
        match length {
            Some(length) if length != own => raise(
                Error::shape(format!(
                    "arrays to scan over have different lengths: {length} and {own}"
                ))
                .in_operation(operation),
            ),
            _ => length = Some(own),
        }
    }
    let nothing = || {
        Error::parameter("there are no arrays to scan over and no length").in_operation(operation)
    };
    length.ok_or_else(nothing).or_raise()
}

/// Running combinations of all slices along an axis by an associative function, in parallel: the function is applied to
/// arrays of slices.
///
/// # Panics
/// When the axis is out of range, or `combine` changes shapes.
///
/// ```
/// use jaxide::{Array, associative_scan};
/// let y = associative_scan(|a: Array, b: Array| a + b, Array::from([1, 2, 3, 4]), 0, false);
/// assert_eq!(y.to_vec::<i32>(), [1, 3, 6, 10]);
/// ```
#[track_caller]
pub fn associative_scan<T: Pytree<Array>>(
    combine: impl Fn(T, T) -> T,
    elements: T,
    axis: impl Integer,
    reverse: bool,
) -> T {
    let elements = flatten(&elements);
    let rank = elements.leaves.first().map_or(1, Array::ndim);
    let axis = normalize_axis("associative_scan", axis, rank);
    let flip = |leaves: &[Array]| {
        leaves
            .iter()
            .map(|leaf| lax::rev(leaf, &[axis]))
            .collect::<Vec<_>>()
    };
    let combine = |a: &[Array], b: &[Array]| {
        let rebuild = |leaves: &[Array]| unflatten(&elements.treedef, leaves.to_vec());
        flatten(&combine(rebuild(a), rebuild(b))).leaves
    };
    let start = if reverse {
        flip(&elements.leaves)
    } else {
        elements.leaves.clone()
    };
    for leaf in &start {
        if leaf.ndim() <= axis {
            raise(
                Error::parameter(format!("axis {axis} is out of range for {}", leaf.aval()))
                    .in_operation("associative_scan"),
            );
        }
    }
    let mut scanned = prefix_scan(&combine, &start, axis);
    if reverse {
        scanned = flip(&scanned);
    }
    unflatten(&elements.treedef, scanned)
}

/// Combines two lists of arrays.
type Combine<'c> = &'c dyn Fn(&[Array], &[Array]) -> Vec<Array>;

/// Combines neighbours, scans the half as many results, which are the odd elements, and combines those with the even
/// elements.
fn prefix_scan(combine: Combine<'_>, xs: &[Array], axis: usize) -> Vec<Array> {
    let length = xs.first().map_or(0, |x| x.shape()[axis]);
    if length < 2 {
        return xs.to_vec();
    }
    let cut = |xs: &[Array], start: usize, limit: usize, stride: usize| -> Vec<Array> {
        xs.iter()
            .map(|x| lax::slice_in_dim(x, start, limit, stride, axis))
            .collect()
    };
    let reduced = combine(&cut(xs, 0, length - 1, 2), &cut(xs, 1, length, 2));
    let odd = prefix_scan(combine, &reduced, axis);
    let count = odd[0].shape()[axis];
    let before = if length.is_multiple_of(2) {
        cut(&odd, 0, count - 1, 1)
    } else {
        odd.clone()
    };
    let even = combine(&before, &cut(xs, 2, length, 2));
    let first = cut(xs, 0, 1, 1);
    let even = first
        .into_iter()
        .zip(even)
        .map(|(first, rest)| lax::concatenate(&[first, rest], axis));
    even.zip(&odd)
        .map(|(even, odd)| interleave(&even, odd, axis))
        .collect()
}

/// Elements of two arrays in turn.
fn interleave(even: &Array, odd: &Array, axis: usize) -> Array {
    let same = even.shape()[axis] == odd.shape()[axis];
    let spread = |x: &Array, low: i64, high: i64| {
        let mut config = vec![(0, 0, 0); x.ndim()];
        config[axis] = (low, high, 1);
        lax::pad(x, 0, &config)
    };
    let (even, odd) = (
        spread(even, 0, i64::from(same)),
        spread(odd, 1, i64::from(!same)),
    );
    if even.dtype() == jaxide_core::DType::Bool {
        lax::bitwise_or(&even, &odd)
    } else {
        lax::add(&even, &odd)
    }
}
