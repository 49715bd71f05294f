//! Many small matrices at once, short rows as lanes, loops that reduce their state, and numbers divided by constants.

use crate::everywhere::everywhere;
use jaxide_testing::Random;
use jaxide_testing::compare::Nearness;

/// Products of many matrices, or of matrices and vectors, of every small size, with operands turned or not.
#[test]
fn products_of_many_matrices() {
    let types = [
        ("f32", Nearness::Relative(1e-4)),
        ("f64", Nearness::Relative(1e-12)),
        ("i32", Nearness::Bits),
        ("i64", Nearness::Bits),
    ];
    for rows in [1, 2, 3, 4, 5, 6, 8] {
        for terms in [1, 2, 3, 4, 5, 8, 16, 17] {
            let (ty, nearness) = types[(rows + terms) % types.len()];
            let many = [1, 63, 64, 65, 200][(rows * terms) % 5];
            let columns = 1 + (rows + terms) % 5;
            let matrices = format!(
                "{{ lambda ; a:{ty}[{many},{rows},{terms}] b:{ty}[{many},{terms},{columns}]. let
                    c:{ty}[{many},{rows},{columns}] = dot_general[dimension_numbers=(([2], [1]), ([0], [0])) preferred_element_type=None] a b
                    d:{ty}[{many},{rows},{columns}] = add c c
                  in (d,) }}"
            );
            let turned = format!(
                "{{ lambda ; a:{ty}[{many},{terms},{rows}] b:{ty}[{many},{columns},{terms}]. let
                    c:{ty}[{many},{rows},{columns}] = dot_general[dimension_numbers=(([1], [2]), ([0], [0])) preferred_element_type=None] a b
                  in (c,) }}"
            );
            let vectors = format!(
                "{{ lambda ; a:{ty}[{many},{rows},{terms}] b:{ty}[{many},{terms}]. let
                    c:{ty}[{many},{rows}] = dot_general[dimension_numbers=(([2], [1]), ([0], [0])) preferred_element_type=None] a b
                  in (c,) }}"
            );
            for text in [matrices, turned, vectors] {
                everywhere(&text, nearness);
            }
        }
    }
}

/// Products in batches around every limit of what nests make: work of up to 512 and beyond, long sums, every way to lie in memory, and batches
/// that are not in front.
#[test]
fn small_products_in_batches() {
    let random = &mut Random(29);
    let axes = [1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 24, 33, 64, 65];
    for _ in 0..160 {
        let [rows, terms, columns] = [0; 3].map(|_| axes[random.below(axes.len())]);
        if rows * terms * columns > 9000 {
            continue;
        }
        let many = [1, 3, 63, 64, 65, 129][random.below(6)];
        let (ty, nearness) = [
            ("f32", Nearness::Relative(1e-4)),
            ("f64", Nearness::Relative(1e-12)),
            ("c64", Nearness::Relative(1e-4)),
            ("i32", Nearness::Bits),
            ("i8", Nearness::Bits),
        ][random.below(5)];
        // Where the batch, the axis that is summed and the own axis of an operand are in it.
        let mut operand = |own: usize| {
            let order = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [2, 0, 1], [2, 1, 0]][random.below(5)];
            let lengths = [many, own, terms];
            let mut shape = [0; 3];
            for (length, axis) in lengths.into_iter().zip(order) {
                shape[axis] = length;
            }
            let shape = shape.map(|length| length.to_string()).join(",");
            (shape, order[2], order[0])
        };
        let (left, left_terms, left_batch) = operand(rows);
        let (right, right_terms, right_batch) = operand(columns);
        everywhere(
            &format!(
                "{{ lambda ; a:{ty}[{left}] b:{ty}[{right}]. let
                    c:{ty}[{many},{rows},{columns}] = dot_general[dimension_numbers=(([{left_terms}], [{right_terms}]), ([{left_batch}], [{right_batch}])) preferred_element_type=None] a b
                    d:{ty}[{many},{rows},{columns}] = add c c
                  in (c, d) }}"
            ),
            nearness,
        );
    }
}

