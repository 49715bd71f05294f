//! Results are written where there is nothing to compute them from: empty arrays, windows that do not fit, loops without
//! turns. Memory that the allocator gives back is filled first, so that what is not written is seen.

use jaxide_core::{DType, Tensor, check, eval, parse};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, compile};
use jaxide_testing::arrays::{Numbers, arguments};
use jaxide_testing::compare::{Nearness, compare};

/// Programs whose results have elements, or whose loops turn, although operands are empty.
const PROGRAMS: &[&str] = &[
    "{ lambda ; a:f32[3,0]. let b:f32[3] = reduce_sum[axes=(1,) out_sharding=None] a in (b,) }",
    "{ lambda ; a:f32[0,3]. let b:f32[3] = reduce_max[axes=(0,) out_sharding=None] a in (b,) }",
    "{ lambda ; a:i8[4,0,5]. let b:i8[4] = reduce_min[axes=(1, 2) out_sharding=None] a in (b,) }",
    "{ lambda ; a:c64[0]. let b:c64[] = reduce_max[axes=(0,) out_sharding=None] a in (b,) }",
    "{ lambda ; a:f8_e4m3fn[2,0]. let b:f8_e4m3fn[2] = reduce_min[axes=(1,) out_sharding=None] a in (b,) }",
    "{ lambda ; a:u8[0,7]. let b:u8[7] = reduce_and[axes=(0,)] a in (b,) }",
    "{ lambda ; a:u2[0,7]. let b:u2[7] = reduce_and[axes=(0,)] a in (b,) }",
    "{ lambda ; a:u4[0,7]. let b:u4[7] = reduce_and[axes=(0,)] a in (b,) }",
    "{ lambda ; a:i2[0,7]. let b:i2[7] = reduce_and[axes=(0,)] a in (b,) }",
    "{ lambda ; a:i4[0,7]. let b:i4[7] = reduce_and[axes=(0,)] a in (b,) }",
    "{ lambda ; a:f32[3,0] b:f32[]. let c:f32[3] = reduce[computation=None dimensions=(1,) jaxpr={ lambda ; d:f32[] e:f32[]. let f:f32[] = mul d e in (f,) }] a b in (c,) }",
    "{ lambda ; a:f32[3,0] b:f32[3]. let c:f32[3] = reduce_sum[axes=(1,) out_sharding=None] a; d:f32[3] = add b c in (d, c) }",
    "{ lambda ; a:f32[3,0] b:f32[0,4]. let c:f32[3,4] = dot_general[dimension_numbers=(([1], [0]), ([], []))] a b in (c,) }",
    "{ lambda ; a:i32[5,3,0] b:i32[5,0,4]. let c:i32[5,3,4] = dot_general[dimension_numbers=(([2], [1]), ([0], [0]))] a b in (c,) }",
    "{ lambda ; a:f32[4,2] b:f32[0,2,3] c:i32[0]. let d:f32[4,3] = ragged_dot_general[group_offset=None out_sharding=None precision=None preferred_element_type=None ragged_dot_dimension_numbers=RaggedDotDimensionNumbers(dot_dimension_numbers=(([1], [1]), ([], [])), lhs_ragged_dimensions=[0], rhs_group_dimensions=[0])] a b c in (d,) }",
    "{ lambda ; a:f32[1,0,5] b:f32[2,0,3]. let c:f32[1,2,5] = conv_general_dilated[batch_group_count=1 dimension_numbers=ConvDimensionNumbers(lhs_spec=(0, 1, 2), rhs_spec=(0, 1, 2), out_spec=(0, 1, 2)) feature_group_count=1 lhs_dilation=(1,) out_sharding=None padding=((1, 1),) precision=None preferred_element_type=None rhs_dilation=(1,) window_strides=(1,)] a b in (c,) }",
    "{ lambda ; a:f32[1,1,0] b:f32[1,1,2]. let c:f32[1,1,3] = conv_general_dilated[batch_group_count=1 dimension_numbers=ConvDimensionNumbers(lhs_spec=(0, 1, 2), rhs_spec=(0, 1, 2), out_spec=(0, 1, 2)) feature_group_count=1 lhs_dilation=(1,) out_sharding=None padding=((2, 2),) precision=None preferred_element_type=None rhs_dilation=(1,) window_strides=(1,)] a b in (c,) }",
    "{ lambda ; a:f32[0]. let b:f32[4] = reduce_window_sum[base_dilation=(1,) padding=((2, 3),) window_dilation=(1,) window_dimensions=(2,) window_strides=(1,)] a in (b,) }",
    "{ lambda ; a:i32[0]. let b:i32[4] = reduce_window_max[base_dilation=(2,) padding=((2, 3),) window_dilation=(1,) window_dimensions=(2,) window_strides=(1,)] a in (b,) }",
    "{ lambda ; a:f32[0] b:f32[]. let c:f32[4] = reduce_window[base_dilation=(1,) consts=() jaxpr={ lambda ; d:f32[] e:f32[]. let f:f32[] = mul d e in (f,) } padding=((2, 3),) window_dilation=(1,) window_dimensions=(2,) window_strides=(1,)] a b in (c,) }",
    "{ lambda ; a:f32[0] b:f32[0]. let c:f32[4] = select_and_gather_add[base_dilation=(1,) padding=((2, 3),) select_prim=ge window_dilation=(1,) window_dimensions=(2,) window_strides=(1,)] a b in (c,) }",
    "{ lambda ; a:f32[0] b:f32[3]. let c:f32[3] = select_and_scatter_add[padding=((0, 0),) select_prim=ge window_dimensions=(5,) window_strides=(1,)] a b in (c,) }",
    "{ lambda ; a:f32[0] b:f32[300]. let c:f32[300] = select_and_scatter_add[padding=((0, 0),) select_prim=le window_dimensions=(500,) window_strides=(1,)] a b in (c,) }",
    "{ lambda ; a:f32[3] b:f32[0] c:f32[]. let d:f32[3] = select_and_scatter[padding=((0, 0),) scatter_consts=() scatter_jaxpr={ lambda ; e:f32[] f:f32[]. let g:f32[] = add e f in (g,) } select_consts=() select_jaxpr={ lambda ; e:f32[] f:f32[]. let g:bool[] = ge e f in (g,) } window_dimensions=(5,) window_strides=(1,)] a b c in (d,) }",
    "{ lambda ; a:f32[3] b:i32[0,1] c:f32[0]. let d:f32[3] = scatter-add[dimension_numbers=ScatterDimensionNumbers(update_window_dims=(), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,), operand_batching_dims=(), scatter_indices_batching_dims=()) indices_are_sorted=False mode=GatherScatterMode.CLIP unique_indices=False update_consts=() update_jaxpr=None] a b c in (d,) }",
    "{ lambda ; a:f32[3,4] b:f32[0,4] c:i32[]. let d:f32[3,4] = dynamic_update_slice a b c c in (d,) }",
    "{ lambda ; a:f32[0] b:f32[]. let c:f32[5] = pad[padding_config=((2, 3, 4),)] a b in (c,) }",
    "{ lambda ; a:f32[0,3] b:f32[2,3]. let c:f32[2,3] = concatenate[dimension=0] a b in (c,) }",
    "{ lambda ; a:f32[4] b:f32[0,4]. let c:f32[4] d:f32[0,4] = scan[ft_in=((), (None,), (None,)) ft_out=((None,), (None,)) jaxpr={ lambda ; e:f32[4] f:f32[4]. let g:f32[4] = add e f in (g, e) } length=0 reverse=False unroll=1] a b in (c, d) }",
    "{ lambda ; a:f32[4,0] b:f32[5]. let c:f32[5] = scan[ft_in=((), (None,), (None,)) ft_out=((None,), ()) jaxpr={ lambda ; e:f32[5] f:f32[0]. let h:f32[] = reduce_sum[axes=(0,) out_sharding=None] f; g:f32[5] = add e h in (g,) } length=4 reverse=False unroll=1] b a in (c,) }",
    // Loops whose condition has no lanes, with their state in registers and in memory.
    "{ lambda ; a:f32[0]. let b:f32[0] = while[body_jaxpr={ lambda ; c:f32[0]. let d:f32[0] = sort[dimension=0 is_stable=True num_keys=1] c; e:f32[0] = add d 1.0:f32[] in (e,) } body_nconsts=0 cond_jaxpr={ lambda ; e:f32[0]. let f:bool[0] = lt e 1.0:f32[] in (f,) } cond_nconsts=0] a in (b,) }",
    "{ lambda ; a:f32[0,300] b:f32[300,300]. let c:f32[0,300] = while[body_jaxpr={ lambda ; d:f32[300,300] e:f32[0,300]. let f:f32[0,300] = dot_general[dimension_numbers=(([1], [0]), ([], []))] e d; g:f32[0,300] = sort[dimension=1 is_stable=True num_keys=1] f in (g,) } body_nconsts=1 cond_jaxpr={ lambda ; d:f32[0,300]. let e:f32[0] = reduce_max[axes=(1,) out_sharding=None] d; f:bool[0] = lt e 1.0:f32[] in (f,) } cond_nconsts=0] b a in (c,) }",
    "{ lambda ; a:f32[0] b:f32[7]. let c:f32[0] d:f32[7] = while[body_jaxpr={ lambda ; e:f32[0] f:f32[7]. let g:f32[7] = sort[dimension=0 is_stable=True num_keys=1] f in (e, g) } body_nconsts=0 cond_jaxpr={ lambda ; e:f32[0] f:f32[7]. let g:f32[] = reduce_max[axes=(0,) out_sharding=None] e; h:bool[] = gt g 1.0:f32[] in (h,) } cond_nconsts=0] a b in (c, d) }",
    "{ lambda ; a:bool[0] b:f32[3]. let c:bool[] = reduce_or[axes=(0,)] a; d:i32[] = convert_element_type[new_dtype=int32 weak_type=False] c; e:f32[3] = cond[branches=({ lambda ; f:f32[3]. let g:f32[3] = neg f in (g,) } { lambda ; f:f32[3]. let g:f32[3] = sort[dimension=0 is_stable=True num_keys=1] f in (g,) })] d b in (e,) }",
];

