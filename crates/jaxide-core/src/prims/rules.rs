//! The rules every primitive has.

use smallvec::SmallVec;

use super::Prim;
use super::params::Name;
use crate::error::Result;
use crate::jaxpr::{Atom, Atoms, Aval, Builder};
use crate::marks::spread;
use crate::transform::{Memo, RefCotangent, Saving, SavingResult, Split};

/// Types of results.
pub type Avals = SmallVec<[Aval; 1]>;

/// Results for all lanes.
pub type BatchedResults = SmallVec<[Batched; 1]>;

/// One cotangent per operand: `None` where it is zero, and of known operands.
pub type Cotangents = SmallVec<[Option<Atom>; 3]>;

/// Results of which some are known and others not.
pub type Partials = SmallVec<[Partial; 2]>;

/// One tangent per result, `None` where it is zero.
pub type Tangents = SmallVec<[Option<Atom>; 2]>;

/// A derivative's results: the values, and a tangent each, `None` where it is zero whatever the inputs.
pub struct JvpResult {
    /// The results.
    pub primals: Atoms,
    /// Their tangents.
    pub tangents: Tangents,
}

impl JvpResult {
    /// Results with their tangents.
    pub fn new(primals: impl Into<Atoms>, tangents: Tangents) -> Self {
        JvpResult {
            primals: primals.into(),
            tangents,
        }
    }

    /// From results that are followed by the tangents of those that are marked.
    pub fn split(results: &[Atom], nonzero: &[bool]) -> Self {
        let (primals, tangents) = results.split_at(nonzero.len());
        JvpResult::new(primals, spread(tangents.iter().copied(), nonzero))
    }

    /// One result with its tangent.
    pub fn one(primal: Atom, tangent: Option<Atom>) -> Self {
        JvpResult {
            primals: SmallVec::from_slice(&[primal]),
            tangents: SmallVec::from_slice(&[tangent]),
        }
    }
}

/// A value under `vmap`: the atom, and the axis that is mapped, `None` when all lanes share the value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batched {
    /// The value with all lanes.
    pub value: Atom,
    /// The mapped axis.
    pub dim: Option<usize>,
}

impl Batched {
    /// The mapped axis of each value.
    pub fn dims(values: &[Batched]) -> Vec<Option<usize>> {
        values.iter().map(|value| value.dim).collect()
    }

    /// The values with all lanes.
    pub fn values(values: &[Batched]) -> Vec<Atom> {
        values.iter().map(|value| value.value).collect()
    }

    /// Values with their mapped axes.
    pub fn all(values: impl IntoIterator<Item = Atom>, dims: &[Option<usize>]) -> BatchedResults {
        let values = values.into_iter().zip(dims);
        values.map(|(value, &dim)| Batched { value, dim }).collect()
    }
}

/// The mapped axis as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchAxis {
    /// Number of lanes.
    pub size: usize,
    /// The name that collectives inside may use.
    pub name: Option<Name>,
}

/// An operand seen by transposition.
#[derive(Clone, Debug, PartialEq)]
pub enum TransposeArg {
    /// Known: a residual or a constant.
    Known(Atom),
    /// The operand the equation is linear in, of this type.
    Linear(Aval),
}

impl TransposeArg {
    /// The type of the operand.
    pub fn aval(&self, b: &Builder) -> Aval {
        match self {
            TransposeArg::Known(atom) => b.aval(*atom),
            TransposeArg::Linear(aval) => aval.clone(),
        }
    }

    /// The value, if it is known.
    pub fn known(&self) -> Option<Atom> {
        match self {
            TransposeArg::Known(atom) => Some(*atom),
            TransposeArg::Linear(_) => None,
        }
    }

    /// Which operands the equation is linear in.
    pub fn linears(operands: &[TransposeArg]) -> Vec<bool> {
        operands.iter().map(TransposeArg::is_linear).collect()
    }

    /// Whether the equation is linear in this operand.
    pub fn is_linear(&self) -> bool {
        self.known().is_none()
    }
}

/// A value during partial evaluation: of the known side's builder, or of the unknown side's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Partial {
    /// Computed now.
    Known(Atom),
    /// Left to the unknown side.
    Unknown(Atom),
}

impl Partial {
    /// The value, if it is computed now.
    pub fn known(self) -> Option<Atom> {
        match self {
            Partial::Known(atom) => Some(atom),
            Partial::Unknown(_) => None,
        }
    }

    /// Whether it is left to the unknown side.
    pub fn is_unknown(self) -> bool {
        matches!(self, Partial::Unknown(_))
    }
}

/// Primals, then the tangents that are not zero.
pub(crate) fn with_tangents(primals: &[Atom], tangents: &[Option<Atom>]) -> Vec<Atom> {
    let tangents = tangents.iter().flatten();
    primals.iter().chain(tangents).copied().collect()
}

