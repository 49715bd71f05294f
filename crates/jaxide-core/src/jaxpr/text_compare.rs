//! Comparing texts of jaxprs: what is an accident of Python's `repr` does not count, and names need not.

use std::collections::HashMap;
use std::ops::Range;

use super::accident::{plain_addresses, plain_functions, plain_integers};
use super::parse::read;
use super::parse::syntax::{
    Binder, IndexNode, JaxprNode, JaxprRef, OperandNode, ParamNode, Program, RefNode, RightSide,
    ValueNode,
};
use crate::prims::{PyType, ScanInputs, ScanOutputs};

/// The text without accidents of Python's `repr`: `np.int64(3)` is `3`, `ft_in` and `ft_out` of `scan` are plain tuples
/// of `None`, and values that hold an address are `<NAME>`. Everything else stays, layout included.
///
/// ```
/// use jaxide_core::jaxpr::text_compare::normalise;
/// assert_eq!(normalise("axes=(np.int64(1),)"), "axes=(1,)");
/// assert_eq!(normalise("policy=<function dots_saveable at 0xXXXXXXXXXXXX>"), "policy=<dots_saveable>");
/// ```
pub fn normalise(text: &str) -> String {
    let Some(program) = read(text) else {
        return plain(text);
    };
    let mut walk = Walk::default();
    walk.program(&program);
    plain(&replace(text, walk.counts))
}

/// Whether two texts say the same up to names of variables: both are normalised, variables are renamed in the order in
/// which they appear, and line breaks do not count. Texts that cannot be read compare with their names.
///
/// ```
/// use jaxide_core::jaxpr::text_compare::same_up_to_names;
/// let a = "{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }";
/// let b = "{ lambda ; x:f32[]. let\n    y:f32[] = sin x\n  in (y,) }";
/// assert!(same_up_to_names(a, b));
/// assert!(!same_up_to_names(a, &b.replace("sin", "cos")));
/// ```
pub fn same_up_to_names(a: &str, b: &str) -> bool {
    without_layout(&renamed(a)) == without_layout(&renamed(b))
}

/// The normalised text on one line, with variables renamed in the order in which they appear.
fn renamed(text: &str) -> String {
    let Some(program) = read(text) else {
        return plain(text);
    };
    let mut walk = Walk::default();
    walk.program(&program);
    let mut changes = walk.counts;
    changes.extend(walk.names);
    plain(&replace(text, changes))
}

/// The text on one line: runs of white space are one blank, brackets have none inside, equations are not separated by
/// `;`. So a line that was broken equals one that was not.
pub fn without_layout(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let blank = c.is_whitespace() || c == ';';
        if blank {
            if !out.ends_with([' ', '[', '(']) {
                out.push(' ');
            }
        } else {
            if matches!(c, ']' | ')') && out.ends_with(' ') {
                out.pop();
            }
            out.push(c);
        }
    }
    out.trim().to_owned()
}

fn plain(text: &str) -> String {
    plain_addresses(&plain_functions(&plain_integers(text)))
}

/// The text with other words at some places, which do not overlap.
fn replace(text: &str, mut changes: Vec<(Range<usize>, String)>) -> String {
    changes.sort_by_key(|(span, _)| span.start);
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for (span, word) in changes {
        out.push_str(&text[copied..span.start]);
        out.push_str(&word);
        copied = span.end;
    }
    out + &text[copied..]
}

/// Walks a syntax tree in the order of the text.
#[derive(Default)]
struct Walk {
    /// Variables and their new names.
    names: Vec<(Range<usize>, String)>,
    /// `ft_in` and `ft_out` as plain tuples.
    counts: Vec<(Range<usize>, String)>,
    /// Variables seen so far.
    seen: usize,
}

type Names<'a> = HashMap<&'a str, usize>;

