//! Fourier transforms.

use jaxide::numpy::fft::{self, Fft, Fftfreq, Fftn};
use jaxide::prelude::*;
use jaxide::scipy::fft::{self as cosine, Dct, Dctn};

use crate::Area;
use crate::case::Case;
use crate::compare::Tolerance;

pub(crate) const AREA: Area = Area {
    cases: include_str!("../cases/fft.txt"),
    call,
    tolerance,
    written_differently: &[(
        "scipy.fft.idct ; f32[1]",
        "what is written into no elements stays in the text",
    )],
    different: &[],
    text,
};

fn call(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let one = |array: Array| Some(vec![array]);
    let name = case.function.as_str();
    if let Some(name) = name.strip_prefix("scipy.fft.") {
        return cosines(name, case, &x[0]).map(|array| vec![array]);
    }
    let along = || {
        let mut options = Fft::new();
        if let Some(n) = case.integer("n") {
            options = options.n(n);
        }
        if let Some(axis) = case.integer("axis") {
            options = options.axis(axis);
        }
        match case.parameter("norm") {
            Some(norm) => options.norm(norm),
            None => options,
        }
    };
    let several = || {
        let mut options = Fftn::new();
        if let Some(s) = case.list("s") {
            options = options.s(s);
        }
        if let Some(axes) = case.list("axes") {
            options = options.axes(axes);
        }
        match case.parameter("norm") {
            Some(norm) => options.norm(norm),
            None => options,
        }
    };
    let frequencies = || {
        let mut options = Fftfreq::new();
        if let Some(d) = case.float("d") {
            options = options.d(d);
        }
        if let Some(dtype) = case.dtype() {
            options = options.dtype(dtype);
        }
        options
    };
    let count = || case.integer("n").unwrap() as usize;
    one(match name.strip_prefix("numpy.fft.")? {
        "fft" => fft::fft(&x[0], along()),
        "ifft" => fft::ifft(&x[0], along()),
        "rfft" => fft::rfft(&x[0], along()),
        "irfft" => fft::irfft(&x[0], along()),
        "hfft" => fft::hfft(&x[0], along()),
        "ihfft" => fft::ihfft(&x[0], along()),
        "fft2" => fft::fft2(&x[0], several()),
        "ifft2" => fft::ifft2(&x[0], several()),
        "rfft2" => fft::rfft2(&x[0], several()),
        "irfft2" => fft::irfft2(&x[0], several()),
        "fftn" => fft::fftn(&x[0], several()),
        "ifftn" => fft::ifftn(&x[0], several()),
        "rfftn" => fft::rfftn(&x[0], several()),
        "irfftn" => fft::irfftn(&x[0], several()),
        "fftfreq" => fft::fftfreq(count(), frequencies()),
        "rfftfreq" => fft::rfftfreq(count(), frequencies()),
        "fftshift" => match case.list("axes") {
            Some(axes) => fft::fftshift(&x[0], axes),
            None => fft::fftshift(&x[0], ()),
        },
        "ifftshift" => match case.list("axes") {
            Some(axes) => fft::ifftshift(&x[0], axes),
            None => fft::ifftshift(&x[0], ()),
        },
        _ => return None,
    })
}

fn cosines(name: &str, case: &Case, x: &Array) -> Option<Array> {
    let along = || {
        let mut options = Dct::new();
        if let Some(n) = case.integer("n") {
            options = options.n(n);
        }
        if let Some(axis) = case.integer("axis") {
            options = options.axis(axis);
        }
        match case.parameter("norm") {
            Some(norm) => options.norm(norm),
            None => options,
        }
    };
    let several = || {
        let mut options = Dctn::new();
        if let Some(s) = case.list("s") {
            options = options.s(s);
        }
        if let Some(axes) = case.list("axes") {
            options = options.axes(axes);
        }
        match case.parameter("norm") {
            Some(norm) => options.norm(norm),
            None => options,
        }
    };
    Some(match name {
        "dct" => cosine::dct(x, along()),
        "idct" => cosine::idct(x, along()),
        "dctn" => cosine::dctn(x, several()),
        "idctn" => cosine::idctn(x, several()),
        _ => return None,
    })
}

fn tolerance(case: &Case) -> Tolerance {
    if case.function.ends_with("shift") {
        Tolerance::EXACT
    } else {
        Tolerance::of_largest(8.0)
    }
}

fn text(name: &str, x: &[Array]) -> Option<Vec<Array>> {
    let one = |array: Array| Some(vec![array]);
    match name {
        "fft" | "fft_x64" => one(fft::fft(&x[0], ())),
        "fftshift" => one(fft::fftshift(&x[0], ())),
        _ => None,
    }
}
