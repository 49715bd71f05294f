//! Functions of `lax` and `random` are written as JAX writes them, and give its numbers.

use jaxide::core::Prim;
use jaxide::core::jaxpr::text_compare::normalise;
use jaxide::core::prims::{
    GatherScatterMode, RoundingMethod, ScatterDimensionNumbers, SearchSide, SelectPrim,
};
use jaxide::lax::linalg::{self, Triangular};
use jaxide::lax::{self, Convolution, Padding, Window};
use jaxide::prelude::*;
use jaxide::{Ref, numpy, random};

#[track_caller]
fn check(jaxpr: Result<jaxide::ClosedJaxpr>, name: &str) {
    let text = jaxpr.map_or_else(|error| panic!("{error}"), |jaxpr| jaxpr.to_string());
    let path = format!("{}/tests/lax/{name}.jaxpr", env!("CARGO_MANIFEST_DIR"));
    let want = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        normalise(text.trim_end()),
        normalise(want.trim_end()),
        "{name}"
    );
}

fn f32s(shape: &[usize]) -> Array {
    Array::spec(DType::F32, shape)
}

#[track_caller]
fn close(a: &Array, want: &[f32]) {
    let got = a.to_vec::<f32>();
    assert_eq!(got.len(), want.len());
    for (x, y) in got.iter().zip(want) {
        assert!(
            (x - y).abs() <= 2e-6 * (1.0 + y.abs()),
            "{got:?} and {want:?}"
        );
    }
}

#[test]
fn factorizations() {
    let (a, b) = (f32s(&[3, 3]), f32s(&[3, 2]));
    check(
        make_jaxpr(|a: Array| linalg::cholesky(&a, true))(a.clone()),
        "cholesky",
    );
    check(
        make_jaxpr(|a: Array| linalg::cholesky(&a, false))(a.clone()),
        "cholesky_unsymmetrized",
    );
    check(
        make_jaxpr(|a: Array| linalg::eigh(&a, true, true))(a.clone()),
        "eigh",
    );
    let all = |a: Array, b: Array| {
        let (q, r) = linalg::qr(&b, true);
        let (u, s, vt) = linalg::svd(&b, true);
        let schur = linalg::schur(&a);
        let eig = linalg::eig(&a, true, true);
        (
            (q, r),
            (u, s, vt),
            schur,
            eig,
            linalg::lu(&a),
            linalg::tridiagonal(&a, true),
            linalg::hessenberg(&a),
        )
    };
    check(make_jaxpr(all)(a.clone(), b.clone()), "factorizations");
    let solve = |a: Array, b: Array, c: Array| {
        let how = Triangular {
            left_side: true,
            lower: true,
            ..Triangular::default()
        };
        let upper = Triangular {
            left_side: true,
            ..Triangular::default()
        };
        (
            linalg::triangular_solve(&a, &b, how),
            linalg::triangular_solve(&a, &c, upper),
        )
    };
    check(
        make_jaxpr(solve)(a.clone(), b.clone(), f32s(&[3])),
        "triangular",
    );
    let others = |a: Array, v: Array, b: Array| {
        (
            linalg::tridiagonal_solve(&v, &v, &v, &b),
            linalg::symmetric_product(&b, &a, 1.0, 0.0),
            linalg::cholesky_update(&a, &v),
            linalg::householder_product(&b, &(lax::slice(&v, &[0], &[2], None) * 1.0)),
        )
    };
    check(make_jaxpr(others)(a, f32s(&[3]), b), "solvers");
}

