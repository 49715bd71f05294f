//! `jax.scipy`: integrals, interpolation, minimisation, images, clusters and rotations.

use jaxide::numpy;
use jaxide::prelude::*;
use jaxide::scipy::cluster::vq;
use jaxide::scipy::integrate::{self, Trapezoid};
use jaxide::scipy::interpolate::{self, RegularGrid, RegularGridInterpolator};
use jaxide::scipy::ndimage::{self, MapCoordinates};
use jaxide::scipy::optimize::{self, Minimize};
use jaxide::scipy::spatial::transform::{AsQuat, Rotation, Slerp};

use crate::Area;
use crate::case::Case;
use crate::compare::Tolerance;

pub(crate) const AREA: Area = Area {
    cases: include_str!("../cases/solvers.txt"),
    call,
    tolerance,
    written_differently: &[(
        "scipy.optimize",
        "the state of the search is carried in another order",
    )],
    different: &[],
    text,
};

fn call(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let one = |array: Array| Some(vec![array]);
    if let Some(name) = case.function.strip_prefix("spatial.Rotation.") {
        return one(rotation(name, case, x)?);
    }
    let axis = case.integer("axis").unwrap_or(-1);
    match case.function.as_str() {
        "scipy.integrate.trapezoid" => {
            let mut options = Trapezoid::new().axis(axis);
            if let Some(dx) = case.float("dx") {
                options = options.dx(dx);
            }
            one(integrate::trapezoid(&x[0], options))
        }
        "scipy.integrate.trapezoid_x" => one(integrate::trapezoid(
            &x[0],
            Trapezoid::new().axis(axis).x(&x[1]),
        )),
        "scipy.cluster.vq.vq" => {
            let (code, distance) = vq::vq(&x[0], &x[1]);
            Some(vec![code, distance])
        }
        "scipy.ndimage.map_coordinates" => {
            let mode = match case.parameter("edge").unwrap() {
                "constant" => ndimage::Mode::Constant,
                "nearest" => ndimage::Mode::Nearest,
                "wrap" => ndimage::Mode::Wrap,
                "mirror" => ndimage::Mode::Mirror,
                "reflect" => ndimage::Mode::Reflect,
                other => panic!("{other}"),
            };
            let mut options = MapCoordinates::new().mode(mode);
            if let Some(cval) = case.float("cval") {
                options = options.cval(cval);
            }
            let order = case.integer("order").unwrap() as usize;
            one(ndimage::map_coordinates(&x[0], &x[1..], order, options))
        }
        "scipy.interpolate.RegularGridInterpolator"
        | "scipy.interpolate.RegularGridInterpolator2" => {
            let axes = x.len() - 2;
            let method = match case.parameter("method") {
                Some("nearest") => interpolate::Method::Nearest,
                _ => interpolate::Method::Linear,
            };
            let mut options = RegularGrid::new().method(method);
            match case.parameter("fill") {
                None => {}
                Some("none") => options = options.fill_value(None),
                Some(fill) => options = options.fill_value(fill.parse::<f64>().unwrap()),
            }
            let between = RegularGridInterpolator::new(&x[..axes], &x[axes], options);
            one(between.call(&x[axes + 1]))
        }
        "scipy.optimize.minimize" => {
            let found = minimize(case, &x[0]);
            // Of what is nearly 0, the difference from 1 is compared.
            Some(vec![
                found.x,
                found.success,
                found.status.astype(DType::I32),
                1 + found.fun,
            ])
        }
        "scipy.optimize.minimize_counts" => {
            let found = minimize(case, &x[0]);
            let counts = [found.nit, found.nfev, found.njev];
            Some(counts.map(|count| count.astype(DType::I32)).into())
        }
        "spatial.Slerp" => {
            let between = Slerp::new(&x[0], &Rotation::from_quat(&x[1]));
            one(between.call(&x[2]).quat)
        }
        _ => None,
    }
}

fn minimize(case: &Case, x: &Array) -> optimize::OptimizeResults {
    let method = match case.parameter("method") {
        Some("lbfgs") => optimize::Method::LBfgs,
        _ => optimize::Method::Bfgs,
    };
    let count = |key: &str| case.integer(key).map(|value| value as usize);
    let mut options = Minimize::new()
        .method(method)
        .maxiter(count("maxiter"))
        .maxfun(count("maxfun"))
        .line_search_maxiter(count("line_search_maxiter"));
    if let Some(gtol) = case.float("gtol") {
        options = options.gtol(gtol);
    }
    if let Some(norm) = case.float("norm") {
        options = options.norm(norm);
    }
    if let Some(memory) = count("maxcor") {
        options = options.maxcor(memory);
    }
    let steps = |x: &Array, first: usize| {
        let steps: Vec<f64> = (0..x.size()).map(|at| (at + first) as f64).collect();
        Array::from(steps).astype(x.dtype())
    };
    let fun = |x: Array| match case.parameter("fun").unwrap() {
        "quadratic" => (&x - steps(&x, 0)).square().sum(),
        "scaled" => (x.square() * steps(&x, 1)).sum() + x.sum(),
        "rosenbrock" => {
            let (before, after) = (x.slice(..x.size().saturating_sub(1)), x.slice(1..));
            let valley = (after - before.square()).square() * 100.0;
            (valley + numpy::square(&(1 - before))).sum()
        }
        "quartic" => (x.square() - 1).square().sum(),
        other => panic!("{other}"),
    };
    optimize::minimize(fun, x, options)
}

fn rotation(name: &str, case: &Case, x: &[Array]) -> Option<Array> {
    let degrees = case.flag("degrees").unwrap_or(false);
    let flag = |key: &str| case.flag(key).unwrap_or(false);
    let seq = || case.parameter("seq").unwrap();
    let given = || Rotation::from_quat(&x[0]);
    Some(match name {
        "from_euler" => Rotation::from_euler(seq(), &x[0], degrees).quat,
        "from_matrix" => Rotation::from_matrix(&x[0]).quat,
        "from_mrp" => Rotation::from_mrp(&x[0]).quat,
        "from_quat" => given().quat,
        "from_rotvec" => Rotation::from_rotvec(&x[0], degrees).quat,
        "as_euler" => given().as_euler(seq(), degrees),
        "as_matrix" => given().as_matrix(),
        "as_mrp" => given().as_mrp(),
        "as_rotvec" => given().as_rotvec(degrees),
        "as_quat" => given().as_quat(
            AsQuat::new()
                .canonical(flag("canonical"))
                .scalar_first(flag("scalar_first")),
        ),
        "magnitude" => given().magnitude(),
        "inv" => given().inv().quat,
        "mean" => given().mean(None).as_matrix(),
        "mul" => (given() * Rotation::from_quat(&x[1])).quat,
        "apply" => given().apply(&x[1], flag("inverse")),
        "concatenate" => Rotation::concatenate(&[given(), Rotation::from_quat(&x[1])]).quat,
        _ => return None,
    })
}

fn tolerance(case: &Case) -> Tolerance {
    if case.function.starts_with("scipy.optimize") {
        // Steps of a search make differences larger; of doubles these are 12 digits all the same.
        let wide = case.arrays()[0].dtype() == DType::F64;
        return Tolerance::of_largest(if wide { 65536.0 } else { 64.0 });
    }
    Tolerance::of_largest(8.0)
}

fn text(_: &str, _: &[Array]) -> Option<Vec<Array>> {
    None
}
