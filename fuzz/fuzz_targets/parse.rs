//! Any bytes are refused or read; what is read is printed, and read again as the same jaxpr.
#![no_main]

use jaxide_core::jaxpr::parse::parse_bytes;
use jaxide_core::jaxpr::text_compare::normalise;
use jaxide_core::{check, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match parse_bytes(bytes) {
        Ok(jaxpr) => {
            let printed = jaxpr.to_string();
            assert_eq!(parse(&printed).as_ref(), Ok(&jaxpr), "{printed}");
            let _ = check(&jaxpr);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        normalise(text);
    }
});
