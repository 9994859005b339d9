//! The code that both ends of a session share: streams in both directions, and their acknowledgements.

use crate::{
    stream::{
        Acknowledgement, BestEffortCounts, BestEffortInput, BestEffortOutput, Delivery, Due, InputCounts, OutputCounts,
        Refused, ReliableInput, ReliableOutput, Sequence, SlotWriter, Storage, ToSend,
    },
    time::Instant,
    wire::{
        AckNack, ByteOrder, Error, Flags, Header, Heartbeat, MessageBuilder, Payload, Result, StreamId, Submessage,
        SubmessageId, Submessages, Writer,
    },
};

/// The largest length of a message outside of streams. The longest ones are a CREATE_CLIENT or a STATUS_AGENT with
/// properties, and an INFO.
const CONTROL_BYTES: usize = 96;
/// The bytes of an ACKNACK at the end of a message: up to 3 bytes of padding, a header of 4 bytes, and a payload of
/// 5 bytes.
const MAX_TAIL_BYTES: usize = 12;
/// The shortest delay of an acknowledgement, which is otherwise a quarter of the round trip.
const MIN_DELAY_US: u32 = 500;
/// The longest delay of an acknowledgement.
const MAX_DELAY_US: u32 = 5_000;
/// The delay of an acknowledgement to a peer without Gantry's extensions. Each such acknowledgement needs a separate
/// message. During the delay, data that answers the peer can go first: on a slow line, the acknowledgement would delay
/// this data for longer than these 200 µs.
const PLAIN_DELAY_US: u32 = 200;
/// An acknowledgement at the end of a message delays the message only a little if the round trip is shorter than this.
/// On a slower line (115200 bit/s), the acknowledgement takes a millisecond, so it waits until the line is idle, unless
/// it is urgent.
const FAST_ROUND_TRIP_US: u32 = 1_000;
/// The number of unacknowledged messages at which the acknowledgement is sent at once, so that the sender's window does
/// not fill up.
const MAX_UNACKNOWLEDGED: u16 = 2;

/// A loss of bytes that a stream could not deliver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// A fragmented submessage is longer than the buffer that assembles it, and is lost.
    Oversize {
        /// Bytes of the submessage.
        length_bytes: usize,
        /// Bytes of the buffer.
        max_bytes: usize,
    },
    /// The first fragments of a submessage arrived, but its last one did not.
    Incomplete {
        /// The number of bytes that arrived.
        length_bytes: usize,
    },
    /// Messages of the reliable stream were lost, because the peer does not store them any more.
    Reliable {
        /// The number of messages.
        messages: u16,
    },
    /// Best-effort messages did not arrive.
    BestEffort {
        /// The number of messages.
        messages: u32,
    },
}

/// An event that a link reports to its session.
#[derive(Clone, Debug)]
pub enum Incoming<'a> {
    /// A submessage. ACKNACK, HEARTBEAT and FRAGMENT do not occur here, because the streams handle them.
    Submessage {
        /// The stream in which the submessage came.
        stream: StreamId,
        /// The submessage.
        submessage: Submessage<'a>,
    },
    /// Something was lost.
    Loss(Loss),
    /// A message, or its rest after a valid submessage, could not be read and is dropped.
    Malformed(Error),
}

/// The counters of a link since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// The reliable output stream.
    pub reliable_output: OutputCounts,
    /// The reliable input stream.
    pub reliable_input: InputCounts,
    /// The number of messages that the best-effort output stream sent.
    pub best_effort_sent: u32,
    /// The best-effort input stream.
    pub best_effort_input: BestEffortCounts,
    /// The number of messages that could not be read.
    pub malformed: u32,
    /// The number of messages in streams that this end of the session does not have.
    pub unknown_stream: u32,
}

/// The streams of a session: one reliable and one best-effort stream in each direction. `O`, `I` and `B` are the
/// slots of the reliable output, of the reliable input and of the best-effort output; `A` is the buffer in which
/// fragments are assembled.
#[derive(Debug)]
pub struct Link<O, I, A, B> {
    reliable_output: ReliableOutput<O>,
    reliable_input: ReliableInput<I, A>,
    best_effort_output: BestEffortOutput<B>,
    best_effort_input: BestEffortInput,
    /// Whether the peer has Gantry's extensions: it reads acknowledgements at the end of data messages, and accepts
    /// delayed acknowledgements.
    is_extended: bool,
    /// The latest time for sending a delayed acknowledgement.
    acknowledge_at: Option<Instant>,
    /// Whether an acknowledgement was due but did not fit in the last message. The acknowledgement is then sent before
    /// the next message.
    is_overdue: bool,
    malformed: u32,
    unknown_stream: u32,
    control: [u8; CONTROL_BYTES],
}

