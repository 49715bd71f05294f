//! Few lanes, whose number is known: what is stored of them and loaded again, in every type and number, in loops and in rows, with neighbours that
//! must stay as they are; boards that are combined at once; small matrices times vectors in loops.

use crate::everywhere::everywhere;
use jaxide_testing::compare::Nearness;

const TYPES: [&str; 13] = [
    "f32", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bf16", "f16", "bool",
];

/// An operation that gives the same bits everywhere.
fn combined(ty: &str) -> &'static str {
    match ty {
        "bool" => "xor",
        "f32" | "f64" | "bf16" | "f16" => "max",
        _ => "add",
    }
}

/// A part of each row is combined with a vector and written back, three times, while what stands around it is read.
#[test]
fn parts_of_rows_in_place() {
    for (k, ty) in TYPES.into_iter().enumerate() {
        for length in (1..=9).chain([11, 13, 15, 16, 17, 31]) {
            let rows = [1, 2, 9][(length + k) % 3];
            let wide = length + 3;
            let op = combined(ty);
            let text = format!(
                "{{ lambda ; a:{ty}[{rows},{wide}] b:{ty}[{length}]. let
                    c:{ty}[{rows},{wide}] d:{ty}[3,{rows}] = scan[
                      _split_transpose=False
                      jaxpr={{ lambda ; e:{ty}[{length}] f:{ty}[{rows},{wide}]. let
                          g:{ty}[{rows},{length}] = slice[limit_indices=({rows}, {end}) start_indices=(0, 2) strides=None] f
                          h:{ty}[{rows},{length}] = broadcast_in_dim[broadcast_dimensions=(1,) shape=({rows}, {length}) sharding=None] e
                          i:{ty}[{rows},{length}] = rev[dimensions=(1,)] h
                          j:{ty}[{rows},{length}] = {op} g i
                          k:{ty}[{rows},{wide}] = dynamic_update_slice f j 0:i32[] 2:i32[]
                          l:{ty}[{rows},1] = slice[limit_indices=({rows}, {wide}) start_indices=(0, {end}) strides=None] k
                          m:{ty}[{rows}] = squeeze[dimensions=(1,)] l
                        in (k, m) }}
                      length=3 linear=(False, False) num_carry=1 num_consts=1 reverse=False unroll=1
                    ] b a
                  in (c, d) }}",
                end = length + 2,
            );
            everywhere(&text, Nearness::Bits);
        }
    }
}

/// What one turn leaves in a few elements, the next reads one by one, all at once, and shifted by one.
#[test]
fn small_state_that_is_read_in_parts() {
    for (k, ty) in TYPES.into_iter().enumerate() {
        for length in [2, 3, 4, 5, 6, 7, 8, 9, 11, 15, 16, 17] {
            let op = combined(ty);
            let (last, wide) = (length - 1, length + k % 3);
            let text = format!(
                "{{ lambda ; a:{ty}[{length}] b:{ty}[40,{wide}] c:i32[40]. let
                    d:{ty}[{length}] e:{ty}[40] = scan[
                      _split_transpose=False
                      jaxpr={{ lambda ; f:{ty}[{length}] g:{ty}[{wide}] h:i32[]. let
                          i:{ty}[{last}] = slice[limit_indices=({length},) start_indices=(1,) strides=None] f
                          j:{ty}[1] = slice[limit_indices=(1,) start_indices=(0,) strides=None] g
                          k:{ty}[{length}] = concatenate[dimension=0] i j
                          l:i32[] = rem h {length}:i32[]
                          m:i32[] = abs l
                          n:{ty}[1] = dynamic_slice[slice_sizes=(1,)] k m
                          o:{ty}[] = squeeze[dimensions=(0,)] n
                          p:{ty}[{length}] = broadcast_in_dim[broadcast_dimensions=() shape=({length},) sharding=None] o
                          q:{ty}[{length}] = {op} k p
                          r:{ty}[{length}] = rev[dimensions=(0,)] q
                        in (r, o) }}
                      length=40 linear=(False, False, False) num_carry=1 num_consts=0 reverse=False unroll=1
                    ] a b c
                  in (d, e) }}"
            );
            everywhere(&text, Nearness::Bits);
        }
    }
}

