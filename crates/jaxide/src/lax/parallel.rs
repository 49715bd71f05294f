//! Communication between the members of a named axis: the lanes of a `vmap` with an axis name, the members of a `pmap`.
//!
//! `x` is an array or any tree of arrays; each array is what one member holds. An axis is named by a string, several by an
//! array of strings.
//!
//! ```
//! use jaxide::{Array, lax, vmap};
//! let centred = vmap(|x: Array| &x - lax::pmean(&x, "i")).axis_name("i");
//! assert_eq!(centred(Array::from([1.0f32, 2.0, 6.0])).to_vec::<f32>(), [-2.0, -1.0, 3.0]);
//! ```

use jaxide_core::prims::{
    self, AllGather, AllToAll, AxisIndex, AxisName, AxisNames, Name, Opaque, Pmax, Pmin, Ppermute,
    Prim, Psum, ReduceScatter,
};
use jaxide_core::{DType, Error, ErrorKind, Literal, Scalar};
use jaxide_tree::Pytree;

use super::{convert_element_type, expand_dims, reduce_sum, squeeze};
use crate::api::flat::{flatten, unflatten};
use crate::array::{Array, Integer, Repr, normalize_axis};
use crate::trace::{bind_one, named_axis_size, raise};

/// Names of axes: `"i"`, `["i", "j"]`, or for reductions a list that counts axes of the array too.
pub trait NamedAxes {
    /// The axes.
    fn axes(&self) -> Vec<AxisName>;

    /// Whether it is one name alone, which JAX writes without parentheses.
    fn is_single(&self) -> bool {
        false
    }
}

impl NamedAxes for &str {
    fn axes(&self) -> Vec<AxisName> {
        vec![AxisName::Named(Name::new(self))]
    }

    fn is_single(&self) -> bool {
        true
    }
}

impl<const N: usize> NamedAxes for [&str; N] {
    fn axes(&self) -> Vec<AxisName> {
        self.iter()
            .map(|name| AxisName::Named(Name::new(name)))
            .collect()
    }
}

impl NamedAxes for &[&str] {
    fn axes(&self) -> Vec<AxisName> {
        self.iter()
            .map(|name| AxisName::Named(Name::new(name)))
            .collect()
    }
}

impl NamedAxes for Vec<AxisName> {
    fn axes(&self) -> Vec<AxisName> {
        self.clone()
    }
}

/// The number of members of named axes: the product of their sizes.
///
/// # Panics
/// When no such axis is in scope.
#[track_caller]
pub fn axis_size(axes: impl NamedAxes) -> usize {
    let _named = crate::trace::named("axis_size");
    size_of("axis_size", &axes.axes())
}

/// The sizes of named axes together.
#[track_caller]
fn size_of(operation: &str, axes: &[AxisName]) -> usize {
    let mut size = 1usize;
    for axis in axes {
        if let AxisName::Named(name) = axis {
            let Some(own) = named_axis_size(&name.0) else {
                raise(unbound(operation, name));
            };
            size = size.saturating_mul(own);
        }
    }
    size
}

fn unbound(operation: &str, name: &Name) -> Error {
    Error::new(ErrorKind::Invalid, format!("there is no axis of the name `{name}` here"))
        .in_operation(operation)
        .note("name one with `vmap(f).axis_name(..)`, `pmap(f).axis_name(..)` or `make_jaxpr(f).axis_env(..)`, and call this inside `f`")
}

/// Names only.
#[track_caller]
fn names_of(operation: &str, axes: &impl NamedAxes) -> Vec<Name> {
    let all = axes.axes();
    size_of(operation, &all);
    all.into_iter()
        .map(|axis| match axis {
            AxisName::Named(name) => name,
            AxisName::Positional(axis) => raise(
                Error::parameter(format!("axis {axis} is a number, and a name is needed"))
                    .in_operation(operation),
            ),
        })
        .collect()
}

