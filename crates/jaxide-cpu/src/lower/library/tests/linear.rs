//! Products, convolutions and factorisations.

use super::{Numbers, check, check_within};
use crate::lower::graph::Routine;
use jaxide_core::prims::{
    Cholesky, CholeskyUpdate, ConvDimensionNumbers, ConvGeneralDilated, DotDimensionNumbers,
    DotGeneral, Eig, Eigh, Geqp3, Geqrf, Hessenberg, HouseholderProduct, Lu, LuPivotsToPermutation,
    Opaque, Ormqr, Qr, RaggedDotDimensionNumbers, RaggedDotGeneral, Schur, Svd, TriangularSolve,
    Tridiagonal, TridiagonalSolve,
};
use jaxide_core::{DType, Dims, Prim, Scalar, Tensor};
use smallvec::smallvec;

const REAL_AND_COMPLEX: [DType; 4] = [DType::F32, DType::F64, DType::C64, DType::C128];

const ALL: [DType; 19] = [
    DType::Bool,
    DType::I4,
    DType::U4,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F8E4M3Fn,
    DType::F8E5M2,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::C64,
    DType::C128,
];

fn product(
    lhs_contracting: &[usize],
    rhs_contracting: &[usize],
    lhs_batch: &[usize],
    rhs_batch: &[usize],
) -> DotDimensionNumbers {
    DotDimensionNumbers {
        lhs_contracting: Dims::from_slice(lhs_contracting),
        rhs_contracting: Dims::from_slice(rhs_contracting),
        lhs_batch: Dims::from_slice(lhs_batch),
        rhs_batch: Dims::from_slice(rhs_batch),
    }
}

#[test]
fn products() {
    let mut numbers = Numbers(1);
    for dtype in ALL {
        for (lhs, rhs, dimension_numbers) in [
            (&[3, 5][..], &[5, 4][..], product(&[1], &[0], &[], &[])),
            (&[2, 5, 3], &[4, 3, 2], product(&[2], &[1], &[0], &[2])),
            (&[2, 3, 4], &[4, 3, 5], product(&[1, 2], &[1, 0], &[], &[])),
            (&[7], &[7], product(&[0], &[0], &[], &[])),
            (&[2, 0], &[0, 3], product(&[1], &[0], &[], &[])),
            (&[0, 2], &[2, 3], product(&[1], &[0], &[], &[])),
            (&[2], &[3], product(&[], &[], &[], &[])),
        ] {
            let inputs = [numbers.array(dtype, lhs), numbers.array(dtype, rhs)];
            let preferred = match dtype {
                DType::F8E4M3Fn | DType::F16 | DType::BF16 => Some(DType::F32),
                DType::I4 | DType::I8 => Some(DType::I32),
                DType::Bool | DType::U8 => Some(DType::F32),
                DType::C64 => Some(DType::C128),
                _ => None,
            };
            for preferred_element_type in [None, preferred] {
                let dot = DotGeneral {
                    dimension_numbers: dimension_numbers.clone(),
                    out_sharding: None,
                    precision: None,
                    preferred_element_type,
                };
                check_within(dot, &inputs, 16.0);
            }
        }
    }
}

#[test]
fn products_of_two_types() {
    let mut numbers = Numbers(2);
    for (lhs, rhs, preferred) in [
        (DType::I8, DType::F32, DType::F32),
        (DType::F32, DType::C64, DType::C64),
        (DType::F16, DType::BF16, DType::F32),
        (DType::U8, DType::I32, DType::I64),
    ] {
        let dot = DotGeneral {
            dimension_numbers: product(&[1], &[0], &[], &[]),
            out_sharding: None,
            precision: None,
            preferred_element_type: Some(preferred),
        };
        check_within(
            dot,
            &[numbers.array(lhs, &[4, 9]), numbers.array(rhs, &[9, 2])],
            16.0,
        );
    }
}