/// Arrays that are combined as a whole, with few elements and many, made by little work and much, and stored as well.
#[test]
fn whole_arrays() {
    let sums = [
        ("f32", "reduce_sum", Nearness::Relative(1e-5)),
        ("i8", "reduce_max", Nearness::Bits),
        ("bool", "reduce_or", Nearness::Bits),
        ("i32", "reduce_sum", Nearness::Bits),
        ("f64", "reduce_min", Nearness::Bits),
        ("bf16", "reduce_max", Nearness::Bits),
    ];
    for (ty, primitive, nearness) in sums {
        for shape in [
            "8,8", "9,3", "63,65", "64,65", "8,2,5", "8,33,17", "100,1,7",
        ] {
            let op = combined(ty);
            let axes = ["0, 1", "0, 1, 2"][shape.matches(',').count() - 1];
            let text = format!(
                "{{ lambda ; a:{ty}[{shape}] b:{ty}[{shape}]. let
                    c:{ty}[{shape}] = {op} a b
                    d:{ty}[{shape}] = rev[dimensions=(1,)] c
                    e:{ty}[] = {primitive}[axes=({axes}) out_sharding=None] c
                    f:{ty}[] = {primitive}[axes=({axes}) out_sharding=None] d
                  in (c, e, f) }}"
            );
            everywhere(&text, nearness);
        }
        let functions = (0..12).fold(String::new(), |text, k| {
            format!(
                "{text}\n            {}:f32[50,20] = tanh {}",
                name(k + 1),
                name(k)
            )
        });
        let much = format!(
            "{{ lambda ; {}:f32[50,20]. let{functions}
                z:f32[] = reduce_max[axes=(0, 1) out_sharding=None] {}
              in (z,) }}",
            name(0),
            name(12)
        );
        everywhere(&much, Nearness::Relative(1e-5));
    }
}

fn name(k: u8) -> char {
    char::from(b'a' + k)
}

/// A scan inside of a scan goes through what the outer one carries: that is in memory, or one of it is chosen in registers.
#[test]
fn state_that_an_inner_loop_goes_through() {
    for (outer, length) in [(3, 2), (5, 3), (4, 8), (6, 27), (3, 70)] {
        let text = format!(
            "{{ lambda ; a:f32[{outer},{length}]. let
                b:f32[{length}] = broadcast_in_dim[broadcast_dimensions=() shape=({length},) sharding=None] 0.0:f32[]
                c:f32[{length}] d:f32[{outer}] = scan[
                  _split_transpose=False
                  jaxpr={{ lambda ; e:f32[{length}] f:f32[{length}]. let
                      g:f32[{length}] = add e f
                      h:f32[] i:f32[] = scan[
                        _split_transpose=False
                        jaxpr={{ lambda ; j:f32[] k:f32[] l:f32[]. let
                            m:f32[] = add j l
                            n:f32[] = max m l
                            o:f32[] = max k n
                          in (n, o) }}
                        length={length} linear=(False, False, False) num_carry=2 num_consts=0 reverse=False unroll=1
                      ] 0.0:f32[] -1e9:f32[] g
                    in (g, i) }}
                  length={outer} linear=(False, False) num_carry=1 num_consts=0 reverse=False unroll=1
                ] b a
              in (c, d) }}"
        );
        everywhere(&text, Nearness::Relative(1e-6));
    }
}

/// State in registers that each turn puts in another order, which is known, as ciphers do: nothing is chosen.
#[test]
fn state_that_is_read_at_known_places() {
    let text = "{ lambda ; a:u8[333,16] b:u8[256] c:u8[9,16]. let
        d:i32[16,1] = iota[dimension=0 dtype=int32 shape=(16, 1) sharding=None]
        e:i32[16,1] = mul d 5:i32[]
        f:i32[16,1] = rem e 16:i32[]
        g:u8[333,16] = scan[
          _split_transpose=False
          jaxpr={ lambda ; h:i32[16,1] i:u8[256] j:u8[333,16] k:u8[16]. let
              l:u8[333,16] = gather[
                dimension_numbers=GatherDimensionNumbers(offset_dims=(0,), collapsed_slice_dims=(1,), start_index_map=(1,), operand_batching_dims=(), start_indices_batching_dims=())
                fill_value=None
                indices_are_sorted=False
                mode=GatherScatterMode.PROMISE_IN_BOUNDS
                slice_sizes=(333, 1)
                unique_indices=False
              ] j h
              m:u8[333,16] = broadcast_in_dim[broadcast_dimensions=(1,) shape=(333, 16) sharding=None] k
              n:u8[333,16] = xor l m
              o:u8[333,16] = mul n 3:u8[]
            in (o,) }
          length=9 linear=(False, False, False, False) num_carry=1 num_consts=2 reverse=False unroll=1
        ] f b a c
      in (g,) }";
    let planned = everywhere(text, Nearness::Bits);
    // One nest has the loop in its lanes.
    assert!(
        !planned.loops.contains("for i0 in 0..9, "),
        "{}",
        planned.loops
    );
}

