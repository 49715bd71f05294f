//! Sample programs: the texts of JAX that the repository keeps in `tests/conformance`.

use std::collections::BTreeMap;
use std::path::Path;

use jaxide_core::{ClosedJaxpr, Jaxpr, parse};

/// A program that JAX wrote.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Folder and name of its file.
    pub name: String,
    /// Its text.
    pub text: String,
    /// What the text says.
    pub jaxpr: ClosedJaxpr,
    /// The primitives in it, sub-jaxprs included, with the number of their equations.
    pub primitives: BTreeMap<String, usize>,
}

impl Sample {
    /// The number of equations, those of sub-jaxprs included.
    pub fn size(&self) -> usize {
        self.primitives.values().sum()
    }
}

/// All texts, shorter ones first.
///
/// # Panics
/// When the folder is missing or holds a text that cannot be read.
pub fn samples() -> Vec<Sample> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance");
    let mut samples = Vec::new();
    for group in ["seeds", "lax", "numpy", "control", "programs", "transforms"] {
        let files = std::fs::read_dir(folder.join(group)).expect("the selection");
        for file in files {
            let path = file.expect("a file").path();
            if path
                .extension()
                .is_none_or(|extension| extension != "jaxpr")
            {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a text");
            let jaxpr = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let mut primitives = BTreeMap::new();
            count(&jaxpr.jaxpr, &mut primitives);
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            samples.push(Sample {
                name: format!("{group}/{stem}"),
                text,
                jaxpr,
                primitives,
            });
        }
    }
    samples.sort_by(|a, b| (a.size(), &a.name).cmp(&(b.size(), &b.name)));
    samples
}

fn count(jaxpr: &Jaxpr, primitives: &mut BTreeMap<String, usize>) {
    for eqn in &jaxpr.eqns {
        *primitives.entry(eqn.prim.name().to_owned()).or_default() += 1;
        eqn.prim.visit(&mut |sub| count(&sub.jaxpr, primitives));
    }
}
