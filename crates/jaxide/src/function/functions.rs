//! What is a function: closures, transformed functions, and pointers to them.

use std::sync::Arc;

use super::{ArgList, Transformed};

/// What transformations take: a function from an argument list to a result.
///
/// Implemented for `Fn(A, B, ...) -> Out` of up to eight arguments, so for closures, function items and pointers, `&F`,
/// `Box<dyn Fn..>` and `&dyn Fn..`; for [`Transformed`], `&Transformed` and `Box<Transformed>`; and for `Arc` of all of
/// these, as `Arc<dyn Fn..>`.
///
/// A transformation that gives a function keeps the one that it takes, which must be `Send + Sync + 'static` for it. What
/// calls its function at once ([`jvp`](crate::jvp()), [`grad_of`](crate::grad_of), …) takes any.
///
/// ```
/// use std::sync::Arc;
/// use jaxide::{Array, Function, grad, jit, jvp, vmap};
///
/// let f: Arc<dyn Fn(Array) -> Array + Send + Sync> = Arc::new(|x: Array| x.sin());
/// let slope = Arc::new(jit(grad(f.clone())));
/// let slopes = vmap(slope.clone());
/// let (x, dx) = (Array::from(0.0f32), Array::from(1.0f32));
/// assert_eq!(jvp(&f, x.clone(), dx).1.item::<f32>(), slope(x).item::<f32>());
/// assert_eq!(slopes.apply((Array::from([0.0f32, 0.0]),)).to_vec::<f32>(), [1.0, 1.0]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function of `{Args}`",
    note = "a closure needs the types of its arguments: `|x: Array| ...`",
    note = "arguments must be pytrees of arrays: `Array`, tuples, `Vec`, maps, `#[derive(Pytree)]`"
)]
pub trait Function<Args, Out> {
    /// Calls the function.
    fn apply(&self, args: Args) -> Out;

    /// The name that `jit` equations show: of a function its own, of a closure `<lambda>`.
    fn name(&self) -> String {
        short_name(std::any::type_name::<Self>())
    }
}

/// The last part of a type's path, closures as `<lambda>`.
pub(crate) fn short_name(path: &str) -> String {
    if path.contains("{{closure}}") || path.contains("dyn ") || path.contains("fn(") {
        return "<lambda>".to_owned();
    }
    let base = path.split('<').next().unwrap_or(path);
    let name = base.rsplit("::").next().unwrap_or(base);
    name.trim_start_matches('&').to_owned()
}

macro_rules! functions {
    ($(($($arg:ident)*))*) => { $(
        impl<Func, Out, $($arg),*> Function<($($arg,)*), Out> for Func
        where
            Func: Fn($($arg),*) -> Out + ?Sized,
        {
            #[allow(non_snake_case)]
            fn apply(&self, ($($arg,)*): ($($arg,)*)) -> Out {
                self($($arg),*)
            }
        }
    )* };
}

functions! {
    ()
    (A)
    (A B)
    (A B C)
    (A B C D)
    (A B C D E)
    (A B C D E F)
    (A B C D E F G)
    (A B C D E F G H)
}

/// Pointers to functions that are no `Fn` themselves, of which they take the name too.
macro_rules! pointers {
    ($([$($generics:tt)*] $pointer:ty;)*) => { $(
        impl<Args, Out, $($generics)*> Function<Args, Out> for $pointer {
            fn apply(&self, args: Args) -> Out {
                (**self).apply(args)
            }

            fn name(&self) -> String {
                Function::<Args, Out>::name(&**self)
            }
        }
    )* };
}

pointers! {
    [F: Function<Args, Out> + ?Sized] Arc<F>;
    [F: Function<Args, Out> + ?Sized] &Arc<F>;
}

/// The same of transformed functions.
macro_rules! pointers_to_transformed {
    ($($pointer:ty;)*) => { $(
        impl<Args, Out, Options> Function<Args, Out> for $pointer
        where
            Args: ArgList,
            Out: 'static,
            Options: Send + Sync + 'static,
        {
            fn apply(&self, args: Args) -> Out {
                (**self).apply(args)
            }

            fn name(&self) -> String {
                Function::<Args, Out>::name(&**self)
            }
        }
    )* };
}

pointers_to_transformed! {
    &Transformed<Args, Out, Options>;
    Box<Transformed<Args, Out, Options>>;
}

/// A function of the tuple of its arguments.
pub(crate) struct OfTuple<G>(pub(crate) G);

impl<G, Args, Out> Function<Args, Out> for OfTuple<G>
where
    G: Fn(Args) -> Out,
{
    fn apply(&self, args: Args) -> Out {
        (self.0)(args)
    }
}

/// A function of which only the type of its arguments and its result is known.
pub(crate) type Erased<Args, Out> = Arc<dyn Function<Args, Out> + Send + Sync>;
