//! What is known when a program is compiled, indices and captured arrays, means what it means as an argument.

use jaxide_core::{Tensor, eval, parse};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, compile};

/// Compares native code with the interpreter: the same bits. `consts` are the program's constants.
fn agrees(text: &str, consts: Vec<Tensor>, args: &[Tensor]) {
    let mut closed = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    closed.consts = consts;
    let want = eval::eval(&closed, args).unwrap_or_else(|error| panic!("{error}\n{text}"));
    for isa in Isa::available() {
        let options = CompileOptions {
            isa: Some(isa),
            ..CompileOptions::default()
        };
        let program = compile(&closed, &options).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let got = program.run(args).unwrap();
        assert_eq!(got, want, "{}: {text}", isa.name());
    }
}

/// Numbers whose sums and products are exact.
fn numbers(shape: &[usize], seed: usize) -> Tensor {
    let count = shape.iter().product();
    let values = (0..count).map(|k| ((k * 7 + seed * 5) % 13) as f32 - 6.0);
    Tensor::from_vec(shape, values.collect()).unwrap()
}

#[test]
fn scatters_at_known_places() {
    let splat = |index: i32, count: usize| {
        format!(
            "broadcast_in_dim[broadcast_dimensions=() shape=({count}, 1) sharding=None] {index}:i32[]"
        )
    };
    let iota =
        |count: usize| format!("iota[dimension=0 dtype=int32 shape=({count}, 1) sharding=None]");
    for (places, count) in [
        (splat(2, 1), 1),
        (splat(-1, 1), 1),
        (splat(9, 1), 1),
        (splat(2, 3), 3),
        (splat(9, 3), 3),
        (iota(1), 1),
        (iota(3), 3),
        (iota(8), 8),
    ] {
        for operation in ["scatter-add", "scatter-mul", "scatter-min", "scatter-max"] {
            for mode in ["CLIP", "FILL_OR_DROP"] {
                let numbers_of = |windows: &str| {
                    format!(
                        "dimension_numbers=ScatterDimensionNumbers(update_window_dims=({windows}), inserted_window_dims=(0,), \
                         scatter_dims_to_operand_dims=(0,), operand_batching_dims=(), scatter_indices_batching_dims=()) \
                         indices_are_sorted=False mode=GatherScatterMode.{mode} unique_indices=False \
                         update_consts=() update_jaxpr=None"
                    )
                };
                let text = format!(
                    "{{ lambda ; a:f32[6] b:f32[{count}]. let
                        i:i32[{count},1] = {places}
                        c:f32[6] = {operation}[{}] a i b
                      in (c,) }}",
                    numbers_of("")
                );
                agrees(&text, vec![], &[numbers(&[6], 1), numbers(&[count], 2)]);
                let text = format!(
                    "{{ lambda ; a:f32[6,5] b:f32[{count},5]. let
                        i:i32[{count},1] = {places}
                        c:f32[6,5] = {operation}[{}] a i b
                      in (c,) }}",
                    numbers_of("1,")
                );
                agrees(
                    &text,
                    vec![],
                    &[numbers(&[6, 5], 3), numbers(&[count, 5], 4)],
                );
            }
        }
    }
}

#[test]
fn single_elements_of_captured_arrays() {
    for (row, column) in [(0, 0), (0, 3), (2, 0), (1, 2), (2, 3)] {
        let text = format!(
            "{{ lambda a:f32[3,4] ; b:f32[5]. let
                c:f32[1,1] = slice[limit_indices=({}, {}) start_indices=({row}, {column}) strides=(1, 1)] a
                d:f32[] = reshape[dimensions=None new_sizes=() sharding=None] c
                e:f32[5] = mul b d
                f:f32[1,5] = broadcast_in_dim[broadcast_dimensions=(1,) shape=(1, 5) sharding=None] e
                g:f32[1,5] = add f c
              in (e, g) }}",
            row + 1,
            column + 1
        );
        agrees(&text, vec![numbers(&[3, 4], 5)], &[numbers(&[5], 6)]);
    }
}

