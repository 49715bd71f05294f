//! Which values of a checkpointed function may be kept for the backward pass.

use crate::jaxpr::MemoArgs;
use crate::prims::{Name, Opaque, Prim, PyType, PyValue};

/// A policy of `checkpoint`. Results and gradients are the same under any; time and memory are not.
#[derive(Clone, Debug, PartialEq)]
pub enum Policy {
    /// Nothing is kept: everything is computed again.
    NothingSaveable,
    /// Everything may be kept, as without `checkpoint`.
    EverythingSaveable,
    /// Products and convolutions.
    DotsSaveable,
    /// Products without batch axes.
    DotsWithNoBatchDimsSaveable,
    /// Values that `checkpoint_name` gave one of these names.
    SaveOnlyTheseNames(Vec<Name>),
    /// Values with a name, except these.
    SaveAnyNamesButThese(Vec<Name>),
    /// Everything, except values with one of these names.
    SaveAnythingExceptTheseNames(Vec<Name>),
    /// What either of two policies keeps.
    SaveFromBothPolicies(Box<Policy>, Box<Policy>),
}

const ONLY: &str = "save_only_these_names";
const ALL_BUT: &str = "save_any_names_but_these";
const EXCEPT: &str = "save_anything_except_these_names";
const BOTH: &str = "save_from_both_policies";

impl Policy {
    /// Keeps values that `checkpoint_name` gave one of these names.
    pub fn save_only_these_names<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        Policy::SaveOnlyTheseNames(names.into_iter().map(Name::new).collect())
    }

    /// Keeps values with a name, except these.
    pub fn save_any_names_but_these<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        Policy::SaveAnyNamesButThese(names.into_iter().map(Name::new).collect())
    }

    /// Keeps everything, except values with one of these names.
    pub fn save_anything_except_these_names<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        Policy::SaveAnythingExceptTheseNames(names.into_iter().map(Name::new).collect())
    }

    /// Keeps what either of two policies keeps.
    #[must_use]
    pub fn or(self, other: Policy) -> Self {
        Policy::SaveFromBothPolicies(Box::new(self), Box::new(other))
    }

    /// Whether the results of `prim` may be kept.
    pub fn saves(&self, prim: &Prim) -> bool {
        let name = if let Prim::PlaceName(named) = prim {
            Some(&named.name)
        } else {
            None
        };
        match self {
            Policy::NothingSaveable => false,
            Policy::EverythingSaveable => true,
            Policy::DotsSaveable => {
                matches!(prim, Prim::DotGeneral(_) | Prim::ConvGeneralDilated(_))
            }
            Policy::DotsWithNoBatchDimsSaveable => {
                if let Prim::DotGeneral(dot) = prim {
                    dot.dimension_numbers.lhs_batch.is_empty()
                } else {
                    false
                }
            }
            Policy::SaveOnlyTheseNames(names) => name.is_some_and(|name| names.contains(name)),
            Policy::SaveAnyNamesButThese(names) => name.is_some_and(|name| !names.contains(name)),
            Policy::SaveAnythingExceptTheseNames(names) => {
                name.is_none_or(|name| !names.contains(name))
            }
            Policy::SaveFromBothPolicies(a, b) => a.saves(prim) || b.saves(prim),
        }
    }

    /// The policy a parameter stands for. Function reprs are known by the function's name; a function whose
    /// arguments the text does not show counts as [`Policy::NothingSaveable`].
    pub fn read(text: &Opaque) -> Policy {
        match &text.0 {
            PyValue::Call(call) => {
                let names = || call.args.iter().filter_map(read_name).collect();
                match (call.name.as_str(), call.args.as_slice()) {
                    (ONLY, _) => Policy::SaveOnlyTheseNames(names()),
                    (ALL_BUT, _) => Policy::SaveAnyNamesButThese(names()),
                    (EXCEPT, _) => Policy::SaveAnythingExceptTheseNames(names()),
                    (BOTH, [a, b]) => {
                        let read = |arg: &PyValue| Box::new(Policy::read(&Opaque(arg.clone())));
                        Policy::SaveFromBothPolicies(read(a), read(b))
                    }
                    _ => Policy::NothingSaveable,
                }
            }
            other => {
                let text = other.to_string();
                let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                words
                    .find_map(|word| match word {
                        "everything_saveable" => Some(Policy::EverythingSaveable),
                        "dots_saveable" | "checkpoint_dots" => Some(Policy::DotsSaveable),
                        "dots_with_no_batch_dims_saveable" => {
                            Some(Policy::DotsWithNoBatchDimsSaveable)
                        }
                        _ => None,
                    })
                    .unwrap_or(Policy::NothingSaveable)
            }
        }
    }

    /// The parameter that stands for the policy.
    pub fn write(&self) -> Opaque {
        let call = |name: &str, args: Vec<PyValue>| PyValue::call(name, args, Vec::new());
        let names = |names: &[Name]| names.iter().map(PyType::to_py).collect();
        Opaque(match self {
            Policy::NothingSaveable => PyValue::Word("<nothing_saveable>".to_owned()),
            Policy::EverythingSaveable => PyValue::Word("<everything_saveable>".to_owned()),
            Policy::DotsSaveable => PyValue::Word("<dots_saveable>".to_owned()),
            Policy::DotsWithNoBatchDimsSaveable => {
                PyValue::Word("<dots_with_no_batch_dims_saveable>".to_owned())
            }
            Policy::SaveOnlyTheseNames(only) => call(ONLY, names(only)),
            Policy::SaveAnyNamesButThese(not) => call(ALL_BUT, names(not)),
            Policy::SaveAnythingExceptTheseNames(not) => call(EXCEPT, names(not)),
            Policy::SaveFromBothPolicies(a, b) => call(BOTH, vec![a.write().0, b.write().0]),
        })
    }

    /// The policy as memo arguments: its text.
    pub(super) fn memo_args(&self, args: &mut MemoArgs) {
        args.extend(self.write().0.to_string().bytes().map(i64::from));
    }
}

fn read_name(value: &PyValue) -> Option<Name> {
    match value {
        PyValue::Str(text) | PyValue::Word(text) => Some(Name::new(text)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(policy: Policy) {
        assert_eq!(Policy::read(&policy.write()), policy);
    }

    #[test]
    fn policies_are_read_as_they_are_written() {
        check(Policy::NothingSaveable);
        check(Policy::DotsWithNoBatchDimsSaveable);
        check(Policy::save_anything_except_these_names(["a"]));
        check(Policy::SaveFromBothPolicies(
            Box::new(Policy::DotsSaveable),
            Box::new(Policy::SaveOnlyTheseNames(vec![
                Name::new("a"),
                Name::new("b c"),
            ])),
        ));
    }

    #[test]
    fn function_reprs_are_known_by_name() {
        let text = Opaque(PyValue::Opaque(
            "<function everything_saveable at 0xXXXXXXXXXXXX>".to_owned(),
        ));
        assert_eq!(Policy::read(&text), Policy::EverythingSaveable);
    }
}
