//! Converts the arguments of C functions: handles, strings, arrays, options and outputs.

use crate::{
    abi::{OK, Status},
    failure::{Failure, Result, run},
};
use std::{
    ffi::{CStr, CString, c_char},
    marker::PhantomData,
    mem::MaybeUninit,
    ptr::{NonNull, from_ref},
    time::Duration,
};

#[cold]
fn null(name: &str) -> Failure {
    Failure::invalid(format_args!("the argument {name} is NULL"))
}

/// Converts a pointer to a handle or a struct that the function only reads. `name` is the argument's name, for the
/// error text.
///
/// # Errors
/// `pointer` is NULL.
///
/// # Safety
/// H1 or H2.
#[inline]
pub unsafe fn shared<'a, T>(name: &str, pointer: *const T) -> Result<&'a T> {
    // SAFETY: the promise of the caller.
    unsafe { pointer.as_ref() }.ok_or_else(|| null(name))
}

/// Converts a pointer to a handle or a struct that the function changes. `name` is the argument's name, for the error
/// text.
///
/// # Errors
/// `pointer` is NULL.
///
/// # Safety
/// H1, H2 or H3.
#[inline]
pub unsafe fn exclusive<'a, T>(name: &str, pointer: *mut T) -> Result<&'a mut T> {
    // SAFETY: the promise of the caller.
    unsafe { pointer.as_mut() }.ok_or_else(|| null(name))
}

/// Memory of the caller for a value that the function returns. The function writes it and never reads it.
#[derive(Debug)]
pub struct Output<'a, T>(&'a mut MaybeUninit<T>);

impl<T> Output<'_, T> {
    /// Writes the value.
    #[inline]
    pub fn set(self, value: T) {
        self.0.write(value);
    }
}

/// Converts a pointer to the caller's memory for a value.
///
/// # Errors
/// `pointer` is NULL.
///
/// # Safety
/// H2.
#[inline]
pub unsafe fn output<'a, T>(name: &str, pointer: *mut T) -> Result<Output<'a, T>> {
    // SAFETY: the promise of the caller; a `MaybeUninit` may have any bytes.
    unsafe { optional_output(pointer) }.ok_or_else(|| null(name))
}

/// Converts a pointer to the caller's memory for a value. `None` if the pointer is NULL, because the caller does not
/// need the value.
///
/// # Safety
/// H2.
#[inline]
pub unsafe fn optional_output<'a, T>(pointer: *mut T) -> Option<Output<'a, T>> {
    // SAFETY: H2, which the caller promises; a `MaybeUninit` may have any bytes.
    unsafe { pointer.cast::<MaybeUninit<T>>().as_mut() }.map(Output)
}

/// A text.
///
/// # Errors
/// `pointer` is NULL or not UTF-8.
///
/// # Safety
/// H2.
pub unsafe fn text<'a>(name: &str, pointer: *const c_char) -> Result<&'a str> {
    if pointer.is_null() {
        return Err(null(name));
    }
    // SAFETY: the promise of the caller.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| Failure::invalid(format_args!("the argument {name} is not UTF-8: {text:?}")))
}

/// Converts an array of `count` strings.
///
/// # Errors
/// A string is NULL or not UTF-8; or `array` is NULL although `count` is not 0; or `count` is larger than memory.
///
/// # Safety
/// H2.
pub unsafe fn texts(name: &str, array: *const *const c_char, count: usize) -> Result<Vec<String>> {
    // SAFETY: the promise of the caller.
    let pointers = unsafe { elements(name, array, count) }?;
    // SAFETY: as above, for each element.
    pointers.iter().map(|&pointer| unsafe { text(name, pointer) }.map(str::to_owned)).collect()
}

/// Converts an array of `count` elements. For an empty array, the pointer may be NULL.
///
/// # Errors
/// `array` is NULL although `count` is not 0, or `count` is larger than memory.
///
/// # Safety
/// H2.
pub unsafe fn elements<'a, T>(name: &str, array: *const T, count: usize) -> Result<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    if array.is_null() {
        return Err(null(name));
    }
    if count > isize::MAX as usize / size_of::<T>() {
        return Err(Failure::invalid(format_args!(
            "the argument {name} has {count} elements, which is too large: check that the number is not negative"
        )));
    }
    // SAFETY: the promise of the caller.
    Ok(unsafe { std::slice::from_raw_parts(array, count) })
}

