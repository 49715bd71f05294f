//! Rules of single primitives, on the smallest programs that need them.

use jaxide_core::transform::{Step, apply};
use jaxide_core::{ClosedJaxpr, Tensor, check, eval, parse};

fn parsed(text: &str) -> ClosedJaxpr {
    parse(text).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

fn jvp(argnums: &[usize]) -> Step {
    Step::Jvp { argnums: argnums.to_vec(), tangent_outs: vec![0] }
}

#[test]
fn truth_values_have_no_bits() {
    let cast = |from: &str, to: &str, name: &str| {
        let text = format!(
            "{{ lambda ; a:{from}[4]. let b:{to}[4] = bitcast_convert_type[new_dtype={name}] a in (b,) }}"
        );
        check(&parsed(&text)).is_ok()
    };
    assert!(cast("u8", "i8", "int8"));
    assert!(cast("i32", "f32", "float32"));
    assert!(cast("bool", "bool", "bool"));
    assert!(!cast("u8", "bool", "bool"));
    assert!(!cast("bool", "u8", "uint8"));
    assert!(!cast("bool", "i8", "int8"));
}

#[test]
fn residuals_of_linear_calls_have_no_derivative() {
    let call = |consts: usize, residuals: usize| {
        parsed(&format!(
            "{{ lambda ; a:f32[] b:f32[]. let
                c:f32[] = linear_call[
                  callee={{ lambda ; c:f32[] d:f32[]. let e:f32[] = mul d c in (e,) }}
                  num_callee_consts={consts}
                  num_res={residuals}
                  transpose_thunk=<function thunk at 0xX>
                ] a b
              in (c,) }}"
        ))
    };
    for call in [call(0, 1), call(1, 0)] {
        let derivative = apply(&call, &jvp(&[1])).unwrap();
        let operands = [3.0f32, 5.0, 7.0].map(Tensor::scalar);
        let results = eval::eval(&derivative, &operands).unwrap();
        let numbers: Vec<f32> = results.iter().map(|x| x.item().unwrap()).collect();
        assert_eq!(numbers, [15.0, 21.0]);
        let error = apply(&call, &jvp(&[0])).unwrap_err().to_string();
        assert!(error.contains("its residuals are differentiated"), "{error}");
    }
}

#[test]
fn loops_of_known_values_stay_known_in_a_checkpoint() {
    let program = parsed(
        "{ lambda ; a:f32[] b:i32[] c:i32[]. let
            d:i32[] = while[
              body_jaxpr={ lambda ; e:i32[]. let f:i32[] = add e 1:i32[] in (f,) }
              body_nconsts=0
              cond_jaxpr={ lambda ; e:i32[] f:i32[] g:i32[]. let
                  h:i32[] = add e f
                  i:bool[] = lt g h
                in (i,) }
              cond_nconsts=2
            ] b c 0:i32[]
            j:f32[] = convert_element_type[new_dtype=float32 weak_type=False] d
            k:f32[] = sin a
            l:f32[] = mul k j
          in (l,) }",
    );
    let checkpointed = apply(&program, &Step::Checkpoint).unwrap();
    let gradient = apply(&checkpointed, &Step::Grad { argnums: vec![0] }).unwrap();
    check(&gradient).unwrap();
    let operands = [Tensor::scalar(0.5f32), Tensor::scalar(4i32), Tensor::scalar(3i32)];
    let got: f32 = eval::eval(&gradient, &operands).unwrap()[0].item().unwrap();
    assert!((got - 7.0 * 0.5f32.cos()).abs() < 1e-6, "{got}");
}
