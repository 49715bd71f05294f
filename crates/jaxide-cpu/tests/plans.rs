//! Nests of every shape are made: many axes, reductions inside reductions, views, and everything mixed at random.

use crate::everywhere::everywhere;
use jaxide_core::eval::eval;
use jaxide_core::{Tensor, parse};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, compile};
use jaxide_testing::compare::Nearness;
use jaxide_testing::{Random, asked};
use std::fmt::Write;

/// A program in text, whose values are arrays of 32-bit integers.
struct Maker {
    random: Random,
    text: String,
    /// Names and shapes of what is known.
    known: Vec<(String, Vec<usize>)>,
}

fn list(numbers: &[usize]) -> String {
    let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
    numbers.join(",")
}

/// A tuple as Python writes it.
fn tuple(numbers: &[usize]) -> String {
    match numbers {
        [one] => format!("({one},)"),
        _ => format!("({})", list(numbers).replace(',', ", ")),
    }
}

impl Maker {
    fn new(seed: u64, shape: &[usize]) -> Maker {
        Maker {
            random: Random(seed),
            text: format!("{{ lambda ; a:i32[{}]. let\n", list(shape)),
            known: vec![("a".to_owned(), shape.to_vec())],
        }
    }

    fn equation(&mut self, shape: Vec<usize>, right: &str) {
        let name = format!("v{}", self.known.len());
        writeln!(self.text, "  {name}:i32[{}] = {right}", list(&shape)).unwrap();
        self.known.push((name, shape));
    }

    /// One more equation, rather of what is newest.
    fn step(&mut self) {
        let back = self
            .random
            .below(2 * self.known.len())
            .min(self.known.len() - 1);
        let back = if self.random.one_in(3) { back } else { 0 };
        let (name, shape) = self.known[self.known.len() - 1 - back].clone();
        let rank = shape.len();
        match self.random.below(8) {
            0 if rank > 1 => {
                let mut permutation: Vec<usize> = (0..rank).collect();
                for k in (1..rank).rev() {
                    permutation.swap(k, self.random.below(k + 1));
                }
                let to = permutation.iter().map(|&axis| shape[axis]).collect();
                self.equation(
                    to,
                    &format!("transpose[permutation={}] {name}", tuple(&permutation)),
                );
            }
            1 if rank > 0 => {
                let axes: Vec<usize> = (0..rank).filter(|_| self.random.one_in(2)).collect();
                self.equation(shape, &format!("rev[dimensions={}] {name}", tuple(&axes)));
            }
            2 | 3 if rank > 0 => {
                let mut axes: Vec<usize> = (0..rank).filter(|_| self.random.one_in(3)).collect();
                axes.truncate(3);
                let kept = (0..rank).filter(|axis| !axes.contains(axis));
                let to = kept.map(|axis| shape[axis]).collect();
                let kind = self.random.pick(&["sum", "max"]);
                self.equation(
                    to,
                    &format!(
                        "reduce_{kind}[axes={} out_sharding=None] {name}",
                        tuple(&axes)
                    ),
                );
            }
            4 if rank > 0 && shape.iter().all(|&length| length > 1) => {
                let start: Vec<usize> = shape.iter().map(|_| self.random.below(2)).collect();
                let to: Vec<usize> = shape.iter().map(|&length| length - 1).collect();
                let limit: Vec<usize> = start.iter().zip(&to).map(|(a, b)| a + b).collect();
                let (limit, start) = (tuple(&limit), tuple(&start));
                let right = format!(
                    "slice[limit_indices={limit} start_indices={start} strides=None] {name}"
                );
                self.equation(to, &right);
            }
            5 => {
                // The same memory by another type, and back.
                let middle = format!("w{}", self.known.len());
                let types = list(&shape);
                writeln!(
                    self.text,
                    "  {middle}:u32[{types}] = bitcast_convert_type[new_dtype=uint32] {name}"
                )
                .unwrap();
                self.equation(
                    shape,
                    &format!("bitcast_convert_type[new_dtype=int32] {middle}"),
                );
            }
            _ => {
                let same: Vec<String> = (self.known.iter().rev())
                    .filter(|(_, other)| *other == shape)
                    .map(|(name, _)| name.clone())
                    .collect();
                let other = &same[self.random.below(same.len())];
                let op = *["add", "mul", "sub", "max"]
                    .get(self.random.below(4))
                    .unwrap();
                self.equation(shape, &format!("{op} {name} {other}"));
            }
        }
    }

    fn finish(mut self) -> String {
        let mut results: Vec<&str> = self
            .known
            .iter()
            .rev()
            .take(2)
            .map(|(name, _)| &name[..])
            .collect();
        let any = self.random.below(self.known.len());
        results.push(&self.known[any].0);
        format!("{} in ({},) }}", self.text, results.join(", "))
    }
}

fn argument(shape: &[usize], random: &mut Random) -> Tensor {
    let count = shape.iter().product();
    let numbers = (0..count).map(|_| random.below(100) as i32 - 50).collect();
    Tensor::from_vec(shape, numbers).unwrap()
}

/// Every instruction set gives what the interpreter gives.
fn agrees(text: &str, arg: Tensor) {
    let closed = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let args = [arg];
    let want = eval(&closed, &args).unwrap_or_else(|error| panic!("{error}\n{text}"));
    for isa in Isa::available() {
        let options = CompileOptions {
            isa: Some(isa),
            ..CompileOptions::default()
        };
        let program = compile(&closed, &options).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let got = program.run(&args).unwrap();
        assert_eq!(got, want, "{isa:?}\n{text}");
    }
}

