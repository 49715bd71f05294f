//! Words among the parameters of unknown primitives that are text even though a definition has the same name.
//!
//! `prim=solve` may name the definition `solve` or only look like it. It is the name unless the definition would then use
//! itself, as where the word stands in that definition.

use std::collections::{HashMap, HashSet};

use super::params::is_jaxpr;
use crate::jaxpr::parse::legacy;
use crate::jaxpr::parse::syntax::{JaxprNode, JaxprRef, Program, RightSide, ValueNode};

/// For each definition, by number, the words in it that are text.
pub(super) type TextWords<'p> = HashSet<(usize, &'p str)>;

/// What a definition uses, by number.
#[derive(Default)]
struct Uses<'p> {
    certain: Vec<usize>,
    /// Words that may be text.
    possible: Vec<(usize, &'p str)>,
}

/// Finds the words. A definition stands before those that it uses, so later ones are asked first.
pub(super) fn text_words<'p>(
    program: &Program<'p>,
    names: &HashMap<&'p str, usize>,
) -> TextWords<'p> {
    let mut text = TextWords::new();
    let mut uses = Vec::new();
    for definition in &program.definitions {
        let mut found = Uses::default();
        collect(&definition.jaxpr, names, &mut found);
        found.possible.sort_unstable();
        found.possible.dedup();
        uses.push(found);
    }
    let mut edges: Vec<Vec<usize>> = uses
        .iter_mut()
        .map(|uses| take(&mut uses.certain))
        .collect();
    let mut seen = vec![usize::MAX; edges.len()];
    let mut search = 0;
    for user in (0..edges.len()).rev() {
        for &(used, word) in &uses[user].possible {
            search += 1;
            if reaches(&edges, used, user, &mut seen, search) {
                text.insert((user, word));
            } else {
                edges[user].push(used);
            }
        }
    }
    text
}

fn take(certain: &mut Vec<usize>) -> Vec<usize> {
    certain.sort_unstable();
    certain.dedup();
    std::mem::take(certain)
}

/// Whether `to` is used by `from`, directly, through others, or because it is the same. Each `search` marks what it has
/// `seen`.
fn reaches(
    edges: &[Vec<usize>],
    from: usize,
    to: usize,
    seen: &mut [usize],
    search: usize,
) -> bool {
    let mut open = vec![from];
    while let Some(definition) = open.pop() {
        if definition == to {
            return true;
        }
        if std::mem::replace(&mut seen[definition], search) != search {
            open.extend(&edges[definition]);
        }
    }
    false
}

fn collect<'p>(jaxpr: &JaxprNode<'p>, names: &HashMap<&'p str, usize>, uses: &mut Uses<'p>) {
    for eqn in &jaxpr.eqns {
        let Some(RightSide::Apply { prim, params, .. }) = &eqn.right else {
            continue;
        };
        let is_known = legacy::info(prim.text).is_some();
        for param in params {
            let is_certain = is_known || param.key.text.contains("jaxpr");
            if param.value.word().is_some() && is_jaxpr(prim.text, param.key.text) {
                uses.add(param.text.text, names, is_certain);
            }
            match &param.value {
                ValueNode::Jaxpr(jaxpr) => collect(jaxpr, names, uses),
                ValueNode::Jaxprs(jaxprs) => {
                    for jaxpr in jaxprs {
                        match jaxpr {
                            JaxprRef::Inline(jaxpr) => collect(jaxpr, names, uses),
                            JaxprRef::Name(word) => uses.add(word.text, names, is_certain),
                        }
                    }
                }
                ValueNode::Py(_) | ValueNode::Text(_) | ValueNode::Programs(_) => {}
            }
        }
    }
}

impl<'p> Uses<'p> {
    fn add(&mut self, word: &'p str, names: &HashMap<&'p str, usize>, is_certain: bool) {
        match names.get(word) {
            Some(&index) if is_certain => self.certain.push(index),
            Some(&index) => self.possible.push((index, word)),
            None => {}
        }
    }
}
