//! The memory of message structs, which is never freed but used again for messages of the same type. A faulty program
//! may use a loaned message after its return. It then finds an empty message (all bits 0, in C and in C++) or another
//! message of the type, and no other object.

use std::{
    alloc::{self, Layout},
    collections::{HashMap, VecDeque},
    ptr::NonNull,
    sync::{Mutex, PoisonError},
};

/// Memory that no message uses, oldest first. The keys are the key of the type and the size of the struct.
type Unused = HashMap<(usize, usize), VecDeque<Block>>;

static UNUSED: Mutex<Option<Unused>> = Mutex::new(None);

/// The memory of a struct, filled with zeros.
struct Block(NonNull<u8>);

// SAFETY: only the owner of the block uses the memory.
unsafe impl Send for Block {}

/// Returns zeroed memory for a struct of the type with this key, or `None` if there is no memory. The size of `layout`
/// is not 0.
pub fn allocate(key: usize, layout: Layout) -> Option<NonNull<u8>> {
    let mut unused = UNUSED.lock().unwrap_or_else(PoisonError::into_inner);
    let block = unused.get_or_insert_default().get_mut(&(key, layout.size())).and_then(VecDeque::pop_front);
    drop(unused);
    // SAFETY: the size is not 0.
    block.map(|Block(memory)| memory).or_else(|| NonNull::new(unsafe { alloc::alloc_zeroed(layout) }))
}

/// Keeps the memory of a message for later messages of the type.
///
/// # Safety
/// [`allocate`] returned the memory for this key and layout, and the caller does not use it any more.
pub unsafe fn free(key: usize, layout: Layout, memory: NonNull<u8>) {
    // SAFETY: the promise of the caller.
    unsafe { memory.as_ptr().write_bytes(0, layout.size()) };
    let mut unused = UNUSED.lock().unwrap_or_else(PoisonError::into_inner);
    unused.get_or_insert_default().entry((key, layout.size())).or_default().push_back(Block(memory));
}
