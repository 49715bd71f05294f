//! Elements of 8 and 16 bits: gathered from anywhere, computed with in wider lanes, and stepped from one to the next.

use crate::everywhere::everywhere;
use jaxide_core::{DType, Tensor, eval, parse};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, compile};
use jaxide_testing::compare::Nearness;

/// Types of elements below 32 bits, as text names them.
const SMALL: [&str; 7] = ["i8", "u8", "bool", "i16", "u16", "f16", "bf16"];

/// Lengths around vectors of all widths.
const LENGTHS: [usize; 9] = [1, 2, 5, 15, 16, 17, 33, 64, 201];

#[test]
fn elements_are_gathered_from_anywhere() {
    for ty in SMALL {
        for n in LENGTHS {
            // Rows of odd lengths, so that no alignment holds; indices outside are in.
            let text = format!(
                "{{ lambda ; a:{ty}[7,3] i:i32[{n},2] j:i32[{n},1]. let
                    b:{ty}[{n}] = gather[
                      dimension_numbers=GatherDimensionNumbers(offset_dims=(), collapsed_slice_dims=(0, 1), start_index_map=(0, 1), operand_batching_dims=(), start_indices_batching_dims=())
                      fill_value=None indices_are_sorted=False mode=GatherScatterMode.CLIP slice_sizes=(1, 1) unique_indices=False] a i
                    c:{ty}[{n},3] = gather[
                      dimension_numbers=GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,), operand_batching_dims=(), start_indices_batching_dims=())
                      fill_value=None indices_are_sorted=False mode=GatherScatterMode.CLIP slice_sizes=(1, 3) unique_indices=False] a j
                  in (b, c) }}"
            );
            everywhere(&text, Nearness::Bits);
        }
    }
}

/// Short rows are loaded as words, and longer ones copied; indices outside are in, and of the last row nothing behind it is read.
#[test]
fn rows_are_gathered() {
    for ty in SMALL {
        for (row, n) in (2..=17).flat_map(|row| [1, 15, 33, 301].map(|n| (row, n))) {
            let text = format!(
                "{{ lambda ; a:{ty}[11,{row}] i:i32[{n},1]. let
                    b:{ty}[{n},{row}] = gather[
                      dimension_numbers=GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,), operand_batching_dims=(), start_indices_batching_dims=())
                      fill_value=None indices_are_sorted=False mode=GatherScatterMode.CLIP slice_sizes=(1, {row}) unique_indices=False] a i
                    c:f32[{n},{row}] = convert_element_type[new_dtype=float32 weak_type=False] b
                    d:f32[{n},{row}] = mul c 0.5:f32[]
                  in (b, d) }}"
            );
            everywhere(&text, Nearness::Bits);
        }
    }
}

#[test]
fn elements_are_taken_and_turned_at_any_distance() {
    for ty in SMALL {
        for n in LENGTHS {
            for step in [3, 5, 7, 9] {
                let wide = n * step;
                let text = format!(
                    "{{ lambda ; a:{ty}[{wide}] r:{ty}[{n},{step}]. let
                        b:{ty}[{n}] = slice[limit_indices=({wide},) start_indices=(1,) strides=({step},)] a
                        c:{ty}[{n},{step}] = rev[dimensions=(1,)] r
                        d:{ty}[{step},{n}] = transpose[permutation=(1, 0)] r
                      in (b, c, d) }}"
                );
                everywhere(&text, Nearness::Bits);
            }
        }
    }
}

