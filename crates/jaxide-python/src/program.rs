//! Programs as objects of Python.

use std::sync::Arc;

use jaxide_core::eval::eval;
use jaxide_core::jaxpr::parse::parse;
use jaxide_core::jaxpr::{Atom, PrintOptions, notes};
use jaxide_core::prims::Name;
use jaxide_core::transform::{Step, apply};
use jaxide_core::{Aval, ClosedJaxpr, Error, Jaxpr, Result, Tensor, byte_size, check};
use jaxide_cpu::{CompileOptions, Executable, Lowered, StepProfile, compile, lowered};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::raised;
use crate::jax::Jax;
use crate::leaf::tensor;
use crate::memory::Memory;
use crate::xla::offer;

/// A compiled program.
#[pyclass(frozen, module = "jaxide._jaxide")]
pub(crate) struct Code {
    pub(crate) executable: Arc<Executable>,
    /// Whether it has a loop whose number of turns is not known.
    pub(crate) open: bool,
}

#[pymethods]
impl Code {
    /// Runs the program on arrays.
    fn run(&self, py: Python<'_>, args: Vec<Bound<'_, PyAny>>) -> PyResult<Vec<Memory>> {
        let args = tensors(py, &args)?;
        let results = py.detach(|| self.executable.run(&args));
        Ok(memories(results.map_err(|error| raised(py, &error))?))
    }

    /// Element types and shapes of arguments and of results.
    fn types(&self) -> [Vec<(&'static str, Vec<usize>)>; 2] {
        let told = |avals: Vec<Aval>| avals.iter().map(told_shape).collect();
        [
            told(self.executable.in_avals()),
            told(self.executable.out_avals()),
        ]
    }

    /// Makes this a program that XLA may call, by the number that is given back, until it is withdrawn.
    fn offer(&self, donated: Vec<usize>) -> PyResult<i64> {
        let avals = self.executable.in_avals();
        let sized = donated.into_iter().map(|k| {
            let bytes = avals.get(k).map(|aval| byte_size(&aval.shape, aval.dtype));
            bytes.transpose().map(|bytes| (k, bytes.unwrap_or(0)))
        });
        let sized = sized.collect::<Result<Vec<_>>>();
        let sized = sized.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(offer(self.executable.clone(), sized))
    }

    /// What the steps of all runs took, if the program was compiled for that.
    fn profile<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let steps = self.executable.take_profile();
        steps.iter().map(|step| told(py, step)).collect()
    }
}

fn told<'py>(py: Python<'py>, step: &StepProfile) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", &step.name)?;
    dict.set_item("equations", &step.equations)?;
    dict.set_item("runs", step.runs)?;
    dict.set_item("seconds", step.time.as_secs_f64())?;
    dict.set_item("bytes", step.bytes)?;
    dict.set_item("flops", step.flops)?;
    Ok(dict)
}

/// A program that was read.
#[pyclass(frozen, module = "jaxide._jaxide")]
pub(crate) struct Text(ClosedJaxpr);

