//! Random keys and bits: Threefry is arithmetic on elements, so that draws fuse with what uses them.

use super::super::{Call, MapOp, Op, ValueId};
use super::{Application, Binding, Bindings, Build};
use crate::narrow;
use jaxide_core::prims::{RandomBits, RandomFoldIn, RandomSeed, RandomSplit};
use jaxide_core::{Aval, DType, Dims, Result, Scalar, element_count};

impl Build {
    pub(super) fn threefry(&mut self, app: &Application<'_>) -> Result<Bindings> {
        let shape = app.shape();
        let mut args = Vec::new();
        for arg in self.values(app.args)? {
            args.push(self.fit(arg, shape));
        }
        let words = (0..2).map(|word| {
            let bits = self.map(MapOp::Threefry { word }, &args, DType::U32);
            Binding::Value(self.scope.broadcast_scalar(bits, shape))
        });
        Ok(words.collect())
    }

    /// Types of operands that are arrays.
    pub(super) fn avals(&self, args: &[Binding]) -> Result<Vec<Aval>> {
        let values = self.values(args)?.into_iter();
        let aval = |value| Aval::new(self.scope.dtype(value), &self.scope.shape(value));
        Ok(values.map(aval).collect())
    }

    pub(super) fn random_bits(
        &mut self,
        params: &RandomBits,
        app: &Application<'_>,
    ) -> Result<Bindings> {
        let keys = self.value(app.args[0])?;
        if self.scope.dtype(keys) != DType::KeyFry {
            return self.routine(params, app);
        }
        let shape = app.shape();
        let keys = self.leading(keys, shape);
        let (high, low) = self.counters(&params.shape, shape)?;
        let (k0, k1) = (self.key_word(keys, 0), self.key_word(keys, 1));
        let block = |build: &mut Build, word| {
            build.map(MapOp::Threefry { word }, &[k0, k1, high, low], DType::U32)
        };
        let (a, b) = (block(self, 0), block(self, 1));
        let bits = if params.bit_width == 64 {
            let (a, b) = (
                self.scope.convert(a, DType::U64),
                self.scope.convert(b, DType::U64),
            );
            let shift = self.scope.splat(Scalar::Int(32), DType::U64, &[])?;
            let a = self.map(MapOp::ShiftLeft, &[a, shift], DType::U64);
            self.map(MapOp::Or, &[a, b], DType::U64)
        } else {
            let both = self.map(MapOp::Xor, &[a, b], DType::U32);
            self.scope.convert(both, app.dtype())
        };
        let bits = self.scope.broadcast_scalar(bits, shape);
        Ok([Binding::Value(bits)].into_iter().collect())
    }

    pub(super) fn random_seed(
        &mut self,
        params: &RandomSeed,
        app: &Application<'_>,
    ) -> Result<ValueId> {
        let seeds = self.value(app.args[0])?;
        let bits = self.scope.dtype(seeds).bits();
        let high = if bits == 64 {
            let wide = self.scope.convert(seeds, DType::I64);
            let shift = self.scope.splat(Scalar::Int(32), DType::I64, &[])?;
            let shifted = self.map(MapOp::ShiftRightArithmetic, &[wide, shift], DType::I64);
            self.scope.convert(shifted, DType::U32)
        } else {
            self.scope.splat(Scalar::Int(0), DType::U32, &[])?
        };
        let low = self.scope.convert(seeds, DType::U32);
        let dtype = params.impl_.dtype();
        let words: Vec<ValueId> = [high, low].repeat(dtype.size() / 8);
        let key = self.map(MapOp::KeyFromWords, &words, dtype);
        Ok(self.scope.broadcast_scalar(key, app.shape()))
    }

    /// Between keys and their words along a last axis.
    pub(super) fn random_words(&mut self, app: &Application<'_>) -> Result<ValueId> {
        let x = self.value(app.args[0])?;
        let own = self.scope.dtype(x);
        if own.is_key() {
            let words = own.size() / 4;
            let mut shape = self.scope.shape(x);
            shape.push(1);
            let slices: Vec<ValueId> = (0..narrow(words))
                .map(|word| {
                    let word = self.key_word(x, word);
                    self.scope.reshape(word, &shape)
                })
                .collect();
            return Ok(self.scope.concat(&slices, shape.len() - 1));
        }
        let dtype = app.dtype();
        let shape = self.scope.shape(x);
        let last = shape.len() - 1;
        let mut start: Dims = smallvec::smallvec![0; shape.len()];
        let mut size = shape.clone();
        size[last] = 1;
        let ones: Dims = smallvec::smallvec![1; shape.len()];
        let mut words = Vec::new();
        for word in 0..dtype.size() / 4 {
            start[last] = word;
            let slice = self.scope.slice(x, &start, &size, &ones);
            words.push(self.scope.reshape(slice, &shape[..last]));
        }
        Ok(self.map(MapOp::KeyFromWords, &words, dtype))
    }

