//! Programs in the interpreter and on every instruction set.

use jaxide_core::prims::Prim;
use jaxide_core::{Aval, AvalKind, ClosedJaxpr, Jaxpr, Tensor, eval, memory};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, compile};
use jaxide_testing::arrays::{Numbers, arguments, array};
use jaxide_testing::compare::{Nearness, compare};
use jaxide_testing::targets::{in_words, legal};

/// Programs with more elements than this in one array, or more steps in all, are not run.
const BUDGET: usize = 10_000;

/// What compiling and running may take.
const LIMIT: usize = 1 << 30;

/// What can be read and is legal is compiled, and run where it takes little memory and time: both ways give results or an
/// error, and the same types; the same bits where there are no fractions, and where each access of memory is checked.
pub(crate) fn run(bytes: &[u8]) {
    memory::set_limit(Some(LIMIT));
    let Some(program) = legal(bytes) else {
        return;
    };
    let small = is_small(&program.jaxpr, 1);
    let seed = bytes.len() as u64;
    let consts = program.jaxpr.const_avals();
    let program = match small {
        true => ClosedJaxpr {
            consts: (consts.iter().zip(seed..))
                .map(|(aval, seed)| array(aval, Numbers::Tame, seed))
                .collect(),
            ..program
        },
        false => program,
    };
    let args = small.then(|| arguments(&program, Numbers::Special, seed));
    let meant = args.as_ref().map(|args| eval::eval(&program, args));
    if let Some(Err(error)) = &meant {
        in_words(&program, "the interpreter", error);
    }
    for isa in Isa::available() {
        let options = CompileOptions {
            isa: Some(isa),
            ..CompileOptions::default()
        };
        let native = match compile(&program, &options) {
            Ok(native) => native,
            Err(error) => {
                in_words(&program, "compile", &error);
                continue;
            }
        };
        let checked = CompileOptions {
            checked: true,
            ..options
        };
        let checked = match compile(&program, &checked) {
            Ok(checked) => checked,
            Err(error) => {
                in_words(&program, "compile as checked", &error);
                continue;
            }
        };
        let (Some(args), Some(meant)) = (&args, &meant) else {
            continue;
        };
        match (meant, native.run(args)) {
            (Ok(meant), Ok(native)) => {
                match checked.run(args) {
                    Ok(checked) => assert_eq!(
                        compare(&checked, &native, Nearness::Bits),
                        Ok(()),
                        "{isa:?}, checked\n{program}"
                    ),
                    Err(error) => panic!("{isa:?}, checked: {error}\n{program}"),
                }
                let avals =
                    |results: &[Tensor]| results.iter().map(Tensor::aval).collect::<Vec<_>>();
                assert_eq!(avals(meant), avals(&native), "{isa:?}\n{program}");
                if is_whole(&program.jaxpr)
                    && let Err(message) = compare(&native, meant, Nearness::Bits)
                {
                    panic!("{isa:?}: {message}\n{program}");
                }
            }
            (_, Err(error)) => in_words(&program, "native code", &error),
            (Err(_), Ok(_)) => {}
        }
    }
}

/// Whether all arrays are of integers and truth values.
fn is_whole(jaxpr: &Jaxpr) -> bool {
    let mut whole =
        all_avals(jaxpr).all(|aval| aval.dtype.is_integer() || !aval.dtype.is_inexact());
    for eqn in &jaxpr.eqns {
        eqn.prim
            .visit(&mut |sub| whole = whole && is_whole(&sub.jaxpr));
    }
    whole
}

fn all_avals(jaxpr: &Jaxpr) -> impl Iterator<Item = Aval> {
    let computed = jaxpr.eqns.iter().flat_map(|eqn| &eqn.outputs);
    let computed = computed.map(|&var| jaxpr.aval_of(var).clone());
    (jaxpr.in_avals().into_iter())
        .chain(jaxpr.const_avals())
        .chain(computed)
}

/// Whether all arrays are small and all loops short, and nothing loops for as long as it likes.
fn is_small(jaxpr: &Jaxpr, steps: usize) -> bool {
    let fits = |aval: Aval| aval.kind == AvalKind::Array && aval.size() <= BUDGET;
    steps <= BUDGET
        && all_avals(jaxpr).all(fits)
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
