//! `scipy.signal`, and solvers by iteration.

use jaxide::numpy;
use jaxide::prelude::*;
use jaxide::scipy::signal::{
    self, Boundary, Convolve, Convolve2d, Detrend, FftConvolve, Istft, Spectrum, Stft, Trend,
};
use jaxide::scipy::sparse::linalg::{self, Iterative};

use crate::Area;
use crate::case::Case;
use crate::compare::Tolerance;

/// Rotations.
const BOUNDS: &str = "the bound of a loop that is weakly typed gets a type of its own";

pub(crate) const AREA: Area = Area {
    cases: include_str!("../cases/signals.txt"),
    call,
    tolerance,
    written_differently: &[
        ("scipy.sparse.linalg.gmres solve_method=", BOUNDS),
        (
            "scipy.sparse.linalg.gmres restart=2 maxiter=2 solve_method",
            BOUNDS,
        ),
        (
            "scipy.sparse.linalg.gmres tree=true m=true solve_method",
            BOUNDS,
        ),
    ],
    different: &[],
    text: |_, _| None,
};

fn call(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    if let Some(name) = case.function.strip_prefix("scipy.sparse.linalg.") {
        return Some(solved(name, case, &x[0], &x[1]));
    }
    let how = || case.parameter("how").unwrap_or("full");
    let one = |array: Array| Some(vec![array]);
    let name = case.function.strip_prefix("scipy.signal.")?;
    let window = x.last().filter(|_| name.ends_with("_by"));
    match name.trim_end_matches("_by") {
        "convolve" => one(signal::convolve(&x[0], &x[1], convolve(case))),
        "correlate" => one(signal::correlate(&x[0], &x[1], convolve(case))),
        "convolve2d" => one(signal::convolve2d(
            &x[0],
            &x[1],
            Convolve2d::new().mode(how()),
        )),
        "correlate2d" => one(signal::correlate2d(
            &x[0],
            &x[1],
            Convolve2d::new().mode(how()),
        )),
        "fftconvolve" => {
            let mut options = FftConvolve::new().mode(how());
            if let Some(axes) = case.list("axes") {
                options = options.axes(axes);
            }
            one(signal::fftconvolve(&x[0], &x[1], options))
        }
        "detrend" => {
            let mut options = Detrend::new().axis(case.integer("axis").unwrap_or(-1));
            if let Some(trend) = case.parameter("trend") {
                options = options.trend(trend);
            }
            if let Some(at) = case.integer("bp") {
                options = options.bp(&[at as usize]);
            }
            one(signal::detrend(&x[0], options))
        }
        "stft" => {
            let (frequencies, times, spectra) = signal::stft(&x[0], stft(case, window));
            Some(vec![frequencies, times, spectra])
        }
        "istft" => {
            let (times, x) = signal::istft(&x[0], istft(case, window));
            Some(vec![times, x])
        }
        "there_and_back" => {
            let (_, _, spectra) = signal::stft(&x[0], stft(case, None));
            let (times, x) = signal::istft(&spectra, istft(case, None));
            Some(vec![times, x])
        }
        "welch" => {
            let (frequencies, power) = signal::welch(&x[0], spectrum(case, window));
            Some(vec![frequencies, power])
        }
        "csd" => {
            let (frequencies, density) = signal::csd(&x[0], &x[1], spectrum(case, None));
            Some(vec![frequencies, density])
        }
        _ => None,
    }
}

fn convolve(case: &Case) -> Convolve {
    let options = Convolve::new().mode(case.parameter("how").unwrap_or("full"));
    match case.parameter("method") {
        Some(method) => options.method(method),
        None => options,
    }
}

fn count(case: &Case, key: &str) -> Option<usize> {
    case.integer(key).map(|count| count as usize)
}

