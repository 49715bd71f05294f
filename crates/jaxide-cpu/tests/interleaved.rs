//! Arrays that are padded between their elements and put together, as `associative_scan` does, and arrays that are stacked and read as one: along
//! each axis, of even and odd lengths, beside the interpreter on every instruction set.

use crate::everywhere::everywhere;
use jaxide_testing::compare::Nearness;

/// A function of two padded arrays: that of `halves[first]` begins at 0, the other one at 1.
fn pair(ty: &str, shape: &[usize], axis: usize, function: &str, values: [&str; 2]) -> String {
    let length = shape[axis];
    let halves = [length.div_ceil(2), length / 2];
    let of = |half: usize| {
        let mut shape = shape.to_vec();
        shape[axis] = half;
        let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
        lengths.join(",")
    };
    let padding = |first: usize| {
        let after = length - first - (2 * halves[first] - 1);
        let edges: Vec<String> = (0..shape.len())
            .map(|k| match k == axis {
                true => format!("({first}, {after}, 1)"),
                false => "(0, 0, 0)".to_owned(),
            })
            .collect();
        format!("({},)", edges.join(", "))
    };
    let whole = of(length);
    let result = if matches!(function, "lt" | "eq") {
        "bool"
    } else {
        ty
    };
    let [a, b] = values;
    format!(
        "{{ lambda ; a:{ty}[{}] b:{ty}[{}]. let
            c:{ty}[{whole}] = pad[padding_config={}] a {a}:{ty}[]
            d:{ty}[{whole}] = pad[padding_config={}] b {b}:{ty}[]
            e:{result}[{whole}] = {function} c d
            f:{result}[{whole}] = {function} d c
            g:{result}[{whole}] = copy e
          in (e, f, g) }}",
        of(halves[0]),
        of(halves[1]),
        padding(0),
        padding(1),
    )
}

#[test]
fn padded_arrays() {
    let kinds = [
        ("f32", "add", ["0.0", "0.0"]),
        ("f32", "sub", ["-0.0", "2.5"]),
        ("f64", "mul", ["3.0", "-1.0"]),
        ("i32", "add", ["0", "7"]),
        ("u8", "or", ["0", "3"]),
        ("i8", "lt", ["1", "2"]),
        ("bool", "or", ["False", "False"]),
        ("f16", "max", ["0.0", "1.0"]),
        ("bf16", "add", ["0.0", "0.0"]),
        ("c64", "add", ["(0+0j)", "(0+0j)"]),
    ];
    let shapes: [(&[usize], usize); 16] = [
        (&[2], 0),
        (&[3], 0),
        (&[17], 0),
        (&[106], 0),
        (&[257], 0),
        (&[23, 106], 1),
        (&[23, 53], 1),
        (&[5, 3], 1),
        (&[40, 9], 0),
        (&[41, 17], 0),
        (&[300, 40], 0),
        (&[33, 2, 2], 0),
        (&[34, 2, 2], 0),
        (&[3, 21, 5], 1),
        (&[3, 20, 16], 1),
        (&[2, 3, 35], 2),
    ];
    for (k, &(shape, axis)) in shapes.iter().enumerate() {
        for j in 0..3 {
            let (ty, function, values) = kinds[(3 * k + j) % kinds.len()];
            everywhere(&pair(ty, shape, axis, function, values), Nearness::Bits);
        }
    }
}

/// Arrays that are no pair: they overlap, end early, or lie along different axes.
#[test]
fn padded_arrays_that_do_not_fit() {
    for (first, second) in [
        ("((0, 1, 1),)", "((0, 1, 1),)"),
        ("((0, 1, 1),)", "((1, 0, 1),)"),
        ("((0, 1, 1),)", "((2, -1, 1),)"),
        ("((1, 0, 1),)", "((1, 0, 1),)"),
        ("((-1, 2, 1),)", "((1, 0, 1),)"),
    ] {
        let text = format!(
            "{{ lambda ; a:f32[50] b:f32[50]. let
                c:f32[100] = pad[padding_config={first}] a 1.5:f32[]
                d:f32[100] = pad[padding_config={second}] b 0.0:f32[]
                e:f32[100] = add c d
              in (e,) }}"
        );
        everywhere(&text, Nearness::Bits);
    }
    let across = "{ lambda ; a:f32[10,19] b:f32[19,10]. let
        c:f32[19,19] = pad[padding_config=((0, 0, 1), (0, 0, 0))] a 0.0:f32[]
        d:f32[19,19] = pad[padding_config=((0, 0, 0), (0, 0, 1))] b 0.0:f32[]
        e:f32[19,19] = add c d
      in (e,) }";
    everywhere(across, Nearness::Bits);
    let longer = "{ lambda ; a:i32[10] b:i32[10]. let
        c:i32[24] = pad[padding_config=((0, 5, 1),)] a 3:i32[]
        d:i32[24] = pad[padding_config=((1, 4, 1),)] b 4:i32[]
        e:i32[24] = mul c d
      in (e,) }";
    everywhere(longer, Nearness::Bits);
}

