//! Indexing and functions of networks print as JAX prints them, and do what they say.

use jaxide::core::jaxpr::text_compare::normalise;
use jaxide::prelude::*;
use jaxide::{nn, numpy};

#[track_caller]
fn check(jaxpr: Result<ClosedJaxpr>, name: &str) {
    let text = jaxpr.map_or_else(|error| panic!("{error}"), |jaxpr| jaxpr.to_string());
    let path = format!("{}/tests/indexing/{name}.jaxpr", env!("CARGO_MANIFEST_DIR"));
    let want = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        normalise(text.trim_end()),
        normalise(want.trim_end()),
        "{name}"
    );
}

fn x() -> Array {
    Array::spec(DType::F32, &[5, 3])
}

fn indices(shape: &[usize]) -> Array {
    Array::spec(DType::I32, shape)
}

#[test]
fn reads_print_as_in_jax() {
    let read = |x: Array, i: Array| x.index(i);
    check(make_jaxpr(|x: Array| x.index(-1))(x()), "number");
    check(make_jaxpr(read)(x(), indices(&[])), "scalar");
    check(make_jaxpr(read)(x(), indices(&[2])), "array");
    check(make_jaxpr(|x: Array| x.slice(1..3))(x()), "range");
    let take = |x: Array, i: Array| numpy::take(&x, &i, 1);
    check(make_jaxpr(take)(x(), indices(&[2])), "take");
}

#[test]
fn writes_print_as_in_jax() {
    check(make_jaxpr(|x: Array| x.at(1).set(1.0))(x()), "set_number");
    let set = |x: Array, i: Array| x.at(i).set(1.0);
    check(make_jaxpr(set)(x(), indices(&[])), "set");
    type Write = fn(Array, Array) -> Array;
    let writes: [(&str, Write); 4] = [
        ("add", |x, i| x.at(i).add(1.0)),
        ("multiply", |x, i| x.at(i).multiply(2.0)),
        ("max", |x, i| x.at(i).max(1.0)),
        ("min", |x, i| x.at(i).min(1.0)),
    ];
    for (name, write) in writes {
        check(make_jaxpr(write)(x(), indices(&[2])), name);
    }
}

#[test]
fn functions_of_networks_print_as_in_jax() {
    check(make_jaxpr(|x: Array| nn::softmax(&x, -1))(x()), "softmax");
    check(
        make_jaxpr(|x: Array| nn::log_softmax(&x, -1))(x()),
        "log_softmax",
    );
    check(make_jaxpr(|x: Array| nn::relu(&x))(x()), "relu");
    check(
        make_jaxpr(grad(|x: Array| nn::relu(&x).sum()))(x()),
        "relu_grad",
    );
    check(make_jaxpr(|x: Array| nn::silu(&x))(x()), "silu");
    check(make_jaxpr(|x: Array| nn::gelu(&x, ()))(x()), "gelu");
    let one_hot = |x: Array| nn::one_hot(&x, 3, DType::F32);
    check(make_jaxpr(one_hot)(indices(&[2])), "one_hot");
}

#[test]
fn indices_count_from_either_end() {
    let x = Array::from([1.0f32, 2.0, 3.0]);
    let read = jit(|x: Array, i: Array| x.index(i));
    for (index, want) in [(0, 1.0), (2, 3.0), (-1, 3.0), (-3, 1.0), (7, 3.0)] {
        let index = Array::from_vec(&[], vec![index]);
        assert_eq!(read(x.clone(), index).item::<f32>(), want);
    }
    let [first, last] = [0, -1].map(|index| x.index(index).item::<f32>());
    assert_eq!((first, last), (1.0, 3.0));
    assert_eq!(
        numpy::take(&x, &Array::from([-1, 5]), 0).to_vec::<f32>()[0],
        3.0
    );
    assert!(numpy::take(&x, &Array::from([-1, 5]), 0).to_vec::<f32>()[1].is_nan());
}