/// A matrix that changes in each turn, by a vector, in both orders.
#[test]
fn small_matrices_by_vectors() {
    for (ty, nearness) in [
        ("f32", Nearness::Relative(1e-4)),
        ("f64", Nearness::Relative(1e-12)),
        ("i32", Nearness::Bits),
    ] {
        for size in [1, 2, 3, 7, 8, 9, 15, 16, 17, 20, 33] {
            let other = 1 + size % 5;
            let text = format!(
                "{{ lambda ; a:{ty}[{size},{size}] b:{ty}[{size}] c:{ty}[{other},{size}]. let
                    d:{ty}[{size},{size}] e:{ty}[{size}] f:{ty}[4,{other}] = scan[
                      _split_transpose=False
                      jaxpr={{ lambda ; g:{ty}[{other},{size}] h:{ty}[{size},{size}] i:{ty}[{size}]. let
                          j:{ty}[{size},{size}] = neg h
                          k:{ty}[{size}] = dot_general[dimension_numbers=(([1], [0]), ([], [])) preferred_element_type=None] j i
                          l:{ty}[{size}] = dot_general[dimension_numbers=(([0], [0]), ([], [])) preferred_element_type=None] j k
                          m:{ty}[{other}] = dot_general[dimension_numbers=(([1], [0]), ([], [])) preferred_element_type=None] g k
                          n:{ty}[{size}] = sub l i
                        in (j, n, m) }}
                      length=4 linear=(False, False, False) num_carry=2 num_consts=1 reverse=False unroll=1
                    ] c a b
                  in (d, e, f) }}"
            );
            everywhere(&text, nearness);
        }
    }
}

/// Groups of nests that run some rows at a time, in the middle of which the rows' own numbers are lanes.
#[test]
fn lanes_that_groups_run_in_blocks() {
    for rows in [2, 3, 4, 8, 11, 16, 17] {
        let columns = 40_000 / rows;
        let shape = format!("[{rows},{columns}]");
        let text = format!(
            "{{ lambda ; a:f32{shape}. let
                b:f32[{rows}] = reduce_max[axes=(1,) out_sharding=None] a
                c:f32[{rows}] = mul b b
                d:f32[{rows}] = add c 1.0:f32[]
                e:f32[{rows},1] = broadcast_in_dim[broadcast_dimensions=(0,) shape=({rows}, 1) sharding=None] d
                f:f32{shape} = sub a e
                g:f32[{rows}] = reduce_sum[axes=(1,) out_sharding=None] f
                h:f32[{rows}] = div g d
                i:f32[{rows},1] = broadcast_in_dim[broadcast_dimensions=(0,) shape=({rows}, 1) sharding=None] h
                j:f32{shape} = mul f i
              in (j, d, h) }}"
        );
        everywhere(&text, Nearness::Relative(1e-3));
    }
}

/// Truth values that are combined while what they are made of is bytes: rows of whole registers, of one lane less and more, and of what is left over.
#[test]
fn truth_values_combined_as_bytes() {
    let lengths = [
        17, 31, 32, 33, 63, 64, 65, 95, 127, 128, 129, 190, 192, 255, 257, 513,
    ];
    for (k, columns) in lengths.into_iter().enumerate() {
        for (j, primitive) in ["reduce_or", "reduce_and", "reduce_xor"]
            .into_iter()
            .enumerate()
        {
            let rows = [1, 2, 9][(k + j) % 3];
            let op = ["and", "or", "xor"][(k + 2 * j) % 3];
            let text = format!(
                "{{ lambda ; a:bool[{rows},{columns}] b:u8[{rows},{columns}]. let
                    c:bool[{rows},{columns}] = gt b 1:u8[]
                    d:bool[{rows},{columns}] = {op} a c
                    e:bool[{rows},{columns}] = not d
                    f:bool[{rows}] = {primitive}[axes=(1,) out_sharding=None] d
                    g:bool[{rows}] = reduce_or[axes=(1,) out_sharding=None] e
                    h:bool[] = {primitive}[axes=(0, 1) out_sharding=None] e
                  in (e, f, g, h) }}"
            );
            everywhere(&text, Nearness::Bits);
        }
    }
}
