//! Each pass alone: what it makes of a text, that values keep their bits, and what it must leave alone.

use std::sync::Arc;

use jaxide_core::jaxpr::{Aval, ClosedJaxpr, Scalar, parse};
use jaxide_core::{Prim, Result, Tensor, eval, simplify};

/// Numbers at which careless laws fail.
const SPECIAL: [f64; 12] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.5,
    -3.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    1e-40,
    3e38,
    7.0,
];

/// An array that starts somewhere in the list of special numbers.
fn special(aval: &Aval, offset: usize) -> Tensor {
    let mut bytes = Vec::new();
    for index in 0..aval.size() {
        let value = SPECIAL[(index + offset) % SPECIAL.len()];
        let scalar = if aval.dtype.is_complex() {
            Scalar::Complex(value, SPECIAL[(index + 5 * offset) % SPECIAL.len()])
        } else if aval.dtype.is_float() {
            Scalar::Float(value)
        } else {
            Scalar::Int((index + offset) as i64 - 3)
        };
        bytes.extend(scalar.to_bytes(aval.dtype).unwrap());
    }
    Tensor::from_bytes(&aval.shape, aval.dtype, &bytes).unwrap()
}

/// The bytes, with all NaN alike.
fn bits(tensor: &Tensor) -> Vec<String> {
    let shown = |index| format!("{:?}", tensor.scalar_at(index));
    (0..tensor.len()).map(shown).collect()
}

fn assert_same_values(before: &ClosedJaxpr, after: &ClosedJaxpr) {
    for offset in 0..SPECIAL.len() {
        let args: Vec<Tensor> = before
            .jaxpr
            .in_avals()
            .iter()
            .enumerate()
            .map(|(position, aval)| special(aval, offset * (1 + position)))
            .collect();
        let old = eval::eval(before, &args).unwrap();
        let new = eval::eval(after, &args).unwrap();
        let old: Vec<_> = old.iter().map(bits).collect();
        let new: Vec<_> = new.iter().map(bits).collect();
        assert_eq!(old, new, "{before}\n{after}");
    }
}

/// Applies a pass to a text and compares the result with another.
fn check(pass: fn(&ClosedJaxpr) -> Result<ClosedJaxpr>, before: &str, after: &str) {
    let jaxpr = parse(before).unwrap();
    let new = pass(&jaxpr).unwrap();
    let expected = parse(after).unwrap();
    assert_eq!(new.to_string(), expected.to_string(), "from {before}");
    assert_same_values(&jaxpr, &new);
}

fn law(before: &str, after: &str) {
    check(simplify::simplify, before, after);
}

fn stays(text: &str) {
    law(text, text);
}

#[test]
fn neutral_operands_go() {
    let identity = "{ lambda ; a:f32[12]. let  in (a,) }";
    law(
        "{ lambda ; a:f32[12]. let b:f32[12] = mul a 1.0:f32[] in (b,) }",
        identity,
    );
    law(
        "{ lambda ; a:f32[12]. let b:f32[12] = mul 1.0:f32[] a in (b,) }",
        identity,
    );
    law(
        "{ lambda ; a:f32[12]. let b:f32[12] = add a -0.0:f32[] in (b,) }",
        identity,
    );
    law(
        "{ lambda ; a:f32[12]. let b:f32[12] = sub a 0.0:f32[] in (b,) }",
        identity,
    );
    law(
        "{ lambda ; a:f32[12]. let b:f32[12] = div a 1.0:f32[] in (b,) }",
        identity,
    );
    law(
        "{ lambda ; a:f32[12]. let b:f32[12] = integer_pow[y=1] a in (b,) }",
        identity,
    );
    law(
        "{ lambda ; a:f32[12]. let b:f32[12] = broadcast_in_dim[broadcast_dimensions=() shape=(12,) sharding=None] 1.0:f32[]; c:f32[12] = mul b a in (c,) }",
        identity,
    );
    let identity = "{ lambda ; a:i32[12]. let  in (a,) }";
    law(
        "{ lambda ; a:i32[12]. let b:i32[12] = add 0:i32[] a in (b,) }",
        identity,
    );
    law(
        "{ lambda ; a:i32[12]. let b:i32[12] = or a 0:i32[] in (b,) }",
        identity,
    );
    law(
        "{ lambda ; a:i32[12]. let b:i32[12] = xor 0:i32[] a in (b,) }",
        identity,
    );
    law(
        "{ lambda ; a:i32[12]. let b:i32[12] = shift_left a 0:i32[] in (b,) }",
        identity,
    );
}

