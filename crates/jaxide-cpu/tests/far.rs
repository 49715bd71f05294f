//! Places far from where arrays start: beyond what instructions hold, and beyond the integers of 32 bits, or those with a sign.

use crate::everywhere::everywhere;
use jaxide_core::jaxpr::parse::parse;
use jaxide_core::{Tensor, eval};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, compile};
use jaxide_testing::compare::Nearness;

/// Slices of one array on both sides of 2³⁰ bytes, in both orders. Its memory is not touched elsewhere, so that little of it is real.
#[test]
fn slices_beyond_what_instructions_hold() {
    const LENGTH: usize = 1_100_001_000;
    let places = [0usize, 1 << 29, (1 << 30) - 7, 1 << 30, 1_100_000_000];
    let mut bytes = vec![0u8; LENGTH];
    for (k, &place) in places.iter().enumerate() {
        for (j, byte) in bytes[place..place + 300].iter_mut().enumerate() {
            *byte = (50 * (k + 1) + j) as u8;
        }
    }
    let x = Tensor::from_vec(&[LENGTH], bytes).unwrap();
    for (first, second) in [(0, 4), (4, 0), (3, 4), (4, 2), (2, 3), (1, 4)] {
        let slice = |k: usize| {
            let (start, end) = (places[k], places[k] + 300);
            format!("slice[limit_indices=({end},) start_indices=({start},) strides=None] a")
        };
        let text = format!(
            "{{ lambda ; a:u8[{LENGTH}]. let
                b:u8[300] = {}
                c:u8[300] = {}
                d:u8[300] = mul b 2:u8[]
                e:u8[300] = add d c
                f:u8[100,3] = reshape[dimensions=None new_sizes=(100, 3) sharding=None] e
                g:u8[100] = reduce_max[axes=(1,) out_sharding=None] f
              in (e, g) }}",
            slice(first),
            slice(second)
        );
        let jaxpr = parse(&text).unwrap();
        let args = [x.clone()];
        let want = eval::eval(&jaxpr, &args).unwrap();
        for isa in Isa::available() {
            for checked in [false, true] {
                let options = CompileOptions {
                    isa: Some(isa),
                    checked,
                    ..CompileOptions::default()
                };
                let got = compile(&jaxpr, &options).unwrap().run(&args).unwrap();
                assert!(got == want, "{isa:?} {first} {second}");
            }
        }
    }
}

/// Where an update goes whose place is a number of more than 32 bits, without running it.
#[test]
fn updates_at_places_of_more_than_32_bits() {
    let text = "{ lambda ; a:u8[2200004000] b:u8[3000]. let
        c:u8[2200004000] = dynamic_update_slice a b 2200000000:i64[]
      in (c,) }";
    let program = compile(&parse(text).unwrap(), &CompileOptions::default()).unwrap();
    let loops = program.loops_text();
    assert!(loops.contains("2200000000"), "{loops}");
}

/// Constant indices that no integer with a sign holds are behind the end.
#[test]
fn constant_indices_beyond_all_numbers_with_a_sign() {
    let gather = |mode: &str| {
        format!(
            "gather[
              dimension_numbers=GatherDimensionNumbers(offset_dims=(0,), collapsed_slice_dims=(), start_index_map=(0,), operand_batching_dims=(), start_indices_batching_dims=())
              fill_value=None indices_are_sorted=False mode=GatherScatterMode.{mode} slice_sizes=(3,) unique_indices=False
            ] a i"
        )
    };
    for n in [10, 300] {
        let text = format!(
            "{{ lambda ; a:i32[{n}] b:i32[3]. let
                i:u64[1] = broadcast_in_dim[broadcast_dimensions=() shape=(1,) sharding=None] 9223372036854775808:u64[]
                c:i32[{n}] = dynamic_update_slice a b 9223372036854775808:u64[]
                d:i32[3] = dynamic_slice[slice_sizes=(3,)] a 18446744073709551615:u64[]
                e:i32[3] = {}
                f:i32[3] = {}
              in (c, d, e, f) }}",
            gather("CLIP"),
            gather("FILL_OR_DROP")
        );
        everywhere(&text, Nearness::Bits);
    }
}
