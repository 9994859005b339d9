//! A sequence in memory: C's `{data, size, capacity}`, or a `std::vector`, which the functions of its type support
//! access.

use super::{
    cpp_vector,
    fault::{Fault, Result},
    text::Language,
};
use crate::{bindings::*, foreign::Foreign};
use std::ffi::c_void;

/// The size of a C sequence struct. A `std::vector` of libstdc++ or libc++ has the same size, except
/// `std::vector<bool>`, which is larger.
pub(super) const STRUCT_BYTES: usize = size_of::<rosidl_runtime_c__Sequence>();

type ResizeFunction = unsafe extern "C-unwind" fn(*mut c_void, usize);

/// The functions that access a sequence, and the largest length that its type allows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sequence {
    /// The largest length; `usize::MAX` if the sequence is unbounded.
    bound: usize,
    access: Access,
    resize: ResizeFunction,
}

#[derive(Clone, Copy, Debug)]
enum Access {
    C,
    /// A `std::vector` whose elements are contiguous in memory.
    Vector {
        size: unsafe extern "C" fn(*const c_void) -> usize,
        get_const: unsafe extern "C" fn(*const c_void, usize) -> *const c_void,
        get: unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void,
    },
    /// `std::vector<bool>`, which stores bits.
    Bits {
        size: unsafe extern "C" fn(*const c_void) -> usize,
        fetch: unsafe extern "C" fn(*const c_void, usize, *mut c_void),
        assign: unsafe extern "C" fn(*mut c_void, usize, *const c_void),
    },
}

impl Sequence {
    pub fn new(member: &MessageMember, language: Language, is_bool: bool) -> Result<Sequence> {
        let missing =
            || Fault::new("its type support has not all functions for sequences; rebuild the message package");
        let access = match language {
            Language::C => Access::C,
            Language::Cpp if is_bool => Access::Bits {
                size: member.size_function.ok_or_else(missing)?,
                fetch: member.fetch_function.ok_or_else(missing)?,
                assign: member.assign_function.ok_or_else(missing)?,
            },
            Language::Cpp => Access::Vector {
                size: member.size_function.ok_or_else(missing)?,
                get_const: member.get_const_function.ok_or_else(missing)?,
                get: member.get_function.ok_or_else(missing)?,
            },
        };
        let bound = if member.is_upper_bound_ { member.array_size_ } else { usize::MAX };
        Ok(Sequence { bound, access, resize: member.resize_function.ok_or_else(missing)? })
    }

    /// The largest length, for the text of the definition; `None` if the sequence is unbounded.
    pub fn bound(&self) -> Option<usize> {
        (self.bound != usize::MAX).then_some(self.bound)
    }

    /// True if the sequence is a `std::vector<bool>`, whose elements have no addresses.
    pub fn is_bits(&self) -> bool {
        matches!(self.access, Access::Bits { .. })
    }

    /// Returns the address of the first element, and the number of elements. The address is null for
    /// `std::vector<bool>`.
    ///
    /// # Safety
    /// `at` points to an initialised sequence of this kind.
    #[inline]
    pub unsafe fn elements(&self, at: *const u8) -> Result<(*const u8, usize)> {
        let (data, length): (*const u8, usize) = match self.access {
            Access::C => {
                // SAFETY: the promise of the caller.
                let sequence = unsafe { at.cast::<rosidl_runtime_c__Sequence>().read() };
                (sequence.data.cast_const().cast(), sequence.size)
            }
            Access::Vector { size, get_const, .. } => {
                // SAFETY: the promise of the caller.
                let length = unsafe { size(at.cast()) };
                let data = if length == 0 {
                    std::ptr::null()
                } else {
                    // SAFETY: the promise of the caller, and the element exists.
                    unsafe { get_const(at.cast(), 0) }
                };
                (data.cast(), length)
            }
            Access::Bits { size, .. } => {
                // SAFETY: the promise of the caller.
                return self.checked(unsafe { size(at.cast()) }).map(|length| (std::ptr::null(), length));
            }
        };
        if data.is_null() && length > 0 {
            return Err(Fault::new(format_args!("its size is {length}, but its data is null")));
        }
        Ok((data, self.checked(length)?))
    }

    /// Checks that the length does not exceed the bound, and returns it.
    #[inline]
    pub fn checked(&self, length: usize) -> Result<usize> {
        if length > self.bound {
            return Err(Fault::new(format_args!("it has {length} elements and may have {}", self.bound)));
        }
        Ok(length)
    }

