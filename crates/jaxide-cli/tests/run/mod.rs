//! Running the program in a folder of its own.
#![allow(dead_code, reason = "each test uses some of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder of its own for each test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(test: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.join(name)).unwrap()
    }

    /// The names of the files in the folder, hidden ones included.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// The program, with nothing on standard input.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.0)
            .env("NO_COLOR", "1")
            .env_remove("JAXIDE_MEMORY")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &str) -> Output {
        let mut command = self.command(env!("CARGO_BIN_EXE_jaxide"));
        command.args(arguments.split_whitespace()).output().unwrap()
    }

    /// A command that succeeds prints this.
    #[track_caller]
    pub(crate) fn prints(&self, arguments: &str, expected: &str) {
        let said = parts(&self.run(arguments));
        assert_eq!(said, (Some(0), expected.to_owned(), String::new()));
    }

    /// A command fails with this message and exit status.
    #[track_caller]
    pub(crate) fn fails(&self, arguments: &str, status: i32, expected: &str) {
        let (code, _, message) = parts(&self.run(arguments));
        assert_eq!(message, expected);
        assert_eq!(code, Some(status));
    }

    /// What a shell does; `jaxide` is the program.
    pub(crate) fn shell(&self, script: &str) -> Output {
        let mut command = self.command("sh");
        let script = script.replace("jaxide", "\"$JAXIDE\"");
        command
            .env("JAXIDE", env!("CARGO_BIN_EXE_jaxide"))
            .args(["-c", &script])
            .output()
            .unwrap()
    }
}

/// Exit status, standard output and standard error.
pub(crate) fn parts(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// Whether this process ignores a signal.
pub(crate) fn is_ignored(number: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (number - 1) & 1 == 1)
}
