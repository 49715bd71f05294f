//! Whole programs.

use std::sync::Arc;

use jaxide_core::{ClosedJaxpr, ErrorKind, Jaxpr, Result, Tensor};
use jaxide_cpu::{CompileOptions, Executable, compile};

use super::cache::{Entry, TABLE, describe_program};
use super::cancel;
use super::interpreter::interpreting;
use super::key::{Constant, Key, ProgramKey};
use super::nans::{check_program, checking};

/// A program with its place in the cache and the constants that are arguments of its code.
#[derive(Clone)]
pub(crate) struct Native {
    jaxpr: ClosedJaxpr,
    constants: Vec<Constant>,
    options: CompileOptions,
    entry: Arc<Entry>,
}

impl Native {
    /// The program; it is compiled when it is needed first.
    pub(crate) fn new(jaxpr: &ClosedJaxpr, options: &CompileOptions) -> Self {
        let constants = Constant::all(jaxpr);
        let key = ProgramKey {
            jaxpr: &jaxpr.jaxpr,
            constants: &constants,
            options,
        };
        let entry = TABLE.find(&key).unwrap_or_else(|| {
            let key = Key::Program {
                jaxpr: jaxpr.jaxpr.clone(),
                constants: constants.clone(),
                options: options.clone(),
            };
            let outs = &jaxpr.jaxpr.outvars;
            let weak = outs.iter().map(|&atom| jaxpr.jaxpr.aval(atom).weak_type);
            TABLE.insert(key, Entry::new(weak.collect()))
        });
        Native {
            jaxpr: jaxpr.clone(),
            constants,
            options: options.clone(),
            entry,
        }
    }

    /// The compiled code. Constants that are its arguments come before the program's own.
    ///
    /// # Errors
    /// When the program cannot be compiled.
    pub(crate) fn executable(&self) -> Result<&Executable> {
        let what = || describe_program(&self.jaxpr.jaxpr);
        let code = self.entry.code(what, || {
            let (jaxpr, options) = self.parts();
            compile(&jaxpr, &options)
        });
        code.as_ref().map_err(Clone::clone)
    }

    /// The same code with its text, compiled anew.
    ///
    /// # Errors
    /// When the program cannot be compiled.
    pub(crate) fn with_text(&self) -> Result<Executable> {
        let (jaxpr, mut options) = self.parts();
        options.keep_text = true;
        compile(&jaxpr, &options)
    }

    /// What is compiled: constants that the code does not know are arguments in front.
    fn parts(&self) -> (ClosedJaxpr, CompileOptions) {
        let (jaxpr, moved) = with_arguments(&self.jaxpr, &self.constants);
        let mut options = self.options.clone();
        options
            .donate
            .iter_mut()
            .for_each(|position| *position += moved);
        (jaxpr, options)
    }

    /// Which results are weakly typed.
    pub(crate) fn weak(&self) -> &[bool] {
        &self.entry.weak
    }

    /// Runs a program to which nothing is donated.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) fn run_on(&self, args: &[Tensor]) -> Result<Vec<Tensor>> {
        let results = self.compute_on(args)?;
        if checking() {
            check_program(&self.jaxpr, || args.to_vec(), &results)?;
        }
        Ok(results)
    }

    /// Runs the program; arguments that are donated and shared by nothing else are overwritten.
    ///
    /// # Errors
    /// When the program cannot be compiled, the arguments do not fit, or memory runs out.
    pub(crate) fn run(&self, args: Vec<Tensor>) -> Result<Vec<Tensor>> {
        if checking() {
            // Donated arguments are overwritten, and may be needed again.
            let kept = args.clone();
            let results = self.compute(args)?;
            check_program(&self.jaxpr, || kept, &results)?;
            return Ok(results);
        }
        self.compute(args)
    }

    fn compute(&self, args: Vec<Tensor>) -> Result<Vec<Tensor>> {
        if self.options.donate.is_empty() || interpreting() {
            return self.compute_on(&args);
        }
        let executable = self.executable()?;
        let mut all = self.moved();
        let args = if all.is_empty() {
            args
        } else {
            all.extend(args);
            all
        };
        cancel::run_owned(executable, args)
    }

    /// [`compute`](Self::compute) without taking over memory.
    fn compute_on(&self, args: &[Tensor]) -> Result<Vec<Tensor>> {
        if interpreting() {
            return cancel::interpret(&self.jaxpr, args);
        }
        let executable = self.executable()?;
        let mut all = self.moved();
        if all.is_empty() {
            return cancel::run(executable, args);
        }
        all.extend_from_slice(args);
        cancel::run(executable, &all)
    }

    /// The constants that are arguments of the code.
    fn moved(&self) -> Vec<Tensor> {
        let pairs = self.jaxpr.consts.iter().zip(&self.constants);
        let moved = pairs.filter(|(_, constant)| **constant == Constant::Argument);
        moved.map(|(tensor, _)| tensor.clone()).collect()
    }
}

/// The program with the constants that its code does not know as arguments in front, and how many they are.
fn with_arguments(closed: &ClosedJaxpr, constants: &[Constant]) -> (ClosedJaxpr, usize) {
    if !constants.contains(&Constant::Argument) {
        return (closed.clone(), 0);
    }
    let mut jaxpr = Jaxpr::clone(&closed.jaxpr);
    let constvars = std::mem::take(&mut jaxpr.constvars);
    let mut invars = Vec::new();
    let mut consts = Vec::new();
    for ((var, tensor), constant) in constvars.into_iter().zip(&closed.consts).zip(constants) {
        match constant {
            Constant::Argument => invars.push(var),
            Constant::Uniform(_) | Constant::Array(_) => {
                jaxpr.constvars.push(var);
                consts.push(tensor.clone());
            }
        }
    }
    let moved = invars.len();
    invars.append(&mut jaxpr.invars);
    jaxpr.invars = invars;
    (ClosedJaxpr::new(jaxpr, consts), moved)
}

/// Runs a recorded program: natively, or by the interpreter what has no native form.
///
/// # Errors
/// When the arguments do not fit, or memory runs out.
pub(crate) fn run(jaxpr: &ClosedJaxpr, args: Vec<Tensor>) -> Result<Vec<Tensor>> {
    if jaxpr.jaxpr.eqns.is_empty() {
        return cancel::interpret(jaxpr, &args);
    }
    let native = Native::new(jaxpr, &CompileOptions::default());
    match native.executable() {
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            let results = cancel::interpret(jaxpr, &args)?;
            check_program(jaxpr, || args, &results)?;
            Ok(results)
        }
        Err(error) => Err(error),
        Ok(_) => native.run(args),
    }
}