/// Leaves ones in memory that is given back.
fn dirty() {
    for count in [1usize, 3, 4, 5, 7, 12, 60, 300, 5000] {
        let full = Tensor::from_vec(&[count], vec![u64::MAX; count]).unwrap();
        drop(std::hint::black_box(full));
    }
    let text = "{ lambda ; a:f64[600]. let b:f64[600] = sort[dimension=0 is_stable=True num_keys=1] a; c:f64[600] = neg b in (b, c) }";
    let nan = Tensor::from_bytes(&[600], DType::F64, &[0xff; 4800]).unwrap();
    let program = compile(&parse(text).unwrap(), &CompileOptions::default()).unwrap();
    drop(program.run(&[nan]).unwrap());
}

#[test]
fn results_of_nothing_are_written() {
    for text in PROGRAMS {
        let jaxpr = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        check(&jaxpr).unwrap_or_else(|errors| panic!("{}\n{text}", errors[0]));
        let args = arguments(&jaxpr, Numbers::Tame, 5);
        let want = eval::eval(&jaxpr, &args).unwrap_or_else(|error| panic!("{error}\n{text}"));
        for isa in Isa::available() {
            let options = CompileOptions {
                isa: Some(isa),
                ..CompileOptions::default()
            };
            let program =
                compile(&jaxpr, &options).unwrap_or_else(|error| panic!("{error}\n{text}"));
            for _ in 0..3 {
                dirty();
                let got = program
                    .run(&args)
                    .unwrap_or_else(|error| panic!("{error}\n{text}"));
                compare(&got, &want, Nearness::Bits).unwrap_or_else(|message| {
                    panic!("{isa:?}: {message}\n{text}\n{}", program.loops_text())
                });
            }
        }
    }
}
