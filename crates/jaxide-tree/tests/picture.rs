//! The picture in the book is the one that the example draws.

#[path = "../examples/picture.rs"]
#[allow(dead_code)]
mod picture;

#[test]
fn the_picture_is_up_to_date() {
    let committed = include_str!("../../../docs/pytrees.svg");
    assert!(
        picture::picture() == committed,
        "run `cargo run -p jaxide-tree --example picture > docs/pytrees.svg`"
    );
}
