//! `.npy` files: a header with dtype, order and shape, then the elements.
//!
//! The format is that of NumPy's `numpy.lib.format`, versions 1.0 to 3.0 for reading and 1.0 for writing.

use jaxide_core::{DType, Error, ErrorKind, Result, Tensor, byte_size};

const MAGIC: &[u8] = b"\x93NUMPY";

/// The array in a file's bytes.
///
/// # Errors
/// When the header is malformed, the dtype has no meaning here, or the number of bytes is wrong.
pub(super) fn read(bytes: &[u8]) -> Result<Tensor> {
    let (header, data) =
        split(bytes).ok_or_else(|| broken("the header of the array is damaged"))?;
    let header = Header::parse(header)?;
    let size = byte_size(&header.shape, header.dtype)?;
    if data.len() != size {
        return Err(broken(&format!(
            "{} bytes follow the header, and {size} are needed",
            data.len()
        )));
    }
    let mut data = data.to_vec();
    if header.big_endian {
        let part = header.dtype.real().size();
        data.chunks_exact_mut(part.max(1)).for_each(<[u8]>::reverse);
    }
    if header.dtype == DType::Bool {
        data = truth_values(&data);
    }
    if header.fortran_order {
        data = row_major(&data, &header.shape, header.dtype.size());
    }
    Tensor::from_bytes(&header.shape, header.dtype, &data)
}

/// Bytes as truth values, which are 0 or 1.
pub(super) fn truth_values(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|&byte| u8::from(byte != 0)).collect()
}

/// The file of an array.
///
/// # Errors
/// When its dtype has no name in it.
pub(super) fn write(array: &Tensor) -> Result<Vec<u8>> {
    let descr = match array.dtype() {
        DType::Bool => "|b1",
        DType::I8 => "|i1",
        DType::I16 => "<i2",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::U8 => "|u1",
        DType::U16 => "<u2",
        DType::U32 => "<u4",
        DType::U64 => "<u8",
        DType::F16 => "<f2",
        DType::F32 => "<f4",
        DType::F64 => "<f8",
        DType::C64 => "<c8",
        DType::C128 => "<c16",
        other => {
            return Err(Error::unsupported(format!(
                "arrays of {other} cannot be written"
            )));
        }
    };
    let lengths: String = array
        .shape()
        .iter()
        .map(|length| format!("{length}, "))
        .collect();
    let lengths = if array.shape().len() == 1 {
        lengths.trim_end()
    } else {
        lengths.trim_end_matches(", ")
    };
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({lengths}), }}");
    // The elements start at a multiple of 64 bytes.
    let unpadded = MAGIC.len() + 4 + header.len() + 1;
    header.extend(std::iter::repeat_n(
        ' ',
        unpadded.next_multiple_of(64) - unpadded,
    ));
    header.push('\n');
    let length = u16::try_from(header.len())
        .map_err(|_| Error::unsupported("arrays of so many axes cannot be written"))?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend(length.to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(array.bytes());
    Ok(bytes)
}

