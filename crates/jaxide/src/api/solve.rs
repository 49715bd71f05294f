//! Solutions of equations whose derivatives follow from the equation, not from the steps of the solver.

use std::sync::Arc;

use jaxide_core::prims::{
    self, CustomLinearSolve, EvalJaxpr, LinearSolveJaxprs, LinearSolveLengths, Name, RootLinearMap,
    Rule,
};
use jaxide_core::transform::transpose;
use jaxide_core::{Aval, Builder, ClosedJaxpr, Error, ErrorKind};
use jaxide_tree::{Pytree, TreeDef};

use super::flat::{FlatArgs, FlatTrace, avals, flatten, unflatten};
use crate::array::{Array, as_dtype};
use crate::trace::{
    Captures, Known, OrRaise, Traced, UserPlace, bind, called_by, caller, raise, trace,
};

/// A root of `f`: what `solve(f, initial_guess)` finds, differentiated by the implicit function theorem.
///
/// `f` maps a tree to a tree of the same structure and types, and `solve` gives a tree where it is zero, which is not
/// checked. The root depends on the arrays that `f` captures: from `f(p, x(p)) = 0` follows
/// `dx = -(∂f/∂x)⁻¹ (∂f/∂p) dp`, so that `solve` is never differentiated and may use `while_loop`. `tangent_solve(g, y)`
/// gives the `x` with `g(x) = y`, where `g` is the linear map `∂f/∂x` at the root: `y / g(1)` for a scalar, a linear solve
/// with the Jacobian of `g` for a vector.
///
/// # Panics
/// When `f`, `solve` or `tangent_solve` give another structure or other types than `initial_guess` has, or ask for the
/// value of an array.
///
/// ```
/// use jaxide::{Array, custom_root, fori_loop, grad};
/// let sqrt = |a: Array| {
///     custom_root(
///         |x: Array| x.square() - &a,
///         Array::from([1.0f32]).sum(),
///         |f, start| fori_loop(0, 8, |_, x: Array| &x - f(x.clone()) / (&x * 2.0), start),
///         |g, y| y / g(Array::from(1.0)),
///     )
/// };
/// let slope = grad(sqrt)(Array::from([4.0f32]).sum());
/// assert_eq!(slope.item::<f32>(), 0.25);
/// ```
#[track_caller]
pub fn custom_root<T: Pytree<Array>>(
    f: impl Fn(T) -> T,
    initial_guess: T,
    solve: impl FnOnce(&dyn Fn(T) -> T, T) -> T,
    tangent_solve: impl FnOnce(&dyn Fn(T) -> T, T) -> T,
) -> T {
    let _restore = called_by(UserPlace::of(caller()));
    let solve = |f: &dyn Fn(T) -> T, x| (solve(f, x), ());
    root(f, &initial_guess, solve, tangent_solve, false).0
}

/// As [`custom_root`], with a solver that gives further results, such as the number of its steps. These have no
/// derivative.
///
/// # Panics
/// As [`custom_root`].
#[track_caller]
pub fn custom_root_with_aux<T: Pytree<Array>, Aux: Pytree<Array>>(
    f: impl Fn(T) -> T,
    initial_guess: T,
    solve: impl FnOnce(&dyn Fn(T) -> T, T) -> (T, Aux),
    tangent_solve: impl FnOnce(&dyn Fn(T) -> T, T) -> T,
) -> (T, Aux) {
    let _restore = called_by(UserPlace::of(caller()));
    root(f, &initial_guess, solve, tangent_solve, true)
}

