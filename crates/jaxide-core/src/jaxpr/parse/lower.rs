//! From the syntax tree to jaxprs: names get variables, definitions get objects, primitives get their parameters.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::cursor::DEEPEST_JAXPR;
use super::diagnostic::{Lines, Mistake};
use super::identity::{Fingerprints, Known, names_used};
use super::legacy;
use super::spelling::nearest;
use super::syntax::{
    Binder, EqnNode, IndexNode, JaxprNode, JaxprRef, OperandNode, OperandValue, ParamNode, Program,
    RefNode, RightSide, Span, ValueNode, Word,
};
use crate::dtype::DType;
use crate::error::Source;
use crate::jaxpr::{Atom, Atoms, Aval, AvalKind, ClosedJaxpr, Eqn, Jaxpr, Var, Vars};
use crate::prims::{
    ParamValue, Prim, PrimInfo, PyValue, RefAddUpdate, RefGet, RefIndex, RefIndexer, RefIndices,
    RefSwap, indexed_shape,
};

/// What lowering needs besides the program: where lines are, and where mistakes go.
pub(super) struct Context<'c, 'a> {
    pub(super) lines: &'c Lines<'a>,
    pub(super) mistakes: Vec<Box<Mistake>>,
    /// How deep the jaxprs that were made are nested, by identity.
    heights: HashMap<*const Jaxpr, usize>,
    fingerprints: Fingerprints,
    /// Definitions of the programs around the `repr` that is being read.
    outside: Vec<Known>,
}

impl<'c, 'a> Context<'c, 'a> {
    pub(super) fn new(lines: &'c Lines<'a>, mistakes: Vec<Box<Mistake>>) -> Self {
        Context {
            lines,
            mistakes,
            heights: HashMap::new(),
            fingerprints: Fingerprints::default(),
            outside: Vec::new(),
        }
    }

    /// A finished jaxpr as an object; `span` is where to complain when it is nested too deep.
    fn close(&mut self, jaxpr: Jaxpr, span: Span) -> Option<ClosedJaxpr> {
        let mut height = 0;
        for eqn in &jaxpr.eqns {
            eqn.prim.visit(&mut |sub| {
                let below = self
                    .heights
                    .get(&Arc::as_ptr(&sub.jaxpr))
                    .copied()
                    .unwrap_or(0);
                height = height.max(below + 1);
            });
        }
        if height > DEEPEST_JAXPR {
            self.too_deep(span);
            return None;
        }
        let closed = ClosedJaxpr::new(jaxpr, Vec::new());
        self.heights.insert(Arc::as_ptr(&closed.jaxpr), height);
        self.fingerprints.forget(&closed.jaxpr);
        if self.outside.iter().any(|known| !known.is_empty()) {
            let fingerprint = self.fingerprints.of(&closed.jaxpr);
            let mut around = self.outside.iter_mut().rev();
            if let Some(same) = around.find_map(|known| known.find(fingerprint, &closed)) {
                return Some(same);
            }
        }
        Some(closed)
    }

    fn too_deep(&mut self, span: Span) {
        self.mistakes.push(Mistake::new(
            span,
            format!("jaxprs are nested more than {DEEPEST_JAXPR} deep"),
        ));
    }
}

/// The program's main jaxpr. Definitions become one object each, however often they are used.
///
/// `None` after a mistake, which is then among those of `context`.
pub(super) fn program(context: &mut Context<'_, '_>, program: &Program<'_>) -> Option<ClosedJaxpr> {
    program_at(context, program, 0)
}

fn program_at(
    context: &mut Context<'_, '_>,
    program: &Program<'_>,
    depth: usize,
) -> Option<ClosedJaxpr> {
    let mut names: HashMap<&str, usize> = HashMap::new();
    for (index, definition) in program.definitions.iter().enumerate() {
        let word = definition.name;
        if names.insert(word.text, index).is_some() {
            context.mistakes.push(Mistake::new(
                word.span(),
                format!("`{}` is defined twice", word.text),
            ));
        }
    }
    let mut lower = Lower {
        context,
        program,
        names,
        definitions: program.definitions.iter().map(|_| State::Unread).collect(),
        known: Known::default(),
        used: names_used(program),
        depth,
    };
    let main = lower.jaxpr(&program.main, None, true);
    // Mistakes in definitions that nothing uses are mistakes too.
    lower.read_definitions();
    let start = program.main.span.start;
    context.close(main, start..start + 1)
}

