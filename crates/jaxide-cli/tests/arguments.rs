//! Any command line ends with an exit status and a message, never with a panic.

use std::process::{Command, Stdio};

use jaxide_testing::config;
use proptest::prelude::*;

/// What means something on a command line, or nearly does.
const WORDS: &[&str] = &[
    "fmt",
    "check",
    "eval",
    "transform",
    "lower",
    "bench",
    "conformance",
    "help",
    "--help",
    "-h",
    "--version",
    "program.jaxpr",
    "missing.jaxpr",
    "-",
    ".",
    "--check",
    "--classic",
    "--backend",
    "native",
    "eval",
    "--backend=none",
    "--inputs",
    "--inputs=arrays.npz",
    "--output=/",
    "--threads",
    "0",
    "1",
    "-1",
    "99999999999999999999",
    "--seconds=nan",
    "--seconds=-1",
    "--json",
    "--emit=clif",
    "--emit",
    "loops",
    "--grad",
    "--grad=argnums=7",
    "--grad=argnums=-1",
    "argnums=0",
    "--jvp",
    "--jvp=argnums=0,0",
    "--vjp=argnums=0,cotangent_outs=9",
    "--vmap",
    "--vmap=in_axes=0,axis_size=3",
    "--vmap=in_axes=-9223372036854775808,axis_size=18446744073709551615",
    "--vmap=in_axes=0,out_axes=9223372036854775807,axis_size=2",
    "--hessian",
    "--jit=name=f",
    "--checkpoint",
    "--unknown",
    "-x",
    "--",
    "=",
    "--=",
    "é",
    "",
];

const PROGRAM: &str = "{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }";

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn command_lines_are_done_or_refused(words in prop::collection::vec(prop::sample::select(WORDS), 0..6)) {
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("command_lines");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("program.jaxpr"), PROGRAM).unwrap();
        std::fs::write(folder.join("arrays.npz"), [0x50, 0x4b, 3, 4, 0]).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_jaxide"))
            .current_dir(&folder)
            .args(words)
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        prop_assert!(matches!(output.status.code(), Some(0..=2)), "{:?}: {message}", output.status);
        prop_assert!(output.status.success() || !message.is_empty());
        prop_assert!(!message.contains("panicked"), "{message}");
    }
}
