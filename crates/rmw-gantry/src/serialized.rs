//! stub
use crate::{bindings::*, failure::*};
pub unsafe fn body_of(_: &rmw_serialized_message_t) -> Result<&[u8]> {
    todo!()
}
pub unsafe fn set_body(_: &mut rmw_serialized_message_t, _: &[u8]) -> Result<()> {
    todo!()
}
