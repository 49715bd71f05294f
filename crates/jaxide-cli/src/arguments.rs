//! Reading of values on the command line.

use std::str::FromStr;

use lexopt::ValueExt;

use crate::failure::Failure;

/// The value of an option, which must be there and make sense.
pub(crate) fn value<T: FromStr>(arguments: &mut lexopt::Parser) -> Result<T, Failure>
where
    T::Err: Into<Box<dyn std::error::Error + Send + Sync + 'static>>,
{
    Ok(arguments.value()?.parse()?)
}
