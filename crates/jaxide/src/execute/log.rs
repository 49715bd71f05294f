//! What is compiled and why, on standard error where `JAXIDE_LOG` asks for it.

use std::sync::OnceLock;

/// Whether the environment variable `JAXIDE_LOG` lists `compile`.
pub(crate) fn logs_compilation() -> bool {
    static ASKED: OnceLock<bool> = OnceLock::new();
    *ASKED.get_or_init(|| {
        std::env::var("JAXIDE_LOG")
            .is_ok_and(|words| words.split(',').any(|word| word.trim() == "compile"))
    })
}

/// Writes a line about compilation. A reader who has gone away is no reason to fail.
pub(crate) fn report(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr().lock(), "jaxide: {line}");
}
