//! Variables that stand in several jaxprs of a text.
//!
//! JAX gives a variable one name in the whole text, so that a definition may use a variable of the jaxpr around its use,
//! and two definitions may have a variable in common. What has a name twice for another reason (the body of a `jit`
//! takes names over from its equation, and text by hand names as it likes) is two variables.

use std::collections::{HashMap, HashSet};

use crate::jaxpr::letters::letters;
use crate::jaxpr::parse::legacy;
use crate::jaxpr::parse::syntax::{
    Binder, JaxprNode, JaxprRef, OperandNode, ParamNode, Program, RefNode, RightSide, ValueNode,
};
use crate::jaxpr::{Aval, Shared};

type Node<'p> = *const JaxprNode<'p>;

/// Which variables are one.
#[derive(Default)]
pub(super) struct SharedNames<'p> {
    bound: HashMap<(Node<'p>, &'p str), Shared>,
    captured: HashMap<Node<'p>, Vec<(&'p str, Shared, Aval)>>,
}

impl<'p> SharedNames<'p> {
    /// Finds them in a text with definitions.
    pub(super) fn find(program: &'p Program<'p>) -> Self {
        let mut finder = Finder::default();
        for definition in &program.definitions {
            finder.taken.insert(definition.name.text);
        }
        for (index, definition) in program.definitions.iter().enumerate() {
            finder.tree = Some(index);
            finder.root = &raw const definition.jaxpr;
            finder.jaxpr(&definition.jaxpr, &HashSet::new());
        }
        finder.tree = None;
        finder.jaxpr(&program.main, &HashSet::new());
        finder.finish()
    }

    /// Whether none are.
    pub(super) fn is_empty(&self) -> bool {
        self.bound.is_empty()
    }

    /// What the variable `name` that `node` binds has in common with others.
    pub(super) fn bound(&self, node: &JaxprNode<'p>, name: &'p str) -> Shared {
        let found = self.bound.get(&(&raw const *node, name));
        found.cloned().unwrap_or_default()
    }

    /// The variables that `node` uses and does not bind, with their types.
    pub(super) fn captured(&self, node: &JaxprNode<'p>) -> Vec<(&'p str, Shared, Aval)> {
        let found = self.captured.get(&(&raw const *node));
        found.cloned().unwrap_or_default()
    }
}

/// Where a name was bound.
struct Bound<'p> {
    node: Node<'p>,
    /// The definition it is in; `None` in the main jaxpr.
    tree: Option<usize>,
    aval: Option<&'p Aval>,
}

#[derive(Default)]
struct Finder<'p> {
    tree: Option<usize>,
    /// The definition that is read.
    root: Node<'p>,
    bound: HashMap<&'p str, Vec<Bound<'p>>>,
    /// Uses in definitions, by number, of what they do not bind, in order.
    free: Vec<(usize, Node<'p>, &'p str)>,
    known_free: HashSet<(Node<'p>, &'p str)>,
    /// Names of definitions, which variables do not have.
    taken: HashSet<&'p str>,
    /// The next name that JAX would give.
    next: usize,
    /// Whether some variable is not named as JAX would.
    by_hand: bool,
}

impl<'p> Finder<'p> {
    /// `named_alike` are names that the jaxpr takes over from its equation.
    fn jaxpr(&mut self, node: &'p JaxprNode<'p>, named_alike: &HashSet<&'p str>) {
        let mut own = HashSet::new();
        self.bind(node, &node.constvars, named_alike, &mut own);
        self.bind(node, &node.invars, named_alike, &mut own);
        for eqn in &node.eqns {
            match &eqn.right {
                Some(RightSide::Apply {
                    prim,
                    params,
                    operands,
                }) => {
                    self.bind(node, &eqn.outputs, named_alike, &mut own);
                    let mut alike = HashSet::new();
                    if legacy::current_name(prim.text) == "jit" {
                        alike.extend(operands.iter().filter_map(OperandNode::variable));
                        alike.extend(eqn.outputs.iter().map(|binder| binder.name.text));
                    }
                    for param in params {
                        self.param(param, &alike);
                    }
                    for operand in operands {
                        self.read(node, operand, &own);
                    }
                }
                Some(RightSide::Get(reference)) => {
                    self.bind(node, &eqn.outputs, named_alike, &mut own);
                    self.read_name(node, name_of(reference), &own);
                }
                Some(RightSide::Swap(swap)) => {
                    self.bind(node, &eqn.outputs, named_alike, &mut own);
                    self.read_name(node, name_of(&swap.written), &own);
                    self.read(node, &swap.value, &own);
                }
                Some(RightSide::AddUpdate(reference, value)) => {
                    self.read_name(node, name_of(reference), &own);
                    self.read(node, value, &own);
                }
                None => {}
            }
        }
        for result in &node.results {
            self.read(node, result, &own);
        }
    }