/// Converts the bytes of a message. For an empty message, the pointer may be NULL.
///
/// # Errors
/// `pointer` is NULL although `size` is not 0, or `size` is larger than memory.
///
/// # Safety
/// H2.
#[inline]
pub unsafe fn bytes<'a>(name: &str, pointer: *const u8, size: usize) -> Result<&'a [u8]> {
    if size == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() {
        return Err(null(name));
    }
    if isize::try_from(size).is_err() {
        return Err(Failure::invalid(format_args!(
            "the argument {name} has {size} bytes, which is too large: check that the number is not negative"
        )));
    }
    // SAFETY: the promise of the caller.
    Ok(unsafe { std::slice::from_raw_parts(pointer, size) })
}

/// A struct of the header whose first field is `struct_size`.
///
/// # Safety
/// The struct has no padding, and each bit pattern, such as zeros, is a valid value.
pub unsafe trait SizedStruct: Copy {
    /// The name of the struct in the header.
    const NAME: &'static str;

    /// The `reserved` bytes of the struct, which have to be 0.
    fn reserved(&self) -> &[u8] {
        &[]
    }
}

macro_rules! sized_structs {
    ($($name:ident $c:literal $($reserved:ident)?,)*) => { $(
        // SAFETY: the struct has only numbers and pointers. `tests/header` checks that its fields fill it completely.
        unsafe impl SizedStruct for crate::abi::$name {
            const NAME: &'static str = $c;
            $(fn reserved(&self) -> &[u8] {
                &self.$reserved
            })?
        }
    )* };
}

sized_structs! {
    Type "gantry_type",
    ServiceType "gantry_service_type",
    Qos "gantry_qos" reserved,
    NodeOptions "gantry_node_options",
    ParameterOptions "gantry_parameter_options" reserved,
    PublisherOptions "gantry_publisher_options" reserved,
    SampleInfo "gantry_sample_info",
    SubscriptionCounts "gantry_subscription_counts",
    Tick "gantry_tick",
    Event "gantry_event",
}

/// Returns the `struct_size` that a program has set.
///
/// # Errors
/// The value is smaller than the field itself or larger than 4096.
///
/// # Safety
/// H2: the first field is the size of the struct.
unsafe fn struct_size<T: SizedStruct>(pointer: NonNull<T>) -> Result<usize> {
    // SAFETY: H2, which the caller promises: the first field is a readable `usize`.
    let size = unsafe { pointer.cast::<usize>().read() };
    if size < size_of::<usize>() || size > 4096 {
        let name = T::NAME;
        let advice = format_args!("set it to sizeof({name}), and all other fields to 0 or a value");
        return Err(Failure::invalid(format_args!(
            "struct_size of a {name} is {size}, which is not its size: {advice}"
        )));
    }
    Ok(size)
}

/// Copies the options that a program passes; `None` if `pointer` is NULL. If the program was compiled with an older
/// header, its struct is shorter, and the missing fields become zeros.
///
/// # Errors
/// `struct_size` is impossible; or a `reserved` field, or a field that only the program's header has, is not zero.
///
/// # Safety
/// H2: the first field is the size of the struct.
pub unsafe fn options<T: SizedStruct>(pointer: *const T) -> Result<Option<T>> {
    let Some(given) = NonNull::new(pointer.cast_mut()) else { return Ok(None) };
    // SAFETY: the promise of the caller.
    let size = unsafe { struct_size(given) }?;
    // SAFETY: the promise of the caller.
    let given = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), size) };
    let (known, unknown) = given.split_at(size.min(size_of::<T>()));
    let mut options = MaybeUninit::<T>::zeroed();
    // SAFETY: `known` is not longer than the struct `T`, and does not overlap `options`, a local variable.
    unsafe { std::ptr::copy_nonoverlapping(known.as_ptr(), options.as_mut_ptr().cast(), known.len()) };
    // SAFETY: by `SizedStruct`, each bit pattern is a valid value.
    let options = unsafe { options.assume_init() };
    if unknown.iter().chain(options.reserved()).any(|byte| *byte != 0) {
        return Err(Failure::invalid(format_args!(
            "the {} sets a field that this libgantry (ABI {}) does not have: install the library of the header, or leave \
             the field 0",
            T::NAME,
            crate::abi::ABI_VERSION
        )));
    }
    Ok(Some(options))
}

