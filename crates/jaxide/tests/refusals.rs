//! What transformations and control flow refuse: every check has its message, with the line of this file.

use std::fmt::Write as _;

use jaxide::prelude::*;
use jaxide::{
    Argnum, ErrorKind, TransposeSolve, associative_scan, axes, closure_convert, custom_jvp,
    custom_jvp_nondiff, custom_jvps, custom_linear_solve, custom_root, custom_vjp,
    custom_vjp_nondiff, eval_shape, fori_loop, grad_of, grad_with_aux, lax, linear_call,
    linear_transpose, make_jaxpr_of, map, pmap, scan_reverse,
};

#[derive(Clone, Pytree)]
struct Model {
    weight: Array,
    layers: Vec<Array>,
}

fn model(layers: usize) -> Model {
    Model {
        weight: floats(&[2]),
        layers: vec![floats(&[3]); layers],
    }
}

fn floats(shape: &[usize]) -> Array {
    Array::ones(shape, DType::F32)
}

fn integers(shape: &[usize]) -> Array {
    Array::ones(shape, DType::I32)
}

/// Messages of mistakes, one after the other.
#[derive(Default)]
struct Refusals(String);

impl Refusals {
    /// What `f` is told, which must name a line of this file.
    #[track_caller]
    fn of<T: jaxide::tree::Pytree<Array>>(&mut self, case: &str, f: impl Fn() -> T) {
        let Err(error) = make_jaxpr_of(&f, ()) else {
            panic!("{case}: a mistake was expected")
        };
        let named = error.operation().is_some() || error.kind() == ErrorKind::Concretization;
        assert!(named, "{case}: {error}");
        let text = error.to_string();
        assert!(text.contains("  --> "), "{case} has no line: {error}");
        writeln!(self.0, "# {case}").unwrap();
        for line in text.lines() {
            let line = match line.find("refusals.rs:") {
                Some(at) => {
                    let start = line[..at].rfind(' ').map_or(0, |space| space + 1);
                    &format!("{}refusals.rs:<line>", &line[..start])
                }
                None => line,
            };
            assert!(
                !line.contains(".rs:") || line.contains("refusals.rs:"),
                "{case}: {line}"
            );
            writeln!(self.0, "{line}").unwrap();
        }
    }

    #[track_caller]
    fn check(self, name: &str) {
        insta::with_settings!({ snapshot_path => "../../../snapshots/refusals", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name, self.0);
        });
    }
}

#[test]
fn gradients() {
    let mut refused = Refusals::default();
    refused.of("integer argument", || {
        grad(|n: Array| n.sum())(integers(&[2]))
    });
    refused.of("truth value", || {
        grad(|b: Array| b.astype(DType::F32).sum())(Array::from([true, false]))
    });
    refused.of("integer among others", || {
        grad(|x: Array, n: Array| (x * n).sum()).argnums((Argnum::<0>, Argnum::<1>))(
            floats(&[2]),
            integers(&[2]),
        )
    });
    refused.of("integer in a struct", || {
        let at = Model {
            layers: vec![floats(&[2]), integers(&[2])],
            ..model(0)
        };
        grad(|_: Array, m: Model| m.weight.sum()).argnums(Argnum::<1>)(floats(&[]), at)
    });
    refused.of("integer, borrowed", || {
        grad_of(&|n: Array| n.sum(), integers(&[2]))
    });
    refused.of("integer of jacfwd", || jacfwd(|n: Array| n)(integers(&[2])));
    refused.of("real with holomorphic", || {
        grad(|x: Array| x.sum()).holomorphic()(floats(&[2]))
    });
    refused.of("real result with holomorphic", || {
        let z = lax::complex(&floats(&[]), &floats(&[]));
        grad(|z: Array| lax::real(&z)).holomorphic()(z)
    });
    refused.of("result with a shape", || {
        grad(|x: Array| x.sin())(floats(&[2, 3]))
    });
    refused.of("integer result", || {
        grad(|x: Array| x.sum().astype(DType::I32))(floats(&[2]))
    });
    refused.of("complex result", || {
        grad(|x: Array| lax::complex(&x, &x))(floats(&[]))
    });
    refused.of("two results", || {
        grad(|x: Array| (x.sum(), x.sum()))(floats(&[2]))
    });
    refused.of("aux in front", || {
        grad_with_aux(|x: Array| (x.sin(), x.sum()))(floats(&[2]))
    });
    refused.of("no results", || grad(|_: Array| ())(floats(&[2])));
    refused.check("gradients");
}