/// `f` of every array of a tree.
#[track_caller]
fn each<T: Pytree<Array>>(x: &T, f: impl Fn(&Array) -> Array) -> T {
    let x = flatten(x);
    unflatten(&x.treedef, x.leaves.iter().map(f))
}

/// Sum over named axes; truth values count as 0 and 1. A bare number is multiplied by the number of members.
///
/// # Panics
/// When no such axis is in scope.
#[track_caller]
pub fn psum<T: Pytree<Array>>(x: &T, axes: impl NamedAxes) -> T {
    let _named = crate::trace::named("psum");
    let names = axes.axes();
    let members = size_of("psum", &names);
    let x = flatten(x);
    let leaves: Vec<Array> = x
        .leaves
        .iter()
        .map(|leaf| match leaf.dtype() {
            DType::Bool => convert_element_type(leaf, DType::I32),
            _ => leaf.clone(),
        })
        .collect();
    let sums: Vec<Array> = if leaves.iter().any(Array::is_tracer) {
        let prim = Psum {
            axes: names,
            axis_index_groups: Opaque::none(),
        };
        leaves
            .iter()
            .map(|leaf| bind_one(prim.clone(), std::slice::from_ref(leaf)))
            .collect()
    } else {
        leaves
            .iter()
            .map(|leaf| times(leaf, members, &positional(&names)))
            .collect()
    };
    unflatten(&x.treedef, sums)
}

fn positional(axes: &[AxisName]) -> Vec<usize> {
    axes.iter()
        .filter_map(|axis| match axis {
            AxisName::Named(_) => None,
            AxisName::Positional(axis) => Some(*axis),
        })
        .collect()
}

/// What `members` members that all hold `x` sum up to.
#[track_caller]
fn times(x: &Array, members: usize, axes: &[usize]) -> Array {
    if let Repr::Number(literal) = x.0 {
        let value = match literal.value {
            Scalar::Int(value) => Some(Scalar::Int(value.wrapping_mul(members as i64))),
            Scalar::Float(value) => Some(Scalar::Float(value * members as f64)),
            _ => None,
        };
        if let Some(value) = value {
            return Array(Repr::Number(Literal { value, ..literal }));
        }
    }
    let x = if axes.is_empty() {
        x.clone()
    } else {
        reduce_sum(x, axes)
    };
    super::mul(&Array::from(members as i32), &x)
}

/// Mean over named axes.
///
/// # Panics
/// As [`psum`].
#[track_caller]
pub fn pmean<T: Pytree<Array>>(x: &T, axes: impl NamedAxes) -> T {
    let _named = crate::trace::named("pmean");
    let names = axes.axes();
    let members = size_of("pmean", &names);
    let sum = psum(x, names);
    each(&sum, |sum| {
        crate::numpy::divide(sum, &Array::from(members as i32))
    })
}

/// Largest value over named axes.
///
/// # Panics
/// As [`psum`].
#[track_caller]
pub fn pmax<T: Pytree<Array>>(x: &T, axes: impl NamedAxes) -> T {
    let _named = crate::trace::named("pmax");
    let axes = axes.axes();
    size_of("pmax", &axes);
    let prim = Pmax {
        axes,
        axis_index_groups: Opaque::none(),
    };
    each(x, |leaf| bind_one(prim.clone(), std::slice::from_ref(leaf)))
}

/// Smallest value over named axes.
///
/// # Panics
/// As [`psum`].
#[track_caller]
pub fn pmin<T: Pytree<Array>>(x: &T, axes: impl NamedAxes) -> T {
    let _named = crate::trace::named("pmin");
    let axes = axes.axes();
    size_of("pmin", &axes);
    let prim = Pmin {
        axes,
        axis_index_groups: Opaque::none(),
    };
    each(x, |leaf| bind_one(prim.clone(), std::slice::from_ref(leaf)))
}

