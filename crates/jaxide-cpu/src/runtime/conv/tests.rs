//! Convolutions against their definition.

use half::f16;
use num_complex::Complex;

use super::*;
use crate::runtime::KernelCall;

fn number(i: usize) -> i64 {
    ((i.wrapping_mul(2654435761) >> 9) % 7) as i64 - 3
}

/// The indices of all elements of a shape, in order.
fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + use<> {
    let shape = shape.to_vec();
    (0..shape.iter().product()).map(move |mut i: usize| {
        let mut index = vec![0; shape.len()];
        for a in (0..shape.len()).rev() {
            index[a] = i % shape[a];
            i /= shape[a];
        }
        index
    })
}

fn at(view: &View, index: &[usize]) -> usize {
    (view.offset as isize
        + index
            .iter()
            .zip(&view.strides)
            .map(|(&i, s)| i as isize * s)
            .sum::<isize>()) as usize
}

/// The definition, on integers.
fn convolve(lhs: &View, rhs: &View, window: &Window, out: &View, a: &[i64], b: &[i64]) -> Vec<i64> {
    let mut result = vec![0; out.elements];
    let (features, batches) = (window.feature_group_count, window.batch_group_count);
    for index in indices(&out.shape) {
        let feature = index[1];
        let group = feature / (out.shape[1] / (features * batches));
        let sum = indices(&rhs.shape[1..])
            .map(|inner| {
                let mut from = if features > 1 {
                    vec![index[0], group * rhs.shape[1] + inner[0]]
                } else {
                    vec![group * out.shape[0] + index[0], inner[0]]
                };
                for axis in 0..window.strides.len() {
                    let place = (index[axis + 2] * window.strides[axis]
                        + inner[axis + 1] * window.rhs_dilation[axis])
                        as i64
                        - window.padding[axis].0;
                    let dilation = window.lhs_dilation[axis] as i64;
                    if place < 0
                        || place % dilation != 0
                        || place / dilation >= lhs.shape[axis + 2] as i64
                    {
                        return 0;
                    }
                    from.push((place / dilation) as usize);
                }
                a[at(lhs, &from)] * b[at(rhs, &[&[feature], &inner[..]].concat())]
            })
            .sum();
        result[at(out, &index)] = sum;
    }
    result
}

#[track_caller]
fn run<T: bytemuck::Pod, O: bytemuck::Pod>(
    kernel: impl Kernel + 'static,
    a: &[T],
    b: &[T],
) -> Vec<O> {
    let call = KernelCall::new(kernel);
    let mut out = vec![O::zeroed(); call.signature().outputs[0] / size_of::<O>()];
    let outputs = &mut [bytemuck::cast_slice_mut(&mut out)];
    call.call(
        &[bytemuck::cast_slice(a), bytemuck::cast_slice(b)],
        outputs,
        &Context::default(),
    )
    .unwrap();
    out
}

/// Checks a convolution in some types. Specs name the dimensions of the arrays as JAX does.
#[track_caller]
fn check(
    lhs: (&[usize], &[usize]),
    rhs: (&[usize], &[usize]),
    out_spec: &[usize],
    window: &Window,
) {
    check_views(
        &View::dense(lhs.0).permuted(lhs.1),
        &View::dense(rhs.0).permuted(rhs.1),
        out_spec,
        window,
    );
}

#[track_caller]
fn check_views(lhs: &View, rhs: &View, out_spec: &[usize], window: &Window) {
    let a: Vec<i64> = (0..lhs.elements).map(number).collect();
    let b: Vec<i64> = (0..rhs.elements).map(|i| number(i + 500)).collect();
    let geometry = Geometry::new(lhs, rhs, window, out_spec);
    let want = convolve(lhs, rhs, window, &geometry.out, &a, &b);
    let floats = |x: &[i64]| x.iter().map(|&x| x as f32).collect::<Vec<_>>();
    let got = run::<f32, f32>(
        Conv::<f32>::new(lhs, rhs, window, out_spec),
        &floats(&a),
        &floats(&b),
    );
    assert!(
        got == floats(&want),
        "{lhs:?} {rhs:?} {window:?} {out_spec:?}"
    );
    let complex = |x: &[i64]| {
        x.iter()
            .map(|&x| Complex::new(x as f64, 0.0))
            .collect::<Vec<_>>()
    };
    let kernel = Conv::<Complex<f64>>::new(lhs, rhs, window, out_spec);
    assert!(
        run::<_, Complex<f64>>(kernel, &complex(&a), &complex(&b)) == complex(&want),
        "complex {window:?}"
    );
    let bytes = |x: &[i64]| x.iter().map(|&x| x as i8).collect::<Vec<_>>();
    let wide = want.iter().map(|&x| x as i32).collect::<Vec<_>>();
    assert_eq!(
        run::<_, i32>(
            Conv::<i8, i32>::new(lhs, rhs, window, out_spec),
            &bytes(&a),
            &bytes(&b)
        ),
        wide
    );
    let halves = |x: &[i64]| {
        x.iter()
            .map(|&x| f16::from_f32(x as f32))
            .collect::<Vec<_>>()
    };
    let kernel = Conv::<f16, f32, f16>::new(lhs, rhs, window, out_spec);
    assert_eq!(
        run::<_, f16>(kernel, &halves(&a), &halves(&b)),
        halves(&want)
    );
}

