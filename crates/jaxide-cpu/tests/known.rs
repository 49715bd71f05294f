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
