//! Programs are printed, and read again as what they were.

use jaxide_core::jaxpr::text_compare::normalise;
use jaxide_core::parse;
use jaxide_testing::laws::legal;
use jaxide_testing::{Profile, config, programs};
use proptest::prelude::*;

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn texts_read_back(program in programs(Profile::Any, 10)) {
        let printed = program.jaxpr.to_string();
        let read = parse(&printed)
            .map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(&read.to_string(), &printed);
        super::holds(legal(&read))?;
        // What nothing uses is `_` from now on.
        prop_assert_eq!(&parse(&read.to_string()).unwrap(), &read);
        prop_assert_eq!(program.jaxpr.to_string(), printed.clone());
        prop_assert_eq!(normalise(&printed), normalise(&normalise(&printed)));
    }
}
