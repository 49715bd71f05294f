//! Concrete arrays: a shape, an element type and row-major bytes.

use std::fmt;
use std::io::Read;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use bytemuck::{AnyBitPattern, NoUninit};
use half::{bf16, f16};
use num_complex::Complex;

use crate::aval::{Aval, Shape, byte_size, element_count};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::memory;
use crate::pages::{self, Pages};
use crate::scalar::Scalar;

/// Memory that holds an array's bytes; back ends bring their own (pooled, page-aligned, ...).
pub trait Storage: Send + Sync + 'static {
    /// The bytes, at an address that is aligned for the element type.
    fn bytes(&self) -> &[u8];

    /// The bytes, writable: called only when this storage has a single owner.
    fn bytes_mut(&mut self) -> &mut [u8];
}

impl<T: Element> Storage for Vec<T> {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self)
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(self)
    }
}

/// A Rust type that elements of an array have in memory.
pub trait Element:
    NoUninit + AnyBitPattern + Send + Sync + PartialEq + fmt::Debug + 'static
{
    /// The element type this Rust type holds.
    const DTYPE: DType;
}

macro_rules! elements {
    ($($ty:ty => $dtype:ident),* $(,)?) => { $(impl Element for $ty { const DTYPE: DType = DType::$dtype; })* };
}
elements! {
    i8 => I8, i16 => I16, i32 => I32, i64 => I64, u8 => U8, u16 => U16, u32 => U32, u64 => U64,
    f16 => F16, bf16 => BF16, f32 => F32, f64 => F64, Complex<f32> => C64, Complex<f64> => C128,
}

/// What a handle holds: three words, since lists of handles are moved about in each call of a program.
#[derive(Clone)]
enum Data {
    /// An array of rank 0.
    Scalar { words: [u64; 2], dtype: DType },
    /// An array that fills a piece of memory.
    Whole(Arc<Whole<dyn Storage>>),
    /// Bytes of another array under another shape.
    View(Arc<View>),
}

/// Memory with the array that is in it.
struct Whole<S: ?Sized> {
    shape: Shape,
    dtype: DType,
    storage: S,
}

struct View {
    shape: Shape,
    dtype: DType,
    of: Arc<Whole<dyn Storage>>,
}

/// Bytes of the largest scalar.
const SCALAR: usize = 16;

/// What an array is: two handles with equal identities are the same array.
///
/// Arrays of more than 16 bytes are the same while they share memory; smaller ones are the same when their bits are. An identity
/// of shared memory is good for as long as some handle keeps that memory.
///
/// ```
/// use jaxide_core::Tensor;
/// let small = |x: f32| Tensor::from_vec(&[2], vec![x, 2.0]);
/// assert_eq!(small(1.0)?.identity(), small(1.0)?.identity());
/// assert_ne!(small(1.0)?.identity(), small(3.0)?.identity());
/// let large = Tensor::from_vec(&[8], vec![0.0f32; 8])?;
/// assert_eq!(large.identity(), large.clone().identity());
/// assert_ne!(large.identity(), Tensor::from_vec(&[8], vec![0.0f32; 8])?.identity());
/// # Ok::<(), jaxide_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    shape: Shape,
    dtype: DType,
    data: Contents,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Contents {
    Bits([u64; 2]),
    Memory(usize),
}

/// An immutable, cheaply cloned array in row-major order.
///
/// `bool` elements are bytes 0 or 1; types of 2 or 4 bits take a byte each, sign-extended; 8-bit floats
/// are their bits; a random key is its `u32` words.
#[derive(Clone)]
pub struct Tensor(Data);

/// What several handles share is only read.
impl RefUnwindSafe for Tensor {}
/// As [`RefUnwindSafe`].
impl UnwindSafe for Tensor {}

