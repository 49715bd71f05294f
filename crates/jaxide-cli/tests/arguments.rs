//! Any command line ends soon, with an exit status that is documented and a message, never with a panic.
//!
//! ```text
//! JAXIDE_COMMAND_LINES=100000 cargo test --release -p jaxide-cli --test arguments -- --nocapture
//! ```
//!
//! runs a hundred thousand. `JAXIDE_COMMAND_LINES_SEED` is the first seed (0), `JAXIDE_COMMAND_LINES_THREADS` the number of
//! threads (all of the machine); `JAXIDE_COMMAND_LINES=1 JAXIDE_COMMAND_LINES_SEED=n` runs one again.

mod run;

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use jaxide_testing::{Random, asked};
use run::Folder;

/// The exit status of a command that takes longer than it was given.
const OUT_OF_TIME: i32 = 124;

/// Longer than this no command may take.
const TIME: Duration = Duration::from_secs(2);

const SINE: &str = "{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }";

const COMMANDS: &[&str] = &[
    "fmt",
    "check",
    "eval",
    "transform",
    "lower",
    "compile",
    "bench",
    "conformance",
    "completions",
    "primitives",
    "help",
    "--help",
    "-h",
    "--version",
    "-V",
    "FMT",
    "",
];

const FILES: &[&str] = &[
    "program.jaxpr",
    "program.jaxpr",
    "program.jaxpr",
    "two.jaxpr",
    "wrong.jaxpr",
    "bytes.jaxpr",
    "marked.jaxpr",
    "wide.jaxpr",
    "empty.jaxpr",
    "missing.jaxpr",
    "arrays.npz",
    ".",
    "-",
    "cases",
    "link",
    "circle",
    "pipe",
    "/dev/null",
    "/dev/zero",
    "",
    "no/such/file",
    "program.jaxpr/x",
    "cases/",
    "é.jaxpr",
];

const FLAGS: &[&str] = &[
    "--check",
    "--write",
    "-w",
    "--classic",
    "--json",
    "--help",
    "-h",
    "--",
    "-x",
    "--unknown",
    "--=",
    "=",
    "-",
    "---",
    "--json=1",
    "--checkpoint",
    "--grad",
    "--jvp",
    "--vjp",
    "--linearize",
    "--jacfwd",
    "--jacrev",
    "--hessian",
    "--value-and-grad",
    "--jit",
    "--vmap",
    "-wh",
    "-\u{1f600}",
];

const OPTIONS: &[&str] = &[
    "--backend",
    "--inputs",
    "--output",
    "--threads",
    "--keep-subnormals",
    "--seconds",
    "--emit",
    "--plan",
    "--time",
    "--memory",
    "--time-limit",
    "--filter",
    "--known",
    "--grad",
    "--vmap",
    "--jvp",
    "--vjp",
    "--jit",
    "--linearize",
];

const VALUES: &[&str] = &[
    "bash",
    "eval",
    "native",
    "native-portable",
    "native-checked",
    "native-avx2",
    "native-avx512",
    "none",
    "jaxpr",
    "simplified",
    "graph",
    "lanes",
    "loops",
    "clif",
    "asm",
    "arrays.npz",
    "good.npz",
    "out.npz",
    "/dev/full",
    "/dev/null",
    "no/out.npz",
    ".",
    "pipe",
    "0",
    "1",
    "2",
    "-1",
    "nan",
    "inf",
    "-inf",
    "1e300",
    "1e-300",
    "0.01",
    "1e9",
    "64",
    "99999999999999999999",
    "18446744073709551615",
    "1K",
    "1M",
    "100M",
    "4G",
    "0G",
    "1.5G",
    "",
    " ",
    "é",
    "argnums=0",
    "argnums=7",
    "argnums=-1",
    "argnums=0,0",
    "argnums=0,tangent_outs=0",
    "argnums=0,cotangent_outs=9",
    "in_axes=0,axis_size=3",
    "in_axes=0,out_axes=-1,axis_size=2",
    "in_axes=None,axis_size=2",
    "axis_size=18446744073709551615",
    "in_axes=-9223372036854775808,axis_size=2",
    "in_axes=0,out_axes=9223372036854775807,axis_size=2",
    "name=f",
    "name=",
    "name=f,g",
    "=",
    ",",
    "x=1",
    "in_axes=0,axis_size=3,axis_name=i",
];