/// The index of the member along named axes, row-major where there are several: an `i32` scalar.
///
/// # Panics
/// As [`psum`].
#[track_caller]
pub fn axis_index(axes: impl NamedAxes) -> Array {
    let _named = crate::trace::named("axis_index");
    let names = names_of("axis_index", &axes);
    let index = |name: &Name| {
        bind_one(
            AxisIndex {
                axis_name: AxisNames::One(name.clone()),
            },
            &[],
        )
    };
    if let ([name], true) = (names.as_slice(), axes.is_single()) {
        return index(name);
    }
    let mut inner = 1;
    let mut sum = Array(Repr::Number(Literal::new(Scalar::Int(0), DType::I32)));
    for name in names.iter().rev() {
        sum = super::add(&sum, &super::mul(&index(name), &Array::from(inner)));
        inner *= named_axis_size(&name.0).unwrap_or(1) as i32;
    }
    sum
}

/// The values of all members along a new axis `axis`, or joined along `axis` when `tiled`.
///
/// # Panics
/// When no such axis is in scope, or `axis` is out of range.
#[track_caller]
pub fn all_gather<T: Pytree<Array>>(
    x: &T,
    axes: impl NamedAxes,
    axis: impl Integer,
    tiled: bool,
) -> T {
    let _named = crate::trace::named("all_gather");
    let names = names_of("all_gather", &axes);
    let axis_size = size_of("all_gather", &axes.axes());
    each(x, |leaf| {
        let rank = leaf.ndim() + usize::from(!tiled);
        let prim = AllGather {
            all_gather_dimension: normalize_axis("all_gather", axis, rank),
            axis_index_groups: Opaque::none(),
            axis_size,
            axis_name: AxisNames::Many(names.clone()),
            tiled,
        };
        bind_one(prim, std::slice::from_ref(leaf))
    })
}

/// The sum over the members, dealt out: each keeps its slice along `scatter_dimension`, which disappears, or its part
/// when `tiled`.
///
/// # Panics
/// When no such axis is in scope, or the axis of the array cannot be dealt out.
#[track_caller]
pub fn psum_scatter<T: Pytree<Array>>(
    x: &T,
    axes: impl NamedAxes,
    scatter_dimension: impl Integer,
    tiled: bool,
) -> T {
    let _named = crate::trace::named("psum_scatter");
    let names = names_of("psum_scatter", &axes);
    let axis_size = size_of("psum_scatter", &axes.axes());
    each(x, |leaf| {
        let prim = ReduceScatter {
            axis_index_groups: Opaque::none(),
            axis_size,
            axis_name: AxisNames::Many(names.clone()),
            scatter_dimension: normalize_axis("psum_scatter", scatter_dimension, leaf.ndim()),
            tiled,
        };
        bind_one(prim, std::slice::from_ref(leaf))
    })
}

/// Sends the value of member `from` to member `to`, for each pair; who receives nothing gets zeros.
///
/// # Panics
/// When no such axis is in scope, or a member sends or receives twice.
#[track_caller]
pub fn ppermute<T: Pytree<Array>>(x: &T, axes: impl NamedAxes, pairs: &[(usize, usize)]) -> T {
    let _named = crate::trace::named("ppermute");
    let names = names_of("ppermute", &axes);
    check_pairs(size_of("ppermute", &axes.axes()), pairs);
    let prim = Ppermute {
        axis_name: AxisNames::Many(names),
        perm: pairs.to_vec(),
    };
    each(x, |leaf| bind_one(prim.clone(), std::slice::from_ref(leaf)))
}

#[track_caller]
fn check_pairs(members: usize, pairs: &[(usize, usize)]) {
    let (mut senders, mut receivers) = (vec![false; members], vec![false; members]);
    for &(from, to) in pairs {
        for (side, member) in [(&mut senders, from), (&mut receivers, to)] {
            let fits = side
                .get_mut(member)
                .is_some_and(|seen| !std::mem::replace(seen, true));
            if !fits {
                raise(
                    Error::parameter(format!(
                        "({from}, {to}): member {member} of {members} does not exist, or sends or receives twice"
                    ))
                    .in_operation("ppermute"),
                );
            }
        }
    }
}

