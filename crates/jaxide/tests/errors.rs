//! What users are told about their mistakes: every message names the operation, the types, the path and the line.

use std::sync::Mutex;

use jaxide::prelude::*;
use jaxide::{axes, numpy, tree};

#[derive(Clone, Pytree)]
struct Model {
    weight: Array,
    layers: Vec<Array>,
}

fn floats(shape: &[usize]) -> Array {
    Array::zeros(shape, DType::F32)
}

/// The message of a mistake, with this file's directory and the numbers of lines left out.
#[track_caller]
fn message<T>(result: Result<T>) -> String {
    let Err(error) = result else {
        panic!("a mistake was expected")
    };
    let text = error.to_string();
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let line = match line.find("errors.rs:") {
            Some(at) => {
                let start = line[..at].rfind(' ').map_or(0, |space| space + 1);
                format!("{}errors.rs:<line>", &line[..start])
            }
            None => line.to_owned(),
        };
        lines.push(line);
    }
    lines.join("\n")
}

macro_rules! check {
    ($name:literal, $result:expr) => {
        insta::with_settings!({ snapshot_path => "../../../snapshots/mistakes", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!($name, message($result));
        });
    };
}

#[test]
fn shapes_that_do_not_fit() {
    let f = jit(|x: Array, y: Array| x + y);
    check!(
        "shape_mismatch",
        f.try_call((floats(&[2, 3]), floats(&[4])))
    );
    let g = jit(|x: Array, y: Array| x.matmul(y));
    check!(
        "matmul_mismatch",
        g.try_call((floats(&[2, 3]), floats(&[4, 2])))
    );
    let h = jit(|x: Array| x.reshape(&[5]));
    check!("reshape_mismatch", h.try_call((floats(&[2, 3]),)));
}

#[test]
fn element_types_that_do_not_fit() {
    let f = jit(|x: Array, y: Array| jaxide::lax::add(&x, &y));
    check!(
        "dtype_mismatch",
        f.try_call((floats(&[2]), Array::from([1i32, 2])))
    );
    let g = grad(|x: Array| x.sum());
    check!("grad_of_integers", g.try_call((Array::from([1i32, 2]),)));
}

#[test]
fn branches_that_differ() {
    let f = jit(|x: Array| cond(x.gt(0.0), |x: Array| x, |_: Array| Array::from([1.0f32]), x));
    check!(
        "branch_types",
        f.try_call((Array::from([1.0f32, 2.0]).sum(),))
    );
    let g = jit(|x: Array| {
        cond(
            x.sum().gt(0.0),
            |m: Model| m,
            |m: Model| Model {
                weight: m.weight.astype(DType::I32),
                ..m
            },
            Model {
                weight: x,
                layers: vec![],
            },
        )
        .weight
    });
    check!("branch_path", g.try_call((floats(&[2]),)));
}

#[test]
fn carries_that_change() {
    let f = jit(|x: Array| {
        let init = Model {
            weight: x.clone(),
            layers: vec![x],
        };
        let (carry, ()) = scan(
            |m: Model, (): ()| {
                (
                    Model {
                        weight: m.weight.clone(),
                        layers: vec![m.weight.sum()],
                    },
                    (),
                )
            },
            init,
            (),
            3,
        );
        carry.weight
    });
    check!("carry_type", f.try_call((floats(&[2]),)));
    let g = jit(|x: Array| while_loop(|x: Array| x.lt(1.0), |x: Array| x, x));
    check!("while_condition", g.try_call((floats(&[2]),)));
}

#[test]
fn axes_that_do_not_fit() {
    let f = |m: Model, x: Array| m.weight + x;
    let model = Model {
        weight: floats(&[3]),
        layers: vec![floats(&[3])],
    };
    let wrong = vmap(f).in_axes(axes!(({"weight": 0}, 0)));
    check!(
        "in_axes_prefix",
        wrong.try_call((model.clone(), floats(&[3])))
    );
    let sizes = vmap(f);
    check!(
        "in_axes_sizes",
        sizes.try_call((model.clone(), floats(&[4])))
    );
    let rank = vmap(f).in_axes((0, 2));
    check!("in_axes_rank", rank.try_call((model, floats(&[3]))));
}

