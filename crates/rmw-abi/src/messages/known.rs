//! The message types that endpoints of this process use. Each type is resolved only once, because most nodes have
//! endpoints of the same types, such as `/rosout`.

use super::{MessageType, type_support};
use crate::{bindings::*, failure::Result};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

/// The types by the address of their introspection table (`MessageMembers`). A table lives as long as its type is used
/// (M1), so two types never have the same address.
static KNOWN: Mutex<Option<HashMap<usize, Weak<MessageType>>>> = Mutex::new(None);

/// Returns the type with this type support. The type is resolved now if no endpoint uses it yet.
///
/// # Safety
/// The same as for [`MessageType::new`].
pub unsafe fn message_type(type_support: *const rosidl_message_type_support_t) -> Result<Arc<MessageType>> {
    // SAFETY: the promise of the caller.
    let (introspection, _) = unsafe { type_support::find_message(type_support) }?;
    // SAFETY: the pointer is not null, and stays valid as long as the type support.
    let fields = unsafe { (*introspection).data }.addr();
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    if let Some(message_type) = known.get(&fields).and_then(Weak::upgrade) {
        return Ok(message_type);
    }
    // SAFETY: the promise of the caller.
    let message_type = Arc::new(unsafe { MessageType::new(type_support) }?);
    known.retain(|_, message_type| message_type.strong_count() > 0);
    known.insert(fields, Arc::downgrade(&message_type));
    Ok(message_type)
}