#[test]
fn convolutions_and_windows() {
    let f = |x: Array, k: Array| lax::conv(&x, &k, &[1, 2], Padding::Same);
    check(
        make_jaxpr(f)(f32s(&[1, 1, 5, 6]), f32s(&[1, 1, 3, 3])),
        "conv",
    );
    let f = |x: Array, k: Array| {
        let how = Convolution {
            lhs_dilation: vec![2, 1],
            rhs_dilation: vec![1, 2],
            feature_group_count: 2,
            ..Convolution::new(&[1, 2], Padding::Explicit(vec![(0, 1), (2, -1)]))
        };
        lax::conv_general_dilated(&x, &k, &how.layout("NHWC", "HWIO", "NHWC"))
    };
    check(
        make_jaxpr(f)(f32s(&[1, 5, 6, 4]), f32s(&[3, 2, 2, 6])),
        "conv_layout",
    );
    let f = |x: Array| {
        let sums = Window::new(&[2, 2]).strides(&[1, 2]).padding(Padding::Same);
        let largest = Window::new(&[3, 2]).window_dilation(&[1, 2]);
        let padding = Padding::Explicit(vec![(0, 1), (1, 0)]);
        let smallest = Window::new(&[2, 2]).padding(padding).base_dilation(&[2, 1]);
        (
            lax::reduce_window_sum(&x, &sums),
            lax::reduce_window_max(&x, &largest),
            lax::reduce_window_min(&x, &smallest),
        )
    };
    check(make_jaxpr(f)(f32s(&[4, 5])), "windows");
    let f = |x: Array| {
        lax::reduce_window(
            &[x],
            &[Array::from(1.0)],
            |a, b| vec![&a[0] * &b[0] + 1.0],
            &Window::new(&[2]),
        )
    };
    check(make_jaxpr(f)(f32s(&[3])), "reduce_window");
    let x = Array::from([1.0f32, 3.0, 2.0, 5.0]);
    let pairs = Window::new(&[2]).strides(&[2]);
    let source = Array::from([10.0f32, 20.0]);
    let want = [0.0, 10.0, 0.0, 20.0];
    assert_eq!(
        lax::select_and_scatter_add(&source, &x, SelectPrim::Ge, &pairs).to_vec::<f32>(),
        want
    );
    let by_functions =
        lax::select_and_scatter(&x, |a, b| a.ge(b), &pairs, &source, 0.0, |a, b| a + b);
    assert_eq!(by_functions.to_vec::<f32>(), want);
    assert_eq!(
        lax::select_and_gather_add(&(&x * 2.0), &x, SelectPrim::Ge, &pairs).to_vec::<f32>(),
        [6.0, 10.0]
    );
}

#[test]
fn scatters() {
    let numbers = || ScatterDimensionNumbers {
        inserted_window_dims: [0].into_iter().collect(),
        scatter_dims_to_operand_dims: [0].into_iter().collect(),
        ..ScatterDimensionNumbers::default()
    };
    let all = move |x: Array, i: Array, u: Array| {
        let scatter = [
            lax::scatter,
            lax::scatter_add,
            lax::scatter_sub,
            lax::scatter_mul,
            lax::scatter_min,
            lax::scatter_max,
        ];
        scatter
            .map(|f| f(&x, &i, &u, numbers(), GatherScatterMode::FillOrDrop))
            .to_vec()
    };
    let indices = Array::spec(DType::I32, &[2, 1]);
    check(
        make_jaxpr(all)(f32s(&[3]), indices.clone(), f32s(&[2])),
        "scatter",
    );
    let apply = move |x: Array, i: Array| {
        lax::scatter_apply(
            &x,
            &i,
            |x| x.sin(),
            numbers(),
            &[2],
            GatherScatterMode::FillOrDrop,
        )
    };
    check(make_jaxpr(apply)(f32s(&[3]), indices), "scatter_apply");
}