#[test]
fn numbers_without_a_meaning() {
    let integers = Array::from([1, 2]);
    let wide = jit(|x: Array| x + (1i64 << 40));
    check!("number_too_wide", wide.try_call((integers.clone(),)));
    let inverse = jit(|x: Array| x.pow(-1));
    check!("negative_power", inverse.try_call((integers,)));
    let largest = jit(|x: Array| x.max());
    check!("max_of_nothing", largest.try_call((floats(&[0]),)));
    let last = jit(|x: Array| numpy::argmax(&x, 1));
    check!("argmax_of_nothing", last.try_call((floats(&[2, 0]),)));
    let less = jit(|x: Array| x.clone() - x);
    check!("bool_minus_bool", less.try_call((Array::from([true]),)));
}

/// A number of the program fits where its element type holds it, wraps from its own 32 bits as in JAX, and rounds to floats.
#[test]
fn numbers_that_fit() {
    let wide = 1i64 << 40;
    let both = |f: fn(Array) -> Array, x: Array| [f(x.clone()), jit(f)(x)];
    for got in both(|x| x + (1i64 << 40), Array::from([1i64])) {
        assert_eq!(got.to_vec::<i64>(), [wide + 1]);
    }
    for got in both(|x| x + 3_000_000_000i64, Array::from([1u32])) {
        assert_eq!(got.to_vec::<u32>(), [3_000_000_001]);
    }
    for got in both(|x| x + (1i64 << 40), Array::from([0.0f32])) {
        assert_eq!(got.to_vec::<f32>(), [wide as f32]);
    }
    for got in both(|x| x + 300, Array::from([3i8])) {
        assert_eq!(got.to_vec::<i8>(), [47]);
    }
    assert!(Array::from(wide).try_value().is_err());
    assert_eq!(Array::from(wide).astype(DType::I64).item::<i64>(), wide);
    let returned = jit(|x: Array| (x, Array::from(1i64 << 40)));
    assert!(returned.try_call((Array::from(1),)).is_err());
    let alone = jit(|x: Array| x * (Array::from(1i64 << 40) + 1));
    assert!(alone.try_call((Array::from([1]),)).is_err());
}

/// A bare integer exponent is a parameter of the program, as JAX writes it.
#[test]
fn whole_exponents_are_integer_powers() {
    let text = |n: i32| {
        let jaxpr = make_jaxpr(move |x: Array| x.pow(n))(Array::spec(DType::F32, &[3]));
        jaxpr.unwrap().to_string()
    };
    assert_eq!(
        text(3),
        "{ lambda ; a:f32[3]. let b:f32[3] = integer_pow[y=3] a in (b,) }"
    );
    assert_eq!(
        text(-1),
        "{ lambda ; a:f32[3]. let b:f32[3] = integer_pow[y=-1] a in (b,) }"
    );
}

#[test]
fn values_of_tracers() {
    let f = jit(|x: Array| if x.sum().item::<f32>() > 0.0 { x } else { -x });
    check!("value_under_jit", f.try_call((floats(&[2]),)));
    let g = vmap(|x: Array| if x.gt(0.0).truth() { x } else { -x });
    check!("value_under_vmap", g.try_call((floats(&[2]),)));
}

#[test]
fn leaked_tracers() {
    static LEAK: Mutex<Option<Array>> = Mutex::new(None);
    let keep = jit(|x: Array| {
        *LEAK.lock().unwrap() = Some(x.sin());
        x
    });
    keep(floats(&[2]));
    let leaked = LEAK.lock().unwrap().take().unwrap();
    let f = jit(move |x: Array| x + &leaked);
    check!("leaked_tracer", f.try_call((floats(&[2]),)));
}

#[test]
fn results_of_gradients() {
    let f = grad(|x: Array| x.sin());
    check!("grad_of_array", f.try_call((floats(&[2]),)));
    let g = grad(|x: Array| while_loop(|x: Array| x.lt(10.0), |x: Array| x * 2.0, x));
    check!("grad_of_while", g.try_call((Array::from([1.0f32]).sum(),)));
}

#[test]
fn arrays_that_are_too_large() {
    let f = jit(|x: Array| x.broadcast_to(&[1usize << 40, 1 << 40]));
    check!("too_large", f.try_call((Array::from([1.0f32]).sum(),)));
}

#[test]
fn trees_that_do_not_fit() {
    let structure = tree::structure::<Array, _>(&(floats(&[]), floats(&[])));
    let rebuilt: std::result::Result<(Array, Array), _> = structure.unflatten(vec![floats(&[])]);
    let error = rebuilt.err().map(|error| error.to_string());
    insta::with_settings!({ snapshot_path => "../../../snapshots/mistakes", prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("too_few_leaves", error.unwrap_or_default());
    });
}
