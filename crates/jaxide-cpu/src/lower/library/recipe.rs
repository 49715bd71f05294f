//! What a kernel is made of, as a value and as text.
//!
//! A kernel is a Rust value that its program calls by address. An object cannot hold it: it has the text of its recipe instead, of which the runtime
//! library makes the kernel when it is first called. Every kernel is made of a recipe here too, so that there is one way to it.
//!
//! ```text
//! jaxide 0.1.0 equation
//! { lambda ; a:f32[2,3] b:f32[3,4]. let c:f32[2,4] = dot_general[...] a b in (c,) }
//! ```

use super::operands::{Array, Operands};
use super::{map, routine, rows, scatter};
use crate::lower::graph::{Bytes, Combine, MapOp, Routine};
use crate::runtime::KernelCall;
use crate::runtime::rows::Outside;
use crate::runtime::scatter::{Component, Windows};
use jaxide_core::{Aval, Builder, DType, Error, ErrorKind, Result, Shape, parse};
use std::fmt::{Display, Write};
use std::str::{FromStr, SplitAsciiWhitespace};

/// A kernel with all that is fixed when a program is compiled.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Recipe {
    /// A function of elements.
    Map(MapOp, Operands),
    /// A primitive.
    Routine(Routine, Operands),
    /// A transpose of elements of so many bytes.
    Transpose {
        shape: Vec<usize>,
        permutation: Vec<usize>,
        size: usize,
    },
    GatherRows(GatherRows),
    Scatter(Box<Scatter>),
}

/// A gather of whole rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GatherRows {
    pub(super) index: DType,
    pub(super) rows: usize,
    /// Bytes of a row.
    pub(super) row: usize,
    pub(super) count: usize,
    pub(super) outside: Outside,
    pub(super) fill: Bytes,
}

/// A scatter into an array in place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scatter {
    pub(super) dtype: DType,
    pub(super) combine: Combine,
    pub(super) index: DType,
    /// The element that all updates are, if they are no operand.
    pub(super) update: Option<Bytes>,
    pub(super) windows: Windows,
}

impl Recipe {
    /// The kernel.
    ///
    /// # Errors
    /// When an operation has no meaning for the operands' types, or needs its host.
    pub(crate) fn kernel(&self) -> Result<Box<KernelCall>> {
        match self {
            Recipe::Map(op, operands) => map::map(*op, operands),
            Recipe::Routine(call, operands) => routine(call, operands),
            Recipe::Transpose {
                shape,
                permutation,
                size,
            } => rows::transpose(shape, permutation, *size),
            Recipe::GatherRows(gather) => rows::gather(gather),
            Recipe::Scatter(recipe) => scatter::combine(recipe),
        }
    }

    /// The text.
    ///
    /// # Errors
    /// When a parameter of a primitive has none: a function with arrays inside.
    pub(crate) fn text(&self) -> Result<String> {
        let mut text = format!("{MARK} ");
        self.write(&mut text)?;
        let again = Recipe::read(&text);
        if again.as_ref() != Ok(self) {
            let error = format!("a kernel has no text: {text}");
            return Err(Error::new(ErrorKind::Internal, error));
        }
        Ok(text)
    }

