//! Recorded cases: `record/common.py` says how they are written.

use std::collections::HashMap;
use std::sync::LazyLock;

use jaxide::prelude::*;
use jaxide::{Tensor, random};
use jaxide_core::Scalar;

/// The corner values of each element type, as bytes.
static CORNERS: LazyLock<HashMap<DType, Vec<Vec<u8>>>> = LazyLock::new(|| {
    let rows = include_str!("../meaning/corners.txt").lines().map(|line| {
        let mut words = line.split(' ');
        let dtype = dtype(words.next().unwrap());
        (dtype, words.map(bytes).collect())
    });
    rows.collect()
});

/// What is done with the function of a case.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Plain,
    /// Every array has a leading axis that is mapped.
    Vmap,
    /// The cotangents of the arrays of floats.
    Grad,
}

/// A result that JAX gives.
#[derive(PartialEq)]
pub(crate) struct Value {
    pub(crate) tensor: Tensor,
    pub(crate) weak: bool,
}

/// An argument.
enum Arg {
    Array(Array),
    Number(Number),
}

/// A number of the program.
#[derive(Clone, Copy)]
enum Number {
    Bool(bool),
    Int(i64),
    Float(f64),
}

impl Number {
    fn array(self) -> Array {
        match self {
            Number::Bool(value) => Array::from(value),
            Number::Int(value) => Array::from(value),
            Number::Float(value) => Array::from(value),
        }
    }
}

/// A function with its parameters and arguments, and what JAX gives.
pub(crate) struct Case {
    /// The case without its results.
    pub(crate) text: String,
    pub(crate) mode: Mode,
    pub(crate) function: String,
    parameters: HashMap<String, String>,
    args: Vec<Arg>,
    /// The results; `None` when JAX refuses.
    pub(crate) want: Option<Vec<Value>>,
    /// The text of the jaxpr.
    pub(crate) jaxpr: Option<Text>,
    /// Whether a case with 64 bits needs values, so that JAX does not trace it.
    untraced: bool,
}

/// What is recorded of the text of a jaxpr.
#[derive(Clone, Copy)]
pub(crate) struct Text {
    pub(crate) hash: u64,
    /// Whether JAX writes `np.int64(1)` in it; the hash is that of the text with `1`, and lines broken accordingly.
    pub(crate) scalars: bool,
}

impl Text {
    fn parse(text: &str) -> Text {
        let (hash, scalars) = match text.strip_prefix('~') {
            Some(hash) => (hash, true),
            None => (text, false),
        };
        let hash = u64::from_str_radix(hash, 16).unwrap();
        Text { hash, scalars }
    }
}

impl Case {
    pub(crate) fn parse(line: &str) -> Case {
        // The results are behind the last ` = `.
        let (text, answer) = line.rsplit_once(" = ").unwrap_or_else(|| panic!("{line}"));
        let mut parts = text.split(" ; ");
        let mut words = parts.next().unwrap().split(' ').peekable();
        let mode = match *words.peek().unwrap() {
            "vmap" => Mode::Vmap,
            "grad" => Mode::Grad,
            _ => Mode::Plain,
        };
        if mode != Mode::Plain {
            words.next();
        }
        let function = words.next().unwrap().to_owned();
        let parameters = words.map(|word| {
            let (key, value) = word.split_once('=').unwrap_or_else(|| panic!("{line}"));
            (key.to_owned(), value.to_owned())
        });
        let (results, jaxpr) = match answer.split_once(" # ") {
            Some((results, "untraced")) => (results, None),
            Some((results, text)) => (results, Some(Text::parse(text))),
            None => (answer, None),
        };
        Case {
            text: text.to_owned(),
            mode,
            function,
            parameters: parameters.collect(),
            args: parts.map(argument).collect(),
            want: match results {
                "refused" => None,
                "" => Some(Vec::new()),
                results => Some(results.split(" & ").map(value).collect()),
            },
            jaxpr,
            untraced: answer.ends_with(" # untraced"),
        }
    }

    /// Whether JAX traces the case: what it needs the values of has no jaxpr. (Cases with 64 bits have none that is compared.)
    pub(crate) fn traceable(&self) -> bool {
        const WIDE: [DType; 4] = [DType::I64, DType::U64, DType::F64, DType::C128];
        let arrays = self.arrays();
        let mut dtypes = arrays.iter().map(Array::dtype).chain(self.dtype());
        self.mode != Mode::Plain
            || self.jaxpr.is_some()
            || !self.untraced && dtypes.any(|dtype| WIDE.contains(&dtype))
    }

