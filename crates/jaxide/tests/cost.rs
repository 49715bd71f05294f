//! The memory that compiled gradients of loops plan: what the backward pass reads again, and less where checkpoints say so.
//!
//! Times are not asserted; `cargo bench -p jaxide --bench cost` shows them.

use jaxide::prelude::*;
use jaxide::{Function, grad_of, make_jaxpr_of, numpy};
use jaxide_cpu::{CompileOptions, compile};

/// Elements of the states that loops carry, and their bytes.
const WIDTH: usize = 32;
const STATE: usize = WIDTH * 4;

/// Bytes of temporary memory of the compiled gradient.
#[track_caller]
fn planned(f: impl Function<(Array,), Array>, argument: Array) -> usize {
    let jaxpr = make_jaxpr_of(&|x: Array| grad_of(&f, x), argument).expect("a gradient");
    let program = compile(&jaxpr, &CompileOptions::default()).expect("a program");
    program.stats().arena
}

/// Three layers, whose derivative needs their three inputs and three slopes.
fn layers(state: &Array, weight: &Array) -> Array {
    let inner = (state * weight).sin();
    let outer = (inner * weight).tanh();
    (outer * weight).sin()
}

fn steps(n: usize, start: Array, step: impl FnOnce(Array) -> Array) -> Array {
    scan(|state: Array, (): ()| (step(state), ()), start, (), n).0
}

fn weight() -> Array {
    numpy::linspace(0.5, 1.5, WIDTH)
}

fn state() -> Array {
    Array::ones(&[WIDTH], DType::F32)
}

#[test]
fn memory_of_a_scan_grows_by_the_residuals_of_a_step() {
    let of = |n| {
        planned(
            move |w: Array| steps(n, state(), |s| layers(&s, &w)).sum(),
            weight(),
        )
    };
    let (short, middle, long) = (of(1000), of(2000), of(3000));
    assert!(
        long - middle <= 1000 * 6 * STATE,
        "{} a step",
        (long - middle) / 1000
    );
    assert!(
        middle - short <= 1000 * 6 * STATE,
        "{} a step",
        (middle - short) / 1000
    );
}

#[test]
fn memory_of_checkpointed_steps_is_a_state_each() {
    let of = |n| {
        let step = checkpoint(|s: Array, w: Array| layers(&s, &w));
        planned(
            move |w: Array| steps(n, state(), |s| step(s, w.clone())).sum(),
            weight(),
        )
    };
    let growth = of(3000) - of(2000);
    assert!(growth <= 1000 * STATE, "{} a step", growth / 1000);
}

#[test]
fn memory_of_checkpointed_blocks_grows_with_the_root() {
    let of = |root: usize| {
        let block = checkpoint(move |s: Array, w: Array| steps(root, s, |s| layers(&s, &w)));
        planned(
            move |w: Array| steps(root, state(), |s| block(s, w.clone())).sum(),
            weight(),
        )
    };
    // A state for each block, and the residuals of one block.
    let (short, long) = (of(40), of(80));
    assert!(
        long - short <= 40 * 7 * STATE,
        "{} a block",
        (long - short) / 40
    );
}

/// `turns` reads from an array at places that are computed.
fn reads(turns: usize) -> impl Function<(Array,), Array> + Send + Sync + 'static {
    move |x: Array| {
        let start = Array::zeros(&[], DType::F32);
        let body = |i: Array, sum: Array| (sum + x.index(i * 3)).sin();
        fori_loop(0, turns as i64, body, start)
    }
}

#[test]
fn memory_of_reads_grows_with_their_number() {
    let of = |turns| planned(reads(turns), numpy::linspace(0.0, 1.0, 10_000));
    let growth = of(3000) - of(2000);
    assert!(growth <= 1000 * 12, "{} a read", growth / 1000);
}

#[test]
fn memory_of_reads_does_not_depend_on_what_is_read() {
    let of = |length| planned(reads(1000), numpy::linspace(0.0, 1.0, length));
    let (short, long) = (of(10_000), of(100_000));
    // At most the gradient itself once more.
    assert!(long - short <= 90_000 * 4, "{short} and {long}");
}

#[test]
fn gradients_of_reads_are_right_where_windows_meet() {
    // d/dx of the sum of x[i] x[min(i + 1, 2)] for i below 3: the last pair is twice the same.
    let f = |x: Array| {
        let body = |i: Array, sum: Array| {
            let ends = numpy::stack(&[i.clone(), i + 1], 0);
            let pair = x.index(numpy::minimum(&ends, &Array::from(2)));
            sum + numpy::prod(&pair, ())
        };
        fori_loop(0, 3, body, Array::zeros(&[], DType::F32))
    };
    // Long enough that windows are added in place.
    let mut elements = vec![1.0f32; 64];
    elements[..3].copy_from_slice(&[2.0, 3.0, 5.0]);
    let x = Array::from(elements);
    let mut want = [0.0f32; 64];
    want[..3].copy_from_slice(&[3.0, 2.0 + 5.0, 3.0 + 2.0 * 5.0]);
    assert_eq!(jit(grad(f))(x.clone()).to_vec::<f32>(), want);
    assert_eq!(grad(f)(x.clone()).to_vec::<f32>(), want);
    // Many at once: windows of each lane go to its own sum.
    let all = jit(vmap(grad(f)))(numpy::stack(&[x.clone(), x * 2.0], 0));
    assert_eq!(all.index(0).to_vec::<f32>(), want);
    assert_eq!(all.index(1).to_vec::<f32>(), want.map(|slope| 2.0 * slope));
}
