//! Any bytes are refused or read as arrays; what is read is written and read again as the same.
#![no_main]

use jaxide::io::Archive;
use jaxide_core::memory;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    memory::set_limit(Some(256 << 20));
    for (read, write) in [
        (Archive::from_npz as fn(&[u8]) -> _, Archive::to_npz as fn(&Archive) -> _),
        (Archive::from_safetensors, Archive::to_safetensors),
    ] {
        if let Ok(archive) = read(bytes) {
            let written = write(&archive).expect("what was read can be written");
            let again = read(&written).expect("what was written can be read");
            assert_eq!(write(&again).ok(), Some(written));
        }
    }
});
