//! Generalised minimal residuals.

use jaxide_core::DType;
use jaxide_core::prims::Precision;
use jaxide_tree::Pytree;

use super::{
    Iterative, LeafMap, Leaves, SolveMethod, Task, add, dtype_of, exact, limit, norm, number,
    solved, sub,
};
use crate::api::flat::flatten;
use crate::array::{Array, as_dtype};
use crate::control::{fori_loop, while_loop};
use crate::idx;
use crate::lax;
use crate::numpy::parts::{conj, epsilon, real};
use crate::numpy::{self, Eye, dot_with, where_};
use crate::scipy::linalg;

/// The solution of `a(x) = b`, and 0, or -1 where it is NaN, by generalised minimal residuals.
///
/// # Panics
/// When the start or what the map gives has not the structure and the shapes of `b`.
///
/// ```
/// use jaxide::{Array, numpy, scipy::sparse::linalg::{self, Iterative}};
/// let a = Array::from([[4.0f32, 1.0], [-1.0, 3.0]]);
/// let b = Array::from([1.0f32, 2.0]);
/// let (x, info) = linalg::gmres(|x: Array| numpy::matmul(&a, &x), &b, ());
/// assert!((numpy::matmul(&a, &x) - &b).abs().max().item::<f32>() < 1e-5);
/// assert_eq!(info.item::<i32>(), 0);
/// let options = Iterative::new().solve_method("incremental");
/// let (y, _) = linalg::gmres(|x: Array| numpy::matmul(&a, &x), &b, options);
/// assert!((x - y).abs().max().item::<f32>() < 1e-5);
/// ```
#[track_caller]
pub fn gmres<'f, T: Pytree<Array> + 'f>(
    a: impl Fn(T) -> T,
    b: &T,
    options: impl Into<Iterative<'f, T>>,
) -> (T, Array) {
    let _named = crate::trace::named("gmres");
    let x = solved(&a, b, options.into(), false, ends, |a, b, task, ends| {
        let residual = |x: &[Array]| (task.m)(sub(&b, &a(x.to_vec())));
        let (unit, left) = normalized(&residual(&task.x0), None);
        type State = (Leaves, Array, Leaves, Array);
        let more =
            |(_, k, _, left): State| numpy::logical_and(k.lt(limit(task)), left.gt(&ends.whole));
        let step = |(x, k, unit, left): State| {
            let change = match task.solve_method {
                SolveMethod::Batched => batched(a, &unit, &left, task),
                SolveMethod::Incremental => incremental(a, &unit, left, &ends.part, task),
            };
            let x = add(&x, &change);
            let (unit, left) = normalized(&residual(&x), None);
            (x, k + 1, unit, left)
        };
        while_loop(more, step, (task.x0.clone(), Array::from(0), unit, left)).0
    });
    let failed = numpy::isnan(&norm(&flatten(&x).leaves));
    (x, where_(&failed, -1, 0))
}

/// The residuals at which iteration ends: of the whole, and of a restart.
struct Ends {
    whole: Array,
    part: Array,
}

#[track_caller]
fn ends(b: &[Array], task: &Task<'_>) -> Ends {
    let size = norm(b);
    let whole = numpy::maximum(task.tol * &size, task.atol);
    let preconditioned = norm(&(task.m)(b.to_vec()));
    let part = preconditioned * numpy::minimum(1.0, &whole / size);
    Ends { whole, part }
}

/// A tree divided by its norm, and that; zeros where it is not above `least`.
#[track_caller]
fn normalized(x: &[Array], least: Option<&Array>) -> (Leaves, Array) {
    let norm = norm(x);
    let dtype = dtype_of(x);
    let least = match least {
        Some(least) => real(&as_dtype(least, dtype, false)),
        None => number(epsilon(norm.dtype()), norm.dtype()),
    };
    let enough = norm.gt(least);
    let by = as_dtype(&norm, dtype, false);
    let unit = |x: &Array| where_(&enough, x / &by, 0.0);
    (x.iter().map(unit).collect(), where_(&enough, &norm, 0.0))
}

/// A truth value with an element type of its own.
fn truth(value: bool) -> Array {
    Array::from(value).astype(DType::Bool)
}

/// Combinations of what stands along last axes.
#[track_caller]
fn combined(basis: &[Array], by: &Array) -> Leaves {
    let combine = |basis: &Array| dot_with(basis, by, exact());
    basis.iter().map(combine).collect()
}