    /// True if the sequence may point to elements that it does not own: its layout is known, and it is unbounded.
    pub fn may_point(&self) -> bool {
        let is_known = match self.access {
            Access::C => true,
            Access::Vector { .. } => cpp_vector::is_as_expected(),
            Access::Bits { .. } => false,
        };
        is_known && self.bound == usize::MAX
    }

    /// Makes the sequence point to elements that it does not own, each of `stride` bytes. Returns `false`, and changes
    /// nothing, if the sequence has memory already.
    ///
    /// # Safety
    /// `at` points to an initialised sequence of this kind, for which [`Sequence::may_point`] is true. Until [`clear`]
    /// is called, the elements are not changed or moved, and the sequence is not destroyed.
    pub unsafe fn point_to(&self, at: *mut u8, elements: &[u8], stride: usize) -> bool {
        // SAFETY: the promise of the caller.
        if !unsafe { first_element(at) }.is_null() {
            return false;
        }
        let (data, Some(length)) = (elements.as_ptr().cast_mut(), elements.len().checked_div(stride)) else {
            return false;
        };
        match self.access {
            Access::C => {
                let sequence = rosidl_runtime_c__Sequence { data: data.cast(), size: length, capacity: length };
                // SAFETY: the promise of the caller.
                unsafe { at.cast::<rosidl_runtime_c__Sequence>().write(sequence) };
            }
            // SAFETY: the promise of the caller.
            _ => unsafe { cpp_vector::point_to(at.cast(), elements) },
        }
        true
    }

    /// Sets the length of the sequence, and returns the address of its first element (null for `std::vector<bool>`).
    /// Existing elements may keep their values.
    ///
    /// # Safety
    /// `at` points to an initialised sequence of this kind.
    pub unsafe fn resize(&self, at: *mut u8, length: usize) -> Result<*mut u8> {
        match self.access {
            // SAFETY: the promise of the caller.
            Access::C => unsafe { self.resize_c(at.cast(), length, None) },
            Access::Vector { size, get, .. } => {
                // SAFETY: the promise of the caller.
                if unsafe { size(at.cast()) } != length {
                    // SAFETY: the promise of the caller.
                    unsafe { (self.resize)(at.cast(), length) };
                }
                if length == 0 {
                    return Ok(std::ptr::null_mut());
                }
                // SAFETY: the promise of the caller, and the first element exists because `length` is not 0. (If memory
                // is exhausted, `resize` throws, which ends the process.)
                Ok(unsafe { get(at.cast(), 0) }.cast())
            }
            Access::Bits { size, .. } => {
                // SAFETY: the promise of the caller.
                if unsafe { size(at.cast()) } != length {
                    // SAFETY: the promise of the caller.
                    unsafe { (self.resize)(at.cast(), length) };
                }
                Ok(std::ptr::null_mut())
            }
        }
    }

    /// Does the same as [`Sequence::resize`], for numbers or plain structs of `stride` bytes, without writing the new
    /// elements: the caller writes all elements next.
    ///
    /// # Safety
    /// `at` points to an initialised sequence of this kind.
    #[inline]
    pub unsafe fn resize_to_write(&self, at: *mut u8, length: usize, stride: usize) -> Result<*mut u8> {
        match self.access {
            Access::Vector { .. } if cpp_vector::is_as_expected() => {
                // SAFETY: the promise of the caller. The product does not overflow, because all elements are in memory
                // already.
                unsafe { cpp_vector::resize(at.cast(), length * stride) }
            }
            // SAFETY: the promise of the caller.
            Access::C => unsafe { self.resize_c(at.cast(), length, Some(stride)) },
            // SAFETY: the promise of the caller.
            _ => unsafe { self.resize(at, length) },
        }
    }