#[test]
fn integers_wrap_in_chains_of_operations() {
    for ty in ["i8", "u8", "i16", "u16"] {
        for n in LENGTHS {
            // What looks at all bits stands between what looks at the low ones, in loops and out of them.
            let text = format!(
                "{{ lambda ; a:{ty}[{n}] b:{ty}[{n}]. let
                    c:{ty}[{n}] = mul a b
                    d:{ty}[{n}] = add c a
                    e:{ty}[{n}] = mul d d
                    f:bool[{n}] = lt e b
                    g:{ty}[{n}] = select_n f e c
                    h:{ty}[{n}] = shift_right_logical g 3:{ty}[]
                    i:{ty}[{n}] = sub h e
                    j:{ty}[{n}] = div i 3:{ty}[]
                    k:{ty}[{n}] = and i 63:{ty}[]
                    l:{ty}[{n}] = shift_left e 2:{ty}[]
                    m:{ty}[{n}] = max l i
                    o:f32[{n}] = convert_element_type[new_dtype=float32 sharding=None weak_type=False] i
                    p:i32[{n}] = convert_element_type[new_dtype=int32 sharding=None weak_type=False] e
                    q:{ty}[] = reduce_sum[axes=(0,) out_sharding=None] i
                    r:{ty}[{n}] = scan[
                      ft_in=((), (None,), ()) ft_out=((None,), ())
                      jaxpr={{ lambda ; s:{ty}[{n}]. let
                          t:{ty}[{n}] = mul s s
                          u:{ty}[{n}] = sub t s
                          v:{ty}[{n}] = shift_right_arithmetic u 1:{ty}[]
                          w:{ty}[{n}] = add v s
                        in (w,) }}
                      length=7 reverse=False unroll=1
                    ] e
                    x:{ty}[{n}] = neg i
                    y:{ty}[{n}] = not i
                    z:{ty}[{n}] = xor x y
                  in (e, g, h, i, j, k, l, m, o, p, q, r, z) }}"
            );
            everywhere(&text, Nearness::Bits);
        }
    }
}

#[test]
fn each_number_of_16_bits_is_followed_by_the_next() {
    for (ty, dtype) in [("f16", DType::F16), ("bf16", DType::BF16)] {
        let n = 1 << 16;
        let text = format!(
            "{{ lambda ; a:{ty}[{n}] b:{ty}[{n}]. let c:{ty}[{n}] = nextafter a b in (c,) }}"
        );
        let jaxpr = parse(&text).unwrap();
        let all: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
        let a = Tensor::from_bytes(&[n], dtype, &all).unwrap();
        let infinity = if dtype == DType::F16 {
            0x7c00u16
        } else {
            0x7f80
        };
        let one = if dtype == DType::F16 {
            0x3c00u16
        } else {
            0x3f80
        };
        for towards in [infinity, infinity | 0x8000, 0, 0x8000, one, infinity + 1] {
            let b = Tensor::from_bytes(&[n], dtype, &towards.to_le_bytes().repeat(n)).unwrap();
            let want = eval::eval(&jaxpr, &[a.clone(), b.clone()]).unwrap();
            for isa in Isa::available() {
                let options = CompileOptions {
                    isa: Some(isa),
                    ..CompileOptions::default()
                };
                let got = compile(&jaxpr, &options)
                    .unwrap()
                    .run(&[a.clone(), b.clone()])
                    .unwrap();
                let what = format!("{ty} on {isa:?} towards {towards:#x}");
                same_bits(&got[0], &want[0], dtype, &what);
            }
        }
    }
}

/// What is no number stays none, whatever is computed of an extremum: alone, of a row, and in arithmetic.
#[test]
fn extrema_that_are_no_numbers() {
    for (ty, dtype) in [("f16", DType::F16), ("bf16", DType::BF16)] {
        let n = 1 << 16;
        let text = format!(
            "{{ lambda ; a:{ty}[{n}] b:{ty}[{n}]. let
                c:{ty}[{n}] = max a b
                d:{ty}[{n}] = min a b
                e:{ty}[{n}] = mul c 0.25:{ty}[]
                f:{ty}[{n}] = add d 1.0:{ty}[]
                g:{ty}[{n}] = mul e b
                h:{ty}[{n}] = max g d
                i:{ty}[{n}] = sub h a
                j:{ty}[2048,32] = reshape[dimensions=None new_sizes=(2048, 32) sharding=None] a
                k:{ty}[2048] = reduce_max[axes=(1,) out_sharding=None] j
                l:{ty}[32] = reduce_min[axes=(0,) out_sharding=None] j
                m:{ty}[2048] = mul k 0.25:{ty}[]
                o:{ty}[32] = mul l 0.25:{ty}[]
              in (c, d, e, f, g, h, i, m, o) }}"
        );
        let jaxpr = parse(&text).unwrap();
        let all: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
        let a = Tensor::from_bytes(&[n], dtype, &all).unwrap();
        for by in [1u16, 40503] {
            let other: Vec<u8> = (0..=u16::MAX)
                .flat_map(|k| k.wrapping_mul(by).wrapping_add(by / 3).to_le_bytes())
                .collect();
            let b = Tensor::from_bytes(&[n], dtype, &other).unwrap();
            let args = [a.clone(), b];
            let want = eval::eval(&jaxpr, &args).unwrap();
            for isa in Isa::available() {
                let options = CompileOptions {
                    isa: Some(isa),
                    ..CompileOptions::default()
                };
                let got = compile(&jaxpr, &options).unwrap().run(&args).unwrap();
                for (k, (got, want)) in got.iter().zip(&want).enumerate() {
                    same_bits(got, want, dtype, &format!("{ty} on {isa:?}, result {k}"));
                }
            }
        }
    }
}