/// What the places of the macro become, and where the axes of arrays go.
#[test]
fn indices_are_written_as_in_numpy() {
    let x = numpy::arange(24, DType::I32).reshape([2, 3, 4]);
    let read = |index: numpy::Indices| {
        let y = x.index(index);
        (y.shape().to_vec(), y.to_vec::<i32>())
    };
    let rows = Array::from([1, 0]);
    let last: usize = 2;
    assert_eq!(read(idx![1, 2, 3]), (vec![], vec![23]));
    assert_eq!(read(idx![0, -1]), (vec![4], vec![8, 9, 10, 11]));
    assert_eq!(read(idx![0, .., 1..-1; 2]), (vec![3, 1], vec![1, 5, 9]));
    assert_eq!(
        read(idx![1, ..=last, ..; -3]),
        (vec![3, 2], vec![15, 12, 19, 16, 23, 20])
    );
    assert_eq!(read(idx![..., 0, None]).0, [2, 3, 1]);
    assert_eq!(read(idx![None, ..., numpy::newaxis, 0]).0, [1, 2, 3, 1]);
    assert_eq!(
        read(idx![&rows, .., &rows]),
        (vec![2, 3], vec![13, 17, 21, 0, 4, 8])
    );
    assert_eq!(read(idx![.., [2, 0], 1]), (vec![2, 2], vec![9, 1, 21, 13]));
    assert_eq!(
        read(idx![[true, false], 2.., ..2]),
        (vec![1, 1, 2], vec![8, 9])
    );
    assert_eq!(read(idx![true]).0, [1, 2, 3, 4]);
    assert_eq!(read(idx![]).0, [2, 3, 4]);
    let error = jit(|x: Array| x.index(idx![0, 0, 0, 0])).try_call((x.clone(),));
    assert_eq!(error.unwrap_err().operation(), Some("index"));
    let mask = jit(|x: Array| x.index(x.gt(3))).try_call((x.clone(),));
    assert!(mask.unwrap_err().to_string().contains("is not known here"));
}

#[test]
fn writes_outside_are_dropped() {
    let x = Array::from([1.0f32, 2.0, 3.0]);
    let write = jit(|x: Array, i: Array| x.at(i).add(10.0));
    let written = write(x.clone(), Array::from([0, 0, -1, 9]));
    assert_eq!(written.to_vec::<f32>(), [21.0, 2.0, 13.0]);
}

/// JAX adds the length to the index in its own type, in which 300 is 44, or refuses it.
#[test]
fn indices_of_narrow_types_reach_long_axes() {
    let x = numpy::arange(300, DType::I32);
    let read = |x: Array, i: Array| x.index(i);
    let write = |x: Array, i: Array| x.at(i).set(-5);
    let take = |x: Array, i: Array| numpy::take(&x, &i, 0);
    for index in [
        Array::from([-1i8, -128, 127]),
        Array::from([-1i16, -128, 127]),
    ] {
        let rows = [299, 172, 127];
        assert_eq!(read(x.clone(), index.clone()).to_vec::<i32>(), rows);
        assert_eq!(jit(read)(x.clone(), index.clone()).to_vec::<i32>(), rows);
        assert_eq!(jit(take)(x.clone(), index.clone()).to_vec::<i32>(), rows);
        for (at, row) in rows.into_iter().enumerate() {
            let one = index.index(at as i64);
            assert_eq!(read(x.clone(), one.clone()).item::<i32>(), row);
            assert_eq!(jit(read)(x.clone(), one.clone()).item::<i32>(), row);
            assert_eq!(jit(write)(x.clone(), one).to_vec::<i32>()[row as usize], -5);
        }
        let mut want: Vec<i32> = (0..300).collect();
        for row in rows {
            want[row as usize] = -5;
        }
        assert_eq!(write(x.clone(), index.clone()).to_vec::<i32>(), want);
        assert_eq!(jit(write)(x.clone(), index).to_vec::<i32>(), want);
    }
    // Indices beyond 32 bits are outside, not somewhere else.
    let far = Array::from([1i64 << 32, -(1 << 40)]);
    assert_eq!(jit(read)(x.clone(), far.clone()).to_vec::<i32>(), [299, 0]);
    assert_eq!(
        jit(write)(x.clone(), far).to_vec::<i32>(),
        x.to_vec::<i32>()
    );
}

#[test]
fn mistakes_are_named() {
    let nothing = jit(|x: Array| x.index(0)).try_call((Array::zeros(&[0], DType::F32),));
    assert_eq!(nothing.unwrap_err().operation(), Some("index"));
    let no_axis = jit(|x: Array| x.slice(..)).try_call((Array::from_vec(&[], vec![1.0f32]),));
    assert_eq!(no_axis.unwrap_err().operation(), Some("slice"));
    let other =
        jit(|x: Array| x.at(0).set([1.0f32, 2.0])).try_call((Array::zeros(&[5], DType::F32),));
    assert_eq!(other.unwrap_err().operation(), Some("at.set"));
    let float = jit(|x: Array| x.index(x.clone())).try_call((Array::zeros(&[5], DType::F32),));
    assert_eq!(float.unwrap_err().operation(), Some("index"));
    let parts = jit(|x: Array| {
        let [a, b] = x.unpack();
        a + b
    });
    let error = parts
        .try_call((Array::zeros(&[5], DType::F32),))
        .unwrap_err();
    assert_eq!(error.operation(), Some("unpack"));
}

