//! Layers one after the other.

use std::any::{Any, TypeId};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use jaxide::{Array, Result};

use super::{Bidirectional, Cell, MultiHeadAttention, RNN};
use crate::graph::{Flatten, Rebuild};
use crate::{Attribute, List, Module, observed};

/// What [`Sequential`] applies: a function of an array with state of its own. Functions `fn(&Array) -> Array` are layers too.
pub trait Layer: Attribute + Send + Sync + 'static {
    /// The layer of `x`.
    fn apply(&self, x: &Array) -> Array;
}

macro_rules! layers {
    ($($ty:ty)*) => { $(
        impl Layer for $ty {
            #[track_caller]
            fn apply(&self, x: &Array) -> Array {
                self.call(x)
            }
        }
    )* };
}

layers! {
    super::Linear super::LinearGeneral super::Einsum super::Embed super::BatchNorm super::LayerNorm super::RMSNorm
    super::InstanceNorm super::GroupNorm super::Dropout super::Conv super::ConvTranspose super::PReLU super::LoRA super::LoRALinear
    Sequential
}

impl<C: Cell + Send + Sync + 'static> Layer for RNN<C> {
    #[track_caller]
    fn apply(&self, x: &Array) -> Array {
        self.call(x)
    }
}

impl<F, B> Layer for Bidirectional<F, B>
where
    F: Cell + Send + Sync + 'static,
    B: Cell + Send + Sync + 'static,
{
    #[track_caller]
    fn apply(&self, x: &Array) -> Array {
        self.call(x)
    }
}

impl Layer for MultiHeadAttention {
    #[track_caller]
    fn apply(&self, x: &Array) -> Array {
        self.call(x, ())
    }
}

impl Layer for fn(&Array) -> Array {
    fn apply(&self, x: &Array) -> Array {
        self(x)
    }
}

/// [`Layer`] for objects.
trait DynLayer: Send + Sync {
    fn apply(&self, x: &Array) -> Array;
    fn flatten(&self, to: &mut Flatten);
}

impl<L: Layer> DynLayer for L {
    fn apply(&self, x: &Array) -> Array {
        Layer::apply(self, x)
    }

    fn flatten(&self, to: &mut Flatten) {
        to.any(RebuildAny::new(TypeId::of::<L>(), |from| {
            Ok(Box::new(AnyLayer::new(L::rebuild(from)?)))
        }));
        Attribute::flatten(self, to);
    }
}

/// How a module of a type that is known at run time only is rebuilt.
#[derive(Clone, Copy)]
pub struct RebuildAny {
    id: TypeId,
    rebuild: RebuildFn,
}

type RebuildFn = fn(&mut Rebuild<'_>) -> Result<Box<dyn Any>>;

impl RebuildAny {
    /// That of the type `id`; what `rebuild` gives is the type that forgets it.
    pub(crate) fn new(id: TypeId, rebuild: RebuildFn) -> Self {
        RebuildAny { id, rebuild }
    }

    pub(crate) fn rebuild(self, from: &mut Rebuild<'_>) -> Result<Box<dyn Any>> {
        (self.rebuild)(from)
    }
}

impl PartialEq for RebuildAny {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for RebuildAny {}

impl Hash for RebuildAny {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl fmt::Debug for RebuildAny {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Any")
    }
}

/// A layer of any type. Clones are the same layer.
#[derive(Clone)]
pub struct AnyLayer(Arc<dyn DynLayer>);

impl AnyLayer {
    /// A layer whose type is forgotten.
    pub fn new(layer: impl Layer) -> Self {
        AnyLayer(Arc::new(layer))
    }

    /// The layer of `x`.
    #[track_caller]
    pub fn call(&self, x: &Array) -> Array {
        self.0.apply(x)
    }
}

impl fmt::Debug for AnyLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnyLayer")
    }
}

impl<L: Layer> From<L> for AnyLayer {
    fn from(layer: L) -> Self {
        AnyLayer::new(layer)
    }
}

impl Attribute for AnyLayer {
    const DATA: bool = true;

    fn flatten(&self, to: &mut Flatten) {
        self.0.flatten(to);
    }

    fn rebuild(from: &mut Rebuild<'_>) -> Result<Self> {
        from.any()
    }
}

/// Layers one after the other.
///
/// ```
/// use jaxide_nnx::{Linear, Rngs, Sequential};
/// use jaxide::{Array, DType, nn};
/// let rngs = Rngs::new(0);
/// let model = Sequential::new()
///     .then(Linear::new(2, 8, &rngs, ()))
///     .then(nn::relu as fn(&Array) -> Array)
///     .then(Linear::new(8, 1, &rngs, ()));
/// assert_eq!(model.call(&Array::ones([4, 2], DType::F32)).shape(), [4, 1]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct Sequential {
    layers: List<AnyLayer>,
}

impl Default for Sequential {
    fn default() -> Self {
        Self::new()
    }
}

impl Sequential {
    /// No layers: what gives back its argument.
    #[must_use]
    pub fn new() -> Self {
        Sequential {
            layers: List::default(),
        }
    }

    /// The layers so far and then one more.
    #[must_use]
    pub fn then(mut self, layer: impl Layer) -> Self {
        self.layers.push(AnyLayer::new(layer));
        self
    }

    /// The layers in order.
    pub fn layers(&self) -> &[AnyLayer] {
        &self.layers
    }

    /// All layers of `x`, one after the other.
    #[track_caller]
    #[observed]
    pub fn call(&self, x: &Array) -> Array {
        self.layers
            .iter()
            .fold(x.clone(), |x, layer| layer.call(&x))
    }
}
