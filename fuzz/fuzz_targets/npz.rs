//! Any bytes are refused or read as arrays; what is read is written and read again as the same.
#![no_main]
#![allow(dead_code, missing_docs)]

#[path = "../../crates/jaxide-cli/src/npz/mod.rs"]
mod npz;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(read) = npz::Npz::parse(bytes)
        && let Ok(written) = read.to_bytes()
    {
        let again = npz::Npz::parse(&written).expect("what was written");
        assert_eq!(again.to_bytes().ok(), Some(written));
    }
});
