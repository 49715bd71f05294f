//! The header of a `.npy` file: a dictionary of Python with three entries.

use std::io::Read;

#[cfg(feature = "npz")]
use jaxide_core::Aval;
use jaxide_core::{DType, Error, Result, byte_size};

use super::super::{MOST_AXES, broken};

pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// More bytes no header has: so many can version 1.0 of the format say.
const LARGEST: usize = 1 << 16;

/// What a file says about its array.
pub(in super::super) struct Header {
    pub(super) dtype: DType,
    pub(super) big_endian: bool,
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<usize>,
    /// The bytes in front of the elements.
    length: usize,
}

impl Header {
    /// Reads all that is in front of the elements.
    ///
    /// # Errors
    /// When it is damaged, or the dtype has no meaning here.
    pub(in super::super) fn read(reader: &mut impl Read) -> Result<Self> {
        let mut start = [0u8; 10];
        let damaged = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => broken("the header of the array ends early"),
            _ => broken(format!("the header cannot be read: {error}")),
        };
        reader.read_exact(&mut start).map_err(damaged)?;
        let [_, _, _, _, _, _, major, _minor, low, high] = start;
        if !start.starts_with(MAGIC) {
            return Err(broken("the data are no array: they do not begin as one"));
        }
        let (mut fixed, mut length) = (start.len(), usize::from(u16::from_le_bytes([low, high])));
        match major {
            1 => {}
            2 | 3 => {
                let mut rest = [0u8; 2];
                reader.read_exact(&mut rest).map_err(damaged)?;
                fixed += rest.len();
                length |= usize::from(u16::from_le_bytes(rest)) << 16;
            }
            _ => {
                return Err(broken(format!(
                    "version {major} of the header is not known, only 1 to 3 are"
                )));
            }
        }
        if length > LARGEST {
            return Err(broken(format!(
                "the header claims {length} bytes, and {LARGEST} are the most"
            )));
        }
        let mut text = vec![0u8; length];
        reader.read_exact(&mut text).map_err(damaged)?;
        let text = std::str::from_utf8(&text).map_err(|_| broken("the header is no text"))?;
        let mut header = Self::parse(text)?;
        header.length = fixed + length;
        Ok(header)
    }

    /// The type of the array.
    #[cfg(feature = "npz")]
    pub(in super::super) fn aval(&self) -> Aval {
        Aval::new(self.dtype, &self.shape)
    }

    /// The bytes of memory that reading takes: where elements are put in another order, they are there twice.
    ///
    /// # Errors
    /// When they cannot be addressed.
    pub(in super::super) fn memory(&self) -> Result<usize> {
        let size = byte_size(&self.shape, self.dtype)?;
        let copies = if self.fortran_order { 2 } else { 1 };
        Ok(size.saturating_mul(copies))
    }

    /// The bytes of header and elements.
    ///
    /// # Errors
    /// When they cannot be addressed.
    pub(in super::super) fn file_size(&self) -> Result<u64> {
        let size = byte_size(&self.shape, self.dtype)?;
        Ok((self.length as u64).saturating_add(size as u64))
    }

    /// From `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.
    fn parse(text: &str) -> Result<Self> {
        let mut rest = Rest(text);
        let (mut descr, mut order, mut shape) = (None, None, None);
        rest.expect('{')?;
        while !rest.accept('}') {
            let key = rest.string()?;
            rest.expect(':')?;
            let again = match key {
                "descr" => descr.replace(rest.descr()?).is_some(),
                "fortran_order" => order.replace(rest.truth()?).is_some(),
                "shape" => shape.replace(rest.shape()?).is_some(),
                other => return Err(broken(format!("the header has an odd entry `{other}`"))),
            };
            if again {
                return Err(broken(format!("the header has two entries `{key}`")));
            }
            if !rest.accept(',') {
                rest.expect('}')?;
                break;
            }
        }
        if !rest.0.trim().is_empty() {
            return Err(broken("text follows the header's dictionary"));
        }
        let missing = |key: &str| broken(format!("the header has no `{key}`"));
        let (dtype, big_endian) = dtype(descr.ok_or_else(|| missing("descr"))?)?;
        Ok(Header {
            dtype,
            big_endian,
            fortran_order: order.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
            length: 0,
        })
    }
}

