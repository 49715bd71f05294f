//! Kinds of variables.

use std::any::TypeId;
use std::fmt;
use std::hash::{Hash, Hasher};

/// What a variable is for. Filters select by it, and a kind may be a special case of another.
///
/// ```
/// use jaxide_nnx::{Kind, Variable};
/// struct Threshold;
/// impl Kind for Threshold {
///     const NAME: &'static str = "Threshold";
/// }
/// let v = Variable::<Threshold>::new(1.0f32);
/// assert_eq!(v.kind().name(), "Threshold");
/// ```
pub trait Kind: Send + Sync + 'static {
    /// The name that is printed.
    const NAME: &'static str;

    /// The kind that this one is a special case of.
    fn parent() -> Option<KindRef> {
        None
    }
}

/// A [`Kind`] as a value.
#[derive(Clone, Copy)]
pub struct KindRef {
    id: TypeId,
    name: &'static str,
    parent: fn() -> Option<KindRef>,
}

impl KindRef {
    /// The kind `K`.
    pub fn of<K: Kind>() -> Self {
        KindRef {
            id: TypeId::of::<K>(),
            name: K::NAME,
            parent: K::parent,
        }
    }

    /// The name that is printed.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The kind that this one is a special case of.
    pub fn parent(self) -> Option<KindRef> {
        (self.parent)()
    }

    /// Whether this is `other` or a special case of it.
    pub fn is(self, other: KindRef) -> bool {
        self == other || (self.parent)().is_some_and(|parent| parent.is(other))
    }
}

impl PartialEq for KindRef {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for KindRef {}

impl Hash for KindRef {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl fmt::Debug for KindRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident $(: $parent:ident)?;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name;

        impl Kind for $name {
            const NAME: &'static str = stringify!($name);
            $(
                fn parent() -> Option<KindRef> {
                    Some(KindRef::of::<$parent>())
                }
            )?
        }
    )* };
}

kinds! {
    /// What is learnt.
    Param;
    /// What a low-rank adaptation learns.
    LoRAParam: Param;
    /// Statistics over batches.
    BatchStat;
    /// Keys and values of earlier positions.
    Cache;
    /// Values noted on the way.
    Intermediate;
    /// What is added to a value so that the gradient there can be seen.
    Perturbation: Intermediate;
    /// The state of streams of random numbers.
    RngState;
    /// The key of a stream.
    RngKey: RngState;
    /// How many keys a stream has given.
    RngCount: RngState;
    /// The state of an optimiser.
    OptState;
    /// The state of a metric.
    MetricState;
}
