//! What `check` accepts is run by the interpreter and by native code of every instruction set with the same results, or
//! refused by both in words: programs of one equation over all primitives, with hostile types, lengths and parameters.
//!
//! `JAXIDE_CASES` asks for another number of programs than a few seconds' worth, `JAXIDE_SEED` for other ones, and
//! `JAXIDE_LAST` names a file that holds the program being run, for those that end the process.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use jaxide_core::{Atom, Aval, ClosedJaxpr, DType, Error, ErrorKind, Prim, Tensor, eval};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, Executable, compile};
use jaxide_testing::arrays::{Numbers, arguments};
use jaxide_testing::compare::{Nearness, compare};
use jaxide_testing::equations::Equations;

/// What a program promises about two ways of computing it; later ones are weaker.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Law {
    /// The same bits on any operands; every NaN is like every other.
    Bits,
    /// Sums and products in another order: the same numbers where every order gives the exact one.
    Order,
    /// Functions computed in another way: at most 16 steps of the type apart (64 of 64-bit types, which the interpreter
    /// computes in no wider one).
    Steps,
    /// Sums of what is rounded on the way, and functions near their roots: a part of 10 000 of the largest number there is,
    /// and at least 1; of as many steps of narrower types.
    Scale,
    /// Algorithms that are sensitive to what was rounded: types alone.
    Algorithm,
}

const ORDER: &[&str] = &[
    "reduce_sum",
    "reduce_prod",
    "cumsum",
    "cumprod",
    "reduce_window_sum",
    "scatter-add",
    "scatter-sub",
    "scatter-mul",
    "select_and_scatter_add",
    "select_and_scatter",
    "conv_general_dilated",
    "dot_general",
    "ragged_dot_general",
    "scaled_dot",
    "reduce",
    "reduce_window",
    "psum",
];

const STEPS: &[&str] = &[
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log1p",
    "sqrt",
    "rsqrt",
    "cbrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "logistic",
    "erf",
    "erfc",
    "erf_inv",
    "bessel_i0e",
    "bessel_i1e",
    "integer_pow",
    "pow",
    "atan2",
    "igamma",
    "igammac",
    "igamma_grad_a",
    "polygamma",
    "zeta",
    "regularized_incomplete_beta",
    "random_gamma",
    "one_minus_square",
];

/// Of complex numbers these are functions too.
const COMPLEX_STEPS: &[&str] = &["abs", "sign", "mul", "div", "square", "rsqrt"];

const SCALE: &[&str] = &[
    "cumlogsumexp",
    "lgamma",
    "digamma",
    "symmetric_product",
    "fft",
    "polynomial",
];

const ALGORITHM: &[&str] = &[
    "cholesky",
    "cholesky_update",
    "lu",
    "qr",
    "geqrf",
    "geqp3",
    "householder_product",
    "ormqr",
    "eigh",
    "eig",
    "svd",
    "schur",
    "hessenberg",
    "tridiagonal",
    "tridiagonal_solve",
    "triangular_solve",
    "custom_linear_solve",
    "CustomRoot",
];

/// The law of a program: the weakest of its primitives, and where several follow each other no better than [`Law::Scale`]
/// unless all keep the bits.
fn law(jaxpr: &ClosedJaxpr) -> Law {
    let complex =
        (jaxpr.in_avals().iter().chain(&jaxpr.out_avals())).any(|aval| aval.dtype.is_complex());
    let own = |prim: &Prim| match prim.name() {
        name if ALGORITHM.contains(&name) => Law::Algorithm,
        name if SCALE.contains(&name) => Law::Scale,
        name if STEPS.contains(&name) || complex && COMPLEX_STEPS.contains(&name) => Law::Steps,
        name if ORDER.contains(&name) => Law::Order,
        _ => Law::Bits,
    };
    let mut weakest = Law::Bits;
    for eqn in &jaxpr.jaxpr.eqns {
        weakest = weakest.max(own(&eqn.prim));
        let mut inner = Law::Bits;
        eqn.prim.visit(&mut |sub| inner = inner.max(law(sub)));
        let (mut rounded, mut chaotic) = (false, false);
        eqn.prim.visit(&mut |sub| {
            // Of several equations native code rounds less often: a product and a sum may be one operation.
            let inexact = (sub.jaxpr.eqns.iter().flat_map(|eqn| &eqn.outputs))
                .filter(|&&var| sub.jaxpr.aval(Atom::Var(var)).dtype.is_inexact());
            let count = inexact.count();
            rounded |= count > 1 || inner > Law::Bits;
            // Turn by turn, what was rounded grows.
            chaotic |= (count > 1 || inner > Law::Bits) && eqn.prim.name() == "scan";
        });
        weakest = weakest.max(match (chaotic, rounded) {
            (true, _) => Law::Algorithm,
            (false, true) => Law::Scale.max(inner),
            (false, false) => inner,
        });
    }
    // Numbers of which every sum is exact are those of one kind.
    let of = |avals: &[Aval], test: fn(DType) -> bool| avals.iter().any(|aval| test(aval.dtype));
    let all = [jaxpr.in_avals(), jaxpr.out_avals()].concat();
    let mixed = of(&jaxpr.in_avals(), DType::is_integer) && of(&all, DType::is_inexact);
    if weakest == Law::Order && mixed {
        Law::Scale
    } else {
        weakest
    }
}