    fn param(&mut self, param: &'p ParamNode<'p>, named_alike: &HashSet<&'p str>) {
        match &param.value {
            ValueNode::Jaxpr(jaxpr) => self.jaxpr(jaxpr, named_alike),
            ValueNode::Jaxprs(jaxprs) => {
                for jaxpr in jaxprs {
                    match jaxpr {
                        JaxprRef::Inline(jaxpr) => self.jaxpr(jaxpr, &HashSet::new()),
                        JaxprRef::Name(_) => {}
                    }
                }
            }
            // Programs inside texts have names of their own.
            ValueNode::Py(_) | ValueNode::Text(_) | ValueNode::Programs(_) => {}
        }
    }

    fn bind(
        &mut self,
        node: &'p JaxprNode<'p>,
        binders: &'p [Binder<'p>],
        named_alike: &HashSet<&'p str>,
        own: &mut HashSet<&'p str>,
    ) {
        for binder in binders {
            let name = binder.name.text;
            own.insert(name);
            if name == "_" || named_alike.contains(name) {
                continue;
            }
            self.named(name);
            self.bound.entry(name).or_default().push(Bound {
                node,
                tree: self.tree,
                aval: binder.aval.as_deref(),
            });
        }
    }

    /// A name stands here, for the first time or again.
    fn named(&mut self, name: &'p str) {
        if self.by_hand || self.bound.contains_key(name) {
            return;
        }
        let mut expected = letters(self.next);
        while self.taken.contains(expected.as_str()) {
            self.next += 1;
            expected = letters(self.next);
        }
        self.next += 1;
        self.by_hand = expected != name;
        self.bound.insert(name, Vec::new());
    }

    fn read(&mut self, node: &'p JaxprNode<'p>, operand: &OperandNode<'p>, own: &HashSet<&'p str>) {
        if let Some(name) = operand.variable() {
            self.read_name(node, name, own);
        }
    }

    fn read_name(&mut self, node: &'p JaxprNode<'p>, name: &'p str, own: &HashSet<&'p str>) {
        let Some(tree) = self.tree.filter(|_| std::ptr::eq(self.root, node)) else {
            return;
        };
        if name != "_" && !own.contains(name) {
            self.named(name);
            if self.known_free.insert((&raw const *node, name)) {
                self.free.push((tree, node, name));
            }
        }
    }

    fn finish(self) -> SharedNames<'p> {
        let mut shared = SharedNames::default();
        let mut of_name: HashMap<&str, Shared> = HashMap::new();
        for (tree, node, name) in self.free {
            let bound = self.bound.get(name).map_or(&[][..], Vec::as_slice);
            // What a jaxpr inside the definition binds cannot be seen from it.
            if bound.iter().any(|bound| bound.tree == Some(tree)) {
                continue;
            }
            let Some(aval) = bound.first().and_then(|bound| bound.aval) else {
                continue;
            };
            let mark = of_name
                .entry(name)
                .or_insert_with(Shared::of_several)
                .clone();
            let entry = shared.captured.entry(node).or_default();
            entry.push((name, mark, aval.clone()));
        }
        for (name, bound) in &self.bound {
            // Two definitions have a variable in common where all else is named as JAX does.
            let trees: HashSet<usize> = bound.iter().filter_map(|bound| bound.tree).collect();
            let in_common = !self.by_hand && trees.len() > 1 && trees.len() == bound.len();
            if in_common || of_name.contains_key(name) {
                let mark = of_name
                    .entry(name)
                    .or_insert_with(Shared::of_several)
                    .clone();
                for bound in bound {
                    shared.bound.insert((bound.node, *name), mark.clone());
                }
            }
        }
        shared
    }
}

fn name_of<'p>(reference: &RefNode<'p>) -> &'p str {
    reference.name.text
}
