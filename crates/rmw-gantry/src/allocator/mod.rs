//! Memory from ROS 2's allocators, for strings and arrays. The caller of `rmw` frees them with
//! `rcutils_string_array_fini`, `rmw_names_and_types_fini` and `rmw_topic_endpoint_info_array_fini`.
//!
//! Each function makes a complete value or none: if an allocation fails, it frees all its earlier allocations.

use crate::argument::argument;
use rmw_abi::{
    bindings::*,
    failure::{Failure, Result},
};
use std::ffi::{c_char, c_void};

/// An `rcutils_allocator_t` whose functions are all set. The caller frees the memory with the same allocator.
#[derive(Clone, Copy)]
pub struct Allocator {
    allocator: rcutils_allocator_t,
    deallocate: unsafe extern "C" fn(pointer: *mut c_void, state: *mut c_void),
    zero_allocate: unsafe extern "C" fn(count: usize, size: usize, state: *mut c_void) -> *mut c_void,
}

impl Allocator {
    /// # Errors
    /// The allocator is null, or one of its functions is missing, as in a zero-initialized allocator.
    ///
    /// # Safety
    /// `allocator` is null, or points to an allocator that stays valid as long as its memory is used.
    pub unsafe fn new(allocator: *const rcutils_allocator_t) -> Result<Allocator> {
        // SAFETY: the promise of the caller.
        let allocator = *unsafe { argument("allocator", allocator) }?;
        let rcutils_allocator_t { allocate, deallocate, reallocate, zero_allocate, .. } = allocator;
        match (allocate, deallocate, reallocate, zero_allocate) {
            (Some(_), Some(deallocate), Some(_), Some(zero_allocate)) => {
                Ok(Allocator { allocator, deallocate, zero_allocate })
            }
            _ => Err(Failure::invalid("the allocator is not initialized; rcutils_get_default_allocator() returns one")),
        }
    }

    /// The allocator as the C struct.
    pub fn as_c(&self) -> rcutils_allocator_t {
        self.allocator
    }

    /// Allocates zeroed memory for `count` values; returns null if `count` is 0.
    ///
    /// # Errors
    /// `RMW_RET_BAD_ALLOC`.
    pub fn zeroed<T>(&self, count: usize) -> Result<*mut T> {
        if count == 0 {
            return Ok(std::ptr::null_mut());
        }
        // SAFETY: the allocator is valid (`new`), and `state` belongs to it.
        let memory = unsafe { (self.zero_allocate)(count, size_of::<T>(), self.allocator.state) };
        if memory.is_null() {
            let size_bytes = count.saturating_mul(size_of::<T>());
            let sentence = format!("the allocator has no memory for {size_bytes} bytes");
            return Err(Failure { code: RMW_RET_BAD_ALLOC, sentence });
        }
        Ok(memory.cast())
    }

    /// Frees memory of this allocator. A null pointer has no effect.
    ///
    /// # Safety
    /// `memory` is null, or memory of this allocator that the program does not use after this.
    pub unsafe fn free<T>(&self, memory: *mut T) {
        if !memory.is_null() {
            // SAFETY: the memory comes from this allocator, and `state` belongs to the allocator.
            unsafe { (self.deallocate)(memory.cast(), self.allocator.state) };
        }
    }