enum State {
    Unread,
    Reading,
    Read(ClosedJaxpr),
    /// A mistake that has been reported.
    Failed,
}

struct Lower<'l, 'c, 'a, 'p> {
    context: &'l mut Context<'c, 'a>,
    program: &'p Program<'p>,
    names: HashMap<&'p str, usize>,
    definitions: Vec<State>,
    /// Those that have been read, by what they say.
    known: Known,
    /// Names of jaxprs that stand in the program.
    used: HashSet<&'p str>,
    depth: usize,
}

/// The variables of the jaxpr that is being lowered.
#[derive(Default)]
struct Scope<'p> {
    jaxpr: Jaxpr,
    vars: HashMap<&'p str, Var>,
    /// Results called `_`, and whether each is read.
    unnamed: Vec<(Var, bool)>,
}

impl<'p> Lower<'_, '_, '_, 'p> {
    fn report(&mut self, mistake: Box<Mistake>) {
        self.context.mistakes.push(mistake);
    }

    /// The jaxpr; `results` are the types that its results have where that is known. In the outermost one `_` needs no
    /// mark: there it is what nothing uses.
    fn jaxpr(&mut self, node: &JaxprNode<'p>, results: Option<&[Aval]>, outermost: bool) -> Jaxpr {
        let mut scope = Scope::default();
        let constvars = self.bind(&mut scope, &node.constvars);
        scope.jaxpr.constvars = constvars.into_vec();
        let invars = self.bind(&mut scope, &node.invars);
        scope.jaxpr.invars = invars.into_vec();
        for eqn in &node.eqns {
            if let Some(eqn) = self.equation(&mut scope, eqn) {
                scope.jaxpr.eqns.push(eqn);
            }
        }
        scope.jaxpr.outvars = self.results(&mut scope, &node.results, results);
        if !outermost {
            for (var, read) in &scope.unnamed {
                scope.jaxpr.set_dropped(*var, !read);
            }
        }
        scope.jaxpr
    }

    fn bind(&mut self, scope: &mut Scope<'p>, binders: &[Binder<'p>]) -> Vars {
        let mut vars = Vars::new();
        for binder in binders {
            // A malformed type has been reported; any type will do.
            let aval = binder
                .aval
                .clone()
                .unwrap_or_else(|| Aval::scalar(DType::F32));
            let var = scope.jaxpr.new_var(aval);
            vars.push(var);
            let name = binder.name;
            if name.text == "_" {
                scope.unnamed.push((var, false));
            } else if scope.vars.insert(name.text, var).is_some() {
                self.report(Mistake::new(
                    name.span(),
                    format!("the variable `{}` is bound twice", name.text),
                ));
            }
        }
        vars
    }

    fn operand(&mut self, scope: &mut Scope<'p>, node: &OperandNode<'p>) -> Option<Atom> {
        let name = match node.value {
            OperandValue::Lit(literal) => return Some(Atom::Lit(literal)),
            OperandValue::Var(name) => name,
        };
        if name == "_" {
            // Where several are in scope the text does not tell which is meant.
            if let Some((var, read)) = scope.unnamed.last_mut() {
                *read = true;
                return Some(Atom::Var(*var));
            }
        } else if let Some(&var) = scope.vars.get(name) {
            return Some(Atom::Var(var));
        }
        self.report(
            Mistake::new(
                node.span.clone(),
                format!("the variable `{name}` is not bound"),
            )
            .label("not found among the arguments and the results of the equations above"),
        );
        None
    }

    fn operands(&mut self, scope: &mut Scope<'p>, nodes: &[OperandNode<'p>]) -> Option<Atoms> {
        let atoms: Vec<Option<Atom>> = nodes.iter().map(|node| self.operand(scope, node)).collect();
        atoms.into_iter().collect()
    }

    /// The results. Each `_` is another one where there are as many as results called so; of those, one that has the
    /// expected type.
    fn results(
        &mut self,
        scope: &mut Scope<'p>,
        nodes: &[OperandNode<'p>],
        expected: Option<&[Aval]>,
    ) -> Vec<Atom> {
        let is_unnamed = |node: &OperandNode<'_>| matches!(node.value, OperandValue::Var("_"));
        let count = nodes.iter().filter(|node| is_unnamed(node)).count();
        if count < 2 || count != scope.unnamed.len() {
            let atoms = nodes.iter().map(|node| self.operand(scope, node));
            return atoms.collect::<Vec<_>>().into_iter().flatten().collect();
        }
        let mut left = scope.unnamed.clone();
        for (_, read) in &mut scope.unnamed {
            *read = true;
        }
        let mut atoms = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            if !is_unnamed(node) {
                atoms.extend(self.operand(scope, node));
                continue;
            }
            let wanted = expected.and_then(|avals| avals.get(index));
            let fits = |&(var, _): &(Var, bool)| {
                wanted.is_none_or(|aval| aval.matches(scope.jaxpr.aval_of(var)))
            };
            let place = left.iter().position(fits).unwrap_or(0);
            atoms.push(Atom::Var(left.remove(place).0));
        }
        atoms
    }

    fn equation(&mut self, scope: &mut Scope<'p>, node: &EqnNode<'p>) -> Option<Eqn> {
        let lowered = node.right.as_ref().and_then(|right| match right {
            RightSide::Apply {
                prim,
                params,
                operands,
            } => self.application(scope, node, *prim, params, operands),
            RightSide::Get(reference) => {
                let (inputs, indices, _) = self.reference(scope, reference, None)?;
                let outputs = self.bind(scope, &node.outputs);
                Some((RefGet { indices }.into(), inputs, outputs))
            }
            RightSide::Swap {
                written: reference,
                value,
                ..
            } => {
                let (inputs, indices, result) = self.reference(scope, reference, Some(value))?;
                let outputs = if node.outputs.is_empty() {
                    let var = scope.jaxpr.new_var(result);
                    Vars::from_slice(&[var])
                } else {
                    self.bind(scope, &node.outputs)
                };
                Some((RefSwap { indices }.into(), inputs, outputs))
            }
            RightSide::AddUpdate(reference, value) => {
                let (inputs, indices, _) = self.reference(scope, reference, Some(value))?;
                Some((RefAddUpdate { indices }.into(), inputs, Vars::new()))
            }
        });
        let Some((prim, inputs, outputs)) = lowered else {
            // What it would have bound is known all the same, so that one mistake does not cause others.
            for binder in &node.outputs {
                if binder.name.text == "_" || !scope.vars.contains_key(binder.name.text) {
                    self.bind(scope, std::slice::from_ref(binder));
                }
            }
            return None;
        };
        let (line, column) = self.context.lines.position(node.start);
        Some(Eqn {
            prim,
            inputs,
            outputs,
            source: Source::Text { line, column },
        })
    }

    fn application(
        &mut self,
        scope: &mut Scope<'p>,
        node: &EqnNode<'p>,
        word: Word<'p>,
        params: &[ParamNode<'p>],
        operands: &[OperandNode<'p>],
    ) -> Option<(Prim, Atoms, Vars)> {
        let inputs = self.operands(scope, operands);
        let results: Vec<Aval> = node
            .outputs
            .iter()
            .map(|binder| {
                binder
                    .aval
                    .clone()
                    .unwrap_or_else(|| Aval::scalar(DType::F32))
            })
            .collect();
        let prim = self.prim(word, params, operands.len(), &results);
        let inputs = inputs?;
        let mut prim = prim?;
        let outputs = self.bind(scope, &node.outputs);
        let avals: Vec<Aval> = inputs.iter().map(|&atom| scope.jaxpr.aval(atom)).collect();
        prim.complete(&avals, &results);
        Some((prim, inputs, outputs))
    }

    /// The primitive with its parameters.
    fn prim(
        &mut self,
        word: Word<'p>,
        params: &[ParamNode<'p>],
        operands: usize,
        results: &[Aval],
    ) -> Option<Prim> {
        let Some(info) = legacy::info(word.text) else {
            let mistake = Mistake::new(word.span(), format!("unknown primitive `{}`", word.text));
            let known = Prim::ALL.iter().map(|info| info.name);
            self.report(match nearest(word.text, known) {
                Some(near) => mistake.label(format!("did you mean `{near}`?")),
                None => mistake.label("not a primitive"),
            });
            return None;
        };
        let mut values = Vec::new();
        let mut failed = false;
        for param in params {
            let key = legacy::current_key(info, param.key.text);
            let Some(kind) = info
                .params
                .iter()
                .find(|known| known.name == key)
                .map(|known| known.kind)
            else {
                continue;
            };
            if values.iter().any(|(name, _)| name == key) {
                let word = param.key;
                self.report(Mistake::new(
                    word.span(),
                    format!("the parameter `{}` is given twice", word.text),
                ));
                failed = true;
                continue;
            }
            match self.value(param, kind, info, results) {
                Some(value) => values.push((key.to_owned(), value)),
                None => failed = true,
            }
        }
        if failed {
            return None;
        }
        if let Err(message) = legacy::modernise(info, &mut values, operands, results.len()) {
            self.report(Mistake::new(
                word.span(),
                format!("{}: {message}", info.name),
            ));
            return None;
        }
        match Prim::read(info.name, &values)? {
            Ok(prim) => Some(prim),
            Err(error) => {
                let span = params
                    .iter()
                    .find(|param| param.key.text == error.name)
                    .map(|param| param.span.clone());
                let mistake = Mistake::new(
                    span.unwrap_or(word.span()),
                    format!("{}: {error}", info.name),
                );
                self.report(mistake.label(error.message));
                None
            }
        }
    }

    fn value(
        &mut self,
        param: &ParamNode<'p>,
        kind: &str,
        info: &PrimInfo,
        results: &[Aval],
    ) -> Option<ParamValue> {
        let is_jaxpr = kind == "jaxpr" || kind == "jaxpr or None" || kind == "(jaxpr ...)";
        match &param.value {
            ValueNode::Py(PyValue::Word(name) | PyValue::Opaque(name)) if is_jaxpr => {
                self.named(name, param.span.clone()).map(ParamValue::Jaxpr)
            }
            ValueNode::Py(value) => Some(ParamValue::Py(value.clone())),
            ValueNode::Jaxpr(node) => {
                let results = (info.name == "jit").then_some(results);
                self.nested(node, results).map(ParamValue::Jaxpr)
            }
            ValueNode::Jaxprs(refs) => {
                let jaxprs: Vec<Option<ClosedJaxpr>> = refs
                    .iter()
                    .map(|jaxpr| match jaxpr {
                        JaxprRef::Inline(node) => self.nested(node, None),
                        JaxprRef::Name(word) => self.named(word.text, word.span()),
                    })
                    .collect();
                jaxprs
                    .into_iter()
                    .collect::<Option<_>>()
                    .map(ParamValue::Jaxprs)
            }
            ValueNode::Programs { name, fields } => {
                let depth = self.depth + 1;
                if depth >= DEEPEST_JAXPR {
                    self.context.too_deep(param.span.clone());
                    return None;
                }
                self.read_definitions();
                self.context.outside.push(std::mem::take(&mut self.known));
                let fields: Vec<_> = fields
                    .iter()
                    .map(|(key, program)| {
                        let jaxpr = match program {
                            Some(program) => Some(program_at(self.context, program, depth)?),
                            None => None,
                        };
                        Some(((*key).to_owned(), jaxpr))
                    })
                    .collect();
                self.known = self.context.outside.pop().unwrap_or_default();
                let fields = fields.into_iter().collect::<Option<_>>()?;
                Some(ParamValue::NamedJaxprs {
                    name: (*name).to_owned(),
                    fields,
                })
            }
        }
    }

    fn nested(&mut self, node: &JaxprNode<'p>, results: Option<&[Aval]>) -> Option<ClosedJaxpr> {
        let start = node.span.start..node.span.start + 1;
        if self.depth == DEEPEST_JAXPR {
            self.context.too_deep(start);
            return None;
        }
        self.depth += 1;
        let jaxpr = self.jaxpr(node, results, false);
        self.depth -= 1;
        self.context.close(jaxpr, start)
    }

    /// The jaxpr that a definition gives a name.
    fn named(&mut self, name: &str, span: Span) -> Option<ClosedJaxpr> {
        if let Some(&index) = self.names.get(name) {
            return self.definition(index, span);
        }
        let mistake = Mistake::new(span, format!("no jaxpr `{name}` is defined"));
        let known = self.names.keys().copied();
        let mistake = match nearest(name, known) {
            Some(near) => mistake.label(format!("did you mean `{near}`?")),
            None => mistake.label(format!("there is no `let {name} = ...`")),
        };
        self.report(mistake);
        None
    }

    /// Reads the definitions that have not been used.
    fn read_definitions(&mut self) {
        for index in 0..self.definitions.len() {
            if matches!(self.definitions[index], State::Unread) {
                self.definition(index, self.program.definitions[index].name.span());
            }
        }
    }

    fn definition(&mut self, index: usize, span: Span) -> Option<ClosedJaxpr> {
        match &self.definitions[index] {
            State::Read(jaxpr) => return Some(jaxpr.clone()),
            State::Failed => return None,
            State::Reading => {
                let name = self.program.definitions[index].name.text;
                self.report(Mistake::new(
                    span,
                    format!("the definition `{name}` uses itself"),
                ));
                return None;
            }
            State::Unread => {}
        }
        self.definitions[index] = State::Reading;
        let before = self.context.mistakes.len();
        let program = self.program;
        let jaxpr = self.nested(&program.definitions[index].jaxpr, None);
        let failed = self.context.mistakes.len() > before;
        self.definitions[index] = match &jaxpr {
            Some(jaxpr) if !failed => {
                let fingerprint = self.context.fingerprints.of(&jaxpr.jaxpr);
                let used = self.used.contains(program.definitions[index].name.text);
                self.known.insert(fingerprint, jaxpr.clone(), used);
                State::Read(jaxpr.clone())
            }
            _ => State::Failed,
        };
        jaxpr
    }

    /// Operands of a reference (the reference, the value written, index operands), its indices, and the type of what
    /// they give.
    fn reference(
        &mut self,
        scope: &mut Scope<'p>,
        node: &RefNode<'p>,
        value: Option<&OperandNode<'p>>,
    ) -> Option<(Atoms, RefIndices, Aval)> {
        let name = OperandNode {
            span: node.name.span(),
            value: OperandValue::Var(node.name.text),
        };
        let reference = self.operand(scope, &name)?;
        let mut inputs = Atoms::from_slice(&[reference]);
        if let Some(value) = value {
            inputs.push(self.operand(scope, value)?);
        }
        let aval = scope.jaxpr.aval(reference);
        if aval.kind != AvalKind::Ref {
            self.report(
                Mistake::new(
                    name.span,
                    format!("`{}` is indexed and is not a reference", node.name.text),
                )
                .label(format!("its type is {aval}")),
            );
            return None;
        }
        let mut shape = aval.shape.clone();
        let mut indices = RefIndices::new();
        for axes in &node.indexers {
            if axes.len() != shape.len() {
                self.report(Mistake::new(
                    node.name.span(),
                    format!(
                        "{} indices are given for the {} axes of `{}`",
                        axes.len(),
                        shape.len(),
                        node.name.text
                    ),
                ));
                return None;
            }
            let mut indexer = RefIndexer::new();
            let mut avals = Vec::new();
            for (axis, &dim) in axes.iter().zip(&shape) {
                indexer.push(match axis {
                    IndexNode::At(operand) => {
                        let atom = self.operand(scope, operand)?;
                        inputs.push(atom);
                        avals.push(scope.jaxpr.aval(atom));
                        RefIndex::Operand
                    }
                    IndexNode::DynamicSlice {
                        start,
                        size,
                        stride,
                        ..
                    } => {
                        let atom = self.operand(scope, start)?;
                        inputs.push(atom);
                        avals.push(scope.jaxpr.aval(atom));
                        RefIndex::DynamicSlice {
                            size: *size,
                            stride: *stride,
                        }
                    }
                    IndexNode::Slice { start, end, stride } => {
                        let (start, end) = (start.unwrap_or(0), end.unwrap_or(dim));
                        let Some(size) = end.checked_sub(start) else {
                            let span = node.name.span();
                            self.report(Mistake::new(
                                span,
                                format!("the slice {start}:{end} ends before it starts"),
                            ));
                            return None;
                        };
                        RefIndex::Slice {
                            start,
                            size,
                            stride: *stride,
                        }
                    }
                });
            }
            shape = indexed_shape(&shape, &indexer, &avals);
            indices.push(indexer);
        }
        let result = Aval {
            kind: AvalKind::Array,
            ..aval.with_shape(&shape)
        };
        Some((inputs, indices, result))
    }
}