/// State that every turn reads as a whole and writes at one place: sums, products and extrema of every length around those that are written
/// out, in every type, by an update and by a scatter whose index may be outside.
#[test]
fn state_combined_and_written_at_a_place() {
    let types = [
        ("f32", Nearness::Relative(1e-3)),
        ("f64", Nearness::Relative(1e-10)),
        ("f16", Nearness::Relative(4e-2)),
        ("bf16", Nearness::Relative(3e-1)),
        ("c64", Nearness::Relative(1e-2)),
        ("i32", Nearness::Bits),
        ("u8", Nearness::Bits),
    ];
    for n in [1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 33, 64, 65, 129] {
        let kinds = [["sum", "max"], ["prod", "min"]][n % 2];
        for (kind, how) in kinds.into_iter().enumerate() {
            let (ty, nearness) = types[(n + 3 * kind) % types.len()];
            let ty = if ty == "c64" && kind > 0 { "f32" } else { ty };
            let bounded = match ty {
                "i32" | "u8" => "neg",
                _ => "tanh",
            };
            let write = if (n + kind) % 2 == 0 {
                format!("d:{ty}[{n}] = dynamic_update_slice c q m")
            } else {
                format!(
                    "o:i32[1] = broadcast_in_dim[broadcast_dimensions=() shape=(1,) sharding=None] i
                     d:{ty}[{n}] = scatter[dimension_numbers=ScatterDimensionNumbers(update_window_dims=(), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,), operand_batching_dims=(), scatter_indices_batching_dims=()) indices_are_sorted=True mode=GatherScatterMode.FILL_OR_DROP unique_indices=True update_consts=() update_jaxpr=None] c o t"
                )
            };
            everywhere(
                &format!(
                    "{{ lambda ; w:{ty}[9,{n}] x:{ty}[{n}] j:i32[9]. let
                        y:{ty}[{n}] v:{ty}[9] = scan[_split_transpose=False jaxpr={{ lambda ; c:{ty}[{n}] r:{ty}[{n}] i:i32[]. let
                            p:{ty}[{n}] = mul r c
                            s:{ty}[] = reduce_{how}[axes=(0,) out_sharding=None] p
                            t:{ty}[] = {bounded} s
                            q:{ty}[1] = broadcast_in_dim[broadcast_dimensions=() shape=(1,) sharding=None] t
                            m:i32[] = rem i {n}:i32[]
                            {write}
                          in (d, s) }} length=9 linear=(False, False, False) num_carry=1 num_consts=0 reverse=False unroll=1] x w j
                      in (y, v) }}"
                ),
                nearness,
            );
        }
    }
}

/// Short rows that are written as a whole: fewer than a vector, as many, and a few more.
#[test]
fn rows_of_every_length() {
    for row in (1..=20).chain([31, 32, 33, 47, 48, 64, 65]) {
        let rows = [3, 64, 131][row % 3];
        let outer = format!(
            "{{ lambda ; a:f32[{rows},{row}] b:f32[{rows},6]. let
                c:f32[{rows},6,{row}] = broadcast_in_dim[broadcast_dimensions=(0, 2) shape=({rows}, 6, {row}) sharding=None] a
                d:f32[{rows},6,{row}] = broadcast_in_dim[broadcast_dimensions=(0, 1) shape=({rows}, 6, {row}) sharding=None] b
                e:f32[{rows},6,{row}] = mul c d
              in (e,) }}"
        );
        let shifted = format!(
            "{{ lambda ; a:bf16[{rows},{row}] b:bf16[{row}] c:i64[{rows},{row}]. let
                d:bf16[{rows},{row}] = broadcast_in_dim[broadcast_dimensions=(1,) shape=({rows}, {row}) sharding=None] b
                e:bf16[{rows},{row}] = add a d
                f:bf16[{rows}] = reduce_max[axes=(1,) out_sharding=None] e
                g:i64[{row}] = reduce_sum[axes=(0,) out_sharding=None] c
              in (e, f, g) }}"
        );
        for text in [outer, shifted] {
            everywhere(&text, Nearness::Relative(1e-6));
        }
    }
}

