//! Native code against the interpreter.

use jaxide_core::{Aval, Builder, ClosedJaxpr, DType, Tensor, eval};
use jaxide_cpu::{CompileOptions, compile};

fn check(jaxpr: &ClosedJaxpr, args: &[Tensor]) {
    let want = eval::eval(jaxpr, args).unwrap();
    let program = compile(jaxpr, &CompileOptions::default()).unwrap();
    let got = program
        .run(args)
        .unwrap_or_else(|error| panic!("{error}\n{}", program.loops_text()));
    for (k, (got, want)) in got.iter().zip(&want).enumerate() {
        assert_eq!(got.aval(), want.aval());
        for i in 0..want.len() {
            let (a, b) = (got.scalar_at(i), want.scalar_at(i));
            assert_eq!(a, b, "result {k}, element {i}\n{}", program.loops_text());
        }
    }
}

fn ramp(shape: &[usize]) -> Tensor {
    let count: usize = shape.iter().product();
    Tensor::from_vec(shape, (0..count).map(|k| k as f32 * 0.5 - 3.0).collect()).unwrap()
}

#[test]
fn elementwise_and_broadcast() {
    let b = Builder::new();
    let x = b.input(Aval::new(DType::F32, &[5, 7]));
    let y = b.input(Aval::new(DType::F32, &[7]));
    let z = b.add(x, b.broadcast_in_dim(y, &[5, 7], &[1]));
    let s = b.reduce_sum(z, &[1]);
    let jaxpr = b.finish(&[z, s]).unwrap();
    check(&jaxpr, &[ramp(&[5, 7]), ramp(&[7])]);
}
