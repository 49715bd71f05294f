//! What can be wrong with axes.

use std::error::Error;
use std::fmt::{self, Display};

use crate::{KeyPath, StructureError};

/// Axes that do not fit the trees they are for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AxesError {
    /// The axes are not a prefix of the tree.
    Structure {
        /// What the axes are: `vmap in_axes`.
        subject: String,
        /// Every place where they do not fit.
        errors: Vec<StructureError>,
    },
    /// There are not as many entries as arguments.
    Count {
        /// What the axes are.
        subject: String,
        /// The number of arguments.
        expected: usize,
        /// The number of entries.
        got: usize,
    },
    /// The axes of several arguments are neither one axis nor a tuple.
    NotATuple {
        /// What the axes are.
        subject: String,
        /// The container that they are.
        got: String,
    },
    /// Every axis is `None`.
    NothingMapped,
    /// An array has no such axis.
    Rank {
        /// The axis.
        axis: i32,
        /// The smallest rank that has it.
        expected_rank: usize,
        /// The shape of the array.
        shape: Vec<usize>,
        /// The path of the array.
        place: KeyPath,
    },
    /// The mapped axes have different sizes.
    InconsistentSizes {
        /// Each size, with the paths of the arrays that have it.
        sizes: Vec<(usize, Vec<KeyPath>)>,
    },
    /// An output depends on the mapped axis, but is to have none.
    OutAxesNone {
        /// The path of the output.
        place: KeyPath,
    },
    /// Several arrays have something wrong each.
    Several(Vec<AxesError>),
}

impl AxesError {
    /// One error of all, or none if there are none.
    ///
    /// # Errors
    ///
    /// The error, if there is one; [`AxesError::Several`], if there are more.
    pub fn all(mut errors: Vec<AxesError>) -> Result<(), AxesError> {
        match errors.len() {
            0 => Ok(()),
            1 => Err(errors.remove(0)),
            _ => Err(AxesError::Several(errors)),
        }
    }
}

impl Display for AxesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AxesError::Structure { subject, errors } => {
                write!(
                    f,
                    "{subject} must be a tree prefix of the corresponding value; {} mismatch{} found:",
                    errors.len(),
                    if errors.len() == 1 { "" } else { "es" }
                )?;
                errors
                    .iter()
                    .try_for_each(|error| write!(f, "\n  {}", error.clone().about(subject)))
            }
            AxesError::Count {
                subject,
                expected,
                got,
            } => write!(
                f,
                "{subject} must be one axis, None, or a tuple with an entry for each argument: \
                 there are {got} entries for {expected} arguments"
            ),
            AxesError::NotATuple { subject, got } => write!(
                f,
                "{subject} must be one axis, None, or a tuple with an entry for each argument, not a {got}"
            ),
            AxesError::NothingMapped => {
                f.write_str("nothing is mapped: every axis is None, and no size is given")
            }
            AxesError::Rank {
                axis,
                expected_rank,
                shape,
                place,
            } => write!(
                f,
                "axis {axis} of the array{place} of shape {shape:?} does not exist: its rank must be at least \
                 {expected_rank}, but is {}",
                shape.len()
            ),
            AxesError::InconsistentSizes { sizes } => {
                f.write_str("the mapped axes have different sizes:")?;
                for (size, places) in sizes {
                    let places = places.iter().map(|place| match place.to_string() {
                        root if root.is_empty() => "the value".into(),
                        place => place,
                    });
                    write!(
                        f,
                        "\n  size {size} at {}",
                        places.collect::<Vec<_>>().join(", ")
                    )?;
                }
                Ok(())
            }
            AxesError::Several(errors) => {
                write!(f, "{} arrays do not fit their axes:", errors.len())?;
                errors.iter().try_for_each(|error| write!(f, "\n  {error}"))
            }
            AxesError::OutAxesNone { place } => write!(
                f,
                "the output{place} is batched, but its axis in out_axes is None: give it an axis"
            ),
        }
    }
}

impl Error for AxesError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            AxesError::Structure { errors, .. } => errors.first().map(|error| error as _),
            _ => None,
        }
    }
}