#[test]
fn ragged_products() {
    let mut numbers = Numbers(3);
    let pair = |a: &[usize], b: &[usize]| (Dims::from_slice(a), Dims::from_slice(b));
    let modes = [
        // Free, contracted and batch axes are ragged.
        (
            &[7, 3][..],
            &[4, 3, 2][..],
            (pair(&[1], &[1]), pair(&[], &[])),
            0,
            &[0][..],
        ),
        (&[3, 7], &[7, 2], (pair(&[1], &[0]), pair(&[], &[])), 1, &[]),
        (
            &[7, 3],
            &[7, 3, 2],
            (pair(&[1], &[1]), pair(&[0], &[0])),
            0,
            &[],
        ),
        (
            &[2, 7, 3],
            &[2, 4, 3, 5],
            (pair(&[2], &[2]), pair(&[0], &[0])),
            1,
            &[1],
        ),
    ];
    for dtype in [DType::F32, DType::BF16, DType::I32, DType::C128] {
        for (lhs, rhs, dot_dimension_numbers, ragged, group) in &modes {
            let ragged_dot = RaggedDotGeneral {
                group_offset: Opaque::default(),
                out_sharding: Opaque::default(),
                precision: None,
                preferred_element_type: None,
                ragged_dot_dimension_numbers: RaggedDotDimensionNumbers {
                    dot_dimension_numbers: dot_dimension_numbers.clone(),
                    lhs_ragged_dimensions: smallvec![*ragged],
                    rhs_group_dimensions: Dims::from_slice(group),
                },
            };
            let sizes = Tensor::from_vec(&[4], vec![2i32, 0, 3, 1]).unwrap();
            check_within(
                ragged_dot,
                &[numbers.array(dtype, lhs), numbers.array(dtype, rhs), sizes],
                16.0,
            );
        }
    }
    let ragged_dot = RaggedDotGeneral {
        group_offset: Opaque::default(),
        out_sharding: Opaque::default(),
        precision: None,
        preferred_element_type: None,
        ragged_dot_dimension_numbers: RaggedDotDimensionNumbers {
            dot_dimension_numbers: (pair(&[2], &[2]), pair(&[0], &[0])),
            lhs_ragged_dimensions: smallvec![1],
            rhs_group_dimensions: smallvec![1],
        },
    };
    let sizes = Tensor::from_vec(&[2, 2], vec![3i32, 4, 7, 0]).unwrap();
    check_within(
        ragged_dot,
        &[
            numbers.array(DType::F32, &[2, 7, 3]),
            numbers.array(DType::F32, &[2, 2, 3, 5]),
            sizes,
        ],
        16.0,
    );
}

/// A convolution of two spatial axes in the order of axes that JAX has by default.
fn plain() -> ConvGeneralDilated {
    ConvGeneralDilated {
        batch_group_count: 1,
        dimension_numbers: ConvDimensionNumbers {
            lhs_spec: smallvec![0, 1, 2, 3],
            rhs_spec: smallvec![0, 1, 2, 3],
            out_spec: smallvec![0, 1, 2, 3],
        },
        feature_group_count: 1,
        lhs_dilation: smallvec![1, 1],
        out_sharding: Opaque::default(),
        padding: vec![(0, 0), (0, 0)],
        precision: None,
        preferred_element_type: None,
        rhs_dilation: smallvec![1, 1],
        window_strides: smallvec![1, 1],
    }
}

#[test]
fn convolutions_of_every_type() {
    let mut numbers = Numbers(4);
    for dtype in ALL {
        let padded = ConvGeneralDilated {
            padding: vec![(1, 0), (2, 1)],
            ..plain()
        };
        for conv in [plain(), padded] {
            check_within(
                conv,
                &[
                    numbers.array(dtype, &[2, 3, 5, 4]),
                    numbers.array(dtype, &[4, 3, 2, 3]),
                ],
                16.0,
            );
        }
    }
    for (dtype, preferred) in [
        (DType::BF16, DType::F32),
        (DType::I8, DType::I32),
        (DType::F32, DType::F64),
    ] {
        let conv = ConvGeneralDilated {
            preferred_element_type: Some(preferred),
            ..plain()
        };
        check_within(
            conv,
            &[
                numbers.array(dtype, &[2, 3, 5, 4]),
                numbers.array(dtype, &[4, 3, 2, 3]),
            ],
            16.0,
        );
    }
}

