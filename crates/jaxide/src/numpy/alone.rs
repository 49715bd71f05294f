//! Values that may be given alone where a struct of optional arguments is asked for.

/// `From` of the values of some types: the struct in which only `method` is called, with the value.
macro_rules! alone {
    ($name:ident, $method:ident: integers) => {
        $crate::numpy::alone::alone!($name, $method: i8 i16 i32 i64 isize u8 u16 u32 u64 usize);
    };
    ($name:ident, $method:ident: $($ty:ty)*) => { $(
        impl From<$ty> for $name {
            fn from(value: $ty) -> Self {
                Self::new().$method(value)
            }
        }
    )* };
}

pub(crate) use alone;
