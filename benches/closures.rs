//! Three hundred dense lines of closures, as a user's crate holds them: what they cost to compile is measured by
//! `benches/build_cost.py`. Running it prints one number for each function, so that they can be seen to work.

use std::collections::BTreeMap;

use jaxide::prelude::*;
use jaxide::{Argnum, associative_scan, custom_jvp, custom_vjp, nn, numpy, random, tree};

type F = fn() -> Array;

#[derive(Clone, Pytree)]
struct Dense {
    w: Array,
    b: Array,
}

#[derive(Clone, Pytree)]
struct Mlp {
    layers: Vec<Dense>,
    scale: Array,
}

#[derive(Clone, Pytree)]
struct Adam {
    params: Mlp,
    mean: Mlp,
    square: Mlp,
    step: Array,
}

#[derive(Clone, Pytree)]
struct Pendulum {
    angle: Array,
    speed: Array,
}

#[derive(Clone, Pytree)]
struct Gauss {
    mean: Array,
    log_std: Array,
}

fn ramp(n: usize) -> Array {
    numpy::linspace(0.1, 0.9, n)
}

fn square(n: usize) -> Array {
    ramp(n * n).reshape([n, n]) + numpy::eye(n, DType::F32)
}

#[rustfmt::skip]
fn total<T: tree::Pytree<Array>>(t: &T) -> Array {
    tree::leaves(t).iter().fold(Array::from(0.0f32), |sum, x: &Array| sum + x.sum())
}

#[rustfmt::skip]
fn mlp(sizes: &[usize]) -> Mlp {
    let layer = |s: &[usize]| Dense { w: ramp(s[0] * s[1]).reshape([s[0], s[1]]), b: ramp(s[1]) };
    Mlp { layers: sizes.windows(2).map(layer).collect(), scale: Array::from(1.5f32) }
}

fn forward(m: &Mlp, x: &Array) -> Array {
    m.scale.clone()
        * m.layers
            .iter()
            .fold(x.clone(), |x, l| (x.dot(&l.w) + &l.b).tanh())
}

fn mse(m: Mlp, x: Array, y: Array) -> Array {
    (forward(&m, &x) - y).square().mean()
}

#[rustfmt::skip]
fn adam(m: Mlp, x: Array, y: Array, steps: usize) -> Array {
    let zeros = tree::map(|x: &Array| x * 0.0, &m).expect("a tree of arrays");
    let start = Adam { params: m, mean: zeros.clone(), square: zeros, step: Array::from(0.0f32) };
    let step = jit(|s: Adam, x: Array, y: Array| {
        let (loss, g) = value_and_grad(mse)(s.params.clone(), x, y);
        let mean = tree::map2(|m: &Array, g: &Array| m * 0.9 + g * 0.1, &s.mean, &g).expect("same structure");
        let square = tree::map2(|v: &Array, g: &Array| v * 0.99 + g.square() * 0.01, &s.square, &g).expect("same structure");
        let move_by = |p: &Array, m: &Array, v: &Array| p - 0.01 * m / (v.sqrt() + 1e-8);
        let params = tree::map3(move_by, &s.params, &mean, &square).expect("same structure");
        (Adam { params, mean, square, step: s.step + 1.0 }, loss)
    });
    (0..steps).fold((start, Array::from(0.0f32)), |(s, _), _| step(s, x.clone(), y.clone())).1
}