/// Signed indices of every width count from the end of axes that they cannot hold the length of.
#[test]
fn narrow_indices_reach_both_ends() {
    let lengths = [
        1usize, 2, 126, 127, 128, 129, 255, 256, 300, 32766, 32767, 32768, 32769,
    ];
    for dtype in [DType::I8, DType::I16, DType::I32, DType::I64] {
        for length in lengths {
            let x = numpy::arange(length, DType::I32);
            let indices = Array::from([-1i32, 0]).astype(dtype);
            let want = [length as i32 - 1, 0];
            assert_eq!(
                numpy::take(&x, &indices, 0).to_vec::<i32>(),
                want,
                "{dtype} {length}"
            );
            assert_eq!(
                x.index(indices.clone()).to_vec::<i32>(),
                want,
                "{dtype} {length}"
            );
            let written = x.at(indices).set(-7);
            assert_eq!(written.index(-1).item::<i32>(), -7, "{dtype} {length}");
            assert_eq!(written.index(0).item::<i32>(), -7, "{dtype} {length}");
        }
    }
    for dtype in [DType::U8, DType::U16, DType::U32, DType::U64] {
        let x = numpy::arange(300, DType::I32);
        let indices = Array::from([200i32, 255]).astype(dtype);
        assert_eq!(numpy::take(&x, &indices, 0).to_vec::<i32>(), [200, 255]);
        assert_eq!(x.at(indices).set(0).index(255).item::<i32>(), 0);
    }
}

/// Outside stands what no calculation gives: NaN, the least signed and the largest unsigned number, and true.
#[test]
fn what_is_taken_outside() {
    let taken = |dtype: DType| {
        let x = numpy::zeros(&[3], dtype);
        numpy::take(&x, &Array::from([0, 3, -4]), 0)
    };
    assert_eq!(taken(DType::I8).to_vec::<i8>(), [0, i8::MIN, i8::MIN]);
    assert_eq!(taken(DType::I16).to_vec::<i16>(), [0, i16::MIN, i16::MIN]);
    assert_eq!(taken(DType::I32).to_vec::<i32>(), [0, i32::MIN, i32::MIN]);
    assert_eq!(taken(DType::I64).to_vec::<i64>(), [0, i64::MIN, i64::MIN]);
    assert_eq!(taken(DType::U8).to_vec::<u8>(), [0, u8::MAX, u8::MAX]);
    assert_eq!(taken(DType::U16).to_vec::<u16>(), [0, u16::MAX, u16::MAX]);
    assert_eq!(taken(DType::U32).to_vec::<u32>(), [0, u32::MAX, u32::MAX]);
    assert_eq!(taken(DType::U64).to_vec::<u64>(), [0, u64::MAX, u64::MAX]);
    assert_eq!(taken(DType::Bool).to_bools(), [false, true, true]);
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let numbers = taken(dtype).astype(DType::F64).to_vec::<f64>();
        assert!(
            numbers[0] == 0.0 && numbers[1].is_nan() && numbers[2].is_nan(),
            "{dtype}"
        );
    }
}

#[test]
fn slices_lie_inside() {
    let x = numpy::arange(4, DType::I32);
    assert_eq!(
        x.slice(4..).size() + x.slice(2..2).size() + x.slice(..0).size(),
        0
    );
    assert_eq!(x.slice(1..=3).to_vec::<i32>(), [1, 2, 3]);
    let said = |array: &Array, within: (std::ops::Bound<usize>, std::ops::Bound<usize>)| {
        let array = array.clone();
        let f = jit(move |x: Array| x.slice(within));
        f.try_call((array,)).unwrap_err().to_string()
    };
    use std::ops::Bound::{Excluded, Included, Unbounded};
    for (start, end) in [(3, 1), (0, 5), (5, 5), (5, 4)] {
        let text = said(&x, (Included(start), Excluded(end)));
        assert!(
            text.contains(&format!("{start}..{end} does not lie")),
            "{text}"
        );
    }
    assert!(said(&x, (Excluded(4), Unbounded)).contains("5..4"));
    assert!(said(&x.index(0), (Included(0), Excluded(0))).contains("0..0 does not lie"));
}

/// The element types that the indices of recorded gathers and scatters have.
#[test]
fn indices_are_at_least_32_bits_wide() {
    use jaxide::core::Prim;
    for (dtype, want) in [
        (DType::I8, DType::I32),
        (DType::U8, DType::I32),
        (DType::I16, DType::I32),
        (DType::U16, DType::I32),
        (DType::I32, DType::I32),
        (DType::U32, DType::I32),
        (DType::I64, DType::I64),
        (DType::U64, DType::U64),
    ] {
        let f = |x: Array, i: Array| (x.index(i.clone()), x.at(i).set(1.0));
        let arguments = (Array::spec(DType::F32, &[5]), Array::spec(dtype, &[2]));
        let jaxpr = make_jaxpr(f)(arguments.0, arguments.1).unwrap();
        let mut found = Vec::new();
        for eqn in &jaxpr.jaxpr.eqns {
            if matches!(eqn.prim, Prim::Gather(_) | Prim::Scatter(_)) {
                found.push(jaxpr.jaxpr.aval(eqn.inputs[1]).dtype);
            }
        }
        assert_eq!(found, [want; 2], "{dtype}: {jaxpr}");
    }
}