fn stft(case: &Case, window: Option<&Array>) -> Stft {
    let mut options = Stft::new()
        .axis(case.integer("axis").unwrap_or(-1))
        .fs(case.float("fs").unwrap_or(1.0))
        .padded(case.flag("padded").unwrap_or(true))
        .return_onesided(case.flag("return_onesided").unwrap_or(true));
    if let Some(n) = count(case, "nperseg") {
        options = options.nperseg(n);
    }
    if let Some(n) = count(case, "noverlap") {
        options = options.noverlap(n);
    }
    if let Some(n) = count(case, "nfft") {
        options = options.nfft(n);
    }
    if let Some(trend) = case.parameter("detrend") {
        options = options.detrend(Trend::from(trend));
    }
    if let Some(window) = window {
        options = options.window(window);
    }
    match case.parameter("boundary") {
        None => options,
        Some("none") => options.boundary(None),
        Some(boundary) => options.boundary(Boundary::from(boundary)),
    }
}

fn istft(case: &Case, window: Option<&Array>) -> Istft {
    let mut options = Istft::new()
        .input_onesided(case.flag("input_onesided").unwrap_or(true))
        .boundary(case.flag("boundary").unwrap_or(true))
        .time_axis(case.integer("time_axis").unwrap_or(-1))
        .freq_axis(case.integer("freq_axis").unwrap_or(-2));
    if let Some(n) = count(case, "nperseg") {
        options = options.nperseg(n);
    }
    if let Some(n) = count(case, "noverlap") {
        options = options.noverlap(n);
    }
    match window {
        Some(window) => options.window(window),
        None => options,
    }
}

fn spectrum(case: &Case, window: Option<&Array>) -> Spectrum {
    let mut options = Spectrum::new()
        .axis(case.integer("axis").unwrap_or(-1))
        .fs(case.float("fs").unwrap_or(1.0));
    if let Some(n) = count(case, "nperseg") {
        options = options.nperseg(n);
    }
    if let Some(trend) = case.parameter("detrend") {
        options = options.detrend(Trend::from(trend));
    }
    if let Some(scaling) = case.parameter("scaling") {
        options = options.scaling(scaling);
    }
    if let Some(average) = case.parameter("average") {
        options = options.average(average);
    }
    match window {
        Some(window) => options.window(window),
        None => options,
    }
}

fn solved(name: &str, case: &Case, a: &Array, b: &Array) -> Vec<Array> {
    let near = |x: Array| x / numpy::diag(a, ());
    let near_trees = |x: Vec<Array>| vec![&x[0] / numpy::diag(a, ())];
    let map = |x: Array| numpy::matmul(a, &x);
    let flag = |key: &str| case.flag(key).unwrap_or(false);
    if flag("tree") {
        let mut options = settings(case);
        if flag("m") {
            options = options.m(&near_trees);
        }
        let map = |x: Vec<Array>| vec![map(x[0].clone())];
        let b = vec![b.clone()];
        return match name {
            "cg" => linalg::cg(map, &b, options),
            "bicgstab" => linalg::bicgstab(map, &b, options),
            _ => linalg::gmres(map, &b, options).0,
        };
    }
    let mut options = settings(case);
    if flag("m") {
        options = options.m(&near);
    }
    match name {
        "cg" => vec![linalg::cg(map, b, options)],
        "bicgstab" => vec![linalg::bicgstab(map, b, options)],
        _ => {
            let (x, info) = linalg::gmres(map, b, options);
            if flag("info") { vec![x, info] } else { vec![x] }
        }
    }
}

fn settings<'f, T>(case: &Case) -> Iterative<'f, T> {
    let mut options = Iterative::new();
    if let Some(tol) = case.float("tol") {
        options = options.tol(tol);
    }
    if let Some(maxiter) = count(case, "maxiter") {
        options = options.maxiter(maxiter);
    }
    if let Some(method) = case.parameter("solve_method") {
        options = options.solve_method(method);
    }
    if let Some(restart) = count(case, "restart") {
        options = options.restart(restart);
    }
    options
}

fn tolerance(case: &Case) -> Tolerance {
    if case.function.starts_with("scipy.sparse") {
        return Tolerance::of_largest(256.0);
    }
    Tolerance::of_largest(32.0)
}