/// The header's text and the elements' bytes.
fn split(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (&[major, _minor], rest) = rest.split_first_chunk::<2>()?;
    let (length, rest) = match major {
        1 => {
            let (length, rest) = rest.split_first_chunk::<2>()?;
            (u16::from_le_bytes(*length).into(), rest)
        }
        2 | 3 => {
            let (length, rest) = rest.split_first_chunk::<4>()?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
        _ => return None,
    };
    let (header, data) = rest.split_at_checked(length)?;
    Some((std::str::from_utf8(header).ok()?, data))
}

struct Header {
    dtype: DType,
    big_endian: bool,
    fortran_order: bool,
    shape: Vec<usize>,
}

impl Header {
    /// From `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.
    fn parse(text: &str) -> Result<Self> {
        let value = |key: &str| {
            let at = text
                .find(&format!("'{key}'"))
                .or_else(|| text.find(&format!("\"{key}\"")));
            at.and_then(|at| text[at + key.len() + 2..].trim_start().strip_prefix(':'))
                .map(str::trim_start)
                .ok_or_else(|| broken(&format!("the header has no `{key}`")))
        };
        let descr = value("descr")?;
        let quote = descr.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let descr = quote
            .and_then(|quote| descr[1..].split_once(quote))
            .map(|(descr, _)| descr)
            .ok_or_else(|| broken("arrays of records cannot be read"))?;
        let (dtype, big_endian) = dtype(descr)?;
        let order = value("fortran_order")?;
        let shape = value("shape")?
            .strip_prefix('(')
            .and_then(|rest| rest.split_once(')'))
            .map(|(shape, _)| shape)
            .ok_or_else(|| broken("the shape is damaged"))?;
        let shape = shape
            .split(',')
            .map(str::trim)
            .filter(|length| !length.is_empty())
            .map(|length| length.trim_end_matches('L').parse())
            .collect::<Result<Vec<usize>, _>>()
            .map_err(|_| broken("the shape is damaged"))?;
        Ok(Header {
            dtype,
            big_endian,
            fortran_order: order.starts_with("True"),
            shape,
        })
    }
}

/// The dtype of a description, and whether its bytes are in the other order.
fn dtype(descr: &str) -> Result<(DType, bool)> {
    let (big_endian, name) = match descr.as_bytes().first() {
        Some(b'>') => (true, &descr[1..]),
        Some(b'<' | b'|' | b'=') => (false, &descr[1..]),
        _ => (false, descr),
    };
    let dtype = match name {
        "b1" | "?" => DType::Bool,
        "i1" => DType::I8,
        "i2" => DType::I16,
        "i4" => DType::I32,
        "i8" => DType::I64,
        "u1" | "V1" => DType::U8,
        // Raw bits of two bytes: what NumPy writes for bfloat16.
        "u2" | "V2" => DType::U16,
        "u4" => DType::U32,
        "u8" => DType::U64,
        "f2" => DType::F16,
        "f4" => DType::F32,
        "f8" => DType::F64,
        "c8" => DType::C64,
        "c16" => DType::C128,
        _ => return Err(broken(&format!("arrays of dtype `{descr}` cannot be read"))),
    };
    Ok((dtype, big_endian))
}

/// Elements in row-major order from column-major order.
fn row_major(data: &[u8], shape: &[usize], size: usize) -> Vec<u8> {
    let count: usize = shape.iter().product();
    let mut result = Vec::with_capacity(data.len());
    for number in 0..count {
        // Coordinates from the last axis to the first; the first axis is the fastest in `data`.
        let (mut rest, mut position, mut stride) = (number, 0, count);
        for &length in shape.iter().rev() {
            stride /= length;
            position += rest % length * stride;
            rest /= length;
        }
        result.extend_from_slice(&data[position * size..(position + 1) * size]);
    }
    result
}

fn broken(message: &str) -> Error {
    Error::new(ErrorKind::Io, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([version, 0]);
        if version == 1 {
            bytes.extend((header.len() as u16).to_le_bytes());
        } else {
            bytes.extend((header.len() as u32).to_le_bytes());
        }
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn headers_are_as_numpy_writes_them() {
        let header = |array: &Tensor| {
            let bytes = write(array).unwrap();
            let (header, _) = split(&bytes).unwrap();
            assert_eq!((header.len() + 10) % 64, 0);
            header.trim_end().to_owned()
        };
        let array = |shape: &[usize]| Tensor::zeros(shape, DType::F32).unwrap();
        assert_eq!(
            header(&array(&[])),
            "{'descr': '<f4', 'fortran_order': False, 'shape': (), }"
        );
        assert_eq!(
            header(&array(&[3])),
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"
        );
        assert_eq!(
            header(&array(&[2, 3])),
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
        );
    }

    #[test]
    fn other_orders_and_versions_are_read() {
        let data: Vec<u8> = [1i16, 2, 3, 4, 5, 6]
            .iter()
            .flat_map(|v| v.to_be_bytes())
            .collect();
        for version in [1, 2, 3] {
            let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n";
            let array = read(&file(version, header, &data)).unwrap();
            assert_eq!(array.shape(), [2, 3]);
            assert_eq!(array.to_vec::<i16>().unwrap(), [1, 3, 5, 2, 4, 6]);
        }
    }

    #[test]
    fn absurd_shapes_are_errors() {
        let header =
            "{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999, 9999999999), }\n";
        assert!(read(&file(1, header, &[])).is_err());
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }\n";
        assert_eq!(
            read(&file(1, header, &[0; 8])).unwrap_err().message(),
            "8 bytes follow the header, and 32 are needed"
        );
    }
}