#[track_caller]
fn root<T: Pytree<Array>, Aux: Pytree<Array>>(
    f: impl Fn(T) -> T,
    initial_guess: &T,
    solve: impl FnOnce(&dyn Fn(T) -> T, T) -> (T, Aux),
    tangent_solve: impl FnOnce(&dyn Fn(T) -> T, T) -> T,
    has_aux: bool,
) -> (T, Aux) {
    const OPERATION: &str = "custom_root";
    let guess = flatten(initial_guess);
    let types = avals(&guess.leaves);
    let function = record(OPERATION, &f, &guess, Known::No);
    check_like(
        OPERATION,
        "the result of f",
        &guess.treedef,
        &types,
        &function.aux,
        &function.jaxpr.out_avals(),
    );

    let apply = |x: T| -> T {
        let x = flatten(&x);
        check_argument(OPERATION, "the argument of f", &guess, &types, &x);
        let mut operands = function.captured.clone();
        operands.extend(x.leaves);
        let call = EvalJaxpr {
            call_jaxpr: function.jaxpr.clone(),
        };
        unflatten(&function.aux, bind(call, &operands).into_vec())
    };
    let solver = trace(OPERATION, &types, Known::No, Captures::Inputs, |leaves| {
        let (x, aux) = solve(&apply, unflatten(&guess.treedef, leaves.to_vec()));
        let (x, aux) = (flatten(&x), flatten(&aux));
        let results = [x.leaves, aux.leaves].concat();
        (results, [x.treedef, aux.treedef])
    });
    let found = solver.jaxpr.out_avals();
    let [root_tree, aux_tree] = solver.aux;
    check_like(
        OPERATION,
        "the result of solve",
        &guess.treedef,
        &types,
        &root_tree,
        &found[..root_tree.num_leaves()],
    );

    let tangents: Vec<Aval> = types.iter().map(Aval::tangent).collect();
    let rule = known_rule(function.jaxpr.clone());
    let count = types.len();
    let at_root: Vec<Aval> = types.iter().chain(&tangents).cloned().collect();
    let tangent_solver = trace(OPERATION, &at_root, Known::No, Captures::Inputs, |leaves| {
        let (x, rhs) = leaves.split_at(count);
        let linear = |v: T| -> T {
            let v = flatten(&v);
            check_argument(
                OPERATION,
                "the argument of the linear map",
                &guess,
                &tangents,
                &v,
            );
            let mut operands = [&function.captured[..], x].concat();
            operands.extend(
                v.leaves
                    .iter()
                    .zip(&tangents)
                    .map(|(leaf, aval)| as_like(leaf, aval)),
            );
            let map = RootLinearMap {
                f: rule.clone(),
                transposed: false,
            };
            unflatten(&guess.treedef, bind(map, &operands).into_vec())
        };
        let solution = flatten(&tangent_solve(
            &linear,
            unflatten(&guess.treedef, rhs.to_vec()),
        ));
        (solution.leaves, solution.treedef)
    });
    let solutions = tangent_solver.jaxpr.out_avals();
    check_like(
        OPERATION,
        "the result of tangent_solve",
        &guess.treedef,
        &tangents,
        &tangent_solver.aux,
        &solutions,
    );

    let prim = prims::CustomRoot {
        solve_jaxpr: solver.jaxpr,
        has_aux,
        f: rule,
        tangent_solve: known_rule(tangent_solver.jaxpr),
        counts: (solver.captured.len(), count, function.captured.len()),
    };
    let operands = [
        solver.captured,
        guess.leaves,
        function.captured,
        tangent_solver.captured,
    ]
    .concat();
    let mut results = bind(prim, &operands).into_vec();
    let aux = results.split_off(root_tree.num_leaves());
    (unflatten(&root_tree, results), unflatten(&aux_tree, aux))
}

/// How [`custom_linear_solve`] solves with the transpose of its map, which reverse mode needs.
pub enum TransposeSolve<'f, T> {
    /// Not at all: there is no reverse mode.
    Absent,
    /// The map is its own transpose, so that the solver serves for both.
    Symmetric,
    /// By this function of the transposed map and a right-hand side.
    With(&'f Solver<'f, T>),
}

/// A function that solves `map(x) = b` for `x`, given `map` and `b`.
pub type Solver<'f, T> = dyn Fn(&dyn Fn(T) -> T, T) -> T + 'f;

