//! Named axes: what is written, and what `vmap` and `pmap` make of it.

use jaxide::core::jaxpr::text_compare::normalise;
use jaxide::core::prims::{AxisName, Name};
use jaxide::prelude::*;
use jaxide::{Argnum, lax, numpy};

#[track_caller]
fn check(jaxpr: Result<jaxide::ClosedJaxpr>, name: &str) {
    let text = jaxpr.map_or_else(|error| panic!("{error}"), |jaxpr| jaxpr.to_string());
    let path = format!(
        "{}/tests/collective/{name}.jaxpr",
        env!("CARGO_MANIFEST_DIR")
    );
    let want = std::fs::read_to_string(&path).unwrap();
    // JAX breaks lines where `np.int64` makes them long.
    let plain = |text: &str| normalise(text).split_whitespace().collect::<String>();
    assert_eq!(plain(&text), plain(&want), "{name}");
}

fn f32s(shape: &[usize]) -> Array {
    Array::spec(DType::F32, shape)
}

fn values(shape: &[usize]) -> Array {
    let count: usize = shape.iter().product();
    let elements: Vec<f32> = (0..count).map(|i| (i * i % 7) as f32 - 2.5).collect();
    Array::from_vec(shape, elements)
}

#[track_caller]
fn close(a: &Array, b: &[f32]) {
    let a = a.to_vec::<f32>();
    assert_eq!(a.len(), b.len());
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() <= 1e-5 * (1.0 + y.abs()), "{a:?} and {b:?}");
    }
}

const CYCLE: [(usize, usize); 3] = [(0, 1), (1, 2), (2, 0)];

#[test]
fn collectives_are_written_as_in_jax() {
    let x = f32s(&[4, 6]);
    let sums = |x: Array| {
        let sum = lax::psum(&x, "i");
        let count = lax::psum(&Array::from(1.0), "i");
        (sum, count, lax::psum(&x.sum().gt(0.0), "i"))
    };
    let env = [("i", 3)];
    check(make_jaxpr(sums).axis_env(&env)(x.clone()), "psum");
    let f = |x: Array| lax::pmean(&x, "i");
    check(make_jaxpr(f).axis_env(&env)(x.clone()), "pmean");
    let f = |x: Array| (lax::pmax(&x, "i"), lax::pmin(&x, "i"));
    check(make_jaxpr(f).axis_env(&env)(x.clone()), "pmax");
    let f = |x: Array| {
        (
            lax::all_gather(&x, "i", 0, false),
            lax::all_gather(&x, "i", 1, true),
        )
    };
    check(make_jaxpr(f).axis_env(&env)(x.clone()), "all_gather");
    let f = |x: Array| {
        (
            lax::ppermute(&x, "i", &CYCLE),
            lax::pshuffle(&x, "i", &[2, 0, 1]),
        )
    };
    check(make_jaxpr(f).axis_env(&env)(x.clone()), "ppermute");
    let f = |x: Array| {
        let cube = || x.reshape(&[4, 2, 3]);
        (
            lax::all_to_all(&x, "i", 1, 0, true),
            lax::all_to_all(&cube(), "i", 2, 0, false),
            lax::all_to_all(&cube(), "i", 2, 2, false),
            lax::pswapaxes(&cube(), "i", 2),
        )
    };
    check(make_jaxpr(f).axis_env(&env)(x.clone()), "all_to_all");
    // One name alone is not a tuple of one.
    let f = |x: Array| lax::all_to_all(&x, ["i"], 1, 0, true);
    let text = make_jaxpr(f).axis_env(&env)(x.clone()).unwrap().to_string();
    assert!(text.contains("axis_name=('i',)"), "{text}");
    let f = |x: Array| {
        (
            lax::psum_scatter(&x.reshape(&[3, 8]), "i", 0, false),
            lax::psum_scatter(&x, "i", 1, true),
        )
    };
    check(make_jaxpr(f).axis_env(&env)(x.clone()), "psum_scatter");
    let f = |x: Array| x + lax::axis_index("i");
    check(make_jaxpr(f).axis_env(&env)(x.clone()), "axis_index");
    let f = |x: Array| {
        let axes = vec![AxisName::Named(Name::new("i")), AxisName::Positional(0)];
        lax::psum(&x, axes)
    };
    check(make_jaxpr(f).axis_env(&env)(x.clone()), "positional");
    let two = |x: Array| {
        (
            lax::psum(&x, ["i", "j"]),
            lax::axis_index(["i", "j"]),
            lax::pmean(&x, ["j", "i"]),
            lax::all_gather(&x, ["i", "j"], 0, false),
        )
    };
    check(
        make_jaxpr(two).axis_env(&[("i", 3), ("j", 2)])(x),
        "two_axes",
    );
}