/// `x` without its parts along a basis, and these; twice where little is left of it, for the sake of rounding.
#[track_caller]
fn orthogonal(basis: &[Array], x: Leaves, length: &Array) -> (Leaves, Array) {
    let count = basis[0].shape()[basis[0].ndim() - 1];
    let none = numpy::zeros([count], basis[0].dtype());
    let scaled = |length: &Array| numpy::divide(length, numpy::sqrt(&Array::from(2.0)));
    let once = |k: &Array, x: &[Array], parts: &Array, length: Array| {
        let along = basis.iter().zip(x).map(|(basis, x)| {
            numpy::einsum("...n,...->n", &[conj(basis), x.clone()], Precision::Highest)
        });
        let along = along.reduce(|sum, next| sum + next);
        let along = along.unwrap_or_else(|| none.clone());
        let x = sub(x, &combined(basis, &along));
        let parts = parts + along;
        let more = |(k, first, _): (Array, Array, Array)| numpy::logical_and(first, k.lt(1));
        let measure =
            |(k, _, _): (Array, Array, Array)| (k, truth(false), scaled(&normalized(&x, None).1));
        let start = (k.clone(), truth(true), length);
        let (_, _, length) = while_loop(more, measure, start);
        (x, parts, length)
    };
    let first = scaled(length);
    let (x, parts, length) = once(&Array::from(0), &x, &none, first);
    type State = (Array, Leaves, Array, Array);
    let more = |(k, _, parts, length): State| {
        let (_, own) = normalized(&[parts], None);
        numpy::logical_and(k.lt(1), own.lt(length))
    };
    let again = |(k, x, parts, length): State| {
        let (x, parts, length) = once(&k, &x, &parts, length);
        (k + 1, x, parts, length)
    };
    let (_, x, parts, _) = while_loop(more, again, (Array::from(1), x, parts, length));
    (x, parts)
}

/// One more vector of the basis, its image's parts along the basis as a row of `images`, and whether nothing was left of it.
#[track_caller]
fn arnoldi(
    a: &LeafMap<'_>,
    k: &Array,
    basis: &[Array],
    images: &Array,
    task: &Task<'_>,
) -> (Leaves, Array, Array) {
    let dtype = dtype_of(basis);
    let v = basis.iter().map(|basis| basis.index(idx![..., k]));
    let v = (task.m)(a(v.collect()));
    let (_, before) = normalized(&v, None);
    let (v, parts) = orthogonal(basis, v, &before);
    let least = number(epsilon(dtype), before.dtype()) * before;
    let (unit, length) = normalized(&v, Some(&least));
    let extended = basis.iter().zip(&unit);
    let basis = extended.map(|(basis, v)| basis.at(idx![..., k + 1]).set(v));
    let basis = basis.collect();
    let parts = parts.at(k + 1).set(as_dtype(&length, dtype, false));
    let images = images.at(idx![k, ..]).set(parts);
    let done = length.equal(0.0);
    (basis, images, done)
}

/// The first vector of a basis, and room for `count` more.
#[track_caller]
fn first(unit: &[Array], count: usize) -> Leaves {
    let roomy = |x: &Array| {
        let mut widths = vec![(0, 0); x.ndim()];
        widths.push((0, count as i64));
        numpy::pad(&x.index(idx![..., None]), widths, ())
    };
    unit.iter().map(roomy).collect()
}

/// A vector of `count` more elements than one, of which the first is the norm of the residual.
#[track_caller]
fn with_norm(left: &Array, count: usize, like: &[Array]) -> Array {
    let dtype = dtype_of(like);
    let vector = numpy::zeros([count + 1], dtype);
    vector.at(0).set(as_dtype(left, dtype, false))
}

