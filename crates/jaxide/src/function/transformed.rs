//! What transformations give: a function that is called like one, and that other transformations take.

use std::ops::Deref;
use std::sync::Arc;

use jaxide_core::Result;

use super::{ArgList, Function};
use crate::trace::{UserPlace, called_by, caller, catch};

/// A function made by a transformation from another.
///
/// It is called like a function, `f(x, y)`; [`Transformed::try_call`] gives mistakes as errors. `Options` holds what
/// the transformation can be told: `vmap(f).in_axes(...)`. A clone is the same function: what one has compiled, the
/// other runs.
///
/// The type has a short name for each transformation, for fields of structs: [`Jitted`](crate::Jitted),
/// [`Grad`](crate::Grad), [`Vmapped`](crate::Vmapped), …; [`erased`](Transformed::erased) forgets which it was.
///
/// ```
/// use jaxide::{Array, grad, jit, vmap};
/// let f = |x: Array| x.sin() * &x;
/// let df = jit(vmap(grad(f)));
/// let y = df(Array::from([0.0f32, 1.0]));
/// assert_eq!(y.shape(), [2]);
/// ```
pub struct Transformed<Args: ArgList, Out: 'static, Options = ()> {
    core: Arc<Core<Args, Out, Options>>,
    callable: Arc<Args::Callable<Out>>,
}

/// The parts that all clones share.
pub(crate) struct Core<Args, Out, Options> {
    pub(crate) name: String,
    pub(crate) options: Options,
    /// Where the transformation was applied.
    place: UserPlace,
    call: Box<Call<Args, Out, Options>>,
}

impl<Args, Out, Options> Core<Args, Out, Options> {
    fn call(&self, args: Args) -> Out {
        let _restore = called_by(self.place);
        (self.call)(&self.options, args)
    }
}

type Call<Args, Out, Options> = dyn Fn(&Options, Args) -> Out + Send + Sync;

impl<Args: ArgList, Out: 'static, Options> Clone for Transformed<Args, Out, Options> {
    fn clone(&self) -> Self {
        Transformed {
            core: self.core.clone(),
            callable: self.callable.clone(),
        }
    }
}

impl<Args: ArgList, Out: 'static, Options: Send + Sync + 'static> Transformed<Args, Out, Options> {
    /// A function called `name` that applies `call`.
    #[track_caller]
    pub(crate) fn new(
        name: String,
        options: Options,
        call: impl Fn(&Options, Args) -> Out + Send + Sync + 'static,
    ) -> Self {
        Self::from_core(Core {
            name,
            options,
            place: UserPlace::of(caller()),
            call: Box::new(call),
        })
    }

    fn from_core(core: Core<Args, Out, Options>) -> Self {
        let core = Arc::new(core);
        let shared = core.clone();
        let callable = Args::callable(move |args| shared.call(args));
        Transformed { core, callable }
    }

    /// The same function with other options.
    pub(crate) fn configured(self, change: impl FnOnce(&mut Options)) -> Self
    where
        Options: Clone,
    {
        self.with(|_, options| change(options))
    }

    /// The same function with another name or other options.
    pub(crate) fn with(self, change: impl FnOnce(&mut String, &mut Options)) -> Self
    where
        Options: Clone,
    {
        let Transformed { core, callable } = self;
        drop(callable);
        match Arc::try_unwrap(core) {
            Ok(mut core) => {
                change(&mut core.name, &mut core.options);
                Self::from_core(core)
            }
            Err(shared) => {
                let (mut name, mut options) = (shared.name.clone(), shared.options.clone());
                change(&mut name, &mut options);
                Self::from_core(Core {
                    name,
                    options,
                    place: shared.place,
                    call: Box::new(move |options, args| (shared.call)(options, args)),
                })
            }
        }
    }

    /// What the transformation was told.
    pub(crate) fn options(&self) -> &Options {
        &self.core.options
    }

    /// Calls the function with other options.
    pub(crate) fn apply_with(&self, options: &Options, args: Args) -> Out {
        (self.core.call)(options, args)
    }

    /// The name that `jit` equations show.
    pub fn name(&self) -> &str {
        &self.core.name
    }

    /// The same function without its options, whatever transformation made it: for a field that may hold any.
    ///
    /// ```
    /// use jaxide::{Array, Transformed, grad, jit, vmap};
    /// let all: Vec<Transformed<(Array,), Array>> = vec![
    ///     jit(|x: Array| x.sin()).erased(),
    ///     vmap(grad(|x: Array| x.sin())).erased(),
    /// ];
    /// let x = Array::from([0.0f32]);
    /// let values: Vec<f32> = all.iter().map(|f| f(x.clone()).to_vec::<f32>()[0]).collect();
    /// assert_eq!(values, [0.0, 1.0]);
    /// ```
    #[must_use]
    pub fn erased(&self) -> Transformed<Args, Out> {
        let core = self.core.clone();
        Transformed::from_core(Core {
            name: core.name.clone(),
            options: (),
            place: core.place,
            call: Box::new(move |(), args| core.call(args)),
        })
    }

    /// Calls the function and gives mistakes as errors.
    ///
    /// # Errors
    /// When arguments do not fit, a rule does not exist, or the function itself makes a mistake with arrays. Panics of
    /// other kinds go on.
    ///
    /// ```
    /// use jaxide::{Array, jit};
    /// let f = jit(|x: Array, y: Array| x + y);
    /// let error = f.try_call((Array::from([1.0f32, 2.0]), Array::from([1.0f32, 2.0, 3.0]))).unwrap_err();
    /// assert_eq!(error.operation(), Some("add"));
    /// ```
    pub fn try_call(&self, args: Args) -> Result<Out> {
        catch(|| self.core.call(args))
    }
}

impl<Args: ArgList, Out: 'static, Options> Deref for Transformed<Args, Out, Options> {
    type Target = Args::Callable<Out>;

    fn deref(&self) -> &Self::Target {
        &self.callable
    }
}

impl<Args: ArgList, Out: 'static, Options> Function<Args, Out> for Transformed<Args, Out, Options>
where
    Options: Send + Sync + 'static,
{
    fn apply(&self, args: Args) -> Out {
        self.core.call(args)
    }

    fn name(&self) -> String {
        self.core.name.clone()
    }
}