const NHWC: &[usize] = &[0, 3, 1, 2];
const HWIO: &[usize] = &[3, 2, 0, 1];
const NCHW: &[usize] = &[0, 1, 2, 3];

fn windows() -> Vec<Window> {
    let plain = Window::plain(2);
    vec![
        plain.clone(),
        Window {
            padding: vec![(1, 1), (1, 1)],
            ..plain.clone()
        },
        Window {
            padding: vec![(0, 1), (2, 0)],
            strides: vec![2, 3],
            ..plain.clone()
        },
        Window {
            padding: vec![(-1, -1), (1, -2)],
            ..plain.clone()
        },
        Window {
            lhs_dilation: vec![2, 3],
            padding: vec![(1, 2), (0, 1)],
            ..plain.clone()
        },
        Window {
            lhs_dilation: vec![2, 1],
            padding: vec![(-1, -1), (0, 0)],
            ..plain.clone()
        },
        Window {
            rhs_dilation: vec![2, 1],
            padding: vec![(2, 2), (1, 1)],
            ..plain.clone()
        },
        Window {
            padding: vec![(-20, 0), (0, 0)],
            ..plain.clone()
        },
        Window {
            padding: vec![(-9, 12), (30, -2)],
            strides: vec![1, 4],
            ..plain
        },
    ]
}

#[test]
fn gaps_in_the_left_operand() {
    // Every combination of steps, in one dimension; some have positions that see nothing.
    for (length, taps) in [(1, 1), (1, 3), (4, 1), (5, 2), (6, 3), (7, 5)] {
        for index in 0..4 * 4 * 4 * 3 {
            let (stride, dilation, step) = (index % 4 + 1, index / 4 % 4 + 2, index / 16 % 4 + 1);
            let window = Window {
                strides: vec![stride],
                lhs_dilation: vec![dilation],
                rhs_dilation: vec![step],
                padding: vec![[(0, 0), (taps as i64 - 1, 2), (-2, 5)][index / 64]],
                ..Window::plain(1)
            };
            check(
                (&[2, length, 3], &[0, 2, 1]),
                (&[taps, 3, 4], &[2, 1, 0]),
                &[0, 2, 1],
                &window,
            );
            let channelwise = Window {
                feature_group_count: 3,
                ..window
            };
            check(
                (&[2, 3, length], &[0, 1, 2]),
                (&[taps, 1, 6], &[2, 1, 0]),
                &[0, 1, 2],
                &channelwise,
            );
        }
    }
    // More phases than are planned beforehand.
    let window = Window {
        lhs_dilation: vec![9, 10],
        padding: vec![(2, 2), (3, 1)],
        ..Window::plain(2)
    };
    check((&[1, 3, 4, 2], NHWC), (&[3, 3, 2, 5], HWIO), NHWC, &window);
}

#[test]
fn windows_and_layouts() {
    for window in windows() {
        check((&[2, 7, 8, 5], NHWC), (&[3, 3, 5, 4], HWIO), NHWC, &window);
        check((&[2, 5, 7, 8], NCHW), (&[4, 5, 3, 3], NCHW), NCHW, &window);
        check(
            (&[2, 7, 8, 5], NHWC),
            (&[4, 5, 3, 2], NCHW),
            &[1, 3, 0, 2],
            &window,
        );
    }
}

#[test]
fn what_gaps_meet_is_passed_over() {
    // Of each position only the elements of the window that are whole steps from the operand's.
    let window = Window {
        lhs_dilation: vec![2],
        padding: vec![(1, 1)],
        ..Window::plain(1)
    };
    let view = |len: usize| View::dense(&[1, 1, len]);
    let conv = || Conv::<f32>::new(&view(3), &view(3), &window, &[0, 1, 2]);
    let middle = run::<f32, f32>(conv(), &[1.0; 3], &[1.0, f32::NAN, 1.0]);
    let seen: Vec<bool> = middle.iter().map(|x| x.is_nan()).collect();
    assert_eq!(seen, [true, false, true, false, true]);
}

#[test]
fn many_features_and_positions() {
    let window = Window {
        padding: vec![(1, 1), (1, 1)],
        ..Window::plain(2)
    };
    check(
        (&[2, 9, 33, 17], NHWC),
        (&[3, 3, 17, 37], HWIO),
        NHWC,
        &window,
    );
    // The inner dimension in several blocks, of short and of long segments.
    check(
        (&[1, 3, 5, 130], NHWC),
        (&[3, 3, 130, 3], HWIO),
        NHWC,
        &window,
    );
    check(
        (&[1, 2, 2, 1100], NHWC),
        (&[1, 2, 1100, 2], HWIO),
        NHWC,
        &window,
    );
}