#[rustfmt::skip]
const SCALARS: &[F] = &[
    || grad(|x: Array| x.sin() * &x)(Array::from(0.2f32)),
    || grad(|x: Array| x.exp() / (1.0 + x.exp()))(Array::from(0.3f32)),
    || grad(|x: Array| x.sigmoid() * x.cos())(Array::from(0.4f32)),
    || jit(grad(|x: Array| x.sigmoid() * x.cos()))(Array::from(0.2f32)),
    || jit(grad(|x: Array| (-(&x * &x) / 2.0).exp()))(Array::from(0.3f32)),
    || jit(grad(|x: Array| (&x * 3.0).cos() * (&x * 2.0).sin()))(Array::from(0.4f32)),
    || vmap(grad(|x: Array| (&x * 3.0).cos() * (&x * 2.0).sin()))(ramp(3)).sum(),
    || vmap(grad(|x: Array| (&x + 1.0).sqrt() / (&x + 2.0)))(ramp(4)).sum(),
    || vmap(grad(|x: Array| x.tanh() + x.square()))(ramp(5)).sum(),
    || jit(vmap(grad(|x: Array| x.tanh() + x.square())))(ramp(3)).sum(),
    || jit(vmap(grad(|x: Array| x.abs().log1p() * &x)))(ramp(4)).sum(),
    || jit(vmap(grad(|x: Array| x.square().sin() - 0.5 * &x)))(ramp(5)).sum(),
    || jit(|x: Array| (x.square().sin() - 0.5 * &x).sum())(ramp(3)),
    || jit(|x: Array| ((x.exp() + 1.0).log()).sum())(ramp(4)),
    || jit(|x: Array| (x.sin() * &x).sum())(ramp(5)),
    || grad(|x: Array| (x.sin() * &x).sum())(ramp(3)).sum(),
    || grad(|x: Array| (x.exp() / (1.0 + x.exp())).sum())(ramp(4)).sum(),
    || grad(|x: Array| (x.sigmoid() * x.cos()).sum())(ramp(5)).sum(),
    || value_and_grad(|x: Array| (x.sigmoid() * x.cos()).mean())(ramp(3)).0,
    || value_and_grad(|x: Array| ((-(&x * &x) / 2.0).exp()).mean())(ramp(4)).0,
    || value_and_grad(|x: Array| ((&x * 3.0).cos() * (&x * 2.0).sin()).mean())(ramp(5)).0,
    || jvp(|x: Array| (&x * 3.0).cos() * (&x * 2.0).sin(), ramp(3), ramp(3)).1.sum(),
    || jvp(|x: Array| (&x + 1.0).sqrt() / (&x + 2.0), ramp(4), ramp(4)).1.sum(),
    || jvp(|x: Array| x.tanh() + x.square(), ramp(5), ramp(5)).1.sum(),
    || vjp(|x: Array| x.tanh() + x.square(), ramp(3)).0.sum(),
    || vjp(|x: Array| x.abs().log1p() * &x, ramp(4)).0.sum(),
    || vjp(|x: Array| x.square().sin() - 0.5 * &x, ramp(5)).0.sum(),
    || hessian(|x: Array| (x.square().sin() - 0.5 * &x).sum())(ramp(3)).sum(),
    || hessian(|x: Array| ((x.exp() + 1.0).log()).sum())(ramp(4)).sum(),
    || hessian(|x: Array| (x.sin() * &x).sum())(ramp(5)).sum(),
    || jacfwd(|x: Array| x.sin() * &x)(ramp(3)).sum(),
    || jacfwd(|x: Array| x.exp() / (1.0 + x.exp()))(ramp(4)).sum(),
    || jacfwd(|x: Array| x.sigmoid() * x.cos())(ramp(5)).sum(),
    || jacrev(|x: Array| x.sigmoid() * x.cos())(ramp(3)).sum(),
    || jacrev(|x: Array| (-(&x * &x) / 2.0).exp())(ramp(4)).sum(),
    || jacrev(|x: Array| (&x * 3.0).cos() * (&x * 2.0).sin())(ramp(5)).sum(),
    || jit(hessian(|x: Array| ((&x * 3.0).cos() * (&x * 2.0).sin()).sum()))(ramp(3)).sum(),
    || jit(hessian(|x: Array| ((&x + 1.0).sqrt() / (&x + 2.0)).sum()))(ramp(4)).sum(),
    || jit(hessian(|x: Array| (x.tanh() + x.square()).sum()))(ramp(5)).sum(),
    || grad(grad(|x: Array| x.tanh() + x.square()))(Array::from(0.2f32)),
    || grad(grad(|x: Array| x.abs().log1p() * &x))(Array::from(0.3f32)),
    || grad(grad(|x: Array| x.square().sin() - 0.5 * &x))(Array::from(0.4f32)),
    || jit(vmap(grad(grad(|x: Array| x.square().sin() - 0.5 * &x))))(ramp(3)).sum(),
    || jit(vmap(grad(grad(|x: Array| (x.exp() + 1.0).log()))))(ramp(4)).sum(),
    || jit(vmap(grad(grad(|x: Array| x.sin() * &x))))(ramp(5)).sum(),
    || grad(checkpoint(|x: Array| (x.sin() * &x).sum()))(ramp(3)).sum(),
    || grad(checkpoint(|x: Array| (x.exp() / (1.0 + x.exp())).sum()))(ramp(4)).sum(),
    || grad(checkpoint(|x: Array| (x.sigmoid() * x.cos()).sum()))(ramp(5)).sum(),
    || linearize(|x: Array| x.sigmoid() * x.cos(), ramp(3)).1.apply(&(ramp(3),)).sum(),
    || linearize(|x: Array| (-(&x * &x) / 2.0).exp(), ramp(4)).1.apply(&(ramp(4),)).sum(),
    || linearize(|x: Array| (&x * 3.0).cos() * (&x * 2.0).sin(), ramp(5)).1.apply(&(ramp(5),)).sum(),
    || vmap(vmap(|x: Array| (&x * 3.0).cos() * (&x * 2.0).sin()))(square(3)).sum(),
    || vmap(vmap(|x: Array| (&x + 1.0).sqrt() / (&x + 2.0)))(square(4)).sum(),
    || vmap(vmap(|x: Array| x.tanh() + x.square()))(square(5)).sum(),
    || grad(jit(|x: Array| (x.tanh() + x.square()).sum()))(ramp(3)).sum(),
    || grad(jit(|x: Array| (x.abs().log1p() * &x).sum()))(ramp(4)).sum(),
    || grad(jit(|x: Array| (x.square().sin() - 0.5 * &x).sum()))(ramp(5)).sum(),
    || jit(value_and_grad(|x: Array| (x.square().sin() - 0.5 * &x).sum()))(ramp(3)).1.sum(),
    || jit(value_and_grad(|x: Array| ((x.exp() + 1.0).log()).sum()))(ramp(4)).1.sum(),
    || jit(value_and_grad(|x: Array| (x.sin() * &x).sum()))(ramp(5)).1.sum(),
];

