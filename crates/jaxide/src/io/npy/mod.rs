//! `.npy` files: a header with dtype, order and shape, then the elements.
//!
//! The format is that of NumPy's `numpy.lib.format`, versions 1.0 to 3.0 for reading and 1.0 for writing.

use std::io::{Read, Write};

use jaxide_core::{DType, Error, ErrorKind, Result, Tensor, memory};

use super::broken;
use header::MAGIC;

mod header;

pub(super) use header::Header;

/// The array behind a header that has been read, in row-major order and the order of bytes of this machine.
///
/// # Errors
/// When there is no memory for it, or the data end early.
pub(super) fn elements(header: &Header, reader: &mut impl Read) -> Result<Tensor> {
    memory::check(header.memory()?)?;
    let mut array = Tensor::from_reader(&header.shape, header.dtype, reader)?;
    let part = header.dtype.real().size();
    if header.big_endian && part > 1 {
        let bytes = own_bytes(&mut array)?;
        bytes.chunks_exact_mut(part).for_each(<[u8]>::reverse);
    }
    if header.dtype == DType::Bool {
        make_truth_values(own_bytes(&mut array)?);
    }
    if header.fortran_order && array.len() > 1 {
        let mut elements = RowMajor {
            array: &array,
            next: 0,
        };
        return Tensor::from_reader(&header.shape, header.dtype, &mut elements);
    }
    Ok(array)
}

/// The bytes of an array that was read just now.
pub(super) fn own_bytes(array: &mut Tensor) -> Result<&mut [u8]> {
    array
        .bytes_mut()
        .ok_or_else(|| Error::new(ErrorKind::Internal, "an array that was read is shared"))
}

/// The array in a whole file.
///
/// # Errors
/// When it is damaged, the dtype has no meaning here, or there is no memory for the array.
pub(super) fn read(reader: &mut impl Read, size: Option<u64>) -> Result<Tensor> {
    let header = Header::read(reader)?;
    let wanted = header.file_size()?;
    if let Some(size) = size.filter(|&size| size != wanted) {
        return Err(broken(format!(
            "the file has {size} bytes, and its header declares {wanted}"
        )));
    }
    let array = elements(&header, reader)?;
    end(reader)?;
    Ok(array)
}

/// Nothing follows the elements; where there is a checksum, it is looked at here.
pub(super) fn end(reader: &mut impl Read) -> Result<()> {
    match reader.read(&mut [0]) {
        Ok(0) => Ok(()),
        Ok(_) => Err(broken("bytes follow the elements of the array")),
        Err(error) => Err(broken(format!("the data are damaged: {error}"))),
    }
}

/// Makes bytes truth values, which are 0 or 1.
pub(super) fn make_truth_values(bytes: &mut [u8]) {
    bytes
        .iter_mut()
        .for_each(|byte| *byte = u8::from(*byte != 0));
}

/// What stands in the file of an array in front of its elements.
///
/// # Errors
/// When its dtype has no name in it.
pub(super) fn header(array: &Tensor) -> Result<Vec<u8>> {
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
    Ok(bytes)
}

/// Writes the file of an array.
///
/// # Errors
/// When its dtype has no name in it, or writing fails.
pub(super) fn write(array: &Tensor, output: &mut (impl Write + ?Sized)) -> Result<()> {
    let header = header(array)?;
    output.write_all(&header)?;
    Ok(output.write_all(array.bytes())?)
}

/// The elements of an array of more than one, which has them in column-major order, in row-major order.
struct RowMajor<'a> {
    array: &'a Tensor,
    next: usize,
}

impl Read for RowMajor<'_> {
    /// As many whole elements as there is room for.
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let (data, count) = (self.array.bytes(), self.array.len());
        let size = self.array.dtype().size();
        let mut written = 0;
        for (element, number) in room.chunks_exact_mut(size).zip(self.next..count) {
            // Coordinates from the last axis to the first; the first axis is the fastest in `data`.
            let (mut rest, mut position, mut stride) = (number, 0, count);
            for &length in self.array.shape().iter().rev() {
                stride /= length;
                position += rest % length * stride;
                rest /= length;
            }
            element.copy_from_slice(&data[position * size..(position + 1) * size]);
            written += 1;
        }
        self.next += written;
        Ok(written * size)
    }
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

    fn parse(bytes: &[u8]) -> Result<Tensor> {
        read(&mut &*bytes, Some(bytes.len() as u64))
    }

    #[test]
    fn headers_are_as_numpy_writes_them() {
        let header = |array: &Tensor| {
            let bytes = header(array).unwrap();
            assert_eq!(bytes.len() % 64, 0);
            String::from_utf8(bytes[10..].to_vec())
                .unwrap()
                .trim_end()
                .to_owned()
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
            let array = parse(&file(version, header, &data)).unwrap();
            assert_eq!(array.shape(), [2, 3]);
            assert_eq!(array.to_vec::<i16>().unwrap(), [1, 3, 5, 2, 4, 6]);
        }
        let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n";
        assert!(parse(&file(4, header, &data)).is_err());
    }

    #[test]
    fn absurd_shapes_are_errors() {
        let header =
            "{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999, 9999999999), }\n";
        assert!(parse(&file(1, header, &[])).is_err());
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }\n";
        assert_eq!(
            parse(&file(1, header, &[0; 8])).unwrap_err().message(),
            "the file has 76 bytes, and its header declares 100"
        );
        let unknown = file(1, header, &[0; 8]);
        assert_eq!(
            read(&mut &*unknown, None).unwrap_err().message(),
            "the data end after 8 of 32 bytes"
        );
        let more = file(1, header, &[0; 33]);
        assert_eq!(
            read(&mut &*more, None).unwrap_err().message(),
            "bytes follow the elements of the array"
        );
        let mut huge = MAGIC.to_vec();
        huge.extend([2, 0, 0xff, 0xff, 0xff, 0xff]);
        assert_eq!(
            parse(&huge).unwrap_err().message(),
            "the header claims 4294967295 bytes, and 65536 are the most"
        );
    }
}
