//! Semantics that are easily got wrong, checked primitive by primitive.

use half::bf16;
use smallvec::smallvec;

use super::{eval, eval_eqn};
use crate::dtype::DType;
use crate::jaxpr::{Aval, Builder};
use crate::prims::*;
use crate::tensor::{Element, Tensor};

fn array<T: Element>(elements: &[T]) -> Tensor {
    Tensor::from_vec(&[elements.len()], elements.to_vec()).unwrap()
}

fn matrix<T: Element>(rows: usize, elements: &[T]) -> Tensor {
    Tensor::from_vec(&[rows, elements.len() / rows], elements.to_vec()).unwrap()
}

/// The only result of a primitive is `want`.
#[track_caller]
fn check<T: Element>(prim: impl Into<Prim>, inputs: &[Tensor], want: &[T]) {
    let results = eval_eqn(&prim.into(), inputs).unwrap();
    assert_eq!(results.len(), 1);
    assert_eq!(results[0].to_vec::<T>().unwrap(), want);
}

/// The primitive refuses its operands with this message.
#[track_caller]
fn refused(prim: impl Into<Prim>, inputs: &[Tensor], message: &str) {
    let error = eval_eqn(&prim.into(), inputs).unwrap_err();
    assert_eq!(error.to_string(), message);
}

#[test]
fn integers_wrap_and_never_trap() {
    check(Add, &[array(&[127i8]), array(&[1i8])], &[-128i8]);
    check(
        Div,
        &[array(&[7i32, i32::MIN]), array(&[0, -1])],
        &[-1, i32::MIN],
    );
    check(Rem, &[array(&[7u8]), array(&[0u8])], &[7u8]);
    check(
        ShiftLeft,
        &[array(&[1u32, 1]), array(&[31u32, 32])],
        &[1u32 << 31, 0],
    );
}

#[test]
fn rank_0_operands_stand_beside_arrays() {
    check(
        Sub,
        &[Tensor::scalar(1.0f32), array(&[1.0f32, 3.0])],
        &[0.0f32, -2.0],
    );
    check(
        Sub,
        &[array(&[1.0f32, 3.0]), Tensor::scalar(1.0f32)],
        &[0.0f32, 2.0],
    );
    refused(
        Add,
        &[array(&[1i32, 2]), array(&[1i32, 2, 3])],
        "add: operands have shapes [2] and [3], which differ",
    );
}

#[test]
fn conversions_saturate_round_and_keep_low_bits() {
    let convert = |new_dtype| ConvertElementType {
        new_dtype,
        weak_type: false,
    };
    check(
        convert(DType::I8),
        &[array(&[300.7f32, -300.0, f32::NAN])],
        &[127i8, -128, 0],
    );
    check(convert(DType::U8), &[array(&[300i32, -1])], &[44u8, 255]);
    check(
        convert(DType::BF16),
        &[array(&[1.003_906_3_f32, 1.011_718_8])],
        &[bf16::from_f32(1.0), bf16::from_f32(1.015625)],
    );
    check(
        convert(DType::F32),
        &[array(&[16777217i32])],
        &[16777216.0f32],
    );
    let four_bits = eval_eqn(&convert(DType::I4).into(), &[array(&[9i32, -9])]).unwrap();
    assert_eq!(four_bits[0].bytes(), [-7i8 as u8, 7]);
}

#[test]
fn four_bit_integers_wrap_at_four_bits() {
    let convert = |new_dtype| ConvertElementType {
        new_dtype,
        weak_type: false,
    };
    let x = eval_eqn(&convert(DType::I4).into(), &[array(&[7i32, -8])])
        .unwrap()
        .remove(0);
    let sum = eval_eqn(&Add.into(), &[x.clone(), x]).unwrap().remove(0);
    check(convert(DType::I32), &[sum], &[-2i32, 0]);
}

#[test]
fn bits_of_another_width_make_or_take_an_axis() {
    let bytes = eval_eqn(
        &BitcastConvertType {
            new_dtype: DType::U8,
        }
        .into(),
        &[array(&[0x01020304u32])],
    )
    .unwrap();
    assert_eq!(
        (bytes[0].shape(), bytes[0].bytes()),
        (&[1, 4][..], &[4u8, 3, 2, 1][..])
    );
    check(
        BitcastConvertType {
            new_dtype: DType::U32,
        },
        &bytes,
        &[0x01020304u32],
    );
}

#[test]
fn padding_may_remove_and_spread() {
    let pad = |low, high, interior| Pad {
        padding_config: vec![(low, high, interior)],
    };
    let x = || [array(&[1i32, 2, 3]), Tensor::scalar(0i32)];
    check(pad(1, 2, 0), &x(), &[0i32, 1, 2, 3, 0, 0]);
    check(pad(0, 0, 1), &x(), &[1i32, 0, 2, 0, 3]);
    check(pad(-1, 0, 1), &x(), &[0i32, 2, 0, 3]);
    check(pad(-2, -1, 1), &x(), &[2i32, 0]);
    check(pad(-3, 0, 0), &x(), &[0i32; 0]);
    check(pad(-4, 2, 0), &x(), &[0i32]);
}

