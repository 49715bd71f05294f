//! Recorded cases: a function with parameters, its arguments, and what JAX gives. `record.py` says how they are written.

use std::collections::HashMap;
use std::sync::LazyLock;

use jaxide::Tensor;
use jaxide::prelude::*;

/// The corner values of each element type, as bytes.
static CORNERS: LazyLock<HashMap<DType, Vec<Vec<u8>>>> = LazyLock::new(|| {
    let rows = include_str!("corners.txt").lines().map(|line| {
        let mut words = line.split(' ');
        let dtype = dtype(words.next().unwrap());
        (dtype, words.map(bytes).collect())
    });
    rows.collect()
});

/// What JAX gives.
#[derive(PartialEq)]
pub(crate) enum Want {
    Refused,
    Value { tensor: Tensor, weak: bool },
}

/// An argument.
enum Arg {
    Array(Tensor),
    Number(Number),
}

/// A number of the program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Bool(bool),
    Int(i64),
    Float(f64),
}

impl Number {
    pub(crate) fn array(self) -> Array {
        match self {
            Number::Bool(value) => Array::from(value),
            Number::Int(value) => Array::from(value),
            Number::Float(value) => Array::from(value),
        }
    }
}

pub(crate) struct Case {
    /// The case without its result.
    pub(crate) text: String,
    pub(crate) function: String,
    parameters: HashMap<String, String>,
    args: Vec<Arg>,
    pub(crate) want: Want,
}

impl Case {
    pub(crate) fn parse(line: &str) -> Case {
        // The result is behind the last ` = `.
        let (text, want) = line.rsplit_once(" = ").unwrap_or_else(|| panic!("{line}"));
        let mut parts = text.split(" ; ");
        let mut words = parts.next().unwrap().split(' ');
        let function = words.next().unwrap().to_owned();
        let parameters = words.map(|word| {
            let (key, value) = word.split_once('=').unwrap_or_else(|| panic!("{line}"));
            (key.to_owned(), value.to_owned())
        });
        Case {
            text: text.to_owned(),
            function,
            parameters: parameters.collect(),
            args: parts.map(argument).collect(),
            want: want_of(want),
        }
    }

    /// The arguments that are arrays.
    pub(crate) fn arrays(&self) -> Vec<Array> {
        let arrays = self.args.iter().filter_map(|arg| match arg {
            Arg::Array(tensor) => Some(Array::from(tensor.clone())),
            Arg::Number(_) => None,
        });
        arrays.collect()
    }

    pub(crate) fn array_count(&self) -> usize {
        let is_array = |arg: &&Arg| matches!(arg, Arg::Array(_));
        self.args.iter().filter(is_array).count()
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

    /// The arguments that are numbers.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = Number> {
        self.args.iter().filter_map(|arg| match arg {
            Arg::Array(_) => None,
            Arg::Number(number) => Some(*number),
        })
    }

    /// The argument at a position, if it is a number.
    pub(crate) fn number(&self, position: usize) -> Option<Number> {
        match self.args[position] {
            Arg::Number(number) => Some(number),
            Arg::Array(_) => None,
        }
    }

    pub(crate) fn parameter(&self, key: &str) -> Option<&str> {
        self.parameters.get(key).map(String::as_str)
    }

    pub(crate) fn integer(&self, key: &str) -> i64 {
        self.parameter(key).unwrap().parse().unwrap()
    }

    pub(crate) fn float(&self, key: &str) -> f64 {
        self.parameter(key).unwrap().parse().unwrap()
    }

    pub(crate) fn dtype(&self) -> DType {
        dtype(self.parameter("dtype").unwrap())
    }

    /// The numbers of a parameter that is a list.
    pub(crate) fn list(&self, key: &str) -> Vec<i64> {
        let words = self.parameter(key).unwrap().split(',');
        let words = words.filter(|word| !word.is_empty());
        words.map(|word| word.parse().unwrap()).collect()
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
            number if number.contains('.') => Number::Float(number.parse().unwrap()),
            number => Number::Int(number.parse().unwrap()),
        });
    }
    let (aval, start) = text.split_once('@').unwrap();
    let (dtype, _, shape) = typed(aval);
    let start: usize = start.parse().unwrap();
    let corners = &CORNERS[&dtype];
    let count: usize = shape.iter().product();
    let elements = (start..start + count).flat_map(|at| corners[at % corners.len()].clone());
    let elements: Vec<u8> = elements.collect();
    Arg::Array(Tensor::from_bytes(&shape, dtype, &elements).unwrap())
}

fn want_of(text: &str) -> Want {
    if text == "refused" {
        return Want::Refused;
    }
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
    Want::Value { tensor, weak }
}
