//! Standard output and standard error that are closed, full, or not read to their end; texts in other encodings.
#![cfg(unix)]

mod run;

use run::{Folder, parts};

const SINE: &str = "{ lambda ; a:f32[2]. let b:f32[2] = sin a in (b,) }\n";
const WRONG: &str = "{ lambda ; a:f32[2]. let b:f32[3] = sin a in (b,) }\n";

/// The exit status of a script and what it says.
#[track_caller]
fn ends(folder: &Folder, script: &str, status: i32, out: &str, message: &str) {
    let output = folder.shell(script);
    assert_eq!(
        parts(&output),
        (Some(status), out.to_owned(), message.to_owned()),
        "{script}"
    );
}

fn folder(test: &str) -> Folder {
    let folder = Folder::new(test);
    folder.write("f.jaxpr", SINE);
    folder.write("wrong.jaxpr", WRONG);
    let twice = "{ lambda ; . let  in (1.0:f32[], 2.0:f32[]) }\n";
    folder.write("two.jaxpr", twice);
    folder.write(
        "manifest.jsonl",
        "{\"name\":\"two\",\"group\":\"g\",\"arg_order\":[],\"tol\":[[0,0]]}\n",
    );
    folder
}

#[test]
fn nobody_has_to_read_to_the_end() {
    let folder = folder("pipes");
    for command in [
        "fmt f.jaxpr",
        "help",
        "--version",
        "transform f.jaxpr --jvp",
        "lower f.jaxpr",
        "lower --emit asm f.jaxpr",
        "eval two.jaxpr",
        "bench f.jaxpr --seconds 0",
        "bench f.jaxpr --seconds 0 --json",
        "fmt --help",
    ] {
        let script = format!("{{ jaxide {command}; echo $? >status; }} | true");
        ends(&folder, &script, 0, "", "");
        assert_eq!(folder.read("status"), b"0\n", "{command}");
    }
    // What failed has failed all the same.
    let script = "{ jaxide conformance .; echo $? >status; } | true";
    ends(&folder, script, 0, "", "");
    assert_eq!(folder.read("status"), b"1\n");
    let lines = folder.shell("jaxide help | head -1");
    assert_eq!(parts(&lines).1.lines().count(), 1);
}

#[test]
fn full_outputs_are_failures() {
    let folder = folder("full");
    let message =
        "error: standard output cannot be written: No space left on device (os error 28)\n";
    for command in [
        "fmt f.jaxpr",
        "help",
        "--version",
        "transform f.jaxpr --jvp",
        "lower f.jaxpr",
        "eval two.jaxpr",
        "bench f.jaxpr --seconds 0",
        "bench f.jaxpr --seconds 0 --json",
        "conformance . --json",
        "conformance .",
        "fmt --help",
    ] {
        ends(
            &folder,
            &format!("jaxide {command} >/dev/full"),
            1,
            "",
            message,
        );
    }
    ends(
        &folder,
        "jaxide eval two.jaxpr --output /dev/full",
        1,
        "",
        "error: /dev/full: No space left on device (os error 28)\n",
    );
    ends(
        &folder,
        "jaxide eval two.jaxpr --output /dev/null",
        0,
        "",
        "",
    );
}

/// Who closes or fills standard error gets the exit status.
#[test]
fn standard_error_need_not_be_there() {
    let folder = folder("errors");
    for closed in [
        "2>/dev/full",
        "2>&-",
        ">&- 2>&-",
        "<&- 2>&-",
        "2>&1 | true; exit $?",
    ] {
        let piped = closed.contains('|');
        for (command, status) in [
            ("check wrong.jaxpr", 1),
            ("frobnicate", 2),
            ("check f.jaxpr", 0),
        ] {
            let output = folder.shell(&format!("jaxide {command} {closed}"));
            let expected = if piped { 0 } else { status };
            assert_eq!(
                parts(&output),
                (Some(expected), String::new(), String::new()),
                "{command} {closed}"
            );
        }
    }
    let prints = "{ lambda ; . let\n  debug_print[\n    fmt=here\n    has_placeholders=False\n    in_tree=PyTreeDef([])\n    logging_record=None\n    np_printoptions=()\n    ordered=False\n    partitioned=False\n    static_args=()\n  ]\n in (1.0:f32[],) }\n";
    folder.write("prints.jaxpr", prints);
    for backend in ["eval", "native"] {
        ends(
            &folder,
            &format!("jaxide eval prints.jaxpr --backend {backend}"),
            0,
            "out0: f32[] = 1.0\n",
            "here\n",
        );
        ends(
            &folder,
            &format!("jaxide eval prints.jaxpr --backend {backend} 2>/dev/full"),
            0,
            "out0: f32[] = 1.0\n",
            "",
        );
    }
}

