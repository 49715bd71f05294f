//! The target that `JAXIDE_FUZZ_TARGET` names.
#![no_main]

use std::sync::LazyLock;

use jaxide_fuzz::{Target, target};
use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("JAXIDE_FUZZ_TARGET").unwrap_or_default();
    target(&name).unwrap_or_else(|| panic!("there is no target `{name}`"))
});

fuzz_target!(|bytes: &[u8]| (TARGET.run)(bytes));
