//! Real texts with random damage: reading never panics and takes little time, and what can still be read is printed and
//! read again as the same jaxpr.

use std::ops::Range;
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use jaxide_core::jaxpr::parse::parse_bytes;
use jaxide_core::jaxpr::text_compare::normalise;
use jaxide_core::{check, parse};
use proptest::prelude::*;

/// Short texts of the selection, all folders.
static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let mut texts = Vec::new();
    let selection = ["seeds", "control", "lax", "numpy", "programs", "transforms"];
    let selection = selection.map(|group| format!("conformance/{group}"));
    // The texts of other libraries come up more often than their number would make them.
    let foreign = std::iter::repeat_n("files/foreign".to_owned(), 5);
    for group in selection.into_iter().chain(foreign) {
        let mut files: Vec<_> = std::fs::read_dir(tests.join(group))
            .unwrap()
            .map(|file| file.unwrap().path())
            .filter(|path| {
                path.extension()
                    .is_some_and(|extension| extension == "jaxpr")
            })
            .collect();
        files.sort();
        texts.extend(
            files
                .iter()
                .map(|file| std::fs::read_to_string(file).unwrap()),
        );
    }
    texts.retain(|text| text.len() < 4000);
    texts
});

/// What stands where in a text means something.
const FRAGMENTS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ";",
    ":",
    ",",
    ".",
    "=",
    "<-",
    "+=",
    "_",
    " in (",
    "let ",
    "lambda",
    "\n",
    "    ",
    "{ lambda ; a:f32[]. let  in (a,) }",
    "a:f32[]",
    "nan:f32[]",
    "-inf:f32[]",
    "(1+2j):c64[]",
    "9999999999999999999",
    "-",
    "np.int64(",
    "None",
    "True",
    "'",
    "\"",
    "\\",
    "é",
    "\u{a0}",
    "\0",
    "#",
    "Ref{",
    "key<fry>",
    "f32[2147483647]",
    "jaxpr=jaxpr",
    "name=",
    "_LinearSolveTuple(matvec=",
    "PyTreeDef(",
    "odd[",
    "foo[3]",
    "static=({ lambda ; a:f32[]. let  in (a,) }, 3)",
    "let jaxpr = { lambda ; a:f32[]. let  in (a,) } in",
    "RightsOnly(",
    "i:i+2",
    "[...]",
    "@(x,y)",
    "{V:i}",
];

#[derive(Clone, Debug)]
enum Damage {
    Remove(usize, usize),
    Repeat(usize, usize, usize),
    Insert(usize, usize),
    Byte(usize, u8),
    Splice(usize, usize, usize, usize),
    Cut(usize),
    /// A token becomes one of another text.
    Token(usize, usize, usize),
    /// Two tokens change places.
    Exchange(usize, usize),
}

/// The tokens of a text: words and numbers, and single signs.
fn tokens(text: &[u8]) -> Vec<Range<usize>> {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let mut tokens: Vec<Range<usize>> = Vec::new();
    for (at, &byte) in text.iter().enumerate() {
        match tokens.last_mut() {
            Some(last) if last.end == at && word(byte) && word(text[at - 1]) => last.end += 1,
            _ if byte.is_ascii_whitespace() => {}
            _ => tokens.push(at..at + 1),
        }
    }
    tokens
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = any::<usize>;
    prop_oneof![
        (place(), 0..40usize).prop_map(|(at, length)| Damage::Remove(at, length)),
        (place(), 0..60usize, 2..20usize)
            .prop_map(|(at, length, times)| Damage::Repeat(at, length, times)),
        (place(), 0..FRAGMENTS.len()).prop_map(|(at, fragment)| Damage::Insert(at, fragment)),
        (place(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        (place(), place(), place(), 0..200usize)
            .prop_map(|(at, text, from, length)| Damage::Splice(at, text, from, length)),
        place().prop_map(Damage::Cut),
        (place(), place(), place()).prop_map(|(at, text, from)| Damage::Token(at, text, from)),
        (place(), place()).prop_map(|(one, other)| Damage::Exchange(one, other)),
    ]
}

impl Damage {
    fn apply(&self, text: &mut Vec<u8>) {
        let place = |at: usize, text: &[u8]| at % (text.len() + 1);
        match *self {
            Damage::Remove(at, length) => {
                let start = place(at, text);
                let end = (start + length).min(text.len());
                text.drain(start..end);
            }
            Damage::Repeat(at, length, times) => {
                let start = place(at, text);
                let end = (start + length).min(text.len());
                let piece = text[start..end].repeat(times);
                text.splice(start..start, piece);
            }
            Damage::Insert(at, fragment) => {
                let start = place(at, text);
                text.splice(start..start, FRAGMENTS[fragment].bytes());
            }
            Damage::Byte(at, byte) => {
                let start = place(at, text);
                if let Some(slot) = text.get_mut(start) {
                    *slot = byte;
                }
            }
            Damage::Splice(at, other, from, length) => {
                let other = TEXTS[other % TEXTS.len()].as_bytes();
                let begin = place(from, other);
                let piece = other[begin..(begin + length).min(other.len())].to_vec();
                let start = place(at, text);
                text.splice(start..start, piece);
            }
            Damage::Cut(at) => text.truncate(place(at, text)),
            Damage::Token(at, other, from) => {
                let other = TEXTS[other % TEXTS.len()].as_bytes();
                let (own, others) = (tokens(text), tokens(other));
                if !own.is_empty() {
                    let new = others[from % others.len()].clone();
                    text.splice(own[at % own.len()].clone(), other[new].iter().copied());
                }
            }
            Damage::Exchange(one, other) => {
                let all = tokens(text);
                if !all.is_empty() {
                    let (one, other) = (one % all.len(), other % all.len());
                    let (first, last) = (all[one.min(other)].clone(), all[one.max(other)].clone());
                    if first.end <= last.start {
                        let (a, b) = (text[first.clone()].to_vec(), text[last.clone()].to_vec());
                        text.splice(last, a);
                        text.splice(first, b);
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_texts_are_refused_or_read(text in any::<usize>(), damages in prop::collection::vec(damage(), 1..6)) {
        let mut bytes = TEXTS[text % TEXTS.len()].clone().into_bytes();
        for damage in &damages {
            damage.apply(&mut bytes);
        }
        let start = Instant::now();
        let result = parse_bytes(&bytes);
        prop_assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        match result {
            Ok(jaxpr) => {
                let printed = jaxpr.to_string();
                let again = parse(&printed);
                let text = String::from_utf8_lossy(&bytes);
                prop_assert!(again.as_ref() == Ok(&jaxpr), "read:\n{text}\nprinted:\n{printed}\nread again: {:?}", again.map(|again| again.to_string()).map_err(|error| error.to_string()));
                // Legal or not, it is told without a panic.
                let _ = check(&jaxpr);
            }
            Err(error) => {
                prop_assert!(!error.diagnostics().is_empty());
                prop_assert!(error.render(Some("damaged"), true).contains("error"));
            }
        }
        let _ = normalise(&String::from_utf8_lossy(&bytes));
    }
}
