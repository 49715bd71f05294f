//! Running sums, sorting, searching, Fourier transforms, random numbers, bits.

use super::{Numbers, check, check_within, operands, run};
use jaxide_core::prims::{
    ApproxTopK, BitcastConvertType, Cumlogsumexp, Cummax, Cummin, Cumprod, Cumsum, DebugPrint, Fft,
    FftType, Name, Nonzero, Opaque, RandomBits, RandomGamma, RealNumber, RngAlgorithm,
    RngBitGenerator, SearchSide, SearchSorted, Sort, TopK,
};
use jaxide_core::{DType, Dims, Tensor};

const SHAPES: [(&[usize], usize); 6] = [
    (&[7], 0),
    (&[3, 5], 0),
    (&[3, 5], 1),
    (&[2, 5, 3], 1),
    (&[0, 3], 0),
    (&[4, 0], 0),
];

#[test]
fn running_combinations() {
    let mut numbers = Numbers(1);
    let real = [
        DType::F8E4M3Fn,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
    ];
    let other = [
        DType::I4,
        DType::U4,
        DType::I8,
        DType::I32,
        DType::U64,
        DType::C64,
        DType::C128,
    ];
    for (shape, axis) in SHAPES {
        for reverse in [false, true] {
            for dtype in real.into_iter().chain(other) {
                let x = [numbers.array(dtype, shape)];
                check(Cumsum { axis, reverse }, &x);
                check(Cumprod { axis, reverse }, &x);
                check(Cummax { axis, reverse }, &x);
                check(Cummin { axis, reverse }, &x);
                if dtype.is_float() || dtype.is_complex() {
                    check(Cumlogsumexp { axis, reverse }, &x);
                }
            }
        }
    }
}

#[test]
fn sorts() {
    let mut numbers = Numbers(2);
    for (shape, dimension) in SHAPES {
        for dtype in [
            DType::F8E5M2,
            DType::F32,
            DType::I8,
            DType::Bool,
            DType::C128,
            DType::U32,
        ] {
            for num_keys in [1, 2] {
                let x = [
                    numbers.array(dtype, shape),
                    numbers.array(DType::I8, shape),
                    numbers.array(DType::KeyFry, shape),
                ];
                check(
                    Sort {
                        dimension,
                        is_stable: true,
                        num_keys,
                    },
                    &x,
                );
            }
        }
    }
}

#[test]
fn largest_elements() {
    let mut numbers = Numbers(3);
    for (shape, axis) in SHAPES {
        for dtype in [DType::F8E5M2, DType::F32, DType::F16, DType::I8, DType::U64] {
            for k in [0, 1, 3] {
                if k > shape[axis] {
                    continue;
                }
                let x = [numbers.array(dtype, shape)];
                check(
                    TopK {
                        axis,
                        is_stable: true,
                        k,
                    },
                    &x,
                );
                for is_max_k in [true, false] {
                    let top = ApproxTopK {
                        aggregate_to_topk: true,
                        is_max_k,
                        k,
                        recall_target: RealNumber(0.9),
                        reduction_dimension: axis as i64 - shape.len() as i64,
                        reduction_input_size_override: -1,
                    };
                    check(top, &x);
                }
            }
        }
    }
}

#[test]
fn places_of_elements() {
    let mut numbers = Numbers(4);
    for dtype in [DType::Bool, DType::I32, DType::F32, DType::C64] {
        for (shape, axes) in [
            (&[3, 4, 2][..], &[0, 2][..]),
            (&[3, 4, 2], &[1]),
            (&[5], &[0]),
            (&[0, 4], &[0, 1]),
            (&[2, 0], &[1]),
        ] {
            let x = numbers.array(DType::I4, shape);
            let x = jaxide_core::eval::eval_eqn(
                &jaxide_core::prims::ConvertElementType {
                    new_dtype: dtype,
                    weak_type: false,
                }
                .into(),
                &[x],
            )
            .unwrap()
            .remove(0);
            for size in [0, 3, 9] {
                let nonzero = Nonzero {
                    size,
                    axes: Dims::from_slice(axes),
                    out_dtype: DType::I32,
                };
                check(nonzero.clone(), std::slice::from_ref(&x));
                let fill = (0..axes.len()).map(|k| Tensor::scalar(-(k as i32) - 1));
                check(
                    nonzero,
                    &[x.clone()].into_iter().chain(fill).collect::<Vec<_>>(),
                );
            }
        }
    }
}

#[test]
fn places_in_sorted_arrays() {
    let mut numbers = Numbers(5);
    for dtype in [DType::F32, DType::I32, DType::C64, DType::F8E5M2] {
        for (shape, dimension, query, batch_dims) in [
            (&[9][..], 0, &[4][..], 0),
            (&[2, 9], 1, &[2, 3], 1),
            (&[2, 9, 3], 1, &[2, 4], 1),
            (&[2, 2, 9], 2, &[2, 5], 1),
            (&[3, 40], 1, &[3, 70], 1),
            (&[2, 2, 300], 2, &[2, 9], 1),
            (&[0], 0, &[3], 0),
            (&[3], 0, &[0], 0),
        ] {
            let sorted = jaxide_core::eval::eval_eqn(
                &Sort {
                    dimension,
                    is_stable: true,
                    num_keys: 1,
                }
                .into(),
                &[numbers.array(dtype, shape)],
            );
            let query = numbers.array(dtype, query);
            let sorted = sorted.unwrap().remove(0);
            for side in [SearchSide::Left, SearchSide::Right] {
                let search = SearchSorted {
                    side,
                    dimension,
                    batch_dims,
                    method: Name::new("scan"),
                };
                check(search, &[sorted.clone(), query.clone()]);
            }
        }
    }
}

