//! The payload of a message on the network: the encapsulation, then the CDR body, which has the same bytes in Gantry.

use gantry::{ENCAPSULATION, GenericSample};
use std::any::Any;
use zenoh::{
    bytes::ZBytes,
    internal::buffers::{ZBuf, ZSlice, ZSliceBuffer},
};

/// A sample whose bytes Zenoh sends without a copy. The sample stays pinned until Zenoh has written it.
#[derive(Debug)]
struct Pinned(GenericSample);

impl ZSliceBuffer for Pinned {
    fn as_slice(&self) -> &[u8] {
        self.0.bytes()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// Makes the payload of a sample without copying the body, which stays in the memory of the sample's publisher.
pub fn in_place(sample: GenericSample) -> ZBytes {
    let mut message = ZBuf::from(ENCAPSULATION.to_vec());
    message.push_zslice(ZSlice::from(Pinned(sample)));
    ZBytes::from(message)
}

/// Makes the payload of a sample with a copy of its body.
pub fn from_sample(sample: &GenericSample) -> ZBytes {
    let mut bytes = vec![0; ENCAPSULATION.len() + sample.message_info().length_bytes];
    let (head, body) = bytes.split_at_mut(ENCAPSULATION.len());
    head.copy_from_slice(&ENCAPSULATION);
    sample.copy_to(body);
    ZBytes::from(bytes)
}

/// Returns the length of the body; `None` if the payload is not plain CDR in little endian. The last two bytes of the
/// encapsulation are ignored, because some implementations write the number of padding bytes there.
pub fn body_length(message: &ZBytes) -> Option<usize> {
    let mut head = [0; 2];
    let mut bytes = message.slices().flatten().copied();
    for byte in &mut head {
        *byte = bytes.next()?;
    }
    (head == ENCAPSULATION[..2]).then(|| message.len().checked_sub(ENCAPSULATION.len())).flatten()
}

/// Copies the body into `target`, which has the length of the body.
pub fn copy_body(message: &ZBytes, mut target: &mut [u8]) {
    let mut head = ENCAPSULATION.len();
    for slice in message.slices() {
        let skipped = head.min(slice.len());
        head -= skipped;
        let slice = &slice[skipped..];
        let (here, rest) = target.split_at_mut(slice.len().min(target.len()));
        here.copy_from_slice(&slice[..here.len()]);
        target = rest;
    }
}

/// Returns a copy of the body.
pub fn body(message: &ZBytes) -> Option<Vec<u8>> {
    let mut body = vec![0; body_length(message)?];
    copy_body(message, &mut body);
    Some(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_slices(message: &[u8], length: usize) -> ZBytes {
        let mut writer = ZBytes::writer();
        message.chunks(length).for_each(|chunk| writer.append(ZBytes::from(chunk.to_vec())));
        writer.finish()
    }

    #[test]
    fn a_body_is_found_in_any_slices() {
        let message = [&ENCAPSULATION[..], &(1..=50).collect::<Vec<u8>>()].concat();
        for length in 1..message.len() {
            assert_eq!(body(&in_slices(&message, length)), Some((1..=50).collect()), "slices of {length}");
        }
        assert_eq!(body(&ZBytes::from(ENCAPSULATION)), Some(vec![]));
        assert_eq!(body(&ZBytes::from(vec![0, 1, 0, 3, 9])), Some(vec![9]), "padding in the options");
    }

    #[test]
    fn other_messages_have_no_body() {
        for message in [&[][..], &[0], &[0, 1], &[0, 1, 0], &[0, 0, 0, 0, 1], &[0, 7, 0, 0, 1]] {
            assert_eq!(body(&ZBytes::from(message.to_vec())), None, "{message:?}");
        }
    }
}