/// The change that makes the residual the smallest, found when all vectors are made.
#[track_caller]
fn batched(a: &LeafMap<'_>, unit: &[Array], left: &Array, task: &Task<'_>) -> Leaves {
    let count = task.restart;
    let basis = first(unit, count);
    let images = numpy::eye(count, Eye::new().m(count + 1).dtype(dtype_of(unit)));
    type State = (Leaves, Array, Array, Array);
    let more =
        |(_, _, done, k): State| numpy::logical_and(k.lt(count as i32), numpy::logical_not(&done));
    let step = |(basis, images, _, k): State| {
        let (basis, images, done) = arnoldi(a, &k, &basis, &images, task);
        (basis, images, done, k + 1)
    };
    let start = (basis, images, truth(false), Array::from(0));
    let (basis, images, _, _) = while_loop(more, step, start);
    let wanted = with_norm(left, count, unit);
    let map = images.t();
    let normal = dot_with(&conj(&map.t()), &map, exact());
    let image = dot_with(&conj(&map.t()), &wanted, exact());
    let by = linalg::solve(&normal, &image, "pos");
    combined(&without_last(&basis), &by)
}

fn without_last(basis: &[Array]) -> Leaves {
    let all_but_last = |basis: &Array| basis.index(idx![..., ..-1]);
    basis.iter().map(all_but_last).collect()
}

/// The change that makes the residual the smallest, found with each vector, until it is small enough.
#[track_caller]
fn incremental(
    a: &LeafMap<'_>,
    unit: &[Array],
    left: Array,
    enough: &Array,
    task: &Task<'_>,
) -> Leaves {
    let count = task.restart;
    let dtype = dtype_of(unit);
    let basis = first(unit, count);
    let triangle = numpy::eye(count, Eye::new().m(count + 1).dtype(dtype));
    let rotations = numpy::zeros([count, 2], dtype);
    let wanted = with_norm(&left, count, unit);
    type State = (Array, Array, Leaves, Array, Array, Array);
    let more = |(k, left, ..): State| numpy::logical_and(k.lt(count as i32), left.gt(enough));
    let step = |(k, _, basis, triangle, wanted, rotations): State| {
        let (basis, images, _) = arnoldi(a, &k, &basis, &triangle, task);
        let row = images.index(idx![&k, ..]);
        let (row, rotations) = with_rotations(row, rotations, &k);
        let triangle = triangle.at(idx![&k, ..]).set(row);
        let wanted = rotated(&wanted, &k, &rotation_of(&rotations, &k));
        let left = wanted.index(&k + 1).abs();
        (k + 1, left, basis, triangle, wanted, rotations)
    };
    let start = (Array::from(0), left, basis, triangle, wanted, rotations);
    let (_, _, basis, triangle, wanted, _) = while_loop(more, step, start);
    let upper = triangle.index(idx![.., ..-1]).t();
    let by = linalg::solve_triangular(&upper, &wanted.index(idx![..-1]), ());
    combined(&without_last(&basis), &by)
}

/// Cosine and sine.
type Rotation = [Array; 2];

#[track_caller]
fn rotation_of(rotations: &Array, k: &Array) -> Rotation {
    rotations.index(idx![k, ..]).unpack()
}

/// A vector whose elements `i` and `i + 1` are rotated.
#[track_caller]
fn rotated(x: &Array, i: &Array, [cosine, sine]: &Rotation) -> Array {
    let (first, second) = (x.index(i), x.index(i + 1));
    let own = conj(cosine) * &first - conj(sine) * &second;
    let next = sine * first + cosine * second;
    x.at(i).set(own).at(i + 1).set(next)
}

/// The rotation that makes the second of two numbers zero.
#[track_caller]
fn vanishing(x: &Array, y: &Array) -> Rotation {
    let none = y.abs().equal(0.0);
    let steep = x.abs().lt(y.abs());
    let ratio = -where_(&steep, x, y) / where_(&steep, y, x);
    let scale = lax::rsqrt(&(1 + lax::integer_pow(&ratio.abs(), 2)));
    let scale = as_dtype(&scale, ratio.dtype(), false);
    let cosine = where_(&none, 1, where_(&steep, &scale * &ratio, &scale));
    let sine = where_(&none, 0, where_(&steep, &scale, &scale * &ratio));
    [cosine, sine]
}

/// A row of images with the rotations before applied, and one more that ends it; and all of these.
#[track_caller]
fn with_rotations(row: Array, rotations: Array, k: &Array) -> (Array, Array) {
    let one = |i: Array, row: Array| rotated(&row, &i, &rotation_of(&rotations, &i));
    let row = fori_loop(0, k, one, row);
    let own = vanishing(&row.index(k), &row.index(k + 1));
    let rotations = rotations.at(idx![k, ..]).set(lax::stack(&own, 0));
    (rotated(&row, k, &own), rotations)
}