impl Tensor {
    /// An array of `shape` from its elements in row-major order. Up to a megabyte of them is copied if it does not begin at a line of the
    /// cache (64 bytes), as a vector's memory seldom does: programs read it once and again, at two thirds of the speed otherwise. More stays
    /// where it is.
    ///
    /// # Errors
    /// When the number of elements is not the product of `shape`.
    ///
    /// ```
    /// use jaxide_core::Tensor;
    /// let t = Tensor::from_vec(&[2, 2], vec![1.0f32, 2.0, 3.0, 4.0])?;
    /// assert_eq!(t.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), jaxide_core::Error>(())
    /// ```
    pub fn from_vec<T: Element>(shape: &[usize], elements: Vec<T>) -> Result<Self> {
        let bytes: &[u8] = bytemuck::cast_slice(&elements);
        let moved = (Words::ALIGNMENT..=MOST_MOVED).contains(&bytes.len());
        if moved && bytes.as_ptr().align_offset(Words::ALIGNMENT) != 0 {
            return Self::from_bytes(shape, T::DTYPE, bytes);
        }
        Self::from_storage(shape, T::DTYPE, elements)
    }

    /// An array of `dtype` and `shape` whose row-major bytes `storage` holds.
    ///
    /// # Errors
    /// When the number of bytes is not what shape and dtype need.
    pub fn from_storage<S: Storage>(shape: &[usize], dtype: DType, storage: S) -> Result<Self> {
        let bytes = storage.bytes();
        let want = byte_size(shape, dtype)?;
        if bytes.len() != want {
            return Err(Error::shape(format!(
                "an array {} takes {want} bytes, and {} were given",
                Aval::new(dtype, shape),
                bytes.len()
            )));
        }
        if shape.is_empty() && want <= SCALAR {
            return Ok(Tensor::from_words(dtype, inline(bytes)));
        }
        let shape = Shape::from_slice(shape);
        Ok(Tensor(Data::Whole(Arc::new(Whole {
            shape,
            dtype,
            storage,
        }))))
    }

    /// A rank-0 array from the bytes of its element in memory, which may be fewer than those of two words.
    ///
    /// ```
    /// use jaxide_core::{DType, Tensor};
    /// assert_eq!(Tensor::from_words(DType::I16, [7, 0]), Tensor::scalar(7i16));
    /// ```
    #[inline]
    pub fn from_words(dtype: DType, words: [u64; 2]) -> Self {
        Tensor(Data::Scalar { words, dtype })
    }

    /// An array from raw bytes in row-major order, copied to aligned memory.
    ///
    /// # Errors
    /// When the number of bytes is not what shape and dtype need.
    pub fn from_bytes(shape: &[usize], dtype: DType, bytes: &[u8]) -> Result<Self> {
        Self::filled(shape, dtype, bytes.len(), |to| to.copy_from_slice(bytes))
    }

