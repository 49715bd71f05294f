//! Forward derivatives given by one rule for each argument.

use std::sync::Arc;

use jaxide_core::Aval;
use jaxide_tree::Pytree;

use super::custom::{JvpRule, check_structure, check_types, flat_jvp, jvp_call};
use super::flat::{avals, flat, flatten, unflatten};
use crate::array::Array;
use crate::function::{ArgList, Function, Transformed};
use crate::trace::OrRaise;
use crate::{lax, numpy};

const OPERATION: &str = "custom_jvps";

/// The forward derivative by one argument: a function of its tangent, the result, and all arguments, linear in the tangent;
/// or `()`, by which the derivative is zero.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the derivative of a function of `{Args}` by its argument `{Tangent}`",
    note = "a rule takes the tangent, the result and the arguments: `|t: Array, ans: Array, x: Array| ...`",
    note = "`()` stands for the derivative zero"
)]
pub trait PartialRule<Args, Tangent, Out> {
    /// The tangent of the result, `None` of zero.
    fn tangent(&self, tangent: Tangent, result: &Out, args: &Args) -> Option<Out>;
}

impl<Args, Tangent, Out> PartialRule<Args, Tangent, Out> for () {
    fn tangent(&self, _tangent: Tangent, _result: &Out, _args: &Args) -> Option<Out> {
        None
    }
}

/// A tuple of a [`PartialRule`] for each argument of the list `Args`.
pub trait PartialRules<Args, Out> {
    /// The tangent of the result by each argument, `None` of zero.
    fn tangents(&self, tangents: Args, result: &Out, args: &Args) -> Vec<Option<Out>>;
}

macro_rules! arities {
    ($($all:ty: $($arg:ident $rule:ident)+;)*) => { $(
        impl<Func, Tangent, Out, $($arg),+> PartialRule<$all, Tangent, Out> for Func
        where
            Func: Fn(Tangent, Out, $($arg),+) -> Out,
            Out: Clone,
            $($arg: Clone,)+
        {
            #[allow(non_snake_case)]
            fn tangent(&self, tangent: Tangent, result: &Out, args: &$all) -> Option<Out> {
                let ($($arg,)+) = args.clone();
                Some(self(tangent, result.clone(), $($arg),+))
            }
        }

        impl<Out, $($arg, $rule),+> PartialRules<$all, Out> for ($($rule,)+)
        where
            $($rule: PartialRule<$all, $arg, Out>,)+
        {
            #[allow(non_snake_case)]
            fn tangents(
                &self,
                ($($arg,)+): $all,
                result: &Out,
                args: &$all,
            ) -> Vec<Option<Out>> {
                let ($($rule,)+) = self;
                vec![$($rule.tangent($arg, result, args)),+]
            }
        }
    )* };
}

arities! {
    (A,): A RA;
    (A, B,): A RA B RB;
    (A, B, C,): A RA B RB C RC;
    (A, B, C, D,): A RA B RB C RC D RD;
    (A, B, C, D, E,): A RA B RB C RC D RD E RE;
    (A, B, C, D, E, F,): A RA B RB C RC D RD E RE F RF;
    (A, B, C, D, E, F, G,): A RA B RB C RC D RD E RE F RF G RG;
    (A, B, C, D, E, F, G, H,): A RA B RB C RC D RD E RE F RF G RG H RH;
}

