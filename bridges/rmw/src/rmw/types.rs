//! Finds type supports by the names of types, in the libraries of installed packages, as rosbag2 does.

use super::{library::library_folders, symbols::Symbols};
use rmw_abi::{
    bindings::*,
    messages::{MessageType, ServiceType, known},
};
use std::{collections::HashMap, path::PathBuf, sync::Arc};

/// The type support of a message.
pub struct MessageSupport {
    handle: *const rosidl_message_type_support_t,
    pub message_type: Arc<MessageType>,
}

// SAFETY: the type support is a constant of a library that stays loaded (R1).
unsafe impl Send for MessageSupport {}
// SAFETY: as above.
unsafe impl Sync for MessageSupport {}

impl MessageSupport {
    pub fn handle(&self) -> *const rosidl_message_type_support_t {
        self.handle
    }
}

/// The type support of a service.
pub struct ServiceSupport {
    handle: *const rosidl_service_type_support_t,
    pub service_type: ServiceType,
}

// SAFETY: the type support is a constant of a library that stays loaded (R1).
unsafe impl Send for ServiceSupport {}
// SAFETY: as above.
unsafe impl Sync for ServiceSupport {}

impl ServiceSupport {
    pub fn handle(&self) -> *const rosidl_service_type_support_t {
        self.handle
    }
}

/// The type supports that have been found. A missing one is searched again each time, because its package may be built
/// meanwhile.
#[derive(Default)]
pub struct Types {
    libraries: HashMap<PathBuf, Arc<Symbols>>,
    messages: HashMap<String, Arc<MessageSupport>>,
    services: HashMap<String, Arc<ServiceSupport>>,
}

type GetMessage = unsafe extern "C" fn() -> *const rosidl_message_type_support_t;
type GetService = unsafe extern "C" fn() -> *const rosidl_service_type_support_t;

impl Types {
    /// Returns the type support of a message type with a name such as `std_msgs/msg/String`.
    ///
    /// # Errors
    /// The error is a sentence with the reason: the type's package is not installed, or its library cannot be used.
    pub fn message(&mut self, type_name: &str) -> Result<Arc<MessageSupport>, String> {
        if let Some(found) = self.messages.get(type_name) {
            return Ok(found.clone());
        }
        let get = self.find(type_name, "message")?;
        // SAFETY: the function of this name has this type (R5).
        let get: GetMessage = unsafe { std::mem::transmute(get) };
        // SAFETY: the function has no arguments.
        let handle = unsafe { get() };
        // SAFETY: `handle` is null or a type support that stays loaded (R1).
        let message_type = unsafe { known::message_type(handle) }.map_err(|failure| failure.sentence)?;
        let support = Arc::new(MessageSupport { handle, message_type });
        self.messages.insert(type_name.to_owned(), support.clone());
        Ok(support)
    }

    /// Returns the type support of a service type with a name such as `std_srvs/srv/SetBool`.
    ///
    /// # Errors
    /// The same as for [`Types::message`].
    pub fn service(&mut self, type_name: &str) -> Result<Arc<ServiceSupport>, String> {
        if let Some(found) = self.services.get(type_name) {
            return Ok(found.clone());
        }
        let get = self.find(type_name, "service")?;
        // SAFETY: the function of this name has this type (R5).
        let get: GetService = unsafe { std::mem::transmute(get) };
        // SAFETY: the function has no arguments.
        let handle = unsafe { get() };
        // SAFETY: `handle` is null or a type support that stays loaded (R1).
        let service_type = unsafe { ServiceType::new(handle) }.map_err(|failure| failure.sentence)?;
        let support = Arc::new(ServiceSupport { handle, service_type });
        self.services.insert(type_name.to_owned(), support.clone());
        Ok(support)
    }

    /// Returns the address of the C function that returns a type support.
    fn find(&mut self, type_name: &str, what: &str) -> Result<*mut std::ffi::c_void, String> {
        let mut parts = type_name.split('/');
        let (Some(package), Some(kind), Some(name), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(format!("{type_name} is not the name of a type, which has the form package/kind/Name"));
        };
        let file = format!("lib{package}__rosidl_typesupport_cpp.so");
        let path = library_folders().into_iter().map(|folder| folder.join(&file)).find(|path| path.is_file());
        let path = path.ok_or_else(|| {
            format!(
                "its type {type_name} is not installed: {file} is in no folder of AMENT_PREFIX_PATH; install or build the package \
                 {package}, source its setup.bash, and start the bridge again"
            )
        })?;
        let library = match self.libraries.get(&path) {
            Some(library) => library.clone(),
            None => {
                let library = Arc::new(Symbols::open(&path)?);
                self.libraries.insert(path.clone(), library.clone());
                library
            }
        };
        let function = format!("rosidl_typesupport_cpp__get_{what}_type_support_handle__{package}__{kind}__{name}");
        library.find(&function).ok_or_else(|| {
            format!(
                "{} has no type {type_name} (no function {function}): the package is of another version",
                path.display()
            )
        })
    }
}
