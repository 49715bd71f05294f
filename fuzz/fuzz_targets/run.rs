//! What can be read and is legal is run, by the interpreter and by native code, where it takes little memory and time: both
//! give results or an error, and the same types.
#![no_main]

use jaxide_core::jaxpr::parse::parse_bytes;
use jaxide_core::prims::Prim;
use jaxide_core::{Aval, AvalKind, ClosedJaxpr, Jaxpr, Tensor, check, eval, simplify};
use jaxide_cpu::{CompileOptions, compile};
use libfuzzer_sys::fuzz_target;

/// Programs with more elements than this in one array, or more steps in all, are not run.
const BUDGET: usize = 10_000;

fuzz_target!(|bytes: &[u8]| {
    let Ok(program) = parse_bytes(bytes) else {
        return;
    };
    if check(&program).is_err() {
        return;
    }
    if let Ok(simple) = simplify::simplify(&program) {
        assert_eq!(check(&simple), Ok(()), "{program}\n{simple}");
    }
    if !is_small(&program.jaxpr, 1) {
        // Compiled all the same: whatever it asks for, it is an error or a program.
        let _ = compile(&program, &CompileOptions::default());
        return;
    }
    let Some(args) = zeros(&program.in_avals()) else {
        return;
    };
    let consts = zeros(&program.jaxpr.const_avals()).unwrap_or_default();
    let program = ClosedJaxpr { consts, ..program };
    let meant = eval::eval(&program, &args);
    let native = compile(&program, &CompileOptions::default()).and_then(|code| code.run(&args));
    if let (Ok(meant), Ok(native)) = (meant, native) {
        let avals = |results: &[Tensor]| results.iter().map(Tensor::aval).collect::<Vec<_>>();
        assert_eq!(avals(&meant), avals(&native), "{program}");
    }
});

fn zeros(avals: &[Aval]) -> Option<Vec<Tensor>> {
    (avals.iter())
        .map(|aval| Tensor::zeros(&aval.shape, aval.dtype).ok())
        .collect()
}

/// Whether all arrays are small and all loops short, and nothing loops for as long as it likes.
fn is_small(jaxpr: &Jaxpr, steps: usize) -> bool {
    let avals = (jaxpr.in_avals().into_iter())
        .chain(jaxpr.const_avals())
        .chain(
            jaxpr
                .eqns
                .iter()
                .flat_map(|eqn| eqn.outputs.iter().map(|&var| jaxpr.aval_of(var).clone())),
        );
    let arrays = |aval: Aval| aval.kind == AvalKind::Array && aval.size() <= BUDGET;
    steps <= BUDGET
        && avals.into_iter().all(arrays)
        && jaxpr.eqns.iter().all(|eqn| {
            let inner = match &eqn.prim {
                Prim::While(_) | Prim::CustomRoot(_) | Prim::DebugPrint(_) => return false,
                Prim::Scan(scan) => steps.saturating_mul(scan.length),
                _ => steps,
            };
            let mut small = true;
            eqn.prim
                .visit(&mut |sub| small = small && is_small(&sub.jaxpr, inner.saturating_mul(2)));
            small
        })
}