#[test]
fn convolutions_with_every_parameter() {
    let mut numbers = Numbers(5);
    let channels_last = ConvDimensionNumbers {
        lhs_spec: smallvec![0, 3, 1, 2],
        rhs_spec: smallvec![3, 2, 0, 1],
        out_spec: smallvec![0, 3, 1, 2],
    };
    let mixed = ConvDimensionNumbers {
        lhs_spec: smallvec![3, 0, 2, 1],
        rhs_spec: smallvec![1, 3, 0, 2],
        out_spec: smallvec![2, 1, 3, 0],
    };
    let lengths = |spec: &[usize], standard: [usize; 4]| {
        let mut shape = [0; 4];
        spec.iter()
            .zip(standard)
            .for_each(|(&axis, length)| shape[axis] = length);
        shape
    };
    for dimension_numbers in [plain().dimension_numbers, channels_last, mixed] {
        for (groups, batch_groups) in [(1, 1), (3, 1), (1, 2), (6, 1)] {
            for (padding, stride, lhs_dilation, rhs_dilation) in [
                ([(0, 0), (0, 0)], [1, 1], [1, 1], [1, 1]),
                ([(2, 1), (0, 3)], [2, 1], [1, 1], [1, 2]),
                ([(-1, 2), (1, -2)], [1, 3], [2, 3], [2, 1]),
                ([(-9, 0), (0, 0)], [1, 1], [1, 1], [1, 1]),
            ] {
                let lhs = lengths(&dimension_numbers.lhs_spec, [4, 6, 7, 6]);
                let rhs = lengths(&dimension_numbers.rhs_spec, [12, 6 / groups, 2, 3]);
                let conv = ConvGeneralDilated {
                    batch_group_count: batch_groups,
                    dimension_numbers: dimension_numbers.clone(),
                    feature_group_count: groups,
                    lhs_dilation: Dims::from_slice(&lhs_dilation),
                    padding: padding.to_vec(),
                    rhs_dilation: Dims::from_slice(&rhs_dilation),
                    window_strides: Dims::from_slice(&stride),
                    ..plain()
                };
                check_within(
                    conv,
                    &[
                        numbers.array(DType::F32, &lhs),
                        numbers.array(DType::F32, &rhs),
                    ],
                    32.0,
                );
            }
        }
    }
    for (lhs, rhs) in [
        ([0, 3, 5, 4], [4, 3, 2, 3]),
        ([2, 0, 5, 4], [4, 0, 2, 3]),
        ([2, 3, 1, 4], [4, 3, 2, 3]),
        ([2, 3, 5, 4], [0, 3, 2, 3]),
    ] {
        check(
            plain(),
            &[
                numbers.array(DType::F32, &lhs),
                numbers.array(DType::F32, &rhs),
            ],
        );
    }
}

/// Matrices that look random beside a diagonal of eights, so that roundoff is not amplified.
fn well_conditioned(numbers: &mut Numbers, dtype: DType, shape: &[usize]) -> Tensor {
    let x = numbers.array(dtype, shape);
    let (rows, columns, size) = (shape[shape.len() - 2], shape[shape.len() - 1], dtype.size());
    let eight = Tensor::full(&[], dtype, Scalar::Float(8.0)).unwrap();
    let mut bytes = x.bytes().to_vec();
    for matrix in bytes.chunks_exact_mut((rows * columns * size).max(1)) {
        for k in 0..rows.min(columns) {
            let place = k * (columns + 1) * size;
            matrix[place..place + size].copy_from_slice(eight.bytes());
        }
    }
    Tensor::from_bytes(shape, dtype, &bytes).unwrap()
}

/// The runtime computes in the elements' own type, the interpreter in `f64`.
#[track_caller]
fn check_stable(params: impl Clone + Into<Prim> + Into<Routine>, inputs: &[Tensor]) {
    check_within(params, inputs, 512.0);
}

