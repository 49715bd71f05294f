//! Metrics, beside the numbers that `flax.nnx.metrics` 0.12.12 gives.

use jaxide::{Array, numpy};
use jaxide_nnx::metrics::{Accuracy, Average, Welford};
use jaxide_nnx::{self as nnx, MetricState};

#[track_caller]
fn close(got: &Array, expected: f32) {
    let got = got.item::<f32>();
    assert!((got - expected).abs() < 1e-6, "{got} is no {expected}");
}

#[test]
fn numbers() {
    let x = Array::from([[0.5f32, -1.25, 2.0], [3.5, 0.25, -0.75]]);
    let (labels, mask) = (Array::from([2, 1]), Array::from([true, false]));
    let spread = Welford::new();
    for factor in [1.0, -2.0] {
        spread.update(&(&x * factor + factor));
    }
    let found = spread.compute();
    close(&found.mean, -0.854_166_6);
    close(&found.standard_error_of_mean, 1.044_769_6);
    close(&found.standard_deviation, 3.619_188);

    let accuracy = Accuracy::new();
    accuracy.update(&x, &labels);
    accuracy.update_masked(&-&x, &labels, &mask);
    close(&accuracy.compute(), 1.0 / 3.0);
    let state = nnx::state(&accuracy, MetricState).expect("it has a state");
    let paths: Vec<String> = state.paths().map(ToString::to_string).collect();
    assert_eq!(paths, ["count", "total"]);

    let accuracy = Accuracy::with_threshold(0.5);
    accuracy.update(&numpy::take(&x, 0, 0), &Array::from([1, 1, 0]));
    close(&accuracy.compute(), 1.0 / 3.0);

    let average = Average::new();
    average.update(&x);
    average.update_masked(&numpy::take(&x, 0, 1), &mask);
    close(&average.compute(), 0.678_571_4);
}
