//! Products on the unit beside sums of one number after the other.

use half::bf16;

use super::*;
use crate::runtime::matmul::DotGeneral;
use crate::runtime::{KernelCall, ThreadPool};

/// The orders of the axes batch, free, contracted in an operand.
const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

/// An operand whose axes stand in this order, and the place of an element in it.
fn operand(
    sizes: [usize; 3],
    order: [usize; 3],
) -> (View, [usize; 3], impl Fn([usize; 3]) -> usize) {
    let shape = order.map(|axis| sizes[axis]);
    let place = [0, 1, 2].map(|axis| order.iter().position(|&a| a == axis).unwrap());
    let at = move |index: [usize; 3]| {
        let index = order.map(|axis| index[axis]);
        (index[0] * shape[1] + index[1]) * shape[2] + index[2]
    };
    (View::dense(&shape), place, at)
}

/// The products of a batch on the unit, with so many threads; `None` on machines without one.
fn on_unit<In, Out>(
    (left, right): (&[In], &[In]),
    (lhs, rhs, dimensions): (&View, &View, &DotDimensions),
    len: usize,
    threads: usize,
) -> Option<Vec<Out>>
where
    In: HasFunctions,
    In::Sum: Finish<Out>,
    Out: bytemuck::Pod + Send + Sync,
{
    struct Never(Signature);
    impl Kernel for Never {
        fn signature(&self) -> Signature {
            self.0.clone()
        }
        fn run(&self, _: &mut Buffers<'_>, _: &Context<'_>) -> Result<(), KernelError> {
            panic!("this is not for another kernel");
        }
    }
    if !amx::is_available() {
        return None;
    }
    let bytes = size_of::<In>();
    let call = KernelCall::new(UnitDot::<In, Out> {
        plan: Plan::new(lhs, rhs, dimensions, bytes),
        otherwise: Box::new(Never(Signature::of(
            &[(left.len(), bytes), (right.len(), bytes)],
            &[(len, size_of::<Out>())],
        ))),
        types: PhantomData,
    });
    let mut out = vec![Out::zeroed(); len];
    let context = Context::new(ThreadPool::global(), threads);
    FloatMode::current().flushing().during(|| {
        let inputs = [bytemuck::cast_slice(left), bytemuck::cast_slice(right)];
        call.call(&inputs, &mut [bytemuck::cast_slice_mut(&mut out)], &context)
            .unwrap();
    });
    Some(out)
}

/// Compares products in all layouts with those that `sum` makes of the pairs of an inner dimension.
fn check<In, Out>(
    [count, m, n, k]: [usize; 4],
    layouts: &[([usize; 3], [usize; 3])],
    make: impl Fn(usize) -> In,
    sum: impl Fn(&mut dyn Iterator<Item = (In, In)>) -> Out,
    same: impl Fn(Out, Out) -> bool,
) where
    In: HasFunctions,
    In::Sum: Finish<Out>,
    Out: bytemuck::Pod + Send + Sync + std::fmt::Debug,
{
    let left: Vec<In> = (0..count * m * k).map(&make).collect();
    let right: Vec<In> = (0..count * n * k).map(|i| make(i + 12_345)).collect();
    for &(lhs_order, rhs_order) in layouts {
        let (lhs, [lhs_batch, _, lhs_inner], at_left) = operand([count, m, k], lhs_order);
        let (rhs, [rhs_batch, _, rhs_inner], at_right) = operand([count, n, k], rhs_order);
        let dimensions = DotDimensions {
            lhs_contracting: vec![lhs_inner],
            rhs_contracting: vec![rhs_inner],
            lhs_batch: vec![lhs_batch],
            rhs_batch: vec![rhs_batch],
        };
        let views = (&lhs, &rhs, &dimensions);
        let len = count * m * n;
        let Some(got) = on_unit::<In, Out>((&left, &right), views, len, 1) else {
            return;
        };
        for (place, &got) in got.iter().enumerate() {
            let (b, i, j) = (place / (m * n), place / n % m, place % n);
            let mut pairs = (0..k).map(|p| (left[at_left([b, i, p])], right[at_right([b, j, p])]));
            let want = sum(&mut pairs);
            assert!(
                same(got, want),
                "{got:?} and {want:?} at {b} {i} {j} of {count} {m} {n} {k} {lhs_order:?} {rhs_order:?}"
            );
        }
        for threads in [2, 8] {
            let again = on_unit::<In, Out>((&left, &right), views, len, threads).unwrap();
            assert!(
                bytemuck::cast_slice::<_, u8>(&again) == bytemuck::cast_slice::<_, u8>(&got),
                "{threads} threads"
            );
        }
    }
}