/// Loops whose turns reduce what they carry, from few numbers to more than registers hold.
#[test]
fn loops_that_reduce_their_state() {
    for states in [1, 2, 3, 7, 8, 16, 20, 33, 64] {
        let text = format!(
            "{{ lambda ; a:f32[{states},{states}] b:f32[9,{states}]. let
                c:f32[{states}] = broadcast_in_dim[broadcast_dimensions=() shape=({states},) sharding=None] 0.0:f32[]
                d:f32[{states}] e:i32[9,{states}] = scan[
                  _split_transpose=False
                  jaxpr={{ lambda ; f:f32[{states},{states}] g:f32[{states}] h:f32[{states}]. let
                      i:f32[{states},{states}] = broadcast_in_dim[broadcast_dimensions=(0,) shape=({states}, {states}) sharding=None] g
                      j:f32[{states},{states}] = add i f
                      k:f32[{states}] = reduce_max[axes=(0,) out_sharding=None] j
                      l:f32[{states}] = add k h
                      o:i32[{states}] = argmax[axes=(0,) index_dtype=int32] j
                    in (l, o) }}
                  length=9 linear=(False, False, False) num_carry=1 num_consts=1 reverse=False unroll=1
                ] a c b
              in (d, e) }}"
        );
        everywhere(&text, Nearness::Bits);
    }
}

/// Quotients by constants of every size are the nearest numbers, as quotients by operands are.
#[test]
fn quotients_by_constants() {
    for divisor in [
        "3.0",
        "0.1",
        "255.0",
        "1.4142135",
        "7e20",
        "3e-20",
        "3e-39",
        "2.5e38",
        "-3.0",
        "0.0",
        "inf",
        "nan",
        "1.5",
    ] {
        for ty in ["f32", "f64"] {
            let text = format!(
                "{{ lambda ; a:{ty}[1000]. let
                    b:{ty}[1000] = div a {divisor}:{ty}[]
                    c:{ty}[1000] = mul a 1e30:{ty}[]
                    d:{ty}[1000] = div c {divisor}:{ty}[]
                    e:{ty}[1000] = mul a 1e-30:{ty}[]
                    f:{ty}[1000] = div e {divisor}:{ty}[]
                    g:{ty}[1000] = mul a a
                    h:{ty}[1000] = div g {divisor}:{ty}[]
                    i:{ty}[1000] = mul a 0.0:{ty}[]
                    j:{ty}[1000] = div i {divisor}:{ty}[]
                  in (b, d, f, h, j) }}"
            );
            everywhere(&text, Nearness::Bits);
        }
    }
}

/// Products in loops by matrices from outside, with axes of length 1 before and behind those that are longer.
#[test]
fn products_by_matrices_with_axes_of_length_one() {
    for (ty, nearness) in [("f32", Nearness::Relative(1e-4)), ("i64", Nearness::Bits)] {
        for (shape, contracting) in [
            ("4,3,1", 1),
            ("4,1,3", 2),
            ("4,1,3,1", 2),
            ("1,4,3,1", 2),
            ("3,4,1", 0),
            ("3,1,4,1,2", 0),
            ("4,3,2,1", 1),
        ] {
            let result: Vec<&str> = shape.split(',').collect();
            let result = [&result[..contracting], &result[contracting + 1..]]
                .concat()
                .join(",");
            let out = result;
            for (operands, axes) in [
                ("b x", format!("([{contracting}], [0])")),
                ("x b", format!("([0], [{contracting}])")),
            ] {
                let dims =
                    format!("dimension_numbers=({axes}, ([], [])) preferred_element_type=None");
                let text = format!(
                    "{{ lambda ; b:{ty}[{shape}] y:{ty}[5,3]. let
                        z:{ty}[5,{out}] = scan[
                          ft_in=((None,), (), (None,)) ft_out=((), (None,))
                          jaxpr={{ lambda ; b:{ty}[{shape}] x:{ty}[3]. let
                              c:{ty}[{out}] = dot_general[{dims}] {operands}
                              d:{ty}[{out}] = add c c
                            in (d,) }}
                          length=5 reverse=False unroll=1
                        ] b y
                      in (z,) }}"
                );
                everywhere(&text, nearness);
            }
        }
    }
}