/// The largest exponent of `integer_pow`: each product may be off by half a step.
fn highest_power(jaxpr: &ClosedJaxpr) -> f64 {
    let powers = jaxpr.jaxpr.eqns.iter().map(|eqn| match &eqn.prim {
        Prim::IntegerPow(power) => power.y.unsigned_abs() as f64,
        _ => 0.0,
    });
    powers.fold(0.0, f64::max)
}

/// What is said when something panics, or else its result.
fn caught<T>(what: &str, run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = (panic.downcast_ref::<String>().cloned())
            .or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
        format!("{what} panics: {}", text.unwrap_or_default())
    })
}

/// A mistake of the user, not of the compiler.
fn in_words(what: &str, error: &Error) -> Result<(), String> {
    if error.kind() == ErrorKind::Internal || error.to_string().contains("internal error") {
        return Err(format!("{what}: internal error: {error}"));
    }
    Ok(())
}

/// Runs a program everywhere on arguments that belong to `seed`.
fn agree(jaxpr: &ClosedJaxpr, seed: u64) -> Result<(), String> {
    let law = law(jaxpr);
    let numbers = match law {
        Law::Bits | Law::Steps => [Numbers::Hostile, Numbers::Special, Numbers::Tame],
        Law::Order => [Numbers::Exact; 3],
        Law::Scale | Law::Algorithm => [Numbers::Hostile, Numbers::Tame, Numbers::Tame],
    };
    let args: Vec<Vec<Tensor>> = numbers
        .into_iter()
        .zip(seed..)
        .map(|(numbers, seed)| arguments(jaxpr, numbers, seed))
        .collect();
    let mut want = Vec::new();
    for args in &args {
        let result = caught("the interpreter", || eval::eval(jaxpr, args))?;
        if let Err(error) = &result {
            in_words("the interpreter", error)?;
        }
        want.push(result);
    }
    for isa in Isa::available() {
        let options = CompileOptions {
            isa: Some(isa),
            ..CompileOptions::default()
        };
        let program = caught("compile", || compile(jaxpr, &options))?;
        let program = match program {
            Ok(program) => program,
            Err(error) => {
                in_words("compile", &error)?;
                if want.iter().any(Result::is_ok) {
                    return Err(format!("native code alone is refused: {error}"));
                }
                return Ok(());
            }
        };
        let checked = CompileOptions {
            checked: true,
            ..options
        };
        let checked = caught("compile, checked", || compile(jaxpr, &checked))?;
        let checked = checked.map_err(|error| format!("checked code alone is refused: {error}"))?;
        for ((args, want), numbers) in args.iter().zip(&want).zip(numbers) {
            let got = caught("native code", || program.run(args))?;
            match (got, want) {
                (Err(error), want) => {
                    in_words("native code", &error)?;
                    if want.is_ok() {
                        return Err(format!("{isa:?}: native code alone has an error: {error}"));
                    }
                }
                (Ok(_), Err(error)) => {
                    return Err(format!("the interpreter alone has an error: {error}"));
                }
                (Ok(got), Ok(want)) => {
                    agree_checked(&checked, args, &got)?;
                    if want.iter().zip(jaxpr.out_avals()).any(|(want, aval)| {
                        (want.dtype(), want.shape()) != (aval.dtype, &aval.shape[..])
                    }) {
                        return Err("the interpreter gives another type".to_owned());
                    }
                    let wide = want
                        .iter()
                        .all(|want| matches!(want.dtype().real(), DType::F64));
                    let complex = want.iter().any(|want| want.dtype().is_complex());
                    // Zero is NaN there.
                    let no_zero = want.iter().any(|want| want.dtype() == DType::F8E8M0Fnu);
                    let narrow = want
                        .iter()
                        .any(|want| want.dtype().is_float() && want.dtype().bits() <= 16);
                    let nearness = match law {
                        // Which part of a complex number is infinite or NaN depends on the order, too.
                        Law::Order if complex => Nearness::Steps(0.0),
                        Law::Bits | Law::Order => Nearness::Bits,
                        Law::Steps => {
                            let least = if wide { 64.0 } else { 16.0 };
                            Nearness::Steps(highest_power(jaxpr).max(least))
                        }
                        Law::Scale | Law::Algorithm if no_zero || numbers != Numbers::Tame => {
                            let same = got
                                .iter()
                                .zip(want)
                                .all(|(got, want)| got.aval() == want.aval());
                            if same {
                                continue;
                            }
                            Nearness::Bits
                        }
                        Law::Scale if narrow => Nearness::Relative(0.1),
                        Law::Scale => Nearness::Relative(1e-4),
                        Law::Algorithm => Nearness::Relative(f64::INFINITY),
                    };
                    compare(&got, want, nearness).map_err(|message| {
                        let args: Vec<String> = args.iter().map(shown).collect();
                        format!("{isa:?}: {message}\non {}", args.join("\nand "))
                    })?;
                }
            }
        }
    }
    Ok(())
}

