//! Axis trees: which axis of each array is mapped, given for a whole tree by a prefix of it.

mod error;

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Display};

use indexmap::IndexMap;

pub use error::AxesError;

use crate::{DictKey, Head, Key, KeyPath, Pytree, Tree, TreeDef};

/// The axis of an array that is mapped, or `None` if the array is not. Negative axes count from the end.
///
/// It is the leaf type of axis trees, so that `None` is a leaf in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Axis(pub Option<i32>);

crate::leaf!(Axis);

impl Axis {
    /// The array is not mapped.
    pub const NONE: Axis = Axis(None);

    /// The axis counted from the front, for an array of the given rank.
    ///
    /// # Errors
    ///
    /// [`AxesError::Rank`] if the array has no such axis.
    pub fn normalized(self, shape: &[usize], place: &KeyPath) -> Result<Option<usize>, AxesError> {
        let Some(axis) = self.0 else { return Ok(None) };
        let rank = shape.len();
        let index = if axis < 0 {
            rank as i64 + i64::from(axis)
        } else {
            i64::from(axis)
        };
        if (0..rank as i64).contains(&index) {
            return Ok(Some(index as usize));
        }
        let expected_rank = if axis < 0 {
            axis.unsigned_abs() as usize
        } else {
            axis as usize + 1
        };
        Err(AxesError::Rank {
            axis,
            expected_rank,
            shape: shape.to_vec(),
            place: place.clone(),
        })
    }
}

impl Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("None"),
            Some(axis) => write!(f, "{axis}"),
        }
    }
}

/// What can be said for `in_axes` and `out_axes`: a number, `None`, or a prefix tree of them.
///
/// Tuples, vectors and maps of axes, [`axes!`](crate::axes!), and references to typed trees of [`Axis`], such as a
/// `&Linear<Axis>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tree of axes",
    label = "not axes",
    note = "axes are integers, `None`, tuples, vectors and maps of them, `axes!(…)`, or a `&T` where `T: Pytree<Axis>`"
)]
pub trait IntoAxes {
    /// The axes as a tree.
    fn into_axes(self) -> Tree<Axis>;
}

macro_rules! integers {
    ($($ty:ty)*) => { $(
        /// No array has an axis that an `i32` cannot count.
        impl IntoAxes for $ty {
            fn into_axes(self) -> Tree<Axis> {
                let nearest = if self > 0 { i32::MAX } else { i32::MIN };
                Tree::Leaf(Axis(Some(self.try_into().unwrap_or(nearest))))
            }
        }
    )* };
}

integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

impl IntoAxes for Option<i32> {
    fn into_axes(self) -> Tree<Axis> {
        Tree::Leaf(Axis(self))
    }
}

impl IntoAxes for Axis {
    fn into_axes(self) -> Tree<Axis> {
        Tree::Leaf(self)
    }
}

impl IntoAxes for Tree<Axis> {
    fn into_axes(self) -> Tree<Axis> {
        self
    }
}

impl<T: Pytree<Axis>> IntoAxes for &T {
    fn into_axes(self) -> Tree<Axis> {
        Tree::from_value(self)
    }
}

impl<T: IntoAxes> IntoAxes for Vec<T> {
    fn into_axes(self) -> Tree<Axis> {
        Tree::list(self.into_iter().map(T::into_axes))
    }
}

impl<T: IntoAxes, const N: usize> IntoAxes for [T; N] {
    fn into_axes(self) -> Tree<Axis> {
        Tree::list(self.map(T::into_axes))
    }
}

impl<K: DictKey, T: IntoAxes> IntoAxes for BTreeMap<K, T> {
    fn into_axes(self) -> Tree<Axis> {
        dict(self)
    }
}

impl<K: DictKey, T: IntoAxes, S> IntoAxes for HashMap<K, T, S> {
    fn into_axes(self) -> Tree<Axis> {
        dict(self)
    }
}

impl<K: DictKey, T: IntoAxes, S> IntoAxes for IndexMap<K, T, S> {
    fn into_axes(self) -> Tree<Axis> {
        Tree::ordered_dict(
            self.into_iter()
                .map(|(key, axes)| (key.to_key(), axes.into_axes())),
        )
    }
}

/// Axes by key, in the order of the keys.
fn dict<K: DictKey, T: IntoAxes>(items: impl IntoIterator<Item = (K, T)>) -> Tree<Axis> {
    let items: BTreeMap<Key, Tree<Axis>> = items
        .into_iter()
        .map(|(key, axes)| (key.to_key(), axes.into_axes()))
        .collect();
    let (keys, axes): (Vec<Key>, Vec<Tree<Axis>>) = items.into_iter().unzip();
    Tree::node(Head::Dict(keys.into()), axes)
}

macro_rules! tuples {
    ($($name:ident)*) => {
        #[allow(non_snake_case)]
        impl<$($name: IntoAxes),*> IntoAxes for ($($name,)*) {
            fn into_axes(self) -> Tree<Axis> {
                let ($($name,)*) = self;
                Tree::tuple([$($name.into_axes()),*])
            }
        }
    };
}

tuples!();
tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);
tuples!(A B C D E F G H I);
tuples!(A B C D E F G H I J);
tuples!(A B C D E F G H I J K);
tuples!(A B C D E F G H I J K L);

