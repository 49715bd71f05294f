//! Real texts with random damage: reading never panics and takes little time, and what can still be read is printed and
//! read again as the same jaxpr.

use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use jaxide_core::jaxpr::parse::parse_bytes;
use jaxide_core::jaxpr::text_compare::normalise;
use jaxide_core::{check, parse};
use proptest::prelude::*;

/// Short texts of the selection, all folders.
static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let selection = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance");
    let mut texts = Vec::new();
    for group in ["seeds", "control", "lax", "numpy", "programs", "transforms"] {
        let mut files: Vec<_> = std::fs::read_dir(selection.join(group))
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
                prop_assert_eq!(again.as_ref(), Ok(&jaxpr), "{}", printed);
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