/// The words of a seed: mostly a command with what it takes, and anything in between.
fn words(random: &mut Random) -> Vec<OsString> {
    let mut words: Vec<String> = vec![random.pick(COMMANDS).to_owned()];
    for _ in 0..random.below(6) {
        match random.below(8) {
            0..=2 => words.push(random.pick(FILES).to_owned()),
            3 => words.push(random.pick(FLAGS).to_owned()),
            4 | 5 => {
                words.push(random.pick(OPTIONS).to_owned());
                words.push(random.pick(VALUES).to_owned());
            }
            6 => words.push(format!("{}={}", random.pick(OPTIONS), random.pick(VALUES))),
            _ => words.push(random.pick(VALUES).to_owned()),
        }
    }
    // A measurement takes the time that it is given.
    if words[0] == "bench" && !words.iter().any(|word| word.starts_with("--seconds")) {
        words.push("--seconds=0.01".to_owned());
    }
    if random.below(10) == 0 {
        let place = random.below(words.len());
        words.swap(0, place);
    }
    if random.below(20) == 0 {
        let place = random.below(words.len());
        words.remove(place);
    }
    let mut words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    #[cfg(unix)]
    if random.below(20) == 0 {
        use std::os::unix::ffi::OsStringExt;
        let place = random.below(words.len() + 1);
        words.insert(
            place,
            OsString::from_vec(vec![b'-', b'-', b'x', 0xff][random.below(4)..].to_vec()),
        );
    }
    words
}

/// Whether these words ask to measure for long, which is no mistake.
fn takes_its_time(words: &[OsString]) -> bool {
    let text: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    text.iter().enumerate().any(|(at, word)| {
        let value = match word.strip_prefix("--seconds") {
            Some("") => text.get(at + 1).map(|value| &**value),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        let number = value.and_then(|value| value.parse::<f64>().ok());
        number.is_some_and(|number| (0.5..=1e9).contains(&number))
    })
}

fn folder(thread: usize) -> Folder {
    let folder = Folder::new(&format!("command_lines_{thread}"));
    folder.write("program.jaxpr", SINE);
    folder.write("link.jaxpr", SINE);
    folder.write(
        "two.jaxpr",
        "{ lambda ; . let  in (1.0:f32[], 2.0:f32[]) }\n",
    );
    folder.write(
        "wrong.jaxpr",
        "{ lambda ; a:f32[2]. let b:f32[3] = sin a in (b,) }",
    );
    folder.write("bytes.jaxpr", b"{ lambda \xff");
    folder.write("marked.jaxpr", format!("\u{feff}{SINE}"));
    folder.write("wide.jaxpr", b"\xff\xfe{\0");
    folder.write("empty.jaxpr", "");
    folder.write("arrays.npz", [0x50, 0x4b, 3, 4, 0]);
    assert!(
        folder
            .run("eval two.jaxpr --output two.npz")
            .status
            .success()
    );
    folder.write("made.jaxpr", "{ lambda ; . let  in (1.0:f32[],) }");
    assert!(
        folder
            .run("eval made.jaxpr --output good.npz")
            .status
            .success()
    );
    std::fs::create_dir(folder.0.join("cases")).unwrap();
    folder.write(
        "cases/manifest.jsonl",
        "{\"name\":\"x\",\"group\":\"g\",\"arg_order\":[],\"tol\":[[0,0]]}\n",
    );
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("link.jaxpr", folder.0.join("link")).unwrap();
        std::os::unix::fs::symlink("circle", folder.0.join("circle")).unwrap();
        assert!(
            Command::new("mkfifo")
                .arg(folder.0.join("pipe"))
                .status()
                .unwrap()
                .success()
        );
    }
    folder
}