impl<O: Storage, I: Storage, A: AsMut<[u8]>, B: Storage> Link<O, I, A, B> {
    /// Makes a link over the caller's memory. [`Self::reset`] begins each session.
    pub const fn new(reliable_output: O, reliable_input: I, assembly: A, best_effort_output: B) -> Self {
        Self {
            reliable_output: ReliableOutput::new(reliable_output),
            reliable_input: ReliableInput::new(reliable_input, assembly),
            best_effort_output: BestEffortOutput::new(best_effort_output),
            best_effort_input: BestEffortInput::new(),
            is_extended: false,
            acknowledge_at: None,
            is_overdue: false,
            malformed: 0,
            unknown_stream: 0,
            control: [0; CONTROL_BYTES],
        }
    }

    /// Begins a session: all sequence numbers are 0 again. Returns the number of messages that were not sent or
    /// not acknowledged, and are forgotten.
    pub fn reset(&mut self, is_extended: bool) -> u16 {
        self.reliable_input.reset();
        self.best_effort_input.reset();
        (self.is_extended, self.acknowledge_at, self.is_overdue) = (is_extended, None, false);
        u16::from(self.reliable_output.reset()) + u16::from(self.best_effort_output.reset())
    }

    /// The number of probes of the reliable output stream since the peer's last useful answer.
    pub fn unanswered(&self) -> u8 {
        self.reliable_output.unanswered()
    }

    /// The number of messages in the reliable output stream that are not acknowledged.
    pub fn unacknowledged(&self) -> u8 {
        self.reliable_output.unacknowledged()
    }

    /// Whether both ends have Gantry's extensions.
    pub fn is_extended(&self) -> bool {
        self.is_extended
    }

    /// The counters.
    pub fn counts(&self) -> LinkCounts {
        LinkCounts {
            reliable_output: self.reliable_output.counts(),
            reliable_input: self.reliable_input.counts(),
            best_effort_sent: self.best_effort_output.sent(),
            best_effort_input: self.best_effort_input.counts(),
            malformed: self.malformed,
            unknown_stream: self.unknown_stream,
        }
    }

