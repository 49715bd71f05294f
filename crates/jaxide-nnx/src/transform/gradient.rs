//! Gradients with respect to the state of a module.

use jaxide::core::ErrorKind;
use jaxide::tree::{Pytree, Tree};
use jaxide::{ArgList, Arguments, Array, Error, Function, raise};

use super::lift::{Changes, FlatArgs, Returned, inside, returned};
use crate::graph::{Located, entries};
use crate::state::{Entry, State};
use crate::{Filter, Param};

/// With respect to what a function is differentiated: a part of the state of one argument.
///
/// ```
/// use jaxide_nnx::{self as nnx, DiffState, Filter, Linear, Rngs};
/// use jaxide::Array;
/// let linear = Linear::new(1, 1, &Rngs::new(0), ());
/// let loss = |x: Array, linear: Linear| linear.call(&x).sum();
/// let gradient = nnx::grad(loss).wrt(DiffState::new(1, Filter::path_contains("bias")));
/// assert_eq!(gradient.call((Array::from([3.0f32]), linear)).array("bias").unwrap().to_vec::<f32>(), [1.0]);
/// ```
#[derive(Clone, Debug)]
pub struct DiffState {
    argnum: usize,
    filter: Filter,
}

impl DiffState {
    /// What `filter` selects of argument `argnum`.
    pub fn new(argnum: usize, filter: impl Into<Filter>) -> Self {
        DiffState {
            argnum,
            filter: filter.into(),
        }
    }
}

impl Default for DiffState {
    fn default() -> Self {
        DiffState::new(0, Param)
    }
}

impl<F: Into<Filter>> From<F> for DiffState {
    fn from(filter: F) -> Self {
        DiffState::new(0, filter)
    }
}

/// The value, further results and gradient of a function.
#[track_caller]
fn differentiate<Args, Aux>(
    operation: &str,
    f: &dyn Fn(Args) -> (Array, Aux),
    wrt: &DiffState,
    args: &Args,
) -> (Array, Aux, State)
where
    Args: Pytree<Array>,
    Aux: Pytree<Array> + 'static,
{
    let FlatArgs {
        leaves,
        treedef,
        met,
    } = FlatArgs::of(args);
    let tree: Tree<Array> = match treedef.unflatten(leaves.iter().cloned()) {
        Ok(tree) => tree,
        Err(error) => raise(Error::from(error)),
    };
    let Some(argument) = tree.children().get(wrt.argnum) else {
        raise(
            Error::parameter(format!(
                "there is no argument {}: there are {}",
                wrt.argnum,
                tree.children().len()
            ))
            .in_operation(operation),
        );
    };
    let first = tree.children()[..wrt.argnum]
        .iter()
        .map(|child| child.leaves().len())
        .sum();
    let chosen: Vec<Located> = entries(argument, first)
        .into_iter()
        .filter(|located| wrt.filter.selects(&located.path, &located.entry))
        .collect();
    for located in &chosen {
        if let Some(array) = located
            .entry
            .arrays()
            .iter()
            .find(|array| !array.dtype().is_inexact())
        {
            raise(
                Error::new(
                    ErrorKind::DType,
                    format!("{} has no gradient", array.aval()),
                )
                .in_operation(operation)
                .at_path(located.path.to_string()),
            );
        }
    }
    let places: Vec<usize> = chosen
        .iter()
        .flat_map(|located| located.leaves.clone())
        .collect();
    let varied: Vec<Array> = places.iter().map(|&place| leaves[place].clone()).collect();
    let body = |varied: Vec<Array>| -> (Array, (Returned, Changes)) {
        let mut all = leaves.clone();
        for (&place, array) in places.iter().zip(varied) {
            all[place] = array;
        }
        let (value, aux, changes) = inside(&treedef, all, f);
        (value, (aux, changes))
    };
    let ((value, (aux, changes)), gradients) = jaxide::value_and_grad_with_aux_of(&body, (varied,));
    changes.apply(&met);
    let aux: Aux = returned(aux, &met);
    let mut gradients = gradients.into_iter();
    let mut state = State::default();
    for located in chosen {
        let entry = match located.entry {
            Entry::Variable {
                kind,
                metadata,
                value,
            } => Entry::Variable {
                kind,
                metadata,
                value: value.form().fill(&mut gradients),
            },
            Entry::Array { array, .. } => Entry::Array {
                array: gradients.next().unwrap_or(array),
                number: false,
            },
        };
        state.entries.insert(located.path, entry);
    }
    (value, aux, state)
}