#[test]
fn factorisations() {
    let mut numbers = Numbers(6);
    let subset = |n: usize| if n > 2 { Some((1, n - 1)) } else { None };
    for dtype in REAL_AND_COMPLEX {
        for shape in [
            &[4, 4][..],
            &[2, 3, 5],
            &[5, 3],
            &[0, 2, 2],
            &[3, 0],
            &[2, 0, 0],
            &[1, 1],
        ] {
            let (m, n) = (shape[shape.len() - 2], shape[shape.len() - 1]);
            let batch = &shape[..shape.len() - 2];
            let x = well_conditioned(&mut numbers, dtype, shape);
            let one = [x.clone()];
            check_stable(Lu, &one);
            check_stable(Geqrf, &one);
            let pivots = Tensor::zeros(&[batch, &[n]].concat(), DType::I32).unwrap();
            check_stable(
                Geqp3 {
                    use_magma: Opaque::default(),
                },
                &[x.clone(), pivots],
            );
            for full_matrices in [true, false] {
                for pivoting in [true, false] {
                    check_stable(
                        Qr {
                            full_matrices,
                            pivoting,
                            use_magma: Opaque::default(),
                        },
                        &one,
                    );
                }
                for compute_uv in [true, false] {
                    // Nothing determines the vectors that complete those of a matrix that is not square.
                    if full_matrices && compute_uv && m != n && m * n > 0 {
                        continue;
                    }
                    for subset_by_index in [None, subset(m.min(n)).filter(|_| !full_matrices)] {
                        check_stable(
                            Svd {
                                algorithm: Opaque::default(),
                                compute_uv,
                                full_matrices,
                                subset_by_index,
                            },
                            &one,
                        );
                    }
                }
            }
            let taus = numbers.array(dtype, &[batch, &[m.min(n)]].concat());
            if m >= n {
                check_stable(HouseholderProduct, &[x.clone(), taus.clone()]);
            }
            for (left, shape) in [(true, [m, 2]), (false, [2, m])] {
                for transpose in [true, false] {
                    let c = numbers.array(dtype, &[batch, &shape].concat());
                    check_stable(Ormqr { left, transpose }, &[x.clone(), taus.clone(), c]);
                }
            }
            if m != n {
                continue;
            }
            check_stable(Cholesky, &one);
            check_stable(Hessenberg, &one);
            for lower in [true, false] {
                check_stable(Tridiagonal { lower }, &one);
                for subset_by_index in [None, subset(n)] {
                    check_stable(
                        Eigh {
                            algorithm: Opaque::default(),
                            lower,
                            sort_eigenvalues: true,
                            subset_by_index,
                        },
                        &one,
                    );
                }
            }
            for (compute_left_eigenvectors, compute_right_eigenvectors) in
                [(false, true), (true, false), (true, true)]
            {
                let eig = Eig {
                    compute_left_eigenvectors,
                    compute_right_eigenvectors,
                    enable_eigvec_derivs: true,
                    implementation: Opaque::default(),
                };
                check_stable(eig, &one);
            }
            for compute_schur_vectors in [true, false] {
                check_stable(
                    Schur {
                        compute_schur_vectors,
                        select_callable: Opaque::default(),
                        sort_eig_vals: false,
                    },
                    &one,
                );
            }
        }
    }
}

#[test]
fn solutions() {
    let mut numbers = Numbers(7);
    for dtype in REAL_AND_COMPLEX {
        for batch in [&[][..], &[3], &[0]] {
            let a = well_conditioned(&mut numbers, dtype, &[batch, &[4, 4]].concat());
            for case in 0..32 {
                let bit = |k: usize| case >> k & 1 == 1;
                let solve = TriangularSolve {
                    conjugate_a: bit(0),
                    left_side: bit(1),
                    lower: bit(2),
                    transpose_a: bit(3),
                    unit_diagonal: bit(4),
                };
                let shape = if bit(1) { [4, 2] } else { [2, 4] };
                check_stable(
                    solve,
                    &[a.clone(), numbers.array(dtype, &[batch, &shape].concat())],
                );
            }
            let [lower, diagonal, upper] =
                [(); 3].map(|()| numbers.array(dtype, &[batch, &[5]].concat()));
            let b = numbers.array(dtype, &[batch, &[5, 2]].concat());
            for perturb_singular in [false, true] {
                check_stable(
                    TridiagonalSolve { perturb_singular },
                    &[&lower, &diagonal, &upper, &b].map(Tensor::clone),
                );
            }
            if !dtype.is_complex() {
                check_stable(
                    CholeskyUpdate,
                    &[a, numbers.array(dtype, &[batch, &[4]].concat())],
                );
            }
        }
    }
    let pivots = Tensor::from_vec(&[2, 3], vec![2i32, 3, 2, 0, 1, 2]).unwrap();
    check_stable(
        LuPivotsToPermutation {
            permutation_size: 5,
        },
        &[pivots],
    );
}