#[test]
fn products_searches_and_marks() {
    let f = |a: Array, b: Array, g: Array| lax::ragged_dot(&a, &b, &g);
    check(
        make_jaxpr(f)(
            f32s(&[4, 3]),
            f32s(&[2, 3, 5]),
            Array::spec(DType::I32, &[2]),
        ),
        "ragged_dot",
    );
    let f = |x: Array| {
        let (least, most) = (lax::approx_min_k(&x, 2), lax::approx_max_k(&x, 2));
        let top = lax::top_k(&x, 2);
        (
            least,
            most,
            top,
            lax::sort(&[x.clone(), x], 0, 1).into_vec(),
        )
    };
    check(make_jaxpr(f)(f32s(&[3])), "searches");
    let f = |x: Array| {
        (
            lax::optimization_barrier((x.clone(), &x + 1.0)),
            lax::tile(&x, &[2]),
            lax::nextafter(&x, &Array::from(1.0)),
            lax::reduce_precision(&x, 5, 2),
            lax::clamp(&Array::from(0.0), &x, &Array::from(1.0)),
        )
    };
    check(make_jaxpr(f)(f32s(&[3])), "marks");
    let f = |x: Array| lax::platform_dependent((x,), |x: Array| x.sin(), |x: Array| x.cos());
    check(make_jaxpr(f)(f32s(&[3])), "platform");
    assert_eq!(f(Array::from([0.0f32])).to_vec::<f32>(), [0.0]);
    let found = lax::nonzero(&Array::from([0i32, 3, 0, 4]), 3, &[]);
    assert_eq!(found[0].to_vec::<i32>(), [1, 3, 0]);
    let places = lax::searchsorted(
        &Array::from([1.0f32, 2.0, 2.0]),
        &Array::from([2.0f32, 0.0]),
        SearchSide::Right,
    );
    assert_eq!(places.to_vec::<i32>(), [3, 0]);
    let (mantissa, exponent) = lax::frexp(&Array::from([6.0f32]));
    assert_eq!(
        (mantissa.to_vec::<f32>(), exponent.to_vec::<i32>()),
        (vec![0.75], vec![3])
    );
    assert_eq!(lax::ldexp(&mantissa, &exponent).to_vec::<f32>(), [6.0]);
    let x = Array::from([-0.5f32, 0.5, 1.5]);
    assert_eq!(
        lax::round(&x, RoundingMethod::ToNearestEven).to_vec::<f32>(),
        [-0.0, 0.0, 2.0]
    );
    assert!(lax::eq_to(&Array::from([f32::NAN]), &Array::from([f32::NAN])).to_bools()[0]);
    assert_eq!(lax::empty(&[2], DType::I32).shape(), [2]);
}

#[test]
fn reductions_by_functions_take_numbers_only() {
    let outer = Array::from([2.0f32, 3.0]);
    let f = move |x: Array| {
        let outer = outer.clone();
        lax::reduce(
            &[x],
            &[Array::from(0.0)],
            move |a, b| vec![&a[0] + &b[0] * outer.sum()],
            &[0],
        )
    };
    let error = make_jaxpr(f)(f32s(&[3])).unwrap_err().to_string();
    assert!(
        error.contains("the function of scalars captures an array f32[2]"),
        "{error}"
    );
}

#[test]
fn gamma_is_that_of_jax() {
    let f = |k: Array, a: Array| random::gamma(&k, &a, ());
    let key = random::key(7);
    check(make_jaxpr(f)(key.clone(), f32s(&[3])), "gamma");
    close(
        &f(key, Array::from([0.5f32, 2.0])),
        &[0.000_233_679_75, 0.863_659_86],
    );
}

#[test]
fn references_are_written_and_read() {
    let f = |x: Array| {
        let cell = Ref::new(&x);
        let doubled = lax::slice(&x, &[0], &[2], None) * 2.0;
        cell.set_at(&[(1..3).into()], &doubled);
        cell.add_at(&[0.into()], &Array::from(10.0));
        let all = cell.get();
        let one = cell.get_at(&[1.into()]);
        let old = cell.swap_at(&[2.into()], &Array::from(7.0));
        (all, one, old)
    };
    check(make_jaxpr(f)(f32s(&[4])), "references");
    let (all, one, old) = jit(f)(Array::from([1.0f32, 2.0, 3.0, 4.0]));
    assert_eq!(all.to_vec::<f32>(), [11.0, 2.0, 4.0, 4.0]);
    assert_eq!((one.item::<f32>(), old.item::<f32>()), (2.0, 4.0));
    let caught = jit(|| Array::from(1.0)).try_call(());
    assert!(caught.is_ok());
    let error = std::panic::catch_unwind(|| Ref::new(&Array::from([1.0f32]))).unwrap_err();
    let text = error.downcast_ref::<String>().unwrap();
    assert!(
        text.contains("a reference is made outside a traced function"),
        "{text}"
    );
}

