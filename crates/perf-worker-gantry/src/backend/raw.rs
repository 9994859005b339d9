//! Messages that are bytes without a type (`--raw`).
//!
//! Gantry's endpoints need a type to match. The type is an array of bytes with the length of the message, so its
//! encoding is just these bytes.

use std::hint::black_box;

use ::gantry::{GenericSample, TypeDescription, gantry_cdr};

use super::SizedType;
use crate::messages::{MessageType, OwnedMessage, Seen};
use perf_worker::{
    backend::Draft,
    clock::now_ns,
    endpoint::EndpointPlan,
    raw::{self, RAW_HEADER_BYTES},
    run_spec::Content,
    stamp::Stamped,
};

const TYPE_NAME: &str = "perf_test_msgs/msg/Raw";

static RAW: MessageType = MessageType {
    name: "Raw",
    type_name: TYPE_NAME,
    content: Content::Plain,
    last_id: u64::MAX,
    description,
    prepared,
    view,
    to_owned,
};

/// The type of an endpoint that sends or receives bytes.
pub fn sized_type(plan: &EndpointPlan) -> SizedType {
    SizedType { message_type: &RAW, size_bytes: plan.message.bytes }
}

fn description(length_bytes: usize) -> TypeDescription {
    TypeDescription {
        name: TYPE_NAME.to_owned(),
        definition: format!("uint8[{length_bytes}] message\n").into(),
        payload_bytes: length_bytes,
        ..TypeDescription::default()
    }
}

fn prepared(length_bytes: usize) -> Box<dyn OwnedMessage> {
    Box::new(Raw(vec![0; length_bytes]))
}

fn view(body: &[u8], reader: &mut dyn FnMut(Seen<'_>)) -> Result<(), String> {
    let received_ns = now_ns();
    let stamped = raw::read_stamp(body).ok_or_else(|| too_short(body.len()))?;
    reader(Seen { received_ns, stamped, payload: raw::payload(body) });
    Ok(())
}

fn to_owned(body: &[u8]) -> Result<Box<dyn OwnedMessage>, String> {
    if body.len() < RAW_HEADER_BYTES { Err(too_short(body.len())) } else { Ok(Box::new(Raw(body.to_vec()))) }
}

#[cold]
fn too_short(length_bytes: usize) -> String {
    format!("a message of {length_bytes} bytes has no time and no id")
}

/// The bytes of a message.
struct Raw(Vec<u8>);

impl OwnedMessage for Raw {
    fn touch(&mut self) {
        black_box(&mut self.0).fill(0);
    }

    fn loan_bytes(&self) -> Result<usize, String> {
        Ok(self.0.len())
    }

    fn write_loan(&self, loan: &mut [u8], draft: &mut dyn Draft) -> Result<(), String> {
        draft.write(raw::payload_mut(loan));
        raw::write_stamp(loan, draft.stamp());
        Ok(())
    }

    fn write(&mut self, draft: &mut dyn Draft) {
        draft.write(raw::payload_mut(&mut self.0));
        raw::write_stamp(&mut self.0, draft.stamp());
    }

    fn body_bytes(&self) -> Result<usize, String> {
        Ok(self.0.len())
    }

    fn write_body(&self, body: &mut [u8]) -> Result<(), String> {
        gantry_cdr::copy(body, &self.0);
        Ok(())
    }

    fn copy_from(&mut self, sample: &GenericSample, _: &mut Vec<u8>) -> Result<(), String> {
        sample.copy_into(&mut self.0);
        if self.0.len() < RAW_HEADER_BYTES { Err(too_short(self.0.len())) } else { Ok(()) }
    }

    fn stamped(&self) -> Stamped {
        raw::read_stamp(&self.0).unwrap_or(Stamped { time_ns: 0, id: 0 })
    }

    fn payload(&self) -> &[u8] {
        raw::payload(&self.0)
    }
}