/// Memory for a struct of the program, which may be compiled with another version of the header.
#[derive(Debug)]
pub struct SizedOutput<'a, T> {
    /// The bytes of the struct after `struct_size`.
    fields: &'a mut [MaybeUninit<u8>],
    kind: PhantomData<T>,
}

impl<T: SizedStruct> SizedOutput<'_, T> {
    /// Writes the fields that the program's struct has. Fields that only the program's header has become zeros.
    #[inline]
    pub fn set(self, value: &T) {
        let (target, unknown) = self.fields.split_at_mut(self.fields.len().min(size_of::<T>() - size_of::<usize>()));
        // SAFETY: `value` has these bytes after its first field, at least as many as `target`.
        let fields = unsafe { from_ref(value).cast::<MaybeUninit<u8>>().add(size_of::<usize>()) };
        // SAFETY: both ranges have this length (see above). They do not overlap, because `value` belongs to this
        // library and `target` to the program.
        unsafe { std::ptr::copy_nonoverlapping(fields, target.as_mut_ptr(), target.len()) };
        unknown.fill(MaybeUninit::new(0));
    }
}

/// Converts a pointer to memory for a struct whose `struct_size` the program has set.
///
/// # Errors
/// `pointer` is NULL, or `struct_size` is impossible.
///
/// # Safety
/// H2: the first field is the size of the struct.
#[inline]
pub unsafe fn sized_output<'a, T: SizedStruct>(name: &str, pointer: *mut T) -> Result<SizedOutput<'a, T>> {
    let given = NonNull::new(pointer).ok_or_else(|| null(name))?;
    // SAFETY: the promise of the caller.
    let bytes = unsafe { struct_size(given) }? - size_of::<usize>();
    // SAFETY: H2, which the caller promises: these bytes follow the first field.
    let first = unsafe { given.cast::<MaybeUninit<u8>>().add(size_of::<usize>()) };
    // SAFETY: H2 for these bytes, as above; a `MaybeUninit` may have any bytes.
    Ok(SizedOutput { fields: unsafe { NonNull::slice_from_raw_parts(first, bytes).as_mut() }, kind: PhantomData })
}

/// Converts a time-out in ns; a negative value means no limit.
pub fn timeout(timeout_ns: i64) -> Duration {
    u64::try_from(timeout_ns).map_or(Duration::MAX, Duration::from_nanos)
}

/// Converts a text to a C string. A zero byte in the text, which can only come from another process, becomes `\0`.
pub fn c_string(text: &str) -> CString {
    CString::new(text).unwrap_or_else(|_| CString::new(text.replace('\0', "\\0")).unwrap_or_default())
}

/// Writes a new handle to `*handle`, or NULL if `make` fails. `name` is the argument's name, for the error text.
///
/// # Safety
/// H2.
pub unsafe fn create<T>(name: &str, handle: *mut *mut T, make: impl FnOnce() -> Result<T>) -> Status {
    run(|| {
        // SAFETY: H2; a `MaybeUninit` may have any bytes.
        let output = unsafe { handle.cast::<MaybeUninit<*mut T>>().as_mut() }.ok_or_else(|| null(name))?;
        output.write(std::ptr::null_mut());
        output.write(Box::into_raw(Box::new(make()?)));
        Ok(OK)
    })
}

/// Destroys a handle; NULL has no effect.
///
/// # Safety
/// H1, and the program does not use the handle after this call.
pub unsafe fn destroy<T>(handle: *mut T) {
    run(|| {
        if !handle.is_null() {
            // SAFETY: the promise of the caller: `create` made the handle.
            drop(unsafe { Box::from_raw(handle) });
        }
        Ok(OK)
    });
}
