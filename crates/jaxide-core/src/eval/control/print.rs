//! Printing while running.

use std::io::Write as _;

use crate::display::ArrayFormat;
use crate::error::Result;
use crate::prims::Name;
use crate::tensor::Tensor;

/// Prints what [`formatted`] gives to standard error, so that it never stands among results.
pub fn print(format: &str, arrays: &[Tensor]) {
    // That nobody reads it any more is no failure of the program.
    let _ = writeln!(std::io::stderr(), "{}", formatted(format, arrays));
}

/// What `debug_print` does: it prints and has no results.
pub(in crate::eval) fn debug_print(format: &Name, arrays: &[Tensor]) -> Result<Vec<Tensor>> {
    print(&format.0, arrays);
    Ok(Vec::new())
}

/// A part of a format.
enum Piece<'a> {
    Text(&'a str),
    Next,
    Number(usize),
    Name(&'a str),
}

/// A format with its placeholders replaced by arrays: positional ones first, then those with names, in alphabetical
/// order, as the arguments are. A placeholder without an array stays `{}`.
pub fn formatted(format: &str, arrays: &[Tensor]) -> String {
    let pieces = pieces(format);
    let mut names: Vec<&str> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Name(name) => Some(*name),
            Piece::Text(_) | Piece::Next | Piece::Number(_) => None,
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    let positional = arrays.len().saturating_sub(names.len());
    let mut next = 0;
    let mut text = String::new();
    for piece in &pieces {
        let index = match piece {
            Piece::Text(piece) => {
                text.push_str(piece);
                continue;
            }
            Piece::Next => {
                next += 1;
                next - 1
            }
            Piece::Number(index) => *index,
            Piece::Name(name) => positional + names.partition_point(|other| other < name),
        };
        match arrays.get(index) {
            Some(array) => text.push_str(&ArrayFormat::default().text(array)),
            None => text.push_str("{}"),
        }
    }
    text
}

/// Literal text and placeholders; doubled braces are single ones, what follows `:` or `!` in a placeholder is ignored.
fn pieces(format: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = format;
    while let Some(place) = rest.find(['{', '}']) {
        let (text, tail) = rest.split_at(place);
        pieces.push(Piece::Text(text));
        let brace = &tail[..1];
        rest = &tail[1..];
        if rest.starts_with(brace) || brace == "}" {
            pieces.push(Piece::Text(brace));
            rest = rest.strip_prefix(brace).unwrap_or(rest);
            continue;
        }
        let (field, after) = rest.split_once('}').unwrap_or((rest, ""));
        rest = after;
        let name = field.split([':', '!']).next().unwrap_or("");
        pieces.push(match name.parse() {
            _ if name.is_empty() => Piece::Next,
            Ok(index) => Piece::Number(index),
            Err(_) => Piece::Name(name),
        });
    }
    pieces.push(Piece::Text(rest));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_in_the_order_of_the_arguments() {
        let arrays = [
            Tensor::scalar(1i32),
            Tensor::from_vec(&[2], vec![0.5f32, 2.0]).unwrap(),
            Tensor::scalar(true as u8),
        ];
        assert_eq!(
            formatted("{} {y:.2f} {{x}} {x}", &arrays),
            "1 1 {x} [0.5 2. ]"
        );
        assert_eq!(formatted("{1}-{0}", &arrays[..2]), "[0.5 2. ]-1");
    }
}