/// An axis tree, written as in JAX: `axes!((None, {"k1": None, "k2": 0}))`.
///
/// `None` is a leaf. `Linear { w: 0, b: None }` stands for a struct of that name with those fields, whatever its
/// static fields are. Expressions are anything that is [`IntoAxes`].
///
/// ```
/// use std::collections::{BTreeMap, HashMap};
/// use jaxide_tree::{Axis, axes};
///
/// let args = (1.0, BTreeMap::from([("k1", vec![1.0, 2.0]), ("k2", vec![3.0])]));
/// let args = jaxide_tree::structure::<f64, _>(&args);
/// let in_axes = axes!((None, {"k1": None, "k2": 0}));
/// let flat = axes::flatten("in_axes", &in_axes, &args)?;
/// assert_eq!(flat, [Axis(None), Axis(None), Axis(None), Axis(Some(0))]);
/// # Ok::<(), jaxide_tree::AxesError>(())
/// ```
#[macro_export]
macro_rules! axes {
    ($($value:tt)+) => {
        $crate::__tree!(
            @value
            [
                $crate::axes::IntoAxes::into_axes,
                $crate::Tree::Leaf($crate::axes::Axis::NONE),
                $crate::axes::record
            ]
            $($value)+
        )
    };
}

#[doc(hidden)]
pub fn record<const N: usize>(
    name: &'static str,
    fields: [(&'static str, Tree<Axis>); N],
) -> Tree<Axis> {
    let (names, axes): (Vec<_>, Vec<_>) = fields
        .map(|(name, axes)| (name.into(), axes))
        .into_iter()
        .unzip();
    Tree::node(Head::pattern(name, names), axes)
}

/// The axis of each leaf of `full`, when `axes` is a prefix of it.
///
/// # Errors
///
/// [`AxesError::Structure`] with every mismatch, said of `subject` (`"vmap out_axes"`).
pub fn flatten(subject: &str, axes: &Tree<Axis>, full: &TreeDef) -> Result<Vec<Axis>, AxesError> {
    let axes_def = axes.structure();
    let leaves: Vec<Axis> = axes.leaves().into_iter().copied().collect();
    axes_def
        .broadcast(&leaves, full)
        .map_err(|_| AxesError::Structure {
            subject: subject.into(),
            errors: axes_def.prefix_errors(full),
        })
}

/// The axis of each leaf of each argument: `axes` is one axis for all, or a tuple or list with an entry for each.
///
/// # Errors
///
/// [`AxesError::Count`] if the entries are not as many as the arguments, and as [`flatten`].
pub fn flatten_in_axes(
    subject: &str,
    axes: &Tree<Axis>,
    args: &TreeDef,
) -> Result<Vec<Axis>, AxesError> {
    let entries = match axes {
        Tree::Leaf(_) => return flatten(subject, axes, args),
        Tree::Node(node) if matches!(node.head(), Head::Tuple | Head::List) => node.children(),
        Tree::Node(node) => {
            let got = node.head().type_name().into();
            return Err(AxesError::NotATuple {
                subject: subject.into(),
                got,
            });
        }
    };
    let expected = args.children().len();
    if entries.len() != expected {
        return Err(AxesError::Count {
            subject: subject.into(),
            expected,
            got: entries.len(),
        });
    }
    flatten(subject, &Tree::tuple(entries.iter().cloned()), args)
}

/// The size of the mapped axes, which all arrays that are mapped must agree on.
///
/// `arrays` are the axis, the shape and the path of each leaf.
///
/// # Errors
///
/// [`AxesError::Rank`] for every array that has no such axis, [`AxesError::InconsistentSizes`] if the sizes differ,
/// [`AxesError::NothingMapped`] if no array is mapped.
pub fn mapped_size<'s>(
    arrays: impl IntoIterator<Item = (Axis, &'s [usize], &'s KeyPath)>,
) -> Result<usize, AxesError> {
    let mut sizes: IndexMap<usize, Vec<KeyPath>> = IndexMap::new();
    let mut errors = Vec::new();
    for (axis, shape, place) in arrays {
        match axis.normalized(shape, place) {
            Ok(Some(axis)) => sizes.entry(shape[axis]).or_default().push(place.clone()),
            Ok(None) => {}
            Err(error) => errors.push(error),
        }
    }
    AxesError::all(errors)?;
    let mut distinct = sizes.keys();
    match (distinct.next(), distinct.next()) {
        (None, _) => Err(AxesError::NothingMapped),
        (Some(size), None) => Ok(*size),
        (Some(_), Some(_)) => Err(AxesError::InconsistentSizes {
            sizes: sizes.into_iter().collect(),
        }),
    }
}

/// Where the mapped axis of an output goes: `None` if the output stays unmapped.
///
/// `batched` says whether the output depends on the mapped axis, and `shape` is its shape with that axis, or as if
/// it had it.
///
/// # Errors
///
/// [`AxesError::OutAxesNone`] if the output is batched and its axis is `None`, [`AxesError::Rank`] if it has no such
/// axis.
pub fn output_axis(
    axis: Axis,
    batched: bool,
    shape: &[usize],
    place: &KeyPath,
) -> Result<Option<usize>, AxesError> {
    match axis.normalized(shape, place)? {
        None if batched => Err(AxesError::OutAxesNone {
            place: place.clone(),
        }),
        axis => Ok(axis),
    }
}