    fn write(&self, text: &mut String) -> Result<()> {
        let written = match self {
            Recipe::Map(op, operands) => {
                let arrays = |arrays: &[Array]| joined(arrays, " ");
                let (inputs, outputs) = (arrays(&operands.inputs), arrays(&operands.outputs));
                write!(text, "map {} {inputs} -> {outputs}", op.word())
            }
            Recipe::Routine(call, operands) => {
                write!(text, "equation\n{}", equation(call, operands)?)
            }
            Recipe::Transpose {
                shape,
                permutation,
                size,
            } => {
                write!(
                    text,
                    "transpose {size} {} {}",
                    List(shape),
                    List(permutation)
                )
            }
            Recipe::GatherRows(gather) => write!(
                text,
                "gather_rows {} {} {} {} {} {}",
                gather.index,
                gather.rows,
                gather.row,
                gather.count,
                outside_word(gather.outside),
                Hex(&gather.fill),
            ),
            Recipe::Scatter(scatter) => {
                let Windows {
                    elements,
                    count,
                    components,
                    outside,
                    runs,
                    run,
                } = &scatter.windows;
                let numbers = components.iter().flat_map(|component| {
                    let stride = i128::try_from(component.stride).unwrap_or(i128::MAX);
                    [stride, component.most.into(), component.from_end.into()]
                });
                let numbers: Vec<i128> = numbers.collect();
                let update = match &scatter.update {
                    Some(bytes) => Hex(bytes).to_string(),
                    None => "operand".to_owned(),
                };
                write!(
                    text,
                    "scatter {} {} {} {update} {elements} {count} {} {run} {} {}",
                    scatter.dtype,
                    combine_word(scatter.combine),
                    scatter.index,
                    outside_word(*outside),
                    List(runs),
                    List(&numbers),
                )
            }
        };
        written.map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))
    }

    /// What a text says.
    ///
    /// # Errors
    /// When it is none of a recipe, or of another version.
    pub(crate) fn read(text: &str) -> Result<Recipe> {
        let Some(text) = text.strip_prefix(MARK) else {
            return Err(Error::new(
                ErrorKind::Invalid,
                format!("a kernel of another version than {MARK}, or no kernel"),
            ));
        };
        if let Some(text) = text.strip_prefix(" equation\n") {
            return read_equation(text);
        }
        let mut words = Words(text.split_ascii_whitespace());
        let recipe = match words.word()? {
            "map" => words.map(),
            "transpose" => words.transpose(),
            "gather_rows" => words.gather_rows(),
            "scatter" => words.scatter(),
            other => Err(damaged(other)),
        }?;
        match words.0.next() {
            None => Ok(recipe),
            Some(rest) => Err(damaged(rest)),
        }
    }
}

/// What a text begins with.
const MARK: &str = concat!("jaxide ", env!("CARGO_PKG_VERSION"));

fn damaged(word: &str) -> Error {
    Error::new(
        ErrorKind::Invalid,
        format!("the text of a kernel is damaged at `{word}`"),
    )
}

/// A jaxpr of one equation. Operands may be others than the primitive is written with: nothing is checked.
fn equation(call: &Routine, operands: &Operands) -> Result<String> {
    let b = Builder::new();
    let avals = |arrays: &[Array]| -> Vec<Aval> {
        let arrays = arrays.iter();
        arrays
            .map(|array| Aval::new(array.dtype, &array.shape))
            .collect()
    };
    let inputs = avals(&operands.inputs).into_iter();
    let args: Vec<_> = inputs.map(|aval| b.input(aval)).collect();
    let results = b.push(call.prim(), &args, &avals(&operands.outputs));
    Ok(b.finish(&results)?.to_string())
}

fn read_equation(text: &str) -> Result<Recipe> {
    let failed = |why: &str| Error::new(ErrorKind::Invalid, format!("the text of a kernel: {why}"));
    let closed = parse(text).map_err(|error| failed(&error.to_string()))?;
    let jaxpr = &closed.jaxpr;
    let [eqn] = &jaxpr.eqns[..] else {
        return Err(failed("one equation is expected"));
    };
    let array = |aval: Aval| Array {
        dtype: aval.dtype,
        shape: Shape::from_slice(&aval.shape),
    };
    let inputs = jaxpr
        .invars
        .iter()
        .map(|&var| array(jaxpr.aval(var.into())));
    let outputs = eqn.outputs.iter().map(|&var| array(jaxpr.aval(var.into())));
    let operands = Operands {
        inputs: inputs.collect(),
        outputs: outputs.collect(),
    };
    match Routine::of(&eqn.prim) {
        Some(routine) => Ok(Recipe::Routine(routine, operands)),
        None => Err(failed("the equation is no routine")),
    }
}

