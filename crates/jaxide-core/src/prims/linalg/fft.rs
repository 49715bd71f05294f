//! The discrete Fourier transform: linear, and its transpose is a transform again.

use super::super::elementwise::index_dtype;
use super::super::named_function::call_named;
use super::super::shape::linear_jvp;
use super::super::*;
use super::matrices::conjugate;
use super::*;

impl Primitive for Fft {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        self.result(one(operands)?).map(|aval| smallvec![aval])
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        linear_jvp(&self.clone().into(), b, primals, tangents)
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        if operands[0].dim.is_none() {
            return batch_leading(self.clone().into(), b, operands, axis);
        }
        let x = to_front(b, operands[0], axis.size);
        Ok(smallvec![Batched {
            value: self.call(b, x)?,
            dim: Some(0)
        }])
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        _operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let Some(ct) = cotangents[0] else {
            return Ok(smallvec![None]);
        };
        Ok(smallvec![Some(match self.fft_type {
            FftType::Fft | FftType::Ifft => self.call(b, ct)?,
            FftType::Rfft => self.transpose_real_to_half(b, ct)?,
            FftType::Irfft => self.transpose_half_to_real(b, ct)?,
        })])
    }
}

impl Fft {
    /// The type of the transform of the last axes.
    fn result(&self, aval: &Aval) -> Result<Aval> {
        let axes = self.fft_lengths.len();
        let Some(split) = aval.rank().checked_sub(axes) else {
            return Err(Error::shape(format!("{aval} has fewer than {axes} axes")));
        };
        let (batch, lengths) = aval.shape.split_at(split);
        let mut half = self.fft_lengths.clone();
        if let Some(last) = half.last_mut() {
            *last = *last / 2 + usize::from(*last > 0);
        }
        let refuse = |want: &[usize]| {
            Error::shape(format!(
                "the last axes of {aval} must have lengths {want:?}"
            ))
        };
        let complex = if aval.dtype.is_complex() {
            None
        } else {
            aval.dtype.complex()
        };
        match (self.fft_type, complex) {
            (FftType::Fft | FftType::Ifft, None) if aval.dtype.is_complex() => {
                if lengths != self.fft_lengths.as_slice() {
                    return Err(refuse(&self.fft_lengths));
                }
                Ok(aval.clone())
            }
            (FftType::Rfft, Some(complex)) => {
                if lengths != self.fft_lengths.as_slice() {
                    return Err(refuse(&self.fft_lengths));
                }
                Ok(shaped(complex, batch, &half))
            }
            (FftType::Irfft, None) if aval.dtype.is_complex() => {
                if lengths != half.as_slice() {
                    return Err(refuse(&half));
                }
                Ok(shaped(aval.dtype.real(), batch, &self.fft_lengths))
            }
            (FftType::Rfft, None) => Err(Error::dtype(format!("{aval} must be f32 or f64"))),
            _ => Err(Error::dtype(format!("{aval} must be complex"))),
        }
    }

    /// A call of the function `fft`.
    fn call(&self, b: &Builder, x: Atom) -> Result<Atom> {
        let statics: Vec<i64> = std::iter::once(self.fft_type as i64)
            .chain(self.fft_lengths.iter().map(|&length| length as i64))
            .collect();
        let prim = self.clone();
        let results = call_named(b, "fft", &statics, &[x], |b, args| {
            Ok(vec![b.op(prim, args)])
        })?;
        Ok(results[0])
    }

    /// The same lengths, another transform.
    fn of_type(&self, fft_type: FftType) -> Fft {
        Fft {
            fft_type,
            ..self.clone()
        }
    }

    /// How often each element of half a spectrum occurs in the whole, along the last axis: once for frequency 0 and, for an
    /// even length, for the highest; twice for the others.
    fn multiplicities(&self, b: &Builder, dtype: DType, count: usize) -> Atom {
        let index = |at: usize| b.integer(at as i64, index_dtype(dtype));
        let mut mask = b.full(&[count], 2.0, dtype);
        let mut ends = vec![0];
        if self.fft_lengths.last().is_some_and(|last| last % 2 == 0) {
            ends.push(count - 1);
        }
        for at in ends {
            let one = b.full(&[1], 1.0, dtype);
            mask = b.op(DynamicUpdateSlice, &[mask, one, index(at)]);
        }
        mask
    }

    /// Frequencies on the last of `rank` axes, the others of length 1.
    fn last_of(b: &Builder, mask: Atom, rank: usize) -> Atom {
        let mut shape = Dims::from_elem(1, rank);
        shape[rank - 1] = b.shape(mask)[0];
        b.broadcast_in_dim(mask, &shape, &[rank - 1])
    }

    /// Number of elements of the whole transform.
    fn size(&self) -> f64 {
        self.fft_lengths
            .iter()
            .map(|&length| length as f64)
            .product()
    }

    fn transpose_real_to_half(&self, b: &Builder, ct: Atom) -> Result<Atom> {
        let statics: Vec<i64> = self.fft_lengths.iter().map(|&n| n as i64).collect();
        let inverse = self.of_type(FftType::Irfft);
        let results = call_named(b, "_rfft_transpose", &statics, &[ct], |b, args| {
            let (ct, rank) = (args[0], b.rank(args[0]));
            let mask = inverse.multiplicities(b, b.dtype(ct), b.shape(ct)[rank - 1]);
            let mask = Self::last_of(b, mask, rank);
            let weighted = b.div(conjugate(b, ct), mask);
            let result = inverse.call(b, weighted)?;
            let size = b.number(inverse.size(), b.dtype(result));
            Ok(vec![b.mul(size, result)])
        })?;
        Ok(results[0])
    }

    fn transpose_half_to_real(&self, b: &Builder, ct: Atom) -> Result<Atom> {
        let spectrum = self.of_type(FftType::Rfft).call(b, ct)?;
        let (dtype, rank) = (b.dtype(spectrum), b.rank(spectrum));
        let mask = self.multiplicities(b, dtype, b.shape(spectrum)[rank - 1]);
        let mask = Self::last_of(b, mask, rank);
        let scale = b.mul(b.number(1.0 / self.size(), dtype), mask);
        Ok(conjugate(b, b.mul(scale, spectrum)))
    }
}
