//! Making arrays.

use jaxide::numpy::{self, Copied, Creation, Diagonal, Eye, Filling, Indexing, Like, Linspace};
use jaxide::numpy::{Meshgrid, Offset, Span, Tri, Vander};
use jaxide::prelude::*;

use crate::Area;
use crate::case::{Case, Mode};
use crate::compare::Tolerance;

pub(crate) const AREA: Area = Area {
    cases: include_str!("../cases/arrays.txt"),
    call,
    tolerance,
    written_differently: &[],
    different: &[],
    text,
};

fn creation(case: &Case) -> Creation {
    Creation::new().dtype(case.dtype())
}

fn shape(case: &Case) -> Vec<i64> {
    case.list("shape").unwrap()
}

/// A number of a parameter.
fn number(text: &str) -> Array {
    match text.parse::<i64>() {
        Ok(whole) => Array::from(whole),
        Err(_) => Array::from(text.parse::<f64>().unwrap()),
    }
}

/// Elements that nobody should look at, times zero.
fn zeroed(x: Array) -> Array {
    numpy::multiply(&x, &Array::from(0))
}

/// What functions of arrays like others take.
fn like(case: &Case) -> Like {
    let options = Like::new().dtype(case.dtype());
    match case.list("shape") {
        Some(shape) => options.shape(shape),
        None => options,
    }
}

fn linspace(case: &Case) -> Linspace {
    let mut options = Linspace::new().dtype(case.dtype());
    if let Some(num) = case.integer("num") {
        options = options.num(num);
    }
    if let Some(endpoint) = case.flag("endpoint") {
        options = options.endpoint(endpoint);
    }
    if let Some(axis) = case.integer("axis") {
        options = options.axis(axis);
    }
    if let Some(base) = case.parameter("base") {
        options = options.base(number(base));
    }
    options
}

fn offset(case: &Case) -> Offset {
    Offset::new().k(case.integer("k").unwrap_or(0))
}

fn diagonal(case: &Case) -> Diagonal {
    let options = Diagonal::new().offset(case.integer("offset").unwrap_or(0));
    let options = options.axis1(case.integer("axis1").unwrap_or(0));
    let options = options.axis2(case.integer("axis2").unwrap_or(1));
    options.dtype(case.dtype())
}

/// A slice of a grid.
fn span(text: &str) -> Span {
    let numbers: Vec<Array> = text.split(',').map(number).collect();
    match numbers.as_slice() {
        [start, stop] => Span::from((start, stop)),
        [start, stop, step] => Span::from((start, stop, step)),
        _ => panic!("{text}"),
    }
}

fn spans(case: &Case) -> Vec<Span> {
    let given = [case.parameter("first"), case.parameter("second")];
    let mut spans: Vec<Span> = given.into_iter().flatten().map(span).collect();
    spans.extend(
        case.integer("count")
            .map(|count| Span::count(0, 1, count as usize)),
    );
    spans
}