/// Queries that ascend or do not, some far apart and some close together, in arrays that ascend or do not.
#[test]
fn places_of_many_queries() {
    let mut numbers = Numbers(15);
    let sort = |x: Tensor| {
        let sort = Sort {
            dimension: 0,
            is_stable: true,
            num_keys: 1,
        };
        let sorted = jaxide_core::eval::eval_eqn(&sort.into(), &[x]);
        sorted.unwrap().remove(0)
    };
    // One type for each kind of key.
    for dtype in [
        DType::F32,
        DType::F64,
        DType::BF16,
        DType::F16,
        DType::F8E4M3Fn,
        DType::Bool,
        DType::I8,
        DType::I32,
        DType::I64,
        DType::U16,
        DType::U32,
        DType::U64,
        DType::C64,
        DType::C128,
    ] {
        for (length, queries) in [
            (1, 9),
            (7, 40),
            (8, 40),
            (9, 40),
            (33, 70),
            (260, 12),
            (300, 60),
            (60, 300),
            (1000, 37),
        ] {
            let array = numbers.array(dtype, &[length]);
            let query = numbers.array(dtype, &[queries]);
            let ascending = sort(array.clone());
            for (array, query) in [
                (&ascending, sort(query.clone())),
                (&ascending, query.clone()),
                (&array, query),
            ] {
                for side in [SearchSide::Left, SearchSide::Right] {
                    let search = SearchSorted {
                        side,
                        dimension: 0,
                        batch_dims: 0,
                        method: Name::new("scan"),
                    };
                    check(search, &[array.clone(), query.clone()]);
                }
            }
        }
    }
}

#[test]
fn fourier_transforms() {
    let mut numbers = Numbers(6);
    for (real, complex) in [(DType::F32, DType::C64), (DType::F64, DType::C128)] {
        for (shape, axes) in [
            (&[8][..], 1),
            (&[3, 7], 1),
            (&[3, 7], 2),
            (&[2, 6, 5], 3),
            (&[0, 4], 1),
            (&[4], 0),
        ] {
            let lengths = &shape[shape.len() - axes..];
            let fft = |kind| Fft {
                fft_lengths: Dims::from_slice(lengths),
                fft_type: kind,
            };
            let z = [numbers.array(complex, shape)];
            check_within(fft(FftType::Fft), &z, 256.0);
            check_within(fft(FftType::Ifft), &z, 256.0);
            if axes > 0 {
                check_within(fft(FftType::Rfft), &[numbers.array(real, shape)], 256.0);
                let mut half = shape.to_vec();
                half[shape.len() - 1] = shape[shape.len() - 1] / 2 + 1;
                check_within(fft(FftType::Irfft), &[numbers.array(complex, &half)], 256.0);
            }
        }
    }
}

#[test]
fn random_numbers() {
    let mut numbers = Numbers(7);
    for dtype in [DType::KeyFry, DType::KeyRbg] {
        for keys in [&[][..], &[3], &[0]] {
            for bit_width in [8, 16, 32, 64] {
                let bits = RandomBits {
                    bit_width,
                    shape: Dims::from_slice(&[2, 3]),
                };
                check(bits, &[numbers.array(dtype, keys)]);
            }
            for float in [DType::F16, DType::F32, DType::F64] {
                let shape = [keys, &[5]].concat();
                let alpha = numbers.array(float, &shape);
                let alpha =
                    jaxide_core::eval::eval_eqn(&jaxide_core::prims::Square.into(), &[alpha])
                        .unwrap()
                        .remove(0);
                for log_space in [true, false] {
                    check(
                        RandomGamma { log_space },
                        &[numbers.array(dtype, keys), alpha.clone()],
                    );
                }
            }
        }
    }
    for algorithm in [
        RngAlgorithm::Default,
        RngAlgorithm::Philox,
        RngAlgorithm::ThreeFry,
    ] {
        for dtype in [DType::U8, DType::U16, DType::U32, DType::U64] {
            for state in [
                Tensor::from_vec(&[4], vec![1u32, 2, 3, 4]).unwrap(),
                Tensor::from_vec(&[2], vec![5u64, 6]).unwrap(),
            ] {
                let generator = RngBitGenerator {
                    algorithm,
                    dtype,
                    out_sharding: Opaque::default(),
                    shape: Dims::from_slice(&[3, 5]),
                };
                check(generator, &[state]);
            }
        }
    }
}

#[test]
fn bits_of_less_than_a_byte() {
    let mut numbers = Numbers(8);
    for (from, shape, to) in [
        (DType::U8, &[3][..], DType::I4),
        (DType::I32, &[2, 3], DType::U2),
        (DType::U4, &[3, 2], DType::I8),
        (DType::I2, &[2, 8], DType::U16),
        (DType::U4, &[5], DType::I4),
    ] {
        check(
            BitcastConvertType { new_dtype: to },
            &[numbers.array(from, shape)],
        );
    }
}

#[test]
fn printing_needs_no_results() {
    let print = DebugPrint {
        fmt: Name::new("{} {x}"),
        has_placeholders: true,
        in_tree: Opaque::default(),
        logging_record: Opaque::default(),
        np_printoptions: Opaque::default(),
        ordered: false,
        partitioned: false,
        static_args: Opaque::default(),
    };
    let inputs = [Tensor::scalar(1i32), Numbers(9).array(DType::F32, &[2])];
    let call = super::routine(&print.into(), &operands(&inputs, &[])).unwrap();
    assert_eq!(run(&call, &inputs, &[]).len(), 0);
}