    /// Reserves room for a submessage of `bytes` bytes, including its header. Does not block.
    ///
    /// # Errors
    /// [`Refused`]: no slot is free, or a slot is too short.
    pub fn begin(&mut self, stream: StreamId, bytes: usize) -> core::result::Result<SlotWriter<'_>, Refused> {
        if stream.is_reliable() { self.reliable_output.begin(bytes) } else { self.best_effort_output.begin(bytes) }
    }

    /// Copies a submessage with its header, which is given in several pieces, into the stream. In a reliable
    /// stream, a submessage that is longer than a slot is divided into fragments. Does not block.
    ///
    /// # Errors
    /// [`Refused`]: not enough slots are free, or the submessage is longer than all slots together.
    pub fn write(&mut self, stream: StreamId, parts: &[&[u8]]) -> core::result::Result<(), Refused> {
        if stream.is_reliable() { self.reliable_output.write(parts) } else { self.best_effort_output.write(parts) }
    }

    /// Copies a part of a submessage that is longer than all slots of the reliable stream together. The part starts at
    /// byte `copied` and fills the free slots. Returns the number of bytes that all calls have copied. Does not block.
    ///
    /// # Errors
    /// [`Refused`]: another such submessage is not completely in the stream yet.
    pub fn write_part(&mut self, parts: &[&[u8]], copied: usize) -> core::result::Result<usize, Refused> {
        self.reliable_output.write_part(parts, copied)
    }

    /// Adds a submessage of at most `max_bytes` bytes, including its header. Does not block.
    ///
    /// # Errors
    /// [`Refused`]: no slot is free, or the submessage is longer than `max_bytes` or than a slot.
    pub fn add<'p, P: Payload<'p>>(
        &mut self,
        stream: StreamId,
        flags: Flags,
        payload: &P,
        max_bytes: usize,
    ) -> core::result::Result<(), Refused> {
        let mut slot = self.begin(stream, max_bytes)?;
        let mut builder = MessageBuilder::resume(slot.bytes(), 0, 0, ByteOrder::Little);
        if builder.add(flags, payload).is_err() {
            return Err(Refused::TooLong { length: max_bytes + 1, max: max_bytes });
        }
        let length = builder.bytes();
        slot.commit(length);
        Ok(())
    }

    /// Ends the message that is being filled: the next submessage begins a new message.
    pub fn end_message(&mut self, stream: StreamId) {
        if stream.is_reliable() { self.reliable_output.end_message() } else { self.best_effort_output.end_message() }
    }

    /// Writes a message with one submessage, outside of streams.
    ///
    /// # Errors
    /// The submessage is longer than 96 bytes.
    pub fn control<'p, P: Payload<'p>>(&mut self, header: &Header, payload: &P) -> Result<&[u8]> {
        write_control(&mut self.control, header, payload)
    }

    /// Reads a received message after its header, and passes on the submessages that the message's stream delivers.
    pub fn receive(&mut self, header: &Header, message: &[u8], now: Instant, handle: &mut dyn FnMut(Incoming<'_>)) {
        let body = message.get(header.bytes()..).unwrap_or_default();
        let mut streams = Reception { header_bytes: header.bytes(), stream: header.stream, malformed: 0, handle };
        self.read_acknowledgements(&mut streams, body, now);
        match header.stream {
            StreamId::NONE => streams.submessages(body),
            StreamId::BEST_EFFORT => {
                let lost = self.best_effort_input.counts().lost;
                if self.best_effort_input.receive(Sequence(header.sequence)) {
                    let messages = self.best_effort_input.counts().lost.wrapping_sub(lost);
                    if messages > 0 {
                        (streams.handle)(Incoming::Loss(Loss::BestEffort { messages }));
                    }
                    streams.submessages(body);
                }
            }
            StreamId::RELIABLE => {
                // The counters include the result, so it is ignored here.
                let _ =
                    self.reliable_input.receive(Sequence(header.sequence), body, |delivery| streams.deliver(delivery));
            }
            _ => self.unknown_stream = self.unknown_stream.wrapping_add(1),
        }
        self.malformed = self.malformed.wrapping_add(streams.malformed);
        self.delay_acknowledgement(now);
    }

    /// Handles acknowledgements and heartbeats. They take effect on arrival, even if their message has to wait for
    /// earlier messages.
    fn read_acknowledgements(&mut self, streams: &mut Reception<'_>, body: &[u8], now: Instant) {
        for submessage in Submessages::without_header(body, streams.header_bytes).map_while(Result::ok) {
            let mut payload = submessage.payload;
            match submessage.id {
                SubmessageId::ACKNACK => {
                    let AckNack { first_unacknowledged, missing, stream } = AckNack::read(&mut payload);
                    if stream == StreamId::RELIABLE && payload.check().is_ok() {
                        let acknowledgement =
                            Acknowledgement { first_unacknowledged: Sequence(first_unacknowledged), missing };
                        self.reliable_output.acknowledged(acknowledgement, now);
                    }
                }
                SubmessageId::HEARTBEAT => {
                    let Heartbeat { first_unacknowledged, last_sent, stream } = Heartbeat::read(&mut payload);
                    if stream == StreamId::RELIABLE && payload.check().is_ok() {
                        let (first, last) = (Sequence(first_unacknowledged), Sequence(last_sent));
                        self.reliable_input.heartbeat(first, last, |delivery| streams.deliver(delivery));
                    }
                }
                _ => {}
            }
        }
    }

    fn delay_acknowledgement(&mut self, now: Instant) {
        if self.reliable_input.acknowledgement_due() == Due::Soon && self.acknowledge_at.is_none() {
            let round_trip_us = self.reliable_output.round_trip().smoothed_us().unwrap_or(0);
            let delay_us = match self.is_extended {
                true => (round_trip_us / 4).clamp(MIN_DELAY_US, MAX_DELAY_US),
                false if round_trip_us < FAST_ROUND_TRIP_US => 0,
                false => PLAIN_DELAY_US,
            };
            self.acknowledge_at = Some(now.after_us(delay_us));
        }
    }

    fn is_fast(&mut self) -> bool {
        self.reliable_output.round_trip().smoothed_us().is_some_and(|us| us < FAST_ROUND_TRIP_US)
    }

    fn must_acknowledge(&self, now: Instant) -> bool {
        match self.reliable_input.acknowledgement_due() {
            Due::No => false,
            Due::Now => true,
            Due::Soon => {
                self.reliable_input.unacknowledged() >= MAX_UNACKNOWLEDGED
                    || self.acknowledge_at.is_some_and(|at| at <= now)
            }
        }
    }

    /// The next message of the streams; `None` if there is none. The caller repeats the call until the result is
    /// `None`. `header` has the session and the key.
    pub fn transmit(&mut self, header: &Header, now: Instant) -> Option<&[u8]> {
        let has_reliable = self.reliable_output.is_ready(now);
        let has_message = has_reliable || self.best_effort_output.is_ready();
        let must_acknowledge = self.must_acknowledge(now);
        let is_welcome = self.is_fast() && self.reliable_input.acknowledgement_due() != Due::No;
        if must_acknowledge && (!has_message || self.is_overdue) {
            let acknowledgement = acknowledgement(&mut self.reliable_input);
            (self.acknowledge_at, self.is_overdue) = (None, false);
            return self.control(&outside_streams(header), &acknowledgement).ok();
        }
        let (header, message) = if has_reliable {
            match self.reliable_output.next_to_send(now)? {
                ToSend::Message { sequence, message } => {
                    (Header { stream: StreamId::RELIABLE, sequence: sequence.0, ..*header }, message)
                }
                ToSend::Heartbeat { first, last } => {
                    let stream = StreamId::RELIABLE;
                    let heartbeat = Heartbeat { first_unacknowledged: first.0, last_sent: last.0, stream };
                    self.is_overdue = must_acknowledge;
                    return write_control(&mut self.control, &outside_streams(header), &heartbeat).ok();
                }
            }
        } else {
            let (sequence, message) = self.best_effort_output.next_to_send(now)?;
            (Header { stream: StreamId::BEST_EFFORT, sequence: sequence.0, ..*header }, message)
        };
        let has_room = self.is_extended && message.free_bytes() >= MAX_TAIL_BYTES;
        let (memory, mut length) = message.into_memory(header.bytes());
        header.write(&mut Writer::new(memory, ByteOrder::Little));
        self.is_overdue = must_acknowledge && !has_room;
        if has_room && (must_acknowledge || is_welcome) {
            self.acknowledge_at = None;
            let mut builder = MessageBuilder::resume(memory, length, 0, ByteOrder::Little);
            builder.add(Flags::NONE, &acknowledgement(&mut self.reliable_input)).ok()?;
            length = builder.bytes();
        }
        memory.get(..length)
    }

    /// The time at which [`Self::transmit`] may have a message, unless a message arrives or data is written earlier.
    pub fn deadline(&self) -> Option<Instant> {
        let acknowledge_at = self.acknowledge_at.filter(|_| self.reliable_input.acknowledgement_due() != Due::No);
        [self.reliable_output.deadline(), acknowledge_at].into_iter().flatten().min()
    }
}