/// Known operands, then the cotangents that are not zero.
pub(crate) fn with_cotangents(operands: &[TransposeArg], cotangents: &[Option<Atom>]) -> Vec<Atom> {
    let known: Vec<Atom> = operands.iter().filter_map(TransposeArg::known).collect();
    with_tangents(&known, cotangents)
}

/// What remains of an equation when some of its results are not used.
#[derive(Clone, Debug)]
pub struct Trimmed {
    /// The primitive with smaller parameters.
    pub prim: Prim,
    /// Which operands it still takes.
    pub inputs: Vec<bool>,
    /// Which results it still has; at least the used ones.
    pub outputs: Vec<bool>,
}

/// The rules of a primitive, given its parameters.
///
/// Rules write equations into a [`Builder`] and hold no state.
pub trait Primitive {
    /// Types of the results from the types of the operands.
    ///
    /// # Errors
    /// When the types or parameters do not fit; the message names them.
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals>;

    /// Fills in hidden parameters when read from text.
    fn complete(&mut self, _operands: &[Aval], _results: &[Aval]) {}

    /// Results and tangents, from operands and their tangents. At least one tangent is not zero.
    ///
    /// # Errors
    /// When there is no derivative; the message says why.
    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult>;

    /// Results for all lanes. At least one operand is mapped.
    ///
    /// # Errors
    /// When it cannot be batched; the message says why.
    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults>;

    /// Cotangents of the linear operands from those of the results (`None` is zero); `None` for known operands.
    ///
    /// # Errors
    /// When it is not linear in these operands; the message says why.
    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents>;

    /// As [`Primitive::transpose`] for an equation on a reference, whose cotangent is `reference`. `None`: it cannot be
    /// transposed when a reference is passed to it.
    ///
    /// # Errors
    /// As [`Primitive::transpose`].
    fn transpose_reference(
        &self,
        _b: &Builder,
        _reference: &mut RefCotangent,
        _cotangents: &[Option<Atom>],
        _operands: &[TransposeArg],
    ) -> Result<Option<Cotangents>> {
        Ok(None)
    }

    /// Results on the known side of `split` and tangents on its unknown side, from known operands and unknown
    /// tangents; at least one tangent is not zero. `None`: by splitting what [`Primitive::jvp`] writes.
    ///
    /// # Errors
    /// When there is no derivative; the message says why.
    fn linearize(
        &self,
        _split: &Split<'_>,
        _primals: &[Atom],
        _tangents: &[Option<Atom>],
    ) -> Result<Option<JvpResult>> {
        Ok(None)
    }

    /// Results when some operands are known and others not. `None`: all results are unknown.
    ///
    /// # Errors
    /// When it cannot be split; the message says why.
    fn partial_eval(&self, _split: &Split<'_>, _operands: &[Partial]) -> Result<Option<Partials>> {
        Ok(None)
    }

    /// Splits the equation under a policy that says which known values may be kept. `None`: by the rule for
    /// primitives without sub-jaxprs.
    ///
    /// # Errors
    /// When it cannot be split; the message says why.
    fn partial_eval_saving(&self, _saving: &mut Saving<'_>) -> Result<Option<SavingResult>> {
        Ok(None)
    }

    /// What remains when only these results are used; some are and some may not be. `None`: everything.
    ///
    /// # Errors
    /// When a sub-jaxpr is illegal.
    fn dce(&self, _memo: &Memo, _used: &[bool]) -> Result<Option<Trimmed>> {
        Ok(None)
    }

    /// Whether it does more than compute its results: such an equation is never removed.
    fn has_effect(&self) -> bool {
        false
    }

    /// Whether it makes a reference. Its rules are asked even when no operand has a tangent or is mapped, because what
    /// is written to the reference later may.
    fn makes_reference(&self) -> bool {
        false
    }

    /// Named axes along which it communicates; batching over one of them asks [`Primitive::batch`] even when no
    /// operand is mapped.
    fn axis_names(&self) -> Vec<Name> {
        Vec::new()
    }
}

/// Why most primitives have no transpose.
pub(super) const NOT_LINEAR: &str = "it is not linear in these operands";

/// Rules that a primitive does not have, and why.
macro_rules! no_rules {
    ($name:expr, $reason:expr; $($rule:ident)*) => { $( no_rules! { @ $rule $name, $reason } )* };
    (@ jvp $name:expr, $reason:expr) => {
        fn jvp(&self, _: &Builder, _: &[Atom], _: &[Option<Atom>]) -> Result<JvpResult> {
            Err(Error::no_rule($name, "jvp", $reason))
        }
    };
    (@ batch $name:expr, $reason:expr) => {
        fn batch(&self, _: &Builder, _: &[Batched], _: &BatchAxis) -> Result<BatchedResults> {
            Err(Error::no_rule($name, "batching", $reason))
        }
    };
    (@ transpose $name:expr, $reason:expr) => {
        fn transpose(&self, _: &Builder, _: &[Option<Atom>], _: &[TransposeArg]) -> Result<Cotangents> {
            Err(Error::no_rule($name, "transpose", $reason))
        }
    };
}
pub(super) use no_rules;