    /// An array of so many bytes in new memory, which is zero until `fill` writes it.
    fn filled(
        shape: &[usize],
        dtype: DType,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<Self> {
        if let Some(mut pages) = Pages::zeros(length) {
            fill(pages.bytes_mut());
            return Self::from_storage(shape, dtype, pages);
        }
        let mut words = Words::zeros(length);
        fill(words.bytes_mut());
        Self::from_storage(shape, dtype, words)
    }

    /// An array from raw bytes in row-major order that come from a file or a stream.
    ///
    /// Memory is [asked for](crate::memory) before the first byte is read, and filled as bytes arrive, so that a size
    /// which somebody only claims takes no memory.
    ///
    /// # Errors
    /// When there is no memory for the array, reading fails, or the bytes end early; bytes that follow are left.
    ///
    /// ```
    /// use jaxide_core::{DType, Tensor};
    /// let mut bytes: &[u8] = &[1, 0, 2, 0, 9];
    /// let read = Tensor::from_reader(&[2], DType::I16, &mut bytes)?;
    /// assert_eq!(read.to_vec::<i16>()?, [1, 2]);
    /// let error = Tensor::from_reader(&[2], DType::I16, &mut bytes).unwrap_err();
    /// assert_eq!(error.message(), "the data end after 1 of 4 bytes");
    /// # Ok::<(), jaxide_core::Error>(())
    /// ```
    pub fn from_reader(shape: &[usize], dtype: DType, reader: &mut impl Read) -> Result<Self> {
        let size = byte_size(shape, dtype)?;
        let ended = |end: usize| {
            let message = format!("the data end after {end} of {size} bytes");
            Error::new(ErrorKind::Io, message)
        };
        if size >= pages::LEAST {
            memory::check(size)?;
        }
        if let Some(mut pages) = Pages::zeros(size) {
            let got = fill(reader, pages.bytes_mut())?;
            return if got < size {
                Err(ended(got))
            } else {
                Self::from_storage(shape, dtype, pages)
            };
        }
        let mut words: Vec<u64> = memory::reserved(Words::room(size))?;
        let start = Words::start(&words, size);
        words.resize(start, 0);
        let mut part = [0u64; 4096];
        let mut read = 0;
        while read < size {
            let wanted = (size - read).min(size_of_val(&part));
            part[wanted.div_ceil(8) - 1] = 0;
            let bytes = &mut bytemuck::cast_slice_mut(&mut part)[..wanted];
            let got = fill(reader, bytes)?;
            if got < wanted {
                return Err(ended(read + got));
            }
            words.extend_from_slice(&part[..wanted.div_ceil(8)]);
            read += wanted;
        }
        let storage = Words {
            words,
            start,
            length: size,
        };
        Self::from_storage(shape, dtype, storage)
    }

    /// Truth values in row-major order.
    ///
    /// # Errors
    /// When the number of elements is not the product of `shape`.
    pub fn from_bools(shape: &[usize], elements: impl IntoIterator<Item = bool>) -> Result<Self> {
        let bytes: Vec<u8> = elements.into_iter().map(u8::from).collect();
        Self::from_storage(shape, DType::Bool, bytes)
    }

    /// A rank-0 array.
    pub fn scalar<T: Element>(value: T) -> Self {
        Tensor::from_words(T::DTYPE, words(value))
    }

    /// A rank-0 truth value.
    pub fn bool(value: bool) -> Self {
        Tensor::from_words(DType::Bool, words(u8::from(value)))
    }

    /// An array of `dtype` filled with one value, converted as a literal is (rounded to the dtype).
    ///
    /// # Errors
    /// When the array is too large to hold, or the scalar has no meaning in `dtype`.
    pub fn full(shape: &[usize], dtype: DType, value: Scalar) -> Result<Self> {
        if shape.is_empty() {
            return Ok(Tensor::from_words(dtype, value.to_words(dtype)?));
        }
        let element = value.to_bytes(dtype)?;
        let size = byte_size(shape, dtype)?;
        check_allocatable(size)?;
        Self::filled(shape, dtype, size, |bytes| {
            if element.iter().any(|&byte| byte != 0) {
                for chunk in bytes.chunks_exact_mut(element.len().max(1)) {
                    chunk.copy_from_slice(&element);
                }
            }
        })
    }

    /// An array of zeros (`false`, key of zeros; NaN where the type has no zero).
    ///
    /// # Errors
    /// When the array is too large to hold.
    pub fn zeros(shape: &[usize], dtype: DType) -> Result<Self> {
        if dtype == DType::F8E8M0Fnu {
            return Self::full(shape, dtype, Scalar::Float(0.0));
        }
        let size = byte_size(shape, dtype)?;
        check_allocatable(size)?;
        Self::filled(shape, dtype, size, |_| {})
    }

    /// The lengths of the axes.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        match &self.0 {
            Data::Scalar { .. } => &[],
            Data::Whole(whole) => &whole.shape,
            Data::View(view) => &view.shape,
        }
    }

    /// The element type.
    #[inline]
    pub fn dtype(&self) -> DType {
        match &self.0 {
            Data::Scalar { dtype, .. } => *dtype,
            Data::Whole(whole) => whole.dtype,
            Data::View(view) => view.dtype,
        }
    }

    /// The number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.shape().iter().product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.shape().contains(&0)
    }

    /// Shape and element type as an abstract value, strongly typed.
    pub fn aval(&self) -> Aval {
        Aval::new(self.dtype(), self.shape())
    }

    /// The row-major bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match &self.0 {
            Data::Scalar { words, dtype } => &bytemuck::bytes_of(words)[..dtype.size()],
            Data::Whole(whole) => whole.storage.bytes(),
            Data::View(view) => view.of.storage.bytes(),
        }
    }

    /// The row-major bytes, writable, when nothing else shares them.
    #[inline]
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        let whole = match &mut self.0 {
            Data::Scalar { words, dtype } => {
                return Some(&mut bytemuck::bytes_of_mut(words)[..dtype.size()]);
            }
            Data::Whole(whole) => whole,
            Data::View(view) => &mut Arc::get_mut(view)?.of,
        };
        Arc::get_mut(whole).map(|whole| whole.storage.bytes_mut())
    }

    /// The elements as a slice.
    ///
    /// # Errors
    /// When `T` is not the type of the elements.
    pub fn as_slice<T: Element>(&self) -> Result<&[T]> {
        if T::DTYPE != self.dtype() {
            return Err(Error::dtype(format!(
                "the elements are {}, and {} was asked for",
                self.dtype(),
                T::DTYPE
            )));
        }
        bytemuck::try_cast_slice(self.bytes())
            .map_err(|error| Error::new(ErrorKind::Internal, format!("misaligned array: {error}")))
    }

    /// The elements, copied.
    ///
    /// # Errors
    /// When `T` is not the type of the elements.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.as_slice().map(<[T]>::to_vec)
    }

    /// The only element of a rank-0 or one-element array.
    ///
    /// # Errors
    /// When `T` is not the type of the elements, or there is not exactly one.
    pub fn item<T: Element>(&self) -> Result<T> {
        match self.as_slice()? {
            [only] => Ok(*only),
            other => Err(Error::shape(format!(
                "one element was asked for, and there are {}",
                other.len()
            ))),
        }
    }

    /// What this array is, beside others.
    pub fn identity(&self) -> Identity {
        let bytes = self.bytes();
        let data = if bytes.len() <= SCALAR {
            Contents::Bits(inline(bytes))
        } else {
            Contents::Memory(bytes.as_ptr() as usize)
        };
        Identity {
            shape: Shape::from_slice(self.shape()),
            dtype: self.dtype(),
            data,
        }
    }

    /// Element `index` in row-major order, widened; `None` out of range or for keys.
    pub fn scalar_at(&self, index: usize) -> Option<Scalar> {
        let size = self.dtype().size();
        let bytes = self
            .bytes()
            .get(index.checked_mul(size)?..index.checked_add(1)?.checked_mul(size)?)?;
        Scalar::from_bytes(self.dtype(), bytes)
    }

    /// The same bytes under another shape.
    ///
    /// # Errors
    /// When the number of elements differs.
    pub fn reshaped(&self, shape: &[usize]) -> Result<Self> {
        if element_count(shape)? != self.len() {
            return Err(Error::shape(format!(
                "{} cannot become shape {shape:?}: the numbers of elements differ",
                self.aval()
            )));
        }
        Ok(self.viewed(shape, self.dtype()))
    }

    /// The same bytes read as another shape and element type.
    ///
    /// # Errors
    /// When the number of bytes differs.
    pub fn reinterpreted(&self, shape: &[usize], dtype: DType) -> Result<Self> {
        if byte_size(shape, dtype)? != self.bytes().len() {
            return Err(Error::shape(format!(
                "{} and {} take different numbers of bytes",
                self.aval(),
                Aval::new(dtype, shape)
            )));
        }
        Ok(self.viewed(shape, dtype))
    }

    /// The same bytes, which are as many as `shape` and `dtype` need.
    fn viewed(&self, shape: &[usize], dtype: DType) -> Self {
        let bytes = self.bytes();
        if shape.is_empty() && bytes.len() <= SCALAR {
            return Tensor::from_words(dtype, inline(bytes));
        }
        let shape = Shape::from_slice(shape);
        Tensor(match &self.0 {
            Data::Scalar { .. } => {
                let mut storage = Words::zeros(bytes.len());
                storage.bytes_mut().copy_from_slice(bytes);
                Data::Whole(Arc::new(Whole {
                    shape,
                    dtype,
                    storage,
                }))
            }
            Data::Whole(of) => Data::view(of, shape, dtype),
            Data::View(view) => Data::view(&view.of, shape, dtype),
        })
    }
}

