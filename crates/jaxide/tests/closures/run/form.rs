//! Trees that arrays are packed into.

use std::collections::BTreeMap;

use jaxide::prelude::*;

use crate::closures::program::Form;

/// A tree type that holds any number of arrays, in order.
pub(crate) trait Packed: Pytree<Array> + Clone + Send + Sync + 'static {
    fn pack(arrays: Vec<Array>) -> Self;
    fn unpack(self) -> Vec<Array>;
}

impl Packed for Vec<Array> {
    fn pack(arrays: Vec<Array>) -> Self {
        arrays
    }

    fn unpack(self) -> Vec<Array> {
        self
    }
}

impl Packed for Array {
    fn pack(arrays: Vec<Array>) -> Self {
        let [array] = <[Array; 1]>::try_from(arrays).expect("one array");
        array
    }

    fn unpack(self) -> Vec<Array> {
        vec![self]
    }
}

impl Packed for (Array, Vec<Array>) {
    fn pack(mut arrays: Vec<Array>) -> Self {
        let first = arrays.remove(0);
        (first, arrays)
    }

    fn unpack(self) -> Vec<Array> {
        let mut arrays = vec![self.0];
        arrays.extend(self.1);
        arrays
    }
}

/// A struct as users write them.
#[derive(Clone, Pytree)]
pub(crate) struct Model {
    weight: Array,
    layers: Vec<(Array, Option<Array>)>,
    bias: Option<Array>,
    #[pytree(static)]
    name: String,
}

impl Packed for Model {
    fn pack(arrays: Vec<Array>) -> Self {
        let name = format!("of {}", arrays.len());
        let mut arrays = arrays.into_iter();
        let weight = arrays.next().expect("an array");
        let bias = arrays.len() % 2 == 1;
        let bias = if bias { arrays.next_back() } else { None };
        let mut layers = Vec::new();
        while let Some(first) = arrays.next() {
            layers.push((first, arrays.next()));
        }
        Model {
            weight,
            layers,
            bias,
            name,
        }
    }

    fn unpack(self) -> Vec<Array> {
        assert!(self.name.starts_with("of "), "the static field is kept");
        let mut arrays = vec![self.weight];
        for (first, second) in self.layers {
            arrays.push(first);
            arrays.extend(second);
        }
        arrays.extend(self.bias);
        arrays
    }
}

impl Packed for BTreeMap<String, Array> {
    fn pack(arrays: Vec<Array>) -> Self {
        let named = arrays.into_iter().enumerate();
        named
            .map(|(place, array)| (format!("x{place:02}"), array))
            .collect()
    }

    fn unpack(self) -> Vec<Array> {
        self.into_values().collect()
    }
}

/// The form that so many arrays can have.
pub(crate) fn possible(form: Form, count: usize) -> Form {
    match (form, count) {
        (_, 0) => Form::Vector,
        (Form::Single, count) if count > 1 => Form::Vector,
        _ => form,
    }
}

/// Evaluates an expression with `$packed` standing for the type of a form of so many arrays.
macro_rules! with_form {
    ($form:expr, $count:expr, $packed:ident => $body:expr) => {{
        use crate::closures::program::Form;
        match crate::closures::run::form::possible($form, $count) {
            Form::Vector => {
                type $packed = Vec<jaxide::Array>;
                $body
            }
            Form::Single => {
                type $packed = jaxide::Array;
                $body
            }
            Form::Tuple => {
                type $packed = (jaxide::Array, Vec<jaxide::Array>);
                $body
            }
            Form::Struct => {
                type $packed = crate::closures::run::form::Model;
                $body
            }
            Form::Map => {
                type $packed = std::collections::BTreeMap<String, jaxide::Array>;
                $body
            }
        }
    }};
}

pub(crate) use with_form;
