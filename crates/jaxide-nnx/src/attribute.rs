//! What can be an attribute of a module, and the containers for modules.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jaxide::tree::{Pytree, StaticValue};
use jaxide::{Array, DType, Result};

use crate::graph::{self, Flatten, Rebuild, Static, Style};
use crate::{Key, Kind, Path, Variable};

/// What can be a field of a struct with `#[derive(Module)]`, and whether it is data or static.
///
/// Arrays, [`Variable`]s, modules, [`List`], [`Dict`] and options of these are data. Numbers, `bool`, strings, element types,
/// functions `fn(&Array) -> Array`, and vectors and options of these are static: part of the graph definition.
///
/// A vector of arrays or modules is neither, since Flax's rule, that data hidden in a static container is a mistake, holds
/// here for types: use [`List`], or mark a field of arrays `#[nnx(data)]`. Types of your own that are no modules become
/// static by [`static_attributes!`](crate::static_attributes) or the mark `#[nnx(static)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an attribute of a module",
    label = "neither data nor static",
    note = "arrays, variables and modules are data; several of them stand in a `jaxide_nnx::List` or `Dict`",
    note = "a tree of arrays is data with `#[nnx(data)]`; other values are static with `#[nnx(static)]`"
)]
pub trait Attribute: Sized {
    /// Whether values of the type are data.
    const DATA: bool;

    /// Writes the value to a graph.
    fn flatten(&self, to: &mut Flatten);

    /// Reads a value from a graph.
    ///
    /// # Errors
    /// When the graph has something else.
    fn rebuild(from: &mut Rebuild<'_>) -> Result<Self>;
}

/// A node of a graph: a struct with `#[derive(Module)]`, a list, a dict.
///
/// Modules are pytrees of arrays, so that every transformation of `jaxide` takes and gives them; those of this crate carry
/// changes of their variables back as well.
pub trait Module: Attribute + Pytree<Array> {
    /// The module as Flax prints it, with the sizes of its state.
    fn display(&self) -> String {
        crate::print::module(self)
    }

    /// Switches everything that behaves differently in training to that, and says how many switches there are.
    fn train(&self) -> usize {
        graph::set_switches(self, "deterministic", false)
            + graph::set_switches(self, "use_running_average", false)
    }

