//! Rules of single primitives, on the smallest programs that need them.

use jaxide_core::prims::{Add, Name, Slice};
use jaxide_core::transform::{Step, apply};
use jaxide_core::{ClosedJaxpr, DType, Prim, Tensor, check, eval, parse};
use num_complex::Complex;

fn parsed(text: &str) -> ClosedJaxpr {
    parse(text).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

fn jvp(argnums: &[usize]) -> Step {
    Step::Jvp {
        argnums: argnums.to_vec(),
        tangent_outs: vec![0],
    }
}

#[test]
fn truth_values_have_no_bits() {
    let cast = |from: &str, to: &str, name: &str| {
        let text = format!(
            "{{ lambda ; a:{from}[4]. let b:{to}[4] = bitcast_convert_type[new_dtype={name}] a in (b,) }}"
        );
        let errors = check(&parsed(&text)).err().unwrap_or_default();
        errors.iter().map(ToString::to_string).collect::<String>()
    };
    assert_eq!(cast("u8", "i8", "int8"), "");
    assert_eq!(cast("i32", "f32", "float32"), "");
    assert_eq!(cast("bool", "bool", "bool"), "");
    for (from, to, name) in [
        ("u8", "bool", "bool"),
        ("bool", "u8", "uint8"),
        ("bool", "i8", "int8"),
    ] {
        let error = cast(from, to, name);
        assert!(
            error.contains("truth values have no bit pattern"),
            "{error}"
        );
    }
}

/// `add_any` takes truth values, which `add` refuses; lanes that share an operand each have a copy of it.
#[test]
fn truth_values_are_added_as_cotangents_are() {
    let program = |op: &str| {
        parsed(&format!(
            "{{ lambda ; a:bool[2] b:bool[2]. let c:bool[2] = {op} a b in (c,) }}"
        ))
    };
    assert!(check(&program("add")).is_err());
    let sum = program("add_any");
    check(&sum).unwrap();
    let lanes = Step::Vmap {
        in_axes: vec![Some(0), None],
        out_axes: 0,
        axis_size: 3,
        axis_name: None,
    };
    let mapped = apply(&sum, &lanes).unwrap();
    let truths =
        |shape: &[usize], values: &[u8]| Tensor::from_bytes(shape, DType::Bool, values).unwrap();
    let operands = [truths(&[3, 2], &[0, 0, 0, 1, 1, 0]), truths(&[2], &[1, 0])];
    let results = eval::eval(&mapped, &operands).unwrap();
    assert_eq!(results, [truths(&[3, 2], &[1, 0, 1, 1, 1, 0])]);
    // They have no tangents.
    let chosen = parsed(
        "{ lambda ; a:f32[2] b:bool[2]. let
            c:bool[2] = gt a 0.0:f32[]
            d:bool[2] = add_any c b
            e:f32[2] = mul a 3.0:f32[]
            f:f32[2] = select_n d a e
          in (f,) }",
    );
    let derivative = apply(&chosen, &jvp(&[0])).unwrap();
    let vector = |values: [f32; 2]| Tensor::from_vec(&[2], values.to_vec()).unwrap();
    let operands = [
        vector([-1.0, 2.0]),
        truths(&[2], &[0, 0]),
        vector([1.0, 1.0]),
    ];
    let results = eval::eval(&derivative, &operands).unwrap();
    assert_eq!(results, [vector([-1.0, 6.0]), vector([1.0, 3.0])]);
}

#[test]
fn residuals_of_linear_calls_have_no_derivative() {
    let call = |consts: usize, residuals: usize| {
        parsed(&format!(
            "{{ lambda ; a:f32[] b:f32[]. let
                c:f32[] = linear_call[
                  callee={{ lambda ; c:f32[] d:f32[]. let e:f32[] = mul d c in (e,) }}
                  num_callee_consts={consts}
                  num_res={residuals}
                  transpose_thunk=<function thunk at 0xX>
                ] a b
              in (c,) }}"
        ))
    };
    for call in [call(0, 1), call(1, 0)] {
        let derivative = apply(&call, &jvp(&[1])).unwrap();
        let operands = [3.0f32, 5.0, 7.0].map(Tensor::scalar);
        let results = eval::eval(&derivative, &operands).unwrap();
        let numbers: Vec<f32> = results.iter().map(|x| x.item().unwrap()).collect();
        assert_eq!(numbers, [15.0, 21.0]);
        let error = apply(&call, &jvp(&[0])).unwrap_err().to_string();
        assert!(
            error.contains("its residuals are differentiated"),
            "{error}"
        );
    }
}