/// A number that nothing but its place decides.
fn digit(place: usize) -> u64 {
    (place as u64 + 1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(23)
        ^ (place as u64) << 7
}

fn integer_sum<In: Copy + Into<i64>>(pairs: &mut dyn Iterator<Item = (In, In)>) -> i64 {
    pairs.map(|(a, b)| a.into() * b.into()).sum()
}

/// Sizes around those of tiles, blocks and steps: of each kind one after the other, the others in between.
fn shapes() -> Vec<[usize; 4]> {
    let mut shapes = vec![
        [1, 1, 1, 1],
        [3, 2, 3, 5],
        [1, 64, 96, 128],
        [40, 3, 3, 3],
        [2, 70, 40, 150],
        [1, 300, 33, 20],
    ];
    for side in [1, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65] {
        shapes.push([1, side, 18, 35]);
        shapes.push([2, 18, side, 35]);
        shapes.push([1, 5, 34, side]);
    }
    shapes
}

fn all_layouts() -> Vec<([usize; 3], [usize; 3])> {
    ORDERS
        .iter()
        .flat_map(|&left| ORDERS.map(|right| (left, right)))
        .collect()
}

#[test]
fn integers_are_multiplied_exactly() {
    let layouts = all_layouts();
    for shape in shapes() {
        let equal = |a, b| a == b;
        check::<i8, i32>(
            shape,
            &layouts,
            |i| digit(i) as i8,
            |p| integer_sum(p) as i32,
            equal,
        );
        check::<u8, i32>(
            shape,
            &layouts[..7],
            |i| digit(i) as u8,
            |p| integer_sum(p) as i32,
            equal,
        );
        check::<i8, i8>(
            shape,
            &layouts[..7],
            |i| digit(i) as i8,
            |p| integer_sum(p) as i8,
            |a, b| a == b,
        );
        let truth = |i| Truth(u8::from(digit(i).is_multiple_of(5)));
        let any = |pairs: &mut dyn Iterator<Item = (Truth, Truth)>| {
            Truth(pairs.fold(0, |any, (a, b)| any | a.0 & b.0))
        };
        check::<Truth, Truth>(shape, &layouts[..7], truth, any, |a, b| a == b);
    }
    // The extreme ones, and as many as wrap around in 8 bits.
    let extreme = |p: &mut dyn Iterator<Item = (i8, i8)>| integer_sum(p) as i32;
    check::<i8, i32>(
        [1, 17, 17, 1000],
        &layouts[..2],
        |_| i8::MIN,
        extreme,
        |a, b| a == b,
    );
}

#[test]
fn sums_of_floats_are_rounded_once() {
    let layouts = all_layouts();
    // Whole numbers whose sums are exact in any order.
    let small = |i| bf16::from_f32((digit(i) % 17) as f32 - 8.0);
    let exact = |p: &mut dyn Iterator<Item = (bf16, bf16)>| {
        p.map(|(a, b)| a.to_f32() * b.to_f32()).sum::<f32>()
    };
    for shape in shapes() {
        check::<bf16, f32>(shape, &layouts, small, exact, |a, b| a == b);
        let rounded = |p: &mut dyn Iterator<Item = (bf16, bf16)>| bf16::from_f32(exact(p));
        check::<bf16, bf16>(shape, &layouts[..7], small, rounded, |a, b| a == b);
    }
    // Numbers of many sizes, beside sums in double precision.
    let any = |i: usize| {
        let mantissa = (digit(i) % 511) as f32 / 256.0 - 1.0;
        bf16::from_f32(mantissa * 2f32.powi((digit(i + 77) % 9) as i32))
    };
    for shape in [[1, 40, 40, 1000], [2, 33, 17, 77]] {
        let sum = |p: &mut dyn Iterator<Item = (bf16, bf16)>| {
            p.map(|(a, b)| a.to_f64() * b.to_f64()).sum::<f64>() as f32
        };
        check::<bf16, f32>(shape, &layouts[..7], any, sum, |a, b| (a - b).abs() < 2.0);
    }
}

#[test]
fn what_is_no_number_stays_in_its_row_and_column() {
    let at = |i: usize| match i % 97 {
        5 => bf16::INFINITY,
        50 => bf16::NAN,
        70 => bf16::NEG_INFINITY,
        _ => bf16::from_f32(1.0),
    };
    let sum = |p: &mut dyn Iterator<Item = (bf16, bf16)>| {
        p.map(|(a, b)| a.to_f32() * b.to_f32()).sum::<f32>()
    };
    let same = |a: f32, b: f32| a == b || a.is_nan() && b.is_nan();
    for k in [3, 31, 32, 33, 70] {
        check::<bf16, f32>([1, 35, 37, k], &all_layouts()[..8], at, sum, same);
    }
}

#[test]
fn programs_that_keep_subnormal_numbers_get_them() {
    let tiny = bf16::from_bits(1);
    let (left, right) = (
        vec![tiny; 64 * 64],
        vec![bf16::from_f32(2f32.powi(100)); 64 * 64],
    );
    let view = View::dense(&[64, 64]);
    let dimensions = DotDimensions {
        lhs_contracting: vec![1],
        rhs_contracting: vec![0],
        ..DotDimensions::default()
    };
    let Some(kernel) = unit_dot::<bf16, f32>(
        &view,
        &view,
        &dimensions,
        Otherwise {
            lanes: 16,
            conversion: 100,
        },
        || Box::new(DotGeneral::<bf16, f32>::new(&view, &view, &dimensions)),
    ) else {
        return;
    };
    let call = KernelCall::new(kernel);
    let mut out = vec![0f32; 64 * 64];
    let mut run = |mode: FloatMode| {
        mode.during(|| {
            let inputs = [bytemuck::cast_slice(&left), bytemuck::cast_slice(&right)];
            let context = Context::new(ThreadPool::global(), 1);
            call.call(&inputs, &mut [bytemuck::cast_slice_mut(&mut out)], &context)
                .unwrap();
        });
        out[77]
    };
    assert_eq!(
        run(FloatMode::current().keeping()),
        tiny.to_f32() * 2f32.powi(106)
    );
    assert_eq!(run(FloatMode::current().flushing()), 0.0);
}