/// `f` with a forward derivative by each argument: the tangent of the result is the sum of what `rules` give, a tuple with
/// one for each argument. A rule takes the tangent of its argument, the result, and all arguments; `()` is the rule of an
/// argument by which the derivative is zero.
///
/// The result that rules take comes from the function with its rules, so that higher derivatives use them too. Otherwise as
/// [`custom_jvp`](crate::custom_jvp()).
///
/// # Panics
/// The function given panics where `f` does; its derivatives where a rule gives another structure or other types than `f`,
/// or where a value that is differentiated is captured instead of passed.
///
/// ```
/// use jaxide::{Argnum, Array, custom_jvps, grad};
/// let f = custom_jvps(
///     |x: Array, y: Array| x.pow(2) * y,
///     (
///         |t: Array, _ans: Array, x: Array, y: Array| 2.0 * x * y * t,
///         |t: Array, _ans: Array, x: Array, _y: Array| x.pow(2) * t,
///     ),
/// );
/// let slopes = grad(f).argnums((Argnum::<0>, Argnum::<1>));
/// let (dx, dy) = slopes(Array::from(2.0f32), Array::from(3.0f32));
/// assert_eq!((dx.item::<f32>(), dy.item::<f32>()), (12.0, 4.0));
///
/// let f = custom_jvps(|x: Array, y: Array| x * y, (|t: Array, _ans: Array, _x: Array, y: Array| t * y, ()));
/// let slope = grad(f).argnums(Argnum::<1>)(Array::from(2.0f32), Array::from(3.0f32));
/// assert_eq!(slope.item::<f32>(), 0.0);
/// ```
#[track_caller]
pub fn custom_jvps<F, R, Args, Out>(f: F, rules: R) -> Transformed<Args, Out>
where
    F: Function<Args, Out> + Send + Sync + 'static,
    R: PartialRules<Args, Out> + Send + Sync + 'static,
    Args: ArgList + Clone,
    Out: Pytree<Array> + Clone + 'static,
{
    let name = f.name();
    let parts = Arc::new((name.clone(), f, rules));
    Transformed::new(name, (), move |(), args: Args| with_partials(&parts, args))
}

/// A call of the function with its rules.
#[track_caller]
fn with_partials<F, R, Args, Out>(parts: &Arc<(String, F, R)>, args: Args) -> Out
where
    F: Function<Args, Out> + Send + Sync + 'static,
    R: PartialRules<Args, Out> + Send + Sync + 'static,
    Args: ArgList + Clone,
    Out: Pytree<Array> + Clone + 'static,
{
    let own = parts.clone();
    let rule = move |args: Args, tangents: Args| {
        let result = with_partials(&own, args.clone());
        let tangents = own.2.tangents(tangents, &result, &args);
        let tangent = sum(&result, tangents);
        (result, tangent)
    };
    let rule: Arc<JvpRule> = Arc::new(flat_jvp(rule));
    jvp_call([&parts.0, "jvp"], &flat(&parts.1), &rule, flatten(&args)).unflatten()
}

/// The sum of tangents of a result, zero of none. Leaves that have no tangents are those of the result.
#[track_caller]
fn sum<Out: Pytree<Array>>(result: &Out, tangents: Vec<Option<Out>>) -> Out {
    let result = flatten(result);
    let types: Vec<Aval> = avals(&result.leaves).iter().map(Aval::tangent).collect();
    let mut sums: Vec<Option<Array>> = vec![None; types.len()];
    for (number, tangent) in tangents.iter().enumerate() {
        let Some(tangent) = tangent else { continue };
        let (what, tangent) = (
            format!("tangents of the rule of argument {number}"),
            flatten(tangent),
        );
        check_structure(OPERATION, &what, &result.treedef, &tangent.treedef).or_raise();
        let what = format!("a tangent of the rule of argument {number}");
        let given = avals(&tangent.leaves);
        check_types(OPERATION, &what, &result.treedef, &types, &given).or_raise();
        for ((sum, leaf), of) in sums.iter_mut().zip(tangent.leaves).zip(&result.leaves) {
            if of.dtype().is_inexact() {
                *sum = Some(match sum.take() {
                    Some(sum) => lax::add(&sum, &leaf),
                    None => leaf,
                });
            }
        }
    }
    let leaves: Vec<Array> = sums
        .into_iter()
        .zip(&result.leaves)
        .map(|(sum, of)| sum.unwrap_or_else(|| numpy::zeros_like(of, ())))
        .collect();
    unflatten(&result.treedef, leaves)
}