#[rustfmt::skip]
const PAIRS: &[F] = &[
    || jit(|x: Array, y: Array| ((&x * &y).sin()).sum())(ramp(3), ramp(3)),
    || jit(|x: Array, y: Array| ((&x - &y).square() * 0.5).sum())(ramp(4), ramp(4)),
    || jit(|x: Array, y: Array| (x.max() * &y + x.min()).sum())(ramp(5), ramp(5)),
    || grad(|x: Array, y: Array| (x.square() + y.exp()).sum()).argnums((Argnum::<0>, Argnum::<1>))(ramp(3), ramp(3)).1.sum(),
    || grad(|x: Array, y: Array| (x.dot(&y).tanh() * (&x + &y)).sum()).argnums((Argnum::<0>, Argnum::<1>))(ramp(4), ramp(4)).1.sum(),
    || grad(|x: Array, y: Array| ((&x / (1.0 + y.square())).log1p()).sum()).argnums((Argnum::<0>, Argnum::<1>))(ramp(5), ramp(5)).1.sum(),
    || vmap(|x: Array, y: Array| ((&x - &y).square() * 0.5).sum()).in_axes((0, None))(square(3), ramp(3)).sum(),
    || vmap(|x: Array, y: Array| (x.max() * &y + x.min()).sum()).in_axes((0, None))(square(4), ramp(4)).sum(),
    || vmap(|x: Array, y: Array| ((&x * &y).sin()).sum()).in_axes((0, None))(square(5), ramp(5)).sum(),
    || jit(vmap(grad(|x: Array, y: Array| (x.dot(&y).tanh() * (&x + &y)).sum())).in_axes((0, None)))(square(3), ramp(3)).sum(),
    || jit(vmap(grad(|x: Array, y: Array| ((&x / (1.0 + y.square())).log1p()).sum())).in_axes((0, None)))(square(4), ramp(4)).sum(),
    || jit(vmap(grad(|x: Array, y: Array| (x.square() + y.exp()).sum())).in_axes((0, None)))(square(5), ramp(5)).sum(),
    || jit(vmap(value_and_grad(|x: Array, y: Array| (x.max() * &y + x.min()).sum())))(square(3), square(3)).0.sum(),
    || jit(vmap(value_and_grad(|x: Array, y: Array| ((&x * &y).sin()).sum())))(square(4), square(4)).0.sum(),
    || jit(vmap(value_and_grad(|x: Array, y: Array| ((&x - &y).square() * 0.5).sum())))(square(5), square(5)).0.sum(),
    || jit(jacfwd(|x: Array, y: Array| (&x / (1.0 + y.square())).log1p()))(ramp(3), ramp(3)).sum(),
    || jit(jacfwd(|x: Array, y: Array| x.square() + y.exp()))(ramp(4), ramp(4)).sum(),
    || jit(jacfwd(|x: Array, y: Array| x.dot(&y).tanh() * (&x + &y)))(ramp(5), ramp(5)).sum(),
    || jvp(|x: Array, y: Array| (&x * &y).sin(), (ramp(3), ramp(3)), (ramp(3), ramp(3))).1.sum(),
    || jvp(|x: Array, y: Array| (&x - &y).square() * 0.5, (ramp(4), ramp(4)), (ramp(4), ramp(4))).1.sum(),
    || jvp(|x: Array, y: Array| x.max() * &y + x.min(), (ramp(5), ramp(5)), (ramp(5), ramp(5))).1.sum(),
    || total(&vjp(|x: Array, y: Array| (x.square() + y.exp(), x * 2.0), (ramp(3), ramp(3))).0),
    || total(&vjp(|x: Array, y: Array| (x.dot(&y).tanh() * (&x + &y), x * 2.0), (ramp(4), ramp(4))).0),
    || total(&vjp(|x: Array, y: Array| ((&x / (1.0 + y.square())).log1p(), x * 2.0), (ramp(5), ramp(5))).0),
    || total(&jit(move |p: (Array, Array)| { let (x, y) = p; ((&x - &y).square() * 0.5, &x + &y) })((ramp(3), ramp(3)))),
    || total(&jit(move |p: (Array, Array)| { let (x, y) = p; (x.max() * &y + x.min(), &x + &y) })((ramp(4), ramp(4)))),
    || total(&jit(move |p: (Array, Array)| { let (x, y) = p; ((&x * &y).sin(), &x + &y) })((ramp(5), ramp(5)))),
    || total(&jit(grad(move |p: [Array; 2]| { let [x, y] = p; (x.dot(&y).tanh() * (&x + &y)).sum() }))([ramp(3), ramp(3)])),
    || total(&jit(grad(move |p: [Array; 2]| { let [x, y] = p; ((&x / (1.0 + y.square())).log1p()).sum() }))([ramp(4), ramp(4)])),
    || total(&jit(grad(move |p: [Array; 2]| { let [x, y] = p; (x.square() + y.exp()).sum() }))([ramp(5), ramp(5)])),
    || total(&grad(move |p: BTreeMap<String, Array>| { let (x, y) = (p["x"].clone(), p["y"].clone()); (x.max() * &y + x.min()).sum() })(["x", "y"].map(|k| (k.to_owned(), ramp(3))).into())),
    || total(&grad(move |p: BTreeMap<String, Array>| { let (x, y) = (p["x"].clone(), p["y"].clone()); ((&x * &y).sin()).sum() })(["x", "y"].map(|k| (k.to_owned(), ramp(4))).into())),
    || total(&grad(move |p: BTreeMap<String, Array>| { let (x, y) = (p["x"].clone(), p["y"].clone()); ((&x - &y).square() * 0.5).sum() })(["x", "y"].map(|k| (k.to_owned(), ramp(5))).into())),
    || total(&jit(vmap(|p: Vec<Array>| { let (x, y) = (&p[0], &p[1]); ((x / (1.0 + y.square())).log1p()).sum() }))(vec![square(3), square(3)])),
    || total(&jit(vmap(|p: Vec<Array>| { let (x, y) = (&p[0], &p[1]); (x.square() + y.exp()).sum() }))(vec![square(4), square(4)])),
    || total(&jit(vmap(|p: Vec<Array>| { let (x, y) = (&p[0], &p[1]); (x.dot(y).tanh() * (x + y)).sum() }))(vec![square(5), square(5)])),
];