impl Walk {
    fn program<'a>(&mut self, program: &Program<'a>) {
        for definition in &program.definitions {
            self.jaxpr(&definition.jaxpr);
        }
        self.jaxpr(&program.main);
    }

    fn jaxpr<'a>(&mut self, jaxpr: &JaxprNode<'a>) {
        let mut names = Names::new();
        self.binders(&mut names, &jaxpr.constvars);
        self.binders(&mut names, &jaxpr.invars);
        for eqn in &jaxpr.eqns {
            self.binders(&mut names, &eqn.outputs);
            match &eqn.right {
                None => {}
                Some(RightSide::Apply {
                    prim,
                    params,
                    operands,
                }) => {
                    if prim.text == "scan" {
                        self.flat_trees(params, eqn.outputs.len());
                    }
                    params.iter().for_each(|param| self.param(param));
                    self.operands(&names, operands);
                }
                Some(RightSide::Get(reference)) => self.reference(&names, reference),
                Some(RightSide::Swap(swap)) => {
                    self.reference(&names, &swap.written);
                    let read = swap.read.iter();
                    read.for_each(|read| self.reference(&names, read));
                    self.operands(&names, std::slice::from_ref(&swap.value));
                }
                Some(RightSide::AddUpdate(reference, value)) => {
                    self.reference(&names, reference);
                    self.operands(&names, std::slice::from_ref(value));
                }
            }
        }
        self.operands(&names, &jaxpr.results);
    }

    fn binders<'a>(&mut self, names: &mut Names<'a>, binders: &[Binder<'a>]) {
        for binder in binders.iter().filter(|binder| binder.name.text != "_") {
            names.insert(binder.name.text, self.seen);
            self.seen += 1;
            self.rename(names, binder.name.span(), binder.name.text);
        }
    }

    fn rename(&mut self, names: &Names<'_>, span: Range<usize>, name: &str) {
        if let Some(number) = names.get(name) {
            self.names.push((span, format!("%{number}")));
        }
    }

    fn operands<'a>(&mut self, names: &Names<'a>, operands: &[OperandNode<'a>]) {
        for operand in operands {
            if let OperandNode::Var(name) = operand {
                self.rename(names, name.span(), name.text);
            }
        }
    }

    fn reference<'a>(&mut self, names: &Names<'a>, reference: &RefNode<'a>) {
        self.rename(names, reference.name.span(), reference.name.text);
        for index in reference.indexers.iter().flatten() {
            match index {
                IndexNode::At(operand) => self.operands(names, std::slice::from_ref(operand)),
                IndexNode::DynamicSlice { start, again, .. } => {
                    self.rename(names, start.span(), start.text);
                    self.rename(names, again.span(), again.text);
                }
                IndexNode::Slice { .. } => {}
            }
        }
    }

    /// The parameters of a `scan` with so many results: what `ft_out` says of carries and stacked results is how they
    /// came about, and the number of carries is that of `ft_in`.
    fn flat_trees(&mut self, params: &[ParamNode<'_>], results: usize) {
        let find = |key: &str| {
            params.iter().find_map(|param| match &param.value {
                ValueNode::Py(value) if param.key.text == key => Some((param.text.span(), value)),
                _ => None,
            })
        };
        let Some((span, value)) = find("ft_in") else {
            return;
        };
        let Ok(inputs) = ScanInputs::from_py(value) else {
            return;
        };
        self.counts.push((span, inputs.to_py().to_string()));
        if let (Some((span, _)), Some(ys)) = (find("ft_out"), results.checked_sub(inputs.carry)) {
            let outputs = ScanOutputs {
                carry: inputs.carry,
                ys,
            };
            self.counts.push((span, outputs.to_py().to_string()));
        }
    }

    fn param<'a>(&mut self, param: &ParamNode<'a>) {
        match &param.value {
            ValueNode::Jaxpr(jaxpr) => self.jaxpr(jaxpr),
            ValueNode::Jaxprs(jaxprs) => {
                for jaxpr in jaxprs {
                    if let JaxprRef::Inline(jaxpr) = jaxpr {
                        self.jaxpr(jaxpr);
                    }
                }
            }
            ValueNode::Programs(programs) => {
                for program in programs
                    .fields
                    .iter()
                    .filter_map(|(_, program)| program.as_ref())
                {
                    self.program(program);
                }
            }
            ValueNode::Py(_) | ValueNode::Text(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accidents_of_repr_go_away() {
        for (text, want) in [
            (
                "(np.int64(-1), np.uint32(7), np.float32(0.5))",
                "(-1, 7, np.float32(0.5))",
            ),
            (
                "policy=<function a.<locals>.<lambda> at 0x7f00>",
                "policy=<a.<locals>.<lambda>>",
            ),
            (
                "accuracy=<jax.Tolerance object at 0xXXXX>",
                "accuracy=<jax.Tolerance>",
            ),
            (
                "name=meet at 0x3 name=np.int",
                "name=meet at 0x3 name=np.int",
            ),
        ] {
            assert_eq!(normalise(text), want);
        }
    }

    #[test]
    fn flat_trees_become_counts_of_the_equation() {
        let text = "{ lambda ; a:f32[2]. let\n    b:f32[] c:f32[2] d:f32[2] = scan[\n      ft_in=Pytree(vals=[None, None], \
                    tree=PyTreeDef((([], []), ([], [*]), ([], [*]))))\n      ft_out=((None,), (RightsOnly(Right(None)),))\n    \
                    ] 0.0:f32[] a\n  in (b, c, d) }";
        let plain = normalise(text);
        assert!(plain.contains("ft_in=((), (None,), (None,))\n"), "{plain}");
        assert!(
            plain.contains("ft_out=((None,), (None, None))\n"),
            "{plain}"
        );
    }

    #[test]
    fn flat_trees_stand_in_any_order() {
        let text = "{ lambda ; a:f32[] b:f32[1]. let c:f32[] d:f32[1] = scan[ft_out=((RightsOnly(Right(None)),), (None,)) \
                    jaxpr={ lambda ; e:f32[] f:f32[]. let  in (e, f) } ft_in=((), (None,), (None,)) length=1] a b in (c, d) }";
        let plain = text.replace("(RightsOnly(Right(None)),)", "(None,)");
        assert_eq!(normalise(text), plain);
        let renamed = text
            .replace("e:f32[]", "g:f32[]")
            .replace("(e, f)", "(g, f)");
        assert!(same_up_to_names(text, &renamed));
    }

    #[test]
    fn names_are_scoped() {
        let text = |outer: &str, inner: &str| {
            format!(
                "{{ lambda ; {outer}:f32[]. let q:f32[] = jit[name=f jaxpr={{ lambda ; {inner}:f32[]. let  in ({inner},) }}] {outer} in ({outer}, q) }}"
            )
        };
        assert!(same_up_to_names(&text("a", "a"), &text("b", "c")));
        assert!(!same_up_to_names(
            &text("a", "b"),
            &text("a", "b").replace("(a, q)", "(q, a)")
        ));
    }
}