/// A type as Python takes it: element type, shape, weakness.
type Told = (&'static str, Vec<usize>, bool);

#[pymethods]
impl Text {
    /// Reads a program. `constants` are its captured arrays, those of inner jaxprs behind its own, in the order of the text; without
    /// them it can be looked at and transformed.
    #[new]
    #[pyo3(signature = (text, constants=None))]
    fn new(py: Python<'_>, text: &str, constants: Option<Vec<Bound<'_, PyAny>>>) -> PyResult<Self> {
        let parsed = py.detach(|| parse(text));
        let mut closed = parsed.map_err(|error| raised(py, &Error::from(error)))?;
        if let Some(constants) = constants {
            give(&mut closed, &mut tensors(py, &constants)?.into_iter())
                .map_err(|error| raised(py, &error))?;
        }
        Ok(Text(closed))
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    /// The text with ANSI codes for colours.
    fn coloured(&self) -> String {
        let options = PrintOptions {
            color: true,
            ..PrintOptions::default()
        };
        self.0.display(&options).to_string()
    }

    /// Types of the arguments.
    fn in_types(&self) -> Vec<Told> {
        self.0.in_avals().iter().map(told_type).collect()
    }

    /// Types of the results.
    fn out_types(&self) -> Vec<Told> {
        self.0.out_avals().iter().map(told_type).collect()
    }

    /// The captured arrays.
    fn constants(&self) -> Vec<(Told, Memory)> {
        let consts = self.0.consts.iter();
        consts
            .map(|tensor| (told_type(&tensor.aval()), Memory::new(tensor.clone())))
            .collect()
    }

    /// The mistakes that the program has, and what it has that means nothing here.
    fn check(&self, py: Python<'_>) -> (Vec<String>, Vec<String>) {
        py.detach(|| {
            let errors = check(&self.0).err().unwrap_or_default();
            let told = notes(&self.0);
            (
                errors.iter().map(ToString::to_string).collect(),
                told.iter().map(ToString::to_string).collect(),
            )
        })
    }

    /// Compiles the program; `profile` has it take the time of its steps, and it may write to the arguments at the positions `donate`.
    #[pyo3(signature = (profile=false, donate=Vec::new()))]
    fn compile(&self, py: Python<'_>, profile: bool, donate: Vec<usize>) -> PyResult<Code> {
        let options = CompileOptions {
            profile,
            donate,
            // As JAX.
            flush_subnormals: true,
            ..CompileOptions::default()
        };
        let compiled = py.detach(|| compile(&self.0, &options));
        let executable = compiled.map_err(|error| raised(py, &error))?;
        Ok(Code {
            executable: Arc::new(executable),
            open: has_open_loop(&self.0.jaxpr),
        })
    }

    /// Runs the program by the reference interpreter.
    fn eval(&self, py: Python<'_>, args: Vec<Bound<'_, PyAny>>) -> PyResult<Vec<Memory>> {
        let args = tensors(py, &args)?;
        let results = py.detach(|| eval(&self.0, &args));
        Ok(memories(results.map_err(|error| raised(py, &error))?))
    }

    /// The text of a stage of compiling.
    fn lower(&self, py: Python<'_>, stage: &str) -> PyResult<String> {
        let text = py.detach(|| self.stage(stage));
        text.map_err(|error| raised(py, &error))
    }

    /// The program after a transformation.
    #[pyo3(signature = (name, *, argnums=vec![0], outs=vec![0], in_axes=None, out_axes=0, axis_size=None, axis_name=None))]
    #[allow(clippy::too_many_arguments)]
    fn transform(
        &self,
        py: Python<'_>,
        name: &str,
        argnums: Vec<usize>,
        outs: Vec<usize>,
        in_axes: Option<Vec<Option<i64>>>,
        out_axes: i64,
        axis_size: Option<usize>,
        axis_name: Option<String>,
    ) -> PyResult<Text> {
        let step = match name {
            "jvp" => Ok(Step::Jvp {
                argnums,
                tangent_outs: outs,
            }),
            "linearize" => Ok(Step::Linearize {
                argnums,
                tangent_outs: outs,
            }),
            "vjp" => Ok(Step::Vjp {
                argnums,
                cotangent_outs: outs,
            }),
            "grad" => Ok(Step::Grad { argnums }),
            "value_and_grad" => Ok(Step::ValueAndGrad { argnums }),
            "jacfwd" => Ok(Step::Jacfwd { argnums }),
            "jacrev" => Ok(Step::Jacrev { argnums }),
            "hessian" => Ok(Step::Hessian { argnums }),
            "jit" => Ok(Step::Jit {
                name: Name::new(axis_name.as_deref().unwrap_or("f")),
            }),
            "checkpoint" => Ok(Step::Checkpoint),
            "vmap" => self.vmap(in_axes, out_axes, axis_size, axis_name),
            other => Err(Error::parameter(format!(
                "there is no transformation `{other}`"
            ))),
        };
        let transformed = step.and_then(|step| py.detach(|| apply(&self.0, &step)));
        transformed.map(Text).map_err(|error| raised(py, &error))
    }

    /// The outermost equations as a graph: of each node its kind, its lines, and the nodes it is computed from.
    fn graph(&self) -> Vec<(&'static str, Vec<String>, Vec<usize>)> {
        let jaxpr = &self.0.jaxpr;
        let mut made = std::collections::HashMap::new();
        let mut nodes = Vec::new();
        let inputs = jaxpr.constvars.iter().map(|&var| ("constant", var));
        let inputs = inputs.chain(jaxpr.invars.iter().map(|&var| ("argument", var)));
        for (kind, var) in inputs {
            made.insert(var, nodes.len());
            let lines = vec![kind.to_owned(), jaxpr.aval_of(var).to_string()];
            nodes.push(("input", lines, Vec::new()));
        }
        for eqn in &jaxpr.eqns {
            let from = eqn.inputs.iter().filter_map(|atom| atom.var());
            let from = from.filter_map(|var| made.get(&var).copied()).collect();
            let types = eqn
                .outputs
                .iter()
                .map(|&var| jaxpr.aval_of(var).to_string());
            let lines = vec![
                eqn.prim.name().to_owned(),
                types.collect::<Vec<_>>().join(" "),
            ];
            made.extend(eqn.outputs.iter().map(|&var| (var, nodes.len())));
            nodes.push(("equation", lines, from));
        }
        for (number, atom) in jaxpr.outvars.iter().enumerate() {
            let (line, from) = match atom {
                Atom::Var(var) => (format!("result {number}"), made.get(var).copied()),
                Atom::Lit(literal) => (format!("result {number} = {}", literal.value), None),
            };
            nodes.push(("output", vec![line], from.into_iter().collect()));
        }
        nodes
    }
}

impl Text {
    fn stage(&self, stage: &str) -> Result<String> {
        let zeros = || -> Result<ClosedJaxpr> {
            let mut closed = self.0.clone();
            if closed.consts.is_empty() {
                let avals = closed.jaxpr.const_avals();
                let zeros = avals
                    .iter()
                    .map(|aval| Tensor::zeros(&aval.shape, aval.dtype));
                closed.consts = zeros.collect::<Result<_>>()?;
            }
            Ok(closed)
        };
        let code = |keep_text| {
            let options = CompileOptions {
                keep_text,
                ..CompileOptions::default()
            };
            compile(&zeros()?, &options)
        };
        let stage = match stage {
            "jaxpr" => return Ok(format!("{}\n", self.0)),
            "clif" => return Ok(code(true)?.clif_text().to_owned()),
            "asm" => return Ok(code(false)?.asm_text()),
            "simplified" => Lowered::Simplified,
            "graph" => Lowered::Graph,
            "plan" => Lowered::Plan,
            "loops" => Lowered::Loops,
            "lanes" => Lowered::Lanes,
            other => {
                return Err(
                    Error::parameter(format!("lower: there is no stage `{other}`")).note(
                        "stages are jaxpr, simplified, graph, plan, loops, lanes, clif and asm",
                    ),
                );
            }
        };
        lowered(&zeros()?, stage)
    }

    fn vmap(
        &self,
        in_axes: Option<Vec<Option<i64>>>,
        out_axes: i64,
        axis_size: Option<usize>,
        axis_name: Option<String>,
    ) -> Result<Step> {
        let axis_size = axis_size
            .ok_or_else(|| Error::parameter("vmap needs axis_size, the number of lanes"))?;
        Ok(Step::Vmap {
            in_axes: in_axes.unwrap_or_else(|| vec![Some(0); self.0.jaxpr.invars.len()]),
            out_axes,
            axis_size,
            axis_name: axis_name.as_deref().map(Name::new),
        })
    }
}

fn told_shape(aval: &Aval) -> (&'static str, Vec<usize>) {
    (aval.dtype.numpy_name(), aval.shape.to_vec())
}

fn told_type(aval: &Aval) -> Told {
    (aval.dtype.numpy_name(), aval.shape.to_vec(), aval.weak_type)
}

fn tensors(py: Python<'_>, arrays: &[Bound<'_, PyAny>]) -> PyResult<Vec<Tensor>> {
    let jax = Jax::get(py)?;
    arrays.iter().map(|array| tensor(jax, array)).collect()
}

fn memories(tensors: Vec<Tensor>) -> Vec<Memory> {
    tensors.into_iter().map(Memory::new).collect()
}

/// Gives a jaxpr and those inside their captured arrays.
fn give(closed: &mut ClosedJaxpr, constants: &mut std::vec::IntoIter<Tensor>) -> Result<()> {
    let count = closed.jaxpr.constvars.len();
    closed.consts = constants.take(count).collect();
    closed.check_consts()?;
    if constants.len() == 0 {
        return Ok(());
    }
    let mut result = Ok(());
    for eqn in &mut Arc::make_mut(&mut closed.jaxpr).eqns {
        eqn.prim.visit_mut(&mut |inner| {
            if result.is_ok() {
                result = give(inner, constants);
            }
        });
    }
    result
}

/// Whether a jaxpr has a `while` anywhere.
fn has_open_loop(jaxpr: &Jaxpr) -> bool {
    jaxpr.eqns.iter().any(|eqn| {
        let mut open = eqn.prim.name() == "while";
        eqn.prim
            .visit(&mut |inner| open = open || has_open_loop(&inner.jaxpr));
        open
    })
}