#[test]
fn what_floats_distinguish_stays() {
    // -0.0 + 0.0 is 0.0.
    stays("{ lambda ; a:f32[12]. let b:f32[12] = add a 0.0:f32[] in (b,) }");
    // -0.0 - -0.0 is 0.0.
    stays("{ lambda ; a:f32[12]. let b:f32[12] = sub a -0.0:f32[] in (b,) }");
    // inf * 0.0 and inf - inf are NaN.
    stays("{ lambda ; a:f32[12]. let b:f32[12] = mul a 0.0:f32[] in (b,) }");
    stays("{ lambda ; a:f32[12]. let b:f32[12] = sub a a in (b,) }");
    // (inf + 0i) * (1 + 0i) is inf + NaN i.
    stays("{ lambda ; a:c64[12]. let b:c64[12] = mul a (1+0j):c64[] in (b,) }");
    // A third is no float.
    stays("{ lambda ; a:f32[12]. let b:f32[12] = div a 3.0:f32[] in (b,) }");
    // NaN equals nothing.
    stays("{ lambda ; a:f32[12]. let b:bool[12] = eq a a in (b,) }");
    // Half of a subnormal number is rounded once, not twice.
    stays("{ lambda ; a:f32[12]. let b:f32[12] = div a 1.7014118e38:f32[] in (b,) }");
}

#[test]
fn types_stay() {
    stays(
        "{ lambda ; a:f32[]. let b:f32[12] = broadcast_in_dim[broadcast_dimensions=() shape=(12,) sharding=None] a in (b,) }",
    );
    stays(
        "{ lambda ; a:f32[12]. let b:f64[12] = convert_element_type[new_dtype=float64 weak_type=False] a in (b,) }",
    );
    stays(
        "{ lambda ; a:f32[3,4]. let b:f32[4,3] = reshape[dimensions=None new_sizes=(4, 3) sharding=None] a in (b,) }",
    );
}

#[test]
fn division_by_powers_of_two_is_multiplication() {
    law(
        "{ lambda ; a:f32[12]. let b:f32[12] = div a 8.0:f32[] in (b,) }",
        "{ lambda ; a:f32[12]. let b:f32[12] = mul a 0.125:f32[] in (b,) }",
    );
}

#[test]
fn opposites_meet() {
    let identity = "{ lambda ; a:f32[12]. let  in (a,) }";
    law(
        "{ lambda ; a:f32[12]. let b:f32[12] = neg a; c:f32[12] = neg b in (c,) }",
        identity,
    );
    law(
        "{ lambda ; a:f32[12]. let b:f32[12] = max a a in (b,) }",
        identity,
    );
    law(
        "{ lambda ; a:bool[12]. let b:bool[12] = not a; c:bool[12] = not b in (c,) }",
        "{ lambda ; a:bool[12]. let  in (a,) }",
    );
    law(
        "{ lambda ; a:f32[12] b:f32[12]. let c:c64[12] = complex a b; d:f32[12] = real c; e:f32[12] = imag c in (d, e) }",
        "{ lambda ; a:f32[12] b:f32[12]. let  in (a, b) }",
    );
    law(
        "{ lambda ; a:c64[12]. let b:f32[12] = real a; c:f32[12] = imag a; d:c64[12] = complex b c in (d,) }",
        "{ lambda ; a:c64[12]. let  in (a,) }",
    );
    law(
        "{ lambda ; a:f32[12]. let b:f32[12] = neg a; c:f32[12] = abs b; d:f32[12] = abs c in (d,) }",
        "{ lambda ; a:f32[12]. let b:f32[12] = abs a in (b,) }",
    );
}

#[test]
fn choices_settle() {
    law(
        "{ lambda ; a:bool[12] b:f32[12]. let c:f32[12] = select_n a b b in (c,) }",
        "{ lambda ; a:bool[12] b:f32[12]. let  in (b,) }",
    );
    law(
        "{ lambda ; a:f32[12] b:f32[12]. let c:f32[12] = select_n True:bool[] a b in (c,) }",
        "{ lambda ; a:f32[12] b:f32[12]. let  in (b,) }",
    );
    law(
        "{ lambda ; a:bool[12] b:f32[12] c:f32[12]. let d:bool[12] = not a; e:f32[12] = select_n d b c in (e,) }",
        "{ lambda ; a:bool[12] b:f32[12] c:f32[12]. let d:f32[12] = select_n a c b in (d,) }",
    );
}

