//! Tests of all messages of an installed ROS 2, in C and C++. `gantry-dynamic` makes random messages from their
//! definitions.

use super::{
    super::{MessageInPlace, MessageType, ServiceType},
    library::{call, packages, ros_libraries, symbols},
    memory::Memory,
};
use crate::bindings::*;
use fastrand::Rng;
use gantry_cdr::ByteOrder;
use gantry_dynamic::testing::random_body;
use gantry_idl::{Definitions, TypeName};
use std::{ffi::c_void, path::Path, sync::Arc};

/// The size from which a body is tested with fewer rounds.
const LARGE_BYTES: usize = 10_000;

/// Returns the dynamic type, which can make random bodies. `None` if `gantry-idl` cannot read the definition: types in
/// actions and in service events have names that .msg files cannot express.
fn dynamic_type(message_type: &MessageType) -> Option<gantry_dynamic::MessageType> {
    let description = message_type.description();
    let name: TypeName = description.name.parse().ok()?;
    let definitions = match Definitions::from_text(&name, &description.definition) {
        Ok(definitions) => definitions,
        Err(_) if description.name.ends_with("_Event") => return None,
        Err(errors) => panic!("{}: {errors}", description.name),
    };
    // A type from an IDL file may have fields that .msg files do not have: `wchar`, and a `char` that is not a `uint8`.
    let is_of_idl =
        description.name.contains("IdlOnly") || description.definition.lines().any(|line| line.starts_with("char"));
    if !is_of_idl {
        assert_eq!(definitions.hash(&name), Some(description.hash), "{}", description.name);
    }
    Some(gantry_dynamic::MessageType::new(&definitions, &name).unwrap())
}

/// Reads, measures and writes random messages. Then reads all prefixes of their bytes, and damaged copies.
fn check(message_type: &Arc<MessageType>, members: *const MessageMembers) -> bool {
    let Some(dynamic) = dynamic_type(message_type) else {
        return false;
    };
    let name = &message_type.description().name;
    let mut rng = Rng::with_seed(19);
    // The later messages reuse the memory of the first message.
    let memory = Memory::new(members);
    let mut rounds = 0..12;
    while let Some(round) = rounds.next() {
        let body = random_body(&dynamic, &mut rng, ByteOrder::LittleEndian);
        unsafe { message_type.read(&body, memory.message) }.unwrap_or_else(|failure| panic!("{failure:?}"));
        assert!(written(message_type, &memory) == body, "{name}");
        if message_type.plain_bytes().is_some() {
            // The bytes of the struct are the CDR, except for padding.
            message_type.check_plain(memory.bytes()).unwrap();
            let copy = Memory::new(members);
            unsafe { message_type.read(memory.bytes(), copy.message) }.unwrap();
            assert!(written(message_type, &copy) == body, "{name}");
        }
        if message_type.codec.has_sequences_in_place() {
            check_in_place(message_type, &body);
        }
        let stated = message_type.description().payload_bytes;
        assert!(stated == usize::MAX || stated == body.len(), "{name}: {stated} {}", body.len());
        if body.len() > LARGE_BYTES {
            // Two rounds are enough, because random megabytes take long.
            rounds.end = 2;
        } else if round < 2 {
            damage(message_type, members, &body, &mut rng);
        }
    }
    true
}

/// Reads a message all of whose sequences point to the body, and writes it again.
fn check_in_place(message_type: &Arc<MessageType>, body: &[u8]) {
    let mut message = MessageInPlace::new(message_type).unwrap();
    for _ in 0..2 {
        unsafe { message.read_from(body, 1) }.unwrap();
        assert!(written_at(message_type, message.as_ptr()) == body, "{}", message_type.description().name);
        message.end().unwrap();
    }
}

fn written(message_type: &MessageType, memory: &Memory) -> Vec<u8> {
    written_at(message_type, memory.message)
}

fn written_at(message_type: &MessageType, message: *const c_void) -> Vec<u8> {
    let length = unsafe { message_type.size_bytes(message) }.unwrap();
    let mut target = vec![0xaa; length];
    unsafe { message_type.write(message, &mut target) }.unwrap();
    target
}

fn damage(message_type: &MessageType, members: *const MessageMembers, body: &[u8], rng: &mut Rng) {
    let memory = Memory::new(members);
    let step = body.len() / 300 + 1;
    for length in (0..body.len()).step_by(step) {
        let read = unsafe { message_type.read(&body[..length], memory.message) };
        assert!(read.is_err(), "{}: {length} of {} bytes", message_type.description().name, body.len());
    }
    for _ in 0..50 {
        let mut body = body.to_owned();
        for _ in 0..rng.usize(1..4) {
            let index = rng.usize(..body.len());
            body[index] = rng.u8(..);
        }
        if unsafe { message_type.read(&body, memory.message) }.is_ok() {
            assert!(written(message_type, &memory).len() <= body.len() + 8);
        }
    }
}

fn all_messages(directory: &Path, language: &str) -> (usize, usize) {
    let (mut checked, mut others) = (0, 0);
    let support = format!("rosidl_typesupport_introspection_{language}");
    for package in packages(directory, &format!("__{support}.so")) {
        let library = directory.join(format!("lib{package}__{support}.so"));
        let prefix = format!("{support}__get_message_type_support_handle__{package}__");
        for symbol in symbols(&library, &prefix) {
            let handle = call::<rosidl_message_type_support_t>(&library, &symbol);
            let message_type =
                Arc::new(unsafe { MessageType::new(handle) }.unwrap_or_else(|failure| panic!("{symbol}: {failure:?}")));
            let name = symbol.strip_prefix(&prefix).unwrap().replacen("__", "/", 1);
            assert_eq!(message_type.description().name, format!("{package}/{name}"));
            assert_ne!(message_type.description().hash, [0; 32]);
            match check(&message_type, unsafe { (*handle).data }.cast()) {
                true => checked += 1,
                false => others += 1,
            }
        }
    }
    (checked, others)
}

#[test]
#[ignore = "needs the libraries of a ROS 2: `.ci/run rmw`"]
fn all_messages_of_a_ros_in_c() {
    let (checked, others) = all_messages(&ros_libraries(), "c");
    println!("{checked} types of C, and {others} of actions and service events that have no .msg form");
    assert!(checked > 0);
}

#[test]
#[ignore = "needs the libraries of a ROS 2: `.ci/run rmw`"]
fn all_messages_of_a_ros_in_cpp() {
    let (checked, others) = all_messages(&ros_libraries(), "cpp");
    println!("{checked} types of C++, and {others} of actions and service events that have no .msg form");
    assert!(checked > 0);
}

#[test]
#[ignore = "needs the libraries of a ROS 2: `.ci/run rmw`"]
fn dispatching_type_supports_are_resolved() {
    let directory = ros_libraries();
    for language in ["c", "cpp"] {
        let library = directory.join(format!("libstd_srvs__rosidl_typesupport_{language}.so"));
        let symbol = format!("rosidl_typesupport_{language}__get_service_type_support_handle__std_srvs__srv__SetBool");
        let service = unsafe { ServiceType::new(call(&library, &symbol)) }.unwrap().description();
        assert_eq!(service.name, "std_srvs/srv/SetBool");
        assert_eq!(service.request.name, "std_srvs/srv/SetBool_Request");
        assert_eq!(&*service.request.definition, "bool data\n");
        assert_eq!(
            service.request.hash,
            <gantry_msgs::std_srvs::srv::SetBool_Request as gantry_cdr::Message>::TYPE_HASH
        );
        assert_eq!(service.response.name, "std_srvs/srv/SetBool_Response");
    }
}
