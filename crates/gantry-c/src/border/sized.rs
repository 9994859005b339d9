//! Structs of the header whose first field is their size: options that a program passes, and results that it reads. The
//! program may be compiled with another version of the header.

use crate::border::{
    argument::null,
    failure::{Failure, Result},
};
use std::{
    marker::PhantomData,
    mem::MaybeUninit,
    ptr::{NonNull, from_ref},
};

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