/// Comparisons with NaN are false, so what comes last wins: in every order of axes, long or short, compiled as interpreted.
#[test]
fn extrema_of_complex_numbers_take_one_after_the_other() {
    use num_complex::Complex;
    let parts = [
        0.0f32,
        1.0,
        -2.0,
        f32::NAN,
        5.0,
        f32::INFINITY,
        3.0,
        -1.5,
        5.0,
    ];
    let mut state = 1usize;
    let mut part = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        parts[(state >> 33) % parts.len()]
    };
    for shape in [[1, 1], [1, 7], [3, 1], [2, 33], [33, 2], [40, 65], [4, 300]] {
        let elements: Vec<Complex<f32>> = (0..shape[0] * shape[1])
            .map(|_| Complex::new(part(), part()))
            .collect();
        let x = Array::from_vec(&shape, elements);
        for axes in [&[0][..], &[1], &[0, 1]] {
            let extrema = |x: &Array| [lax::reduce_max(x, axes), lax::reduce_min(x, axes)];
            let interpreted = jaxide::with_interpreter(|| extrema(&x));
            for (native, interpreted) in extrema(&x).iter().zip(&interpreted) {
                let bits = |x: &Array| x.value().bytes().to_vec();
                assert_eq!(bits(native), bits(interpreted), "{shape:?} along {axes:?}");
            }
        }
    }
}

#[test]
fn printing_records_the_tree_of_its_arguments() {
    let trees = ["((), {})", "((*,), {})", "((*, *), {})", "((*, *, *), {})"];
    for (count, tree) in trees.into_iter().enumerate() {
        let f = move |x: Array| {
            lax::debug_print(&"{} ".repeat(count), &vec![x.clone(); count]);
            x
        };
        let printed = make_jaxpr(f)(Array::from(1.0f32)).unwrap().to_string();
        assert!(
            printed.contains(&format!("in_tree=PyTreeDef({tree})")),
            "{printed}"
        );
        let places = if count > 0 { "True" } else { "False" };
        assert!(
            printed.contains(&format!("has_placeholders={places}")),
            "{printed}"
        );
    }
}

#[test]
fn products_of_stacks_are_written_as_in_jax() {
    let written = |x: &[usize], y: &[usize]| {
        let f = |x: Array, y: Array| x.matmul(&y);
        let (x, y) = (Array::spec(DType::F32, x), Array::spec(DType::F32, y));
        let jaxpr = make_jaxpr(f)(x, y).unwrap();
        let mut steps: Vec<String> = Vec::new();
        for eqn in &jaxpr.jaxpr.eqns {
            steps.push(eqn.prim.name().to_owned());
            if let Prim::DotGeneral(dot) = &eqn.prim {
                let numbers = &dot.dimension_numbers;
                steps.push(format!(
                    "{:?}{:?}",
                    numbers.lhs_contracting, numbers.rhs_contracting
                ));
                steps.push(format!("{:?}{:?}", numbers.lhs_batch, numbers.rhs_batch));
            }
        }
        steps.join(" ")
    };
    let cases: [(&[usize], &[usize], &str); 7] = [
        (&[3, 4], &[2, 4, 5], "dot_general [1][1] [][] transpose"),
        (&[2, 3, 4], &[4, 5], "dot_general [2][0] [][]"),
        (&[4], &[2, 4, 5], "dot_general [0][1] [][]"),
        (&[2, 3, 4], &[4], "dot_general [2][0] [][]"),
        (&[4], &[4], "dot_general [0][0] [][]"),
        (
            &[6, 2, 3, 4],
            &[2, 4, 5],
            "dot_general [3][1] [1][0] transpose",
        ),
        (
            &[1, 3, 4],
            &[2, 4, 5],
            "squeeze dot_general [1][1] [][] transpose",
        ),
    ];
    for (x, y, want) in cases {
        assert_eq!(written(x, y), want, "{x:?} {y:?}");
    }
}

