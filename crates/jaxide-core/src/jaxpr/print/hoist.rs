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
        let words = std::iter::once(root).chain(order.iter().map(|(jaxpr, _)| &**jaxpr));
        let mut names = Names::default();
        for (word, place) in words.flat_map(words_of) {
            names.words.entry(word).or_default().push(place);
        }
        for (jaxpr, usage) in &order {
            // Only a definition may use variables of the jaxprs around its uses.
            let captures = jaxpr.constvars.iter().any(|&var| jaxpr.is_captured(var));
            if usage.count > 1 || jaxpr.eqns.len() > LARGE || captures {
                let name = usage.name.as_deref().unwrap_or("jaxpr");
                let name = names.unique(name, jaxpr);
                hoisted
                    .names
                    .insert(Arc::as_ptr(jaxpr), hoisted.definitions.len());
                hoisted.definitions.push((name, jaxpr.clone()));
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

/// The words of a jaxpr's own equations, not of those inside, that would be read as the name of a definition if there
/// was one, with the jaxpr.
fn words_of(jaxpr: &Jaxpr) -> impl Iterator<Item = (&str, *const Jaxpr)> {
    let foreign = jaxpr.eqns.iter().filter_map(|eqn| {
        if let Prim::Foreign(foreign) = &eqn.prim {
            Some(foreign)
        } else {
            None
        }
    });
    foreign
        .flat_map(|foreign| foreign.words())
        .map(move |word| (word, std::ptr::from_ref(jaxpr)))
}

/// Whether `inner` is `jaxpr` or stands inside it.
fn contains(jaxpr: &Jaxpr, inner: *const Jaxpr, seen: &mut HashSet<*const Jaxpr>) -> bool {
    let mut found = std::ptr::eq(jaxpr, inner);
    if !found && seen.insert(jaxpr) {
        for eqn in &jaxpr.eqns {
            eqn.prim
                .visit(&mut |sub| found = found || contains(&sub.jaxpr, inner, seen));
        }
    }
    found
}

/// Numbers names that occur again: `f`, `f1`, `f2`.
#[derive(Default)]
struct Names<'a> {
    counts: HashMap<String, usize>,
    given: HashSet<String>,
    /// Words that look like names, with where they stand.
    words: HashMap<&'a str, Vec<*const Jaxpr>>,
}

impl Names<'_> {
    /// Whether something would be read as `jaxpr` if it had this name. A word inside it would not.
    fn is_word(&self, name: &str, jaxpr: &Jaxpr) -> bool {
        let places = self.words.get(name).map_or(&[][..], Vec::as_slice);
        let outside = |place: &&*const Jaxpr| !contains(jaxpr, **place, &mut HashSet::new());
        places.iter().any(|place| outside(&place))
    }

    fn unique(&mut self, name: &str, jaxpr: &Jaxpr) -> String {
        let is_word = self.is_word(name, jaxpr);
        let count = self.counts.entry(name.to_owned()).or_default();
        *count += 1;
        if *count == 1 && !is_word && !self.given.contains(name) {
            self.given.insert(name.to_owned());
            return name.to_owned();
        }
        // JAX takes the first number even if another function really has the resulting name, and its text is then
        // ambiguous; the next free number is taken here.
        let mut number = (*count - 1).max(1);
        let mut numbered = format!("{name}{number}");
        while self.given.contains(&numbered) || self.words.contains_key(numbered.as_str()) {
            number += 1;
            numbered = format!("{name}{number}");
        }
        self.counts.insert(name.to_owned(), number + 1);
        *self.counts.entry(numbered.clone()).or_default() += 1;
        self.given.insert(numbered.clone());
        numbered
    }
}