#[test]
fn random_programs_of_many_axes() {
    for seed in 0..asked("JAXIDE_CASES").unwrap_or(60) {
        let mut random = Random(seed);
        let rank = random.below(24);
        let mut left = 1 << 14;
        let shape: Vec<usize> = (0..rank)
            .map(|_| {
                let length = (1 + random.below(4)).min(left);
                left /= length;
                length
            })
            .collect();
        let mut maker = Maker::new(seed, &shape);
        (0..3 + random.below(12)).for_each(|_| maker.step());
        agrees(&maker.finish(), argument(&shape, &mut random));
    }
}

/// Short reductions are written out, but not inside each other without end.
#[test]
fn reductions_inside_reductions_stay_small() {
    let lengths = [16, 15, 7, 16, 4];
    let mut text = format!("{{ lambda ; a:i32[{}]. let\n", list(&lengths));
    let mut last = "a".to_owned();
    for rank in (0..lengths.len()).rev() {
        let (square, sum) = (format!("s{rank}"), format!("r{rank}"));
        writeln!(
            text,
            "  {square}:i32[{}] = mul {last} {last}",
            list(&lengths[..=rank])
        )
        .unwrap();
        writeln!(
            text,
            "  {sum}:i32[{}] = reduce_sum[axes=({rank},) out_sharding=None] {square}",
            list(&lengths[..rank])
        )
        .unwrap();
        last = sum;
    }
    text.push_str(&format!(" in ({last},) }}"));
    let closed = parse(&text).unwrap();
    for isa in Isa::available() {
        let options = CompileOptions {
            isa: Some(isa),
            ..CompileOptions::default()
        };
        let program = compile(&closed, &options).unwrap();
        let code = program.stats().code;
        assert!(code < 1 << 18, "{code} bytes for {isa:?}");
    }
    agrees(&text, argument(&lengths, &mut Random(1)));
}

/// Axes of four that no two arrays go through in the same order: not all of them are unrolled.
#[test]
fn short_axes_in_every_order() {
    for rank in [5, 9] {
        let shape = vec![4; rank];
        let permutation: Vec<usize> = (0..rank).map(|axis| (axis * 4 + 3) % rank).collect();
        let types = list(&shape);
        let text = format!(
            "{{ lambda ; a:i32[{types}]. let
                b:i32[{types}] = transpose[permutation={}] a
                c:i32[{types}] = mul a b
                d:i32[{types}] = rev[dimensions={}] c
                e:i32[4] = reduce_sum[axes={} out_sharding=None] d
              in (b, d, e) }}",
            tuple(&permutation),
            tuple(&(0..rank).step_by(2).collect::<Vec<_>>()),
            tuple(&(1..rank).collect::<Vec<_>>()),
        );
        agrees(&text, argument(&shape, &mut Random(2)));
    }
}

/// Statistics of channels, of which other axes stand before and behind: memory is read in order, by every number of threads.
#[test]
fn sums_over_the_axes_around_one() {
    for (before, kept, behind) in [
        (40, 17, 300),
        (33, 16, 1031),
        (64, 40, 260),
        (100, 3, 700),
        (16, 300, 90),
    ] {
        let text = format!(
            "{{ lambda ; a:f32[{before},{kept},{behind}]. let
                b:f32[{kept}] = reduce_sum[axes=(0, 2) out_sharding=None] a
                c:f32[{kept}] = reduce_max[axes=(0, 2) out_sharding=None] a
                d:f32[{kept},{behind}] = reduce_sum[axes=(0,) out_sharding=None] a
              in (b, c, d) }}"
        );
        everywhere(&text, Nearness::Relative(1e-4));
    }
}

/// Images that are enlarged by repeating pixels: with few lanes, the rows of a lane program are those whose elements are written one behind
/// the other, not the longest axis; and images, which share nothing, are not written out.
#[test]
fn rows_are_written_in_order() {
    for (images, rows, columns, channels) in [
        (1, 5, 3, 2),
        (2, 33, 16, 3),
        (4, 32, 32, 16),
        (3, 40, 31, 17),
        (2, 300, 9, 64),
        (2, 9, 300, 127),
        (2, 9, 300, 128),
    ] {
        let [twice_rows, twice_columns] = [2 * rows, 2 * columns];
        let text = format!(
            "{{ lambda ; a:f32[{images},{rows},{columns},{channels}]. let
              b:f32[{images},{rows},2,{columns},2,{channels}] = broadcast_in_dim[
                broadcast_dimensions=(0, 1, 3, 5)
                shape=({images}, {rows}, 2, {columns}, 2, {channels})
                sharding=None
              ] a
              c:f32[{images},{twice_rows},{twice_columns},{channels}] = reshape[dimensions=None new_sizes=({images}, {twice_rows}, {twice_columns}, {channels}) sharding=None] b
            in (c,) }}"
        );
        let planned = everywhere(&text, Nearness::Bits);
        if (images, channels) == (4, 16) {
            assert!(
                planned.loops.contains("rows 32 lanes 16"),
                "{}",
                planned.loops
            );
        }
    }
}