    /// The arguments that are arrays.
    pub(crate) fn arrays(&self) -> Vec<Array> {
        let arrays = self.args.iter().filter_map(|arg| match arg {
            Arg::Array(array) => Some(array.clone()),
            Arg::Number(_) => None,
        });
        arrays.collect()
    }

    /// All arguments, with `arrays` in the places of the arrays.
    pub(crate) fn operands(&self, arrays: &[Array]) -> Vec<Array> {
        let mut arrays = arrays.iter();
        let operands = self.args.iter().map(|arg| match arg {
            Arg::Array(_) => arrays.next().unwrap().clone(),
            Arg::Number(number) => number.array(),
        });
        operands.collect()
    }

    /// A parameter as it is written.
    pub(crate) fn parameter(&self, key: &str) -> Option<&str> {
        self.parameters.get(key).map(String::as_str)
    }

    pub(crate) fn integer(&self, key: &str) -> Option<i64> {
        self.parameter(key).map(|text| text.parse().unwrap())
    }

    pub(crate) fn float(&self, key: &str) -> Option<f64> {
        self.parameter(key).map(|text| text.parse().unwrap())
    }

    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        self.parameter(key).map(|text| text.parse().unwrap())
    }

    pub(crate) fn dtype(&self) -> Option<DType> {
        self.parameter("dtype").map(dtype)
    }

    /// The numbers of a parameter that is a list.
    pub(crate) fn list(&self, key: &str) -> Option<Vec<i64>> {
        let words = self.parameter(key)?.split(',');
        let words = words.filter(|word| !word.is_empty());
        Some(words.map(|word| word.parse().unwrap()).collect())
    }
}