/// What is left of the text.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn accept(&mut self, wanted: char) -> bool {
        let rest = self.0.trim_start();
        match rest.strip_prefix(wanted) {
            Some(rest) => self.0 = rest,
            None => self.0 = rest,
        }
        self.0.len() != rest.len()
    }

    fn expect(&mut self, wanted: char) -> Result<()> {
        if self.accept(wanted) {
            return Ok(());
        }
        let found: String = self.0.chars().take(20).collect();
        Err(broken(format!(
            "the header is damaged: `{wanted}` is missing at {found:?}"
        )))
    }

    /// A string in quotes, without escapes.
    fn string(&mut self) -> Result<&'a str> {
        let quote = if self.accept('"') {
            '"'
        } else {
            self.expect('\'')?;
            '\''
        };
        let Some((text, rest)) = self.0.split_once(quote) else {
            return Err(broken("the header is damaged: a string has no end"));
        };
        self.0 = rest;
        Ok(text)
    }

    fn descr(&mut self) -> Result<&'a str> {
        if self.0.trim_start().starts_with('[') {
            return Err(broken("arrays of records cannot be read"));
        }
        self.string()
    }

    fn truth(&mut self) -> Result<bool> {
        let rest = self.0.trim_start();
        for (name, value) in [("True", true), ("False", false)] {
            if let Some(rest) = rest.strip_prefix(name) {
                self.0 = rest;
                return Ok(value);
            }
        }
        Err(broken("`fortran_order` is neither True nor False"))
    }

    /// A tuple of lengths, which old versions of Python end with `L`.
    fn shape(&mut self) -> Result<Vec<usize>> {
        self.expect('(')?;
        let Some((lengths, rest)) = self.0.split_once(')') else {
            return Err(broken("the header is damaged: the shape has no end"));
        };
        self.0 = rest;
        let lengths = lengths.trim();
        if lengths.is_empty() {
            return Ok(Vec::new());
        }
        let mut shape = Vec::new();
        for length in lengths.strip_suffix(',').unwrap_or(lengths).split(',') {
            let length = length.trim();
            let digits = length.strip_suffix('L').unwrap_or(length);
            let number = digits
                .parse::<usize>()
                .ok()
                .filter(|_| digits.bytes().all(|digit| digit.is_ascii_digit()))
                .ok_or_else(|| {
                    let shown: String = length.chars().take(40).collect();
                    broken(format!("`{shown}` is no length of an axis"))
                })?;
            if shape.len() == MOST_AXES {
                return Err(broken(format!("the array has more than {MOST_AXES} axes")));
            }
            shape.push(number);
        }
        Ok(shape)
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
        _ => {
            let shown: String = descr.chars().take(40).collect();
            return Err(Error::unsupported(format!(
                "arrays of dtype `{shown}` cannot be read"
            )));
        }
    };
    Ok((dtype, big_endian))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Result<Vec<usize>> {
        let text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {text}, }}");
        Header::parse(&text).map(|header| header.shape)
    }

    #[test]
    fn shapes_are_tuples_of_lengths() {
        assert!(shape("()").unwrap().is_empty());
        assert_eq!(shape("(3,)").unwrap(), [3]);
        assert_eq!(shape("(3)").unwrap(), [3]);
        assert_eq!(shape("( 2,3 , 0)").unwrap(), [2, 3, 0]);
        assert_eq!(shape("(2L, 3L)").unwrap(), [2, 3]);
        let odd = [
            "(-1,)",
            "(+1,)",
            "(1.0,)",
            "(,)",
            "(1,,2)",
            "(1",
            "1",
            "[1]",
            "(0x1,)",
            "(18446744073709551616,)",
            "(LL,)",
            "((1,),)",
        ];
        for text in odd {
            assert!(shape(text).is_err(), "{text}");
        }
        assert_eq!(shape(&format!("({})", "1,".repeat(64))).unwrap(), [1; 64]);
        assert!(shape(&format!("({})", "1,".repeat(65))).is_err());
    }

    #[test]
    fn headers_are_dictionaries_of_three_entries() {
        let good = "{'fortran_order': True, \"shape\": (2,), 'descr': \"|u1\"}  \n";
        let header = Header::parse(good).unwrap();
        assert!(header.fortran_order && header.dtype == DType::U8 && header.shape == [2]);
        let said = |text: &str| {
            Header::parse(text)
                .map(|_| ())
                .unwrap_err()
                .message()
                .to_owned()
        };
        assert_eq!(said("{}"), "the header has no `descr`");
        assert_eq!(
            said("{'descr': '<f4', 'descr': '<f4'}"),
            "the header has two entries `descr`"
        );
        assert_eq!(
            said("{'descr': '<f4', 'shape': ()}"),
            "the header has no `fortran_order`"
        );
        assert_eq!(said("{'odd': '<f4'}"), "the header has an odd entry `odd`");
        assert_eq!(
            said("{'descr': [('x', '<f4')]}"),
            "arrays of records cannot be read"
        );
        assert_eq!(
            said("{'descr': '<M8[s]', 'fortran_order': False, 'shape': ()}"),
            "arrays of dtype `<M8[s]` cannot be read"
        );
        for text in [
            "",
            "{",
            "{'descr",
            "{'descr':",
            "{'descr': '<f4' 'shape': ()}",
            "{'fortran_order': 1}",
        ] {
            assert!(Header::parse(text).is_err(), "{text}");
        }
        assert!(said(&format!("{} x", good.trim_end())).contains("follows"));
    }
}
