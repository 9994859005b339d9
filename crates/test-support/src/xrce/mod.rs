//! The fuzz targets for DDS-XRCE. `cargo test` also runs them on the corpus. [`streams`] also has simulated lines that
//! lose, repeat and delay frames.
//!
//! A target panics if its input breaks a promise. For example, a message must stay the same when it is written and read
//! again, and a decoder must account for all bytes.

#[cfg(feature = "agent")]
pub mod agent;
mod corpus;
pub mod streams;

pub use corpus::run_corpus;

use gantry_xrce::{
    framing::{
        LengthPrefixDecoder, SerialDecoder, SerialEncoder, can_fd, length_prefix,
        socket_can::{FRAME_BYTES, Frame},
    },
    wire::{
        AckNack, ByteOrder, Create, CreateClient, Data, Delete, Error, Flags, Fragment, GetInfo, Header, Heartbeat,
        Info, MessageBuilder, Payload, ReadData, Reset, SessionId, Status, StatusAgent, Submessage, SubmessageId,
        Timestamp, TimestampReply, WriteData, parse, split_reply, split_request,
    },
};

/// A fuzz target.
pub type Target = fn(&[u8]);

/// All targets with their names.
pub const TARGETS: &[(&str, Target)] =
    &[("xrce_messages", messages), ("xrce_frames", frames), ("xrce_streams", streams::streams)];

/// The fuzz target for messages. The input is a message.
pub fn messages(input: &[u8]) {
    let Ok((header, submessages)) = parse(input) else { return };
    let mut bytes = [0; Header::MAX_BYTES];
    let length = MessageBuilder::new(&mut bytes, &header, ByteOrder::Little).unwrap().bytes();
    assert_eq!(input.get(..length), bytes.get(..length));
    for submessage in submessages {
        let Ok(submessage) = submessage else { break };
        let _ = read_again(&submessage);
    }
}

/// Reads the payload of a submessage, writes it, and reads it again.
///
/// # Errors
/// The payload's bytes are malformed.
pub fn read_again(submessage: &Submessage<'_>) -> Result<(), Error> {
    macro_rules! as_one_of {
        ($($payload:ident),*) => {
            match submessage.id {
                $($payload::ID => {
                    let payload: $payload = submessage.read()?;
                    let bytes = written(submessage, &payload);
                    let again = parse(&bytes).unwrap().1.next().unwrap().unwrap();
                    assert_eq!((again.id, again.payload.order()), (submessage.id, submessage.payload.order()));
                    assert_eq!(again.read::<$payload>().unwrap(), payload);
                    Ok(())
                })*
                _ => Ok(()),
            }
        };
    }
    if submessage.id == SubmessageId::DATA {
        let data = submessage.read::<Data<'_>>()?.data;
        let _ = split_request(data, submessage.payload.order());
        let _ = split_reply(data);
    }
    as_one_of!(
        CreateClient,
        Create,
        GetInfo,
        Delete,
        StatusAgent,
        Status,
        Info,
        WriteData,
        ReadData,
        Data,
        AckNack,
        Heartbeat,
        Reset,
        Fragment,
        Timestamp,
        TimestampReply
    )
}

/// Writes a message with the payload as its only submessage.
fn written<'p, P: Payload<'p>>(submessage: &Submessage<'_>, payload: &P) -> Vec<u8> {
    // The written message may be longer: an empty string may get a zero byte and padding.
    let mut bytes = vec![0xaa; 2 * submessage.payload.left_bytes() + 16];
    let header = Header::streamless(SessionId::CLIENT);
    let mut builder = MessageBuilder::new(&mut bytes, &header, submessage.payload.order()).unwrap();
    let flags = Flags(submessage.flags.0 & !Flags::LITTLE_ENDIAN.0);
    builder.add(flags, payload).unwrap();
    let length = builder.bytes();
    bytes.truncate(length);
    bytes
}

/// The fuzz target for framings. The first byte of the input is the chunk size. The other bytes are used as the bytes
/// of a line, and as a message.
pub fn frames(input: &[u8]) {
    let Some((&chunk_bytes, line)) = input.split_first() else { return };
    let chunk_bytes = usize::from(chunk_bytes).max(1);
    serial_line(line, chunk_bytes);
    serial_frame(line, chunk_bytes);
    tcp_connection(line, chunk_bytes);
    can_frame(line);
    socket_can_frame(line);
}