#[test]
fn loops_of_known_values_stay_known_in_a_checkpoint() {
    let program = parsed(
        "{ lambda ; a:f32[] b:i32[] c:i32[]. let
            d:i32[] = while[
              body_jaxpr={ lambda ; e:i32[]. let f:i32[] = add e 1:i32[] in (f,) }
              body_nconsts=0
              cond_jaxpr={ lambda ; e:i32[] f:i32[] g:i32[]. let
                  h:i32[] = add e f
                  i:bool[] = lt g h
                in (i,) }
              cond_nconsts=2
            ] b c 0:i32[]
            j:f32[] = convert_element_type[new_dtype=float32 weak_type=False] d
            k:f32[] = sin a
            l:f32[] = mul k j
          in (l,) }",
    );
    let checkpointed = apply(&program, &Step::Checkpoint).unwrap();
    let gradient = apply(&checkpointed, &Step::Grad { argnums: vec![0] }).unwrap();
    check(&gradient).unwrap();
    let operands = [
        Tensor::scalar(0.5f32),
        Tensor::scalar(4i32),
        Tensor::scalar(3i32),
    ];
    let got: f32 = eval::eval(&gradient, &operands).unwrap()[0].item().unwrap();
    assert!((got - 7.0 * 0.5f32.cos()).abs() < 1e-6, "{got}");
}

#[test]
fn lanes_are_permuted() {
    let program = parsed(
        "{ lambda ; a:f32[] b:f32[]. let
            c:f32[] = ppermute[axis_name=('i',) perm=((0, 1), (1, 2), (2, 0))] a
            d:f32[] = ppermute[axis_name=('i',) perm=((0, 1), (1, 2), (2, 0))] b
            e:f32[] = sub c d
          in (e,) }",
    );
    let lanes = Step::Vmap {
        in_axes: vec![Some(0), None],
        out_axes: 0,
        axis_size: 3,
        axis_name: Some(Name::new("i")),
    };
    let operands = [
        Tensor::from_vec(&[3], vec![10.0f32, 20.0, 30.0]).unwrap(),
        Tensor::scalar(1.0f32),
    ];
    let results = eval::eval(&apply(&program, &lanes).unwrap(), &operands).unwrap();
    assert_eq!(results[0].to_vec::<f32>().unwrap(), [29.0, 9.0, 19.0]);
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let of = |shape: &[usize]| Tensor::zeros(shape, DType::F32).unwrap();
    let refused = |prim: Prim, operands: &[Tensor]| eval::eval_eqn(&prim, operands).is_err();
    for (a, b) in [
        (&[2][..], &[3][..]),
        (&[2], &[2, 2]),
        (&[2, 3], &[3]),
        (&[2, 3], &[2, 2]),
    ] {
        assert!(refused(Add.into(), &[of(a), of(b)]), "{a:?} and {b:?}");
    }
    let slice = |start: &[usize], limit: &[usize], strides: Option<&[usize]>| {
        let prim = Slice {
            start_indices: start.iter().copied().collect(),
            limit_indices: limit.iter().copied().collect(),
            strides: strides.map(|strides| strides.iter().copied().collect()),
        };
        refused(prim.into(), &[of(&[4, 5])])
    };
    assert!(!slice(&[1, 2], &[3, 5], None) && !slice(&[1, 2], &[3, 5], Some(&[2, 1])));
    assert!(slice(&[1], &[3, 5], None) && slice(&[1, 2], &[3], None));
    assert!(slice(&[1, 2, 0], &[3, 5, 0], None) && slice(&[1, 2], &[3, 5], Some(&[1])));
    assert!(slice(&[1, 2], &[3, 6], None) && slice(&[3, 2], &[2, 5], None));
    assert!(slice(&[1, 2], &[3, 5], Some(&[1, 0])));
}

