//! Ten programs of the size of real use, written as users write them, each beside the same program in JAX.
//!
//! Every program prepares its function with arguments at two sizes: a small one, whose results are compared with those
//! that `record.py` recorded from JAX, and a real one, which `benches/programs_vs_jax.py` times beside JAX. Random
//! numbers are drawn from keys, so that both sides have the same.

#[path = "../../../../examples/language_model/adam.rs"]
mod adam;
mod conjugate_gradients;
mod dense;
#[path = "../../../../examples/gaussian_process/regression.rs"]
mod gaussian_regression;
#[path = "../../../../examples/language_model/transformer.rs"]
mod language_model;

mod batch_norm;
mod gaussian_process;
mod gru;
mod kalman;
mod mala;
mod newton_cg;
mod ode;
mod particle_filter;
mod transformer;
mod vae;

use jaxide::prelude::*;
use jaxide::tree::{self, KeyPath};
use jaxide::{ArgList, Function};

/// How large the arguments of a program are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Small,
    Real,
}

impl Size {
    /// `small` or `real`, as this is.
    fn pick<T>(self, small: T, real: T) -> T {
        match self {
            Size::Small => small,
            Size::Real => real,
        }
    }
}

/// A program by its name.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) prepare: fn(Size) -> Prepared,
}

pub(crate) const PROGRAMS: [Program; 10] = [
    Program {
        name: "transformer",
        prepare: transformer::prepare,
    },
    Program {
        name: "vae",
        prepare: vae::prepare,
    },
    Program {
        name: "mala",
        prepare: mala::prepare,
    },
    Program {
        name: "kalman",
        prepare: kalman::prepare,
    },
    Program {
        name: "gaussian_process",
        prepare: gaussian_process::prepare,
    },
    Program {
        name: "ode",
        prepare: ode::prepare,
    },
    Program {
        name: "batch_norm",
        prepare: batch_norm::prepare,
    },
    Program {
        name: "newton_cg",
        prepare: newton_cg::prepare,
    },
    Program {
        name: "particle_filter",
        prepare: particle_filter::prepare,
    },
    Program {
        name: "gru",
        prepare: gru::prepare,
    },
];

/// The arrays of a result with their paths.
pub(crate) type Leaves = Vec<(KeyPath, Array)>;

/// A function with its arguments.
pub(crate) struct Prepared {
    /// Runs operation by operation.
    pub(crate) eager: Box<dyn Fn() -> Leaves>,
    /// Runs the compiled function, and compiles it the first time.
    pub(crate) jitted: Box<dyn Fn() -> Leaves>,
    /// What the function is recorded as.
    pub(crate) jaxpr: Box<dyn Fn() -> Result<ClosedJaxpr>>,
}

impl Prepared {
    fn new<F, Args, Out>(f: F, args: Args) -> Self
    where
        F: Function<Args, Out> + Clone + Send + Sync + 'static,
        Args: ArgList + Clone,
        Out: Pytree<Array> + 'static,
    {
        let (compiled, recorded) = (jit(f.clone()), make_jaxpr(f.clone()));
        let (again, types) = (args.clone(), args.clone());
        Prepared {
            eager: Box::new(move || tree::leaves_with_path(&f.apply(args.clone()))),
            jitted: Box::new(move || {
                let result = compiled.try_call(again.clone());
                tree::leaves_with_path(&result.unwrap_or_else(|error| panic!("{error}")))
            }),
            jaxpr: Box::new(move || recorded.try_call(types.clone())?),
        }
    }
}