#[test]
fn tangents_and_cotangents() {
    let mut refused = Refusals::default();
    refused.of("tangent of another shape", || {
        jvp(|x: Array| x.sin(), floats(&[2]), floats(&[3]))
    });
    refused.of("tangent of another type", || {
        jvp(|x: Array| x.sin(), floats(&[2]), integers(&[2]))
    });
    refused.of("tangent of another structure", || {
        jvp(|m: Model| m.weight, model(1), model(2))
    });
    refused.of("tangent in a struct", || {
        let tangent = Model {
            weight: floats(&[5]),
            ..model(1)
        };
        jvp(|m: Model| m.weight, model(1), tangent)
    });
    refused.of("linearized: structure", || {
        let (_, df) = linearize(|m: Model| m.weight, model(1));
        df.apply(&(model(2),))
    });
    refused.of("linearized: shape", || {
        let (_, df) = linearize(|x: Array| x.sin(), floats(&[2]));
        df.apply(&(floats(&[3]),))
    });
    refused.of("pullback: structure", || {
        let (_, pullback) = vjp(|m: Model| m, model(1));
        pullback.apply(&model(2)).0
    });
    refused.of("pullback: shape", || {
        let (_, pullback) = vjp(|x: Array| x.sum(), floats(&[2]));
        pullback.apply(&floats(&[2])).0
    });
    refused.of("pullback: type", || {
        let (_, pullback) = vjp(|x: Array| x.sum(), floats(&[2]));
        pullback.apply(&integers(&[])).0
    });
    refused.of("reverse through while", || {
        grad(|x: Array| while_loop(|x: Array| x.lt(9.0), |x: Array| x * 2.0, x))(floats(&[]))
    });
    refused.check("tangents_and_cotangents");
}

#[test]
fn linear_functions() {
    let mut refused = Refusals::default();
    refused.of("not linear", || {
        linear_transpose(|x: Array| &x * &x, floats(&[2]))
            .apply(&floats(&[2]))
            .0
    });
    refused.of("integer argument", || {
        linear_transpose(|x: Array| x.astype(DType::F32), integers(&[2]))
            .apply(&floats(&[2]))
            .0
    });
    refused.of("integer result", || {
        linear_transpose(|x: Array| x.astype(DType::I32), floats(&[2]))
            .apply(&integers(&[2]))
            .0
    });
    let double = |_: Array, x: Array| x * 2.0;
    refused.of("transpose of another shape", || {
        linear_call(
            double,
            |_: Array, ct: Array| ct.sum(),
            floats(&[]),
            floats(&[2]),
        )
    });
    refused.of("transpose of another type", || {
        let half = |_: Array, ct: Array| ct.astype(DType::F16);
        linear_call(double, half, floats(&[]), floats(&[2]))
    });
    refused.of("transpose of another structure", || {
        let f = |_: Array, m: Model| m.weight;
        linear_call(
            f,
            |_: Array, ct: Array| Model {
                weight: ct,
                layers: vec![],
            },
            floats(&[]),
            model(1),
        )
    });
    refused.of("transpose captures a traced array", || {
        jit(move |s: Array, x: Array| {
            linear_call(double, |_: Array, ct: Array| ct * &s, floats(&[]), x)
        })(floats(&[]), floats(&[2]))
    });
    refused.of("converted: structure", || {
        let (f, captured) = closure_convert(|m: Model| m.weight, &(model(1),));
        f.call(&(model(2),), &captured)
    });
    refused.of("converted: too few", || {
        jit(|s: Array| {
            let (f, captured) = closure_convert(move |x: Array| x * &s, &(floats(&[2]),));
            assert_eq!(captured.len(), 1);
            f.call(&(floats(&[2]),), &[])
        })(floats(&[]))
    });
    refused.of("converted: too many", || {
        let (f, captured) = closure_convert(|x: Array| x, &(floats(&[2]),));
        assert!(captured.is_empty());
        f.call(&(floats(&[2]),), &[floats(&[])])
    });
    refused.check("linear_functions");
}