/// Loops that multiply a vector, or a few, by a matrix whose rows end inside of a cache line, both ways round, for few turns and more.
#[test]
fn vectors_by_matrices_with_odd_rows() {
    let random = &mut Random(31);
    for _ in 0..24 {
        let (ty, nearness, shortest) = [
            ("f32", Nearness::Relative(1e-3), 127),
            ("f64", Nearness::Relative(1e-10), 63),
            ("i32", Nearness::Bits, 127),
            ("i64", Nearness::Bits, 63),
        ][random.below(4)];
        let columns = shortest + random.below(20);
        let rows = [20, 129, 140, 200][random.below(4)];
        let vectors = 1 + random.below(5);
        let turns = [1, 7, 8, 11][random.below(4)];
        // The matrix has its columns behind one another or beside one another, and perhaps an axis of length 1 at its end.
        let turned = random.one_in(2);
        let one = if random.one_in(3) { ",1" } else { "" };
        let (shape, along, across) = if turned {
            (format!("{columns},{rows}{one}"), 1, 0)
        } else {
            (format!("{rows},{columns}{one}"), 0, 1)
        };
        let there =
            format!("dimension_numbers=(([1], [{along}]), ([], [])) preferred_element_type=None");
        let back =
            format!("dimension_numbers=(([{across}], [1]), ([], [])) preferred_element_type=None");
        let scale = if ty.starts_with('f') { "0.01" } else { "1" };
        let body = format!(
            "{{ lambda ; b:{ty}[{shape}] x:{ty}[{vectors},{rows}]. let
                c:{ty}[{vectors},{columns}{one}] = dot_general[{there}] x b
                d:{ty}[{vectors},{columns}{one}] = mul c {scale}:{ty}[]
                e:{ty}[{vectors},{columns}] = reshape[dimensions=None new_sizes=({vectors}, {columns}) sharding=None] d
                f:{ty}[{rows}{one},{vectors}] = dot_general[{back}] b e
                g:{ty}[{rows},{vectors}] = reshape[dimensions=None new_sizes=({rows}, {vectors}) sharding=None] f
                h:{ty}[{vectors},{rows}] = transpose[permutation=(1, 0)] g
                i:{ty}[{vectors},{rows}] = mul h {scale}:{ty}[]
              in (i, e) }}"
        );
        let scan = format!(
            "{{ lambda ; b:{ty}[{shape}] x:{ty}[{vectors},{rows}]. let
                y:{ty}[{vectors},{rows}] z:{ty}[{turns},{vectors},{columns}] = scan[
                  ft_in=((None,), (None,), ()) ft_out=((None,), (None,))
                  jaxpr={body}
                  length={turns} reverse=False unroll=1
                ] b x
              in (y, z) }}"
        );
        everywhere(&scan, nearness);
    }
}

