//! Random well-typed programs.
//!
//! A program is a list of genes. Each gene reads values of the scope it stands in, makes them fit (converts, pads,
//! slices, reshapes) and adds equations; genes of control flow take the genes behind them as their body. Whatever the
//! genes are, the program is legal.

mod control;
mod elementwise;
mod indexing;
mod linalg;
mod reduction;
mod scope;
mod shape;

use std::fmt;

use jaxide_core::{Aval, ClosedJaxpr, DType, check};
use proptest::prelude::*;

use crate::draw::{Draw, Gene};
use scope::Scope;

/// What a program promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Only that it is legal: every primitive of the generator, every element type.
    Any,
    /// Its results are the same bits however it is computed: integers in every primitive, floats where results are
    /// rounded correctly.
    Exact,
    /// Its floats are `f32` or `f64`, as given, and a tangent of its float arguments moves its float results: no float
    /// becomes an integer or a truth value. Functions are kept where they are smooth; extrema and sorts have kinks.
    Smooth(DType),
    /// As [`Profile::Smooth`] without loops whose length is not known: it has gradients too.
    Reversible(DType),
}

impl Profile {
    /// The element type of floats in smooth programs.
    fn smooth(self) -> Option<DType> {
        match self {
            Profile::Smooth(dtype) | Profile::Reversible(dtype) => Some(dtype),
            Profile::Any | Profile::Exact => None,
        }
    }

    /// Element types of arguments.
    fn dtypes(self) -> Vec<DType> {
        use DType::{BF16, Bool, C64, C128, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
        match self {
            Profile::Any | Profile::Exact => vec![
                F32, I32, F64, Bool, I64, F32, U8, BF16, F16, U32, I8, C64, F64, I16, U16, U64,
                C128,
            ],
            Profile::Smooth(float) | Profile::Reversible(float) => {
                vec![float, float, float, I32, Bool, float]
            }
        }
    }
}

/// How large the arrays of a program are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// At most a few vectors.
    Small,
    /// Some axes are long, so that what is decided by size is decided otherwise: what is shared between threads, and
    /// made in parts or some rows at a time.
    Large,
}

impl Extent {
    /// Larger arrays are not made.
    const fn largest(self) -> usize {
        match self {
            Extent::Small => 400,
            Extent::Large => 60_000,
        }
    }
}

/// A random program. Two are equal when their jaxprs are; it is shown as its text.
#[derive(Clone)]
pub struct Program {
    /// The program.
    pub jaxpr: ClosedJaxpr,
    /// A number that arguments can be made from.
    pub seed: u64,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {}:\n{}", self.seed, self.jaxpr)
    }
}

impl Program {
    /// Numbers of the arguments that have tangents.
    pub fn float_arguments(&self) -> Vec<usize> {
        floats(&self.jaxpr.in_avals())
    }

    /// Numbers of the results that have tangents.
    pub fn float_results(&self) -> Vec<usize> {
        floats(&self.jaxpr.out_avals())
    }
}

fn floats(avals: &[Aval]) -> Vec<usize> {
    (0..avals.len())
        .filter(|&index| avals[index].dtype.is_float())
        .collect()
}

/// Programs of small arrays, of about `length` equations at most, more where values are made to fit.
///
/// ```
/// use jaxide_testing::{Profile, programs};
/// use proptest::strategy::{Strategy, ValueTree};
/// use proptest::test_runner::TestRunner;
///
/// let mut runner = TestRunner::deterministic();
/// let program = programs(Profile::Any, 6).new_tree(&mut runner).unwrap().current();
/// assert!(jaxide_core::check(&program.jaxpr).is_ok());
/// ```
pub fn programs(profile: Profile, length: usize) -> impl Strategy<Value = Program> {
    programs_of(profile, Extent::Small, length)
}

/// Programs of arrays of any extent.
pub fn programs_of(
    profile: Profile,
    extent: Extent,
    length: usize,
) -> impl Strategy<Value = Program> {
    let gene = || prop::array::uniform16(any::<u8>());
    (
        prop::collection::vec(gene(), 1..4),
        prop::collection::vec(gene(), 1..=length),
        gene(),
        any::<u16>(),
    )
        .prop_map(move |(arguments, genes, results, seed)| Program {
            jaxpr: write(profile, extent, &arguments, &genes, &results),
            seed: u64::from(seed),
        })
}

/// Writes the program of genes.
///
/// # Panics
/// When the generator has a mistake: genes that the builder or the checker refuses.
fn write(
    profile: Profile,
    extent: Extent,
    arguments: &[Gene],
    genes: &[Gene],
    results: &Gene,
) -> ClosedJaxpr {
    let mut scope = Scope::new(profile, extent, 0);
    let dtypes = profile.dtypes();
    for gene in arguments {
        let mut draw = Draw::new(gene);
        let dtype = draw.choose(&dtypes);
        let shape = scope.shape(&mut draw);
        scope.input(Aval::new(dtype, &shape));
    }
    scope.write(genes);
    let mut draw = Draw::new(results);
    let count = draw.between(1, 3);
    let mut outputs: Vec<_> = (0..count).map(|_| scope.pick(&mut draw)).collect();
    if profile.smooth().is_some() {
        outputs.insert(0, scope.float(&mut draw));
    }
    let jaxpr = scope.finish(&outputs);
    if let Err(errors) = check(&jaxpr) {
        panic!(
            "the generator wrote an illegal jaxpr: {}\n{jaxpr}",
            errors[0]
        );
    }
    jaxpr
}