#[test]
fn arrays_are_equal_by_type_shape_and_bits() {
    let of = |shape: &[usize], x: &[f32]| Tensor::from_vec(shape, x.to_vec()).unwrap();
    let long: Vec<f32> = (0..64).map(|x| x as f32).collect();
    for x in [&long[..], &long[..2]] {
        let (n, a) = (x.len(), of(&[x.len()], x));
        assert!(a == a.clone() && a == of(&[n], x));
        assert!(a != of(&[n, 1], x) && a != of(&[1, n], x));
        let mut other = x.to_vec();
        other[n - 1] = -1.0;
        assert!(a != of(&[n], &other));
        let bits = x.iter().map(|x| x.to_bits() as i32).collect::<Vec<i32>>();
        assert!(a != Tensor::from_vec(&[n], bits).unwrap());
    }
    assert!(
        of(&[1], &[0.0]) != of(&[1], &[-0.0]) && of(&[1], &[f32::NAN]) == of(&[1], &[f32::NAN])
    );
}

/// The results of a program in text, all of their elements as complex numbers.
#[track_caller]
fn results(text: &str, operands: &[Tensor]) -> Vec<Vec<(f64, f64)>> {
    let results = eval::eval(&parsed(text), operands).unwrap();
    let elements = |x: &Tensor| {
        (0..x.len())
            .map(|i| x.scalar_at(i).unwrap().as_complex())
            .collect()
    };
    results.iter().map(elements).collect()
}

#[test]
fn narrow_integers_lie_in_the_bits_of_wide_ones() {
    let bytes = Tensor::from_vec(&[3], vec![0x21u8, 0x43, 0xf5]).unwrap();
    let cast = |to: &str, name: &str, per: usize| {
        let text = format!(
            "{{ lambda ; a:u8[3]. let b:{to}[3,{per}] = bitcast_convert_type[new_dtype={name}] a in (b,) }}"
        );
        let parts = results(&text, std::slice::from_ref(&bytes)).remove(0);
        parts
            .into_iter()
            .map(|(x, _)| x as i64)
            .collect::<Vec<i64>>()
    };
    assert_eq!(cast("u4", "uint4", 2), [1, 2, 3, 4, 5, 15]);
    assert_eq!(cast("i4", "int4", 2), [1, 2, 3, 4, 5, -1]);
    assert_eq!(cast("u2", "uint2", 4), [1, 0, 2, 0, 3, 0, 0, 1, 1, 1, 3, 3]);
}

#[test]
fn sums_of_exponentials_in_logarithms() {
    let x = [0.5, 3.0, -2.0, 700.0, 700.0, f64::NEG_INFINITY];
    let text = "{ lambda ; a:f64[6]. let b:f64[6] = cumlogsumexp[axis=0 reverse=False] a in (b,) }";
    let got = results(text, &[Tensor::from_vec(&[6], x.to_vec()).unwrap()]).remove(0);
    let mut sum = 0.0f64;
    for (x, (got, _)) in x.into_iter().zip(got) {
        sum += x.exp();
        assert!((got - sum.ln()).abs() < 1e-12, "{got} for {}", sum.ln());
    }
}

#[test]
fn gamma_functions_outside_their_domain() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    for name in ["igamma", "igammac", "igamma_grad_a"] {
        let text = format!("{{ lambda ; a:f64[] b:f64[]. let c:f64[] = {name} a b in (c,) }}");
        let of = |a: f64, x: f64| results(&text, &[Tensor::scalar(a), Tensor::scalar(x)])[0][0].0;
        let edges = [(nan, 1.0), (1.0, nan), (0.0, 0.0), (inf, inf)];
        // At whole numbers the gamma function has no value, between them it does.
        let wrong = [-1e-3, -0.5, -1.0, -1.5, -30.5, -1e4, -inf];
        let right = [0.0, 0.25, 1.0, 2.5, 40.0, 1e4, inf];
        let one_sided = wrong
            .iter()
            .flat_map(|&w| right.map(|r| [(w, r), (r, w)]).concat());
        for (a, x) in edges.into_iter().chain(one_sided) {
            assert!(of(a, x).is_nan(), "{name} of {a} and {x} is {}", of(a, x));
        }
    }
}