#[test]
fn custom_rules() {
    type One = (Array,);
    let mut refused = Refusals::default();
    let slope =
        |f: jaxide::Transformed<(Array,), Array>| grad(move |x: Array| f(x).sum())(floats(&[2]));
    refused.of("jvp: results", || {
        let f = custom_jvp(
            |m: Model| m,
            |(m,): (Model,), (t,): (Model,)| {
                (
                    Model {
                        layers: vec![],
                        ..m
                    },
                    t,
                )
            },
        );
        jvp(f, model(1), model(1))
    });
    refused.of("jvp: tangents", || {
        let f = custom_jvp(
            |m: Model| m,
            |(m,): (Model,), (t,): (Model,)| {
                (
                    m,
                    Model {
                        layers: vec![],
                        ..t
                    },
                )
            },
        );
        jvp(f, model(1), model(1))
    });
    refused.of("jvp: shape of a result", || {
        let f = custom_jvp(|x: Array| x.sin(), |(x,): One, (t,): One| (x.sum(), t));
        slope(f)
    });
    refused.of("jvp: shape of a tangent", || {
        let f = custom_jvp(
            |x: Array| x.sin(),
            |(x,): One, (t,): One| (x.sin(), t.sum()),
        );
        slope(f)
    });
    refused.of("jvp: type of a tangent", || {
        let f = custom_jvp(
            |x: Array| x.sin(),
            |(x,): One, (t,): One| (x.sin(), t.astype(DType::F16)),
        );
        slope(f)
    });
    refused.of("jvps: structure of a tangent", || {
        let f = custom_jvps(
            |x: Array, y: Array| vec![x, y],
            ((), |t: Array, _: Vec<Array>, _: Array, _: Array| vec![t]),
        );
        let point = || (floats(&[2]), floats(&[2]));
        jvp(f, point(), point())
    });
    refused.of("jvps: shape of a tangent", || {
        let f = custom_jvps(
            |x: Array| x.sin(),
            (|t: Array, _: Array, _: Array| t.sum(),),
        );
        slope(f)
    });
    refused.of("jvp: captures what is differentiated", || {
        grad(|s: Array| {
            let f = custom_jvp(|x: Array| x, move |(x,): One, (t,): One| (x, t * &s));
            f(floats(&[2])).sum()
        })(floats(&[]))
    });
    refused.of("jvp_nondiff: first argument differentiated", || {
        let f = custom_jvp_nondiff(
            |n: Array, (x,): One| x * n,
            |n: Array, (x,): One, (t,): One| (x * &n, t * n),
        );
        grad(move |n: Array| f(n, (floats(&[2]),)).sum())(floats(&[]))
    });
    refused.of("vjp: results of the forward rule", || {
        let f = custom_vjp(
            |m: Model| m,
            |m: Model| {
                (
                    Model {
                        layers: vec![],
                        ..m
                    },
                    (),
                )
            },
            |(), m: Model| (m,),
        );
        vjp(f, model(1)).1.apply(&model(1)).0
    });
    refused.of("vjp: shape of a result of the forward rule", || {
        slope(custom_vjp(
            |x: Array| x.sin(),
            |x: Array| (x.sum(), x),
            |_: Array, g: Array| (g,),
        ))
    });
    refused.of("vjp: cotangents", || {
        let f = custom_vjp(
            |m: Model| m,
            |m: Model| (m, ()),
            |(), m: Model| {
                (Model {
                    layers: vec![],
                    ..m
                },)
            },
        );
        vjp(f, model(1)).1.apply(&model(1)).0
    });
    refused.of("vjp: shape of a cotangent", || {
        slope(custom_vjp(
            |x: Array| x.sin(),
            |x: Array| (x.sin(), ()),
            |(), g: Array| (g.sum(),),
        ))
    });
    refused.of("vjp: type of a cotangent", || {
        slope(custom_vjp(
            |x: Array| x.sin(),
            |x: Array| (x.sin(), ()),
            |(), g: Array| (g.astype(DType::F16),),
        ))
    });
    refused.of(
        "vjp: the forward rule captures what is differentiated",
        || {
            grad(|s: Array| {
                let f = custom_vjp(
                    |x: Array| x,
                    move |x: Array| (x * &s, ()),
                    |(), g: Array| (g,),
                );
                f(floats(&[2])).sum()
            })(floats(&[]))
        },
    );
    refused.of(
        "vjp: the backward rule captures what is differentiated",
        || {
            grad(|s: Array| {
                let f = custom_vjp(
                    |x: Array| x,
                    |x: Array| (x, ()),
                    move |(), g: Array| (g * &s,),
                );
                f(floats(&[2])).sum()
            })(floats(&[]))
        },
    );
    refused.of("vjp_nondiff: first argument differentiated", || {
        let f = custom_vjp_nondiff(
            |n: Array, (x,): One| x * n,
            |n: Array, (x,): One| (x * n, ()),
            |n: Array, (), g: Array| (g * n,),
        );
        grad(move |n: Array| f(n, (floats(&[2]),)).sum())(floats(&[]))
    });
    refused.check("custom_rules");
    // Forward mode is refused when it runs: what is recorded of it may still be transposed.
    let f = custom_vjp(|x: Array| x, |x: Array| (x, ()), |(), g: Array| (g,));
    let forward = jit(move |x: Array| jvp(&f, x.clone(), x).1);
    let error = forward.try_call((floats(&[2]),)).unwrap_err();
    assert_eq!(error.operation(), Some("custom_lin"), "{error}");
}