#[test]
fn mapped_axes_become_axes_of_arrays_as_in_jax() {
    let x = f32s(&[3, 4, 6]);
    let f = |x: Array| lax::psum(&x, "i");
    check(make_jaxpr(vmap(f).axis_name("i"))(x.clone()), "vmap_psum");
    let f = |x: Array| &x - lax::pmean(&x, "i");
    check(make_jaxpr(vmap(f).axis_name("i"))(x.clone()), "vmap_pmean");
    let f = |x: Array| lax::all_gather(&x, "i", 1, false);
    let gathered = vmap(f).axis_name("i").out_axes(None);
    check(make_jaxpr(gathered)(x.clone()), "vmap_all_gather");
    let f = |x: Array| lax::all_to_all(&x, "i", 1, 0, true);
    check(
        make_jaxpr(vmap(f).axis_name("i"))(x.clone()),
        "vmap_all_to_all",
    );
    let f = |x: Array| lax::psum_scatter(&x, "i", 1, true);
    check(
        make_jaxpr(vmap(f).axis_name("i"))(x.clone()),
        "vmap_psum_scatter",
    );
    let f = |x: Array| x * lax::axis_index("i");
    check(
        make_jaxpr(vmap(f).axis_name("i"))(x.clone()),
        "vmap_axis_index",
    );
    let f = |x: Array| lax::psum(&x, ["i", "j"]) + lax::axis_index("j");
    let nested = vmap(vmap(f).axis_name("j")).axis_name("i");
    check(make_jaxpr(nested)(x.clone()), "nested");
    let weighted = |x: Array| (&x * lax::psum(&x, "i")).sum();
    let outside = grad(move |x: Array| vmap(weighted).axis_name("i")(x).sum());
    check(make_jaxpr(outside)(x.clone()), "grad_vmap_psum");
    let inside = vmap(grad(weighted)).axis_name("i");
    check(make_jaxpr(inside)(x), "vmap_grad_psum");
}

#[test]
fn members_exchange_values() {
    let x = Array::from([1.0f32, 2.0, 6.0]);
    let mapped = |f: fn(Array) -> Array| vmap(f).axis_name("i")(x.clone()).to_vec::<f32>();
    assert_eq!(mapped(|x| lax::psum(&x, "i")), [9.0, 9.0, 9.0]);
    assert_eq!(mapped(|x| lax::pmax(&x, "i")), [6.0, 6.0, 6.0]);
    assert_eq!(mapped(|x| lax::ppermute(&x, "i", &CYCLE)), [6.0, 1.0, 2.0]);
    assert_eq!(
        mapped(|x| lax::pshuffle(&x, "i", &[2, 0, 1])),
        [6.0, 1.0, 2.0]
    );
    assert_eq!(mapped(|x| x * lax::axis_index("i")), [0.0, 2.0, 12.0]);
    assert_eq!(
        mapped(|x| &x * lax::axis_size("i") as i32),
        [3.0, 6.0, 18.0]
    );
    // Inside calls and loops the axis is the same.
    assert_eq!(
        mapped(|x| jit(|x: Array| lax::psum(&x, "i"))(x)),
        [9.0, 9.0, 9.0]
    );
    let powers = |x: Array| fori_loop(0, 2, |_, x: Array| lax::psum(&x, "i"), x);
    assert_eq!(mapped(powers), [27.0, 27.0, 27.0]);
    let chosen = |x: Array| {
        let positive = x.gt(1.5);
        cond(
            positive,
            |x: Array| lax::psum(&x, "i"),
            |x: Array| x,
            x.clone(),
        )
    };
    assert_eq!(mapped(chosen), [1.0, 9.0, 9.0]);
}