/// Waits for a process, not for ever.
fn wait(child: &mut Child, limit: Duration) -> Option<std::process::ExitStatus> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        if start.elapsed() > limit {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}

/// Runs one command line. What is wrong with how it ends.
fn attempt(folder: &Folder, seed: u64) -> Result<i32, String> {
    let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let words = words(&mut random);
    if takes_its_time(&words) {
        return Ok(0);
    }
    let full = || {
        File::options()
            .write(true)
            .open("/dev/full")
            .map_or(Stdio::null(), Stdio::from)
    };
    let (unread_out, unread_err) = (random.below(8), random.below(8));
    let memory = random.below(10);
    let run = || {
        let mut command = folder.command(env!("CARGO_BIN_EXE_jaxide"));
        command.args(&words).stdout(Stdio::null());
        match unread_out {
            0 => drop(command.stdout(full())),
            // Nobody is at the other end.
            1 => drop(command.stdout(std::io::pipe().unwrap().1)),
            _ => {}
        }
        let heard = unread_err != 0;
        command.stderr(if heard { Stdio::piped() } else { full() });
        match memory {
            0 => drop(command.env("JAXIDE_MEMORY", "64M")),
            1 => drop(command.env("JAXIDE_MEMORY", "much")),
            _ => {}
        }
        let start = Instant::now();
        let mut child = command.spawn().unwrap();
        // Messages are short: the pipe holds them.
        let status = wait(&mut child, 10 * TIME);
        let taken = start.elapsed();
        let mut message = String::new();
        if let Some(mut pipe) = child.stderr.take() {
            let mut bytes = Vec::new();
            pipe.read_to_end(&mut bytes).unwrap();
            message = String::from_utf8_lossy(&bytes).into_owned();
        }
        (status, taken, message, heard)
    };
    let (mut status, mut taken, mut message, mut heard) = run();
    // A busy machine is slow once, and what hangs is slow each time.
    for _ in 0..2 {
        if taken > TIME {
            (status, taken, message, heard) = run();
        }
    }
    let wrong = |what: &str| Err(format!("seed {seed}: {words:?}: {what}\n{message}"));
    if taken > TIME {
        return wrong(&format!("it takes {taken:?}"));
    }
    let Some(code) = status.and_then(|status| status.code()) else {
        return wrong(&format!("it ends with {status:?}"));
    };
    let limited = (words.iter()).any(|word| word.to_string_lossy().starts_with("--time-limit"));
    let out_of_time = code == OUT_OF_TIME && limited;
    if !(0..=2).contains(&code) && !out_of_time {
        return wrong(&format!("its exit status is {code}"));
    }
    if message.contains("panicked") || message.contains("internal") {
        return wrong("it panics");
    }
    // Failures of `--check` and of cases are reported on standard output.
    let reports = words
        .iter()
        .any(|word| word == "fmt" || word == "conformance");
    if code != 0 && heard && message.is_empty() && !reports {
        return wrong("it says nothing");
    }
    if code == 2 && heard && !message.ends_with("\n\nFor more information, try '--help'.\n") {
        return wrong("a wrong command line is not said to be one");
    }
    Ok(code)
}

#[test]
fn random_command_lines_are_done_or_refused() {
    let count = asked("JAXIDE_COMMAND_LINES").unwrap_or(300);
    let first = asked("JAXIDE_COMMAND_LINES_SEED").unwrap_or(0);
    let machine = std::thread::available_parallelism().map_or(1, |number| number.get() as u64);
    let threads = asked("JAXIDE_COMMAND_LINES_THREADS").unwrap_or(machine);
    let next = AtomicU64::new(first);
    let (wrong, codes) = (Mutex::new(Vec::new()), Mutex::new([0u64; 4]));
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (next, wrong, codes) = (&next, &wrong, &codes);
            scope.spawn(move || {
                let mut folder = folder(thread as usize);
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + count || wrong.lock().unwrap().len() >= 20 {
                        return;
                    }
                    match attempt(&folder, seed) {
                        Ok(code) => codes.lock().unwrap()[code.min(3) as usize] += 1,
                        Err(why) => wrong.lock().unwrap().push(why),
                    }
                    // Some change their files.
                    if seed % 64 == 0 {
                        folder = self::folder(thread as usize);
                    }
                }
            });
        }
    });
    let (wrong, codes) = (wrong.into_inner().unwrap(), codes.into_inner().unwrap());
    println!(
        "{count} command lines from seed {first}: {codes:?} with exit status 0, 1, 2 and 124, {} wrong",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        count < 100 || codes[..3].iter().all(|&code| code * 30 > count),
        "{codes:?}"
    );
}