#[rustfmt::skip]
const LOOPS: &[F] = &[
    || scan(|c: Array, x: Array| { let c = (&c * 0.5 + &x).sin(); (c.clone(), c) }, Array::from(0.0f32), ramp(3), None).1.sum(),
    || scan(|c: Array, x: Array| { let c = (&c * 0.5 + &x).sin(); (c.clone(), c) }, Array::from(0.0f32), ramp(4), None).1.sum(),
    || scan(|c: Array, x: Array| { let c = (&c * 0.5 + &x).sin(); (c.clone(), c) }, Array::from(0.0f32), ramp(5), None).1.sum(),
    || jit(|x: Array| scan(|c: Array, x: Array| (&c + &x * 0.9, &c * &x), Array::from(1.0f32), x, None).0)(ramp(3)),
    || jit(|x: Array| scan(|c: Array, x: Array| (&c + x.sin() + &x, &c * &x), Array::from(1.0f32), x, None).0)(ramp(4)),
    || jit(|x: Array| scan(|c: Array, x: Array| (&c + (&x + 0.1).sqrt(), &c * &x), Array::from(1.0f32), x, None).0)(ramp(5)),
    || grad(|w: Array| scan(|c: Array, x: Array| ((&c * &w + &x * 0.9).tanh(), ()), Array::from(0.0f32), ramp(3), None).0)(Array::from(0.5f32)),
    || grad(|w: Array| scan(|c: Array, x: Array| ((&c * &w + x.sin() + &x).tanh(), ()), Array::from(0.0f32), ramp(4), None).0)(Array::from(0.5f32)),
    || grad(|w: Array| scan(|c: Array, x: Array| ((&c * &w + (&x + 0.1).sqrt()).tanh(), ()), Array::from(0.0f32), ramp(5), None).0)(Array::from(0.5f32)),
    || while_loop(|c: (Array, Array)| c.0.lt(3), |(i, x): (Array, Array)| (i + 1, &x * 0.9), (Array::from(0), ramp(3))).1.sum(),
    || while_loop(|c: (Array, Array)| c.0.lt(4), |(i, x): (Array, Array)| (i + 1, x.sin() + &x), (Array::from(0), ramp(4))).1.sum(),
    || while_loop(|c: (Array, Array)| c.0.lt(5), |(i, x): (Array, Array)| (i + 1, (&x + 0.1).sqrt()), (Array::from(0), ramp(5))).1.sum(),
    || jit(|x: Array| while_loop(|(x, n): (Array, Array)| x.sum().lt(50.0f32) & n.lt(20), |(x, n): (Array, Array)| (&x * 1.5, n + 1), (x, Array::from(0))).0.sum())(ramp(3)),
    || jit(|x: Array| while_loop(|(x, n): (Array, Array)| x.sum().lt(50.0f32) & n.lt(20), |(x, n): (Array, Array)| (&x * 1.5, n + 1), (x, Array::from(0))).0.sum())(ramp(4)),
    || jit(|x: Array| while_loop(|(x, n): (Array, Array)| x.sum().lt(50.0f32) & n.lt(20), |(x, n): (Array, Array)| (&x * 1.5, n + 1), (x, Array::from(0))).0.sum())(ramp(5)),
    || fori_loop(0, 3, |i, x: Array| &x * 0.9 + i.astype(DType::F32) * 0.1, ramp(4)).sum(),
    || fori_loop(0, 4, |i, x: Array| x.sin() + &x + i.astype(DType::F32) * 0.1, ramp(4)).sum(),
    || fori_loop(0, 5, |i, x: Array| (&x + 0.1).sqrt() + i.astype(DType::F32) * 0.1, ramp(4)).sum(),
    || jit(|n: Array, x: Array| fori_loop(0, n, |_, x: Array| (&x * 0.9).cos(), x).sum())(Array::from(3), ramp(5)),
    || jit(|n: Array, x: Array| fori_loop(0, n, |_, x: Array| (x.sin() + &x).cos(), x).sum())(Array::from(4), ramp(5)),
    || jit(|n: Array, x: Array| fori_loop(0, n, |_, x: Array| ((&x + 0.1).sqrt()).cos(), x).sum())(Array::from(5), ramp(5)),
    || jit(|x: Array| cond(x.sum().gt(1.0f32), |x: Array| &x * 0.9, |x: Array| &x - 1.0, x).sum())(ramp(3)),
    || jit(|x: Array| cond(x.sum().gt(1.0f32), |x: Array| x.sin() + &x, |x: Array| &x - 1.0, x).sum())(ramp(4)),
    || jit(|x: Array| cond(x.sum().gt(1.0f32), |x: Array| (&x + 0.1).sqrt(), |x: Array| &x - 1.0, x).sum())(ramp(5)),
    || grad(|x: Array| cond(x.sum().gt(1.0f32), |x: Array| (&x * 0.9).sum(), |x: Array| x.square().sum(), x))(ramp(3)).sum(),
    || grad(|x: Array| cond(x.sum().gt(1.0f32), |x: Array| (x.sin() + &x).sum(), |x: Array| x.square().sum(), x))(ramp(4)).sum(),
    || grad(|x: Array| cond(x.sum().gt(1.0f32), |x: Array| ((&x + 0.1).sqrt()).sum(), |x: Array| x.square().sum(), x))(ramp(5)).sum(),
    || switch(3, [|x: Array| x.sin(), |x: Array| x.cos(), |x: Array| x.square()], ramp(4)).sum(),
    || switch(4, [|x: Array| x.sin(), |x: Array| x.cos(), |x: Array| x.square()], ramp(4)).sum(),
    || switch(5, [|x: Array| x.sin(), |x: Array| x.cos(), |x: Array| x.square()], ramp(4)).sum(),
    || vmap(|x: Array| cond(x.gt(0.5f32), |x: Array| &x * 0.9, |x: Array| x.exp(), x))(ramp(3)).sum(),
    || vmap(|x: Array| cond(x.gt(0.5f32), |x: Array| x.sin() + &x, |x: Array| x.exp(), x))(ramp(4)).sum(),
    || vmap(|x: Array| cond(x.gt(0.5f32), |x: Array| (&x + 0.1).sqrt(), |x: Array| x.exp(), x))(ramp(5)).sum(),
    || jaxide::map(|x: Array| (&x * 0.9).sin(), ramp(3)).sum(),
    || jaxide::map(|x: Array| (x.sin() + &x).sin(), ramp(4)).sum(),
    || jaxide::map(|x: Array| ((&x + 0.1).sqrt()).sin(), ramp(5)).sum(),
    || associative_scan(|(a, b): (Array, Array), (c, d): (Array, Array)| (&a * &c, &b * &c + &d), (ramp(3), ramp(3)), 0, false).1.sum(),
    || associative_scan(|(a, b): (Array, Array), (c, d): (Array, Array)| (&a * &c, &b * &c + &d), (ramp(4), ramp(4)), 0, false).1.sum(),
    || associative_scan(|(a, b): (Array, Array), (c, d): (Array, Array)| (&a * &c, &b * &c + &d), (ramp(5), ramp(5)), 0, false).1.sum(),
    || total(&fori_loop(0, 3, |_, (x, v): (Array, Array)| { let v = &v - 0.1 * &x; (&x + 0.1 * &v, v) }, (ramp(3), ramp(3)))),
    || total(&fori_loop(0, 4, |_, (x, v): (Array, Array)| { let v = &v - 0.1 * &x; (&x + 0.1 * &v, v) }, (ramp(3), ramp(3)))),
    || total(&fori_loop(0, 5, |_, (x, v): (Array, Array)| { let v = &v - 0.1 * &x; (&x + 0.1 * &v, v) }, (ramp(3), ramp(3)))),
];

