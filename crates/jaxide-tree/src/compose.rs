//! The types of trees whose leaves are trees.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::Tree;

/// A type of trees of `L` in which every leaf can be replaced by a tree of the type `Inner`: on types what
/// [`TreeDef::compose`](crate::TreeDef::compose) is on structures.
///
/// A leaf becomes `Inner`, a container the same container of the composed types of its children. A derived
/// struct is itself where `Inner` is the leaf type. Where it is not, a struct that has its leaf type as a
/// parameter becomes `Struct<Inner>`, and one that has fixed types, and so cannot hold an `Inner`, becomes
/// [`Tree<L>`](Tree), which holds anything.
///
/// ```
/// use std::any::TypeId;
/// use jaxide_tree::{Compose, Pytree, Tree};
///
/// #[derive(Pytree)]
/// struct Fixed { w: f32 }
/// #[derive(Pytree)]
/// struct Open<T> { w: T, b: Vec<T> }
///
/// type Composed<Outer, Inner> = <Outer as Compose<f32, Inner>>::Composed;
/// let same = |a: TypeId, b: TypeId| assert_eq!(a, b);
/// same(TypeId::of::<Composed<(f32, Vec<f32>), (f32, f32)>>(), TypeId::of::<((f32, f32), Vec<(f32, f32)>)>());
/// same(TypeId::of::<Composed<(f32,), Fixed>>(), TypeId::of::<(Fixed,)>());
/// same(TypeId::of::<Composed<Fixed, f32>>(), TypeId::of::<Fixed>());
/// same(TypeId::of::<Composed<Fixed, Fixed>>(), TypeId::of::<Tree<f32>>());
/// same(TypeId::of::<Composed<Open<f32>, Fixed>>(), TypeId::of::<Open<Fixed>>());
/// ```
#[diagnostic::on_unimplemented(
    message = "the leaves of `{Self}` cannot be replaced by `{Inner}`",
    note = "`#[derive(Pytree)]` and `leaf!` make a type one whose leaves can be replaced"
)]
pub trait Compose<L, Inner> {
    /// The type with its leaves replaced.
    type Composed;
}

/// A type of trees of `L` that may stand where leaves were: it decides what becomes of a struct that can hold
/// leaves alone.
///
/// Of the leaf itself that is the struct, of all other trees a [`Tree<L>`](Tree).
pub trait Fill<L> {
    /// What the struct `S` becomes when its leaves are replaced by this type.
    type Within<S>;
}

impl<L, T, Inner> Compose<L, Inner> for Option<T>
where
    T: Compose<L, Inner>,
{
    type Composed = Option<T::Composed>;
}

impl<L, T: ?Sized, Inner> Compose<L, Inner> for PhantomData<T> {
    type Composed = PhantomData<T>;
}

impl<L, Inner> Compose<L, Inner> for () {
    type Composed = ();
}

impl<L, T: Compose<L, Inner>, Inner, const N: usize> Compose<L, Inner> for [T; N] {
    type Composed = [T::Composed; N];
}

impl<L, T: Compose<L, Inner>, Inner> Compose<L, Inner> for Box<[T]> {
    type Composed = Box<[T::Composed]>;
}

impl<L, K, T: Compose<L, Inner>, Inner> Compose<L, Inner> for BTreeMap<K, T> {
    type Composed = BTreeMap<K, T::Composed>;
}

impl<L, K, T: Compose<L, Inner>, S, Inner> Compose<L, Inner> for HashMap<K, T, S> {
    type Composed = HashMap<K, T::Composed, S>;
}

impl<L, K, T: Compose<L, Inner>, S, Inner> Compose<L, Inner> for IndexMap<K, T, S> {
    type Composed = IndexMap<K, T::Composed, S>;
}

impl<L, Inner> Compose<L, Inner> for Tree<L> {
    type Composed = Tree<L>;
}

macro_rules! containers_of_one {
    ($($container:ident)*) => { $(
        impl<L, T: Compose<L, Inner>, Inner> Compose<L, Inner> for $container<T> {
            type Composed = $container<T::Composed>;
        }
    )* };
}

containers_of_one!(Vec VecDeque Box Rc Arc);

/// Trees that no fixed struct can hold in place of its leaves.
macro_rules! fillings {
    ($([$($param:tt)*] $tree:ty;)*) => { $(
        impl<L, $($param)*> Fill<L> for $tree {
            type Within<S> = Tree<L>;
        }
    )* };
}

fillings! {
    [T] Option<T>;
    [T: ?Sized] PhantomData<T>;
    [] ();
    [T, const N: usize] [T; N];
    [T] Vec<T>;
    [T] VecDeque<T>;
    [T] Box<[T]>;
    [K, T] BTreeMap<K, T>;
    [K, T, H] HashMap<K, T, H>;
    [K, T, H] IndexMap<K, T, H>;
    [] Tree<L>;
}

/// Pointers do not show in the structure: they fill as what they point to.
macro_rules! pointers {
    ($($pointer:ident)*) => { $(
        impl<L, T: Fill<L>> Fill<L> for $pointer<T> {
            type Within<S> = T::Within<S>;
        }
    )* };
}

pointers!(Box Rc Arc);

macro_rules! tuples {
    ($(($($name:ident)+))*) => { $(
        impl<Leaf, Inner, $($name: Compose<Leaf, Inner>),+> Compose<Leaf, Inner> for ($($name,)+) {
            type Composed = ($($name::Composed,)+);
        }

        impl<Leaf, $($name),+> Fill<Leaf> for ($($name,)+) {
            type Within<S> = Tree<Leaf>;
        }
    )* };
}

tuples! {
    (A)
    (A B)
    (A B C)
    (A B C D)
    (A B C D E)
    (A B C D E F)
    (A B C D E F G)
    (A B C D E F G H)
    (A B C D E F G H I)
    (A B C D E F G H I J)
    (A B C D E F G H I J K)
    (A B C D E F G H I J K M)
}
