//! Sub-jaxprs as parameters.

use super::{ParamType, ParamValue, PyType, PyValue, expected, field};
use crate::jaxpr::ClosedJaxpr;

impl ParamType for ClosedJaxpr {
    const KIND: &'static str = "jaxpr";

    fn to_value(&self) -> ParamValue {
        ParamValue::Jaxpr(self.clone())
    }

    fn from_value(value: &ParamValue) -> Result<Self, String> {
        match value {
            ParamValue::Jaxpr(jaxpr) => Ok(jaxpr.clone()),
            ParamValue::Py(other) => expected("a jaxpr", other),
            ParamValue::Jaxprs(_) | ParamValue::NamedJaxprs { .. } => {
                Err("one jaxpr is expected".to_owned())
            }
        }
    }

    fn visit<'a>(&'a self, visitor: &mut dyn FnMut(&'a ClosedJaxpr)) {
        visitor(self);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut ClosedJaxpr)) {
        visitor(self);
    }
}

/// A jaxpr or `None`: the combiner of a scatter.
#[derive(Clone, Debug, Default, PartialEq, Hash)]
pub struct OptionalJaxpr(pub Option<ClosedJaxpr>);

impl ParamType for OptionalJaxpr {
    const KIND: &'static str = "jaxpr or None";

    fn to_value(&self) -> ParamValue {
        self.0
            .as_ref()
            .map_or(ParamValue::Py(PyValue::None), ParamType::to_value)
    }

    fn from_value(value: &ParamValue) -> Result<Self, String> {
        match value {
            ParamValue::Py(PyValue::None) => Ok(OptionalJaxpr(None)),
            other => ClosedJaxpr::from_value(other).map(|jaxpr| OptionalJaxpr(Some(jaxpr))),
        }
    }

    fn visit<'a>(&'a self, visitor: &mut dyn FnMut(&'a ClosedJaxpr)) {
        self.0.iter().for_each(visitor);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut ClosedJaxpr)) {
        self.0.iter_mut().for_each(visitor);
    }
}

/// The branches of a `cond`, by index.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Branches(pub Vec<ClosedJaxpr>);

impl ParamType for Branches {
    const KIND: &'static str = "(jaxpr ...)";

    fn to_value(&self) -> ParamValue {
        ParamValue::Jaxprs(self.0.clone())
    }

    fn from_value(value: &ParamValue) -> Result<Self, String> {
        match value {
            ParamValue::Jaxprs(jaxprs) => Ok(Branches(jaxprs.clone())),
            ParamValue::Jaxpr(_) | ParamValue::NamedJaxprs { .. } => {
                Err("a tuple of jaxprs is expected".to_owned())
            }
            ParamValue::Py(PyValue::Tuple(items)) if items.is_empty() => Ok(Branches(Vec::new())),
            ParamValue::Py(other) => expected("a tuple of jaxprs", other),
        }
    }

    fn visit<'a>(&'a self, visitor: &mut dyn FnMut(&'a ClosedJaxpr)) {
        self.0.iter().for_each(visitor);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut ClosedJaxpr)) {
        self.0.iter_mut().for_each(visitor);
    }
}

/// The four functions of a `custom_linear_solve`.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct LinearSolveJaxprs {
    /// The linear map.
    pub matvec: ClosedJaxpr,
    /// Its transpose.
    pub vecmat: Option<ClosedJaxpr>,
    /// Solves with the map.
    pub solve: ClosedJaxpr,
    /// Solves with the transpose.
    pub transpose_solve: Option<ClosedJaxpr>,
}

const LINEAR_SOLVE: &str = "_LinearSolveTuple";

impl ParamType for LinearSolveJaxprs {
    const KIND: &'static str = "_LinearSolveTuple of jaxprs";

    fn to_value(&self) -> ParamValue {
        ParamValue::NamedJaxprs {
            name: LINEAR_SOLVE.to_owned(),
            fields: vec![
                ("matvec".to_owned(), Some(self.matvec.clone())),
                ("vecmat".to_owned(), self.vecmat.clone()),
                ("solve".to_owned(), Some(self.solve.clone())),
                ("transpose_solve".to_owned(), self.transpose_solve.clone()),
            ],
        }
    }

    fn from_value(value: &ParamValue) -> Result<Self, String> {
        let ParamValue::NamedJaxprs { name, fields } = value else {
            return Err(format!("{LINEAR_SOLVE} is expected"));
        };
        let get = |key: &str| {
            fields
                .iter()
                .find(|(name, _)| name == key)
                .and_then(|(_, jaxpr)| jaxpr.clone())
        };
        let need = |key: &str| get(key).ok_or_else(|| format!("{name} needs a jaxpr `{key}`"));
        Ok(LinearSolveJaxprs {
            matvec: need("matvec")?,
            vecmat: get("vecmat"),
            solve: need("solve")?,
            transpose_solve: get("transpose_solve"),
        })
    }

    fn visit<'a>(&'a self, visitor: &mut dyn FnMut(&'a ClosedJaxpr)) {
        visitor(&self.matvec);
        self.vecmat.iter().for_each(&mut *visitor);
        visitor(&self.solve);
        self.transpose_solve.iter().for_each(visitor);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut ClosedJaxpr)) {
        visitor(&mut self.matvec);
        self.vecmat.iter_mut().for_each(&mut *visitor);
        visitor(&mut self.solve);
        self.transpose_solve.iter_mut().for_each(visitor);
    }
}

/// How many constants each function of a `custom_linear_solve` takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LinearSolveLengths {
    /// Of the linear map.
    pub matvec: usize,
    /// Of its transpose.
    pub vecmat: usize,
    /// Of the solver.
    pub solve: usize,
    /// Of the transposed solver.
    pub transpose_solve: usize,
}

impl PyType for LinearSolveLengths {
    const KIND: &'static str = "_LinearSolveTuple of int";

    fn to_py(&self) -> PyValue {
        let fields = [
            ("matvec", self.matvec),
            ("vecmat", self.vecmat),
            ("solve", self.solve),
            ("transpose_solve", self.transpose_solve),
        ];
        let fields = fields
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.to_py()));
        PyValue::call(LINEAR_SOLVE, Vec::new(), fields.collect())
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        let PyValue::Call(call) = value else {
            return expected(LINEAR_SOLVE, value);
        };
        let get =
            |key: &str| Option::<usize>::from_py(field(call, key)?).map(Option::unwrap_or_default);
        Ok(LinearSolveLengths {
            matvec: get("matvec")?,
            vecmat: get("vecmat")?,
            solve: get("solve")?,
            transpose_solve: get("transpose_solve")?,
        })
    }
}
