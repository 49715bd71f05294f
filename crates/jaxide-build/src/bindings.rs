//! The Rust module of an object.

use jaxide_core::{Aval, DType};
use jaxide_cpu::Object;
use std::fmt::Write;

/// The type of an element.
fn element(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::I2 | DType::I4 | DType::I8 => "i8",
        DType::I16 => "i16",
        DType::I32 => "i32",
        DType::I64 => "i64",
        DType::U2 | DType::U4 | DType::U8 => "u8",
        DType::U16 => "u16",
        DType::U32 => "u32",
        DType::U64 => "u64",
        // The bits.
        DType::F4E2M1Fn
        | DType::F8E3M4
        | DType::F8E4M3
        | DType::F8E4M3B11Fnuz
        | DType::F8E4M3Fn
        | DType::F8E4M3Fnuz
        | DType::F8E5M2
        | DType::F8E5M2Fnuz
        | DType::F8E8M0Fnu => "u8",
        DType::F16 | DType::BF16 => "u16",
        DType::F32 => "f32",
        DType::F64 => "f64",
        DType::C64 => "Pair<f32>",
        DType::C128 => "Pair<f64>",
        DType::KeyFry => "Pair<u32>",
        DType::KeyRbg | DType::KeyUnsafeRbg => "Pair<[u32; 2]>",
        DType::Float0 => "()",
    }
}

/// The type of an array: rows in rows.
fn array(aval: &Aval) -> String {
    let element = element(aval.dtype).to_owned();
    let lengths = aval.shape.iter().rev();
    lengths.fold(element, |inner, length| format!("[{inner}; {length}]"))
}

/// The text of the module `name`.
pub(crate) fn module(name: &str, object: &Object) -> String {
    let mut text = String::new();
    write(&mut text, name, object).expect("a string takes all");
    text
}

fn write(text: &mut String, name: &str, object: &Object) -> std::fmt::Result {
    let inputs: Vec<(String, &Aval)> = (object.in_names().into_iter())
        .zip(object.in_avals())
        .collect();
    let outputs = object.out_avals().iter().enumerate();
    let outputs: Vec<(String, &Aval)> = outputs.map(|(k, a)| (format!("out{k}"), a)).collect();
    let types = |arrays: &[(String, &Aval)]| {
        let types: Vec<String> = arrays.iter().map(|(_, aval)| aval.to_string()).collect();
        types.join(", ")
    };
    let signature = format!("({}) -> ({})", types(&inputs), types(&outputs));
    let fails = !object.kernels().is_empty();
    writeln!(text, "/// A program that jaxide compiled: `{signature}`.")?;
    writeln!(
        text,
        "#[allow(unsafe_code, dead_code, clippy::all, clippy::pedantic)]"
    )?;
    writeln!(text, "#[rustfmt::skip]")?;
    writeln!(text, "pub mod {name} {{")?;
    let all = inputs.iter().chain(&outputs);
    if all
        .clone()
        .any(|(_, aval)| element(aval.dtype).starts_with("Pair"))
    {
        writeln!(
            text,
            "    /// A complex number, as its real and imaginary part, or a random key.\n    \
                 #[derive(Clone, Copy, Debug, Default, PartialEq)]\n    \
                 #[repr(C, align(8))]\n    \
                 pub struct Pair<T>(pub T, pub T);\n"
        )?;
    }
    writeln!(
        text,
        "    /// Bytes of stack that a call takes.\n    \
             pub const STACK_BYTES: usize = {};\n\n    \
             /// Temporary memory of a call, {} bytes. It may be used again, for any arguments; nothing is kept in it.\n    \
             #[repr(C, align({}))]\n    \
             pub struct Scratch([core::mem::MaybeUninit<u8>; {}]);\n\n    \
             impl Scratch {{\n        \
                 /// Memory as it is found.\n        \
                 pub const fn new() -> Self {{\n            \
                     Scratch([const {{ core::mem::MaybeUninit::uninit() }}; {}])\n        \
                 }}\n    \
             }}\n\n    \
             impl Default for Scratch {{\n        \
                 fn default() -> Self {{\n            Self::new()\n        }}\n    \
             }}\n",
        object.stack(),
        object.scratch(),
        object.scratch_alignment(),
        object.scratch(),
        object.scratch(),
    )?;
    writeln!(text, "    unsafe extern \"C\" {{")?;
    writeln!(text, "        #[link_name = \"{}\"]", object.name())?;
    let pointers = vec!["*const core::ffi::c_void"; inputs.len() + outputs.len() + 1];
    let pointers = pointers
        .iter()
        .enumerate()
        .map(|(k, ty)| format!("a{k}: {ty}"));
    let pointers: Vec<String> = pointers.collect();
    writeln!(
        text,
        "        fn entry({}) -> i32;\n    }}\n",
        pointers.join(", ")
    )?;
    let mut params = Vec::new();
    let mut values = Vec::new();
    for (name, aval) in &inputs {
        let array = array(aval);
        // A number alone is passed as it is.
        if aval.shape.is_empty() {
            params.push(format!("{name}: {array}"));
            values.push(format!("(&raw const {name}).cast()"));
        } else {
            params.push(format!("{name}: &{array}"));
            values.push(format!("core::ptr::from_ref({name}).cast()"));
        }
    }
    for (name, aval) in &outputs {
        params.push(format!("{name}: &mut {}", array(aval)));
        values.push(format!("core::ptr::from_mut({name}).cast_const().cast()"));
    }
    params.push("scratch: &mut Scratch".to_owned());
    values.push("core::ptr::from_mut(scratch).cast_const().cast()".to_owned());
    let result = if fails { " -> Result<(), String>" } else { "" };
    writeln!(text, "    /// Computes `{signature}`.")?;
    if fails {
        writeln!(
            text,
            "    ///\n    /// # Errors\n    \
             /// When a kernel of the runtime library fails: when there is no memory for what it needs while it runs."
        )?;
    }
    writeln!(text, "    pub fn run({}){result} {{", params.join(", "))?;
    writeln!(
        text,
        "        // SAFETY: each address is that of an array with the shape that the program was compiled for; results and temporary\n        \
         // memory are borrowed by nobody else. The program reads and writes nothing outside of them, whatever arguments hold."
    )?;
    writeln!(
        text,
        "        let status = unsafe {{ entry({}) }};",
        values.join(", ")
    )?;
    if fails {
        writeln!(
            text,
            "        if status == 0 {{ Ok(()) }} else {{ Err(::jaxide_runtime::error()) }}"
        )?;
    } else {
        writeln!(text, "        debug_assert_eq!(status, 0);")?;
    }
    writeln!(text, "    }}\n}}")
}
