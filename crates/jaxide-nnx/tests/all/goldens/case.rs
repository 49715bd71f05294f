//! Recorded cases: arrays in them, and comparison with them.

use jaxide::{Array, DType};
use jaxide_nnx::State;
use serde_json::Value;

/// A line of the recorded data.
pub(super) struct Case(pub(super) Value);

impl Case {
    pub(super) fn read(line: &str) -> Self {
        Case(serde_json::from_str(line).expect("a line is one JSON object"))
    }

    pub(super) fn id(&self) -> &str {
        self.0["id"].as_str().expect("a case has a name")
    }

    pub(super) fn op(&self) -> &str {
        self.0["op"].as_str().expect("a case has an operation")
    }

    pub(super) fn str(&self, key: &str) -> &str {
        self.0[key]
            .as_str()
            .unwrap_or_else(|| panic!("{key} is no text"))
    }

    pub(super) fn int(&self, key: &str) -> i64 {
        self.0[key]
            .as_i64()
            .unwrap_or_else(|| panic!("{key} is no integer"))
    }

    /// Compares with an array of the case.
    #[track_caller]
    pub(super) fn close(&self, what: &str, got: &Array, expected: &Value) {
        let (rtol, atol) = (
            self.0["rtol"].as_f64().unwrap_or(0.0),
            self.0["atol"].as_f64().unwrap_or(0.0),
        );
        close(what, got, expected, rtol, atol);
    }
}

/// Compares an array with a recorded one.
#[track_caller]
pub(super) fn close(what: &str, got: &Array, expected: &Value, rtol: f64, atol: f64) {
    let expected = array(expected);
    assert_eq!(got.shape(), expected.shape(), "{what}: the shape");
    assert_eq!(got.dtype(), expected.dtype(), "{what}: the element type");
    let (got, expected) = (numbers(got), numbers(&expected));
    for (place, (got, expected)) in got.iter().zip(&expected).enumerate() {
        let same = (got.is_nan() && expected.is_nan())
            || got == expected
            || (got - expected).abs() <= atol + rtol * expected.abs();
        assert!(
            same,
            "{what}: element {place} is {got}, and {expected} is expected"
        );
    }
}

/// The elements as 64-bit numbers.
pub(super) fn numbers(array: &Array) -> Vec<f64> {
    let value = array.value();
    (0..value.len())
        .map(|place| {
            value
                .scalar_at(place)
                .and_then(|s| s.as_f64())
                .unwrap_or(f64::NAN)
        })
        .collect()
}

pub(super) fn sizes(value: &Value) -> Vec<usize> {
    let items = value.as_array().expect("a list of sizes");
    items
        .iter()
        .map(|item| item.as_u64().expect("a size") as usize)
        .collect()
}

/// A recorded array.
pub(super) fn array(value: &Value) -> Array {
    let number = |value: &Value| match value {
        Value::String(text) => text.parse().expect("nan, inf or -inf"),
        other => other
            .as_f64()
            .unwrap_or_else(|| f64::from(u8::from(other.as_bool().expect("a number")))),
    };
    let data: Vec<f64> = value["data"]
        .as_array()
        .expect("data")
        .iter()
        .map(number)
        .collect();
    let shape = sizes(&value["shape"]);
    let float = || {
        Array::from_vec(
            &shape[..],
            data.iter().map(|&x| x as f32).collect::<Vec<f32>>(),
        )
    };
    match value["dtype"].as_str().expect("an element type") {
        "float32" => float(),
        "bfloat16" => float().astype(DType::BF16),
        "float16" => float().astype(DType::F16),
        "float64" => Array::from_vec(&shape[..], data),
        "int32" => Array::from_vec(
            &shape[..],
            data.iter().map(|&x| x as i32).collect::<Vec<i32>>(),
        ),
        "uint32" => Array::from_vec(
            &shape[..],
            data.iter().map(|&x| x as u32).collect::<Vec<u32>>(),
        ),
        "bool" => Array::from_vec(
            &shape[..],
            data.iter().map(|&x| x as i32).collect::<Vec<i32>>(),
        )
        .astype(DType::Bool),
        other => panic!("{other} is not recorded"),
    }
}

/// The entries of a recorded state, as arrays.
pub(super) fn entries(value: &Value) -> Vec<(&str, Array)> {
    let entries = value.as_object().expect("a state");
    entries
        .iter()
        .map(|(path, value)| (path.as_str(), array(value)))
        .collect()
}

/// Compares a state with a recorded one.
#[track_caller]
pub(super) fn close_state(case: &Case, what: &str, got: &State, expected: &Value) {
    let expected = expected.as_object().expect("a state");
    let mut paths: Vec<&str> = expected.keys().map(String::as_str).collect();
    paths.sort_unstable();
    let mut own: Vec<String> = got.paths().map(ToString::to_string).collect();
    own.sort();
    assert_eq!(own, paths, "{what}: the paths");
    for (path, value) in expected {
        case.close(
            &format!("{what} {path}"),
            &got.array(path.as_str()).expect("an array"),
            value,
        );
    }
}
