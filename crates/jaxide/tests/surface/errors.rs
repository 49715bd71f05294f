//! Errors that `?` takes along.

use jaxide::prelude::*;
use jaxide::tree::axes::AxesError;
use jaxide::{ErrorKind, tree};

#[test]
fn errors_of_trees_and_files_become_errors_of_this_crate() {
    fn trees() -> Result<()> {
        tree::map2(
            |x: &Array, y: &Array| x + y,
            &vec![Array::from(1)],
            &Vec::<Array>::new(),
        )?;
        Ok(())
    }
    let error = trees().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Structure);
    assert_eq!(
        error.message(),
        "different lengths of list at tree: expected 1, got 0"
    );

    fn nested() -> Result<()> {
        let (a, b) = (
            (Array::from(1), vec![Array::from(2)]),
            (Array::from(1), Vec::<Array>::new()),
        );
        tree::map2(|x: &Array, y: &Array| x + y, &a, &b)?;
        Ok(())
    }
    assert_eq!(nested().unwrap_err().path(), Some("[1]"));

    fn files() -> Result<Vec<u8>> {
        Ok(std::fs::read("there/is/no/such/file")?)
    }
    let error = files().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.message().contains("No such file"), "{error}");

    fn axes() -> Result<()> {
        Err(AxesError::NothingMapped)?
    }
    assert_eq!(axes().unwrap_err().kind(), ErrorKind::Structure);
}

#[test]
fn errors_become_errors_of_any_kind() {
    fn main() -> std::result::Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let sum = tree::map2(
            |x: &Array, y: &Array| x + y,
            &Array::from(1),
            &Array::from(2),
        )?;
        assert_eq!(sum.item::<i32>(), 3);
        let f = jit(|x: Array| x + Array::from([1.0f32, 2.0]));
        f.try_call((Array::from([1.0f32, 2.0, 3.0]),))?;
        Ok(())
    }
    let error = main().unwrap_err();
    assert_eq!(
        error.downcast_ref::<Error>().and_then(Error::operation),
        Some("add")
    );
}