/// Values that make no sense are named, with those that would.
#[test]
fn odd_values_are_explained() {
    let folder = Folder::new("values");
    folder.write("f.jaxpr", SINE);
    let refused = |arguments: &[&str], option: &str, text: &str, message: &str| {
        let mut command = folder.command(env!("CARGO_BIN_EXE_jaxide"));
        let output = command.args(arguments).output().unwrap();
        let expected = format!(
            "error: invalid value '{text}' for '{option}': {message}\n\nFor more information, try '--help'.\n"
        );
        assert_eq!(
            run::parts(&output),
            (Some(2), String::new(), expected),
            "{arguments:?}"
        );
    };
    for text in [
        "nan", "inf", "-1", "-0.5", "1e10", "1e400", "", "one", "0x1",
    ] {
        let message = "a number of seconds is from 0 to 1000000000";
        let option = "--seconds <S>";
        refused(
            &["bench", "f.jaxpr", "--seconds", text],
            option,
            text,
            message,
        );
        let joined = format!("--seconds={text}");
        refused(&["bench", "f.jaxpr", &joined], option, text, message);
        let option = "--time-limit <SECONDS>";
        refused(
            &["check", "f.jaxpr", "--time-limit", text],
            option,
            text,
            message,
        );
        refused(
            &["--time-limit", text, "check", "f.jaxpr"],
            option,
            text,
            message,
        );
    }
    for command in ["eval", "lower", "bench"] {
        for text in ["0", "-1", "1.5", "", "many", "99999999999999999999"] {
            let message = "a number of threads is from 1 on";
            let words = [command, "f.jaxpr", "--threads", text];
            refused(&words, "--threads <N>", text, message);
        }
    }
    for command in COMMANDS
        .iter()
        .take_while(|command| **command != "completions")
    {
        for text in ["", "-1", "1.5G", "much", "1GB"] {
            let message = format!("`{text}` is no number of bytes, such as 500M or 4G");
            let words = [command, "f.jaxpr", "--memory", text];
            refused(&words, "--memory <BYTES>", text, &message);
        }
        for text in ["0", "9999999999T"] {
            let most = isize::MAX;
            let message = format!("`{text}` is no possible number of bytes: from 1 to {most} are");
            let words = [command, "f.jaxpr", "--memory", text];
            refused(&words, "--memory <BYTES>", text, &message);
        }
    }
    refused(
        &["bench", "-"],
        "<FILE>",
        "-",
        "it is read twice, which standard input cannot be",
    );
    let step = |words: &[&str], option: &str, text: &str, message: &str| {
        let words = [&["transform", "f.jaxpr"], words].concat();
        refused(&words, option, text, message);
    };
    step(
        &["--grad", "argnum=1"],
        "--grad[=<SETTINGS>]",
        "argnum=1",
        "there is no setting `argnum` of this step, only argnums",
    );
    step(
        &["--vmap=3"],
        "--vmap[=<SETTINGS>]",
        "3",
        "`3` belongs to no setting",
    );
    step(
        &["--checkpoint=x=1"],
        "--checkpoint[=<SETTINGS>]",
        "x=1",
        "this step has no settings",
    );
}