#[test]
fn reshapes_to_the_same_shape_are_nothing_but_for_scalars() {
    let count = |shape: &'static [usize]| {
        let x = Array::spec(DType::F32, shape);
        let jaxpr = make_jaxpr(move |x: Array| lax::reshape(&x, shape))(x).unwrap();
        jaxpr.jaxpr.eqns.len()
    };
    assert_eq!([count(&[3]), count(&[2, 1]), count(&[])], [0, 0, 1]);
}

#[test]
fn only_bare_numbers_take_the_type_beside_them() {
    let x = Array::from([1.0f32, 2.0]);
    assert_eq!(lax::add(&x, &Array::from(1.5)).to_vec::<f32>(), [2.5, 3.5]);
    assert_eq!(lax::add(&x, &Array::from(1)).dtype(), DType::F32);
    let refused = |other: Array| {
        let x = x.clone();
        let f = jit(move |other: Array| lax::add(&x, &other));
        f.try_call((other,)).unwrap_err().to_string()
    };
    let said = refused(Array::scalar(1.5f64));
    assert!(said.contains("f32 and f64"), "{said}");
    // An array of weak numbers is an array.
    let weak = Array::from([1i32, 2]) + 0.5;
    assert!(weak.weak_type());
    let weak = weak + Array::from(num_complex::Complex::new(0.0f32, 1.0));
    assert!(refused(weak).contains("f32 and c64"));
}

#[test]
fn triangles_are_solved_from_both_sides() {
    let a = Array::from([[2.0f32, 0.0], [1.0, 4.0]]);
    let solved = |left_side: bool, b: Array| {
        let how = Triangular {
            left_side,
            lower: true,
            ..Triangular::default()
        };
        linalg::triangular_solve(&a, &b, how)
    };
    let b = || Array::from([2.0f32, 8.0]);
    assert_eq!(solved(true, b()).to_vec::<f32>(), [1.0, 1.75]);
    // x A = b: 4 y = 8, 2 x + y = 2.
    assert_eq!(solved(false, b()).to_vec::<f32>(), [0.0, 2.0]);
    assert_eq!(
        solved(false, b().reshape(&[1, 2])).to_vec::<f32>(),
        [0.0, 2.0]
    );
    assert_eq!(
        solved(true, b().reshape(&[2, 1])).to_vec::<f32>(),
        [1.0, 1.75]
    );
    // Only complex matrices are conjugated.
    for (dtype, written) in [
        (DType::F32, "conjugate_a=False"),
        (DType::C64, "conjugate_a=True"),
    ] {
        let how = Triangular {
            conjugate_a: true,
            ..Triangular::default()
        };
        let f = move |a: Array, b: Array| linalg::triangular_solve(&a, &b, how);
        let spec = || Array::spec(dtype, &[2, 2]);
        let text = make_jaxpr(f)(spec(), spec()).unwrap().to_string();
        assert!(text.contains(written), "{text}");
    }
}

