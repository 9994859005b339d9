//! The memory of message structs. A faulty program uses the pointer to a loaned message after the message has ended.
//! The pointer then leads to an empty message and not to other objects: the memory of an ended message is zeros, an
//! empty message of C and of C++, and only messages of the same type use it again.

use std::{
    alloc::{self, Layout},
    collections::{HashMap, VecDeque},
    ptr::NonNull,
    sync::{Mutex, PoisonError},
};

/// Memory that no message uses, by the key of the type and the size of the struct, the oldest first.
type Unused = HashMap<(usize, usize), VecDeque<Block>>;

static UNUSED: Mutex<Option<Unused>> = Mutex::new(None);

/// Memory of a struct, which is zeros.
struct Block(NonNull<u8>);

// SAFETY: memory that only its owner uses.
unsafe impl Send for Block {}

/// Memory of zeros for a struct of the type with this key; `None` if there is no memory. The size is not 0.
pub fn allocate(key: usize, layout: Layout) -> Option<NonNull<u8>> {
    let mut unused = UNUSED.lock().unwrap_or_else(PoisonError::into_inner);
    let block = unused.get_or_insert_default().get_mut(&(key, layout.size())).and_then(VecDeque::pop_front);
    drop(unused);
    // SAFETY: the size is not 0.
    block.map(|Block(memory)| memory).or_else(|| NonNull::new(unsafe { alloc::alloc_zeroed(layout) }))
}

/// Keeps memory for later structs of the type.
///
/// # Safety
/// [`allocate`] returned the memory for this key and layout, and the caller does not use it any more.
pub unsafe fn free(key: usize, layout: Layout, memory: NonNull<u8>) {
    // SAFETY: the promise of the caller.
    unsafe { memory.as_ptr().write_bytes(0, layout.size()) };
    let mut unused = UNUSED.lock().unwrap_or_else(PoisonError::into_inner);
    unused.get_or_insert_default().entry((key, layout.size())).or_default().push_back(Block(memory));
}
