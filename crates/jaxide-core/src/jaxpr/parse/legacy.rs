//! Text of older versions of JAX: other names, and parameters that were added or left out since.
//!
//! Parameters that a primitive does not have are ignored wherever they stand. What is here is what needs more than that.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::jaxpr::Scalar;
use crate::prims::{ParamValue, Prim, PrimInfo, PyValue};

/// Earlier names of primitives.
const RENAMED: &[(&str, &str)] = &[
    ("pjit", "jit"),
    ("xla_call", "jit"),
    ("core_call", "closed_call"),
    ("core_closed_call", "closed_call"),
    ("checkpoint", "remat2"),
    ("remat", "remat2"),
    ("remat_call", "remat2"),
    ("custom_vjp_call_jaxpr", "custom_vjp_call"),
];

/// Parameters that printed once, beside those of today. A string before one of them ends there.
const FORMER_KEYS: &[&str] = &[
    "_split_transpose",
    "backend",
    "bwd",
    "call_jaxpr",
    "compiler_options_kvs",
    "ctx_mesh",
    "device",
    "donated_invars",
    "fun_jaxpr",
    "fwd_jaxpr_thunk",
    "in_layouts",
    "in_positional_semantics",
    "in_shardings",
    "inline",
    "jaxpr",
    "jvp_jaxpr_fun",
    "jvp_jaxpr_thunk",
    "keep_unused",
    "linear",
    "num_carry",
    "num_consts",
    "out_layouts",
    "out_positional_semantics",
    "out_shardings",
    "out_trees",
    "resource_env",
    "symbolic_zeros",
];

/// Former names of parameters: primitive, then, now.
const RENAMED_KEYS: &[(&str, &str, &str)] = &[
    ("jit", "call_jaxpr", "jaxpr"),
    ("closed_call", "jaxpr", "call_jaxpr"),
    ("remat2", "call_jaxpr", "jaxpr"),
    ("custom_jvp_call", "jvp_jaxpr_fun", "jvp"),
    ("custom_jvp_call", "jvp_jaxpr_thunk", "jvp"),
    ("custom_vjp_call", "fun_jaxpr", "call_jaxpr"),
    ("custom_vjp_call", "fwd_jaxpr_thunk", "fwd"),
];

/// Parameters that came later, false where they are missing.
const FALSE_BY_DEFAULT: &[(&str, &str)] = &[
    ("custom_jvp_call", "symbolic_zeros"),
    ("custom_vjp_call", "symbolic_zeros"),
    ("cumsum", "reverse"),
    ("cumprod", "reverse"),
    ("cummax", "reverse"),
    ("cummin", "reverse"),
    ("qr", "pivoting"),
    ("remat2", "differentiated"),
];

static PRIMITIVES: LazyLock<HashMap<&str, &PrimInfo>> =
    LazyLock::new(|| Prim::ALL.iter().map(|info| (info.name, info)).collect());

/// Today's name of a primitive.
pub(super) fn current_name(name: &str) -> &str {
    let renamed = RENAMED.iter().find(|(then, _)| *then == name);
    renamed.map_or(name, |(_, now)| *now)
}

/// The primitive that `name` is or was the name of.
pub(super) fn info(name: &str) -> Option<&'static PrimInfo> {
    PRIMITIVES.get(current_name(name)).copied()
}

/// Whether a parameter of the primitive is or was called `key`.
pub(super) fn is_key(info: &PrimInfo, key: &str) -> bool {
    info.params.iter().any(|param| param.name == key) || FORMER_KEYS.contains(&key)
}

/// Today's name of a parameter.
pub(super) fn current_key<'k>(info: &PrimInfo, key: &'k str) -> &'k str {
    if info.params.iter().any(|param| param.name == key) {
        return key;
    }
    let renamed = RENAMED_KEYS
        .iter()
        .find(|(prim, then, _)| *prim == info.name && *then == key);
    renamed.map_or(key, |(_, _, now)| *now)
}

/// Adds the parameters that older text leaves out or writes in another form.
///
/// # Errors
/// When the counts of a loop do not fit its operands.
pub(super) fn modernise(
    info: &PrimInfo,
    params: &mut Vec<(String, ParamValue)>,
    operands: usize,
    results: usize,
) -> Result<(), String> {
    let number = |params: &[(String, ParamValue)], key: &str| {
        params.iter().find_map(|(name, value)| match value {
            ParamValue::Py(PyValue::Scalar(value)) if name == key => value
                .as_integer()
                .and_then(|value| usize::try_from(value).ok()),
            _ => None,
        })
    };
    let missing = |params: &[(String, ParamValue)], key: &str| {
        info.params.iter().any(|param| param.name == key)
            && !params.iter().any(|(name, _)| name == key)
    };
    let add = |params: &mut Vec<(String, ParamValue)>, key: &str, value: PyValue| {
        params.push((key.to_owned(), ParamValue::Py(value)));
    };
    if missing(params, "ft_in")
        && let (Some(consts), Some(carry)) =
            (number(params, "num_consts"), number(params, "num_carry"))
    {
        let fixed = consts
            .checked_add(carry)
            .filter(|&fixed| fixed <= operands && carry <= results);
        let Some(fixed) = fixed else {
            return Err(format!(
                "{consts} constants and {carry} carries do not fit {operands} operands and {results} results"
            ));
        };
        let nones = |count| PyValue::Tuple(vec![PyValue::None; count]);
        add(
            params,
            "ft_in",
            PyValue::Tuple(vec![nones(consts), nones(carry), nones(operands - fixed)]),
        );
        add(
            params,
            "ft_out",
            PyValue::Tuple(vec![nones(carry), nones(results - carry)]),
        );
    }
    for (_, value) in params.iter_mut() {
        add_batching_dims(value);
    }
    for (prim, key) in FALSE_BY_DEFAULT {
        if *prim == info.name && missing(params, key) {
            add(params, key, PyValue::Scalar(Scalar::Bool(false)));
        }
    }
    if info.name == "scan" && missing(params, "unroll") {
        add(params, "unroll", PyValue::int(1));
    }
    if info.name.starts_with("custom_") && missing(params, "name") {
        add(params, "name", PyValue::Str("f".to_owned()));
    }
    Ok(())
}

/// Dimension numbers of gather and scatter had no batching dimensions.
fn add_batching_dims(value: &mut ParamValue) {
    let ParamValue::Py(PyValue::Call(call)) = value else {
        return;
    };
    let indices = match call.name.as_str() {
        "GatherDimensionNumbers" => "start_indices_batching_dims",
        "ScatterDimensionNumbers" => "scatter_indices_batching_dims",
        _ => return,
    };
    for key in ["operand_batching_dims", indices] {
        if !call.fields.iter().any(|(name, _)| name == key) {
            call.fields
                .push((key.to_owned(), PyValue::Tuple(Vec::new())));
        }
    }
}
