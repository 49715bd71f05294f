//! Windows over arrays of one axis against windows that are laid by hand.

use jaxide::lax::{self, Padding, Window, conv_dimension_numbers};
use jaxide::prelude::*;
use jaxide::with_interpreter;

/// One window: lengths, how it moves, and the padding as it was asked for.
#[derive(Clone, Debug)]
struct Case {
    length: usize,
    window: usize,
    stride: usize,
    padding: Padding,
    base: usize,
    dilation: usize,
}

impl Case {
    /// What stands at each place of the padded array with holes, and where the windows start.
    fn laid(&self) -> (Vec<Option<usize>>, Vec<usize>) {
        let mut held: Vec<Option<usize>> = Vec::new();
        for k in 0..self.length {
            held.push(Some(k));
            if k + 1 < self.length {
                held.extend(vec![None; self.base - 1]);
            }
        }
        let reach = (self.window - 1) * self.dilation + 1;
        let missing = || {
            let windows = held.len().div_ceil(self.stride);
            let needed = (windows - 1) * self.stride + reach;
            needed.saturating_sub(held.len())
        };
        let (low, high) = match &self.padding {
            Padding::Valid => (0, 0),
            Padding::Same => (missing() / 2, missing().div_ceil(2)),
            Padding::SameLower => (missing().div_ceil(2), missing() / 2),
            Padding::Explicit(amounts) => (amounts[0].0 as usize, amounts[0].1 as usize),
        };
        let mut padded = vec![None; low];
        padded.extend(held);
        padded.extend(vec![None; high]);
        let starts = match padded.len().checked_sub(reach) {
            Some(last) => (0..=last).step_by(self.stride).collect(),
            None => Vec::new(),
        };
        (padded, starts)
    }

    /// The elements in each window.
    fn windows(&self) -> Vec<Vec<usize>> {
        let (padded, starts) = self.laid();
        let inside = |start: &usize| {
            (0..self.window)
                .filter_map(|k| padded[start + k * self.dilation])
                .collect()
        };
        starts.iter().map(inside).collect()
    }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for length in 1..7 {
        for window in 1..5 {
            for stride in 1..4 {
                for (base, dilation) in [(1, 1), (2, 1), (1, 3), (3, 2)] {
                    for padding in [
                        Padding::Valid,
                        Padding::Same,
                        Padding::SameLower,
                        Padding::Explicit(vec![(2, 1)]),
                    ] {
                        cases.push(Case {
                            length,
                            window,
                            stride,
                            padding,
                            base,
                            dilation,
                        });
                    }
                }
            }
        }
    }
    cases
}

#[test]
fn windows_lie_where_they_are_laid_by_hand() {
    for case in cases() {
        let elements: Vec<f32> = (0..case.length).map(|k| (k * k % 5) as f32 - 1.5).collect();
        let x = Array::from_vec(&[case.length], elements.clone());
        let window = Window::new(&[case.window])
            .strides(&[case.stride])
            .padding(case.padding.clone())
            .base_dilation(&[case.base])
            .window_dilation(&[case.dilation]);
        let [sums, largest, smallest] = with_interpreter(|| {
            [
                lax::reduce_window_sum(&x, &window),
                lax::reduce_window_max(&x, &window),
                lax::reduce_window_min(&x, &window),
            ]
            .map(|y| y.to_vec::<f32>())
        });
        let inside = case.windows();
        let each = |f: fn(f32, f32) -> f32, start: f32| -> Vec<f32> {
            let of = |window: &Vec<usize>| window.iter().fold(start, |a, &k| f(a, elements[k]));
            inside.iter().map(of).collect()
        };
        assert_eq!(sums, each(|a, b| a + b, 0.0), "{case:?}");
        assert_eq!(largest, each(f32::max, f32::NEG_INFINITY), "{case:?}");
        assert_eq!(smallest, each(f32::min, f32::INFINITY), "{case:?}");
    }
}

#[test]
fn windows_of_other_ranks_are_refused() {
    let x = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
    let said = |window: Window| {
        let x = x.clone();
        let f = jit(move |x: Array| lax::reduce_window_sum(&x, &window));
        f.try_call((x,)).unwrap_err().to_string()
    };
    for window in [
        Window::new(&[2]),
        Window::new(&[2, 2]).strides(&[1]),
        Window::new(&[2, 2]).base_dilation(&[1, 1, 1]),
        Window::new(&[2, 2]).window_dilation(&[2]),
    ] {
        let text = said(window);
        assert!(text.contains("slides over f32[2,2]"), "{text}");
    }
}

#[test]
fn layouts_name_every_axis_once() {
    let numbers = conv_dimension_numbers("NHWC", "HWIO", "NCHW");
    assert_eq!(numbers.lhs_spec[..], [0, 3, 1, 2]);
    assert_eq!(numbers.rhs_spec[..], [3, 2, 0, 1]);
    assert_eq!(numbers.out_spec[..], [0, 1, 2, 3]);
    for (lhs, rhs, out) in [
        ("NWC", "HWIO", "NWC"),
        ("NWC", "WIO", "NC"),
        ("NWC", "WIOO", "NWC"),
        ("NWC", "WIX", "NWC"),
        ("NWCC", "WIO", "NWC"),
        ("NWC", "WIO", "NWCH"),
    ] {
        let refused = std::panic::catch_unwind(|| conv_dimension_numbers(lhs, rhs, out));
        let said = refused.unwrap_err();
        let said = said.downcast_ref::<String>().expect("a text");
        assert!(said.contains("must name"), "{lhs} {rhs} {out}: {said}");
    }
}
