//! Windows over arrays: sizes around those that are combined in steps, moves, holes and padding of every kind, and gradients of pools.

use crate::everywhere::everywhere;
use jaxide_testing::compare::Nearness;

/// One axis of a window.
#[derive(Clone, Copy)]
struct Axis {
    length: usize,
    size: usize,
    stride: usize,
    dilation: usize,
    base_dilation: usize,
    padding: (i64, i64),
}

impl Axis {
    fn results(self) -> usize {
        let length = (self.length.max(1) - 1) * self.base_dilation + self.length.min(1);
        let padded = length as i64 + self.padding.0 + self.padding.1;
        let covered = ((self.size - 1) * self.dilation + 1) as i64;
        if padded < covered {
            return 0;
        }
        ((padded - covered) / self.stride as i64 + 1) as usize
    }
}

fn plain(length: usize, size: usize) -> Axis {
    Axis {
        length,
        size,
        stride: 1,
        dilation: 1,
        base_dilation: 1,
        padding: (0, 0),
    }
}

fn tuple<T: std::fmt::Display>(items: impl Iterator<Item = T>) -> String {
    items.map(|item| format!("{item},")).collect()
}

fn shape(items: impl Iterator<Item = usize>) -> String {
    let items: Vec<String> = items.map(|item| item.to_string()).collect();
    items.join(",")
}

fn over(primitive: &str, ty: &str, axes: &[Axis]) -> String {
    format!(
        "{{ lambda ; a:{ty}[{}]. let
            b:{ty}[{}] = {primitive}[
              base_dilation=({}) padding=({}) window_dilation=({}) window_dimensions=({}) window_strides=({})
            ] a
          in (b,) }}",
        shape(axes.iter().map(|axis| axis.length)),
        shape(axes.iter().map(|axis| axis.results())),
        tuple(axes.iter().map(|axis| axis.base_dilation)),
        tuple(
            axes.iter()
                .map(|axis| format!("({}, {})", axis.padding.0, axis.padding.1))
        ),
        tuple(axes.iter().map(|axis| axis.dilation)),
        tuple(axes.iter().map(|axis| axis.size)),
        tuple(axes.iter().map(|axis| axis.stride)),
    )
}

const KINDS: [(&str, &str, Nearness); 10] = [
    ("reduce_window_sum", "f32", Nearness::Relative(1e-4)),
    ("reduce_window_max", "f32", Nearness::Bits),
    ("reduce_window_sum", "i32", Nearness::Bits),
    ("reduce_window_min", "f64", Nearness::Bits),
    ("reduce_window_max", "bf16", Nearness::Bits),
    ("reduce_window_sum", "i8", Nearness::Bits),
    ("reduce_window_min", "bool", Nearness::Bits),
    ("reduce_window_max", "i64", Nearness::Bits),
    ("reduce_window_sum", "c64", Nearness::Relative(1e-4)),
    ("reduce_window_max", "u8", Nearness::Bits),
];

/// A window of each size up to 70, and some larger ones; padded and not, moved by one place or several, with holes or none.
#[test]
fn lines_of_every_size() {
    for size in (1..70).chain([100, 127, 128, 257]) {
        for turn in 0..2 {
            let (primitive, ty, nearness) = KINDS[(size + 5 * turn) % KINDS.len()];
            let stride = [1, 1, 2, 3, 7][(size + turn) % 5];
            let dilation = [1, 2, 1, 1, 3, 1, 1][(size + turn) % 7];
            let low = [0, size as i64 / 2, size as i64 - 1, -2][(size + turn) % 4];
            let axis = Axis {
                stride,
                dilation,
                padding: (low, (size as i64 - 1) / 2),
                ..plain(300 + size * dilation, size)
            };
            everywhere(&over(primitive, ty, &[axis]), nearness);
        }
    }
}

/// Images, in both orders of axes, where several axes have windows.
#[test]
fn images() {
    for (k, size) in [2, 3, 5, 8, 9, 13].into_iter().enumerate() {
        let (primitive, ty, nearness) = KINDS[(3 * k + 1) % KINDS.len()];
        for stride in [1, 2, 3, size] {
            let image = Axis {
                stride,
                padding: (size as i64 / 2, (size as i64 - 1) / 2),
                ..plain(size + 17, size)
            };
            let (batch, channels) = (plain(2, 1), plain([1, 3, 16, 20][k % 4], 1));
            everywhere(
                &over(primitive, ty, &[batch, image, image, channels]),
                nearness,
            );
            everywhere(
                &over(primitive, ty, &[batch, channels, image, image]),
                nearness,
            );
        }
    }
}

