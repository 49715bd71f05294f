//! Calls and marks: groups of operations, barriers, the platform, printing.

use jaxide_core::prims::{
    self, Branches, Composite, Cond, DebugPrint, DevicePut, Name, Opaque, PlatformIndex, PyValue,
};
use jaxide_core::{DType, Error, ErrorKind, Literal, Scalar};
use jaxide_tree::Pytree;

use crate::api::flat::{avals, flat, flatten, trace_flat, unflatten};
use crate::array::{Array, Repr};
use crate::function::{ArgList, Function};
use crate::trace::{Captures, Known, bind, bind_one, raise, tracing};

/// The identity on a tree, across which nothing is moved: what comes out is computed after all that goes in.
///
/// ```
/// use jaxide::{Array, lax};
/// let (x, y) = lax::optimization_barrier((Array::from([1.0f32]), Array::from([2i32])));
/// assert_eq!((x.to_vec::<f32>(), y.to_vec::<i32>()), (vec![1.0], vec![2]));
/// ```
#[track_caller]
pub fn optimization_barrier<T: Pytree<Array>>(x: T) -> T {
    let _named = crate::trace::named("optimization_barrier");
    let x = flatten(&x);
    unflatten(
        &x.treedef,
        bind(prims::OptimizationBarrier, &x.leaves).into_vec(),
    )
}

/// `f(args)` as one operation of a name and a version, which a backend may know: `f` says what it means.
///
/// # Panics
/// Where `f` does, and when `f` captures a traced array.
///
/// ```
/// use jaxide::{Array, DType, lax, make_jaxpr};
/// let f = |x: Array| lax::composite(|x: Array| x.sin(), "my.sin", 0, (x,));
/// assert!(make_jaxpr(f)(Array::spec(DType::F32, &[4]))?.to_string().contains("name=my.sin"));
/// # Ok::<(), jaxide::Error>(())
/// ```
#[track_caller]
pub fn composite<F, Args, Out>(f: F, name: &str, version: usize, args: Args) -> Out
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array>,
{
    let _named = crate::trace::named("composite");
    let args = flatten(&args);
    let traced = trace_flat(
        "composite",
        &flat(&f),
        &args.treedef,
        &avals(&args.leaves),
        Known::No,
        Captures::Inputs,
    );
    if let Some(array) = traced.captured.first() {
        raise(
            Error::new(
                ErrorKind::LeakedTracer,
                format!("the function captures an array {}", array.aval()),
            )
            .in_operation("composite")
            .note("pass it as an argument"),
        );
    }
    let prim = Composite {
        attributes: Opaque(PyValue::Tuple(Vec::new())),
        call_jaxpr: traced.jaxpr,
        name: Name::new(name),
        version,
    };
    unflatten(&traced.aux, bind(prim, &args.leaves).into_vec())
}

/// `on_cpu(args)` where the program runs on a CPU, `default(args)` elsewhere: both are part of the jaxpr. Here it is always
/// a CPU.
///
/// # Panics
/// When the results of the functions differ in structure or types.
#[track_caller]
pub fn platform_dependent<Args, Out>(
    args: Args,
    on_cpu: impl Function<Args, Out>,
    default: impl Function<Args, Out>,
) -> Out
where
    Args: ArgList,
    Out: Pytree<Array>,
{
    let _named = crate::trace::named("platform_dependent");
    on_platform("cpu", args, on_cpu, default)
}

/// `own(args)` where the program runs on a platform, `default(args)` elsewhere.
#[track_caller]
pub(crate) fn on_platform<Args, Out>(
    platform: &str,
    args: Args,
    own: impl Function<Args, Out>,
    default: impl Function<Args, Out>,
) -> Out
where
    Args: ArgList,
    Out: Pytree<Array>,
{
    const OPERATION: &str = "platform_dependent";
    let args = flatten(&args);
    let types = avals(&args.leaves);
    let own = trace_flat(
        OPERATION,
        &flat(&own),
        &args.treedef,
        &types,
        Known::No,
        Captures::Inputs,
    );
    let other = trace_flat(
        OPERATION,
        &flat(&default),
        &args.treedef,
        &types,
        Known::No,
        Captures::Inputs,
    );
    crate::control::check_branches(OPERATION, &[&own, &other]);
    let platforms = Opaque(PyValue::Tuple(vec![
        PyValue::Tuple(vec![PyValue::Str(platform.to_owned())]),
        PyValue::None,
    ]));
    let index = if tracing() {
        bind_one(
            PlatformIndex {
                platforms: platforms.clone(),
            },
            &[],
        )
    } else {
        let branch = i64::from(platform != "cpu");
        Array(Repr::Number(Literal::new(Scalar::Int(branch), DType::I32)))
    };
    let treedef = own.aux.clone();
    let (branches, captured) = crate::control::with_common_captures(vec![own, other]);
    let prim = Cond {
        branches: Branches(branches),
        branches_platforms: Some(platforms),
    };
    let operands = [vec![index], captured, args.leaves].concat();
    unflatten(&treedef, bind(prim, &operands).into_vec())
}

/// The identity on a tree, marked as a placement on the device.
#[track_caller]
pub fn device_put<T: Pytree<Array>>(x: T) -> T {
    let _named = crate::trace::named("device_put");
    let x = flatten(&x);
    if x.leaves.is_empty() {
        return unflatten(&x.treedef, x.leaves);
    }
    let of_each = |value: PyValue| Opaque(PyValue::Tuple(vec![value; x.leaves.len()]));
    let prim = DevicePut {
        copy_semantics: of_each(PyValue::Word("ArrayCopySemantics.REUSE_INPUT".to_owned())),
        devices: of_each(PyValue::None),
        srcs: of_each(PyValue::None),
    };
    unflatten(&x.treedef, bind(prim, &x.leaves).into_vec())
}

/// Prints arrays to standard error when the program runs, under `jit` too: `{}` in `format` stands for one after the other.
///
/// # Panics
/// When there are not as many `{}` as arrays.
#[track_caller]
pub fn debug_print(format: &str, args: &[Array]) {
    let _named = crate::trace::named("debug_print");
    let places = format.matches("{}").count();
    if places != args.len() {
        raise(
            Error::new(
                ErrorKind::Arity,
                format!(
                    "the format has {places} places, and {} arrays are given",
                    args.len()
                ),
            )
            .in_operation("debug_print"),
        );
    }
    let leaves = vec!["*"; args.len()].join(", ");
    let comma = if args.len() == 1 { "," } else { "" };
    let prim = DebugPrint {
        fmt: Name::new(format),
        has_placeholders: places > 0,
        in_tree: Opaque(PyValue::Opaque(format!(
            "PyTreeDef((({leaves}{comma}), {{}}))"
        ))),
        logging_record: Opaque::none(),
        np_printoptions: Opaque::none(),
        ordered: false,
        partitioned: false,
        static_args: Opaque(PyValue::Tuple(Vec::new())),
    };
    bind(prim, args);
}

/// A use of arrays that has no result, so that what they are computed of is not left out of a program.
///
/// ```
/// use jaxide::{Array, lax};
/// lax::dce_sink(&Array::from([1.0f32, 2.0]));
/// ```
#[track_caller]
pub fn dce_sink<T: Pytree<Array>>(x: &T) {
    let _named = crate::trace::named("dce_sink");
    for leaf in flatten(x).leaves {
        let prim = prims::DceSink {
            prevent_mlir_dce: false,
        };
        bind(prim, &[leaf]);
    }
}