#[test]
fn roots_and_linear_systems() {
    let mut refused = Refusals::default();
    let guess = || floats(&[2]);
    let keep = |_: &dyn Fn(Array) -> Array, x: Array| x;
    refused.of("f: shape", || {
        custom_root(|x: Array| x.sum(), guess(), keep, keep)
    });
    refused.of("f: type", || {
        custom_root(|x: Array| x.astype(DType::F16), guess(), keep, keep)
    });
    let keep_model = |_: &dyn Fn(Model) -> Model, m: Model| m;
    let drop_layers = |m: Model| Model {
        layers: vec![],
        ..m
    };
    let narrow = |m: Model| Model {
        weight: m.weight.astype(DType::F16),
        ..m
    };
    refused.of("f: structure", || {
        custom_root(drop_layers, model(1), keep_model, keep_model).weight
    });
    refused.of("f: type in a struct", || {
        custom_root(narrow, model(1), keep_model, keep_model).weight
    });
    refused.of("solve: shape", || {
        custom_root(|x: Array| x, guess(), |_, x: Array| x.sum(), keep)
    });
    refused.of("solve: type", || {
        custom_root(
            |x: Array| x,
            guess(),
            |_, x: Array| x.astype(DType::F16),
            keep,
        )
    });
    refused.of("solve: structure", || {
        custom_root(|m: Model| m, model(1), |_, m| drop_layers(m), keep_model).weight
    });
    refused.of("tangent_solve: shape", || {
        custom_root(|x: Array| x, guess(), keep, |_, y: Array| y.sum())
    });
    refused.of("tangent_solve: type", || {
        custom_root(
            |x: Array| x,
            guess(),
            keep,
            |_, y: Array| y.astype(DType::F16),
        )
    });
    refused.of("tangent_solve: structure", || {
        custom_root(|m: Model| m, model(1), keep_model, |_, m| drop_layers(m)).weight
    });
    refused.of("linear map: structure", || {
        custom_root(|m: Model| m, model(1), keep_model, |g, m| g(drop_layers(m))).weight
    });
    refused.of("f inside solve: structure", || {
        let solve = |f: &dyn Fn(Model) -> Model, m: Model| f(drop_layers(m));
        custom_root(|m: Model| m, model(1), solve, keep_model).weight
    });
    refused.of("f inside solve: shape", || {
        let solve = |f: &dyn Fn(Array) -> Array, x: Array| f(x.sum());
        custom_root(|x: Array| x, guess(), solve, keep)
    });
    refused.of("linear map: shape", || {
        custom_root(|x: Array| x, guess(), keep, |g, y: Array| g(y.sum()))
    });
    let absent = || TransposeSolve::Absent;
    refused.of("matvec: shape", || {
        custom_linear_solve(|x: Array| x.sum(), guess(), keep, absent())
    });
    refused.of("matvec: structure", || {
        custom_linear_solve(drop_layers, model(1), keep_model, TransposeSolve::Absent).weight
    });
    refused.of("linear solve: shape", || {
        custom_linear_solve(|x: Array| x, guess(), |_, b: Array| b.sum(), absent())
    });
    refused.of("linear solve: structure", || {
        custom_linear_solve(
            |m: Model| m,
            model(1),
            |_, m| drop_layers(m),
            TransposeSolve::Absent,
        )
        .weight
    });
    refused.of("transpose_solve: shape", || {
        let transposed = |_: &dyn Fn(Array) -> Array, b: Array| b.sum();
        custom_linear_solve(
            |x: Array| x,
            guess(),
            keep,
            TransposeSolve::With(&transposed),
        )
    });
    refused.of("transpose_solve: structure", || {
        let transposed = |_: &dyn Fn(Model) -> Model, m: Model| drop_layers(m);
        let how = TransposeSolve::With(&transposed);
        custom_linear_solve(|m: Model| m, model(1), keep_model, how).weight
    });
    refused.of("matvec that is not linear", || {
        custom_linear_solve(
            |x: Array| x.sin(),
            guess(),
            keep,
            TransposeSolve::With(&keep),
        )
    });
    refused.of("reverse mode without transpose_solve", || {
        grad(move |b: Array| {
            custom_linear_solve(|x: Array| x, b, keep, TransposeSolve::Absent).sum()
        })(guess())
    });
    refused.check("roots_and_linear_systems");
}

