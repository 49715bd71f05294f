//! Convolutions whose groups have one input feature: one feature, few and many, several output features to each, in all orders of axes, with
//! windows, moves, holes, dilation and padding of every kind.

use crate::everywhere::everywhere;
use jaxide_testing::Random;
use jaxide_testing::compare::Nearness;

/// One spatial axis.
#[derive(Clone, Copy)]
struct Axis {
    length: usize,
    size: usize,
    stride: usize,
    padding: (i64, i64),
    dilation: usize,
    holes: usize,
}

impl Axis {
    fn random(random: &mut Random, lengths: &[usize], sizes: &[usize]) -> Axis {
        let size = sizes[random.below(sizes.len())];
        let mut pick = |choices: &[usize]| choices[random.below(choices.len())];
        let (low, high) = (
            pick(&[0, 0, size / 2, size, 3]),
            pick(&[0, 0, size / 2, 1, 7]),
        );
        let cut = pick(&[0, 0, 0, 0, 1]);
        Axis {
            length: pick(lengths),
            size,
            stride: pick(&[1, 1, 1, 2, 3]),
            padding: (low as i64 - cut as i64, high as i64),
            dilation: pick(&[1, 1, 1, 1, 2]),
            holes: pick(&[1, 1, 1, 2, 3]),
        }
    }

    /// How many windows there are; none if they do not fit.
    fn results(self) -> usize {
        let spread = (self.length as i64 - 1) * self.dilation as i64 + 1;
        let window = (self.size as i64 - 1) * self.holes as i64 + 1;
        let free = spread + self.padding.0 + self.padding.1 - window;
        if free < 0 {
            0
        } else {
            free as usize / self.stride + 1
        }
    }
}

fn list<T: std::fmt::Display>(items: impl Iterator<Item = T>) -> String {
    items.map(|item| format!("{item},")).collect()
}

/// The lengths of the axes in the order in which an array has them.
fn shape(lengths: &[usize], spec: &[usize]) -> String {
    let mut shape = vec![0; spec.len()];
    for (&length, &place) in lengths.iter().zip(spec) {
        shape[place] = length;
    }
    let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
    shape.join(",")
}

fn convolution(
    ty: &str,
    (batch, features, multiplier): (usize, usize, usize),
    axes: &[Axis],
    specs: [&[usize]; 3],
) -> String {
    let out = features * multiplier;
    let with = |first: usize, second: usize, rest: &dyn Fn(&Axis) -> usize| -> Vec<usize> {
        [first, second]
            .into_iter()
            .chain(axes.iter().map(rest))
            .collect()
    };
    format!(
        "{{ lambda ; a:{ty}[{}] b:{ty}[{}]. let
            c:{ty}[{}] = conv_general_dilated[
              batch_group_count=1
              dimension_numbers=ConvDimensionNumbers(lhs_spec=({}), rhs_spec=({}), out_spec=({}))
              feature_group_count={features}
              lhs_dilation=({})
              out_sharding=None
              padding=({})
              precision=None
              preferred_element_type=None
              rhs_dilation=({})
              window_strides=({})
            ] a b
          in (c,) }}",
        shape(&with(batch, features, &|axis| axis.length), specs[0]),
        shape(&with(out, 1, &|axis| axis.size), specs[1]),
        shape(&with(batch, out, &|axis| axis.results()), specs[2]),
        list(specs[0].iter()),
        list(specs[1].iter()),
        list(specs[2].iter()),
        list(axes.iter().map(|axis| axis.dilation)),
        list(
            axes.iter()
                .map(|axis| format!("({}, {})", axis.padding.0, axis.padding.1))
        ),
        list(axes.iter().map(|axis| axis.holes)),
        list(axes.iter().map(|axis| axis.stride)),
    )
}

/// Orders of the axes of both operands and of the result: mostly a common one.
fn specs<'a, const N: usize>(
    random: &mut Random,
    orders: &'a [[usize; N]],
    common: usize,
) -> [&'a [usize]; 3] {
    [(); 3].map(|()| {
        let order = if random.one_in(3) {
            random.below(orders.len())
        } else {
            common
        };
        &orders[order][..]
    })
}

const TYPES: [(&str, Nearness); 8] = [
    ("f32", Nearness::Relative(1e-4)),
    ("f32", Nearness::Relative(1e-4)),
    ("f64", Nearness::Relative(1e-11)),
    ("c64", Nearness::Relative(1e-4)),
    ("c128", Nearness::Relative(1e-11)),
    ("i32", Nearness::Bits),
    ("bf16", Nearness::Relative(0.1)),
    ("f16", Nearness::Relative(0.02)),
];

