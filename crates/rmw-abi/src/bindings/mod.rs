//! The C interface of ROS 2's `rmw` and of the headers that it includes, with the names that C uses, as in Jazzy (rmw
//! 7.3, rosidl 4.6, rcutils 6.7). Kilted (rmw 7.8) differs in [`Layout`] and in the numbers of events. This module has
//! declarations only; the test `headers` compares them with the headers of an installed ROS 2.

#![allow(missing_docs, non_camel_case_types, non_snake_case, dead_code)]

mod entities;
mod event;
mod graph;
mod in_place;
mod init;
mod qos;
mod rcutils;
mod rosidl;

pub use entities::*;
pub use event::*;
pub use graph::*;
pub use in_place::*;
pub use init::*;
pub use qos::*;
pub use rcutils::*;
pub use rosidl::*;

pub const RMW_RET_OK: rmw_ret_t = 0;
pub const RMW_RET_ERROR: rmw_ret_t = 1;
pub const RMW_RET_TIMEOUT: rmw_ret_t = 2;
pub const RMW_RET_UNSUPPORTED: rmw_ret_t = 3;
pub const RMW_RET_BAD_ALLOC: rmw_ret_t = 10;
pub const RMW_RET_INVALID_ARGUMENT: rmw_ret_t = 11;
pub const RMW_RET_INCORRECT_RMW_IMPLEMENTATION: rmw_ret_t = 12;
pub const RMW_RET_NODE_NAME_NON_EXISTENT: rmw_ret_t = 203;
