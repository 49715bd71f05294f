//! Streams of random keys.

use std::sync::Arc;

use jaxide::{Array, AsShape, DType, Error, Result, numpy, raise, random};

use crate::graph::{Flatten, Rebuild, Style};
use crate::variable::Value;
use crate::{Attribute, Dict, Key, RngCount, RngKey, Variable};

/// A stream of keys: call `n` gives `fold_in(key, n)`.
///
/// ```
/// use jaxide_nnx::RngStream;
/// use jaxide::random;
/// let stream = RngStream::new("params", &random::key(0));
/// let first = stream.next();
/// assert_eq!(random::key_data(&first).to_vec::<u32>(), [1797259609, 2579123966]);
/// ```
#[derive(Clone, Debug)]
pub struct RngStream {
    tag: String,
    key: Variable<RngKey>,
    count: Variable<RngCount>,
}

impl RngStream {
    /// A stream of a key, which has given none yet. `tag` is what its variables are marked with.
    pub fn new(tag: impl Into<String>, key: &Array) -> Self {
        let tag = tag.into();
        RngStream {
            key: Variable::new(key.clone()).with("tag", tag.clone()),
            count: Variable::new(Array::zeros((), DType::U32)).with("tag", tag.clone()),
            tag,
        }
    }

    /// The next key.
    ///
    /// # Panics
    /// When the stream was made outside of the innermost trace.
    #[track_caller]
    #[allow(clippy::should_implement_trait)]
    pub fn next(&self) -> Array {
        let count = self.count.get();
        if let Err(error) = self
            .count
            .any()
            .try_set(Value::Array(numpy::add(&count, Array::scalar(1u32))))
        {
            raise(error);
        }
        random::fold_in(&self.key.get(), count)
    }

    /// The key of the stream.
    pub fn key(&self) -> &Variable<RngKey> {
        &self.key
    }

    /// How many keys it has given.
    pub fn count(&self) -> &Variable<RngCount> {
        &self.count
    }

    /// A stream of its own, whose key is the next one of this.
    ///
    /// # Panics
    /// As [`RngStream::next`].
    #[must_use]
    #[track_caller]
    pub fn fork(&self) -> Self {
        RngStream::new(self.tag.clone(), &self.next())
    }

    /// A stream of `shape` streams, whose keys are those of the next one split: for `vmap` over the first axes.
    ///
    /// # Panics
    /// As [`RngStream::next`].
    #[must_use]
    #[track_caller]
    pub fn split(&self, shape: impl AsShape) -> Self {
        let keys = random::split(&self.next(), shape);
        let count = Array::zeros(keys.shape(), DType::U32);
        let stream = RngStream::new(self.tag.clone(), &keys);
        stream.count.set(count);
        stream
    }
}

impl Attribute for RngStream {
    const DATA: bool = true;

    fn flatten(&self, to: &mut Flatten) {
        to.node(
            "RngStream",
            Style::Object,
            vec!["count".into(), "key".into(), "tag".into()],
        );
        to.declared(&[2, 1, 0]);
        to.attribute("count", &self.count);
        to.attribute("key", &self.key);
        to.attribute("tag", &self.tag);
    }

    fn rebuild(from: &mut Rebuild<'_>) -> Result<Self> {
        from.node("an RngStream", Style::Object)?;
        let count = from.attribute("count")?;
        let key = from.attribute("key")?;
        let tag = from.attribute("tag")?;
        Ok(RngStream { tag, key, count })
    }
}

/// Streams of keys by name; what has no stream of its own comes from `default`.
///
/// Clones are the same streams: each key is given once.
///
/// ```
/// use jaxide_nnx::Rngs;
/// let rngs = Rngs::new(0).with("params", 1);
/// let kernel_key = rngs.make("params");
/// let other_key = rngs.make("dropout");           // from `default`
/// assert_eq!(rngs.stream("params").unwrap().count().get().item::<u32>(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Rngs {
    streams: Dict<Arc<RngStream>>,
}

impl Rngs {
    /// Streams with this default: a seed or a key.
    pub fn new(default: impl IntoKey) -> Self {
        Rngs::empty().with("default", default)
    }

    /// No streams; [`Rngs::with`] adds some.
    pub fn empty() -> Self {
        Rngs {
            streams: Dict::default(),
        }
    }

    /// The same streams and one more: of a seed or a key.
    #[must_use]
    pub fn with(mut self, name: &str, key: impl IntoKey) -> Self {
        let stream = RngStream::new(name, &key.into_key());
        self.streams.insert(name.to_owned(), Arc::new(stream));
        self
    }

    /// The stream of a name, or `default`.
    pub fn stream(&self, name: &str) -> Option<&RngStream> {
        self.streams
            .get(name)
            .or_else(|| self.streams.get("default"))
            .map(|stream| &**stream)
    }