#[rustfmt::skip]
const MODELS: &[F] = &[
    || mse(mlp(&[2, 3, 1]), square(2), ramp(2).reshape([2, 1])),
    || mse(mlp(&[2, 4, 1]), square(2), ramp(2).reshape([2, 1])),
    || mse(mlp(&[2, 5, 1]), square(2), ramp(2).reshape([2, 1])),
    || total(&grad(mse)(mlp(&[2, 3, 1]), square(2), ramp(2).reshape([2, 1]))),
    || total(&grad(mse)(mlp(&[2, 4, 1]), square(2), ramp(2).reshape([2, 1]))),
    || total(&grad(mse)(mlp(&[2, 5, 1]), square(2), ramp(2).reshape([2, 1]))),
    || total(&jit(grad(|m: Mlp, x: Array| forward(&m, &x).sum()))(mlp(&[3, 3, 2]), square(3))),
    || total(&jit(grad(|m: Mlp, x: Array| forward(&m, &x).mean()))(mlp(&[3, 4, 2]), square(3))),
    || total(&jit(grad(|m: Mlp, x: Array| forward(&m, &x).max()))(mlp(&[3, 5, 2]), square(3))),
    || total(&jit(vmap(value_and_grad(|m: Mlp, x: Array| forward(&m, &x).sum())).in_axes((None, 0)))(mlp(&[3, 3, 2]), square(3))),
    || total(&jit(vmap(value_and_grad(|m: Mlp, x: Array| forward(&m, &x).mean())).in_axes((None, 0)))(mlp(&[3, 4, 2]), square(3))),
    || total(&jit(vmap(value_and_grad(|m: Mlp, x: Array| forward(&m, &x).max())).in_axes((None, 0)))(mlp(&[3, 5, 2]), square(3))),
    || total(&vmap(grad(|d: Dense, x: Array| (x.dot(&d.w) + &d.b).tanh().sum())).in_axes((None, 0))(Dense { w: square(3), b: ramp(3) }, square(3))),
    || total(&vmap(grad(|d: Dense, x: Array| (x.dot(&d.w) + &d.b).tanh().mean())).in_axes((None, 0))(Dense { w: square(4), b: ramp(4) }, square(4))),
    || total(&vmap(grad(|d: Dense, x: Array| (x.dot(&d.w) + &d.b).tanh().max())).in_axes((None, 0))(Dense { w: square(5), b: ramp(5) }, square(5))),
    || total(&jit(|d: Dense, x: Array| grad(move |d: Dense| (x.dot(&d.w) + &d.b).square().sum())(d))(Dense { w: square(3), b: ramp(3) }, ramp(3))),
    || total(&jit(|d: Dense, x: Array| grad(move |d: Dense| (x.dot(&d.w) + &d.b).square().mean())(d))(Dense { w: square(4), b: ramp(4) }, ramp(4))),
    || total(&jit(|d: Dense, x: Array| grad(move |d: Dense| (x.dot(&d.w) + &d.b).square().max())(d))(Dense { w: square(5), b: ramp(5) }, ramp(5))),
    || total(&hessian(|d: Dense| (ramp(3).dot(&d.w) + &d.b).square().sum())(Dense { w: square(3), b: ramp(3) })),
    || total(&hessian(|d: Dense| (ramp(4).dot(&d.w) + &d.b).square().mean())(Dense { w: square(4), b: ramp(4) })),
    || total(&hessian(|d: Dense| (ramp(5).dot(&d.w) + &d.b).square().max())(Dense { w: square(5), b: ramp(5) })),
    || total(&grad(|g: Gauss| { let z = (ramp(3) - &g.mean) / g.log_std.exp(); (z.square() * 0.5 + &g.log_std).sum() })(Gauss { mean: ramp(3), log_std: ramp(3) })),
    || total(&grad(|g: Gauss| { let z = (ramp(4) - &g.mean) / g.log_std.exp(); (z.square() * 0.5 + &g.log_std).mean() })(Gauss { mean: ramp(4), log_std: ramp(4) })),
    || total(&grad(|g: Gauss| { let z = (ramp(5) - &g.mean) / g.log_std.exp(); (z.square() * 0.5 + &g.log_std).max() })(Gauss { mean: ramp(5), log_std: ramp(5) })),
    || total(&jit(vmap(|g: Gauss, k: Array| &g.mean + g.log_std.exp() * random::normal(&k, [3], DType::F32)).in_axes((None, 0)))(Gauss { mean: ramp(3), log_std: ramp(3) }, random::split(&random::key(0), 4))),
    || total(&jit(vmap(|g: Gauss, k: Array| &g.mean + g.log_std.exp() * random::normal(&k, [4], DType::F32)).in_axes((None, 0)))(Gauss { mean: ramp(4), log_std: ramp(4) }, random::split(&random::key(0), 4))),
    || total(&jit(vmap(|g: Gauss, k: Array| &g.mean + g.log_std.exp() * random::normal(&k, [5], DType::F32)).in_axes((None, 0)))(Gauss { mean: ramp(5), log_std: ramp(5) }, random::split(&random::key(0), 4))),
    || total(&scan(|p: Pendulum, (): ()| { let v = &p.speed - 0.01 * p.angle.sin(); let a = &p.angle + 0.01 * &v; (Pendulum { angle: a.clone(), speed: v }, a) }, Pendulum { angle: ramp(3), speed: ramp(3) }, (), 10)),
    || total(&scan(|p: Pendulum, (): ()| { let v = &p.speed - 0.01 * p.angle.sin(); let a = &p.angle + 0.01 * &v; (Pendulum { angle: a.clone(), speed: v }, a) }, Pendulum { angle: ramp(4), speed: ramp(4) }, (), 10)),
    || total(&scan(|p: Pendulum, (): ()| { let v = &p.speed - 0.01 * p.angle.sin(); let a = &p.angle + 0.01 * &v; (Pendulum { angle: a.clone(), speed: v }, a) }, Pendulum { angle: ramp(5), speed: ramp(5) }, (), 10)),
    || total(&jit(grad(|p: Pendulum| { let e = p.speed.square() * 0.5 - p.angle.cos(); e.sum() }))(Pendulum { angle: ramp(3), speed: ramp(3) })),
    || total(&jit(grad(|p: Pendulum| { let e = p.speed.square() * 0.5 - p.angle.cos(); e.mean() }))(Pendulum { angle: ramp(4), speed: ramp(4) })),
    || total(&jit(grad(|p: Pendulum| { let e = p.speed.square() * 0.5 - p.angle.cos(); e.max() }))(Pendulum { angle: ramp(5), speed: ramp(5) })),
    || nn::softmax(&jit(|x: Array| x.dot(&square(3)))(square(3)), -1).sum(),
    || nn::softmax(&jit(|x: Array| x.dot(&square(4)))(square(4)), -1).mean(),
    || nn::softmax(&jit(|x: Array| x.dot(&square(5)))(square(5)), -1).max(),
    || grad(|x: Array| nn::log_softmax(&x, -1).index(0).sum())(square(3)).sum(),
    || grad(|x: Array| nn::log_softmax(&x, -1).index(0).mean())(square(4)).sum(),
    || grad(|x: Array| nn::log_softmax(&x, -1).index(0).max())(square(5)).sum(),
    || jit(|x: Array, i: Array| x.index(i).sum())(square(3), Array::from(1)),
    || jit(|x: Array, i: Array| x.index(i).mean())(square(4), Array::from(1)),
    || jit(|x: Array, i: Array| x.index(i).max())(square(5), Array::from(1)),
    || total(&jit(|o: Option<Array>, x: Array| (o.map(|o| o * &x), x.sum()))(Some(ramp(3)), ramp(3))),
    || total(&jit(|o: Option<Array>, x: Array| (o.map(|o| o * &x), x.mean()))(Some(ramp(4)), ramp(4))),
    || total(&jit(|o: Option<Array>, x: Array| (o.map(|o| o * &x), x.max()))(Some(ramp(5)), ramp(5))),
];