    /// Switches everything that behaves differently in training to evaluation, and says how many switches there are.
    fn eval(&self) -> usize {
        graph::set_switches(self, "deterministic", true)
            + graph::set_switches(self, "use_running_average", true)
    }
}

/// Types whose values are static attributes.
pub trait StaticAttribute: StaticValue + Clone + 'static {}

/// Makes types static attributes: they must be `Eq + Hash + Debug + Clone + Send + Sync + 'static`.
///
/// ```
/// #[derive(Clone, Debug, PartialEq, Eq, Hash)]
/// enum Padding { Same, Valid }
/// jaxide_nnx::static_attributes!(Padding);
/// assert!(!jaxide_nnx::is_data(&Padding::Same));
/// # let _ = Padding::Valid;
/// ```
#[macro_export]
macro_rules! static_attributes {
    ($($ty:ty),* $(,)?) => { $(
        impl $crate::StaticAttribute for $ty {}

        impl $crate::Attribute for $ty {
            const DATA: bool = false;

            fn flatten(&self, to: &mut $crate::graph::Flatten) {
                to.static_value(self);
            }

            fn rebuild(from: &mut $crate::graph::Rebuild<'_>) -> ::core::result::Result<Self, $crate::Error> {
                from.static_value()
            }
        }
    )* };
}

/// Makes nodes of types of your own: types with an [`Attribute`] that is data become pytrees and modules, which every transformation
/// takes. Structs have `#[derive(Module)]`; this is for containers, whose keys are known at run time only. Each type has its
/// parameters in front.
///
/// ```
/// use jaxide_nnx::graph::{Flatten, Rebuild, Style};
/// use jaxide_nnx::{self as nnx, Attribute, Key, Linear, Param, Result, Rngs};
/// use std::collections::VecDeque;
///
/// #[derive(Clone)]
/// struct Ring<T>(VecDeque<T>);
///
/// impl<T: Attribute> Attribute for Ring<T> {
///     const DATA: bool = true;
///
///     fn flatten(&self, to: &mut Flatten) {
///         to.node("Ring", Style::List, (0..self.0.len()).map(Key::from).collect());
///         for (place, item) in self.0.iter().enumerate() {
///             to.attribute(place, item);
///         }
///     }
///
///     fn rebuild(from: &mut Rebuild<'_>) -> Result<Self> {
///         let count = from.node("a Ring", Style::List)?.keys.len();
///         (0..count).map(|place| from.attribute(place)).collect::<Result<_>>().map(Ring)
///     }
/// }
///
/// nnx::node_types! {
///     [T: Attribute] Ring<T>;
/// }
///
/// let rngs = Rngs::new(0);
/// let ring = Ring((0..2).map(|_| Linear::new(1, 1, &rngs, ())).collect());
/// assert_eq!(nnx::state(&ring, Param)?.paths().last().unwrap().to_string(), "1/kernel");
/// let turn = nnx::jit(|ring: Ring<Linear>| ring.0[0].kernel.update(|kernel| kernel * 0.0));
/// turn(ring.clone());
/// assert_eq!(ring.0[0].kernel.get().to_vec::<f32>(), [0.0]);
/// # Ok::<(), nnx::Error>(())
/// ```
#[macro_export]
macro_rules! node_types {
    ($([$($generics:tt)*] $ty:ty;)*) => { $(
        impl<$($generics)*> $crate::graph::Pytree<$crate::graph::Array> for $ty {
            fn visit<'__a, __V: $crate::graph::Visitor<'__a, $crate::graph::Array>>(&'__a self, visitor: &mut __V)
            where
                $crate::graph::Array: '__a,
            {
                $crate::graph::visit(self, visitor);
            }

            fn unflatten<__I: ::core::iter::Iterator<Item = $crate::graph::Array>>(
                from: &mut $crate::graph::Unflatten<'_, __I>,
            ) -> ::core::result::Result<Self, $crate::graph::StructureError> {
                $crate::graph::unflatten(from)
            }
        }

        impl<$($generics)*> $crate::Module for $ty {}
    )* };
}

static_attributes!(
    bool,
    char,
    i8,
    i16,
    i32,
    i64,
    isize,
    u8,
    u16,
    u32,
    u64,
    usize,
    String,
    &'static str,
    DType,
    fn(&Array) -> Array,
    fn(&Array, &Array) -> Array,
    Key,
    Path,
);

/// A number with a point as a static value: equal when its bits are.
#[derive(Clone, Copy)]
struct Bits<T>(T);

macro_rules! floats {
    ($($ty:ty)*) => { $(
        impl PartialEq for Bits<$ty> {
            fn eq(&self, other: &Self) -> bool {
                self.0.to_bits() == other.0.to_bits()
            }
        }

        impl Eq for Bits<$ty> {}

        impl std::hash::Hash for Bits<$ty> {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                self.0.to_bits().hash(state);
            }
        }

        impl fmt::Debug for Bits<$ty> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl Attribute for $ty {
            const DATA: bool = false;

            fn flatten(&self, to: &mut Flatten) {
                to.static_value(&Bits(*self));
            }

            fn rebuild(from: &mut Rebuild<'_>) -> Result<Self> {
                from.static_value::<Bits<$ty>>().map(|bits| bits.0)
            }
        }
    )* };
}

floats!(f32 f64);

/// A number as a static value of an object.
pub(crate) fn static_float(value: f64) -> Static {
    Static::new(Bits(value))
}

impl<T: StaticAttribute> StaticAttribute for Vec<T> where Vec<T>: StaticValue {}

impl<T: StaticAttribute + Eq + std::hash::Hash> Attribute for Vec<T> {
    const DATA: bool = false;

    fn flatten(&self, to: &mut Flatten) {
        to.static_value(self);
    }

    fn rebuild(from: &mut Rebuild<'_>) -> Result<Self> {
        from.static_value()
    }
}

impl<T: StaticAttribute + Eq + std::hash::Hash, const N: usize> Attribute for [T; N] {
    const DATA: bool = false;

    fn flatten(&self, to: &mut Flatten) {
        to.static_value(self);
    }

    fn rebuild(from: &mut Rebuild<'_>) -> Result<Self> {
        from.static_value()
    }
}

impl Attribute for Array {
    const DATA: bool = true;

    fn flatten(&self, to: &mut Flatten) {
        to.array(self);
    }

    fn rebuild(from: &mut Rebuild<'_>) -> Result<Self> {
        from.array()
    }
}

impl<T: Attribute> Attribute for Option<T> {
    const DATA: bool = T::DATA;

    fn flatten(&self, to: &mut Flatten) {
        match self {
            None => to.none(),
            Some(value) => value.flatten(to),
        }
    }