fn dtype(name: &str) -> DType {
    DType::from_short_name(name).unwrap_or_else(|| panic!("{name}"))
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex
        .chars()
        .map(|digit| digit.to_digit(16).unwrap() as u8)
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

/// A type as `f32*[2,3]`: element type, weakness and shape.
fn typed(text: &str) -> (DType, bool, Vec<usize>) {
    let (name, shape) = text.trim_end_matches(']').split_once('[').unwrap();
    let lengths = shape.split(',').filter(|length| !length.is_empty());
    let name_only = name.trim_end_matches('*');
    (
        dtype(name_only),
        name_only != name,
        lengths.map(|length| length.parse().unwrap()).collect(),
    )
}

fn argument(text: &str) -> Arg {
    if let Some(number) = text.strip_prefix('#') {
        return Arg::Number(match number {
            "true" => Number::Bool(true),
            "false" => Number::Bool(false),
            number => match number.parse() {
                Ok(whole) => Number::Int(whole),
                Err(_) => Number::Float(number.parse().unwrap()),
            },
        });
    }
    if let Some(key) = text.strip_prefix("key") {
        let (count, seed) = key.split_once(':').unwrap();
        let key = random::key(seed.parse::<i64>().unwrap());
        let count = count.trim_matches(['[', ']']);
        return Arg::Array(match count.parse::<usize>() {
            Ok(count) => random::split(&key, count),
            Err(_) => key,
        });
    }
    let (aval, content) = text.split_at(text.find(']').unwrap() + 1);
    let (dtype, _, shape) = typed(aval);
    let count: usize = shape.iter().product();
    let (kind, content) = content.split_at(1);
    let elements: Vec<u8> = match kind {
        "@" => {
            let start: usize = content.parse().unwrap();
            let corners = &CORNERS[&dtype];
            let corner = |at: usize| corners[at % corners.len()].clone();
            (start..start + count).flat_map(corner).collect()
        }
        ":" => {
            let words = content.split(',').filter(|word| !word.is_empty());
            words.flat_map(|word| element(word, dtype)).collect()
        }
        "~" => {
            let seed = content.trim_start_matches(['+', 'u', 'd', 's']);
            let kind = &content[..content.len() - seed.len()];
            generated(dtype, &shape, kind, seed.parse().unwrap())
        }
        _ => panic!("{text}"),
    };
    Arg::Array(Array::from(
        Tensor::from_bytes(&shape, dtype, &elements).unwrap(),
    ))
}

fn element(word: &str, dtype: DType) -> Vec<u8> {
    let scalar = match word {
        "true" => Scalar::Bool(true),
        "false" => Scalar::Bool(false),
        word if dtype.is_integer() => Scalar::from_integer(word.parse().unwrap()).unwrap(),
        word => Scalar::Float(word.parse().unwrap()),
    };
    scalar.to_bytes(dtype).unwrap().to_vec()
}

/// 24 bits: the finaliser of splitmix64.
fn draw(seed: u64, index: usize) -> u64 {
    let mut z = seed
        .wrapping_mul(1_000_003)
        .wrapping_add(index as u64 + 1)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (z ^ (z >> 31)) >> 40
}

fn real(kind: &str, seed: u64, index: usize) -> f64 {
    let drawn = draw(seed, index);
    match kind {
        "" => ((drawn % 256) as f64 - 128.0) / 64.0,
        "+" => ((drawn % 128) as f64 + 1.0) / 64.0,
        "u" => (2.0 * (drawn % 128) as f64 + 1.0) / 256.0,
        _ => panic!("{kind}"),
    }
}

fn whole(kind: &str, signed: bool, seed: u64, index: usize) -> i64 {
    let drawn = draw(seed, index) as i64;
    match kind {
        "" if signed => (drawn % 256 - 128) >> 3,
        "" => (drawn % 256) >> 3,
        "+" => ((drawn % 128) >> 3) + 1,
        _ => panic!("{kind}"),
    }
}

/// The bytes of an array that is made from a seed.
pub(crate) fn generated(dtype: DType, shape: &[usize], kind: &str, seed: u64) -> Vec<u8> {
    let count: usize = shape.iter().product();
    let complex = dtype.is_complex();
    let scalars: Vec<Scalar> = if dtype == DType::Bool {
        (0..count)
            .map(|at| Scalar::Bool(draw(seed, at) & 1 == 1))
            .collect()
    } else if kind == "d" {
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&at| (draw(seed, at), at));
        let mut ranks = vec![0; count];
        for (rank, &at) in order.iter().enumerate() {
            ranks[at] = rank;
        }
        let scalar = |rank: &usize| {
            if dtype.is_integer() {
                Scalar::Int(*rank as i64)
            } else {
                Scalar::Float((*rank as f64 - (count / 2) as f64) / 4.0)
            }
        };
        ranks.iter().map(scalar).collect()
    } else if kind == "s" {
        let n = *shape.last().unwrap();
        let scalar = |at: usize| {
            let (row, column) = (at / n % n, at % n);
            let base = at / (n * n) * n * n;
            if row == column {
                return Scalar::Float((n + 1) as f64 + real("u", seed, base + row));
            }
            let pair = 2 * (base + row.min(column) * n + row.max(column));
            let part = real("", seed, pair) / 4.0;
            if !complex {
                return Scalar::Float(part);
            }
            let imaginary = real("", seed, pair + 1) / 4.0;
            Scalar::Complex(part, if row < column { imaginary } else { -imaginary })
        };
        (0..count).map(scalar).collect()
    } else if complex {
        let scalar =
            |at: usize| Scalar::Complex(real(kind, seed, 2 * at), real(kind, seed, 2 * at + 1));
        (0..count).map(scalar).collect()
    } else if dtype.is_integer() {
        let scalar = |at| Scalar::Int(whole(kind, dtype.is_signed_integer(), seed, at));
        (0..count).map(scalar).collect()
    } else {
        (0..count)
            .map(|at| Scalar::Float(real(kind, seed, at)))
            .collect()
    };
    let bytes = |scalar: &Scalar| scalar.to_bytes(dtype).unwrap().to_vec();
    scalars.iter().flat_map(bytes).collect()
}

fn value(text: &str) -> Value {
    let mut words = text.split(' ');
    let (dtype, weak, shape) = typed(words.next().unwrap());
    let mut elements = Vec::new();
    for word in words {
        match word.split_once('x') {
            None => elements.extend(bytes(word)),
            Some((element, times)) => {
                let times: usize = times.parse().unwrap();
                elements.extend(bytes(element).repeat(times));
            }
        }
    }
    let tensor = Tensor::from_bytes(&shape, dtype, &elements)
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    Value { tensor, weak }
}
