//! Gradients with respect to the state of a module.

use std::panic::Location;

use jaxide::core::ErrorKind;
use jaxide::tree::{Pytree, Tree};
use jaxide::{ArgList, Arguments, Array, Error, Function, raise};

use super::lift::{Changes, FlatArgs, Returned, inside, returned};
use crate::graph::{Located, entries};
use crate::state::{Entry, State};
use crate::{Filter, Key, Param, Path, call};

/// With respect to what a function is differentiated: a part of the state of one argument, or of several.
///
/// ```
/// use jaxide_nnx::{self as nnx, DiffState, Filter, Linear, Param, Rngs};
/// use jaxide::Array;
/// let (rngs, x) = (Rngs::new(0), Array::from([3.0f32]));
/// let (linear, other) = (Linear::new(1, 1, &rngs, ()), Linear::new(1, 1, &rngs, ()));
/// let loss = |x: Array, linear: Linear| linear.call(&x).sum();
/// let gradient = nnx::grad(loss).wrt(DiffState::new(1, Filter::path_contains("bias")));
/// assert_eq!(gradient.call((x.clone(), linear.clone())).array("bias")?.to_vec::<f32>(), [1.0]);
///
/// let loss = |a: Linear, b: Linear, x: Array| (a.call(&x) + 2.0 * b.call(&x)).sum();
/// let both = DiffState::new(0, Param).and(1, Param);
/// let gradient = nnx::grad(loss).wrt(both).call((linear, other, x));
/// assert_eq!(gradient.below("0").array("bias")?.to_vec::<f32>(), [1.0]);
/// assert_eq!(gradient.below("1").array("bias")?.to_vec::<f32>(), [2.0]);
/// # Ok::<(), nnx::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiffState {
    parts: Vec<(usize, Filter)>,
}

impl DiffState {
    /// What `filter` selects of argument `argnum`.
    pub fn new(argnum: usize, filter: impl Into<Filter>) -> Self {
        DiffState {
            parts: vec![(argnum, filter.into())],
        }
    }

    /// That, and what `filter` selects of argument `argnum`. Paths of the gradient begin with the numbers of arguments then:
    /// [`State::below`] gives what belongs to one.
    #[must_use]
    pub fn and(mut self, argnum: usize, filter: impl Into<Filter>) -> Self {
        self.parts.push((argnum, filter.into()));
        self
    }

    /// What is selected of arguments, and the paths in the gradient.
    fn chosen(&self, operation: &str, arguments: &[Tree<Array>]) -> Vec<(Path, Located)> {
        let mut chosen = Vec::new();
        for (argnum, filter) in &self.parts {
            let Some(argument) = arguments.get(*argnum) else {
                raise(
                    Error::parameter(format!(
                        "there is no argument {argnum}: there are {}",
                        arguments.len()
                    ))
                    .in_operation(operation),
                );
            };
            let first = arguments[..*argnum]
                .iter()
                .map(|argument| argument.leaves().len())
                .sum();
            let selected = entries(argument, first)
                .into_iter()
                .filter(|located| filter.selects(&located.path, &located.entry));
            chosen.extend(selected.map(|located| {
                let number = (self.parts.len() > 1).then(|| Key::from(*argnum));
                let path = number.into_iter().chain(located.path.iter().cloned());
                (path.collect(), located)
            }));
        }
        chosen
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
    let chosen = wrt.chosen(operation, tree.children());
    for (path, located) in &chosen {
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
                .at_path(path.to_string()),
            );
        }
    }
    let places: Vec<usize> = chosen
        .iter()
        .flat_map(|(_, located)| located.leaves.clone())
        .collect();
    let varied: Vec<Array> = places.iter().map(|&place| leaves[place].clone()).collect();
    let body = |varied: Vec<Array>| -> (Array, (Returned, Changes)) {
        let mut all = leaves.clone();
        for (&place, array) in places.iter().zip(varied) {
            all[place] = array;
        }
        let (value, aux, changes) = inside(&treedef, all, f);
        if value.ndim() > 0 || !value.dtype().is_float() {
            raise(
                Error::shape(format!(
                    "a real scalar result is needed, and the function gives {}",
                    value.aval()
                ))
                .in_operation(operation)
                .note("reduce it with `.sum()` or `.mean()`"),
            );
        }
        (value, (aux, changes))
    };
    let ((value, (aux, changes)), gradients) = jaxide::value_and_grad_with_aux_of(&body, (varied,));
    changes.apply(&met);
    let aux: Aux = returned(aux, &met);
    let mut gradients = gradients.into_iter();
    let mut state = State::default();
    for (path, located) in chosen {
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
        state.entries.insert(path, entry);
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
            /// Where the user made it.
            place: &'static Location<'static>,
            callable: std::sync::Arc<Args::Callable<$out>>,
        }

        impl<Args: ArgList $(, $aux: Pytree<Array> + 'static)?> $ty<Args $(, $aux)?> {
            fn made(
                f: std::sync::Arc<dyn Fn(Args) -> $loss + Send + Sync>,
                wrt: DiffState,
                place: &'static Location<'static>,
            ) -> Self {
                let (shared, by) = (f.clone(), wrt.clone());
                let callable = Args::callable(move |args| {
                    let _call = call::made_at(place);
                    let $result = differentiate(stringify!($name), &|args| { let $raw = shared(args); $pair }, &by, &args);
                    $give
                });
                $ty { f, wrt, place, callable }
            }

            /// The same function, differentiated by something else: a filter for the first argument, or a [`DiffState`].
            #[must_use]
            pub fn wrt(self, wrt: impl Into<DiffState>) -> Self {
                Self::made(self.f, wrt.into(), self.place)
            }

            /// Calls it with the tuple of its arguments.
            ///
            /// # Panics
            /// When the value is no scalar, or what it is differentiated by is not made of numbers with a point.
            #[track_caller]
            pub fn call(&self, args: Args) -> $out {
                let _call = call::here();
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
        #[track_caller]
        pub fn $name<F, Args $(, $aux)?>(f: F) -> $ty<Args $(, $aux)?>
        where
            F: Function<Args, $loss> + Send + Sync + 'static,
            Args: ArgList,
            $($aux: Pytree<Array> + 'static,)?
        {
            let shared = std::sync::Arc::new(move |args| f.apply(args));
            $ty::made(shared, DiffState::default(), Location::caller())
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
            let _call = call::here();
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