#[rustfmt::skip]
const CUSTOM: &[F] = &[
    || grad(custom_jvp(|x: Array| x.sin() * &x, |(x,): (Array,), (t,): (Array,)| (x.sin() * &x, t * x.cos())))(Array::from(0.5f32)),
    || grad(custom_jvp(|x: Array| (-(&x * &x) / 2.0).exp(), |(x,): (Array,), (t,): (Array,)| ((-(&x * &x) / 2.0).exp(), t * x.cos())))(Array::from(0.5f32)),
    || grad(custom_jvp(|x: Array| x.tanh() + x.square(), |(x,): (Array,), (t,): (Array,)| (x.tanh() + x.square(), t * x.cos())))(Array::from(0.5f32)),
    || grad(custom_vjp(|x: Array| x.sin() * &x, |x: Array| (x.sin() * &x, x), |x: Array, g: Array| (g * x.cos(),)))(Array::from(0.5f32)),
    || grad(custom_vjp(|x: Array| (-(&x * &x) / 2.0).exp(), |x: Array| ((-(&x * &x) / 2.0).exp(), x), |x: Array, g: Array| (g * x.cos(),)))(Array::from(0.5f32)),
    || grad(custom_vjp(|x: Array| x.tanh() + x.square(), |x: Array| (x.tanh() + x.square(), x), |x: Array, g: Array| (g * x.cos(),)))(Array::from(0.5f32)),
    || vmap(grad(custom_jvp(|x: Array| x.sin() * &x, |(x,): (Array,), (t,): (Array,)| (x.sin() * &x, t * x.cos()))))(ramp(4)).sum(),
    || vmap(grad(custom_jvp(|x: Array| (-(&x * &x) / 2.0).exp(), |(x,): (Array,), (t,): (Array,)| ((-(&x * &x) / 2.0).exp(), t * x.cos()))))(ramp(4)).sum(),
    || vmap(grad(custom_jvp(|x: Array| x.tanh() + x.square(), |(x,): (Array,), (t,): (Array,)| (x.tanh() + x.square(), t * x.cos()))))(ramp(4)).sum(),
    || jit(vmap(grad(custom_vjp(|x: Array| x.sin() * &x, |x: Array| (x.sin() * &x, x), |x: Array, g: Array| (g * x.cos(),)))))(ramp(4)).sum(),
    || jit(vmap(grad(custom_vjp(|x: Array| (-(&x * &x) / 2.0).exp(), |x: Array| ((-(&x * &x) / 2.0).exp(), x), |x: Array, g: Array| (g * x.cos(),)))))(ramp(4)).sum(),
    || jit(vmap(grad(custom_vjp(|x: Array| x.tanh() + x.square(), |x: Array| (x.tanh() + x.square(), x), |x: Array, g: Array| (g * x.cos(),)))))(ramp(4)).sum(),
];

#[rustfmt::skip]
fn main() {
    println!("adam {}", adam(mlp(&[2, 4, 1]), square(2), ramp(2).reshape([2, 1]), 5).item::<f32>());
    for (name, functions) in [("scalar", SCALARS), ("pair", PAIRS), ("loop", LOOPS), ("model", MODELS), ("custom", CUSTOM)] {
        for (number, function) in functions.iter().enumerate() {
            println!("{name} {number}: {}", function().astype(DType::F32).sum().item::<f32>());
        }
    }
}