impl Data {
    fn view(of: &Arc<Whole<dyn Storage>>, shape: Shape, dtype: DType) -> Self {
        let of = of.clone();
        Data::View(Arc::new(View { shape, dtype, of }))
    }
}

/// Larger arrays are not copied so that they start a line of the cache: they are read from memory that is no faster then.
const MOST_MOVED: usize = 1 << 20;

/// Bytes in words, the first at the start of a line of the cache: a vector that crosses lines takes two loads, and a matrix in the second
/// level of the cache is read at two thirds of the speed.
struct Words {
    words: Vec<u64>,
    /// The word that has the first byte.
    start: usize,
    length: usize,
}

impl Words {
    /// Bytes of a line, and of the widest vector.
    const ALIGNMENT: usize = 64;

    /// Words to ask for, so that `length` bytes have a place among them that starts a line; what no vector fits into needs none.
    fn room(length: usize) -> usize {
        let spare = if length < Self::ALIGNMENT {
            0
        } else {
            Self::ALIGNMENT / 8 - 1
        };
        length.div_ceil(8) + spare
    }

    /// The first word of the [room](Self::room) for `length` bytes that starts a line; `words` must not move afterwards.
    fn start(words: &[u64], length: usize) -> usize {
        if length < Self::ALIGNMENT {
            return 0;
        }
        let start = words.as_ptr().align_offset(Self::ALIGNMENT);
        // It may be that nothing is known about addresses, as in a constant.
        if start < Self::ALIGNMENT / 8 {
            start
        } else {
            0
        }
    }