    pub(super) fn random_split(
        &mut self,
        params: &RandomSplit,
        app: &Application<'_>,
    ) -> Result<ValueId> {
        let keys = self.value(app.args[0])?;
        let shape = app.shape();
        if self.scope.dtype(keys) == DType::KeyUnsafeRbg {
            let call = Op::Call(Call::Routine(params.clone().into()));
            return Ok(self.scope.one(call, &[keys], app.dtype(), shape));
        }
        let keys = self.leading(keys, shape);
        let (high, low) = self.counters(&params.shape, shape)?;
        let key = self.derive(keys, high, low);
        Ok(self.scope.broadcast_scalar(key, shape))
    }

    pub(super) fn random_fold_in(&mut self, app: &Application<'_>) -> Result<ValueId> {
        let args = self.values(app.args)?;
        let shape = app.shape();
        let keys = self.fit(args[0], shape);
        let data = self.scope.convert(args[1], DType::U32);
        if self.scope.dtype(keys) == DType::KeyUnsafeRbg {
            let call = Op::Call(Call::Routine(RandomFoldIn.into()));
            let data_shape = self.scope.shape(data);
            let masks = self.scope.one(call, &[data], app.dtype(), &data_shape);
            let masks = self.fit(masks, shape);
            let words: Vec<ValueId> = (0..4)
                .map(|word| {
                    let (key, mask) = (self.key_word(keys, word), self.key_word(masks, word));
                    self.map(MapOp::Xor, &[key, mask], DType::U32)
                })
                .collect();
            let key = self.map(MapOp::KeyFromWords, &words, app.dtype());
            return Ok(self.scope.broadcast_scalar(key, shape));
        }
        let low = self.fit(data, shape);
        let high = self.scope.splat(Scalar::Int(0), DType::U32, &[])?;
        let key = self.derive(keys, high, low);
        Ok(self.scope.broadcast_scalar(key, shape))
    }

    /// New keys: each pair of words enciphers the counter.
    fn derive(&mut self, keys: ValueId, high: ValueId, low: ValueId) -> ValueId {
        let dtype = self.scope.dtype(keys);
        let mut words = Vec::new();
        for pair in 0..narrow::<_, u32>(dtype.size()) / 8 {
            let (k0, k1) = (
                self.key_word(keys, 2 * pair),
                self.key_word(keys, 2 * pair + 1),
            );
            for word in 0..2 {
                words.push(self.map(MapOp::Threefry { word }, &[k0, k1, high, low], DType::U32));
            }
        }
        self.map(MapOp::KeyFromWords, &words, dtype)
    }

    fn key_word(&mut self, keys: ValueId, word: u32) -> ValueId {
        self.map(MapOp::KeyWord(word), &[keys], DType::U32)
    }

    /// Keys along the leading axes of `shape`.
    fn leading(&mut self, keys: ValueId, shape: &[usize]) -> ValueId {
        let dims: Dims = (0..self.scope.shape(keys).len()).collect();
        self.scope.broadcast(keys, shape, &dims)
    }

    /// The two halves of a counter over `own`, the trailing axes of `shape`.
    fn counters(&mut self, own: &[usize], shape: &[usize]) -> Result<(ValueId, ValueId)> {
        let count = element_count(own)?;
        let dims: Dims = (shape.len() - own.len()..shape.len()).collect();
        let counter = |build: &mut Build, dtype| {
            let counter = build.scope.iota(dtype, &[count], 0);
            let counter = build.scope.reshape(counter, own);
            build.scope.broadcast(counter, shape, &dims)
        };
        if count <= 1 << 31 {
            let high = self.scope.splat(Scalar::Int(0), DType::U32, &[])?;
            return Ok((high, counter(self, DType::U32)));
        }
        let wide = counter(self, DType::U64);
        let shift = self.scope.splat(Scalar::Int(32), DType::U64, &[])?;
        let high = self.map(MapOp::ShiftRightLogical, &[wide, shift], DType::U64);
        let (high, low) = (
            self.scope.convert(high, DType::U32),
            self.scope.convert(wide, DType::U32),
        );
        Ok((high, low))
    }
}
