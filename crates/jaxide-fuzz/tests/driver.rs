//! What watches the targets finds what is wrong in one that fails on purpose, and nothing in the others.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use jaxide_fuzz::{TARGETS, target};
use jaxide_testing::corpus::Corpus;

fn run(words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jaxide-fuzz"));
    command.args(words.split_whitespace()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn every_kind_of_end_is_found_and_shrinks() {
    let output = run("broken --count 1500 --seed 5 --slow 1");
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for class in ["panic at", "a hang", "signal: 6"] {
        assert!(said.contains(class), "{class} in {said}");
    }
    assert!(said.contains("broken: 1500 cases from seed 5 in"), "{said}");
    let shrink = said
        .lines()
        .find_map(|line| line.trim().strip_prefix("fuzz/run shrink "));
    // The first one that panics.
    let panics = said
        .split("broken: ")
        .find(|part| part.starts_with("panic at"))
        .unwrap();
    let file = panics
        .lines()
        .find_map(|line| line.trim().strip_prefix("fuzz/run shrink "));
    assert!(shrink.is_some());
    let file = root().join(file.unwrap());
    let output = run(&format!("shrink {}", file.display()));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let kept = root().join("tests/files/fuzz/broken");
    let small = std::fs::read(kept.join(file.file_name().unwrap())).unwrap();
    std::fs::remove_dir_all(kept).unwrap();
    assert_eq!(text(&small), "panic");
    for found in std::fs::read_dir(root().join("fuzz/findings")).unwrap() {
        let path = found.unwrap().path();
        if path
            .file_name()
            .unwrap()
            .to_string_lossy()
            .starts_with("broken-5-")
        {
            std::fs::remove_file(path).unwrap();
        }
    }
}

#[test]
fn the_same_seed_has_the_same_cases() {
    let output = run("text check --count 60 --seed 11");
    let said = text(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{said}{}",
        text(&output.stderr)
    );
    assert!(
        said.contains("text: 60 cases from seed 11 in")
            && said.ends_with("nothing found from seed 11\n"),
        "{said}"
    );
    let corpus = Corpus::of_repository();
    assert_eq!(corpus.damaged(77), corpus.damaged(77));
    assert_ne!(corpus.damaged(77), corpus.damaged(78));
}

#[test]
fn wrong_command_lines_are_refused() {
    for words in [
        "",
        "nothing",
        "text --minutes nan",
        "text --minutes -1",
        "text --count x",
        "shrink",
        "text --twice",
    ] {
        let output = run(words);
        assert_eq!(output.status.code(), Some(2), "{words}: {output:?}");
        assert!(text(&output.stderr).starts_with("error: "), "{words}");
    }
    assert!(text(&run("--help").stdout).contains("command-lines"));
}

/// Every damaged text of a few hundred seeds is fed to every target here too, where a debugger can stop.
#[test]
fn targets_hold_on_some_inputs() {
    let seeds = jaxide_fuzz::Seeds::of_repository();
    for target in TARGETS {
        for number in 0..60 {
            println!("{} {number}", target.name);
            (target.run)(&(target.input)(&seeds, number));
        }
    }
}

/// What was found once is not wrong any more.
#[test]
fn findings_stay_mended() {
    let folder = root().join("tests/files/fuzz");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        if name == "broken" {
            continue;
        }
        let target = target(&name).unwrap_or_else(|| panic!("there is no target {name}"));
        for file in std::fs::read_dir(&folder).unwrap() {
            let path = file.unwrap().path();
            println!("{}", path.display());
            (target.run)(&std::fs::read(&path).unwrap());
            count += 1;
        }
    }
    assert!(count > 0);
}

/// Words of the language are in the dictionary, in the form that libFuzzer reads.
#[test]
fn the_dictionary_has_every_name() {
    let output = run("dictionary");
    let lines: Vec<String> = text(&output.stdout).lines().map(str::to_owned).collect();
    for word in [
        "\"dot_general\"",
        "\"dimension_numbers=\"",
        "\"f32[\"",
        "\"bfloat16\"",
        "\"lambda\"",
        "\"\\x22\"",
        "\"\\x0A\"",
    ] {
        assert!(lines.iter().any(|line| line == word), "{word}");
    }
    assert!(lines.iter().all(|line| line.is_ascii() && line.len() > 2));
}