/// Words that are no text are names of files, and no reason to panic.
#[cfg(unix)]
#[test]
fn words_need_not_be_text() {
    use std::os::unix::ffi::OsStringExt;
    let folder = Folder::new("words");
    let name = OsString::from_vec(b"caf\xe9.jaxpr".to_vec());
    std::fs::write(folder.0.join(&name), format!("{SINE}\n")).unwrap();
    let run = |words: &[&OsString]| {
        let mut command = folder.command(env!("CARGO_BIN_EXE_jaxide"));
        run::parts(&command.args(words).output().unwrap())
    };
    let word = |text: &str| OsString::from(text);
    assert_eq!(
        run(&[&word("fmt"), &name]),
        (Some(0), format!("{SINE}\n"), String::new())
    );
    let (status, _, message) = run(&[&name, &word("--help")]);
    assert_eq!(status, Some(2));
    assert!(
        message.starts_with("error: unrecognized subcommand 'caf\u{fffd}.jaxpr'\n"),
        "{message}"
    );
    let (status, _, message) = run(&[&word("check"), &OsString::from_vec(b"--\xff".to_vec())]);
    assert_eq!(status, Some(2), "{message}");
    let (status, _, message) = run(&[&word("bench"), &name, &word("--seconds"), &name]);
    assert_eq!(status, Some(2), "{message}");
}

/// A limit of memory holds for what is read.
#[test]
fn memory_is_limited() {
    let folder = Folder::new("memory");
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (8000,), }";
    let mut array = b"\x93NUMPY\x01\x00".to_vec();
    array.extend((header.len() as u16).to_le_bytes());
    array.extend(header.as_bytes());
    array.resize(array.len() + 32_000, 0);
    folder.write("in.npz", archive("in0.npy", &array));
    folder.write("f.jaxpr", "{ lambda ; a:f32[8000]. let b:f32[] = reduce_sum[axes=(0,) out_sharding=None] a in (b,) }\n");
    let run = |limit: Option<&str>, arguments: &str| {
        let mut command = folder.command(env!("CARGO_BIN_EXE_jaxide"));
        command.args(arguments.split(' '));
        if let Some(limit) = limit {
            command.env("JAXIDE_MEMORY", limit);
        }
        run::parts(&command.output().unwrap())
    };
    let (status, _, message) = run(Some("50K"), "check f.jaxpr");
    assert_eq!((status, message.as_str()), (Some(0), ""));
    let (status, _, message) = run(Some("4K"), "check f.jaxpr");
    assert_eq!(status, Some(1));
    assert_eq!(
        message,
        "error: f.jaxpr: the text is larger than 64 bytes, the most that are read\n"
    );
    let inputs = "eval f.jaxpr --inputs in.npz";
    assert_eq!(
        run(None, inputs),
        (Some(0), "out0: f32[] = 0.0\n".to_owned(), String::new())
    );
    let (status, _, message) = run(Some("30K"), inputs);
    assert_eq!(status, Some(1));
    let said =
        "error: in.npz: member `in0`: 32000 bytes of memory are needed, and 30720 may be taken\n";
    assert!(message.starts_with(said), "{message}");
    // What is said on the command line goes before what the environment says.
    assert_eq!(run(Some("4K"), "check f.jaxpr --memory 1M").0, Some(0));
}

/// A ZIP file of one member without compression.
fn archive(name: &str, data: &[u8]) -> Vec<u8> {
    let crc = !data.iter().fold(!0u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 }
        })
    });
    let size = (data.len() as u32).to_le_bytes();
    let length = (name.len() as u16).to_le_bytes();
    let fields = [
        &[20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0][..],
        &crc.to_le_bytes(),
        &size,
        &size,
        &length,
        &[0, 0],
    ]
    .concat();
    let mut bytes = [&b"PK\x03\x04"[..], &fields, name.as_bytes(), data].concat();
    let at = (bytes.len() as u32).to_le_bytes();
    let entry = [
        &b"PK\x01\x02\x14\x03"[..],
        &fields,
        &[0; 14],
        name.as_bytes(),
    ]
    .concat();
    let end = [
        &b"PK\x05\x06\0\0\0\0\x01\0\x01\0"[..],
        &(entry.len() as u32).to_le_bytes(),
        &at,
        &[0, 0],
    ]
    .concat();
    bytes.extend(entry);
    bytes.extend(end);
    bytes
}