/// Rows of several arrays in turns, read as rows of one: by a function, a slice, and as they are.
#[test]
fn rows_in_turns() {
    for (rows, parts, row) in [
        (9, 2, 1),
        (40, 2, 3),
        (40, 3, 4),
        (33, 4, 20),
        (8, 2, 5),
        (7, 5, 6),
    ] {
        let all = rows * parts;
        let names = ["a", "b", "c", "d", "e"];
        let params: Vec<String> = (0..parts)
            .map(|k| format!("{}:f32[{rows},{row}]", names[k]))
            .collect();
        let columns: Vec<String> = (0..parts)
            .map(|k| {
                let name = names[k];
                format!(
                    "x{name}:f32[{rows},1,{row}] = broadcast_in_dim[broadcast_dimensions=(0, 2) shape=({rows}, 1, {row}) sharding=None] {name}"
                )
            })
            .collect();
        let joined: Vec<String> = (0..parts).map(|k| format!("x{}", names[k])).collect();
        let text = format!(
            "{{ lambda ; {}. let
                {}
                p:f32[{rows},{parts},{row}] = concatenate[dimension=1] {}
                q:f32[{all},{row}] = reshape[dimensions=None new_sizes=({all}, {row}) sharding=None] p
                r:f32[{all},{row}] = mul q 2.0:f32[]
                s:f32[{},{row}] = slice[limit_indices=({all}, {row}) start_indices=(1, 0) strides=None] q
                t:f32[{},{row}] = neg s
              in (q, r, t) }}",
            params.join(" "),
            columns.join("\n"),
            joined.join(" "),
            all - 1,
            all - 1,
        );
        everywhere(&text, Nearness::Bits);
    }
}

/// Many columns beside each other: as a result, read as one row, multiplied, summed, and in a loop; and parts behind each other, read as one row.
#[test]
fn columns_beside_each_other() {
    let types = ["f32", "u8", "f64", "i16", "c64", "bool", "bf16"];
    let cases = [
        (5, 63),
        (5, 64),
        (6, 300),
        (9, 65),
        (12, 1003),
        (17, 130),
        (33, 100),
        (7, 2050),
    ];
    for (k, (count, rows)) in cases.into_iter().enumerate() {
        let ty = types[k % types.len()];
        let all = count * rows;
        let params: Vec<String> = (0..count).map(|j| format!("a{j}:{ty}[{rows}]")).collect();
        let join = |made: &dyn Fn(usize) -> String, separator: &str| {
            (0..count).map(made).collect::<Vec<_>>().join(separator)
        };
        let text = format!(
            "{{ lambda ; {}. let
                {}
                p:{ty}[{rows},{count}] = concatenate[dimension=1] {}
                q:{ty}[{all}] = reshape[dimensions=None new_sizes=({all},) sharding=None] p
                r:bool[{all}] = eq q {}
                {}
                s:{ty}[{count},{rows}] = concatenate[dimension=0] {}
                t:{ty}[{all}] = reshape[dimensions=None new_sizes=({all},) sharding=None] s
                u:bool[{all}] = eq t q
              in (p, q, r, u) }}",
            params.join(" "),
            join(
                &|j| format!(
                    "b{j}:{ty}[{rows},1] = broadcast_in_dim[broadcast_dimensions=(0,) shape=({rows}, 1) sharding=None] a{j}"
                ),
                "\n"
            ),
            join(&|j| format!("b{j}"), " "),
            match ty {
                "bool" => "True:bool[]".to_owned(),
                "c64" => "(1+0j):c64[]".to_owned(),
                "f32" | "f64" | "bf16" => format!("1.0:{ty}[]"),
                _ => format!("1:{ty}[]"),
            },
            join(
                &|j| format!(
                    "c{j}:{ty}[1,{rows}] = broadcast_in_dim[broadcast_dimensions=(1,) shape=(1, {rows}) sharding=None] a{j}"
                ),
                "\n"
            ),
            join(&|j| format!("c{j}"), " "),
        );
        everywhere(&text, Nearness::Bits);
        let text = format!(
            "{{ lambda ; x:f32[{rows}] w:f32[{count},3]. let
                {}
                {}
                p:f32[{rows},{count}] = concatenate[dimension=1] {}
                q:f32[{rows},3] = dot_general[dimension_numbers=(([1], [0]), ([], [])) out_sharding=None precision=None preferred_element_type=float32] p w
                r:f32[{rows}] = reduce_sum[axes=(1,) out_sharding=None] p
              in (q, r) }}",
            join(&|j| format!("a{j}:f32[{rows}] = mul x {}.0:f32[]", j + 1), "\n"),
            join(
                &|j| format!("b{j}:f32[{rows},1] = broadcast_in_dim[broadcast_dimensions=(0,) shape=({rows}, 1) sharding=None] a{j}"),
                "\n"
            ),
            join(&|j| format!("b{j}"), " "),
        );
        everywhere(&text, Nearness::Relative(1e-4));
        let text = format!(
            "{{ lambda ; x:f32[{rows},{count}]. let
                y:f32[{rows},{count}] = scan[
                  ft_in=((), (None,), ()) ft_out=((None,), ())
                  jaxpr={{ lambda ; x:f32[{rows},{count}]. let
                      {}
                      p:f32[{rows},{count}] = concatenate[dimension=1] {}
                    in (p,) }}
                  length=3 reverse=False unroll=1
                ] x
              in (y,) }}",
            join(
                &|j| format!(
                    "b{j}:f32[{rows},1] = slice[limit_indices=({rows}, {}) start_indices=(0, {j}) strides=None] x",
                    j + 1
                ),
                "\n"
            ),
            join(&|j| format!("b{}", (j + 1) % count), " "),
        );
        everywhere(&text, Nearness::Bits);
    }
}
