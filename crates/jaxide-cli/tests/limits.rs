//! Commands end in time, when they are told to, and within the memory that there is.
#![cfg(unix)]

mod run;

use std::io::Read as _;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use run::{Folder, is_ignored, parts};

const FOREVER: &str = "{ lambda ; . let
    a:f32[8] = while[
      body_jaxpr={ lambda ; b:f32[8]. let c:f32[8] = sin b in (c,) }
      body_nconsts=0
      cond_jaxpr={ lambda ; b:f32[8]. let
          c:f32[] = reduce_max[axes=(0,) out_sharding=None] b
          d:bool[] = le c 1.0:f32[]
        in (d,) }
      cond_nconsts=0
    ] e
  in (a,) }";

/// A folder with a program that never ends.
fn endless(name: &str) -> Folder {
    let folder = Folder::new(name);
    let start =
        "e:f32[8] = broadcast_in_dim[broadcast_dimensions=() shape=(8,) sharding=None] 0.5:f32[]";
    let text = FOREVER.replacen("let\n", &format!("let\n    {start}\n"), 1);
    folder.write("f.jaxpr", text);
    folder.write("out.npz", "old");
    folder
}

/// Longer than this it may not take to end.
const SOON: Duration = Duration::from_secs(20);

#[test]
fn limits_of_time_end_commands() {
    let folder = endless("time_limit");
    folder.prints("check f.jaxpr --time-limit 60", "");
    for command in [
        "eval f.jaxpr --backend eval",
        "eval f.jaxpr --backend native",
        "eval f.jaxpr --backend native-portable --output out.npz",
        "eval f.jaxpr --output out.npz",
        "bench f.jaxpr --backend native",
        "bench f.jaxpr --backend eval",
    ] {
        let start = Instant::now();
        let (status, out, message) = parts(&folder.run(&format!("{command} --time-limit 0.2")));
        assert_eq!(
            (status, out.as_str()),
            (Some(124), ""),
            "{command}: {message}"
        );
        assert!(
            message.contains("the run took longer than 200ms"),
            "{command}: {message}"
        );
        assert!(start.elapsed() < SOON, "{command}");
    }
    assert_eq!(folder.read("out.npz"), b"old");
    assert_eq!(folder.names(), ["f.jaxpr", "out.npz"]);
}

/// What does not look at the clock is ended too: here standard input, to which nobody writes.
#[test]
fn limits_of_time_end_waiting() {
    let folder = Folder::new("waiting");
    for command in ["check -", "fmt", "transform - --grad"] {
        let mut child = (folder.command(env!("CARGO_BIN_EXE_jaxide")))
            .args(command.split(' '))
            .args(["--time-limit", "0.1"])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (open, start) = (child.stdin.take(), Instant::now());
        let mut message = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut message)
            .unwrap();
        let status = child.wait().unwrap();
        assert_eq!(
            (status.code(), message.as_str()),
            (Some(124), "error: the command took longer than 100ms\n"),
            "{command}"
        );
        assert!(start.elapsed() < SOON);
        drop(open);
    }
}

/// Ctrl-C ends a run as it ends programs that know nothing of it.
#[test]
fn signals_end_runs() {
    let folder = endless("run_signals");
    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        // What is ignored here, under `nohup` say, is ignored by the program too.
        if is_ignored(number) {
            continue;
        }
        for backend in ["eval", "native"] {
            let mut child = (folder.command(env!("CARGO_BIN_EXE_jaxide")))
                .args([
                    "eval",
                    "f.jaxpr",
                    "--output",
                    "out.npz",
                    "--backend",
                    backend,
                ])
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_millis(300));
            assert!(child.try_wait().unwrap().is_none(), "it ends by itself");
            let start = Instant::now();
            let kill = folder.shell(&format!("kill -{name} {}", child.id()));
            assert!(kill.status.success());
            let status = child.wait().unwrap();
            assert_eq!(status.signal(), Some(number), "{backend}: {status:?}");
            assert!(start.elapsed() < SOON);
        }
    }
    assert_eq!(folder.read("out.npz"), b"old");
    let shown = folder.shell("jaxide eval f.jaxpr & sleep 0.3; kill -TERM $!; wait $!; echo $?");
    assert_eq!(shown.stdout, b"143\n");
}

/// A machine that is small: what does not fit is refused with the bytes, in both backends.
#[test]
fn small_machines_refuse_what_does_not_fit() {
    let folder = Folder::new("small");
    folder.write(
        "sort.jaxpr",
        "{ lambda ; . let
            b:f32[75000000] = broadcast_in_dim[broadcast_dimensions=() shape=(75000000,) sharding=None] 1.0:f32[]
            c:f32[75000000] = sort[dimension=0 is_stable=True num_keys=1] b
          in (c,) }",
    );
    for backend in ["eval", "native", "native-portable"] {
        let script = format!(
            "ulimit -v 900000; jaxide eval sort.jaxpr --backend {backend} --output /dev/null"
        );
        let (status, _, message) = parts(&folder.shell(&script));
        assert_eq!(status, Some(1), "{backend}: {message}");
        assert!(
            message.starts_with("error: ") && message.contains("memory"),
            "{backend}: {message}"
        );
    }
}
