//! The C header of an object.

use super::{Object, RUNTIME_FUNCTION};
use jaxide_core::{Aval, DType, Error, Result, byte_size};
use std::fmt::Write;

/// What temporary memory is aligned to.
pub(super) const ALIGNMENT: usize = 64;

/// Words that are no names in C or C++.
const KEYWORDS: [&str; 35] = [
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "class",
    "const",
    "continue",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "false",
    "float",
    "for",
    "goto",
    "if",
    "int",
    "long",
    "namespace",
    "new",
    "register",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "true",
    "void",
    "while",
];

/// # Errors
/// When a name is no identifier of C.
pub(super) fn check_name(name: &str) -> Result<()> {
    let mut letters = name.bytes();
    let first = letters.next().is_some_and(|c| c.is_ascii_alphabetic());
    let rest = letters.all(|c| c.is_ascii_alphanumeric() || c == b'_');
    if first && rest && !KEYWORDS.contains(&name) && !name.starts_with("jaxide_rt_") {
        return Ok(());
    }
    Err(Error::parameter(format!(
        "`{name}` is no name of a function: letters, digits and _, a letter first, no word of C"
    )))
}

/// The type that an element has in C, and how many of these it is.
fn c_type(dtype: DType) -> (&'static str, usize) {
    match dtype {
        DType::Bool => ("uint8_t", 1),
        DType::I2 | DType::I4 | DType::I8 => ("int8_t", 1),
        DType::U2 | DType::U4 | DType::U8 => ("uint8_t", 1),
        DType::I16 => ("int16_t", 1),
        DType::I32 => ("int32_t", 1),
        DType::I64 => ("int64_t", 1),
        DType::U16 => ("uint16_t", 1),
        DType::U32 => ("uint32_t", 1),
        DType::U64 => ("uint64_t", 1),
        DType::F4E2M1Fn
        | DType::F8E3M4
        | DType::F8E4M3
        | DType::F8E4M3B11Fnuz
        | DType::F8E4M3Fn
        | DType::F8E4M3Fnuz
        | DType::F8E5M2
        | DType::F8E5M2Fnuz
        | DType::F8E8M0Fnu => ("uint8_t", 1),
        DType::F16 | DType::BF16 => ("uint16_t", 1),
        DType::F32 => ("float", 1),
        DType::F64 => ("double", 1),
        DType::C64 => ("float", 2),
        DType::C128 => ("double", 2),
        DType::KeyFry => ("uint32_t", 2),
        DType::KeyRbg | DType::KeyUnsafeRbg => ("uint32_t", 4),
        DType::Float0 => ("void", 0),
    }
}

/// What the address of an array is a multiple of.
pub(super) fn alignment(dtype: DType) -> usize {
    dtype.size().clamp(1, 8)
}

/// What is to be said of how an element is stored.
fn stored(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => ", 0 or 1 each",
        DType::C64 | DType::C128 => ", real part and imaginary part of each element",
        DType::F16 | DType::BF16 => ", the bits of each element",
        DType::KeyFry | DType::KeyRbg | DType::KeyUnsafeRbg => ", the words of each key",
        DType::Float0 => ", no bytes",
        _ if dtype.is_float() && dtype.size() == 1 => ", the bits of each element",
        _ if dtype.bits() < 8 => ", an element in each byte",
        _ => "",
    }
}

pub(super) fn header(object: &Object) -> String {
    let mut text = String::new();
    write(&mut text, object).expect("a string takes all");
    text
}

fn write(text: &mut String, object: &Object) -> std::fmt::Result {
    let name = object.name();
    let upper = name.to_uppercase();
    writeln!(
        text,
        "/* Written by jaxide {}. */",
        env!("CARGO_PKG_VERSION")
    )?;
    writeln!(text, "#ifndef JAXIDE_{upper}_H\n#define JAXIDE_{upper}_H\n")?;
    writeln!(text, "#include <stddef.h>\n#include <stdint.h>\n")?;
    let inputs = object.in_names().into_iter().zip(object.in_avals());
    let outputs = object.out_avals().iter().enumerate();
    let inputs: Vec<(String, &Aval)> = inputs.collect();
    let outputs: Vec<(String, &Aval)> = outputs.map(|(k, a)| (format!("out{k}"), a)).collect();
    writeln!(text, "#define {upper}_INPUTS {}", inputs.len())?;
    writeln!(text, "#define {upper}_OUTPUTS {}", outputs.len())?;
    writeln!(
        text,
        "/* Bytes of temporary memory, and what its address is a multiple of. */"
    )?;
    writeln!(text, "#define {upper}_SCRATCH_BYTES {}", object.scratch())?;
    writeln!(text, "#define {upper}_SCRATCH_ALIGNMENT {ALIGNMENT}")?;
    writeln!(text, "/* Bytes of stack that a call takes. */")?;
    writeln!(text, "#define {upper}_STACK_BYTES {}\n", object.stack())?;
    for (array, aval) in inputs.iter().chain(&outputs) {
        let (dtype, shape) = (aval.dtype, &aval.shape[..]);
        let elements: usize = shape.iter().product();
        let (_, each) = c_type(dtype);
        let array = array.to_uppercase();
        let bytes = byte_size(shape, dtype).unwrap_or(usize::MAX);
        let lengths: Vec<String> = shape.iter().map(ToString::to_string).collect();
        writeln!(text, "/* {aval}{} */", stored(dtype))?;
        writeln!(text, "#define {upper}_{array}_RANK {}", shape.len())?;
        if !shape.is_empty() {
            writeln!(
                text,
                "#define {upper}_{array}_SHAPE {{{}}}",
                lengths.join(", ")
            )?;
        }
        writeln!(text, "#define {upper}_{array}_LENGTH {}", elements * each)?;
        writeln!(text, "#define {upper}_{array}_BYTES {bytes}")?;
        writeln!(
            text,
            "#define {upper}_{array}_ALIGNMENT {}",
            alignment(dtype)
        )?;
    }
    writeln!(text, "\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n")?;
    let mut params: Vec<String> = Vec::new();
    for (array, aval) in &inputs {
        params.push(format!("const {} *{array}", c_type(aval.dtype).0));
    }
    for (array, aval) in &outputs {
        params.push(format!("{} *{array}", c_type(aval.dtype).0));
    }
    params.push("void *scratch".to_owned());
    writeln!(
        text,
        "/* Computes the results from the arguments. Each array has its elements row by row, at an address that is a multiple\n \
          * of its alignment; results overlap no other array. The function keeps nothing: several threads may call it at\n \
          * once, each with a scratch of its own."
    )?;
    if object.kernels().is_empty() {
        writeln!(text, " * It gives 0. */")?;
    } else {
        writeln!(
            text,
            " * It gives 0, or another number where {RUNTIME_FUNCTION} of libjaxide_runtime fails: see jaxide_runtime.h. */"
        )?;
    }
    writeln!(text, "int {name}({});\n", params.join(", "))?;
    writeln!(text, "#ifdef __cplusplus\n}}\n#endif\n\n#endif")
}