fn call(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let one = |array: Array| Some(vec![array]);
    let size = |key: &str| case.integer(key).unwrap() as usize;
    match case.function.as_str() {
        "numpy.zeros" => one(numpy::zeros(shape(case), creation(case))),
        "numpy.ones" => one(numpy::ones(shape(case), creation(case))),
        "numpy.empty" => one(zeroed(numpy::empty(shape(case), creation(case)))),
        "numpy.full" => one(numpy::full(shape(case), &x[0], creation(case))),
        "numpy.zeros_like" => one(numpy::zeros_like(&x[0], like(case))),
        "numpy.ones_like" => one(numpy::ones_like(&x[0], like(case))),
        "numpy.empty_like" => one(zeroed(numpy::empty_like(&x[0], like(case)))),
        "numpy.full_like" => {
            let filling = Filling::new(&x[1]).dtype(case.dtype());
            let filling = match case.list("shape") {
                Some(shape) => filling.shape(shape),
                None => filling,
            };
            one(numpy::full_like(&x[0], filling))
        }
        "numpy.array" | "numpy.asarray" => {
            let ndmin = case.integer("ndmin").unwrap_or(0) as usize;
            let options = Copied::new().dtype(case.dtype()).ndmin(ndmin);
            if case.function == "numpy.array" {
                return one(numpy::array(&x[0], options));
            }
            one(numpy::asarray(&x[0], options))
        }
        "numpy.copy" => one(numpy::copy(&x[0])),
        "numpy.astype" => one(numpy::astype(&x[0], case.dtype().unwrap())),
        "numpy.arange" => {
            let start = number(case.parameter("start").unwrap());
            let span = match (case.parameter("stop"), case.parameter("step")) {
                (None, _) => Span::from(start),
                (Some(stop), None) => Span::from((start, number(stop))),
                (Some(stop), Some(step)) => Span::from((start, number(stop), number(step))),
            };
            one(numpy::arange(span, creation(case)))
        }
        "numpy.linspace" => one(numpy::linspace(&x[0], &x[1], linspace(case))),
        "numpy.linspace_with_step" => {
            let (numbers, step) = numpy::linspace_with_step(&x[0], &x[1], linspace(case));
            Some(vec![numbers, step])
        }
        "numpy.logspace" => one(numpy::logspace(&x[0], &x[1], linspace(case))),
        "numpy.geomspace" => one(numpy::geomspace(&x[0], &x[1], linspace(case))),
        "numpy.eye" => {
            let m = case.integer("M").map(|m| m as usize);
            let options = Eye::new().m(m).k(case.integer("k").unwrap_or(0) as i32);
            one(numpy::eye(
                size("N"),
                options.dtype(case.dtype().unwrap_or(DType::F32)),
            ))
        }
        "numpy.identity" => one(numpy::identity(size("n"), creation(case))),
        "numpy.tri" => {
            let m = case.integer("M").map(|m| m as usize);
            let options = Tri::new().m(m).k(case.integer("k").unwrap_or(0));
            one(numpy::tri(
                size("N"),
                options.dtype(case.dtype().unwrap_or(DType::F32)),
            ))
        }
        "numpy.tril" => one(numpy::tril(&x[0], offset(case))),
        "numpy.triu" => one(numpy::triu(&x[0], offset(case))),
        "numpy.diag" => one(numpy::diag(&x[0], offset(case))),
        "numpy.diagflat" => one(numpy::diagflat(&x[0], offset(case))),
        "numpy.diagonal" => one(numpy::diagonal(&x[0], diagonal(case))),
        "numpy.trace" => one(numpy::trace(&x[0], diagonal(case))),
        "numpy.vander" => {
            let n = case.integer("N").map(|n| n as usize);
            let increasing = case.flag("increasing").unwrap_or(false);
            one(numpy::vander(
                &x[0],
                Vander::new().n(n).increasing(increasing),
            ))
        }
        "numpy.fill_diagonal" => one(numpy::fill_diagonal(&x[0], &x[1])),
        "numpy.meshgrid" => {
            let indexing = match case.parameter("indexing") {
                Some("ij") => Indexing::Ij,
                _ => Indexing::Xy,
            };
            let options = Meshgrid::new().indexing(indexing);
            Some(numpy::meshgrid(
                x,
                options.sparse(case.flag("sparse").unwrap_or(false)),
            ))
        }
        "numpy.mgrid" => one(numpy::mgrid(&spans(case))),
        "numpy.ogrid" => Some(numpy::ogrid(&spans(case))),
        "numpy.indices" => one(numpy::indices(
            case.list("dimensions").unwrap(),
            creation(case),
        )),
        "numpy.indices_sparse" => Some(numpy::indices_sparse(
            case.list("dimensions").unwrap(),
            creation(case),
        )),
        "numpy.fromfunction" => {
            let kind = case.parameter("kind").unwrap_or("sum").to_owned();
            let function = |at: &[Array]| match kind.as_str() {
                "sum" => at.iter().fold(Array::from(0), |sum, index| sum + index),
                "last" => at.last().unwrap() * 2,
                _ => at[0].gt(1),
            };
            one(numpy::fromfunction(function, shape(case), creation(case)))
        }
        "numpy.hamming" => one(numpy::hamming(size("M"))),
        "numpy.hanning" => one(numpy::hanning(size("M"))),
        "numpy.bartlett" => one(numpy::bartlett(size("M"))),
        "numpy.blackman" => one(numpy::blackman(size("M"))),
        "numpy.kaiser" => one(numpy::kaiser(size("M"), &x[0])),
        _ => None,
    }
}

fn tolerance(case: &Case) -> Tolerance {
    match case.function.as_str() {
        "numpy.linspace" | "numpy.linspace_with_step" => Tolerance::of_largest(2.0),
        "numpy.logspace" | "numpy.geomspace" if case.mode == Mode::Grad => Tolerance::ulps(16.0),
        "numpy.logspace" | "numpy.geomspace" => Tolerance::ulps(24.0),
        "numpy.hamming" | "numpy.hanning" | "numpy.blackman" => Tolerance::of_largest(2.0),
        "numpy.kaiser" => Tolerance::of_largest(4.0),
        "numpy.vander" => Tolerance::ulps(4.0),
        _ => Tolerance::EXACT,
    }
}

fn text(name: &str, x: &[Array]) -> Option<Vec<Array>> {
    let one = |array: Array| Some(vec![array]);
    match name {
        "zeros_like" => one(numpy::full_like(&x[0], 0)),
        "full_like" => one(numpy::full_like(&x[0], 3)),
        "ones_zeros" => Some(vec![numpy::ones([2, 0], ()), numpy::zeros(3, DType::I8)]),
        "arange_float" => one(numpy::arange((0.0, 1.0, 0.25), ())),
        "astype_f16" => one(numpy::astype(&x[0], DType::F16)),
        "eye_k" => one(numpy::eye(3, Eye::new().m(4).k(1))),
        "identity" => one(numpy::identity(3, ())),
        "tri" => one(numpy::tri(3, Tri::new().m(4).k(-1))),
        "tril" => one(numpy::tril(&x[0], 1)),
        "triu_batch" => one(numpy::triu(&x[0], ())),
        "diag" => one(numpy::diag(&x[0], ())),
        "diag_k" => one(numpy::diag(&x[0], -1)),
        "diagonal" => one(numpy::diagonal(&x[0], 1)),
        "trace" => one(numpy::trace(&x[0], ())),
        "fill_diagonal" => one(numpy::fill_diagonal(&x[0], 9.0)),
        "vander" => one(numpy::vander(&x[0], ())),
        "linspace" => one(numpy::linspace(-1.0, 1.0, 5)),
        "linspace_args" => one(numpy::linspace(&x[0], &x[1], 4)),
        "logspace" => one(numpy::logspace(0.0, 2.0, 3)),
        "geomspace" => one(numpy::geomspace(1.0, 1000.0, 4)),
        "meshgrid" => Some(numpy::meshgrid(x, Indexing::Ij)),
        "hanning" => one(numpy::hanning(6)),
        "kaiser" => one(numpy::kaiser(5, 3.0)),
        _ => None,
    }
}