#[test]
fn each_number_of_16_bits_is_rounded_to_fewer() {
    for (ty, dtype) in [("f16", DType::F16), ("bf16", DType::BF16)] {
        let n = 1 << 16;
        let all: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
        let a = Tensor::from_bytes(&[n], dtype, &all).unwrap();
        for exponent in [1, 4, 5] {
            for mantissa in [0, 2, 9, 10] {
                let text = format!(
                    "{{ lambda ; a:{ty}[{n}]. let
                        b:{ty}[{n}] = reduce_precision[exponent_bits={exponent} mantissa_bits={mantissa}] a
                      in (b,) }}"
                );
                let what = format!("{ty} to {exponent} and {mantissa}");
                same_bits_everywhere(&text, &a, dtype, &what);
            }
        }
    }
}

/// Of every number of 16 bits the exponential, which is rounded from a wider one that has as many correct digits.
#[test]
fn exponentials_of_each_number_of_16_bits() {
    for ty in ["f16", "bf16"] {
        let n = 1 << 16;
        let all: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
        let dtype = if ty == "f16" { DType::F16 } else { DType::BF16 };
        let a = Tensor::from_bytes(&[n], dtype, &all).unwrap();
        let text = format!(
            "{{ lambda ; a:{ty}[{n}]. let
                b:{ty}[{n}] = exp[accuracy=None] a
                c:{ty}[{n}] = add b b
                d:{ty}[{n}] = convert_element_type[new_dtype={name} weak_type=False] b
              in (b, c, d) }}",
            name = dtype.numpy_name(),
        );
        same_bits_everywhere(&text, &a, dtype, &format!("exp of {ty}"));
    }
}

/// Compares all results of a program of one array, which are numbers of 16 bits, with the interpreter's on every instruction set.
fn same_bits_everywhere(text: &str, a: &Tensor, dtype: DType, what: &str) {
    let jaxpr = parse(text).unwrap();
    let want = eval::eval(&jaxpr, std::slice::from_ref(a)).unwrap();
    for isa in Isa::available() {
        let options = CompileOptions {
            isa: Some(isa),
            ..CompileOptions::default()
        };
        let program = compile(&jaxpr, &options).unwrap();
        let got = program.run(std::slice::from_ref(a)).unwrap();
        for (got, want) in got.iter().zip(&want) {
            same_bits(got, want, dtype, &format!("{what} on {isa:?}"));
        }
    }
}

/// Compares numbers of 16 bits; any NaN is as good as any other.
fn same_bits(got: &Tensor, want: &Tensor, dtype: DType, what: &str) {
    let infinity = if dtype == DType::F16 {
        0x7c00u16
    } else {
        0x7f80
    };
    let pairs = got.bytes().chunks(2).zip(want.bytes().chunks(2));
    for (k, (got, want)) in pairs.enumerate() {
        let [got, want] = [got, want].map(|x| u16::from_le_bytes([x[0], x[1]]));
        let both_nan = [got, want].iter().all(|x| x & 0x7fff > infinity);
        assert!(
            got == want || both_nan,
            "{what}: {got:#x} for {want:#x} at {k:#x}"
        );
    }
}

#[test]
fn rows_are_rolled() {
    for ty in SMALL {
        for n in [2, 5, 8, 9, 16, 17, 33, 83, 201] {
            let (last, most) = (n - 1, 2.min(n - 1));
            let rest = n - most;
            // Of each vector all lanes, some or none read what stands before the end.
            let text = format!(
                "{{ lambda ; a:{ty}[5,{n}] c:bool[5,{n}]. let
                    b:{ty}[5,{last}] = slice[limit_indices=(5, {last}) start_indices=(0, 0) strides=None] a
                    d:{ty}[5,1] = slice[limit_indices=(5, {n}) start_indices=(0, {last}) strides=None] a
                    e:{ty}[5,{n}] = concatenate[dimension=1] d b
                    f:{ty}[5,{most}] = slice[limit_indices=(5, {most}) start_indices=(0, 0) strides=None] a
                    g:{ty}[5,{rest}] = slice[limit_indices=(5, {n}) start_indices=(0, {most}) strides=None] a
                    h:{ty}[5,{n}] = concatenate[dimension=1] g f
                    i:{ty}[5,{n}] = select_n c e h
                    j:{ty}[5,{n}] = max i a
                    k:bool[5,{n}] = ne e h
                  in (i, j, k) }}"
            );
            everywhere(&text, Nearness::Bits);
        }
    }
}