/// The solution `x` of `matvec(x) = b`, as `solve(matvec, b)` finds it, differentiated by the equation.
///
/// `matvec` must be linear, and give a tree like its argument. The solution depends on `b` and on the arrays that
/// `matvec` captures: from `A x = b` follows `dx = A⁻¹ (db - dA x)`, so that `solve` is never differentiated. Reverse mode
/// solves with the transposed map, as `transpose_solve` says.
///
/// # Panics
/// When `matvec` or a solver gives another structure or other shapes than `b` has, or `matvec` is not linear where its
/// transpose is needed.
///
/// ```
/// use jaxide::{Array, TransposeSolve, custom_linear_solve, grad};
/// let divide = |a: Array, b: Array| {
///     let diagonal = a.clone();
///     let solve = move |_: &dyn Fn(Array) -> Array, b: Array| b / &diagonal;
///     custom_linear_solve(|x: Array| &a * x, b, solve, TransposeSolve::Symmetric)
/// };
/// let loss = move |a: Array| divide(a, Array::from([1.0f32, 8.0])).sum();
/// assert_eq!(grad(loss)(Array::from([2.0f32, 4.0])).to_vec::<f32>(), [-0.25, -0.5]);
/// ```
#[track_caller]
pub fn custom_linear_solve<T: Pytree<Array>>(
    matvec: impl Fn(T) -> T,
    b: T,
    solve: impl Fn(&dyn Fn(T) -> T, T) -> T,
    transpose_solve: TransposeSolve<'_, T>,
) -> T {
    let _restore = called_by(UserPlace::of(caller()));
    linear_solve(matvec, &b, solve, transpose_solve)
}

fn linear_solve<T: Pytree<Array>>(
    matvec: impl Fn(T) -> T,
    b: &T,
    solve: impl Fn(&dyn Fn(T) -> T, T) -> T,
    transpose_solve: TransposeSolve<'_, T>,
) -> T {
    const OPERATION: &str = "custom_linear_solve";
    let b = flatten(b);
    let types = avals(&b.leaves);
    let shaped = |what: &str, traced: &FlatTrace| {
        check_structure(OPERATION, what, &b.treedef, &traced.aux);
        check_shapes(
            OPERATION,
            what,
            &types,
            &traced.jaxpr.out_avals(),
            &b.treedef,
        );
    };
    let map = record(OPERATION, &matvec, &b, Known::No);
    shaped("the result of matvec", &map);
    let solver = record(OPERATION, |b| solve(&matvec, b), &b, Known::No);
    shaped("the result of solve", &solver);
    let backward = match transpose_solve {
        TransposeSolve::Absent => None,
        TransposeSolve::Symmetric => {
            let again = record(OPERATION, |b| solve(&matvec, b), &b, Known::No);
            let same = Traced {
                jaxpr: map.jaxpr.clone(),
                captured: map.captured.clone(),
                aux: map.aux.clone(),
            };
            Some((same, again))
        }
        TransposeSolve::With(solve_transposed) => {
            let linear = record(OPERATION, &matvec, &b, Known::Transposed);
            let transposed = transposed_map(OPERATION, &linear, &types);
            let vecmat = |x: T| -> T {
                let operands = [linear.captured.clone(), flatten(&x).leaves].concat();
                unflatten(&b.treedef, crate::trace::inline(&transposed, &operands))
            };
            let recorded = record(OPERATION, vecmat, &b, Known::No);
            let solver = record(OPERATION, |x| solve_transposed(&vecmat, x), &b, Known::No);
            Some((recorded, solver))
        }
    };
    if let Some((_, solver)) = &backward {
        shaped("the result of transpose_solve", solver);
    }
    let count = |trace: &FlatTrace| trace.captured.len();
    let const_lengths = LinearSolveLengths {
        matvec: count(&map),
        vecmat: backward.as_ref().map_or(0, |(vecmat, _)| count(vecmat)),
        solve: count(&solver),
        transpose_solve: backward.as_ref().map_or(0, |(_, solver)| count(solver)),
    };
    let (vecmat, transposed) = backward.unzip();
    let mut operands = map.captured;
    operands.extend(vecmat.iter().flat_map(|trace| trace.captured.clone()));
    operands.extend(solver.captured);
    operands.extend(transposed.iter().flat_map(|trace| trace.captured.clone()));
    operands.extend(b.leaves);
    let prim = CustomLinearSolve {
        const_lengths,
        jaxprs: LinearSolveJaxprs {
            matvec: map.jaxpr,
            vecmat: vecmat.map(|trace| trace.jaxpr),
            solve: solver.jaxpr,
            transpose_solve: transposed.map(|trace| trace.jaxpr),
        },
    };
    unflatten(&b.treedef, bind(prim, &operands).into_vec())
}

