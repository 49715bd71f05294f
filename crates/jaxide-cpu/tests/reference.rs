//! The reference table of primitives, `docs/primitives.md`: made from the table of primitives and from what happens to
//! the sample programs of each. `UPDATE=1 cargo test -p jaxide-cpu --test reference` writes it.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use jaxide_core::prims::{Family, ParamInfo, Prim, PrimInfo, Printed};
use jaxide_core::transform::{Step, apply};
use jaxide_core::{Aval, ClosedJaxpr, Jaxpr, simplify};
use jaxide_cpu::{CompileOptions, compile};
use jaxide_testing::samples::{Sample, samples};

const HEAD: &str = "\
# The primitives

Every primitive of the language, by family. This page is generated from the table (`crates/jaxide-core/src/prims/table.rs`) and from the
sample programs in `tests/conformance`; a test says when it is not current, and writes it:

```sh
UPDATE=1 cargo test -p jaxide-cpu --test reference
```

* **Operands**: their number and that of the results; `n` is any.
* **Parameters** in the order of the text, with the kind of their values. One in *italics* is printed only when it differs from its default.
* **Derivative**: `linear` where the tangent of the result is the primitive itself on the tangent; `zero`; `both` where forward and reverse
  mode exist, `forward` where only that does; `–` where there are no floats, or no derivative.
* **Lanes**: whether `vmap` has a rule.
* **Native**: `fused` into loops; `kernel`, a call of the runtime; `control`, code around the code of its jaxprs; `moved` where elements are only
  read from elsewhere, or nothing is left to do; `–` where it cannot be compiled alone.

";

const FAMILIES: [(Family, &str); 10] = [
    (Family::Elementwise, "Elementwise"),
    (Family::Shape, "Shape"),
    (Family::Indexing, "Indexing"),
    (Family::Reduction, "Reduction"),
    (Family::Window, "Windows"),
    (Family::Linalg, "Linear algebra"),
    (Family::Random, "Random numbers"),
    (Family::Control, "Control"),
    (Family::State, "References"),
    (Family::Collective, "Collectives"),
];

/// What is found out about a primitive from its smallest samples.
#[derive(Default)]
struct Found {
    derivative: BTreeSet<Derivative>,
    lanes: bool,
    native: BTreeSet<&'static str>,
}

/// Later ones say more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Derivative {
    Zero,
    Forward,
    Both,
    Linear,
}

impl Derivative {
    fn name(self) -> &'static str {
        match self {
            Derivative::Zero => "zero",
            Derivative::Forward => "forward",
            Derivative::Both => "both",
            Derivative::Linear => "linear",
        }
    }
}

fn inexact(avals: &[Aval]) -> Vec<usize> {
    (0..avals.len())
        .filter(|&index| avals[index].dtype.is_inexact())
        .collect()
}

/// The tangents of the results as functions of arguments and tangents, without what they do not need.
fn tangents(jaxpr: &ClosedJaxpr, argnums: &[usize], outs: &[usize]) -> Option<ClosedJaxpr> {
    let step = Step::Jvp {
        argnums: argnums.to_vec(),
        tangent_outs: outs.to_vec(),
    };
    let jvp = apply(jaxpr, &step).ok()?;
    let mut only = (*jvp.jaxpr).clone();
    only.outvars.drain(..jaxpr.jaxpr.outvars.len());
    simplify::dce(&ClosedJaxpr::new(only, jvp.consts)).ok()
}

fn derivative(jaxpr: &ClosedJaxpr, name: &str) -> Option<Derivative> {
    let (argnums, outs) = (inexact(&jaxpr.in_avals()), inexact(&jaxpr.out_avals()));
    if argnums.is_empty() || outs.is_empty() {
        return None;
    }
    let tangents = tangents(jaxpr, &argnums, &outs)?;
    let tangent_inputs = &tangents.jaxpr.invars[jaxpr.jaxpr.invars.len()..];
    let used = |var| {
        let mut atoms = tangents.jaxpr.eqns.iter().flat_map(|eqn| &eqn.inputs);
        let mut results = tangents.jaxpr.outvars.iter();
        atoms.any(|atom| atom.var() == Some(var)) || results.any(|atom| atom.var() == Some(var))
    };
    if !tangent_inputs.iter().any(|&var| used(var)) {
        return Some(Derivative::Zero);
    }
    let equations = &tangents.jaxpr.eqns;
    if equations.iter().all(|eqn| eqn.prim.name() == name) && equations.len() == outs.len() {
        return Some(Derivative::Linear);
    }
    let step = Step::Vjp {
        argnums,
        cotangent_outs: outs,
    };
    Some(match apply(jaxpr, &step) {
        Ok(_) => Derivative::Both,
        Err(_) => Derivative::Forward,
    })
}