#[test]
fn trees_go_through_collectives() {
    let pair = |x: Array, y: Array| lax::psum(&(x, vec![y]), "i");
    let (x, y) =
        vmap(pair).axis_name("i")(Array::from([1.0f32, 2.0]), Array::from([[1i32, 2], [3, 4]]));
    assert_eq!(x.to_vec::<f32>(), [3.0, 3.0]);
    assert_eq!(y[0].to_vec::<i32>(), [4, 6, 4, 6]);
}

#[test]
fn mistakes_name_the_axis() {
    let error = make_jaxpr(|x: Array| lax::psum(&x, "i"))(f32s(&[2])).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("psum: there is no axis of the name `i` here"),
        "{error}"
    );
    let twice = |x: Array| lax::ppermute(&x, "i", &[(0, 1), (1, 1)]);
    let error = vmap(twice)
        .axis_name("i")
        .try_call((values(&[2]),))
        .unwrap_err();
    assert!(
        error.to_string().contains("(1, 1): member 1 of 2"),
        "{error}"
    );
    let uneven = |x: Array| lax::all_to_all(&x, "i", 0, 0, false);
    let error = vmap(uneven)
        .axis_name("i")
        .try_call((values(&[2, 3]),))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("axis 0 of f32[3] cannot be dealt out to 2 members"),
        "{error}"
    );
}

#[test]
fn pmap_is_written_as_in_jax() {
    let x = f32s(&[4, 3]);
    let f = |x: Array| &x - lax::psum(&x, "i");
    check(make_jaxpr(pmap(f).axis_name("i"))(x.clone()), "pmap_psum");
    let guide = |rows: Array, extra: Array| {
        let inner =
            move |x: Array| (&x + &extra + numpy::ones(&[1], DType::F32)) / lax::psum(&x, "rows");
        pmap(inner).axis_name("rows")(rows)
    };
    check(make_jaxpr(guide)(x.clone(), f32s(&[])), "pmap_guide");
    let f = |x: Array, y: Array| (&x * &y, lax::psum(&x, "i"));
    let axes = pmap(f)
        .axis_name("i")
        .in_axes((1, None))
        .out_axes((1, None));
    check(make_jaxpr(axes)(f32s(&[3, 4]), f32s(&[])), "pmap_axes");
    check(
        make_jaxpr(pmap(|x: Array| x * 2.0))(x.clone()),
        "pmap_no_name",
    );
    let f = |x: Array| &x - lax::psum(&x, "i");
    check(
        make_jaxpr(vmap(pmap(f).axis_name("i")))(f32s(&[5, 4, 3])),
        "pmap_vmap",
    );
    let forward = |x: Array| {
        let f = pmap(|x: Array| x.sin() * lax::psum(&x, "i")).axis_name("i");
        jvp(f, (x.clone(),), (x,))
    };
    check(make_jaxpr(forward)(x), "pmap_jvp");
}

#[test]
fn pmap_is_vmap_on_devices() {
    let x = values(&[4, 3]);
    let f = |x: Array, s: Array| (x * &s).sin() + lax::axis_index("i");
    let scale = Array::from([0.5f32]).sum();
    let want = vmap(f).axis_name("i").in_axes((0, None))(x.clone(), scale.clone());
    let mapped = pmap(f).axis_name("i").in_axes((0, None));
    close(&mapped(x.clone(), scale.clone()), &want.to_vec::<f32>());
    // Evaluated by the interpreter too.
    let jaxpr = make_jaxpr(mapped)(x.clone(), scale.clone()).unwrap();
    let out = jaxide::core::eval::eval(&jaxpr, &[x.value(), scale.value()]).unwrap();
    close(&Array::from(out[0].clone()), &want.to_vec::<f32>());
    let columns = pmap(|x: Array| lax::psum(&x, "i"))
        .axis_name("i")
        .in_axes(1)
        .out_axes(None);
    close(&columns(x.clone()), &x.sum_axes([1]).to_vec::<f32>());
    let limited = pmap(|x: Array| x).devices(2);
    let error = limited.try_call((x,)).unwrap_err();
    assert_eq!(
        error.to_string().lines().next().unwrap_or_default(),
        "pmap: 4 slices are mapped, and there are 2 devices"
    );
}

