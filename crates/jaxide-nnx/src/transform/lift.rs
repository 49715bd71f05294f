//! Arguments as leaves, and changes of their variables as results.

use jaxide::tree::{self, Pytree, Static, StructureError, TreeDef, Unflatten, Visitor};
use jaxide::{Array, Error, raise};

use crate::graph::{Met, Session};
use crate::variable::{Form, Value};

/// Arguments taken apart, and the variables in them.
pub(super) struct FlatArgs {
    pub(super) leaves: Vec<Array>,
    pub(super) treedef: TreeDef,
    pub(super) met: Vec<Met>,
}

impl FlatArgs {
    pub(super) fn of<Args: Pytree<Array>>(args: &Args) -> Self {
        let ((leaves, treedef), met) = Session::run(|| tree::flatten::<Array, Args>(args));
        FlatArgs {
            leaves,
            treedef,
            met,
        }
    }
}

/// Puts arguments together, and gives them with their variables.
#[track_caller]
pub(super) fn rebuilt<Args: Pytree<Array>>(
    treedef: &TreeDef,
    leaves: Vec<Array>,
) -> (Args, Vec<Met>) {
    let (args, met) = Session::run(|| treedef.unflatten(leaves));
    match args {
        Ok(args) => (args, met),
        Err(error) => raise(Error::from(error)),
    }
}

/// What variables hold after a function, of those that it changed.
#[derive(Clone)]
pub(super) struct Changes {
    forms: Static<Vec<(usize, Form)>>,
    values: Vec<Array>,
}

/// A result taken apart, in which variables of the arguments are references to them.
pub(super) type Returned = (Vec<Array>, Static<TreeDef>);

/// Puts a result together, whose variables are those of the caller's arguments where they were inside.
#[track_caller]
pub(super) fn returned<Out: Pytree<Array>>((leaves, treedef): Returned, met: &[Met]) -> Out {
    match Session::knowing(met, || treedef.0.unflatten(leaves)) {
        Ok(out) => out,
        Err(error) => raise(Error::from(error)),
    }
}

/// Runs a function of rebuilt arguments, and gives a value, the rest of its result, and what it changed.
#[track_caller]
pub(super) fn inside<Args: Pytree<Array>, Value, Out: Pytree<Array>>(
    treedef: &TreeDef,
    leaves: Vec<Array>,
    f: impl FnOnce(Args) -> (Value, Out),
) -> (Value, Returned, Changes) {
    let (args, met) = rebuilt(treedef, leaves);
    let versions: Vec<u64> = met.iter().map(|met| met.variable.version()).collect();
    let (value, out) = f(args);
    let (leaves, structure) = Session::knowing(&met, || tree::flatten::<Array, Out>(&out));
    let changed = met
        .iter()
        .zip(versions)
        .filter(|(met, version)| met.variable.version() != *version);
    let changes = Changes::of(changed.map(|(met, _)| met));
    (value, (leaves, Static(structure)), changes)
}

impl Changes {
    /// What these variables hold.
    pub(super) fn of<'m>(met: impl Iterator<Item = &'m Met>) -> Self {
        let (mut forms, mut values) = (Vec::new(), Vec::new());
        for Met {
            index, variable, ..
        } in met
        {
            let value = variable.value();
            forms.push((*index, value.form()));
            values.extend_from_slice(value.arrays());
        }
        Changes {
            forms: Static(forms),
            values,
        }
    }

    /// Gives the variables of the caller what they hold now.
    #[track_caller]
    pub(super) fn apply(self, met: &[Met]) {
        let mut arrays = self.values.into_iter();
        for (index, form) in self.forms.0 {
            let value = form.fill(&mut arrays);
            if let Some(met) = met.iter().find(|met| met.index == index) {
                set(met, value);
            }
        }
    }
}

/// Changes a variable of the caller, naming its path where it cannot be changed there.
#[track_caller]
pub(super) fn set(met: &Met, value: Value) {
    if let Err(error) = met.variable.try_set(value) {
        raise(error.at_path(met.path.to_string()));
    }
}

type Parts = (Static<Vec<(usize, Form)>>, Vec<Array>);

impl Pytree<Array> for Changes {
    fn visit<'a, V: Visitor<'a, Array>>(&'a self, visitor: &mut V)
    where
        Array: 'a,
    {
        visitor.tuple(2);
        Pytree::<Array>::visit(&self.forms, visitor);
        self.values.visit(visitor);
    }

    fn unflatten<I: Iterator<Item = Array>>(
        from: &mut Unflatten<'_, I>,
    ) -> Result<Self, StructureError> {
        let (forms, values) = Parts::unflatten(from)?;
        Ok(Changes { forms, values })
    }
}
