//! Arrays of a corpus case: an uncompressed ZIP of `.npy` files.

use std::collections::HashMap;

use jaxide_core::{DType, Tensor};

/// The arrays in `bytes` by name; `storage` gives the element types that `.npy` cannot name.
pub(crate) fn read(bytes: &[u8], storage: &HashMap<String, DType>) -> HashMap<String, Tensor> {
    let mut arrays = HashMap::new();
    let mut at = 0;
    while bytes[at..].starts_with(b"PK\x03\x04") {
        let number = |offset: usize, size: usize| {
            let digits = &bytes[at + offset..at + offset + size];
            digits
                .iter()
                .rev()
                .fold(0, |value, &digit| value << 8 | usize::from(digit))
        };
        let (size, name, extra) = (number(18, 4), number(26, 2), number(28, 2));
        let start = at + 30;
        let file = std::str::from_utf8(&bytes[start..start + name]).expect("a name");
        let member = file.strip_suffix(".npy").expect("a .npy file");
        let body = &bytes[start + name + extra..start + name + extra + size];
        let array = read_npy(body, storage.get(member).copied());
        arrays.insert(member.to_owned(), array);
        at = start + name + extra + size;
    }
    arrays
}

fn read_npy(bytes: &[u8], dtype: Option<DType>) -> Tensor {
    let header_length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..10 + header_length]).expect("a header");
    let after = |key: &str| header.split_once(key).expect("a header field").1;
    let code = after("'descr': '").split('\'').next().expect("a type");
    let shape: Vec<usize> = after("'shape': (")
        .split(')')
        .next()
        .expect("a shape")
        .split(',')
        .filter_map(|dim| dim.trim().parse().ok())
        .collect();
    let dtype = dtype.unwrap_or_else(|| named(code));
    Tensor::from_bytes(&shape, dtype, &bytes[10 + header_length..]).expect("an array")
}

fn named(code: &str) -> DType {
    match &code[1..] {
        "b1" => DType::Bool,
        "i1" => DType::I8,
        "i2" => DType::I16,
        "i4" => DType::I32,
        "i8" => DType::I64,
        "u1" => DType::U8,
        "u2" => DType::U16,
        "u4" => DType::U32,
        "u8" => DType::U64,
        "f2" => DType::F16,
        "f4" => DType::F32,
        "f8" => DType::F64,
        "c8" => DType::C64,
        "c16" => DType::C128,
        other => panic!("the element type {other} of a .npy file"),
    }
}