#[test]
fn conversions_there_and_back_go() {
    law(
        "{ lambda ; a:f16[12]. let b:f32[12] = convert_element_type[new_dtype=float32 weak_type=False] a; c:f16[12] = convert_element_type[new_dtype=float16 weak_type=False] b in (c,) }",
        "{ lambda ; a:f16[12]. let  in (a,) }",
    );
    stays(
        "{ lambda ; a:f32[12]. let b:f16[12] = convert_element_type[new_dtype=float16 weak_type=False] a; c:f32[12] = convert_element_type[new_dtype=float32 weak_type=False] b in (c,) }",
    );
    law(
        "{ lambda ; a:f32[12]. let b:f32[12] = copy a in (b,) }",
        "{ lambda ; a:f32[12]. let  in (a,) }",
    );
}

#[test]
fn arrangements_of_arrangements_become_one() {
    law(
        "{ lambda ; a:f32[2,3,4]. let b:f32[3,4,2] = transpose[permutation=(1, 2, 0)] a; c:f32[2,3,4] = transpose[permutation=(2, 0, 1)] b in (c,) }",
        "{ lambda ; a:f32[2,3,4]. let  in (a,) }",
    );
    law(
        "{ lambda ; a:f32[2,3,4]. let b:f32[3,4,2] = transpose[permutation=(1, 2, 0)] a; c:f32[3,2,4] = transpose[permutation=(0, 2, 1)] b in (c,) }",
        "{ lambda ; a:f32[2,3,4]. let b:f32[3,2,4] = transpose[permutation=(1, 0, 2)] a in (b,) }",
    );
    law(
        "{ lambda ; a:f32[1,3,4]. let b:f32[3,4] = squeeze[dimensions=(0,)] a; c:f32[12] = reshape[dimensions=None new_sizes=(12,) sharding=None] b; d:f32[4,3] = reshape[dimensions=None new_sizes=(4, 3) sharding=None] c in (d,) }",
        "{ lambda ; a:f32[1,3,4]. let b:f32[4,3] = reshape[dimensions=None new_sizes=(4, 3) sharding=None] a in (b,) }",
    );
    law(
        "{ lambda ; a:f32[3]. let b:f32[2,3] = broadcast_in_dim[broadcast_dimensions=(1,) shape=(2, 3) sharding=None] a; c:f32[2,4,3] = broadcast_in_dim[broadcast_dimensions=(0, 2) shape=(2, 4, 3) sharding=None] b in (c,) }",
        "{ lambda ; a:f32[3]. let b:f32[2,4,3] = broadcast_in_dim[broadcast_dimensions=(2,) shape=(2, 4, 3) sharding=None] a in (b,) }",
    );
    law(
        "{ lambda ; a:f32[3,4]. let b:f32[3,4] = rev[dimensions=(1,)] a; c:f32[3,4] = rev[dimensions=(1,)] b in (c,) }",
        "{ lambda ; a:f32[3,4]. let  in (a,) }",
    );
    law(
        "{ lambda ; a:f32[3,4]. let b:f32[3,4] = reduce_max[axes=() out_sharding=None] a; c:f32[3,4] = concatenate[dimension=0] b in (c,) }",
        "{ lambda ; a:f32[3,4]. let  in (a,) }",
    );
    // 0.0 + -0.0 is 0.0.
    stays(
        "{ lambda ; a:f32[12]. let b:f32[12] = reduce_sum[axes=() out_sharding=None] a in (b,) }",
    );
}

#[test]
fn boxes_in_known_places_are_slices() {
    let identity = "{ lambda ; a:f32[12]. let  in (a,) }";
    law(
        "{ lambda ; a:f32[12]. let b:f32[12] = slice[limit_indices=(12,) start_indices=(0,) strides=None] a in (b,) }",
        identity,
    );
    law(
        "{ lambda ; a:f32[12]. let b:f32[12] = pad[padding_config=((0, 0, 0),)] a 0.0:f32[] in (b,) }",
        identity,
    );
    law(
        "{ lambda ; a:f32[12] b:i32[]. let c:f32[12] = dynamic_slice[slice_sizes=(12,)] a b in (c,) }",
        "{ lambda ; a:f32[12] b:i32[]. let  in (a,) }",
    );
    law(
        "{ lambda ; a:f32[12] b:f32[12] c:i32[]. let d:f32[12] = dynamic_update_slice a b c in (d,) }",
        "{ lambda ; a:f32[12] b:f32[12] c:i32[]. let  in (b,) }",
    );
    // A start outside is moved inside.
    law(
        "{ lambda ; a:f32[12]. let b:f32[5] = dynamic_slice[slice_sizes=(5,)] a 9:i32[] in (b,) }",
        "{ lambda ; a:f32[12]. let b:f32[5] = slice[limit_indices=(12,) start_indices=(7,) strides=None] a in (b,) }",
    );
    law(
        "{ lambda ; a:f32[12]. let b:f32[5] = dynamic_slice[slice_sizes=(5,)] a -9:i32[] in (b,) }",
        "{ lambda ; a:f32[12]. let b:f32[5] = slice[limit_indices=(5,) start_indices=(0,) strides=None] a in (b,) }",
    );
}