/// The numbers are JAX's on four devices.
#[test]
fn pmap_has_derivatives() {
    let x = numpy::arange(12, DType::F32).reshape(&[4, 3]) / 12.0;
    let loss = |x: Array, s: Array| {
        let member = |x: Array, s: Array| (&x * s).sin().sum() * lax::pmean(&x.sum(), "i");
        pmap(member).axis_name("i").in_axes((0, None))(x, s).sum()
    };
    let both = (Argnum::<0>, Argnum::<1>);
    let (dx, ds) = grad(loss).argnums(both)(x.clone(), Array::from([0.5f32]).sum());
    close(
        &dx,
        &[
            1.361_970_2,
            1.361_373_4,
            1.359_584_3,
            1.356_606_1,
            1.352_443_7,
            1.347_104_3,
            1.340_597_4,
            1.332_934_3,
            1.324_128_2,
            1.314_194_2,
            1.303_149_8,
            1.291_014_2,
        ],
    );
    close(&ds, &[7.134_696]);
    let shared = |x: Array| {
        pmap(|x: Array| lax::psum(&x.sin(), "i").sum())
            .axis_name("i")
            .out_axes(None)(x)
    };
    close(&jit(grad(shared))(x.clone()), &x.cos().to_vec::<f32>());
    let second = |x: Array| {
        let gradient = grad(|x: Array| {
            pmap(|x: Array| (x.sin() * lax::psum(&x, "i")).sum()).axis_name("i")(x).sum()
        });
        gradient(x).sum()
    };
    // sum over members of sin(x) times the sum: ∂²/∂x∂x summed over rows, by hand.
    let want: Vec<f32> = {
        let (x, n) = (x.to_vec::<f32>(), 4.0);
        let sum = |j: usize| -> f32 { (0..4).map(|i| x[3 * i + j]).sum() };
        (0..12)
            .map(|k| {
                -x[k].sin() * sum(k % 3)
                    + n * x[k].cos()
                    + (0..4).map(|i| x[3 * i + k % 3].cos()).sum::<f32>()
            })
            .collect()
    };
    close(&grad(second)(x), &want);
}

#[test]
fn slices_may_be_as_many_as_devices() {
    let f = pmap(|x: Array| x * 2.0).devices(2);
    assert_eq!(f(values(&[2])).shape(), [2]);
    assert_eq!(f(values(&[1])).shape(), [1]);
    let said = f.try_call((values(&[3]),)).unwrap_err().to_string();
    assert!(
        said.contains("3 slices are mapped, and there are 2 devices"),
        "{said}"
    );
    let threads = std::thread::available_parallelism().unwrap().get();
    assert_eq!(jaxide::local_device_count(), threads);
}

/// Elements at multi-indices, in row-major order.
fn offset(shape: &[usize], at: &[usize]) -> usize {
    shape
        .iter()
        .zip(at)
        .fold(0, |sum, (length, k)| sum * length + k)
}

fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for &length in shape {
        all = all
            .iter()
            .flat_map(|at| (0..length).map(move |k| [&at[..], &[k]].concat()))
            .collect();
    }
    all
}

