//! Texts of the repository, and what random damage makes of them.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use jaxide_core::{DType, Prim};

use crate::equations::changed;
use crate::random::Random;

/// Texts to begin with, and words that mean something in them.
#[derive(Clone, Debug)]
pub struct Corpus {
    texts: Vec<Vec<u8>>,
    words: Vec<String>,
}

/// Longer texts are left out.
const LONGEST: usize = 4000;

/// What stands where in a text means something, beside the names of primitives, parameters and element types.
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

impl Corpus {
    /// The texts of `tests`: JAX's, those of other libraries, which come up more often than their number would make them,
    /// and what once was wrong.
    ///
    /// # Panics
    /// When the folder is missing.
    pub fn of_repository() -> Self {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
        let jax = ["seeds", "control", "lax", "numpy", "programs", "transforms"];
        let jax = jax.map(|group| format!("conformance/{group}"));
        let own = ["error", "illegal"].map(|folder| format!("files/{folder}"));
        let foreign = std::iter::repeat_n("files/foreign".to_owned(), 5);
        let mut texts = Vec::new();
        for folder in jax.into_iter().chain(own).chain(foreign) {
            let files = files(&tests.join(&folder), "jaxpr");
            assert!(!files.is_empty(), "{folder} has no texts");
            let read = |file: &PathBuf| std::fs::read(file).expect("a file");
            texts.extend(files.iter().map(read).filter(|text| text.len() < LONGEST));
        }
        Corpus {
            texts,
            words: dictionary(),
        }
    }

    /// The texts.
    pub fn texts(&self) -> &[Vec<u8>] {
        &self.texts
    }

    /// The words, in the form that libFuzzer reads.
    pub fn dictionary(&self) -> String {
        let quoted = |word: &String| {
            let bytes = word.bytes().map(|byte| match byte {
                b' '..=b'~' if byte != b'"' && byte != b'\\' => char::from(byte).to_string(),
                _ => format!("\\x{byte:02X}"),
            });
            format!("\"{}\"\n", bytes.collect::<String>())
        };
        self.words.iter().map(quoted).collect()
    }

    /// The text that belongs to a seed, damaged in one to five places.
    pub fn damaged(&self, seed: u64) -> Vec<u8> {
        let mut random = Random(seed);
        let mut text = self.any(&mut random).to_vec();
        for _ in 0..1 + random.below(5) {
            self.damage(&mut text, &mut random);
        }
        text
    }

    /// The text that belongs to a seed with numbers, types and truth values changed, so that it mostly says something
    /// still; sometimes damaged as well.
    pub fn changed(&self, seed: u64) -> Vec<u8> {
        let mut random = Random(seed);
        let text = self.any(&mut random);
        let Ok(text) = std::str::from_utf8(text) else {
            return text.to_vec();
        };
        let mut text = text.to_owned();
        for _ in 0..random.below(4) {
            text = changed(&text, &mut random);
        }
        let mut text = text.into_bytes();
        if random.one_in(4) {
            self.damage(&mut text, &mut random);
        }
        text
    }

    fn any(&self, random: &mut Random) -> &[u8] {
        &self.texts[random.below(self.texts.len())]
    }

    fn damage(&self, text: &mut Vec<u8>, random: &mut Random) {
        let at = random.below(text.len() + 1);
        let piece = |from: &[u8], longest: usize, random: &mut Random| {
            let start = random.below(from.len() + 1);
            let end = (start + random.below(longest)).min(from.len());
            start..end
        };
        match random.below(9) {
            0 => drop(text.drain(piece(text, 40, random))),
            1 => {
                let range = piece(text, 60, random);
                let repeated = text[range.clone()].repeat(2 + random.below(18));
                text.splice(range.start..range.start, repeated);
            }
            2 => {
                let fragment = random.pick(FRAGMENTS);
                text.splice(at..at, fragment.bytes());
            }
            3 => {
                if let Some(byte) = text.get_mut(at) {
                    *byte = random.next() as u8;
                }
            }
            4 => {
                let other = self.any(random);
                let range = piece(other, 200, random);
                text.splice(at..at, other[range].iter().copied());
            }
            5 => text.truncate(at),
            6 => {
                let other = self.any(random);
                let (own, others) = (tokens(text), tokens(other));
                if !own.is_empty() && !others.is_empty() {
                    let new = others[random.below(others.len())].clone();
                    let old = own[random.below(own.len())].clone();
                    text.splice(old, other[new].iter().copied());
                }
            }
            7 => {
                let own = tokens(text);
                if !own.is_empty() {
                    let word = &self.words[random.below(self.words.len())];
                    text.splice(own[random.below(own.len())].clone(), word.bytes());
                }
            }
            _ => {
                let all = tokens(text);
                if !all.is_empty() {
                    let (one, other) = (random.below(all.len()), random.below(all.len()));
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

/// The files of a folder whose names end so, sorted.
///
/// # Panics
/// When there is no such folder.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("a file").path());
    let mut files: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|own| own == extension))
        .collect();
    files.sort();
    files
}

/// Every name that the language has.
fn dictionary() -> Vec<String> {
    let mut words: BTreeSet<String> = FRAGMENTS.iter().map(|&word| word.to_owned()).collect();
    for info in Prim::ALL {
        words.insert(info.name.to_owned());
        words.extend(info.params.iter().map(|param| format!("{}=", param.name)));
    }
    for dtype in DType::ALL {
        words.insert(format!("{}[", dtype.short_name()));
        words.insert(dtype.numpy_name().to_owned());
    }
    words.into_iter().collect()
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