/// Features around those of a vector and of a piece of several.
const FEATURES: [usize; 15] = [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65];

#[test]
fn lines_of_every_length() {
    let mut random = Random(11);
    for case in 0..150 {
        let (ty, nearness) = TYPES[case % TYPES.len()];
        let lengths = [
            1, 7, 11, 12, 13, 15, 16, 17, 31, 33, 63, 64, 65, 70, 129, 200,
        ];
        let axis = Axis::random(&mut random, &lengths, &[1, 2, 3, 4, 5, 7, 16]);
        if axis.results() == 0 {
            continue;
        }
        let sizes = (
            1 + random.below(3),
            FEATURES[random.below(FEATURES.len())],
            1 + random.below(4),
        );
        let orders = [[0, 1, 2], [0, 2, 1], [2, 1, 0], [1, 2, 0]];
        let specs = specs(&mut random, &orders, case % 2);
        everywhere(&convolution(ty, sizes, &[axis], specs), nearness);
    }
}

#[test]
fn images_in_every_order() {
    let mut random = Random(12);
    for case in 0..120 {
        let (ty, nearness) = TYPES[case % TYPES.len()];
        let axes: Vec<Axis> = (0..2)
            .map(|_| Axis::random(&mut random, &[1, 5, 12, 16, 17, 20, 33], &[1, 2, 3, 5]))
            .collect();
        if axes.iter().any(|axis| axis.results() == 0) {
            continue;
        }
        let sizes = (
            1 + random.below(2),
            FEATURES[random.below(9)],
            1 + random.below(4),
        );
        let orders = [
            [0, 1, 2, 3],
            [0, 3, 1, 2],
            [3, 2, 0, 1],
            [1, 0, 3, 2],
            [2, 3, 1, 0],
        ];
        let specs = specs(&mut random, &orders, case % 2);
        everywhere(&convolution(ty, sizes, &axes, specs), nearness);
    }
}

/// One feature and a small filter, which is part of the loops around it: what it is made of is computed, and what is made of it.
#[test]
fn small_filters_of_one_feature() {
    let mut random = Random(13);
    let types = [
        ("f32", Nearness::Relative(1e-4)),
        ("f64", Nearness::Relative(1e-11)),
        ("i32", Nearness::Bits),
        ("u8", Nearness::Bits),
        ("i64", Nearness::Bits),
        ("c64", Nearness::Relative(1e-4)),
        ("bf16", Nearness::Relative(0.1)),
    ];
    for case in 0..70 {
        let (ty, nearness) = types[case % types.len()];
        let rank = 1 + case % 3;
        let lengths = [
            &[1usize, 15, 16, 17, 33, 100, 300][..],
            &[1, 5, 16, 17, 40],
            &[2, 5, 9, 17],
        ][rank - 1];
        let sizes = [&[1, 2, 3, 9, 31, 32, 33][..], &[1, 2, 3, 5, 6], &[1, 2, 3]][rank - 1];
        let axes: Vec<Axis> = (0..rank)
            .map(|_| Axis {
                stride: 1,
                dilation: 1,
                ..Axis::random(&mut random, lengths, sizes)
            })
            .collect();
        if axes.iter().any(|axis| axis.results() == 0) {
            continue;
        }
        let spatial = 2..rank + 2;
        let orders: [Vec<usize>; 3] = [
            (0..rank + 2).collect(),
            [0, rank + 1].into_iter().chain(1..=rank).collect(),
            [1, 0].into_iter().chain(spatial).collect(),
        ];
        let order = &orders[random.below(3)][..];
        let out = if random.one_in(4) { &orders[0] } else { order };
        let specs = [order, &orders[random.below(3)], out];
        let text = convolution(ty, (1 + random.below(2), 1, 1), &axes, specs);
        let neighbours = text
            .replace("] a b\n", "] e b\n")
            .replace(
                "let\n",
                &format!("let\n e:{ty}[{0}] = mul a a\n", between(&text, "a:", ty)),
            )
            .replace(
                "in (c,) }",
                &format!(
                    "d:{ty}[{0}] = mul c c\n in (d, c) }}",
                    between(&text, "c:", ty)
                ),
            );
        everywhere(&text, nearness);
        everywhere(&neighbours, nearness);
    }
}

/// The shape of a variable where it is bound.
fn between<'a>(text: &'a str, name: &str, ty: &str) -> &'a str {
    let start = text.find(&format!("{name}{ty}[")).unwrap() + name.len() + ty.len() + 1;
    &text[start..start + text[start..].find(']').unwrap()]
}