    /// Returns a copy of the bytes, followed by a 0.
    ///
    /// # Errors
    /// `RMW_RET_BAD_ALLOC`.
    pub fn string(&self, text: &[u8]) -> Result<*mut c_char> {
        let copy: *mut u8 = self.zeroed(text.len() + 1)?;
        // SAFETY: the new memory has at least this length, and does not overlap the text.
        unsafe { copy.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
        Ok(copy.cast())
    }

    /// Makes an array of strings. A text from another process may contain a 0 byte; its string then ends there.
    ///
    /// # Errors
    /// `RMW_RET_BAD_ALLOC`.
    pub fn string_array(&self, texts: &[impl AsRef<str>]) -> Result<rcutils_string_array_t> {
        let data: *mut *mut c_char = self.zeroed(texts.len())?;
        let array = rcutils_string_array_t { size: texts.len(), data, allocator: self.allocator };
        for (index, text) in texts.iter().enumerate() {
            match self.string(text.as_ref().as_bytes()) {
                Ok(string) => {
                    // SAFETY: `index` is less than the length of the array.
                    let place = unsafe { data.add(index) };
                    // SAFETY: the pointer points to an element of the array, which only this thread uses.
                    unsafe { place.write(string) };
                }
                Err(failure) => {
                    // SAFETY: `string_array` made the array above; strings that were not made are null.
                    unsafe { self.free_string_array(&array) };
                    return Err(failure);
                }
            }
        }
        Ok(array)
    }

    /// # Safety
    /// `array` comes from [`Allocator::string_array`], and the program does not use it after this.
    pub unsafe fn free_string_array(&self, array: &rcutils_string_array_t) {
        for index in 0..array.size {
            // SAFETY: `index` is less than the length of the array.
            let place = unsafe { array.data.add(index) };
            // SAFETY: the element is in the array: it is null or a string of this allocator.
            let string = unsafe { place.read() };
            // SAFETY: as above; the caller does not use the string any more.
            unsafe { self.free(string) };
        }
        // SAFETY: the pointer is null, or memory of this allocator that the caller does not use any more.
        unsafe { self.free(array.data) };
    }

    /// Makes an array of names and, for each name, an array of its types.
    ///
    /// # Errors
    /// `RMW_RET_BAD_ALLOC`.
    pub fn names_and_types<'a>(
        &self,
        entries: impl ExactSizeIterator<Item = (&'a String, &'a Vec<String>)> + Clone,
    ) -> Result<rmw_names_and_types_t> {
        let names: Vec<_> = entries.clone().map(|(name, _)| name).collect();
        let names = self.string_array(&names)?;
        let types: *mut rcutils_string_array_t = match self.zeroed(names.size) {
            Ok(types) => types,
            Err(failure) => {
                // SAFETY: made above.
                unsafe { self.free_string_array(&names) };
                return Err(failure);
            }
        };
        let made = rmw_names_and_types_t { names, types };
        for (index, (_, type_names)) in entries.enumerate() {
            match self.string_array(type_names) {
                Ok(array) => {
                    // SAFETY: `index` is less than the number of names.
                    let place = unsafe { types.add(index) };
                    // SAFETY: the pointer points to an element of the array, which only this thread uses.
                    unsafe { place.write(array) };
                }
                Err(failure) => {
                    // SAFETY: this function made the arrays; arrays of types that were not made are all 0.
                    unsafe { self.free_names_and_types(&made) };
                    return Err(failure);
                }
            }
        }
        Ok(made)
    }

    /// # Safety
    /// `made` comes from [`Allocator::names_and_types`], and the program does not use it after this.
    unsafe fn free_names_and_types(&self, made: &rmw_names_and_types_t) {
        for index in 0..made.names.size {
            // SAFETY: `index` is less than the number of names.
            let place = unsafe { made.types.add(index) };
            // SAFETY: the element is all 0, or an array of strings.
            let array = unsafe { place.read() };
            // SAFETY: as above; the caller does not use the array of strings.
            unsafe { self.free_string_array(&array) };
        }
        // SAFETY: the pointer is null, or memory of this allocator that the caller does not use.
        unsafe { self.free(made.types) };
        // SAFETY: the array comes from this allocator, and the caller does not use it any more.
        unsafe { self.free_string_array(&made.names) };
    }

    /// Makes an array of endpoint descriptions. `describe` fills in one description. Its strings are null at first, and
    /// are freed if `describe` fails.
    ///
    /// # Errors
    /// `RMW_RET_BAD_ALLOC`, or an error of `describe`.
    pub fn endpoint_infos<T>(
        &self,
        endpoints: &[T],
        describe: impl Fn(&T, &mut rmw_topic_endpoint_info_t) -> Result<()>,
    ) -> Result<rmw_topic_endpoint_info_array_t> {
        let made = rmw_topic_endpoint_info_array_t { size: endpoints.len(), info_array: self.zeroed(endpoints.len())? };
        for (index, endpoint) in endpoints.iter().enumerate() {
            // SAFETY: `index` is less than the length of the array.
            let place = unsafe { made.info_array.add(index) };
            // SAFETY: the pointer points to an element of the array, which only this thread uses. All bits 0 are a
            // valid value.
            let info = unsafe { &mut *place };
            if let Err(failure) = describe(endpoint, info) {
                // SAFETY: this function made the array; strings that were not made are null.
                unsafe { self.free_endpoint_infos(&made) };
                return Err(failure);
            }
        }
        Ok(made)
    }

    /// # Safety
    /// `made` comes from [`Allocator::endpoint_infos`], and the program does not use it after this.
    unsafe fn free_endpoint_infos(&self, made: &rmw_topic_endpoint_info_array_t) {
        for index in 0..made.size {
            // SAFETY: `index` is less than the length of the array.
            let place = unsafe { made.info_array.add(index) };
            // SAFETY: the element is in the array, which was all 0 at first.
            let info = unsafe { &*place };
            for string in [info.node_name, info.node_namespace, info.topic_type] {
                // SAFETY: the pointer is null, or a string of this allocator that the caller does not use.
                unsafe { self.free(string.cast_mut()) };
            }
        }
        // SAFETY: the pointer is null, or memory of this allocator that the caller does not use.
        unsafe { self.free(made.info_array) };
    }
}

#[cfg(test)]
mod tests;