/// Padding that is wider than the window, cut off, or between elements, and windows that cover nothing but it.
#[test]
fn padding_of_every_kind() {
    for (k, padding) in [
        (20, 0),
        (0, 20),
        (20, 20),
        (-3, 5),
        (5, -3),
        (-4, -4),
        (0, 1),
        (0, -2),
    ]
    .into_iter()
    .enumerate()
    {
        for (j, (primitive, ty, nearness)) in KINDS.into_iter().enumerate() {
            let size = [3, 12, 24, 1][(k + j) % 4];
            let base_dilation = [1, 1, 2, 3][(k + 2 * j) % 4];
            let axis = Axis {
                padding,
                base_dilation,
                ..plain(70, size)
            };
            everywhere(&over(primitive, ty, &[axis]), nearness);
        }
    }
    for length in [0, 1, 2] {
        let axis = Axis {
            padding: (40, 40),
            ..plain(length, 24)
        };
        everywhere(
            &over("reduce_window_sum", "f32", &[axis]),
            Nearness::Relative(1e-5),
        );
    }
}

/// `select_and_scatter` with the first axis's windows, and what is combined; the source has one element for each window.
fn sent(ty: &str, select: &str, combine: &str, init: &str, axes: &[Axis]) -> String {
    format!(
        "{{ lambda ; a:{ty}[{own}] b:{ty}[{windows}]. let
            c:{ty}[{own}] = select_and_scatter[
              padding=({})
              scatter_consts=()
              scatter_jaxpr={{ lambda ; d:{ty}[] e:{ty}[]. let f:{ty}[] = {combine} d e in (f,) }}
              select_consts=()
              select_jaxpr={{ lambda ; g:{ty}[] h:{ty}[]. let i:bool[] = {select} g h in (i,) }}
              window_dimensions=({})
              window_strides=({})
            ] a b {init}:{ty}[]
          in (c,) }}",
        tuple(
            axes.iter()
                .map(|axis| format!("({}, {})", axis.padding.0, axis.padding.1))
        ),
        tuple(axes.iter().map(|axis| axis.size)),
        tuple(axes.iter().map(|axis| axis.stride)),
        own = shape(axes.iter().map(|axis| axis.length)),
        windows = shape(axes.iter().map(|axis| axis.results())),
    )
}

/// Windows that overlap, touch and leave gaps; elements that many windows select, and that none does.
#[test]
fn what_windows_select_is_sent_there() {
    let kinds = [
        ("f32", "ge", "add", "0.0", Nearness::Relative(1e-5)),
        ("i32", "ge", "add", "3", Nearness::Bits),
        ("f64", "le", "max", "-0.5", Nearness::Bits),
        ("bf16", "gt", "add", "0.0", Nearness::Relative(1e-1)),
        ("u8", "lt", "mul", "1", Nearness::Bits),
        ("i64", "ge", "sub", "0", Nearness::Bits),
    ];
    for (k, (size, stride)) in [
        (2, 2),
        (3, 2),
        (2, 3),
        (5, 1),
        (5, 5),
        (9, 4),
        (17, 1),
        (20, 3),
    ]
    .into_iter()
    .enumerate()
    {
        for turn in 0..2 {
            let (ty, select, combine, init, nearness) = kinds[(k + 3 * turn) % kinds.len()];
            let padding = [(0, 0), (size as i64 / 2, (size as i64 - 1) / 2)][turn];
            let axis = Axis {
                stride,
                padding,
                ..plain(2 * size + 31, size)
            };
            let channels = plain([1, 5, 16][k % 3], 1);
            everywhere(&sent(ty, select, combine, init, &[axis]), nearness);
            if size > 5 {
                continue;
            }
            let image = Axis {
                length: 2 * size + 3,
                ..axis
            };
            everywhere(
                &sent(ty, select, combine, init, &[image, axis, channels]),
                nearness,
            );
            everywhere(
                &sent(ty, select, combine, init, &[channels, image, axis]),
                nearness,
            );
        }
    }
}
