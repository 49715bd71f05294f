//! Files are written as a whole or not at all.
#![cfg(unix)]

mod run;

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use run::{Folder, is_ignored, parts};

const UNFORMATTED: &str = "{ lambda ; x:f32[2]. let\n y:f32[2] = sin x in (y,) }";
const FORMATTED: &str = "{ lambda ; a:f32[2]. let b:f32[2] = sin a in (b,) }\n";

/// A program whose result has so many megabytes.
fn large(megabytes: usize) -> String {
    let count = megabytes << 18;
    format!(
        "{{ lambda ; . let a:f32[{count}] = iota[dimension=0 dtype=float32 shape=({count},) sharding=None] in (a,) }}\n"
    )
}

#[test]
fn files_keep_permissions_and_links() {
    let folder = Folder::new("permissions");
    folder.write("f.jaxpr", UNFORMATTED);
    let path = folder.0.join("f.jaxpr");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
    symlink("f.jaxpr", folder.0.join("link")).unwrap();
    symlink(folder.0.join("link"), folder.0.join("second")).unwrap();
    assert_eq!(
        parts(&folder.run("fmt --write second")),
        (Some(0), String::new(), String::new())
    );
    assert_eq!(folder.read("f.jaxpr"), FORMATTED.as_bytes());
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o7777, 0o640);
    assert!(folder.0.join("second").is_symlink() && folder.0.join("link").is_symlink());
    assert_eq!(folder.names(), ["f.jaxpr", "link", "second"]);

    // What is right already is not touched.
    let before = std::fs::metadata(&path).unwrap().ino();
    folder.run("fmt -w f.jaxpr");
    assert_eq!(std::fs::metadata(&path).unwrap().ino(), before);

    // New files have the permissions that new files have.
    folder.write(
        "two.jaxpr",
        "{ lambda ; . let  in (1.0:f32[], 2.0:f32[]) }\n",
    );
    symlink("behind.npz", folder.0.join("dangling")).unwrap();
    let output = folder.shell("umask 027; jaxide eval two.jaxpr --output dangling");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let made = std::fs::metadata(folder.0.join("behind.npz")).unwrap();
    assert_eq!(made.mode() & 0o7777, 0o640);
    assert!(folder.0.join("dangling").is_symlink());
}

#[test]
fn what_cannot_be_written_says_so() {
    let folder = Folder::new("unwritable");
    folder.write(
        "two.jaxpr",
        "{ lambda ; . let  in (1.0:f32[], 2.0:f32[]) }\n",
    );
    let says = |output: &str, message: &str| {
        let said = parts(&folder.run(&format!("eval two.jaxpr --output {output}")));
        assert_eq!(
            said,
            (
                Some(1),
                String::new(),
                format!("error: {output}: {message}\n")
            )
        );
    };
    says(".", "it is a directory");
    says(
        "none/x.npz",
        "no file can be made in its folder: No such file or directory (os error 2)",
    );
    says("two.jaxpr/x.npz", "Not a directory (os error 20)");
    symlink("circle", folder.0.join("circle")).unwrap();
    says("circle", "too many links lead on from it");
    let long = "n".repeat(300);
    says(&long, "File name too long (os error 36)");
    assert_eq!(folder.names(), ["circle", "two.jaxpr"]);
}

/// A disk that is full, as a limit on the size of files is: the old file is there, and no other.
#[test]
fn full_disks_leave_what_was() {
    let folder = Folder::new("full_disk");
    folder.write("large.jaxpr", large(4));
    let terms: String = (0..3000)
        .map(|n| format!("y{n}:f32[2] = sin x; "))
        .collect();
    let text = format!("{{ lambda ; x:f32[2]. let {terms} in (x,) }}");
    folder.write("f.jaxpr", &text);
    folder.write("out.npz", "old");
    for (command, place) in [
        (
            "eval large.jaxpr --output out.npz",
            "out.npz: member `out0`",
        ),
        ("fmt --write f.jaxpr", "f.jaxpr"),
    ] {
        let output = folder.shell(&format!("ulimit -f 16; jaxide {command}"));
        let expected = format!("error: {place}: File too large (os error 27)\n");
        assert_eq!(parts(&output), (Some(1), String::new(), expected));
    }
    assert_eq!(folder.read("out.npz"), b"old");
    assert_eq!(folder.read("f.jaxpr"), text.as_bytes());
    assert_eq!(folder.names(), ["f.jaxpr", "large.jaxpr", "out.npz"]);
}

/// Signals end the program as they do, while it writes: the old file is there, and no other.
#[test]
fn signals_leave_what_was() {
    let folder = Folder::new("signals");
    folder.write("large.jaxpr", large(96));
    folder.write("out.npz", "old");
    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        // What is ignored here, under `nohup` say, is ignored by the program too.
        if is_ignored(number) {
            continue;
        }
        let mut command = folder.command(env!("CARGO_BIN_EXE_jaxide"));
        let arguments = [
            "eval",
            "large.jaxpr",
            "--backend",
            "native",
            "--output",
            "out.npz",
        ];
        let mut child = command
            .args(arguments)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        // It is there while the file is written.
        while folder.names().len() == 2 && start.elapsed() < Duration::from_secs(60) {
            assert!(
                child.try_wait().unwrap().is_none(),
                "it ends before it is seen to write"
            );
            std::thread::sleep(Duration::from_micros(200));
        }
        let kill = folder.shell(&format!("kill -{name} {}", child.id()));
        assert!(kill.status.success());
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), Some(number), "{status:?}");
        assert_eq!(folder.names(), ["large.jaxpr", "out.npz"]);
        assert_eq!(folder.read("out.npz"), b"old");
    }
}

/// Who had the program ignore a signal, as `nohup` does, is heard.
#[test]
fn ignored_signals_stay_ignored() {
    let folder = Folder::new("ignored");
    folder.write("f.jaxpr", "{ lambda ; . let  in (1.0:f32[],) }\n");
    let script = "trap '' HUP; jaxide bench f.jaxpr --seconds 1 >/dev/null & sleep 0.5; kill -HUP $!; wait $!";
    assert_eq!(
        parts(&folder.shell(script)),
        (Some(0), String::new(), String::new())
    );
}
