//! stub
use crate::{bindings::*, failure::*};
pub unsafe fn copy_options(_: &rmw_init_options_t, _: &mut rmw_init_options_t) -> Result<()> {
    todo!()
}
pub unsafe fn free_options(_: &mut rmw_init_options_t) {
    todo!()
}