/// A list without spaces.
struct List<'a, T>(&'a [T]);

impl<T: Display> Display for List<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}]", joined(self.0, ","))
    }
}

/// Bytes in hexadecimal digits, behind `0x`.
struct Hex<'a>(&'a [u8]);

impl Display for Hex<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("0x")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

fn joined<T: Display>(items: &[T], by: &str) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    items.join(by)
}

impl Display for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.dtype.short_name(), List(&self.shape))
    }
}

/// An enum whose variants are words.
macro_rules! words {
    ($write:ident $read:ident $Enum:ident: $($variant:ident $word:literal)*) => {
        fn $write(value: $Enum) -> &'static str {
            match value {
                $($Enum::$variant => $word,)*
            }
        }

        fn $read(word: &str) -> Option<$Enum> {
            match word {
                $($word => Some($Enum::$variant),)*
                _ => None,
            }
        }
    };
}

words! {
    combine_word read_combine Combine:
    Add "add" Sub "sub" Mul "mul" Min "min" Max "max" And "and" Or "or" Xor "xor" Replace "replace"
}

words! {
    outside_word read_outside Outside:
    Nearest "nearest" Nothing "nothing"
}

/// The words of a text.
struct Words<'a>(SplitAsciiWhitespace<'a>);

impl<'a> Words<'a> {
    fn word(&mut self) -> Result<&'a str> {
        self.0.next().ok_or_else(|| damaged("its end"))
    }

    /// The next word, as what `read` makes of it.
    fn read<T>(&mut self, read: impl FnOnce(&'a str) -> Option<T>) -> Result<T> {
        let word = self.word()?;
        read(word).ok_or_else(|| damaged(word))
    }

    fn number<T: FromStr>(&mut self) -> Result<T> {
        self.read(|word| word.parse().ok())
    }

    fn list<T: FromStr>(&mut self) -> Result<Vec<T>> {
        self.read(read_list)
    }

    fn dtype(&mut self) -> Result<DType> {
        self.read(DType::from_short_name)
    }

    fn map(&mut self) -> Result<Recipe> {
        let op = self.read(MapOp::from_word)?;
        let mut operands = Operands {
            inputs: Vec::new(),
            outputs: Vec::new(),
        };
        let mut read = &mut operands.inputs;
        for word in &mut self.0 {
            if word == "->" {
                read = &mut operands.outputs;
            } else {
                read.push(read_array(word).ok_or_else(|| damaged(word))?);
            }
        }
        Ok(Recipe::Map(op, operands))
    }

    fn transpose(&mut self) -> Result<Recipe> {
        let size = self.number()?;
        Ok(Recipe::Transpose {
            shape: self.list()?,
            permutation: self.list()?,
            size,
        })
    }

    fn gather_rows(&mut self) -> Result<Recipe> {
        Ok(Recipe::GatherRows(GatherRows {
            index: self.dtype()?,
            rows: self.number()?,
            row: self.number()?,
            count: self.number()?,
            outside: self.read(read_outside)?,
            fill: self.read(read_hex)?,
        }))
    }

    fn scatter(&mut self) -> Result<Recipe> {
        let (dtype, combine) = (self.dtype()?, self.read(read_combine)?);
        let index = self.dtype()?;
        let update = self.read(|word| match word {
            "operand" => Some(None),
            bytes => read_hex(bytes).map(Some),
        })?;
        let (elements, count) = (self.number()?, self.number()?);
        let outside = self.read(read_outside)?;
        let run = self.number()?;
        let runs = self.list()?;
        let numbers: Vec<i128> = self.list()?;
        let components = numbers.chunks(3).map(|numbers| match *numbers {
            [stride, most, from_end] => Some(Component {
                stride: stride.try_into().ok()?,
                most: most.try_into().ok()?,
                from_end: from_end.try_into().ok()?,
            }),
            _ => None,
        });
        let components: Option<Vec<Component>> = components.collect();
        Ok(Recipe::Scatter(Box::new(Scatter {
            dtype,
            combine,
            index,
            update,
            windows: Windows {
                elements,
                count,
                components: components.ok_or_else(|| damaged("its components"))?,
                outside,
                runs,
                run,
            },
        })))
    }
}