#[test]
fn gradients_of_convolutions() {
    let window = Window {
        padding: vec![(1, 1), (1, 1)],
        ..Window::plain(2)
    };
    // With respect to the weights: batch and features exchanged.
    check(
        (&[3, 8, 9, 6], &[3, 0, 1, 2]),
        (&[3, 8, 9, 5], &[3, 0, 1, 2]),
        &[2, 3, 0, 1],
        &window,
    );
    // With respect to the left operand: the window reversed.
    let weights = View {
        strides: vec![4, 1, -60, -20],
        offset: 160,
        ..View::dense(&[5, 4, 3, 3])
    };
    check_views(
        &View::dense(&[2, 8, 9, 4]).permuted(NHWC),
        &weights,
        NHWC,
        &window,
    );
    // Strided: the cotangent dilated.
    let dilated = Window {
        lhs_dilation: vec![2, 2],
        padding: vec![(2, 1), (1, 2)],
        ..Window::plain(2)
    };
    check_views(
        &View::dense(&[2, 4, 5, 4]).permuted(NHWC),
        &weights,
        NHWC,
        &dilated,
    );
}

#[test]
fn groups() {
    let padded = Window {
        padding: vec![(1, 1), (0, 2)],
        ..Window::plain(2)
    };
    for (groups, inputs, outputs) in [
        (2, 3, 4),
        (3, 2, 5),
        (6, 1, 2),
        (8, 1, 1),
        (70, 1, 1),
        (2, 1, 20),
    ] {
        let window = Window {
            feature_group_count: groups,
            ..padded.clone()
        };
        let (features, all) = (groups * inputs, groups * outputs);
        check(
            (&[2, 5, 6, features], NHWC),
            (&[3, 2, inputs, all], HWIO),
            NHWC,
            &window,
        );
        check(
            (&[2, features, 5, 6], NCHW),
            (&[all, inputs, 3, 2], NCHW),
            NCHW,
            &window,
        );
        let strided = Window {
            strides: vec![2, 1],
            lhs_dilation: vec![1, 2],
            ..window
        };
        check(
            (&[2, 5, 6, features], NHWC),
            (&[3, 2, inputs, all], HWIO),
            NHWC,
            &strided,
        );
    }
    for groups in [2, 3] {
        let window = Window {
            batch_group_count: groups,
            ..padded.clone()
        };
        check((&[6, 5, 6, 4], NHWC), (&[3, 2, 4, 6], HWIO), NHWC, &window);
        check((&[6, 4, 5, 6], NCHW), (&[6, 4, 3, 2], NCHW), NCHW, &window);
    }
}

#[test]
fn other_numbers_of_dimensions() {
    check(
        (&[3, 4], &[0, 1]),
        (&[5, 4], &[0, 1]),
        &[0, 1],
        &Window::plain(0),
    );
    let window = Window {
        padding: vec![(2, 1)],
        rhs_dilation: vec![2],
        ..Window::plain(1)
    };
    check(
        (&[2, 3, 20], &[0, 1, 2]),
        (&[4, 3, 3], &[0, 1, 2]),
        &[0, 1, 2],
        &window,
    );
    check(
        (&[2, 20, 3], &[0, 2, 1]),
        (&[3, 3, 4], &[2, 1, 0]),
        &[0, 2, 1],
        &window,
    );
    let window = Window {
        strides: vec![2, 1, 1],
        padding: vec![(1, 0); 3],
        ..Window::plain(3)
    };
    check(
        (&[2, 4, 5, 3, 6], &[0, 4, 1, 2, 3]),
        (&[2, 3, 2, 6, 4], &[4, 3, 0, 1, 2]),
        &[0, 4, 1, 2, 3],
        &window,
    );
}

#[test]
fn empty_operands_and_windows() {
    let window = Window {
        padding: vec![(1, 1), (1, 1)],
        ..Window::plain(2)
    };
    check((&[0, 4, 4, 3], NHWC), (&[3, 3, 3, 2], HWIO), NHWC, &window);
    check((&[2, 4, 4, 0], NHWC), (&[3, 3, 0, 2], HWIO), NHWC, &window);
    check((&[2, 0, 4, 3], NHWC), (&[2, 3, 3, 2], HWIO), NHWC, &window);
    check((&[2, 4, 4, 3], NHWC), (&[7, 3, 3, 2], HWIO), NHWC, &window);
    check((&[2, 4, 4, 3], NHWC), (&[3, 0, 3, 2], HWIO), NHWC, &window);
}

#[test]
fn every_instruction_set_gives_the_same() {
    for isa in crate::runtime::simd::Isa::available() {
        isa.assumed_in(|| {
            let window = Window {
                padding: vec![(1, 1), (1, 1)],
                ..Window::plain(2)
            };
            check(
                (&[2, 7, 18, 5], NHWC),
                (&[3, 3, 5, 20], HWIO),
                NHWC,
                &window,
            );
            let depthwise = Window {
                feature_group_count: 20,
                ..window
            };
            check(
                (&[2, 7, 8, 20], NHWC),
                (&[3, 3, 1, 20], HWIO),
                NHWC,
                &depthwise,
            );
        });
    }
}
