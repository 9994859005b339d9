//! Publishers.

use super::{
    endpoint_events::EndpointEvents,
    library::{Close, Library},
};
use crate::lock::lock;
use gantry::{GenericLoan, GenericPublisher, Gid, PublishError, PublisherEvent, Qos, SourceTime};
use rmw_abi::{
    failure::{Failure, Result},
    messages::MessageType,
};
use std::{
    ffi::{CString, c_void},
    sync::{Arc, Mutex},
};

/// A publisher, which any thread may use.
pub struct Publisher {
    pub library: Arc<Library<GenericPublisher>>,
    pub gid: Gid,
    pub message_type: Arc<MessageType>,
    /// The QoS that `gantry` granted.
    pub qos: Qos,
    /// The name of the topic, as the program passed it.
    pub topic: CString,
    /// The loans that the program holds. The address of its bytes identifies a loan.
    loans: Mutex<Vec<GenericLoan>>,
    pub events: Arc<EndpointEvents<PublisherEvent>>,
}

impl Publisher {
    pub fn new(library: GenericPublisher, message_type: Arc<MessageType>, qos: Qos, topic: CString) -> Publisher {
        let gid = library.gid();
        let (library, loans) = (Arc::new(Library::new(library)), Mutex::default());
        Publisher { library, gid, message_type, qos, topic, loans, events: EndpointEvents::new() }
    }

    /// Publishes a message: copies a plain message once, and serialises any other message directly into shared memory.
    /// Without a `time`, `gantry` reads the clock.
    ///
    /// # Safety
    /// `message` is a message of the publisher's type, which no other thread writes during the call.
    pub unsafe fn publish(&self, message: *const c_void, time: Option<SourceTime>) -> Result<()> {
        // SAFETY: the promise of the caller.
        let size_bytes = unsafe { self.message_type.size_bytes(message) }?;
        self.library.with(|library| {
            let mut loan = library.loan(size_bytes)?;
            // SAFETY: as above.
            unsafe { self.message_type.write(message, loan.bytes_mut()) }?;
            Ok(publish(library, loan, time).map_err(gantry::Error::from)?)
        })
    }

    /// Publishes a message that is a CDR body already.
    pub fn publish_bytes(&self, body: &[u8], time: Option<SourceTime>) -> Result<()> {
        self.library.with(|library| {
            if time.is_none() {
                library.publish_copy(body)?; // also raises the counter of copies
                return Ok(());
            }
            let mut loan = library.loan(body.len())?;
            loan.bytes_mut().copy_from_slice(body);
            Ok(publish(library, loan, time).map_err(gantry::Error::from)?)
        })
    }

    /// Returns shared memory for a CDR body.
    pub fn loan(&self, size_bytes: usize) -> Result<GenericLoan> {
        self.library.with(|library| Ok(library.loan(size_bytes)?))
    }

    /// Publishes a CDR body that the program wrote into `loan`. After a failure, `loan` still holds the loan.
    pub fn publish_in_place(&self, loan: &mut Option<GenericLoan>, time: Option<SourceTime>) -> Result<()> {
        self.library.with(|library| {
            let Some(given) = loan.take() else { return Ok(()) };
            publish(library, given, time).map_err(|error| {
                let failure = Failure::error(&error);
                *loan = Some(error.loan);
                failure
            })
        })
    }

    /// Returns shared memory for a plain message.
    pub fn borrow(&self) -> Result<*mut c_void> {
        let Some(size_bytes) = self.message_type.plain_bytes() else {
            let name = &self.message_type.description().name;
            return Err(Failure::unsupported(&format!(
                "loans of {name}, which has strings, sequences or other padding than CDR,"
            )));
        };
        let mut loan = self.loan(size_bytes)?;
        let address = loan.bytes_mut().as_mut_ptr();
        lock(&self.loans).push(loan);
        Ok(address.cast())
    }

    /// Removes a loan from the list of the program's loans.
    fn take_back(&self, message: *const c_void) -> Result<GenericLoan> {
        let mut loans = lock(&self.loans);
        let index = loans.iter().position(|loan| std::ptr::eq(loan.bytes().as_ptr(), message.cast()));
        let index = index.ok_or_else(|| {
            Failure::invalid(format_args!("the message at {message:p} is not on loan from this publisher"))
        })?;
        Ok(loans.swap_remove(index))
    }

    /// Publishes the loaned message without a copy.
    pub fn publish_loan(&self, message: *const c_void, time: Option<SourceTime>) -> Result<()> {
        self.library.with(|library| match publish(library, self.take_back(message)?, time) {
            Ok(()) => Ok(()),
            Err(error) => {
                let failure = Failure::error(&error);
                lock(&self.loans).push(error.loan); // the program still holds the loan
                Err(failure)
            }
        })
    }

    /// Takes a loan back without publishing it.
    pub fn return_loan(&self, message: *const c_void) -> Result<()> {
        self.take_back(message).map(drop)
    }
}

/// Publishes a loan with the source time `time`. Without a `time`, `gantry` reads the clock.
fn publish(
    library: &mut GenericPublisher,
    loan: GenericLoan,
    time: Option<SourceTime>,
) -> std::result::Result<(), PublishError<GenericLoan>> {
    match time {
        Some(time) => library.publish_at(loan, time),
        None => library.publish(loan),
    }
    .map(drop)
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.events.close();
    }
}