/// A map over devices is a map over the axis: here there is one device, which does all.
#[test]
fn maps_over_devices() {
    for (size, out) in [(1, 0), (2, 0), (3, 1)] {
        let shape = if out == 0 {
            format!("{size},4")
        } else {
            format!("4,{size}")
        };
        let text = format!(
            "{{ lambda ; a:f32[{size},4] b:f32[4]. let
                c:f32[{shape}] = xla_pmap[
                  axis_name=i
                  axis_size={size}
                  call_jaxpr={{ lambda ; a:f32[4] b:f32[4]. let
                    d:f32[4] = mul a b
                    c:f32[4] = psum[axes=('i',) axis_index_groups=None] d
                  in (c,) }}
                  in_axes=(0, None)
                  name=f
                  out_axes=({out},)
                ] a b
              in (c,) }}"
        );
        agrees(&text, vec![], &[numbers(&[size, 4], 7), numbers(&[4], 8)]);
    }
}

/// Rows and columns at places that follow from constants: all, shifted, turned around, the same again, every other, in two runs and more; some
/// outside of the array.
#[test]
fn gathers_at_known_places() {
    let iota = "k:i32[#] = iota[dimension=0 dtype=int32 shape=(#,) sharding=None]";
    for count in [2usize, 5, 6, 9, 70] {
        for places in [
            "i:i32[#] = add k 0:i32[]",
            "i:i32[#] = add k 1:i32[]",
            "i:i32[#] = sub 5:i32[] k",
            "i:i32[#] = mul k 2:i32[]",
            "i:i32[#] = mul k 0:i32[]",
            "i:i32[#] = min k 3:i32[]",
            "l:i32[#] = add k 1:i32[]\n i:i32[#] = min l 5:i32[]",
            "l:i32[#] = sub k 1:i32[]\n i:i32[#] = max l 0:i32[]",
            "l:i32[#] = sub k 2:i32[]\n i:i32[#] = clamp 0:i32[] l 5:i32[]",
            "l:bool[#] = eq k 2:i32[]\n i:i32[#] = select_n l k 0:i32[]",
        ] {
            for mode in ["CLIP", "FILL_OR_DROP", "PROMISE_IN_BOUNDS"] {
                if mode == "PROMISE_IN_BOUNDS" && count > 2 {
                    continue;
                }
                for (axis, offset, sizes, result) in [(0, 1, "1, 4", "#,4"), (1, 0, "4, 1", "4,#")]
                {
                    let shape = if axis == 0 { [6, 4] } else { [4, 6] };
                    let text = format!(
                        "{{ lambda ; a:f32[{},{}]. let
                            {iota}
                            {places}
                            j:i32[#,1] = broadcast_in_dim[broadcast_dimensions=(0,) shape=(#, 1) sharding=None] i
                            b:f32[{result}] = gather[
                              dimension_numbers=GatherDimensionNumbers(offset_dims=({offset},), collapsed_slice_dims=({axis},), start_index_map=({axis},), operand_batching_dims=(), start_indices_batching_dims=())
                              fill_value=None
                              indices_are_sorted=False
                              mode=GatherScatterMode.{mode}
                              slice_sizes=({sizes})
                              unique_indices=False
                            ] a j
                            c:f32[{result}] = mul b b
                          in (b, c) }}",
                        shape[0], shape[1],
                    );
                    let text = text.replace('#', &count.to_string());
                    agrees(&text, vec![], &[numbers(&shape, count)]);
                }
            }
        }
    }
}

