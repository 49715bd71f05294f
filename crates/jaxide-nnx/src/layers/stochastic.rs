//! Dropout.

use jaxide::{Array, Error, numpy, raise, random};

use super::options;
use crate::{Module, RngStream, Rngs, Switch, observed};

options! {
    /// What [`Dropout`] takes beside its rate.
    pub struct DropoutOptions {
        /// Axes along which the same elements are dropped.
        broadcast_dims: Vec<i64> = Vec::new();
        /// Whether nothing is dropped.
        deterministic: bool = false;
        /// The stream whose next key the layer is made with.
        rng_collection: String = "dropout".to_owned();
    }
}

/// Sets elements to zero at random, and divides the others by the chance that they are kept.
///
/// The layer has a stream of its own, whose key is the next one of the stream `dropout`, or another, when it is made.
///
/// ```
/// use jaxide_nnx::{Dropout, Module, Rngs};
/// use jaxide::{Array, DType};
/// let dropout = Dropout::new(0.5, &Rngs::new(0), ());
/// let x = Array::ones([4], DType::F32);
/// assert!(dropout.call(&x).to_vec::<f32>().iter().all(|&x| x == 0.0 || x == 2.0));
/// dropout.eval();
/// assert_eq!(dropout.call(&x).to_vec::<f32>(), [1.0; 4]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct Dropout {
    rate: f64,
    broadcast_dims: Vec<i64>,
    deterministic: Switch,
    /// Where keys come from.
    pub rngs: RngStream,
}

impl Dropout {
    /// A layer that drops elements with probability `rate`.
    ///
    /// # Panics
    /// When `rate` is no probability, or there is no stream of that name and no default.
    #[track_caller]
    pub fn new(rate: f64, rngs: &Rngs, options: impl Into<DropoutOptions>) -> Self {
        if !(0.0..=1.0).contains(&rate) {
            raise(
                Error::parameter(format!("the rate {rate} is no probability"))
                    .in_operation("Dropout"),
            );
        }
        let options = options.into();
        Dropout {
            rate,
            broadcast_dims: options.broadcast_dims,
            deterministic: Switch::new(options.deterministic),
            rngs: rngs.found(&options.rng_collection).fork(),
        }
    }

    /// `x` with elements dropped, or as it is where nothing is to be dropped.
    ///
    /// # Panics
    /// When the layer was made outside of the innermost trace and drops elements.
    #[track_caller]
    #[observed]
    pub fn call(&self, x: &Array) -> Array {
        self.dropped(x, || self.rngs.next())
    }

    /// [`Dropout::call`] with this key instead of the next one, so that nothing changes.
    ///
    /// # Panics
    /// When `key` is no key.
    ///
    /// ```
    /// use jaxide_nnx::{Dropout, Rngs};
    /// use jaxide::{Array, DType, random};
    /// let (dropout, x) = (Dropout::new(0.5, &Rngs::new(0), ()), Array::ones([8], DType::F32));
    /// let [first, second] = [0, 0].map(|_| dropout.call_with_key(&x, &random::key(1)));
    /// assert_eq!(first.to_vec::<f32>(), second.to_vec::<f32>());
    /// assert_eq!(dropout.rngs.count().get().item::<u32>(), 0);
    /// ```
    #[track_caller]
    #[observed("call")]
    pub fn call_with_key(&self, x: &Array, key: &Array) -> Array {
        self.dropped(x, || key.clone())
    }

    #[track_caller]
    fn dropped(&self, x: &Array, key: impl FnOnce() -> Array) -> Array {
        if self.deterministic.is_on() || self.rate == 0.0 {
            return x.clone();
        }
        if self.rate == 1.0 {
            return numpy::zeros_like(x, ());
        }
        let kept = 1.0 - self.rate;
        let mut shape = x.shape().to_vec();
        for &axis in &self.broadcast_dims {
            match shape.get_mut(super::linear::normalize(axis, x)) {
                Some(length) => *length = 1,
                None => raise(
                    Error::shape(format!("{} has no axis {axis}", x.aval()))
                        .in_operation("Dropout"),
                ),
            }
        }
        let mask = random::bernoulli(&key(), kept, random::Bernoulli::new().shape(&shape[..]));
        let mask = mask.broadcast_to(x.shape());
        numpy::where_(mask, x / kept, numpy::zeros_like(x, ()))
    }
}
