//! Composable function transformations and a native CPU JIT.
#![forbid(unsafe_code)]