    /// Resizes a C sequence. `number_bytes` is set if the elements are numbers or plain structs of this size that the
    /// caller writes completely next.
    ///
    /// # Safety
    /// `sequence` points to an initialised C sequence.
    unsafe fn resize_c(
        &self,
        sequence: *mut rosidl_runtime_c__Sequence,
        length: usize,
        number_bytes: Option<usize>,
    ) -> Result<*mut u8> {
        // SAFETY: the promise of the caller.
        let rosidl_runtime_c__Sequence { data, size, capacity } = unsafe { sequence.read() };
        if length == size {
        } else if !data.is_null() && length <= capacity {
            // All elements up to the capacity are initialised, because rosidl's functions initialise and finalise all
            // of them. SAFETY: the promise of the caller.
            unsafe { (*sequence).size = length };
        } else if let Some((allocator, bytes)) = default_allocator().zip(number_bytes) {
            // This avoids `resize_function`, which would write zeros first. SAFETY: the promise of the caller. The
            // product does not overflow, because all elements are in memory already.
            unsafe { replace(sequence, length, length * bytes, allocator) };
        } else {
            // SAFETY: the promise of the caller.
            unsafe { (self.resize)(sequence.cast(), length) };
        }
        // SAFETY: the promise of the caller.
        let rosidl_runtime_c__Sequence { data, size, .. } = unsafe { sequence.read() };
        if size != length || (data.is_null() && length > 0) {
            return Err(Fault::new(format_args!("there is no memory for its {length} elements")));
        }
        Ok(data.cast())
    }

    /// Returns the element of a `std::vector<bool>` at this index.
    ///
    /// # Safety
    /// `at` points to an initialised sequence of this kind, which is longer than `index`.
    pub unsafe fn bit(&self, at: *const u8, index: usize) -> bool {
        let mut bit = false;
        if let Access::Bits { fetch, .. } = self.access {
            // SAFETY: the promise of the caller; the value is a `bool`.
            unsafe { fetch(at.cast(), index, (&raw mut bit).cast()) };
        }
        bit
    }

    /// Sets the element of a `std::vector<bool>` at this index.
    ///
    /// # Safety
    /// `at` points to an initialised sequence of this kind, which is longer than `index`.
    pub unsafe fn set_bit(&self, at: *mut u8, index: usize, bit: bool) {
        if let Access::Bits { assign, .. } = self.access {
            // SAFETY: the promise of the caller; the value is a `bool`.
            unsafe { assign(at.cast(), index, (&raw const bit).cast()) };
        }
    }
}

/// Returns the address of the first element: the first word of a C sequence and of a C++ vector.
///
/// # Safety
/// `at` points to an initialised sequence for which [`Sequence::may_point`] is true.
pub(super) unsafe fn first_element(at: *const u8) -> *const u8 {
    // SAFETY: the promise of the caller.
    unsafe { at.cast::<*const u8>().read() }
}

/// Empties a sequence without freeing its elements.
///
/// # Safety
/// The same as for [`first_element`].
pub(super) unsafe fn clear(at: *mut u8) {
    // SAFETY: the promise of the caller. All bits 0 are an empty sequence in C and in C++.
    unsafe { at.write_bytes(0, STRUCT_BYTES) };
}

/// The functions `allocate` and `deallocate` of an allocator, and their state.
type Allocator = (
    unsafe extern "C" fn(usize, *mut c_void) -> *mut c_void,
    unsafe extern "C" fn(*mut c_void, *mut c_void),
    *mut c_void,
);

/// The allocator of C messages.
fn default_allocator() -> Option<Allocator> {
    type GetDefaultAllocator = unsafe extern "C" fn() -> rcutils_allocator_t;
    // SAFETY: rcutils/allocator.h.
    static GET: Foreign<GetDefaultAllocator> =
        unsafe { Foreign::new(c"librcutils.so", c"rcutils_get_default_allocator") };
    // SAFETY: the function has no preconditions.
    let allocator = unsafe { GET.get()?() };
    Some((allocator.allocate?, allocator.deallocate?, allocator.state))
}

/// Replaces the memory of a C sequence without copying its elements. If there is no memory, the size of the sequence
/// becomes 0.
///
/// # Safety
/// `sequence` points to an initialised C sequence of numbers or plain structs; `length_bytes` is not 0.
unsafe fn replace(
    sequence: *mut rosidl_runtime_c__Sequence,
    length: usize,
    length_bytes: usize,
    (allocate, deallocate, state): Allocator,
) {
    // SAFETY: the promise of the caller.
    let old = unsafe { (*sequence).data };
    if !old.is_null() {
        // SAFETY: the data of a C sequence is memory of this allocator, and its elements need no destruction.
        unsafe { deallocate(old, state) };
    }
    // SAFETY: a plain allocation.
    let data = unsafe { allocate(length_bytes, state) };
    let length = if data.is_null() { 0 } else { length };
    // SAFETY: the promise of the caller.
    unsafe { sequence.write(rosidl_runtime_c__Sequence { data, size: length, capacity: length }) };
}