/// Runs a program where each access is looked at before it is made: without a finding, and with the same bits.
fn agree_checked(checked: &Executable, args: &[Tensor], want: &[Tensor]) -> Result<(), String> {
    let isa = checked.isa();
    let got = caught("checked code", || checked.run(args))?;
    let got = got.map_err(|error| format!("{isa:?}, checked: {error}"))?;
    compare(&got, want, Nearness::Bits).map_err(|message| format!("{isa:?}, checked: {message}"))
}

/// The first elements of an array.
fn shown(array: &Tensor) -> String {
    let elements = (0..array.len().min(24)).map(|place| match array.scalar_at(place) {
        Some(scalar) => scalar.to_string(),
        None => "?".to_owned(),
    });
    format!(
        "{} {}",
        array.aval(),
        elements.collect::<Vec<_>>().join(" ")
    )
}

fn number(name: &str, default: u64) -> u64 {
    let asked = std::env::var(name).ok();
    asked.map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn what_check_accepts_means_one_thing() {
    // What panics is reported with its program.
    std::panic::set_hook(Box::new(|_| {}));
    let equations = Equations::of_samples();
    let (cases, first) = (number("JAXIDE_CASES", 300), number("JAXIDE_SEED", 1));
    let last = std::env::var_os("JAXIDE_LAST");
    let mut found = BTreeMap::<String, (usize, String)>::new();
    let mut run = 0;
    let mut seed = first.wrapping_mul(1 << 32);
    while run < cases {
        seed += 1;
        let Ok(drawn) = caught("check", || equations.draw(seed)) else {
            found.insert(format!("seed {seed}"), (1, "check panics".to_owned()));
            continue;
        };
        let Some(jaxpr) = drawn else {
            continue;
        };
        run += 1;
        if let Some(path) = &last {
            std::fs::write(path, format!("# seed {seed}\n{jaxpr}\n")).expect("a file");
        }
        if let Err(message) = agree(&jaxpr, seed) {
            let name = jaxpr.jaxpr.eqns[0].prim.name();
            let head: String = message
                .lines()
                .next()
                .unwrap_or_default()
                .chars()
                .filter(|c| !c.is_ascii_digit())
                .take(60)
                .collect();
            let text = format!("seed {seed}: {message}\n{jaxpr}");
            let known = found.entry(format!("{name}: {head}")).or_insert_with(|| {
                // Seen at once where output is not captured.
                eprintln!("{text}\n");
                (0, text.clone())
            });
            known.0 += 1;
            if text.len() < known.1.len() {
                known.1 = text;
            }
        }
    }
    let shown: Vec<String> = found
        .into_iter()
        .map(|(class, (count, text))| format!("{count} × {class}\n{text}"))
        .collect();
    let _ = std::panic::take_hook();
    assert!(
        shown.is_empty(),
        "{} classes, first seed {first}:\n{}",
        shown.len(),
        shown.join("\n\n")
    );
}

/// Those that cannot stand alone: on references, what text cannot carry, what only derivatives hold, and loops that may not
/// end.
const NOT_DRAWN: &[&str] = &[
    "while",
    "custom_lin",
    "custom_linear_solve",
    "remat_opt",
    "xla_metadata_call",
    "xla_metadata_value",
    "call_exported",
    "debug_callback",
    "new_ref",
    "get",
    "swap",
    "addupdate",
    "freeze",
    "xla_pmap",
];

#[test]
fn every_primitive_is_drawn() {
    let equations = Equations::of_samples();
    let drawn: BTreeSet<&str> = equations.primitives().collect();
    let names = Prim::ALL.iter().map(|info| info.name);
    let missing: Vec<&str> = (names.clone())
        .filter(|name| !drawn.contains(name) && !NOT_DRAWN.contains(name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    let needless: Vec<&&str> = (NOT_DRAWN.iter())
        .filter(|name| drawn.contains(**name))
        .collect();
    assert!(needless.is_empty(), "{needless:?}");
}
