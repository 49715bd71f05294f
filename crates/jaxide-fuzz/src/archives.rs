//! Files of arrays as bytes.

use std::path::Path;

use jaxide::io::Archive;
use jaxide_core::memory;
use jaxide_testing::Random;
use jaxide_testing::corpus::files;

/// Files to begin with.
pub struct Archives(Vec<Vec<u8>>);

/// Longer ones are left out.
const LONGEST: usize = 8 << 10;

/// What reading may take.
const LIMIT: usize = 256 << 20;

/// What means something in them, beside their own pieces.
const FRAGMENTS: &[&[u8]] = &[
    b"PK\x03\x04",
    b"PK\x01\x02",
    b"PK\x05\x06",
    b"PK\x06\x06",
    b"\x93NUMPY\x01\x00",
    b"\x93NUMPY\x02\x00",
    b"'descr': '<f4'",
    b"'fortran_order': True",
    b"'shape': (3,)",
    b"{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
    b"\xff\xff\xff\xff",
    b"\0\0\0\0\0\0\0\0",
];

impl Archives {
    /// The short ones of the repository, in both formats.
    ///
    /// # Panics
    /// When they are missing or cannot be read.
    pub(crate) fn of_repository() -> Self {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance");
        let mut all = Vec::new();
        for group in ["seeds", "lax", "numpy", "control"] {
            for file in files(&tests.join(group), "npz") {
                let bytes = std::fs::read(file).expect("a file");
                if bytes.len() > LONGEST {
                    continue;
                }
                let archive = Archive::from_npz(&bytes).expect("an archive");
                all.extend(archive.to_safetensors());
                all.push(bytes);
            }
        }
        assert!(!all.is_empty(), "there are no archives");
        Archives(all)
    }

    /// The archive that belongs to a number, damaged in one to five places.
    pub fn damaged(&self, number: u64) -> Vec<u8> {
        let mut random = Random(number);
        let mut bytes = self.0[random.below(self.0.len())].clone();
        for _ in 0..1 + random.below(5) {
            let at = random.below(bytes.len() + 1);
            let end = (at + random.below(40)).min(bytes.len());
            match random.below(6) {
                0 => drop(bytes.drain(at..end)),
                1 => {
                    let repeated = bytes[at..end].repeat(2 + random.below(8));
                    bytes.splice(at..at, repeated);
                }
                2 => {
                    let fragment = random.pick(FRAGMENTS);
                    let over = if random.one_in(2) { end } else { at };
                    bytes.splice(at..over, fragment.iter().copied());
                }
                3 => bytes.truncate(at),
                _ => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = random.next() as u8;
                    }
                }
            }
        }
        bytes
    }
}

/// Any bytes are refused or read as arrays; what is read is written and read again as the same.
pub(crate) fn run(bytes: &[u8]) {
    memory::set_limit(Some(LIMIT));
    for (read, write) in [
        (
            Archive::from_npz as fn(&[u8]) -> _,
            Archive::to_npz as fn(&Archive) -> _,
        ),
        (Archive::from_safetensors, Archive::to_safetensors),
    ] {
        if let Ok(archive) = read(bytes) {
            let written = write(&archive).expect("what was read can be written");
            let again = read(&written).expect("what was written can be read");
            assert_eq!(write(&again).ok(), Some(written));
        }
    }
}