    fn rebuild(from: &mut Rebuild<'_>) -> Result<Self> {
        if from.none() {
            return Ok(None);
        }
        T::rebuild(from).map(Some)
    }
}

/// A module that several attributes may hold: it stays one through `split`, `merge`, `clone` and transformations.
impl<T: Attribute + Send + Sync + 'static> Attribute for Arc<T> {
    const DATA: bool = true;

    fn flatten(&self, to: &mut Flatten) {
        to.shared(self);
    }

    fn rebuild(from: &mut Rebuild<'_>) -> Result<Self> {
        from.shared()
    }
}

impl<T: Attribute> Attribute for Box<T> {
    const DATA: bool = T::DATA;

    fn flatten(&self, to: &mut Flatten) {
        (**self).flatten(to);
    }

    fn rebuild(from: &mut Rebuild<'_>) -> Result<Self> {
        T::rebuild(from).map(Box::new)
    }
}

/// A list of modules, variables or arrays, whose paths are places: `blocks/0/kernel`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<T>(pub Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        List(Vec::new())
    }
}

impl<T> Deref for List<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T> DerefMut for List<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<T> From<Vec<T>> for List<T> {
    fn from(items: Vec<T>) -> Self {
        List(items)
    }
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        List(items.into_iter().collect())
    }
}

impl<'a, T> IntoIterator for &'a List<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T: Attribute> Attribute for List<T> {
    const DATA: bool = true;

    fn flatten(&self, to: &mut Flatten) {
        to.node(
            "List",
            Style::List,
            (0..self.len()).map(Key::Index).collect(),
        );
        for (place, item) in self.iter().enumerate() {
            to.attribute(place, item);
        }
    }

    fn rebuild(from: &mut Rebuild<'_>) -> Result<Self> {
        let len = from.node("a List", Style::List)?.keys.len();
        (0..len).map(|place| from.attribute(place)).collect()
    }
}

/// Modules, variables or arrays by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dict<T>(pub BTreeMap<String, T>);

impl<T> Default for Dict<T> {
    fn default() -> Self {
        Dict(BTreeMap::new())
    }
}

impl<T> Deref for Dict<T> {
    type Target = BTreeMap<String, T>;

    fn deref(&self) -> &BTreeMap<String, T> {
        &self.0
    }
}

impl<T> DerefMut for Dict<T> {
    fn deref_mut(&mut self) -> &mut BTreeMap<String, T> {
        &mut self.0
    }
}

impl<K: Into<String>, T> FromIterator<(K, T)> for Dict<T> {
    fn from_iter<I: IntoIterator<Item = (K, T)>>(items: I) -> Self {
        Dict(
            items
                .into_iter()
                .map(|(key, item)| (key.into(), item))
                .collect(),
        )
    }
}

impl<T: Attribute> Attribute for Dict<T> {
    const DATA: bool = true;

    fn flatten(&self, to: &mut Flatten) {
        to.node(
            "Dict",
            Style::Dict,
            self.keys().cloned().map(Key::from).collect(),
        );
        for (key, item) in self.iter() {
            to.attribute(key.clone(), item);
        }
    }

    fn rebuild(from: &mut Rebuild<'_>) -> Result<Self> {
        let keys = from.node("a Dict", Style::Dict)?.keys.clone();
        keys.iter()
            .map(|key| Ok((key.to_string(), from.attribute(key.clone())?)))
            .collect()
    }
}

/// A static attribute that is switched through shared references: whether a layer trains or evaluates.
///
/// Clones are the same switch; its state is part of the graph definition, so that programs are compiled for each.
#[derive(Clone, Debug, Default)]
pub struct Switch(Arc<AtomicBool>);

impl Switch {
    /// A switch.
    pub fn new(on: bool) -> Self {
        Switch(Arc::new(AtomicBool::new(on)))
    }

    /// Whether it is on.
    pub fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Switches it.
    pub fn set(&self, on: bool) {
        self.0.store(on, Ordering::Relaxed);
    }
}

impl Attribute for Switch {
    const DATA: bool = false;

    fn flatten(&self, to: &mut Flatten) {
        to.switch(self);
    }

    fn rebuild(from: &mut Rebuild<'_>) -> Result<Self> {
        from.static_value::<bool>().map(Switch::new)
    }
}

crate::node_types! {
    [K: Kind] Variable<K>;
    [T: Attribute] List<T>;
    [T: Attribute] Dict<T>;
}