    /// The next key of a stream.
    ///
    /// # Panics
    /// When there is neither such a stream nor a default one, or it was made outside of the innermost trace.
    #[track_caller]
    pub fn make(&self, name: &str) -> Array {
        self.found(name).next()
    }

    #[track_caller]
    pub(crate) fn found(&self, name: &str) -> &RngStream {
        match self.stream(name) {
            Some(stream) => stream,
            None => {
                let known: Vec<&str> = self.streams.keys().map(String::as_str).collect();
                raise(Error::parameter(format!(
                    "there is no stream `{name}`, and no `default`; the streams are: {}",
                    known.join(", ")
                )))
            }
        }
    }

    /// The next key of `params`.
    ///
    /// # Panics
    /// As [`Rngs::make`].
    #[track_caller]
    pub fn params(&self) -> Array {
        self.make("params")
    }

    /// The next key of `dropout`.
    ///
    /// # Panics
    /// As [`Rngs::make`].
    #[track_caller]
    pub fn dropout(&self) -> Array {
        self.make("dropout")
    }

    /// Numbers between 0 and 1, by the next key of `default`.
    ///
    /// # Panics
    /// As [`Rngs::make`].
    #[track_caller]
    pub fn uniform(&self, shape: impl AsShape) -> Array {
        random::uniform(&self.make("default"), shape, DType::F32, 0.0, 1.0)
    }

    /// Normally distributed numbers, by the next key of `default`.
    ///
    /// # Panics
    /// As [`Rngs::make`].
    #[track_caller]
    pub fn normal(&self, shape: impl AsShape) -> Array {
        random::normal(&self.make("default"), shape, DType::F32)
    }

    /// `true` with probability `p`, by the next key of `default`.
    ///
    /// # Panics
    /// As [`Rngs::make`].
    #[track_caller]
    pub fn bernoulli(&self, p: f32, shape: impl AsShape) -> Array {
        let shape = shape.lengths();
        random::bernoulli(
            &self.make("default"),
            p,
            random::Bernoulli::new().shape(&shape[..]),
        )
    }

    /// Integers of `minval..maxval`, by the next key of `default`.
    ///
    /// # Panics
    /// As [`Rngs::make`].
    #[track_caller]
    pub fn randint(&self, shape: impl AsShape, minval: i64, maxval: i64) -> Array {
        random::randint(&self.make("default"), shape, minval, maxval, DType::I32)
    }

    /// Streams of their own, whose keys are the next ones of these.
    ///
    /// # Panics
    /// As [`RngStream::next`].
    #[must_use]
    #[track_caller]
    pub fn fork(&self) -> Self {
        Rngs {
            streams: self
                .streams
                .iter()
                .map(|(name, stream)| (name.clone(), Arc::new(stream.fork())))
                .collect(),
        }
    }

    /// Streams of `shape` streams, for `vmap` over their first axes.
    ///
    /// # Panics
    /// As [`RngStream::next`].
    #[must_use]
    #[track_caller]
    pub fn split(&self, shape: impl AsShape + Clone) -> Self {
        let streams = self.streams.iter();
        Rngs {
            streams: streams
                .map(|(name, stream)| (name.clone(), Arc::new(stream.split(shape.clone()))))
                .collect(),
        }
    }
}

impl Attribute for Rngs {
    const DATA: bool = true;

    fn flatten(&self, to: &mut Flatten) {
        to.node(
            "Rngs",
            Style::Object,
            self.streams.keys().cloned().map(Key::from).collect(),
        );
        for (name, stream) in self.streams.iter() {
            to.attribute(name.clone(), stream);
        }
    }

    fn rebuild(from: &mut Rebuild<'_>) -> Result<Self> {
        let keys = from.node("Rngs", Style::Object)?.keys.clone();
        let streams = keys
            .iter()
            .map(|key| Ok((key.to_string(), from.attribute(key.clone())?)));
        Ok(Rngs {
            streams: streams.collect::<Result<_>>()?,
        })
    }
}

/// What gives a stream its key: a seed, or a key.
pub trait IntoKey {
    /// The key.
    fn into_key(self) -> Array;
}

macro_rules! seeds {
    ($($ty:ty)*) => { $(
        impl IntoKey for $ty {
            fn into_key(self) -> Array {
                random::key(self)
            }
        }
    )* };
}

seeds!(i32 i64 u32);

/// A key stays what it is; an integer is a seed.
impl IntoKey for Array {
    #[track_caller]
    fn into_key(self) -> Array {
        (&self).into_key()
    }
}

impl IntoKey for &Array {
    #[track_caller]
    fn into_key(self) -> Array {
        if self.dtype().is_key() {
            self.clone()
        } else {
            random::key(self)
        }
    }
}

crate::node_types! {
    [] RngStream;
    [] Rngs;
}