#[test]
fn mapped_axes() {
    let mut refused = Refusals::default();
    let add = |x: Array, y: Array| x + y;
    let (two, three) = (|| floats(&[2]), || floats(&[3]));
    refused.of("lengths", || vmap(add)(two(), three()));
    refused.of("length given", || vmap(add).axis_size(5)(two(), two()));
    refused.of("rank", || vmap(add).in_axes((0, 1))(two(), two()));
    refused.of("negative rank", || vmap(add).in_axes((0, -2))(two(), two()));
    refused.of("scalar", || vmap(|x: Array| x)(floats(&[])));
    refused.of("too few in_axes", || vmap(add).in_axes((0,))(two(), two()));
    refused.of("in_axes of another structure", || {
        vmap(|m: Model| m.weight).in_axes(axes!(({"weight": 0},)))(model(1))
    });
    refused.of("nothing mapped", || {
        vmap(add).in_axes((None, None))(two(), two())
    });
    refused.of("out_axes of another structure", || {
        vmap(|x: Array| x).out_axes((0, 0))(two())
    });
    refused.of("out_axes out of range", || {
        vmap(|x: Array| x).out_axes(1)(two())
    });
    refused.of("out_axes None of what is mapped", || {
        vmap(|x: Array| x).out_axes(axes!(None))(two())
    });
    refused.of("pmap: lengths", || pmap(add)(two(), three()));
    refused.of("pmap: devices", || pmap(|x: Array| x).devices(2)(three()));
    refused.of("pmap: out_axes of another structure", || {
        pmap(|x: Array| x).out_axes((0, 0))(two())
    });
    refused.of("pmap: out_axes out of range", || {
        pmap(|x: Array| x).out_axes(1)(two())
    });
    refused.of(
        "unknown axis",
        || vmap(|x: Array| lax::psum(&x, "j"))(two()),
    );
    refused.check("mapped_axes");
}

#[test]
fn branches() {
    let mut refused = Refusals::default();
    let x = || floats(&[2]);
    let same = |x: Array| x;
    refused.of("predicate with a shape", || cond(x(), same, same, x()));
    refused.of("shapes", || cond(true, same, |x: Array| x.sum(), x()));
    refused.of("element types", || {
        cond(true, same, |x: Array| x.astype(DType::I32), x())
    });
    refused.of("structures", || {
        cond(
            true,
            |m: Model| m,
            |m: Model| Model {
                layers: vec![],
                ..m
            },
            model(1),
        )
        .weight
    });
    refused.of("path", || {
        let wider = |m: Model| Model {
            layers: vec![floats(&[4])],
            ..m
        };
        cond(true, |m: Model| m, wider, model(1)).weight
    });
    refused.of("index with a shape", || switch(integers(&[2]), [same], x()));
    refused.of("index that is no integer", || switch(1.0, [same], x()));
    refused.of("no branches", || switch(0, [same; 0], x()));
    let differing: [fn(Array) -> Array; 3] = [|x| x, |x| x, |x| x.sum()];
    refused.of("third branch", || switch(0, differing, x()));
    refused.check("branches");
}

