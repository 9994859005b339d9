//! The agent's answers to messages outside of a session.

use super::EXTENSIONS;
use crate::wire::{
    Activity, AgentRepresentation, ByteOrder, ClientKey, ClientRepresentation, Configuration, Flags, Header, Info,
    List, MessageBuilder, ObjectInfo, ObjectReply, ObjectRequest, Payload, Property, Result, ResultStatus, SessionId,
    Status, StatusAgent, VENDOR_EPROSIMA, VERSION,
};
use core::num::NonZeroU32;

/// The silence after which the agent asks a client with Gantry's extensions whether it is alive.
const SILENCE_US: u32 = 1_000_000;
/// The silence after which the agent asks any other client whether it is alive. Such clients run their session less
/// often.
const LENIENT_SILENCE_US: u32 = 10_000_000;
/// The property with which an eProsima client sets this silence, in milliseconds. The agent limits the value, so that
/// it neither asks a client all the time nor keeps a lost client for hours.
const HARD_LIVELINESS: &[u8] = b"uxr_hl";
const MIN_SILENCE_MS: u32 = 100;
const MAX_SILENCE_MS: u32 = 60_000;

/// The properties of a client, from its CREATE_CLIENT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The key that the client chose for itself.
    pub key: ClientKey,
    /// The session.
    pub session: SessionId,
    /// The largest length of a message body that the client accepts, in bytes.
    pub mtu_bytes: u16,
    /// Whether the client offered Gantry's extensions.
    pub is_extended: bool,
    /// The silence after which the agent asks this client whether it is alive.
    pub silence_us: u32,
    /// The random number that the client drew when it booted; `None` if the client states none.
    pub boot_nonce: Option<NonZeroU32>,
}

impl Peer {
    /// Reads the properties of the client from its CREATE_CLIENT.
    #[must_use]
    pub fn new(client: &ClientRepresentation<'_>) -> Self {
        let properties = client.properties.unwrap_or_default();
        let value =
            |name: &[u8]| properties.iter().find(|property| property.name == name).map(|property| property.value);
        let [Property { name, value: version }] = EXTENSIONS;
        let extension = value(name).and_then(|value| value.strip_prefix(*version));
        let is_extended = extension.is_some();
        let boot_nonce =
            extension.and_then(|nonce| nonce.try_into().ok()).map(u32::from_le_bytes).and_then(NonZeroU32::new);
        let stated_us = value(HARD_LIVELINESS).and_then(milliseconds_as_us);
        let default_us = if is_extended { SILENCE_US } else { LENIENT_SILENCE_US };
        let silence_us = stated_us.unwrap_or(default_us);
        let ClientRepresentation { key, session, mtu_bytes, .. } = *client;
        Self { key, session, mtu_bytes, is_extended, silence_us, boot_nonce }
    }
}

fn milliseconds_as_us(text: &[u8]) -> Option<u32> {
    let ms = str::from_utf8(text).ok()?.parse::<u32>().ok().filter(|&ms| ms > 0)?;
    Some(ms.clamp(MIN_SILENCE_MS, MAX_SILENCE_MS) * 1000)
}

/// Writes STATUS_AGENT, the answer to a CREATE_CLIENT, into `memory`.
///
/// # Errors
/// The memory is too short; 64 bytes are enough.
pub fn welcome<'a>(memory: &'a mut [u8], peer: &Peer, result: ResultStatus) -> Result<&'a [u8]> {
    let properties = peer.is_extended.then(|| List::from(&EXTENSIONS[..]));
    let agent = AgentRepresentation { properties, ..agent() };
    write(memory, &Header { key: peer.key, ..Header::streamless(peer.session) }, &StatusAgent { result, agent })
}

/// Writes an INFO into `memory`. It answers a GET_INFO about the agent (a ping). It also answers any other message of a
/// client without a session, so that the client connects again. `header` is the header of the answered message.
///
/// # Errors
/// The memory is too short; 64 bytes are enough.
pub fn info<'a>(memory: &'a mut [u8], header: &Header, related: ObjectRequest, has_session: bool) -> Result<&'a [u8]> {
    let result = ResultStatus { implementation: u8::from(has_session), ..ResultStatus::OK };
    let reply = ObjectReply { related, result };
    write(
        memory,
        &Header { key: header.key, ..Header::streamless(header.session) },
        &Info { reply, info: agent_info() },
    )
}

/// Writes STATUS, the answer to a DELETE of the client, into `memory`.
///
/// # Errors
/// The memory is too short; 64 bytes are enough.
pub fn farewell<'a>(memory: &'a mut [u8], header: &Header, related: ObjectRequest) -> Result<&'a [u8]> {
    let reply = ObjectReply { related, result: ResultStatus::OK };
    write(memory, &Header { key: header.key, ..Header::streamless(header.session) }, &Status { reply })
}

fn write<'a, 'p, P: Payload<'p>>(memory: &'a mut [u8], header: &Header, payload: &P) -> Result<&'a [u8]> {
    let mut builder = MessageBuilder::new(memory, header, ByteOrder::Little)?;
    builder.add(Flags::NONE, payload)?;
    let length = builder.bytes();
    Ok(memory.get(..length).unwrap_or_default())
}

fn agent() -> AgentRepresentation<'static> {
    AgentRepresentation { version: VERSION, vendor: VENDOR_EPROSIMA, properties: None }
}

/// The agent's description of itself: it accepts clients, and lists no addresses.
pub(super) fn agent_info() -> ObjectInfo<'static> {
    ObjectInfo {
        configuration: Some(Configuration::Agent(agent())),
        activity: Some(Activity::Agent { availability: 1, locators: List::default() }),
    }
}
