//! Arrays as text, beside what NumPy and JAX print (`display/record.py`).

use jaxide::core::{Scalar, Tensor};
use jaxide::{Array, DType, make_jaxpr};

/// A recorded case.
struct Case<'a> {
    title: &'a str,
    array: Array,
    precision: Option<usize>,
    plus: bool,
    display: &'a str,
    debug: &'a str,
}

fn cases(text: &str) -> impl Iterator<Item = Case<'_>> {
    text.split("== ").skip(1).map(|case| {
        let (title, texts) = case.split_once('\n').unwrap();
        let (display, debug) = texts.split_once("\n--\n").unwrap();
        let words: Vec<&str> = title.split(' ').collect();
        let [dtype, shape, precision, sign, elements] = words[..] else {
            panic!("{title}")
        };
        let dtype = DType::from_short_name(dtype).unwrap();
        let shape: Vec<usize> = match shape {
            "scalar" => vec![],
            shape => shape.split(',').map(|n| n.parse().unwrap()).collect(),
        };
        Case {
            title,
            array: Array::from(
                Tensor::from_bytes(&shape, dtype, &bytes(dtype, &shape, elements)).unwrap(),
            ),
            precision: precision.parse().ok(),
            plus: sign == "+",
            display,
            debug: debug.trim_end_matches('\n'),
        }
    })
}

fn bytes(dtype: DType, shape: &[usize], elements: &str) -> Vec<u8> {
    if elements == "none" {
        return Vec::new();
    }
    if let Some(range) = elements.strip_prefix("arange:") {
        let (first, step) = range.split_once(':').unwrap();
        let (first, step): (f64, f64) = (first.parse().unwrap(), step.parse().unwrap());
        let count: usize = shape.iter().product();
        let element = |index: usize| {
            let value = first + step * index as f64;
            let scalar = if dtype.is_integer() {
                Scalar::Int(value as i64)
            } else {
                Scalar::Float(value)
            };
            scalar.to_bytes(dtype).unwrap()
        };
        return (0..count).flat_map(element).collect();
    }
    let digits = elements.as_bytes().chunks(2);
    digits
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

#[test]
fn arrays_print_as_numpy_prints_them() {
    let (mut seen, mut wrong) = (0, String::new());
    for case in cases(include_str!("display/recorded.txt")) {
        let Case { array, .. } = &case;
        let (shown, told) = match (case.precision, case.plus) {
            (None, false) => (format!("{array}"), format!("{array:?}")),
            (None, true) => (format!("{array:+}"), format!("{array:+?}")),
            (Some(p), false) => (format!("{array:.p$}"), format!("{array:.p$?}")),
            (Some(p), true) => (format!("{array:+.p$}"), format!("{array:+.p$?}")),
        };
        for (got, want) in [(shown, case.display), (told, case.debug)] {
            if got != want {
                wrong += &format!("{}\n{got}\nfor\n{want}\n\n", case.title);
            }
        }
        seen += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(seen > 500, "{seen} cases");
}

#[test]
fn elements_take_the_width_that_is_asked_for() {
    let x = Array::from([[1.5f32, 10.0], [-2.0, 0.25]]);
    assert_eq!(
        format!("{x:8}"),
        "[[    1.5     10.  ]\n [   -2.       0.25]]"
    );
    assert_eq!(
        format!("{x:<8.1}"),
        "[[ 1.5     10.     ]\n [-2.       0.2    ]]"
    );
    assert_eq!(format!("{:^5}", Array::from([1, 20])), "[  1    20  ]");
    assert_eq!(format!("{:6}", Array::from(true)), "  True");
}

#[test]
fn all_elements_are_shown_when_asked_for() {
    let x = Array::from((0..1200).collect::<Vec<i32>>());
    assert!(format!("{x}").contains("..."));
    let all = format!("{x:#}");
    assert!(!all.contains("..."));
    assert_eq!(
        all.trim_matches(['[', ']']).split_whitespace().count(),
        1200
    );
}

#[test]
fn numbers_print_as_the_arrays_they_are() {
    assert_eq!(Array::from(0.1).to_string(), "0.1");
    assert_eq!(Array::from(1.0 / 3.0).to_string(), "0.33333334");
    assert_eq!(format!("{:.3}", Array::from(1.0 / 3.0)), "0.333");
    assert_eq!(
        format!("{:?}", Array::from(1.5)),
        "Array(1.5, dtype=float32, weak_type=True)"
    );
    assert_eq!(
        format!("{:?}", Array::from(3)),
        "Array(3, dtype=int32, weak_type=True)"
    );
}

#[test]
fn keys_show_their_words() {
    let keys = jaxide::random::split(&jaxide::random::key(0), 2);
    assert_eq!(
        keys.to_string(),
        "Array((2,), dtype=key<fry>) overlaying:\n[[1797259609 2579123966]\n [ 928981903 3453687069]]"
    );
    assert_eq!(format!("{keys:?}"), keys.to_string());
}

#[test]
fn traced_arrays_print_their_type() {
    let f = |x: Array| {
        assert_eq!(format!("{x} {x:?}"), "Traced<f32[2]> Traced<f32[2]>");
        x
    };
    make_jaxpr(f)(Array::spec(DType::F32, [2])).unwrap();
    assert_eq!(Array::spec(DType::I8, ()).to_string(), "Spec<i8[]>");
}

#[test]
fn debugging_shows_elements() {
    for array in [
        Array::from([1.5f32, -2.0]),
        Array::from_vec(&[40], vec![1.5f32; 40]),
    ] {
        let text = format!("{array:?}");
        assert!(text.contains("1.5") && text.contains("float32"), "{text}");
    }
    let large = Array::from_vec(&[1000], vec![0.5f32; 1000]);
    let clone = large.clone();
    jaxide::jit(|x: Array| x + 1.0).donate([0])(large);
    let text = format!("{clone:?}");
    assert_eq!(text, "Donated<f32[1000]>");
    let values = Array::from([1.5f32, -2.0]);
    assert_eq!(
        format!("{:?}", values.values::<f32>().unwrap()),
        "[1.5, -2.0]"
    );
}
