//! The type of a service: its name, and the types of its requests and responses.

use super::{MessageType, known, structure, type_support};
use crate::{
    bindings::*,
    failure::{Failure, Result},
};
use std::sync::Arc;

/// A service type.
pub struct ServiceType {
    /// The full name, such as `std_srvs/srv/SetBool`.
    pub name: String,
    /// The type of requests.
    pub request: Arc<MessageType>,
    /// The type of responses.
    pub response: Arc<MessageType>,
}

impl ServiceType {
    /// Resolves a service type.
    ///
    /// # Safety
    /// `type_support` is null, or a valid type support. It and its library stay loaded as long as the value is used.
    pub unsafe fn new(type_support: *const rosidl_service_type_support_t) -> Result<ServiceType> {
        // SAFETY: the promise of the caller.
        let (introspection, _) = unsafe { type_support::find_service(type_support) }?;
        // SAFETY: the pointer is not null, and stays valid as long as the type support.
        let introspection = unsafe { &*introspection };
        // SAFETY: the data of an introspection type support is null or a constant table.
        let Some(members) = (unsafe { introspection.data.cast::<ServiceMembers>().as_ref() }) else {
            return Err(Failure::invalid("the type support of the service has no members"));
        };
        // SAFETY: the table is valid, so its names are null or strings.
        let name = unsafe { structure::type_name(members.service_namespace_, members.service_name_) }
            .map_err(|fault| Failure::invalid(format_args!("the service cannot be used: {fault}")))?;
        // SAFETY: the promise of the caller.
        let request = unsafe { known::message_type(introspection.request_typesupport) }?;
        // SAFETY: the promise of the caller.
        let response = unsafe { known::message_type(introspection.response_typesupport) }?;
        Ok(ServiceType { name, request, response })
    }

    /// The description of the type for discovery.
    pub fn description(&self) -> gantry::ServiceTypeDescription {
        gantry::ServiceTypeDescription {
            name: self.name.clone(),
            request: self.request.description().clone(),
            response: self.response.description().clone(),
        }
    }
}
