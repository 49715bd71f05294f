//! Every argument of JAX's functions that has a default can be given here, or the table of arguments says what to write instead, or why
//! there is none.
//!
//! A path of `docs/functions.md` is looked up in the source: its argument is a parameter of the function, or a field of a struct that
//! the function takes. Of functions that macros write, it is a parameter or a field in one of the folders that have their names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const JAX_ARGUMENTS: &str = include_str!("names/jax-arguments.txt");
const ARGUMENTS: &str = include_str!("names/arguments.txt");
const TABLE: &str = include_str!("../../../../docs/functions.md");
const PATHS: &str = include_str!("paths.rs");

/// What is missing everywhere, as the table says.
const NOWHERE: &[&str] = &[
    "accuracy",
    "check_finite",
    "copy",
    "device",
    "is_leaf",
    "is_leaf_takes_path",
    "order",
    "out",
    "out_sharding",
    "overwrite_a",
    "overwrite_b",
    "overwrite_c",
    "sharding",
];

/// A file of the source, without its comments.
struct Source {
    path: PathBuf,
    text: String,
}

fn sources(folder: &Path, found: &mut Vec<Source>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|own| own == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.lines().map(|line| line.split("//").next().unwrap());
            let text = code.collect::<Vec<_>>().join("\n");
            found.push(Source { path, text });
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_word(c))
        .filter(|word| !word.is_empty())
}

/// The words in front of a colon: parameters and fields.
fn named(text: &str) -> BTreeSet<String> {
    let before = text
        .match_indices(':')
        .filter(|(at, _)| !text[at + 1..].starts_with(':') && !text[..*at].ends_with(':'));
    let names =
        before.filter_map(|(at, _)| words(text[..at].rsplit([' ', '(', '\n']).next()?).last());
    names
        .map(|name| name.trim_end_matches('_').to_lowercase())
        .collect()
}

/// What stands in the brackets that open before `text`.
fn bracketed(text: &str, open: char, close: char) -> &str {
    let mut depth = 1;
    let end = text.find(|c: char| {
        depth += i32::from(c == open) - i32::from(c == close);
        depth == 0
    });
    &text[..end.unwrap_or(text.len())]
}

/// The fields of each struct; `of axes` and `by shape` are fields that the macro `options!` adds.
fn structs(sources: &[Source]) -> BTreeMap<&str, BTreeSet<String>> {
    let mut all: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for source in sources {
        for item in source.text.split("pub struct ").skip(1) {
            let Some((head, body)) = item.split_once('{') else {
                continue;
            };
            if head.contains([';', '(']) {
                continue;
            }
            let fields = all.entry(words(head).next().unwrap()).or_default();
            fields.extend(named(bracketed(body, '{', '}')));
            fields.extend(head.contains(" of axes").then(|| "axis".to_owned()));
            fields.extend(head.contains(" by shape").then(|| "shape".to_owned()));
        }
    }
    all
}

#[test]
fn every_argument_is_there_or_in_the_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(&root.join("src"), &mut files);
    sources(&root.join("../jaxide-tree/src"), &mut files);
    let structs = structs(&files);
    let listed: BTreeSet<&str> = ARGUMENTS
        .lines()
        .filter_map(|line| Some(line.split_once(')')?.0))
        .collect();
    let rows = TABLE
        .lines()
        .filter_map(|row| row.strip_prefix("| `")?.strip_suffix("` |"));
    let places: BTreeMap<&str, &str> = rows.filter_map(|row| row.split_once("` | `")).collect();
    let mut missing = Vec::new();
    for line in JAX_ARGUMENTS.lines() {
        let (function, arguments) = line.split_once(' ').unwrap();
        let Some(path) = places
            .get(function)
            .filter(|path| PATHS.contains(&format!("use jaxide::{path} as _;")))
        else {
            continue;
        };
        let (module, name) = path.rsplit_once("::").unwrap_or(("", path));
        let room = module.split("::").next().unwrap();
        let near = |source: &&Source| {
            let path = source.path.to_str().unwrap();
            room.is_empty()
                || path.contains(&format!("/{room}/"))
                || path.ends_with(&format!("/{room}.rs"))
        };
        let (mut there, mut folders) = (BTreeSet::new(), BTreeSet::new());
        let mut written = false;
        // What the room has from another one is read where it is written.
        let mut elsewhere = Vec::new();
        for source in &files {
            let within = near(&source);
            for (at, _) in source.text.match_indices(&format!("pub fn {name}")) {
                let rest = &source.text[at + "pub fn ".len() + name.len()..];
                if rest.starts_with(is_word) {
                    continue;
                }
                let (_, rest) = rest.split_once('(').unwrap();
                let signature = bracketed(rest, '(', ')');
                let mut arguments = named(signature);
                for (_, fields) in words(signature).filter_map(|word| structs.get_key_value(word)) {
                    arguments.extend(fields.iter().cloned());
                }
                written |= within;
                if within {
                    there.extend(arguments);
                } else {
                    elsewhere.extend(arguments);
                }
            }
            if within && words(&source.text).any(|word| word == name) {
                folders.insert(source.path.parent().unwrap());
            }
        }
        if !written {
            let beside = files
                .iter()
                .filter(|source| folders.contains(source.path.parent().unwrap()));
            there.extend(beside.flat_map(|source| named(&source.text)));
            there.extend(elsewhere);
        }
        // JAX refuses `where` of functions of elements.
        let of_elements = |argument: &str| argument == "where" && arguments == "out where";
        let lost = arguments.split(' ').filter(|argument| {
            !NOWHERE.contains(argument)
                && !argument.starts_with('_')
                && !of_elements(argument)
                && !listed.contains(&format!("{function}({argument}")[..])
                && !there.contains(&argument.trim_end_matches('_').to_lowercase())
        });
        missing.extend(lost.map(|argument| format!("{function}({argument})")));
    }
    assert!(
        missing.is_empty(),
        "{} arguments:\n{}",
        missing.len(),
        missing.join("\n")
    );
}