/// Rows of any array times one small matrix or vector.
#[test]
fn rows_times_one_matrix() {
    let types = [
        ("f32", Nearness::Relative(1e-4)),
        ("f64", Nearness::Relative(1e-12)),
        ("i32", Nearness::Bits),
    ];
    for terms in [1, 2, 3, 5, 6, 7, 16, 17] {
        for (k, columns) in ["", "1", "2", "6", "7"].into_iter().enumerate() {
            for (j, many) in ["63", "64", "8, 9", "130"].into_iter().enumerate() {
                let (ty, nearness) = types[(terms + k + j) % types.len()];
                let own = many.split(", ").count();
                let ends = if columns.is_empty() { "" } else { ", " };
                let result = format!("{ty}[{many}{ends}{columns}]");
                let rows = format!(
                    "{{ lambda ; a:{ty}[{many}, {terms}] b:{ty}[{terms}{ends}{columns}]. let
                        c:{result} = dot_general[dimension_numbers=(([{own}], [0]), ([], [])) preferred_element_type=None] a b
                        d:{result} = add c c
                      in (c, d) }}"
                );
                let turned = format!(
                    "{{ lambda ; a:{ty}[{terms}, {many}] b:{ty}[{columns}{ends}{terms}]. let
                        c:{result} = dot_general[dimension_numbers=(([0], [{last}]), ([], [])) preferred_element_type=None] a b
                      in (c,) }}",
                    last = usize::from(!columns.is_empty()),
                );
                for text in [rows, turned] {
                    everywhere(&text.replace(", ", ","), nearness);
                }
            }
        }
    }
}

/// Products of vectors that lie in two arrays alike: of rows, of columns, over two axes, and in a loop.
#[test]
fn vectors_by_vectors() {
    for (ty, nearness) in [
        ("f32", Nearness::Relative(1e-4)),
        ("f64", Nearness::Relative(1e-11)),
        ("i32", Nearness::Bits),
    ] {
        for (many, terms) in [
            (1, 5),
            (5, 1),
            (3, 0),
            (0, 3),
            (7, 81),
            (150, 33),
            (9, 2100),
        ] {
            let numbers = |contracted: &str, batch: &str| {
                format!(
                    "dot_general[dimension_numbers=(([{contracted}], [{contracted}]), ([{batch}], [{batch}])) preferred_element_type=None]"
                )
            };
            let operands = |shape: &str| format!("a:{ty}[{shape}] b:{ty}[{shape}]");
            let (rows, columns, both) = (numbers("1", "0"), numbers("0", "1"), numbers("2,0", "1"));
            for (operands, product) in [
                (operands(&format!("{many},{terms}")), rows),
                (operands(&format!("{terms},{many}")), columns),
                (operands(&format!("3,{many},{terms}")), both),
            ] {
                let text = format!(
                    "{{ lambda ; {operands}. let
                        c:{ty}[{many}] = {product} a b
                        d:{ty}[{many}] = {product} a a
                        e:{ty}[{many}] = sub c d
                      in (c, e) }}"
                );
                everywhere(&text, nearness);
            }
        }
        let scan = format!(
            "{{ lambda ; a:{ty}[4,20,9] b:{ty}[20,9]. let
                c:{ty}[20,9] d:{ty}[4,20] = scan[
                  jaxpr={{ lambda ; e:{ty}[20,9] f:{ty}[20,9]. let
                      g:{ty}[20] = dot_general[dimension_numbers=(([1], [1]), ([0], [0])) preferred_element_type=None] e f
                      h:{ty}[20,9] = broadcast_in_dim[broadcast_dimensions=(0,) shape=(20, 9) sharding=None] g
                      i:{ty}[20,9] = sub h e
                    in (i, g) }}
                  length=4 linear=(False, False) num_carry=1 num_consts=0 reverse=False unroll=1
                ] b a
              in (c, d) }}"
        );
        everywhere(&scan, nearness);
    }
}

/// Products without an axis to sum over, of arrays and of numbers.
#[test]
fn products_without_terms() {
    for (a, b, result) in [
        ("", "", ""),
        ("", "70", "70"),
        ("70", "", "70"),
        ("70", "3", "70,3"),
    ] {
        let text = format!(
            "{{ lambda ; a:f32[{a}] b:f32[{b}]. let
                c:f32[{result}] = dot_general[dimension_numbers=(([], []), ([], [])) preferred_element_type=None] a b
              in (c,) }}"
        );
        everywhere(&text, Nearness::Relative(1e-6));
    }
}