/// Numbers that are converted to floats are no arrays that loops read.
#[test]
fn bounds_that_are_converted_are_constants() {
    let text = "{ lambda ; a:f32[5,40] b:bf16[5,40]. let
        z:f32[40] = broadcast_in_dim[broadcast_dimensions=() shape=(40,) sharding=None] 0.0:f32[]
        c:f32[40] d:bf16[5,40] = scan[
          jaxpr={ lambda ; e:f32[40] f:f32[40] g:bf16[40]. let
              h:f32[] = convert_element_type[new_dtype=float32 weak_type=False] -1:i32[]
              i:f32[] = convert_element_type[new_dtype=float32 weak_type=False] 1:i32[]
              j:f32[40] = add e f
              k:f32[40] = max h j
              l:f32[40] = min i k
              m:bf16[] = convert_element_type[new_dtype=bfloat16 weak_type=False] 0.5:f32[]
              n:bf16[40] = mul g m
            in (l, n) }
          length=5 linear=(False, False, False) num_carry=1 num_consts=0 reverse=False unroll=1
        ] z a b
      in (c, d) }";
    let jaxpr = parse(text).unwrap();
    let program = compile(&jaxpr, &CompileOptions::default()).unwrap();
    let loops = program.loops_text();
    assert!(!loops.contains("[]"), "{loops}");
    assert!(!loops.contains(": 4 bytes at"), "{loops}");
    let sixteen = |k: usize| half::bf16::from_f32((k % 9) as f32 - 4.0);
    let halves = Tensor::from_vec(&[5, 40], (0..200).map(sixteen).collect()).unwrap();
    agrees(text, vec![], &[numbers(&[5, 40], 1), halves]);
}

/// Places that are counted without a sign: what wraps is large and not negative.
#[test]
fn unsigned_places_that_wrap() {
    for (places, mode) in [
        ("j:u64[4] = sub i 1:u64[]", "CLIP"),
        ("j:u64[4] = sub i 1:u64[]", "FILL_OR_DROP"),
        (
            "k:u64[4] = sub i 2:u64[]\n j:u64[4] = min k 7:u64[]",
            "CLIP",
        ),
        (
            "k:u64[4] = sub i 2:u64[]\n l:bool[4] = gt k 3:u64[]\n j:i32[4] = convert_element_type[new_dtype=int32 weak_type=False] l",
            "CLIP",
        ),
    ] {
        let ty = if places.contains("i32") { "i32" } else { "u64" };
        let text = format!(
            "{{ lambda ; a:f32[8]. let
                i:u64[4] = iota[dimension=0 dtype=uint64 shape=(4,) sharding=None]
                {places}
                c:{ty}[4,1] = broadcast_in_dim[broadcast_dimensions=(0,) shape=(4, 1) sharding=None] j
                d:f32[4] = gather[
                  dimension_numbers=GatherDimensionNumbers(offset_dims=(), collapsed_slice_dims=(0,), start_index_map=(0,), operand_batching_dims=(), start_indices_batching_dims=())
                  fill_value=-1.0
                  indices_are_sorted=False
                  mode=GatherScatterMode.{mode}
                  slice_sizes=(1,)
                  unique_indices=False
                ] a c
              in (d,) }}"
        );
        agrees(&text, vec![], &[numbers(&[8], 3)]);
    }
}

/// What is known of an array is found by looking at each value once, and not too long: each of these numbers is made of the one before twice, and
/// a gather asks for each.
#[test]
fn places_that_are_made_of_each_other() {
    let mut text = String::from(
        "{ lambda ; a:f32[8]. let i0:i32[100] = iota[dimension=0 dtype=int32 shape=(100,) sharding=None]\n",
    );
    let turns = 40;
    for k in 0..turns {
        let next = k + 1;
        text += &format!(
            "j{k}:i32[100] = mul i{k} 3:i32[]
             i{next}:i32[100] = max i{k} j{k}
             c{k}:i32[100,1] = broadcast_in_dim[broadcast_dimensions=(0,) shape=(100, 1) sharding=None] i{next}
             d{k}:f32[100] = gather[
               dimension_numbers=GatherDimensionNumbers(offset_dims=(), collapsed_slice_dims=(0,), start_index_map=(0,), operand_batching_dims=(), start_indices_batching_dims=())
               fill_value=None
               indices_are_sorted=False
               mode=GatherScatterMode.CLIP
               slice_sizes=(1,)
               unique_indices=False
             ] a c{k}\n"
        );
    }
    text += &format!("in (d0, d{}) }}", turns - 1);
    agrees(&text, vec![], &[numbers(&[8], 1)]);
}
