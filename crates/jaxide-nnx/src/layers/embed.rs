//! Embeddings.

use jaxide::nn::initializers::variance_scaling;
use jaxide::{Array, DType, Error, numpy, raise};

use super::{Initializer, options, promote};
use crate::{Module, Param, Rngs, Variable, observed};

options! {
    /// What [`Embed`] takes beside its sizes.
    pub struct EmbedOptions {
        /// The element type of the result; by default that of the table.
        dtype: Option<DType> = None;
        /// The element type of the table.
        param_dtype: DType = DType::F32;
        /// What the table is at first.
        embedding_init: Initializer = default_init();
    }
}

fn default_init() -> Initializer {
    use jaxide::nn::initializers::{Distribution, Fan, Fans};
    variance_scaling(1.0, Fan::In, Distribution::Normal, Fans::new().out_axis(0)).into()
}

/// A table `[num_embeddings, features]`, whose rows integers stand for.
///
/// ```
/// use jaxide_nnx::{Embed, Rngs};
/// use jaxide::Array;
/// let embed = Embed::new(5, 3, &Rngs::new(0), ());
/// let rows = embed.call(&Array::from([4, 0]));
/// assert_eq!(rows.shape(), [2, 3]);
/// assert_eq!(embed.attend(&rows).shape(), [2, 5]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct Embed {
    /// `[num_embeddings, features]`.
    pub embedding: Variable<Param>,
    num_embeddings: usize,
    features: usize,
    dtype: DType,
}

impl Embed {
    /// A table of these sizes.
    ///
    /// # Panics
    /// When there is no stream for `params`.
    #[track_caller]
    pub fn new(
        num_embeddings: usize,
        features: usize,
        rngs: &Rngs,
        options: impl Into<EmbedOptions>,
    ) -> Self {
        let options = options.into();
        let table = options.embedding_init.call(
            &rngs.params(),
            &[num_embeddings, features],
            options.param_dtype,
        );
        Embed {
            dtype: options.dtype.unwrap_or(table.dtype()),
            embedding: Variable::new(table),
            num_embeddings,
            features,
        }
    }

    /// The rows of `ids`: of shape `[.., features]`.
    ///
    /// # Panics
    /// When `ids` are not integers.
    #[track_caller]
    #[observed]
    pub fn call(&self, ids: &Array) -> Array {
        if !ids.dtype().is_integer() {
            raise(
                Error::dtype(format!("ids must be integers, and are {}", ids.aval()))
                    .in_operation("Embed"),
            );
        }
        let table = self.embedding.get().astype(self.dtype);
        if self.num_embeddings == 1 {
            let shape = [ids.shape(), &[self.features]].concat();
            return table.broadcast_to(&shape[..]);
        }
        numpy::take(&table, ids, 0)
    }

    /// The products of `query`, of shape `[.., features]`, with all rows.
    ///
    /// # Panics
    /// When the last axis of `query` has another length.
    #[track_caller]
    pub fn attend(&self, query: &Array) -> Array {
        let [query, table] = promote(Some(self.dtype), [query, &self.embedding.get()]);
        numpy::dot(&query, &table.t())
    }
}
