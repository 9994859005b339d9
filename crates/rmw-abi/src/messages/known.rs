//! The types of the endpoints of this process, each resolved once, because most nodes have the same endpoints.

use super::{MessageType, type_support};
use crate::{bindings::*, failure::Result};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

/// The types by the addresses of the tables of their fields. A table lives as long as its type is used (M1), so
/// two types never have the same address.
static KNOWN: Mutex<Option<HashMap<usize, Weak<MessageType>>>> = Mutex::new(None);

/// The type with this type support. It is resolved now, unless another endpoint uses it already.
///
/// # Safety
/// As [`MessageType::new`].
pub unsafe fn message_type(type_support: *const rosidl_message_type_support_t) -> Result<Arc<MessageType>> {
    // SAFETY: the promise of the caller.
    let (introspection, _) = unsafe { type_support::find_message(type_support) }?;
    // SAFETY: the pointer is not null, and valid as long as the type support that refers to it.
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