#[test]
fn maxima_and_order_know_nan() {
    let x = || array(&[1.0f32, f32::NAN, -0.0, 0.0, f32::INFINITY]);
    let sorted = eval_eqn(
        &Sort {
            dimension: 0,
            is_stable: true,
            num_keys: 1,
        }
        .into(),
        &[x()],
    )
    .unwrap();
    let sorted = sorted[0].to_vec::<f32>().unwrap();
    assert_eq!(sorted[..4], [0.0, 0.0, 1.0, f32::INFINITY]);
    assert!(sorted[0].is_sign_negative() && sorted[4].is_nan());
    check(
        Argmax {
            axes: smallvec![0],
            index_dtype: DType::I32,
        },
        &[x()],
        &[1i32],
    );
    let largest = eval_eqn(
        &TopK {
            axis: 0,
            is_stable: true,
            k: 2,
        }
        .into(),
        &[x()],
    )
    .unwrap();
    assert_eq!(largest[1].to_vec::<i32>().unwrap(), [1, 4]);
}

#[test]
fn sums_of_none_are_neutral() {
    let none = || Tensor::zeros(&[2, 0], DType::I16).unwrap();
    let axes = || smallvec![1];
    check(
        ReduceSum {
            axes: axes(),
            out_sharding: Opaque::none(),
        },
        &[none()],
        &[0i16, 0],
    );
    check(
        ReduceMax {
            axes: axes(),
            out_sharding: Opaque::none(),
        },
        &[none()],
        &[i16::MIN, i16::MIN],
    );
    check(ReduceProd { axes: axes() }, &[none()], &[1i16, 1]);
    check(ReduceAnd { axes: axes() }, &[none()], &[-1i16, -1]);
}

#[test]
fn running_sums_run_along_their_axis() {
    let x = || matrix(2, &[1i32, 2, 3, 4, 5, 6]);
    check(
        Cumsum {
            axis: 1,
            reverse: false,
        },
        &[x()],
        &[1i32, 3, 6, 4, 9, 15],
    );
    check(
        Cumsum {
            axis: 0,
            reverse: true,
        },
        &[x()],
        &[5i32, 7, 9, 4, 5, 6],
    );
}

#[test]
fn starts_are_moved_inside() {
    let x = || array(&[0i32, 1, 2, 3]);
    check(
        DynamicSlice {
            slice_sizes: smallvec![3],
        },
        &[x(), Tensor::scalar(2i32)],
        &[1i32, 2, 3],
    );
    check(
        DynamicUpdateSlice,
        &[x(), array(&[9i32]), Tensor::scalar(-5i64)],
        &[9i32, 1, 2, 3],
    );
    refused(
        DynamicSlice {
            slice_sizes: smallvec![5],
        },
        &[x(), Tensor::scalar(0i32)],
        "dynamic_slice: a box of [5] at 1 indices does not fit i32[4]",
    );
}

#[test]
fn an_operand_that_is_still_used_is_not_changed() {
    let b = Builder::new();
    let i32s = Aval::new(DType::I32, &[2]);
    let x = b.input(i32s.clone());
    let one = b.integer(1, DType::I32);
    let new = b.push(
        BroadcastInDim {
            broadcast_dimensions: smallvec![],
            shape: smallvec![1],
        }
        .into(),
        &[one],
        &[Aval::new(DType::I32, &[1])],
    );
    let zero = b.integer(0, DType::I32);
    let y = b.push(DynamicUpdateSlice.into(), &[x, new[0], zero], &[i32s]);
    let jaxpr = b.finish(&[x, y[0]]).unwrap();
    let results = eval(&jaxpr, &[array(&[7i32, 8])]).unwrap();
    assert_eq!(results, [array(&[7i32, 8]), array(&[1i32, 8])]);
}

#[test]
fn absurd_sizes_are_errors() {
    let huge = Empty {
        dtype: DType::F64,
        memory_space: Opaque::none(),
        shape: smallvec![1 << 40, 1 << 10],
    };
    // How much there is depends on the machine.
    let error = eval_eqn(&huge.into(), &[]).unwrap_err().to_string();
    let start = "empty2: 9007199254740992 bytes of memory are needed, and ";
    assert!(error.starts_with(start), "{error}");
    let more = Iota {
        dimension: 0,
        dtype: DType::F64,
        shape: smallvec![usize::MAX, 2],
        sharding: Opaque::none(),
    };
    refused(
        more,
        &[],
        "iota: shape [18446744073709551615, 2] has more elements than can be addressed",
    );
}

/// Loops in loops run on the stack of an ordinary thread, much deeper than text may nest.
#[test]
fn deep_nesting_needs_little_stack() {
    let f32 = || Aval::scalar(DType::F32);
    let b = Builder::new();
    let x = b.input(f32());
    let mut body = b.finish(&[x]).unwrap();
    for _ in 0..150 {
        let b = Builder::new();
        let x = b.input(f32());
        let once = Scan {
            ft_in: ScanInputs {
                consts: 0,
                carry: 1,
                xs: 0,
            },
            ft_out: ScanOutputs { carry: 1, ys: 0 },
            jaxpr: body,
            length: 1,
            reverse: false,
            unroll: 1,
        };
        let y = b.push(once.into(), &[x], &[f32()]);
        body = b.finish(&y).unwrap();
    }
    let results = eval(&body, &[Tensor::scalar(0.5f32)]).unwrap();
    assert_eq!(results, [Tensor::scalar(0.5f32)]);
}