fn read_list<T: FromStr>(word: &str) -> Option<Vec<T>> {
    let inside = word.strip_prefix('[')?.strip_suffix(']')?;
    let items = inside.split(',').filter(|item| !item.is_empty());
    items.map(|item| item.parse().ok()).collect()
}

fn read_array(word: &str) -> Option<Array> {
    let (dtype, _) = word.split_once('[')?;
    let shape: Vec<usize> = read_list(&word[dtype.len()..])?;
    Some(Array {
        dtype: DType::from_short_name(dtype)?,
        shape: shape.into_iter().collect(),
    })
}

fn read_hex(word: &str) -> Option<Bytes> {
    let digits = word.strip_prefix("0x")?;
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    (0..digits.len()).step_by(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &str) -> Result<Recipe> {
        Recipe::read(&format!("{MARK} {words}"))
    }

    #[test]
    fn texts_say_all_of_a_recipe() {
        for words in [
            "map Igamma f32[2,3] f32[2,3] -> f32[2,3]",
            "map IntegerPow:-3 f16[2] -> f16[2]",
            "map ReducePrecision:5:2 bf16[] -> bf16[]",
            "map Lgamma f64[0] -> f64[0]",
            "transpose 4 [3,4] [1,0]",
            "gather_rows i64 10 128 4 nothing 0x0000c07f",
            "scatter f32 add u8 operand 100 5 nearest 3 [0,10] [1,97,100,10,-1,0]",
            "scatter c128 replace i32 0x00000000000000000000000000000000 8 2 nothing 1 [0] [1,7,0]",
        ] {
            let recipe = read(words).unwrap();
            assert_eq!(recipe.text().unwrap(), format!("{MARK} {words}"));
        }
    }

    #[test]
    fn a_primitive_is_a_jaxpr_of_one_equation() {
        let text = "equation
{ lambda ; a:f32[5] b:i32[5]. let
    c:f32[5] d:i32[5] = sort[dimension=0 is_stable=True num_keys=1] a b
  in (c, d) }";
        let recipe = read(text).unwrap();
        assert!(matches!(recipe, Recipe::Routine(Routine::Sort(_), _)));
        assert_eq!(recipe.text().unwrap(), format!("{MARK} {text}"));
        let kernel = recipe.kernel().unwrap();
        assert_eq!(kernel.signature().inputs, [20, 20]);
    }

    #[test]
    fn what_is_no_recipe_is_an_error() {
        for (words, why) in [
            ("", "damaged at `its end`"),
            ("bake 3", "damaged at `bake`"),
            ("map Sausage f32[1] -> f32[1]", "damaged at `Sausage`"),
            ("transpose 4 [3,4] [1,0] 5", "damaged at `5`"),
            ("transpose 4 [3,x] [1,0]", "damaged at `[3,x]`"),
            (
                "gather_rows i64 10 128 4 nothing 0xabc",
                "damaged at `0xabc`",
            ),
            (
                "equation\n{ lambda ; a:f32[1]. let b:f32[1] = sin a in (b,) }",
                "no routine",
            ),
        ] {
            let error = read(words).unwrap_err().to_string();
            assert!(error.contains(why), "{words}: {error}");
        }
        let error = Recipe::read("jaxide 0.0.1 transpose 4 [3,4] [1,0]").unwrap_err();
        assert!(error.to_string().contains("another version"));
        // What is read may still be no kernel.
        assert!(read("transpose 4 [3,4] [1,1]").unwrap().kernel().is_err());
        assert!(read("transpose 3 [3,4] [1,0]").unwrap().kernel().is_err());
    }
}