/// Arithmetic of 16 bits in loops, branches and choices, and what wants singles among it: the bits of the interpreter's.
#[test]
fn arithmetic_of_sixteen_bits_is_rounded_each_time() {
    for ty in ["f16", "bf16"] {
        for n in [1, 2, 7, 8, 9, 15, 16, 17, 33, 64, 65, 201] {
            let text = format!(
                "{{ lambda ; a:{ty}[{n}] b:{ty}[{n}] c:bool[{n}] k:i32[]. let
                    s:{ty}[{n}] = scan[
                      ft_in=((None, None), (None,), ()) ft_out=((None,), ())
                      jaxpr={{ lambda ; b:{ty}[{n}] c:bool[{n}] x:{ty}[{n}]. let
                          d:{ty}[{n}] = mul x 0.75:{ty}[]
                          e:{ty}[{n}] = neg b
                          f:{ty}[{n}] = select_n c d e
                          g:{ty}[{n}] = add f b
                          h:{ty}[{n}] = sub g x
                          i:{ty}[{n}] = abs h
                          j:{ty}[{n}] = sqrt i
                          l:{ty}[{n}] = div j 1.5:{ty}[]
                        in (l,) }}
                      length=5 reverse=False unroll=1
                    ] b c a
                    t:{ty}[{n}] = exp s
                    u:{ty}[{n}] = add s t
                    v:{ty}[{n}] = max u b
                    w:{ty}[{n}] = mul v s
                    x:f32[{n}] = convert_element_type[new_dtype=float32 weak_type=False] w
                    m:bool[{n}] = lt s b
                    r:{ty}[{n}] = cond[
                      branches=(
                        {{ lambda ; p:{ty}[{n}] q:{ty}[{n}]. let o:{ty}[{n}] = mul p q in (o,) }}
                        {{ lambda ; p:{ty}[{n}] q:{ty}[{n}]. let o:{ty}[{n}] = sub p q in (o,) }}
                      )
                    ] k a b
                    y:{ty}[] = reduce_max[axes=(0,) out_sharding=None] w
                    z:{ty}[{n}] = rev[dimensions=(0,)] w
                  in (s, u, w, x, m, r, y, z) }}"
            );
            everywhere(&text, Nearness::Bits);
        }
    }
}

/// Numbers of 16 bits one after the other, each of which waits for the one before; and lanes that stop at different turns.
#[test]
fn numbers_of_sixteen_bits_follow_each_other() {
    for n in [1, 5, 16, 33, 70] {
        let text = format!(
            "{{ lambda ; a:f16[{n}] b:f16[]. let
                c:f16[] d:f16[{n}] e:f16[{n}] = scan[
                  ft_in=((), (None,), (None,)) ft_out=((None,), (None, None))
                  jaxpr={{ lambda ; x:f16[] y:f16[]. let
                      h:f16[] = mul y x
                      i:f16[] = add x h
                      j:f16[] = mul i 0.5:f16[]
                    in (j, x, h) }}
                  length={n} reverse=False unroll=1
                ] b a
                k:f16[{n}] l:i32[] = while[
                  body_jaxpr={{ lambda ; x:f16[{n}] t:i32[]. let
                      y:f16[{n}] = mul x 0.5:f16[]
                      z:f16[{n}] = sub y x
                      w:f16[{n}] = add z y
                      v:f16[{n}] = sub x w
                      u:f16[{n}] = mul v 0.25:f16[]
                      s:i32[] = add t 1:i32[]
                    in (u, s) }}
                  body_nconsts=0
                  cond_jaxpr={{ lambda ; x:f16[{n}] t:i32[]. let
                      m:f16[] = reduce_max[axes=(0,) out_sharding=None] x
                      g:bool[] = gt m 0.01:f16[]
                      h:bool[] = lt t 20:i32[]
                      i:bool[] = and g h
                    in (i,) }}
                  cond_nconsts=0
                ] a 0:i32[]
              in (c, d, e, k, l) }}"
        );
        everywhere(&text, Nearness::Bits);
    }
}