#[test]
fn complex_quotients_and_angles() {
    let binary = |name: &str, a: (f64, f64), b: (f64, f64)| {
        let text = format!("{{ lambda ; a:c128[] b:c128[]. let c:c128[] = {name} a b in (c,) }}");
        let scalar = |(re, im)| Tensor::scalar(Complex::new(re, im));
        let (re, im) = results(&text, &[scalar(a), scalar(b)])[0][0];
        Complex::new(re, im)
    };
    let inf = f64::INFINITY;
    // Zeros, with the signs of the quotient by a number that is as large in the same directions.
    let large = |x: f64| {
        if x.is_infinite() {
            x.signum() * 1e200
        } else {
            0.0
        }
    };
    for infinite in [(inf, 0.0), (0.0, inf), (-inf, 3.0), (inf, -inf), (inf, inf)] {
        for number in [
            (1.0, 2.0),
            (0.0, 2.0),
            (-3.0, 0.0),
            (-0.5, -0.25),
            (0.0, 0.0),
        ] {
            let got = binary("div", number, infinite);
            assert_eq!(got, Complex::new(0.0, 0.0), "{number:?} over {infinite:?}");
            let near = Complex::new(number.0, number.1)
                / Complex::new(large(infinite.0), large(infinite.1));
            for (got, near) in [(got.re, near.re), (got.im, near.im)] {
                let sign = got.is_sign_negative() == near.is_sign_negative();
                assert!(
                    sign || near == 0.0,
                    "{number:?} over {infinite:?}: {got} for {near}"
                );
            }
        }
    }
    assert_eq!(binary("div", (inf, 0.0), (2.0, 0.0)).re, inf);
    for (y, x) in [
        ((0.3, 0.2), (1.0, -0.5)),
        ((-2.0, 0.5), (0.7, 0.1)),
        ((0.1, -0.9), (2.0, 1.5)),
    ] {
        let angle = binary("atan2", y, x);
        let quotient = Complex::new(y.0, y.1) / Complex::new(x.0, x.1);
        assert!(
            (angle.tan() - quotient).norm() < 1e-12,
            "{angle} for {y:?} and {x:?}"
        );
    }
}

#[test]
fn windows_over_nothing() {
    let text = "{ lambda ; a:f32[0]. let b:f32[0] = reduce_window_sum[base_dilation=(1,) padding=((0, 0),) \
        window_dilation=(1,) window_dimensions=(1,) window_strides=(1,)] a in (b,) }";
    check(&parsed(text)).unwrap();
    assert_eq!(
        results(text, &[Tensor::zeros(&[0], DType::F32).unwrap()]),
        [vec![]]
    );
}

#[test]
fn foreign_parameters_tell_programs_apart() {
    let with = |x: &str| {
        parsed(&format!(
            "{{ lambda ; a:f32[]. let b:f32[] = foo[x={x}] a in (b,) }}"
        ))
    };
    let values = ["<a at b>", "<a at c>", "'abc'", "'abd'", "1", "2"];
    for a in values {
        for b in values {
            assert_eq!(with(a) == with(b), a == b, "{a} and {b}");
        }
    }
}

#[test]
fn quotes_that_are_not_closed_on_their_line_begin_no_string() {
    for (prim, key) in [("foo", "x"), ("reduce_sum", "out_sharding")] {
        for value in ["<a (don't)>", "(\"a, b)", "['a]"] {
            let equation = |result: char| {
                format!("{result}:f32[] = {prim}[axes=(0,)\n      {key}={value}\n    ] a\n    ")
            };
            let text = format!(
                "{{ lambda ; a:f32[2]. let\n    {}{}in (b, c) }}",
                equation('b'),
                equation('c')
            );
            let program = parsed(&text);
            assert_eq!(program.jaxpr.eqns.len(), 2, "{text}");
            assert_eq!(program.to_string().matches(value).count(), 2, "{text}");
        }
    }
}