/// A function of one tree as a jaxpr, what it captures before its argument.
#[track_caller]
fn record<T, Out>(
    operation: &'static str,
    f: impl FnOnce(T) -> Out,
    argument: &FlatArgs,
    known: Known,
) -> FlatTrace
where
    T: Pytree<Array>,
    Out: Pytree<Array>,
{
    let types = avals(&argument.leaves);
    trace(operation, &types, known, Captures::Inputs, |leaves| {
        let results = flatten(&f(unflatten(&argument.treedef, leaves.to_vec())));
        (results.leaves, results.treedef)
    })
}

/// A rule that is a jaxpr, whatever is perturbed. JAX shows such functions by the name `fun`.
fn known_rule(jaxpr: ClosedJaxpr) -> Rule {
    Rule {
        name: Name::new("fun"),
        make: Some(Arc::new(move |_: &[bool]| Ok(jaxpr.clone()))),
    }
}

/// The transpose of a recorded linear map: captured arrays and cotangents to cotangents.
#[track_caller]
fn transposed_map(operation: &str, map: &FlatTrace, types: &[Aval]) -> ClosedJaxpr {
    let captured = map.captured.len();
    let linear: Vec<bool> = (0..captured + types.len())
        .map(|index| index >= captured)
        .collect();
    let nonzero = vec![true; types.len()];
    transpose(&Builder::new(), &map.jaxpr, &linear, &nonzero, &linear)
        .map_err(|error| error.in_operation(operation))
        .or_raise()
        .jaxpr
}

/// A bare number takes the element type that is needed.
#[track_caller]
fn as_like(array: &Array, aval: &Aval) -> Array {
    if array.dtype() == aval.dtype {
        array.clone()
    } else {
        as_dtype(array, aval.dtype, aval.weak_type)
    }
}

/// The results of `what` must have the structure and the types of the unknown.
#[track_caller]
fn check_like(
    operation: &str,
    what: &str,
    tree: &TreeDef,
    want: &[Aval],
    own: &TreeDef,
    got: &[Aval],
) {
    check_structure(operation, what, tree, own);
    check_shapes(operation, what, want, got, tree);
    check_dtypes(operation, what, want, got, tree, |_| false);
}

/// An argument must have the structure and the shapes of the unknown; a bare number takes its type.
#[track_caller]
fn check_argument(
    operation: &str,
    what: &str,
    unknown: &FlatArgs,
    want: &[Aval],
    argument: &FlatArgs,
) {
    let (tree, got) = (&unknown.treedef, avals(&argument.leaves));
    check_structure(operation, what, tree, &argument.treedef);
    check_shapes(operation, what, want, &got, tree);
    check_dtypes(operation, what, want, &got, tree, |got| got.weak_type);
}

#[track_caller]
fn check_structure(operation: &str, what: &str, want: &TreeDef, got: &TreeDef) {
    if want != got {
        raise(
            Error::new(
                ErrorKind::Structure,
                format!("{what} has the structure {got}, and {want} is needed"),
            )
            .in_operation(operation),
        );
    }
}

#[track_caller]
fn check_shapes(operation: &str, what: &str, want: &[Aval], got: &[Aval], tree: &TreeDef) {
    for ((want, got), path) in want.iter().zip(got).zip(tree.key_paths()) {
        if want.shape != got.shape {
            let error = Error::shape(format!("{what} is {got}, and {want} is needed"));
            raise(error.in_operation(operation).at_path(path.to_string()));
        }
    }
}

/// Element types must be the same, but for those that `converts` accepts.
#[track_caller]
fn check_dtypes(
    operation: &str,
    what: &str,
    want: &[Aval],
    got: &[Aval],
    tree: &TreeDef,
    converts: fn(&Aval) -> bool,
) {
    for ((want, got), path) in want.iter().zip(got).zip(tree.key_paths()) {
        if want.dtype != got.dtype && !converts(got) {
            let error = Error::dtype(format!("{what} is {got}, and {want} is needed"));
            raise(error.in_operation(operation).at_path(path.to_string()));
        }
    }
}