#[test]
fn texts_are_read_in_utf_8() {
    let folder = folder("encodings");
    folder.write("marked.jaxpr", format!("\u{feff}{SINE}"));
    ends(&folder, "jaxide fmt marked.jaxpr", 0, SINE, "");
    ends(&folder, "jaxide fmt <marked.jaxpr", 0, SINE, "");
    ends(&folder, "jaxide check marked.jaxpr", 0, "", "");
    // The mark is not what is written.
    ends(&folder, "jaxide fmt --write marked.jaxpr", 0, "", "");
    assert_eq!(folder.read("marked.jaxpr"), SINE.as_bytes());
    let wide = |bytes: [u8; 2], unit: fn(u16) -> [u8; 2]| {
        let text = SINE.encode_utf16().flat_map(unit);
        bytes.into_iter().chain(text).collect::<Vec<u8>>()
    };
    folder.write("little.jaxpr", wide([0xff, 0xfe], u16::to_le_bytes));
    folder.write("big.jaxpr", wide([0xfe, 0xff], u16::to_be_bytes));
    for file in ["little.jaxpr", "big.jaxpr"] {
        let (status, _, message) = parts(&folder.run(&format!("check {file}")));
        assert_eq!(status, Some(1));
        assert!(
            message.starts_with("error: the text is UTF-16, and not UTF-8\n"),
            "{message}"
        );
        assert!(message.contains(&format!("--> {file}:1:1")), "{message}");
    }
    folder.write(
        "latin.jaxpr",
        b"{ lambda ; a:f32[]. let  in (a,) } # caf\xe9\n",
    );
    let (status, _, message) = parts(&folder.run("check latin.jaxpr"));
    assert_eq!(status, Some(1));
    assert!(
        message.starts_with("error: the text is not UTF-8\n --> latin.jaxpr:1:41"),
        "{message}"
    );
    folder.write("known.txt", b"\xff\xfex");
    let (status, _, message) = parts(&folder.run("conformance . --known known.txt"));
    assert_eq!(
        (status, message.as_str()),
        (
            Some(1),
            "error: known.txt: the text is UTF-16, and not UTF-8\n"
        )
    );
}

#[test]
fn texts_of_any_length_are_read_whole() {
    let folder = folder("lengths");
    for length in [65_535, 65_536, 65_537, 131_072, 1_000_001] {
        // Blanks in front, so that what is behind them is missed if anything is.
        let blanks = " ".repeat(length - SINE.len());
        folder.write("long.jaxpr", format!("{blanks}{SINE}").into_bytes());
        ends(&folder, "jaxide fmt long.jaxpr", 0, SINE, "");
        ends(&folder, "cat long.jaxpr | jaxide fmt -", 0, SINE, "");
        ends(
            &folder,
            "JAXIDE_MEMORY=64M jaxide fmt long.jaxpr",
            0,
            SINE,
            "",
        );
    }
}

#[test]
fn what_is_no_text_is_refused() {
    let folder = folder("no_texts");
    for command in [
        "check",
        "fmt",
        "eval",
        "lower",
        "transform",
        "bench",
        "fmt --write",
    ] {
        ends(
            &folder,
            &format!("jaxide {command} ."),
            1,
            "",
            "error: .: it is a directory\n",
        );
        ends(
            &folder,
            &format!("jaxide {command} none.jaxpr"),
            1,
            "",
            "error: none.jaxpr: No such file or directory (os error 2)\n",
        );
        let (status, out, message) = parts(&folder.shell(&format!(
            "mkfifo -m 600 p; jaxide {command} p; status=$?; rm p; exit $status"
        )));
        assert_eq!((status, out.as_str()), (Some(1), ""), "{command}");
        assert!(
            message.starts_with("error: p: it is a named pipe\n"),
            "{command}: {message}"
        );
    }
    ends(
        &folder,
        "jaxide check /dev/zero --memory 64M",
        1,
        "",
        "error: /dev/zero: the text is larger than 1048576 bytes, the most that are read\n",
    );
    for file in ["/dev/null", "-"] {
        let (status, _, message) = parts(&folder.run(&format!("check {file}")));
        assert_eq!(status, Some(1), "{message}");
        assert!(message.starts_with("error: "), "{message}");
    }
    // Pipes of shells are read.
    ends(&folder, "cat f.jaxpr | jaxide fmt -", 0, SINE, "");
    ends(&folder, "cat f.jaxpr | jaxide fmt /dev/stdin", 0, SINE, "");
    folder.write("zeros.jaxpr", vec![0; 1 << 20]);
    let (status, _, message) = parts(&folder.run("check zeros.jaxpr"));
    assert_eq!(status, Some(1));
    assert!(message.len() < 5000, "{} bytes", message.len());
}