#[test]
fn loops() {
    let mut refused = Refusals::default();
    let x = || floats(&[2]);
    let longer = |m: Model| Model {
        layers: vec![floats(&[3]); 2],
        ..m
    };
    let wider = |m: Model| Model {
        weight: floats(&[5]),
        ..m
    };
    refused.of("while: condition with a shape", || {
        while_loop(|x: Array| x.lt(1.0), |x: Array| x, x())
    });
    refused.of("while: condition of numbers", || {
        while_loop(|x: Array| x.sum(), |x: Array| x, x())
    });
    refused.of("while: structure", || {
        while_loop(|_: Model| Array::from(true), longer, model(1)).weight
    });
    refused.of("while: type", || {
        while_loop(|_: Model| Array::from(true), wider, model(1)).weight
    });
    refused.of("while: whole carry", || {
        while_loop(|_: Array| Array::from(true), |x: Array| x.sum(), x())
    });
    refused.of("fori: bound with a shape", || {
        fori_loop(0, integers(&[2]), |_, x: Array| x, x())
    });
    refused.of("fori: bound that is no integer", || {
        fori_loop(0.0, 3, |_, x: Array| x, x())
    });
    refused.of("fori: structure", || {
        fori_loop(0, 3, |_, m: Model| longer(m), model(1)).weight
    });
    refused.of("fori: type", || {
        fori_loop(0, 3, |_, m: Model| wider(m), model(1)).weight
    });
    refused.of("fori with unknown bounds: structure", || {
        jit(move |n: Array| fori_loop(0, n, |_, m: Model| longer(m), model(1)).weight)(
            integers(&[]),
        )
    });
    refused.of("fori with unknown bounds: type", || {
        jit(move |n: Array| fori_loop(0, n, |_, m: Model| wider(m), model(1)).weight)(integers(&[]))
    });
    refused.of("scan: no length", || {
        scan(|c: Array, (): ()| (c, ()), x(), (), None).0
    });
    refused.of("scan: lengths", || {
        scan(
            |c: Array, _: (Array, Array)| (c, ()),
            x(),
            (floats(&[3]), floats(&[4])),
            None,
        )
        .0
    });
    refused.of("scan: length given", || {
        scan(|c: Array, _: Array| (c, ()), x(), floats(&[3]), 4).0
    });
    refused.of("scan: scalar", || {
        scan(|c: Array, _: Array| (c, ()), x(), floats(&[]), None).0
    });
    refused.of("scan: structure", || {
        scan(|m: Model, (): ()| (longer(m), ()), model(1), (), 3)
            .0
            .weight
    });
    refused.of("scan: type", || {
        scan(|m: Model, (): ()| (wider(m), ()), model(1), (), 3)
            .0
            .weight
    });
    refused.of("scan_reverse: element type", || {
        scan_reverse(|c: Array, (): ()| (c.astype(DType::F16), ()), x(), (), 3).0
    });
    refused.of("map: lengths", || {
        map(|(a, _): (Array, Array)| a, (floats(&[3]), floats(&[4])))
    });
    refused.of("associative_scan: axis", || {
        associative_scan(|a: Array, b: Array| a + b, x(), 1, false)
    });
    refused.of("mistake in a body", || {
        scan(
            |c: Array, x: Array| (c + x.reshape(&[7]), ()),
            x(),
            floats(&[3]),
            None,
        )
        .0
    });
    refused.check("loops");
}

#[test]
fn values_that_are_not_there() {
    let mut refused = Refusals::default();
    let decide = |x: Array| if x.sum().truth() { x } else { -x };
    refused.of("in a scan", || {
        scan(
            |c: Array, x: Array| (c + decide(x), ()),
            floats(&[]),
            floats(&[3]),
            None,
        )
        .0
    });
    refused.of("in a branch", || {
        cond(true, decide, |x: Array| x, floats(&[2]))
    });
    refused.of("in a while", || {
        while_loop(|x: Array| x.lt(3.0), decide, floats(&[]))
    });
    refused.of("in a root", || {
        custom_root(decide, floats(&[2]), |_, x: Array| x, |_, y: Array| y)
    });
    refused.of("in checkpoint", || checkpoint(decide)(floats(&[2])));
    refused.check("values_that_are_not_there");
    assert!(eval_shape(decide, floats(&[2])).is_err());
}