fn has_lanes(jaxpr: &ClosedJaxpr) -> bool {
    let step = Step::Vmap {
        in_axes: vec![Some(0); jaxpr.in_avals().len()],
        out_axes: 0,
        axis_size: 2,
        axis_name: None,
    };
    apply(jaxpr, &step).is_ok()
}

/// Whether an equation of this primitive has jaxprs of its own.
fn holds_jaxprs(jaxpr: &Jaxpr, name: &str) -> bool {
    jaxpr.eqns.iter().any(|eqn| {
        let mut found = false;
        eqn.prim.visit(&mut |sub| {
            found |= eqn.prim.name() == name || holds_jaxprs(&sub.jaxpr, name);
        });
        found
    })
}

fn native(jaxpr: &ClosedJaxpr, info: &PrimInfo) -> Option<&'static str> {
    let program = compile(jaxpr, &CompileOptions::default()).ok()?;
    let stats = program.stats();
    Some(
        if holds_jaxprs(&jaxpr.jaxpr, info.name) && info.family == Family::Control {
            "control"
        } else if stats.calls > 0 {
            "kernel"
        } else if stats.kernels > 0 {
            "fused"
        } else {
            "moved"
        },
    )
}

fn find_out(samples: &[Sample], info: &PrimInfo) -> Found {
    let mut found = Found::default();
    let of_it = || {
        samples
            .iter()
            .filter(|sample| sample.primitives.contains_key(info.name))
    };
    let smallest = of_it().map(Sample::size).min();
    let mut shown: Vec<&Sample> = of_it()
        .filter(|sample| Some(sample.size()) == smallest)
        .collect();
    // Those with floats say most.
    shown.sort_by_key(|sample| inexact(&sample.jaxpr.in_avals()).is_empty());
    for sample in shown.into_iter().take(3) {
        found
            .derivative
            .extend(derivative(&sample.jaxpr, info.name));
        found.lanes |= has_lanes(&sample.jaxpr);
        found.native.extend(native(&sample.jaxpr, info));
    }
    found
}

fn parameter(info: &ParamInfo) -> Option<String> {
    let kind = info.kind.replace('|', "\\|");
    match info.printed {
        Printed::Always => Some(format!("`{}`: {kind}", info.name)),
        Printed::NonDefault => Some(format!("*`{}`*: {kind}", info.name)),
        Printed::Never => None,
    }
}

fn row(page: &mut String, info: &PrimInfo, found: &Found) {
    let parameters: Vec<String> = info.params.iter().filter_map(parameter).collect();
    let derivative = found.derivative.last().map_or("–", |&most| most.name());
    let native: Vec<&str> = found.native.iter().copied().collect();
    let native = if native.is_empty() {
        "–".to_owned()
    } else {
        native.join(", ")
    };
    writeln!(
        page,
        "| `{}` | {} | {} | {derivative} | {} | {native} | {} |",
        info.name,
        info.arity.replace("->", "→"),
        parameters.join(", "),
        if found.lanes { "yes" } else { "–" },
        info.doc.trim().replace('|', "\\|"),
    )
    .unwrap();
}

fn page() -> String {
    let samples = samples();
    let mut page = HEAD.to_owned();
    for (family, title) in FAMILIES {
        writeln!(page, "## {title}\n").unwrap();
        page += "| Name | Operands | Parameters | Derivative | Lanes | Native | Meaning |\n";
        page += "|---|---|---|---|---|---|---|\n";
        for info in Prim::ALL.iter().filter(|info| info.family == family) {
            row(&mut page, info, &find_out(&samples, info));
        }
        page.push('\n');
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

#[test]
fn reference_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/primitives.md");
    let page = page();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, page).unwrap();
        return;
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = page
        .lines()
        .zip(written.lines())
        .find(|(new, old)| new != old);
    assert_eq!(
        page, written,
        "docs/primitives.md is not current, first at {differs:?}: run with UPDATE=1"
    );
}