#[test]
fn convolutions_that_do_not_fit_are_refused() {
    let refused = |x: &[usize], k: &[usize], how: Convolution| {
        let f = jit(move |x: Array, k: Array| lax::conv_general_dilated(&x, &k, &how));
        let (x, k) = (numpy::ones(x, DType::F32), numpy::ones(k, DType::F32));
        f.try_call((x, k)).unwrap_err().to_string()
    };
    let plain = |strides: &[usize]| Convolution::new(strides, Padding::Valid);
    let layout = |lhs: &str, rhs: &str, out: &str| plain(&[1]).layout(lhs, rhs, out);
    let cases: [(&[usize], &[usize], Convolution); 8] = [
        (&[4], &[2], plain(&[])),
        (&[1, 1, 4], &[1, 1, 2, 2], plain(&[1])),
        (&[1, 1, 4, 4], &[1, 1, 2], plain(&[1, 1])),
        (&[1, 1, 4], &[1, 1, 2], plain(&[1, 1])),
        (&[1, 1, 4], &[1, 1, 2], plain(&[])),
        (&[1, 1, 4, 4], &[1, 1, 2, 2], layout("NCW", "OIW", "NCW")),
        (&[1, 1, 4], &[1, 1, 2], {
            let mut how = plain(&[1]);
            how.rhs_dilation = vec![1, 1];
            how
        }),
        (&[1, 1, 4], &[1, 1, 2], {
            let mut how = plain(&[1]);
            how.lhs_dilation = vec![2, 2];
            how
        }),
    ];
    for (x, k, how) in cases {
        let said = refused(x, k, how);
        assert!(
            said.contains("conv_general_dilated") && said.contains("do not fit"),
            "{said}"
        );
    }
    let mut outside = plain(&[1]).layout("NCW", "OIW", "NCW");
    let numbers = outside.dimension_numbers.as_mut().unwrap();
    numbers.rhs_spec[2] = 3;
    let said = refused(&[1, 1, 4], &[1, 1, 2], outside);
    assert!(said.contains("do not fit"), "{said}");
}

#[test]
fn broadcasts_to_the_same_shape_are_nothing() {
    let count = |from: &'static [usize], to: &'static [usize], axes: &'static [usize]| {
        let f = move |x: Array| lax::broadcast_in_dim(&x, to, axes);
        let jaxpr = make_jaxpr(f)(Array::spec(DType::F32, from)).unwrap();
        jaxpr.jaxpr.eqns.len()
    };
    assert_eq!([count(&[3], &[3], &[0]), count(&[], &[], &[])], [0, 0]);
    assert_eq!(
        [count(&[3], &[1, 3], &[1]), count(&[1], &[3], &[0])],
        [1, 1]
    );
}

#[test]
fn broadcasts_are_written_as_in_jax() {
    let steps = |from: &'static [usize], to: &'static [usize]| {
        let f = move |x: Array| numpy::broadcast_to(&x, to);
        let jaxpr = make_jaxpr(f)(Array::spec(DType::F32, from)).unwrap();
        assert_eq!(&jaxpr.out_avals()[0].shape[..], to);
        let text = jaxpr.to_string();
        let places = text
            .split_once("broadcast_dimensions=")
            .map(|(_, rest)| rest);
        assert_eq!(
            jaxpr.jaxpr.eqns.len(),
            usize::from(places.is_some()),
            "{text}"
        );
        places.map(|rest| rest.split(']').next().unwrap().to_owned())
    };
    assert_eq!(steps(&[1, 3], &[1, 3]), None);
    assert_eq!(steps(&[3], &[2, 3]).as_deref(), Some("(1,)"));
    assert_eq!(steps(&[1, 3], &[4, 3]).as_deref(), Some("(0, 1)"));
    assert_eq!(steps(&[1, 3], &[4, 1, 3]).as_deref(), Some("(1, 2)"));
    assert_eq!(
        steps(&[1, 3, 1], &[5, 2, 3, 1]).as_deref(),
        Some("(1, 2, 3)")
    );
    let refused = jit(|x: Array| numpy::broadcast_to(&x, &[2]));
    assert!(
        refused
            .try_call((numpy::ones(&[1, 2], DType::F32),))
            .is_err()
    );
}
