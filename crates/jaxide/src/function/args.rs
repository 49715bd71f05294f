//! Argument lists by arity.

use jaxide_tree::Pytree;

use crate::array::Array;

/// A list of arguments: a tuple of pytrees of arrays.
pub trait ArgList: Pytree<Array> + 'static {
    /// The type of functions of these arguments.
    type Callable<Out: 'static>: ?Sized;

    /// A boxed function of these arguments from one of their tuple.
    fn callable<Out: 'static>(
        f: impl Fn(Self) -> Out + Send + Sync + 'static,
    ) -> Box<Self::Callable<Out>>;
}

/// What transformations take: a function from an argument list to a result.
///
/// Implemented for `Fn(A, B, ...) -> Out` and for [`Transformed`](super::Transformed).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function of `{Args}`",
    note = "a closure needs the types of its arguments: `|x: Array| ...`",
    note = "arguments must be pytrees of arrays: `Array`, tuples, `Vec`, maps, `#[derive(Pytree)]`"
)]
pub trait Function<Args, Out>: Send + Sync + 'static {
    /// Calls the function.
    fn apply(&self, args: Args) -> Out;

    /// The name that `jit` equations show: of a function its own, of a closure `<lambda>`.
    fn name(&self) -> String {
        short_name(std::any::type_name::<Self>())
    }
}

/// The last part of a type's path, closures as `<lambda>`.
pub(crate) fn short_name(path: &str) -> String {
    if path.contains("{{closure}}") {
        return "<lambda>".to_owned();
    }
    let base = path.split('<').next().unwrap_or(path);
    base.rsplit("::").next().unwrap_or(base).to_owned()
}

macro_rules! arities {
    ($(($($arg:ident)*))*) => { $(
        impl<$($arg: Pytree<Array> + 'static),*> ArgList for ($($arg,)*) {
            type Callable<Out: 'static> = dyn Fn($($arg),*) -> Out + Send + Sync;

            #[allow(non_snake_case)]
            fn callable<Out: 'static>(f: impl Fn(Self) -> Out + Send + Sync + 'static) -> Box<Self::Callable<Out>> {
                Box::new(move |$($arg),*| f(($($arg,)*)))
            }
        }

        impl<Func, Out, $($arg),*> Function<($($arg,)*), Out> for Func
        where
            Func: Fn($($arg),*) -> Out + Send + Sync + 'static,
        {
            #[allow(non_snake_case)]
            fn apply(&self, ($($arg,)*): ($($arg,)*)) -> Out {
                self($($arg),*)
            }
        }
    )* };
}

arities! {
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

/// A function of the tuple of its arguments.
pub(crate) struct OfTuple<G>(pub(crate) G);

impl<G, Args, Out> Function<Args, Out> for OfTuple<G>
where
    G: Fn(Args) -> Out + Send + Sync + 'static,
{
    fn apply(&self, args: Args) -> Out {
        (self.0)(args)
    }
}