/// The header of a message outside of streams, in the same session.
fn outside_streams(header: &Header) -> Header {
    Header { stream: StreamId::NONE, sequence: 0, ..*header }
}

fn write_control<'a, 'p, P: Payload<'p>>(memory: &'a mut [u8], header: &Header, payload: &P) -> Result<&'a [u8]> {
    let mut builder = MessageBuilder::with_header(memory, header, ByteOrder::Little);
    builder.add(Flags::NONE, payload)?;
    let length = builder.bytes();
    Ok(memory.get(..length).unwrap_or_default())
}

/// Takes the acknowledgement from the stream, to be sent now.
fn acknowledgement<I: Storage, A: AsMut<[u8]>>(input: &mut ReliableInput<I, A>) -> AckNack {
    let Acknowledgement { first_unacknowledged, missing } = input.acknowledgement();
    AckNack { first_unacknowledged: first_unacknowledged.0, missing, stream: StreamId::RELIABLE }
}

/// The context of a message that is being received, and the function that gets its submessages.
struct Reception<'a> {
    header_bytes: usize,
    stream: StreamId,
    malformed: u32,
    handle: &'a mut dyn FnMut(Incoming<'_>),
}

impl Reception<'_> {
    fn submessages(&mut self, body: &[u8]) {
        for submessage in Submessages::without_header(body, self.header_bytes) {
            match submessage {
                // `read_acknowledgements` has handled them on arrival.
                Ok(Submessage { id: SubmessageId::ACKNACK | SubmessageId::HEARTBEAT, .. }) => {}
                Ok(submessage) => (self.handle)(Incoming::Submessage { stream: self.stream, submessage }),
                Err(error) => {
                    self.malformed = self.malformed.wrapping_add(1);
                    (self.handle)(Incoming::Malformed(error));
                }
            }
        }
    }

    fn deliver(&mut self, delivery: Delivery<'_>) {
        let loss = match delivery {
            Delivery::Submessages(body) => return self.submessages(body),
            Delivery::Oversize { length, max } => Loss::Oversize { length_bytes: length, max_bytes: max },
            Delivery::Incomplete { length } => Loss::Incomplete { length_bytes: length },
            Delivery::Lost { count } => Loss::Reliable { messages: count },
        };
        (self.handle)(Incoming::Loss(loss));
    }
}
