//! stub
use crate::{bindings::*, failure::*};
pub fn publisher_qos(_: &rmw_qos_profile_t, _: &gantry::Node, _: &str) -> Result<gantry::Qos> {
    todo!()
}
pub fn subscription_qos(_: &rmw_qos_profile_t, _: &gantry::Node, _: &str) -> Result<gantry::Qos> {
    todo!()
}
pub fn qos_profile(_: &gantry::Qos) -> rmw_qos_profile_t {
    todo!()
}
