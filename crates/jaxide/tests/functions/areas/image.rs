//! Images of other sizes.

use jaxide::image::{self, Resize, ResizeMethod};
use jaxide::prelude::*;

use crate::Area;
use crate::case::Case;
use crate::compare::Tolerance;

pub(crate) const AREA: Area = Area {
    cases: include_str!("../cases/image.txt"),
    call,
    tolerance,
    written_differently: &[
        (
            "image.resize shape=4,6 method=CUBIC_PYTORCH antialias=false",
            "weights outside are added row by row, where JAX scatters them",
        ),
        (
            "image.resize shape=2,3 method=CUBIC_PYTORCH antialias=false",
            "weights outside are added row by row, where JAX scatters them",
        ),
    ],
    different: &[],
    text,
};

fn method(case: &Case) -> ResizeMethod {
    match case.parameter("method").unwrap() {
        "NEAREST" => ResizeMethod::Nearest,
        "LINEAR" => ResizeMethod::Linear,
        "LANCZOS3" => ResizeMethod::Lanczos3,
        "LANCZOS5" => ResizeMethod::Lanczos5,
        "CUBIC" => ResizeMethod::Cubic,
        "CUBIC_PYTORCH" => ResizeMethod::CubicPytorch,
        "AREA" => ResizeMethod::Area,
        other => panic!("{other}"),
    }
}

fn call(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let options = Resize::new().antialias(case.flag("antialias").unwrap_or(true));
    let shape = case.list("shape").unwrap_or_default();
    let result = match case.function.as_str() {
        "image.resize" => image::resize(&x[0], shape, method(case), options),
        "image.scale_and_translate" => {
            let axes = case.list("spatial_dims").unwrap();
            let (scale, translation) = (&x[1], &x[2]);
            let method = method(case);
            image::scale_and_translate(&x[0], shape, axes, scale, translation, method, options)
        }
        _ => return None,
    };
    Some(vec![result])
}

/// Weights are small polynomials and sines, and new pixels sums of products with them.
fn tolerance(case: &Case) -> Tolerance {
    match case.parameter("method") {
        Some("NEAREST") => Tolerance::EXACT,
        _ => Tolerance::of_largest(8.0),
    }
}

fn text(_: &str, _: &[Array]) -> Option<Vec<Array>> {
    None
}