#[test]
fn axes_keep_their_placement_and_new_axes_have_none() {
    let with = |aval: &str, shape: &[usize]| {
        let text = format!("{{ lambda ; a:{aval}. let  in (a,) }}");
        parsed(&text).jaxpr.in_avals()[0]
            .with_shape(shape)
            .to_string()
    };
    assert_eq!(with("f32[8@x,4]", &[6, 2]), "f32[6@x,2]");
    assert_eq!(with("f32[8@x,4]", &[32]), "f32[32]");
    assert_eq!(with("f32<host>[8@x]{V:i}", &[4]), "f32<host>[4@x]{V:i}");
    assert_eq!(with("f32<host>[8@x]{V:i}", &[2, 4]), "f32<host>[2,4]{V:i}");
    assert_eq!(with("f32<host>[8]{V:i}", &[2, 4]), "f32<host>[2,4]{V:i}");
}

#[test]
fn meshes_have_axes_of_different_lengths() {
    // The program and its numbers are JAX's, on six devices.
    let text = "{ lambda ; a:f32[4,6] b:f32[12]. let
            c:f32[4,2] d:f32[4,6] e:f32[12] = shard_map[
              check_vma=False
              in_specs=(P('x', 'y'), P(('y', 'x'),))
              jaxpr={ lambda ; f:f32[2,2] g:f32[2]. let
                  h:f32[2,2] = psum[axes=('y',) axis_index_groups=None] f
                  i:f32[1] = slice[limit_indices=(1,) start_indices=(0,) strides=None] g
                  j:f32[] = squeeze[dimensions=(0,)] i
                  k:f32[2,2] = mul f j
                  l:i32[] = axis_index[axis_name=x] 
                  m:f32[] = convert_element_type[new_dtype=float32 weak_type=False] l
                  n:f32[2,2] = add k m
                  o:f32[4] = all_gather[
                    all_gather_dimension=0
                    axis_index_groups=None
                    axis_name=('x',)
                    axis_size=2
                    tiled=True
                  ] g
                in (h, n, o) }
              mesh=Mesh('x': 2, 'y': 3, axis_types=(Auto, Auto))
              newly_manual_axes=frozenset({'x', 'y'})
              out_specs=(P('x',), P('x', 'y'), P('y',))
            ] a b
          in (c, d, e) }";
    check(&parsed(text)).unwrap();
    let counted = |shape: &[usize], step: f32| {
        let count = shape.iter().product::<usize>();
        Tensor::from_vec(shape, (0..count).map(|x| x as f32 * step).collect()).unwrap()
    };
    let got = eval::eval(
        &parsed(text),
        &[counted(&[4, 6], 1.0), counted(&[12], 10.0)],
    )
    .unwrap();
    let got: Vec<Vec<f32>> = got.iter().map(|x| x.to_vec().unwrap()).collect();
    assert_eq!(got[0], [6.0, 9.0, 24.0, 27.0, 42.0, 45.0, 60.0, 63.0]);
    #[rustfmt::skip]
    assert_eq!(got[1], [
        0.0, 0.0, 80.0, 120.0, 320.0, 400.0, 0.0, 0.0, 320.0, 360.0, 800.0, 880.0,
        241.0, 261.0, 841.0, 901.0, 1601.0, 1701.0, 361.0, 381.0, 1201.0, 1261.0, 2201.0, 2301.0,
    ]);
    assert_eq!(got[2], (0..12).map(|x| x as f32 * 10.0).collect::<Vec<_>>());
    // Wholes of other lengths, and axes that the mesh has not.
    for (from, to) in [
        ("a:f32[4,6]", "a:f32[6,4]"),
        ("P('y',))", "P('z',))"),
        ("'y': 3", "'y': 2"),
    ] {
        assert!(
            text.contains(from) && check(&parsed(&text.replace(from, to))).is_err(),
            "{to}"
        );
    }
}

#[test]
fn all_elements_can_be_the_greatest() {
    let top = |k: usize| {
        let text = format!(
            "{{ lambda ; a:f32[3]. let b:f32[{k}] c:i32[{k}] = top_k[axis=0 is_stable=True k={k}] a in (b, c) }}"
        );
        let x = Tensor::from_vec(&[3], vec![1.0f32, 3.0, 2.0]).unwrap();
        results(&text, &[x])
            .into_iter()
            .map(|row| row.into_iter().map(|(x, _)| x).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    assert_eq!(top(3), [[3.0, 2.0, 1.0], [1.0, 2.0, 0.0]]);
    assert_eq!(top(2), [[3.0, 2.0], [1.0, 2.0]]);
}