/// Member m receives slice m of each other along the cut axis, and stacks them along the other.
#[test]
fn slices_go_to_every_member() {
    const MEMBERS: usize = 3;
    for split in 0..3usize {
        for concat in 0..3usize {
            let mut shape = vec![2, 4, 5];
            shape[split] = MEMBERS;
            let x = values(&[&[MEMBERS][..], &shape].concat());
            let elements = x.to_vec::<f32>();
            let f = move |x: Array| lax::all_to_all(&x, "i", split, concat as i64 - 3, false);
            let got = vmap(f).axis_name("i")(x.clone());
            let mut left = shape.clone();
            left.remove(split);
            left.insert(concat, MEMBERS);
            assert_eq!(
                got.shape(),
                [&[MEMBERS][..], &left].concat(),
                "{split} {concat}"
            );
            let got_elements = got.to_vec::<f32>();
            for at in indices(got.shape()) {
                let (receiver, mut inner) = (at[0], at[1..].to_vec());
                let sender = inner.remove(concat);
                inner.insert(split, receiver);
                let from = offset(x.shape(), &[&[sender][..], &inner].concat());
                let to = offset(got.shape(), &at);
                assert_eq!(got_elements[to], elements[from], "{split} {concat} {at:?}");
            }
        }
    }
}

#[test]
fn gathered_axes_stand_anywhere() {
    let x = values(&[3, 2, 4]);
    let gathered = |axis: i64| {
        let f = move |x: Array| lax::all_gather(&x, "i", axis, false);
        vmap(f).axis_name("i").out_axes(None)(x.clone())
    };
    assert_eq!(gathered(0).shape(), [3, 2, 4]);
    assert_eq!(gathered(2).shape(), [2, 4, 3]);
    assert_eq!(gathered(-1).shape(), [2, 4, 3]);
    close(&gathered(2), &x.transpose([1, 2, 0]).to_vec::<f32>());
}

#[test]
fn sums_of_numbers_are_numbers() {
    let f = |_: Array| {
        (
            lax::psum(&Array::from(2), "i"),
            lax::psum(&Array::from(0.5), "i"),
        )
    };
    let jaxpr = make_jaxpr(f).axis_env(&[("i", 3)])(f32s(&[])).unwrap();
    assert!(jaxpr.jaxpr.eqns.is_empty(), "{jaxpr}");
    assert!(
        jaxpr.to_string().contains("in (6:i32[], 1.5:f32[])"),
        "{jaxpr}"
    );
}

/// What every member holds is summed without asking them, along axes of the array too.
#[test]
fn sums_of_what_all_hold() {
    let held = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
    let summed = |axes: Vec<AxisName>| {
        let held = held.clone();
        let f = move |x: Array| (lax::psum(&held, axes.clone()), x);
        vmap(f).axis_name("i").out_axes((None, 0))(values(&[3])).0
    };
    let (i, axis) = (AxisName::Named(Name::new("i")), AxisName::Positional);
    close(&summed(vec![i.clone()]), &[3.0, 6.0, 9.0, 12.0]);
    close(&summed(vec![i.clone(), axis(0)]), &[12.0, 18.0]);
    close(&summed(vec![i.clone(), axis(1)]), &[9.0, 21.0]);
    close(&summed(vec![axis(1)]), &[3.0, 7.0]);
    close(&summed(vec![i, axis(0), axis(1)]), &[30.0]);
    let names: &[&str] = &["i"];
    let f = move |x: Array| lax::psum(&x, names);
    close(
        &vmap(f).axis_name("i")(Array::from([1.0f32, 2.0])),
        &[3.0, 3.0],
    );
}

#[test]
fn names_of_axes_end_with_the_call() {
    let outside = || {
        let f = jit(|x: Array| lax::psum(&x, "i"));
        f.try_call((values(&[3]),)).unwrap_err().to_string()
    };
    assert!(
        outside().contains("`i`") || outside().contains("axis i"),
        "{}",
        outside()
    );
    let inside = vmap(|x: Array| lax::psum(&x, "i")).axis_name("i");
    inside(values(&[3]));
    let before = outside();
    let failing = vmap(|x: Array| -> Array { x.reshape(&[7]) }).axis_name("i");
    assert!(failing.try_call((values(&[3]),)).is_err());
    assert_eq!(outside(), before);
    make_jaxpr(|x: Array| lax::psum(&x, "i")).axis_env(&[("i", 3)])(f32s(&[2])).unwrap();
    assert_eq!(outside(), before);
}