/// Checks that the chunk size does not change the result of the serial decoder, and that each byte is accounted for.
fn serial_line(line: &[u8], chunk_bytes: usize) {
    let decode = |chunk_bytes: usize| {
        let mut decoder = SerialDecoder::new(SerialEncoder::AGENT);
        let mut buffer = [0; 128];
        let mut found = Vec::new();
        for mut chunk in line.chunks(chunk_bytes) {
            while let Some(frame) = decoder.decode(&mut chunk, &mut buffer) {
                found.push((frame.source, frame.message.to_vec()));
            }
        }
        let counters = decoder.counters();
        let accounted = counters.frame_bytes + counters.dropped_bytes + decoder.pending_bytes();
        assert_eq!(accounted as usize, line.len());
        assert_eq!(counters.frames as usize, found.len());
        (found, counters)
    };
    assert_eq!(decode(chunk_bytes), decode(line.len().max(1)));
}

/// Checks that a serial frame arrives after any noise on the line, with any chunk size.
fn serial_frame(message: &[u8], chunk_bytes: usize) {
    let mut decoder = SerialDecoder::new(SerialEncoder::AGENT);
    let mut buffer = vec![0; message.len()];
    let mut noise = message;
    while decoder.decode(&mut noise, &mut buffer).is_some() {}
    let mut encoder = SerialEncoder::new(SerialEncoder::CLIENT, SerialEncoder::AGENT, message.len()).unwrap();
    let mut chunk = vec![0; chunk_bytes];
    let mut found = None;
    loop {
        let length = encoder.encode(message, &mut chunk);
        let mut bytes = chunk.get(..length).unwrap_or_default();
        if bytes.is_empty() {
            break;
        }
        assert_eq!(found, None);
        found = decoder.decode(&mut bytes, &mut buffer).map(|frame| frame.message.to_vec());
    }
    assert_eq!(found.as_deref(), Some(message));
}

/// Checks that the chunk size does not change the result of the TCP decoder.
fn tcp_connection(bytes: &[u8], chunk_bytes: usize) {
    let decode = |chunk_bytes: usize| {
        let mut decoder = LengthPrefixDecoder::new();
        let mut buffer = [0; 128];
        let mut found = Vec::new();
        for mut chunk in bytes.chunks(chunk_bytes) {
            while let Some(message) = decoder.decode(&mut chunk, &mut buffer) {
                found.push(message.to_vec());
            }
        }
        (found, decoder.too_long(), decoder.dropped_bytes())
    };
    let found = decode(chunk_bytes);
    assert_eq!(found, decode(bytes.len().max(1)));
    for message in found.0 {
        assert_eq!(usize::from(u16::from_le_bytes(length_prefix(message.len()).unwrap())), message.len());
    }
}

/// Checks that a SocketCAN frame stays the same when it is parsed and written. Short inputs are padded with zeros.
fn socket_can_frame(bytes: &[u8]) {
    let mut frame = [0; FRAME_BYTES];
    frame.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    if let Ok(found) = Frame::parse(&frame) {
        assert_eq!(Frame::parse(&found.to_bytes().unwrap()), Ok(found));
        can_frame(found.data);
    }
    assert_eq!(Frame::parse(bytes).is_ok(), bytes.len() == FRAME_BYTES && Frame::parse(&frame).is_ok());
}

/// Checks that the message in a CAN frame is shorter than the frame, and arrives unchanged in a frame whose length
/// CAN-FD allows.
fn can_frame(frame: &[u8]) {
    let Some(message) = can_fd::decode(frame) else { return };
    let mut again = [0; can_fd::MAX_FRAME_BYTES];
    match can_fd::encode(message, &mut again) {
        Ok(length) => assert_eq!(again.get(..length).and_then(can_fd::decode), Some(message)),
        Err(error) => assert!(error.bytes > can_fd::MAX_MESSAGE_BYTES),
    }
}