    fn zeros(length: usize) -> Words {
        let words = vec![0; Self::room(length)];
        let start = Self::start(&words, length);
        Words {
            words,
            start,
            length,
        }
    }
}

impl Storage for Words {
    fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words[self.start..])[..self.length]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words[self.start..])[..self.length]
    }
}

/// Reads until `bytes` are full or there are no more; the number of those that are.
fn fill(reader: &mut impl Read, bytes: &mut [u8]) -> Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match reader.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(filled)
}

/// Sizes below this are not asked for before they are taken.
const SMALL: usize = 4 << 20;

/// Refuses a size that the memory limit or the allocator refuses, so that hostile shapes are errors and not aborts.
///
/// # Errors
/// When memory of `size` bytes may not be taken or cannot be reserved.
pub fn check_allocatable(size: usize) -> Result<()> {
    memory::check(size)?;
    if size >= SMALL && !memory::can_allocate(size) {
        return Err(Error::new(
            ErrorKind::TooLarge,
            format!("out of memory: {size} bytes cannot be allocated"),
        ));
    }
    Ok(())
}

/// At most so many bytes as two words.
#[inline]
fn inline(bytes: &[u8]) -> [u64; 2] {
    let mut words = [0u64; 2];
    bytemuck::bytes_of_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
    words
}

/// An element as two words.
#[inline]
pub(crate) fn words<T: NoUninit>(element: T) -> [u64; 2] {
    inline(bytemuck::bytes_of(&element))
}

/// Equal shape, dtype and bytes: NaN equals the same NaN, and -0.0 differs from 0.0.
impl PartialEq for Tensor {
    fn eq(&self, other: &Self) -> bool {
        let (own, others) = (self.bytes(), other.bytes());
        self.dtype() == other.dtype()
            && self.shape() == other.shape()
            && (std::ptr::eq(own, others) || own == others)
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.aval())?;
        for index in 0..self.len().min(16) {
            if index > 0 {
                f.write_str(", ")?;
            }
            match self.scalar_at(index) {
                Some(value) => write!(f, "{value}")?,
                None => f.write_str("key")?,
            }
        }
        if self.len() > 16 {
            f.write_str(", ...")?;
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_of_this_crate_start_a_line_of_the_cache() -> Result<()> {
        let large = [pages::LEAST - 1, pages::LEAST, (5 << 20) + 3];
        for length in (0..300).chain([4095, 32_768, 32_769, 100_001]).chain(large) {
            let bytes: Vec<u8> = (0..length).map(|k| (k % 251) as u8).collect();
            let shape = &[length];
            let read = Tensor::from_reader(shape, DType::U8, &mut &bytes[..])?;
            let copied = Tensor::from_bytes(shape, DType::U8, &bytes)?;
            let given = Tensor::from_vec(shape, bytes.clone())?;
            let full = Tensor::full(shape, DType::U8, Scalar::Int(3))?;
            let zeros = Tensor::zeros(shape, DType::U8)?;
            assert_eq!(read.bytes(), bytes);
            assert_eq!(copied.bytes(), bytes);
            assert_eq!(given.bytes(), bytes);
            assert_eq!(full.bytes(), vec![3; length]);
            assert_eq!(zeros.bytes(), vec![0; length]);
            if length >= 64 && !cfg!(miri) {
                // A large vector stays where it is.
                let given = if length <= MOST_MOVED {
                    given
                } else {
                    full.clone()
                };
                for array in [read, copied, given, full, zeros] {
                    assert_eq!(array.bytes().as_ptr().align_offset(64), 0, "{length}");
                }
            }
        }
        Ok(())
    }
}