/// Transformations: the struct, the function that makes it, and the form that is called at once.
macro_rules! gradients {
    ($(
        $(#[$doc:meta])* $name:ident $of:ident $ty:ident<$($aux:ident)?> $loss:ty => $out:ty,
        |$result:ident| $give:expr, |$raw:ident| $pair:expr;
    )*) => { $(
        #[doc = concat!("What [`", stringify!($name), "`] gives: a function, which [`wrt`](Self::wrt) can tell what to differentiate by.")]
        pub struct $ty<Args: ArgList $(, $aux: 'static)?> {
            f: std::sync::Arc<dyn Fn(Args) -> $loss + Send + Sync>,
            wrt: DiffState,
            callable: std::sync::Arc<Args::Callable<$out>>,
        }

        impl<Args: ArgList $(, $aux: Pytree<Array> + 'static)?> $ty<Args $(, $aux)?> {
            fn made(f: std::sync::Arc<dyn Fn(Args) -> $loss + Send + Sync>, wrt: DiffState) -> Self {
                let (shared, by) = (f.clone(), wrt.clone());
                let callable = Args::callable(move |args| {
                    let $result = differentiate(stringify!($name), &|args| { let $raw = shared(args); $pair }, &by, &args);
                    $give
                });
                $ty { f, wrt, callable }
            }

            /// The same function, differentiated by something else: a filter for the first argument, or a [`DiffState`].
            #[must_use]
            pub fn wrt(self, wrt: impl Into<DiffState>) -> Self {
                Self::made(self.f, wrt.into())
            }

            /// Calls it with the tuple of its arguments.
            ///
            /// # Panics
            /// When the value is no scalar, or what it is differentiated by is not made of numbers with a point.
            #[track_caller]
            pub fn call(&self, args: Args) -> $out {
                let $result = differentiate(stringify!($name), &|args| { let $raw = (self.f)(args); $pair }, &self.wrt, &args);
                $give
            }
        }

        impl<Args: ArgList $(, $aux: 'static)?> std::ops::Deref for $ty<Args $(, $aux)?> {
            type Target = Args::Callable<$out>;

            fn deref(&self) -> &Self::Target {
                &self.callable
            }
        }

        $(#[$doc])*
        pub fn $name<F, Args $(, $aux)?>(f: F) -> $ty<Args $(, $aux)?>
        where
            F: Function<Args, $loss> + Send + Sync + 'static,
            Args: ArgList,
            $($aux: Pytree<Array> + 'static,)?
        {
            $ty::made(std::sync::Arc::new(move |args| f.apply(args)), DiffState::default())
        }

        #[doc = concat!("[`", stringify!($name), "`] of a borrowed function, at once, by the parameters of the first argument.")]
        ///
        /// # Panics
        /// When the value is no scalar.
        #[track_caller]
        pub fn $of<F, Args $(, $aux)?>(f: &F, args: impl Arguments<Args>) -> $out
        where
            F: Function<Args, $loss> + ?Sized,
            Args: ArgList,
            $($aux: Pytree<Array> + 'static,)?
        {
            let $result = differentiate(
                stringify!($name),
                &|args| { let $raw = f.apply(args); $pair },
                &DiffState::default(),
                &args.into_tuple(),
            );
            $give
        }
    )* };
}

gradients! {
    /// The gradient of a function of modules and arrays, by the [`Param`]s of the first argument: a [`State`]. What the function
    /// changes in modules is changed.
    ///
    /// ```
    /// use jaxide_nnx::{self as nnx, Linear, Rngs};
    /// use jaxide::Array;
    /// let linear = Linear::new(1, 1, &Rngs::new(0), ());
    /// let gradient = nnx::grad(|linear: Linear, x: Array| linear.call(&x).sum())(linear, Array::from([3.0f32]));
    /// assert_eq!(gradient.array("kernel")?.to_vec::<f32>(), [3.0]);
    /// # Ok::<(), nnx::Error>(())
    /// ```
    grad grad_of Grad<> Array => State, |result| result.2, |value| (value, ());
    /// The value and the gradient: [`grad`].
    value_and_grad value_and_grad_of ValueAndGrad<> Array => (Array, State),
        |result| (result.0, result.2), |value| (value, ());
    /// The gradient and what a function gives beside its value: [`grad`].
    grad_with_aux grad_with_aux_of GradWithAux<Aux> (Array, Aux) => (State, Aux),
        |result| (result.2, result.1), |pair| pair;
    /// Value and further results, and the gradient: [`grad`].
    value_and_grad_with_aux value_and_grad_with_aux_of ValueAndGradWithAux<Aux> (Array, Aux) => ((Array, Aux), State),
        |result| ((result.0, result.1), result.2), |pair| pair;
}
