//! Which sub-jaxprs are printed first, as `let NAME = { ... } in`, and under which names.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::jaxpr::{ClosedJaxpr, Jaxpr};
use crate::prims::Prim;

/// A sub-jaxpr with more equations than this is hoisted even when it is used once.
const LARGE: usize = 10;

/// The hoisted sub-jaxprs of a program.
#[derive(Default)]
pub(super) struct Hoisted {
    /// In the order in which they are printed.
    pub(super) definitions: Vec<(String, Arc<Jaxpr>)>,
    names: HashMap<*const Jaxpr, usize>,
}

impl Hoisted {
    /// Finds the sub-jaxprs of `root` that are used more than once (by identity, along every path), or are large.
    pub(super) fn find(root: &Jaxpr) -> Self {
        let mut order: Vec<(Arc<Jaxpr>, Use)> = Vec::new();
        let mut seen: HashMap<*const Jaxpr, usize> = HashMap::new();
        let mut queue: VecDeque<(Arc<Jaxpr>, Option<String>)> = VecDeque::new();
        discover(root, &mut queue);
        while let Some((jaxpr, name)) = queue.pop_front() {
            let index = *seen.entry(Arc::as_ptr(&jaxpr)).or_insert_with(|| {
                order.push((jaxpr.clone(), Use::default()));
                order.len() - 1
            });
            let usage = &mut order[index].1;
            if usage.name.is_none() {
                usage.name = name;
            }
            // A third visit cannot change whether anything below is used more than once.
            if usage.count < 2 {
                usage.count += 1;
                discover(&jaxpr, &mut queue);
            }
        }
        let mut hoisted = Hoisted::default();
        let mut names = Names::default();
        for (jaxpr, usage) in order {
            if usage.count > 1 || jaxpr.eqns.len() > LARGE {
                let name = names.unique(usage.name.unwrap_or_else(|| "jaxpr".to_owned()));
                hoisted
                    .names
                    .insert(Arc::as_ptr(&jaxpr), hoisted.definitions.len());
                hoisted.definitions.push((name, jaxpr));
            }
        }
        hoisted
    }

    /// The name of a hoisted sub-jaxpr.
    pub(super) fn name(&self, jaxpr: &Arc<Jaxpr>) -> Option<&str> {
        let index = *self.names.get(&Arc::as_ptr(jaxpr))?;
        Some(&self.definitions[index].0)
    }

    /// All names.
    pub(super) fn all_names(&self) -> HashSet<String> {
        self.definitions
            .iter()
            .map(|(name, _)| name.clone())
            .collect()
    }
}

#[derive(Default)]
struct Use {
    count: usize,
    name: Option<String>,
}

/// Queues the sub-jaxprs of each equation, with the name the equation has for them.
fn discover(jaxpr: &Jaxpr, queue: &mut VecDeque<(Arc<Jaxpr>, Option<String>)>) {
    for eqn in &jaxpr.eqns {
        let name = function_name(&eqn.prim);
        let first = queue.len();
        eqn.prim
            .visit(&mut |sub: &ClosedJaxpr| queue.push_back((sub.jaxpr.clone(), name.clone())));
        // JAX finds them in the order in which it binds parameters, which differs here from the printed one.
        if matches!(eqn.prim, Prim::While(_) | Prim::SelectAndScatter(_)) {
            queue.make_contiguous()[first..].reverse();
        }
    }
}

/// The parameter `name` where it names the function that is called. The name that custom rules print is not a
/// parameter in JAX.
fn function_name(prim: &Prim) -> Option<String> {
    let name = if let Prim::Jit(jit) = prim {
        &jit.name
    } else if let Prim::Composite(composite) = prim {
        &composite.name
    } else if let Prim::Pmap(pmap) = prim {
        &pmap.name
    } else if let Prim::Foreign(foreign) = prim {
        return foreign.function_name().map(readable);
    } else {
        return None;
    };
    Some(readable(&name.0))
}

/// A function's name such that it can be read back as the name of a definition. Names of Python functions stay as they
/// are.
fn readable(name: &str) -> String {
    let name = name.trim_matches(['<', '>']);
    let ends_name = |c: char| c.is_whitespace() || c.is_control() || "()[]{};,='\"#".contains(c);
    let mut name = name.replace(ends_name, "_");
    if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        name.insert(0, '_');
    }
    if matches!(name.as_str(), "None" | "True" | "False" | "nan" | "inf") {
        name.push('_');
    }
    name
}

/// Numbers names that occur again: `f`, `f1`, `f2`.
#[derive(Default)]
struct Names {
    counts: HashMap<String, usize>,
    given: HashSet<String>,
}

impl Names {
    fn unique(&mut self, name: String) -> String {
        let count = self.counts.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 && !self.given.contains(&name) {
            self.given.insert(name.clone());
            return name;
        }
        // JAX takes the first number even if another function really has the resulting name, and its text is then
        // ambiguous; the next free number is taken here.
        let mut number = (*count - 1).max(1);
        let mut numbered = format!("{name}{number}");
        while self.given.contains(&numbered) {
            number += 1;
            numbered = format!("{name}{number}");
        }
        self.counts.insert(name, number + 1);
        *self.counts.entry(numbered.clone()).or_default() += 1;
        self.given.insert(numbered.clone());
        numbered
    }
}
