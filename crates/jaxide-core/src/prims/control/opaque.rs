//! Primitives that reach outside the program: printing, host functions, the platform; and groups whose derivative
//! nobody has given.

use smallvec::{SmallVec, smallvec};

use super::super::*;
use super::call::*;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::jaxpr::{Atom, Atoms, Aval, Builder, ClosedJaxpr};

impl Primitive for PlatformIndex {
    fn abstract_eval(&self, _operands: &[Aval]) -> Result<Avals> {
        Ok(smallvec![Aval::scalar(DType::I32)])
    }

    fn jvp(&self, b: &Builder, _primals: &[Atom], _tangents: &[Option<Atom>]) -> Result<JvpResult> {
        Ok(JvpResult::one(b.op(self.clone(), &[]), None))
    }

    fn batch(
        &self,
        b: &Builder,
        _operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        let value = b.op(self.clone(), &[]);
        Ok(smallvec![Batched { value, dim: None }])
    }

    fn transpose(
        &self,
        _b: &Builder,
        _cotangents: &[Option<Atom>],
        _operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        Ok(SmallVec::new())
    }
}

/// Rules of what has an effect and no results.
macro_rules! effect_rules {
    () => {
        fn abstract_eval(&self, _operands: &[Aval]) -> Result<Avals> {
            Ok(Avals::new())
        }

        fn transpose(
            &self,
            _b: &Builder,
            _cotangents: &[Option<Atom>],
            operands: &[TransposeArg],
        ) -> Result<Cotangents> {
            Ok(operands.iter().map(|_| None).collect())
        }

        fn has_effect(&self) -> bool {
            true
        }
    };
}

impl Primitive for DceSink {
    effect_rules! {}

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        b.emit(self.clone(), primals)?;
        b.emit(self.clone(), &with_tangents(&[], tangents))?;
        Ok(JvpResult::new(Atoms::new(), Tangents::new()))
    }

    fn batch(
        &self,
        b: &Builder,
        operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        b.emit(self.clone(), &Batched::values(operands))?;
        Ok(BatchedResults::new())
    }
}

impl Primitive for DebugPrint {
    effect_rules! {}

    /// Prints the values, not their tangents.
    fn jvp(&self, b: &Builder, primals: &[Atom], _tangents: &[Option<Atom>]) -> Result<JvpResult> {
        b.emit(self.clone(), primals)?;
        Ok(JvpResult::new(Atoms::new(), Tangents::new()))
    }

    /// Prints lane by lane.
    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        for lane in 0..axis.size {
            let lane = operands.iter().map(|&operand| take_lane(b, operand, lane));
            b.emit(self.clone(), &lane.collect::<Vec<_>>())?;
        }
        Ok(BatchedResults::new())
    }
}

/// One lane of a value.
fn take_lane(b: &Builder, x: Batched, lane: usize) -> Atom {
    let Some(dim) = x.dim else {
        return x.value;
    };
    let mut limit = b.shape(x.value);
    let mut start = vec![0; limit.len()];
    start[dim] = lane;
    limit[dim] = lane + 1;
    b.squeeze(b.slice(x.value, &start, &limit), &[dim])
}

/// Types of results written as `(ShapedArray(float32[3]), ...)`.
fn result_types(text: &Opaque) -> Result<Avals> {
    let unreadable = || {
        Error::parameter(format!(
            "result types are expected, and `{}` is given",
            text.0
        ))
    };
    let text_form = text.0.to_string();
    text_form
        .split("ShapedArray(")
        .skip(1)
        .map(|part| {
            let (name, rest) = part.split_once('[').ok_or_else(unreadable)?;
            let (dims, _) = rest.split_once(']').ok_or_else(unreadable)?;
            let dtype = DType::from_numpy_name(name)
                .or_else(|| DType::from_short_name(name))
                .ok_or_else(unreadable)?;
            let shape = dims
                .split(',')
                .filter(|dim| !dim.is_empty())
                .map(|dim| dim.trim().parse().map_err(|_| unreadable()))
                .collect::<Result<Vec<usize>>>()?;
            Ok(Aval::new(dtype, &shape))
        })
        .collect()
}

const HOST_FUNCTION: &str =
    "it calls a function of the host: give it one with custom_jvp or custom_vjp around the call";

macro_rules! callbacks {
    ($($prim:ident $name:literal $effect:literal $results:expr;)*) => { $(
        impl Primitive for $prim {
            fn abstract_eval(&self, _operands: &[Aval]) -> Result<Avals> {
                let results: fn(&Self) -> Result<Avals> = $results;
                results(self)
            }

            no_rules! { $name, HOST_FUNCTION; jvp }

            no_rules! { $name, "it calls a function of the host, which takes one lane"; batch }

            no_rules! { $name, HOST_FUNCTION; transpose }

            fn has_effect(&self) -> bool {
                $effect
            }
        }
    )* };
}
callbacks! {
    PureCallback "pure_callback" false |p| result_types(&p.result_avals);
    IoCallback "io_callback" true |p| result_types(&p.result_avals);
    DebugCallback "debug_callback" true |_| Ok(SmallVec::new());
}

const COMPOSITE: &str =
    "a composite is replaced as a whole, so that its parts say nothing: use custom_jvp around it";

impl Primitive for Composite {
    call_rules! { abstract_eval batch }

    no_rules! { "composite", COMPOSITE; jvp transpose }
}

impl Call for CustomVmapCall {
    fn callee(&self) -> &ClosedJaxpr {
        &self.call
    }

    /// The rule is one of the old function and goes.
    fn with_callee(&self, call: ClosedJaxpr) -> Self {
        CustomVmapCall {
            call,
            rule: Rule {
                name: self.rule.name.clone(),
                make: None,
            },
            ..self.clone()
        }
    }
}

/// The batching rule is a host function of the number of lanes that text does not carry: the function itself is
/// batched.
impl Primitive for CustomVmapCall {
    call_rules! { abstract_eval jvp batch transpose }
}

const EXPORTED: &str =
    "it calls a serialized program, which the text does not carry: export its jaxpr as text";

impl CallExported {
    /// That it cannot be run.
    pub fn refused(&self) -> Error {
        Error::unsupported(format!("{EXPORTED} ({})", self.exported.0))
    }
}

impl Primitive for CallExported {
    /// The types that were written are believed.
    fn abstract_eval(&self, _operands: &[Aval]) -> Result<Avals> {
        Ok(self.out_avals.iter().cloned().collect())
    }

    fn complete(&mut self, _operands: &[Aval], results: &[Aval]) {
        self.out_avals = results.to_vec();
    }

    no_rules! { "call_exported", EXPORTED; jvp batch transpose }
}