/// Member `i` gets the value of member `permutation[i]`.
///
/// # Panics
/// When no such axis is in scope, or this is no permutation of its members.
#[track_caller]
pub fn pshuffle<T: Pytree<Array>>(x: &T, axes: impl NamedAxes, permutation: &[usize]) -> T {
    let _named = crate::trace::named("pshuffle");
    let pairs: Vec<(usize, usize)> = permutation.iter().copied().zip(0..).collect();
    ppermute(x, axes, &pairs)
}

/// Exchanges slices: axis `split_axis`, as long as there are members, is cut, slice `i` sent to member `i`, and what
/// arrives stacked along `concat_axis`. When `tiled`, parts take the place of slices and are joined.
///
/// # Panics
/// When no such axis is in scope, or axes of the array do not fit.
#[track_caller]
pub fn all_to_all<T: Pytree<Array>>(
    x: &T,
    axes: impl NamedAxes,
    split_axis: impl Integer,
    concat_axis: impl Integer,
    tiled: bool,
) -> T {
    let _named = crate::trace::named("all_to_all");
    const OPERATION: &str = "all_to_all";
    let names = names_of(OPERATION, &axes);
    let members = size_of(OPERATION, &axes.axes());
    let axis_name = match names.as_slice() {
        [name] if axes.is_single() => AxisNames::One(name.clone()),
        _ => AxisNames::Many(names),
    };
    each(x, |leaf| {
        let split_axis = normalize_axis(OPERATION, split_axis, leaf.ndim());
        let concat_axis = normalize_axis(OPERATION, concat_axis, leaf.ndim());
        let length = leaf.shape()[split_axis];
        let fits = if tiled {
            length.is_multiple_of(members.max(1))
        } else {
            length == members
        };
        if !fits {
            raise(
                Error::shape(format!(
                    "axis {split_axis} of {} cannot be dealt out to {members} members",
                    leaf.aval()
                ))
                .in_operation(OPERATION),
            );
        }
        // Untiled, the new axis is inserted first, and the one that was cut removed at the end.
        let (mut split, mut concat, mut operand) = (split_axis, concat_axis, leaf.clone());
        let moves = !tiled && split_axis != concat_axis;
        if moves {
            if split < concat {
                concat += 1;
            } else {
                split += 1;
            }
            operand = expand_dims(leaf, &[concat]);
        }
        let prim = AllToAll {
            axis_index_groups: Opaque::none(),
            axis_name: axis_name.clone(),
            concat_axis: concat,
            split_axis: split,
            tiled,
            axis_size: members,
        };
        let result = bind_one(Prim::from(prim), &[operand]);
        if moves {
            squeeze(&result, &[split])
        } else {
            result
        }
    })
}

/// Exchanges an axis of the array with the named axis.
///
/// # Panics
/// As [`all_to_all`].
#[track_caller]
pub fn pswapaxes<T: Pytree<Array>>(x: &T, axes: impl NamedAxes, axis: impl Integer) -> T {
    let _named = crate::trace::named("pswapaxes");
    all_to_all(x, axes, axis, axis, false)
}

/// Marks values as different along named axes, which changes nothing else.
///
/// # Panics
/// As [`psum`].
#[track_caller]
pub fn pvary<T: Pytree<Array>>(x: &T, axes: impl NamedAxes) -> T {
    let _named = crate::trace::named("pvary");
    let axes = axes.axes();
    size_of("pvary", &axes);
    each(x, |leaf| {
        bind_one(
            prims::Pvary { axes: axes.clone() },
            std::slice::from_ref(leaf),
        )
    })
}
