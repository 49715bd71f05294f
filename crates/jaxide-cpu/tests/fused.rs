//! Which elementwise operations are part of lane programs, and which are calls of the runtime: for each type, as a table.

use jaxide_core::parse;
use jaxide_cpu::{CompileOptions, compile};
use std::fmt::Write;
use std::path::Path;

const TYPES: [&str; 16] = [
    "bool",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
    "f16",
    "bf16",
    "f32",
    "f64",
    "c64",
    "c128",
    "f8_e4m3fn",
];

const UNARY: [&str; 48] = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bessel_i0e",
    "bessel_i1e",
    "cbrt",
    "ceil",
    "clz",
    "conj[input_dtype=complex64]",
    "copy",
    "cos",
    "cosh",
    "digamma",
    "erf",
    "erf_inv",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "imag",
    "integer_pow[y=3]",
    "is_finite",
    "lgamma",
    "log",
    "log1p",
    "logistic",
    "neg",
    "not",
    "population_count",
    "real",
    "round[rounding_method=0]",
    "round[rounding_method=1]",
    "rsqrt",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "reduce_precision[exponent_bits=5 mantissa_bits=2]",
    "convert_element_type[new_dtype=float32 weak_type=False]",
    "convert_element_type[new_dtype=int32 weak_type=False]",
];

const BINARY: [&str; 28] = [
    "add",
    "and",
    "atan2",
    "complex",
    "div",
    "eq",
    "eq_to",
    "ge",
    "gt",
    "igamma",
    "igammac",
    "le",
    "le_to",
    "lt",
    "lt_to",
    "max",
    "min",
    "mul",
    "mulhi",
    "ne",
    "nextafter",
    "or",
    "pow",
    "rem",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sub",
];

/// How the operation is made: `None` if it does not take the types.
fn made(operation: &str, operands: usize, dtype: &str, result: &str) -> Option<&'static str> {
    let (inputs, names) = match operands {
        1 => (format!("a:{dtype}[7]"), "a"),
        _ => (format!("a:{dtype}[7] b:{dtype}[7]"), "a b"),
    };
    let text = format!("{{ lambda ; {inputs}. let c:{result}[7] = {operation} {names} in (c,) }}");
    let program = compile(&parse(&text).ok()?, &CompileOptions::default()).ok()?;
    let loops = program.loops_text();
    Some(if loops.lines().any(|line| line.starts_with("call ")) {
        "call"
    } else {
        "lanes"
    })
}

#[test]
fn elementwise_operations_are_lanes_or_calls() {
    let (mut table, mut unknown) = (String::new(), Vec::new());
    let operations = UNARY.map(|name| (name, 1)).into_iter();
    for (operation, operands) in operations.chain(BINARY.map(|name| (name, 2))) {
        let mut ways = [("lanes", Vec::new()), ("call", Vec::new())];
        for dtype in TYPES {
            let results = [dtype, "bool", "f32", "f64", "i32", "c64", "c128"];
            let way = results
                .iter()
                .find_map(|result| made(operation, operands, dtype, result));
            ways.iter_mut()
                .filter(|(name, _)| Some(*name) == way)
                .for_each(|(_, types)| types.push(dtype));
        }
        if ways.iter().all(|(_, types)| types.is_empty()) {
            unknown.push(operation);
        }
        for (way, types) in ways.iter().filter(|(_, types)| !types.is_empty()) {
            writeln!(table, "{operation} {way}: {}", types.join(" ")).unwrap();
        }
    }
    assert!(unknown.is_empty(), "no type is taken by {unknown:?}");
    let mut settings = insta::Settings::clone_current();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    settings.set_snapshot_path(here.join("../../snapshots/lanes"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("elementwise_operations", table));
}
