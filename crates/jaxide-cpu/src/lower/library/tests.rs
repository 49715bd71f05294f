//! Kernels against the interpreter, primitive by primitive.

mod linear;
mod maps;
mod sequences;

use super::operands::{Array, Operands};
use super::{map, routine};
use crate::lower::graph::{MapOp, Routine};
use crate::runtime::{Context, KernelCall, PoolBuffer};
use jaxide_core::prims::Prim;
use jaxide_core::{DType, Scalar, Shape, Tensor, eval};

/// Numbers that look random, by the generator of Steele, Lea and Flood (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In -2..2.
    fn float(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 51) as f64 - 2.0
    }

    /// An array: floats in -2..2, integers in -9..9 or 0..9, both as far as the type has them.
    fn array(&mut self, dtype: DType, shape: &[usize]) -> Tensor {
        let count: usize = shape.iter().product();
        let wide: Vec<f64> = (0..2 * count).map(|_| self.float()).collect();
        let mut bytes = PoolBuffer::new(count * dtype.size()).unwrap();
        if dtype.is_key() {
            bytes
                .bytes_mut()
                .iter_mut()
                .for_each(|byte| *byte = self.next() as u8);
        } else if dtype.is_complex() {
            let part = if dtype == DType::C64 {
                DType::F32
            } else {
                DType::F64
            };
            super::elements::convert(
                DType::F64,
                bytemuck::cast_slice(&wide),
                part,
                bytes.bytes_mut(),
            );
        } else {
            let scale = match dtype.bits() {
                1 => 0.6,
                2 => 1.0,
                4 => 4.0,
                _ => 5.0,
            };
            let number = |x: &f64| {
                if dtype.is_float() {
                    *x
                } else {
                    (x * scale * 0.99).trunc()
                }
            };
            let numbers: Vec<f64> = wide[..count].iter().map(number).collect();
            super::elements::convert(
                DType::F64,
                bytemuck::cast_slice(&numbers),
                dtype,
                bytes.bytes_mut(),
            );
        }
        Tensor::from_bytes(shape, dtype, bytes.bytes()).unwrap()
    }
}

fn arrays(tensors: &[Tensor]) -> Vec<Array> {
    let arrays = tensors.iter().map(|x| Array {
        dtype: x.dtype(),
        shape: Shape::from_slice(x.shape()),
    });
    arrays.collect()
}

/// The operands of a call that computes `outputs` from `inputs`.
fn operands(inputs: &[Tensor], outputs: &[Tensor]) -> Operands {
    Operands {
        inputs: arrays(inputs),
        outputs: arrays(outputs),
    }
}

fn run(call: &KernelCall, inputs: &[Tensor], like: &[Tensor]) -> Vec<Tensor> {
    let mut outputs: Vec<PoolBuffer> = like
        .iter()
        .map(|x| PoolBuffer::new(x.bytes().len()).unwrap())
        .collect();
    // What was there before must not matter.
    outputs
        .iter_mut()
        .for_each(|out| out.bytes_mut().fill(0x5a));
    let inputs: Vec<&[u8]> = inputs.iter().map(Tensor::bytes).collect();
    let mut out: Vec<&mut [u8]> = outputs.iter_mut().map(PoolBuffer::bytes_mut).collect();
    call.call(&inputs, &mut out, &Context::default()).unwrap();
    let results = outputs
        .iter()
        .zip(like)
        .map(|(out, like)| Tensor::from_bytes(like.shape(), like.dtype(), out.bytes()).unwrap());
    results.collect()
}

/// The kernel gives what the interpreter gives: floats up to `tolerance` times the unit roundoff of their type (relative
/// to 1 for small ones), all else exactly.
#[track_caller]
fn check_within<P>(params: P, inputs: &[Tensor], tolerance: f64)
where
    P: Clone + Into<Prim> + Into<Routine>,
{
    let prim: Prim = params.clone().into();
    let want = eval::eval_eqn(&prim, inputs).unwrap();
    let call = routine(&params.into(), &operands(inputs, &want)).unwrap();
    compare(
        &run(&call, inputs, &want),
        &want,
        tolerance,
        &format!("{prim:?}"),
    );
}

#[track_caller]
fn check(params: impl Clone + Into<Prim> + Into<Routine>, inputs: &[Tensor]) {
    check_within(params, inputs, 4.0);
}

/// The kernel of a function of elements gives what the interpreter gives for its primitive.
#[track_caller]
fn check_map(op: MapOp, prim: impl Into<Prim>, inputs: &[Tensor]) {
    let prim = prim.into();
    let want = eval::eval_eqn(&prim, inputs).unwrap();
    let call = map::map(op, &operands(inputs, &want)).unwrap();
    compare(&run(&call, inputs, &want), &want, 0.0, &format!("{prim:?}"));
}

#[track_caller]
fn compare(got: &[Tensor], want: &[Tensor], tolerance: f64, what: &str) {
    for (k, (got, want)) in got.iter().zip(want).enumerate() {
        let roundoff = match want.dtype() {
            DType::F64 | DType::C128 => f64::EPSILON,
            DType::F32 | DType::C64 => f64::from(f32::EPSILON),
            DType::F16 => 1e-3,
            DType::BF16 => 8e-3,
            _ => 0.0,
        };
        let close = |a: f64, b: f64| {
            a == b
                || (a.is_nan() && b.is_nan())
                || (a - b).abs() <= tolerance * roundoff * b.abs().max(1.0)
        };
        for i in 0..want.len() {
            let same = match (got.scalar_at(i), want.scalar_at(i)) {
                (Some(Scalar::Float(a)), Some(Scalar::Float(b))) => close(a, b),
                (Some(Scalar::Complex(a, c)), Some(Scalar::Complex(b, d))) => {
                    close(a, b) && close(c, d)
                }
                (a, b) => a == b,
            };
            assert!(
                same,
                "{what}: result {k}, element {i}: {:?}, and the interpreter has {:?}",
                got.scalar_at(i),
                want.scalar_at(i)
            );
        }
        if want.dtype().is_key() {
            assert_eq!(got.bytes(), want.bytes(), "{what}: result {k}");
        }
    }
}
