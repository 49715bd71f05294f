//! Metrics, beside the numbers that `flax.nnx.metrics` 0.12.12 gives.

use jaxide::{Array, numpy};
use jaxide_nnx::metrics::{Accuracy, Average, MultiMetric, Welford};
use jaxide_nnx::{self as nnx, BatchNorm, Ema, MetricState, Param, Rngs};

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

/// As `nnx.MultiMetric(accuracy=Accuracy(), loss=Average(), spread=Welford())`: the same paths and numbers.
#[test]
fn several_at_once() {
    let metrics = MultiMetric::new()
        .with("accuracy", Accuracy::new())
        .with("loss", Average::new())
        .with("spread", Welford::new());
    let paths = |metrics: &MultiMetric| -> Vec<String> {
        let state = nnx::state(metrics, MetricState).expect("a state");
        state.paths().map(ToString::to_string).collect()
    };
    let expected = [
        "accuracy/count",
        "accuracy/total",
        "loss/count",
        "loss/total",
        "spread/count",
        "spread/m2",
        "spread/mean",
    ];
    assert_eq!(paths(&metrics), expected);
    let step = nnx::jit(|metrics: MultiMetric, x: Array, labels: Array| {
        metrics.update(&[
            ("logits", &x),
            ("labels", &labels),
            ("loss", &x.mean()),
            ("values", &x),
        ]);
    });
    let x = Array::from([[0.5f32, -1.25, 2.0], [3.5, 0.25, -0.75]]);
    step(metrics.clone(), x.clone(), Array::from([2, 1]));
    step(metrics.clone(), &x * 2.0, Array::from([2, 0]));
    let found = metrics.compute();
    close(&found["accuracy"], 0.75);
    close(&found["loss"], 1.0625);
    close(&found["spread/mean"], 1.0625);
    let apart = nnx::clone(&metrics).expect("a copy");
    metrics.reset();
    close(&apart.compute()["loss"], 1.0625);
    assert!(metrics.compute()["loss"].item::<f32>().is_nan());
    assert_eq!(paths(&apart), expected);
}

#[test]
fn a_value_that_is_missing_is_named() {
    let metrics = MultiMetric::new().with("accuracy", Accuracy::new());
    let update = || metrics.update(&[("logits", &Array::from([[1.0f32]]))]);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(update)).unwrap_err();
    let text = panic.downcast_ref::<String>().expect("a message");
    assert!(
        text.contains("labels") && text.contains("accuracy"),
        "{text}"
    );
}

/// The averages go as Flax's, whose numbers these are, and what is not averaged comes from the model.
#[test]
fn averages_of_a_model() {
    let norm = BatchNorm::new(2, &Rngs::new(0), ());
    let ema = Ema::new(&norm, 0.9, Param).unwrap();
    for step in 1..4 {
        let scale = norm.scale.as_ref().expect("it has a scale");
        scale.set(Array::from([step as f32, 10.0]));
        norm.mean.set(Array::from([step as f32, 0.0]));
        ema.update(&norm);
    }
    let averaged = ema.apply_to(&norm).unwrap();
    let scale = averaged.scale.as_ref().expect("it has a scale").get();
    for (got, expected) in scale.to_vec::<f32>().iter().zip([1.29, 3.439]) {
        assert!((got - expected).abs() < 1e-6, "{got} instead of {expected}");
    }
    assert_eq!(averaged.mean.get().to_vec::<f32>(), [3.0, 0.0]);
    assert!(!averaged.mean.is_same(&norm.mean));
    assert_eq!(nnx::state(&ema, Param).unwrap().len(), 2);
}
