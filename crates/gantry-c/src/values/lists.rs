//! Lists of strings, types and endpoints. A list never changes, so any number of threads may read it at once.

use crate::{
    abi,
    border::{
        argument::{c_string, destroy, shared},
        failure::run_for,
    },
    values::convert,
};
use gantry::{EndpointType, ServiceTypeDescription, TopicEndpointInfo, TypeDescription};
use std::{
    ffi::{CString, c_char},
    ptr::null,
};

/// `gantry_strings`.
pub struct Strings(Vec<CString>);

/// `gantry_types`.
pub struct Types(Vec<Described>);

/// `gantry_service_types`.
pub struct ServiceTypes(Vec<(abi::ServiceType, [Described; 2], CString)>);

/// `gantry_endpoints`.
pub struct Endpoints(Vec<(abi::EndpointInfo, [CString; 4], Box<abi::Qos>)>);

/// A type as a C struct, with the strings to which the struct points. The box keeps the struct at one address.
struct Described {
    described: Box<abi::Type>,
    _texts: [CString; 2],
}

impl Described {
    fn new(message_type: &TypeDescription) -> Described {
        let texts = [c_string(&message_type.name), c_string(&message_type.definition)];
        let described = Box::new(abi::Type {
            struct_size: size_of::<abi::Type>(),
            name: texts[0].as_ptr(),
            definition: texts[1].as_ptr(),
            max_bytes: if message_type.payload_bytes == usize::MAX { 0 } else { message_type.payload_bytes },
            hash: message_type.hash,
        });
        Described { described, _texts: texts }
    }
}

impl Strings {
    pub fn new<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Strings {
        Strings(texts.into_iter().map(|text| c_string(text.as_ref())).collect())
    }

    /// The address of the first string; null if there is none.
    pub fn first(&self) -> *const c_char {
        self.0.first().map_or(null(), |text| text.as_ptr())
    }
}

impl Types {
    pub fn new(types: &[TypeDescription]) -> Types {
        Types(types.iter().map(Described::new).collect())
    }
}

impl ServiceTypes {
    pub fn new(types: &[ServiceTypeDescription]) -> ServiceTypes {
        let described = types.iter().map(|service| {
            let (name, ends) = (c_string(&service.name), [&service.request, &service.response].map(Described::new));
            let [request, response] = ends.each_ref().map(|end| &raw const *end.described);
            let (struct_size, text) = (size_of::<abi::ServiceType>(), name.as_ptr());
            (abi::ServiceType { struct_size, name: text, request, response }, ends, name)
        });
        ServiceTypes(described.collect())
    }
}

impl Endpoints {
    pub fn new(endpoints: &[TopicEndpointInfo]) -> Endpoints {
        let described = endpoints.iter().map(|endpoint| {
            let node = endpoint.node_fully_qualified_name();
            let texts =
                [&node, &endpoint.topic_name, &endpoint.topic_type, &endpoint.process].map(|text| c_string(text));
            let [node, topic, type_name, process] = texts.each_ref().map(|text| text.as_ptr());
            let qos = Box::new(convert::qos_to_c(&endpoint.qos_profile));
            let info = abi::EndpointInfo {
                struct_size: size_of::<abi::EndpointInfo>(),
                node,
                topic,
                type_name,
                process,
                qos: &raw const *qos,
                type_hash: endpoint.topic_type_hash,
                gid: convert::gid(endpoint.endpoint_gid),
                kind: match endpoint.endpoint_type {
                    EndpointType::Publisher => abi::ENDPOINT_PUBLISHER,
                    EndpointType::Subscription => abi::ENDPOINT_SUBSCRIPTION,
                },
                reserved: [0; 4],
                copied_messages: endpoint.copied_messages,
            };
            (info, texts, qos)
        });
        Endpoints(described.collect())
    }
}

macro_rules! list {
    ($list:ident, $element:ty, $address:expr, $count:ident $get:ident $destroy:ident) => {
        /// # Safety
        /// H1.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $count(list: *const $list) -> usize {
            // SAFETY: H1.
            run_for(0, || Ok(unsafe { shared("list", list) }?.0.len()))
        }

        /// # Safety
        /// H1.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(list: *const $list, index: usize) -> *const $element {
            // SAFETY: H1.
            run_for(null(), || Ok(unsafe { shared("list", list) }?.0.get(index).map_or(null(), $address)))
        }

        /// # Safety
        /// H1.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $destroy(list: *mut $list) {
            // SAFETY: H1.
            unsafe { destroy(list) }
        }
    };
}

list!(Strings, c_char, |text| text.as_ptr(), gantry_strings_count gantry_strings_get gantry_strings_destroy);
list!(Types, abi::Type, |found| &raw const *found.described, gantry_types_count gantry_types_get gantry_types_destroy);
list!(
    ServiceTypes, abi::ServiceType, |found| &raw const found.0,
    gantry_service_types_count gantry_service_types_get gantry_service_types_destroy
);
list!(
    Endpoints, abi::EndpointInfo, |found| &raw const found.0,
    gantry_endpoints_count gantry_endpoints_get gantry_endpoints_destroy
);

/// Makes a list that alternates names of topics or services and their types.
pub fn pairs(named: std::collections::BTreeMap<String, Vec<String>>) -> Strings {
    Strings::new(
        named
            .into_iter()
            .flat_map(|(name, types)| types.into_iter().flat_map(move |type_name| [name.clone(), type_name])),
    )
}