#[test]
fn laws_reach_the_bodies_of_loops() {
    law(
        "{ lambda ; a:f32[12]. let b:f32[12] = scan[_split_transpose=False jaxpr={ lambda ; c:f32[12]. let d:f32[12] = mul c 1.0:f32[]; e:f32[12] = sin d in (e,) } length=3 linear=(False,) num_carry=1 num_consts=0 reverse=False unroll=1] a in (b,) }",
        "{ lambda ; a:f32[12]. let b:f32[12] = scan[_split_transpose=False jaxpr={ lambda ; c:f32[12]. let d:f32[12] = sin c in (d,) } length=3 linear=(False,) num_carry=1 num_consts=0 reverse=False unroll=1] a in (b,) }",
    );
}

#[test]
fn what_is_written_for_its_own_sake_stays() {
    let text = "{ lambda ; a:f32[12]. let b:f32[12] = stop_gradient a; c:f32[12] = optimization_barrier b; d:f32[12] = name[name=x] c in (d,) }";
    check(simplify::simplify, text, text);
}

#[test]
fn dead_equations_go() {
    check(
        simplify::dce,
        "{ lambda ; a:f32[12] b:f32[12]. let c:f32[12] = sin b; d:f32[12] = cos c; e:f32[12] = exp a in (e,) }",
        "{ lambda ; a:f32[12] b:f32[12]. let c:f32[12] = exp a in (c,) }",
    );
    // A carry that nothing reads goes from its loop.
    check(
        simplify::dce,
        "{ lambda ; a:f32[12] b:f32[12]. let c:f32[12] _:f32[12] = scan[_split_transpose=False jaxpr={ lambda ; d:f32[12] e:f32[12]. let f:f32[12] = sin d; g:f32[12] = mul e d in (f, g) } length=3 linear=(False, False) num_carry=2 num_consts=0 reverse=False unroll=1] a b in (c,) }",
        "{ lambda ; a:f32[12] b:f32[12]. let c:f32[12] = scan[_split_transpose=False jaxpr={ lambda ; d:f32[12]. let e:f32[12] = sin d in (e,) } length=3 linear=(False,) num_carry=1 num_consts=0 reverse=False unroll=1] a in (c,) }",
    );
}

#[test]
fn a_program_without_laws_is_the_same_object() {
    let loops = parse("{ lambda ; a:f32[12]. let b:f32[12] = scan[_split_transpose=False jaxpr={ lambda ; c:f32[12]. let d:f32[12] = sin c in (d,) } length=3 linear=(False,) num_carry=1 num_consts=0 reverse=False unroll=1] a in (b,) }").unwrap();
    let simple = simplify::simplify(&loops).unwrap();
    assert!(Arc::ptr_eq(&simple.jaxpr, &loops.jaxpr));
}

#[test]
fn a_sub_jaxpr_that_is_used_twice_stays_one() {
    let text = "{ lambda ; a:f32[12]. let
        b:f32[12] = jit[name=f jaxpr={ lambda ; c:f32[12]. let d:f32[12] = mul c 1.0:f32[]; e:f32[12] = sin d in (e,) }] a
        f:f32[12] = cos b
      in (f,) }";
    let mut program = parse(text).unwrap();
    let jaxpr = Arc::make_mut(&mut program.jaxpr);
    jaxpr.eqns[1].prim = jaxpr.eqns[0].prim.clone();
    let simple = simplify::simplify(&program).unwrap();
    let bodies: Vec<_> = (simple.jaxpr.eqns.iter())
        .map(|eqn| match &eqn.prim {
            Prim::Jit(call) => call.jaxpr.jaxpr.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(bodies[0].eqns.len(), 1);
    assert!(Arc::ptr_eq(&bodies[0], &bodies[1]));
    assert_same_values(&program, &simple);
}
