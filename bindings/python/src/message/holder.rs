//! The holder of a message's memory: a sample, a loan or a private copy. Each view of the message and each array on it
//! keep the holder alive, and so the pin of the sample or the slot of the loan.
//!
//! Invariants:
//! - A loan leaves its holder only when it is published, and only if no array on it is alive. Therefore no array can
//!   write into a published message or into a free slot.
//! - No thread waits for the lock of a loan. Python's garbage collector may run code while the loan is locked; such
//!   code gets an error instead of the lock.

use crate::{error::failed, fork::LoanAddress};
use gantry::{GenericLoan, GenericRequest, GenericResponse, GenericSample, SampleInfo};
use pyo3::PyResult;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, TryLockError, Weak},
};

/// The memory of a message.
pub enum Holder {
    /// A sample that a subscription took.
    Sample(GenericSample),
    /// A request that a service took.
    Request(GenericRequest),
    /// A response that a client took.
    Response(GenericResponse),
    /// A private copy.
    Bytes(Vec<u8>),
    /// A loan that the user writes and publishes.
    Loan(Loan),
}

/// A loan and the arrays on it.
pub struct Loan(Mutex<State>);

/// The state of a loan.
pub struct State {
    /// The loan; `None` after it was published.
    loan: Option<GenericLoan>,
    /// The living arrays that were created on the loan.
    arrays: Vec<Weak<WritableArray>>,
    /// The registration of the loan's memory for forked children.
    _address: LoanAddress,
}

/// A token of an array that may write into a loan. While the token is alive, the loan cannot be published.
pub struct WritableArray {
    field: String,
}

/// Access to the bytes of a message.
pub enum Body<'a> {
    /// Bytes that do not change.
    Fixed(&'a [u8]),
    /// The bytes of a loan, which is locked during the access.
    Loan(MutexGuard<'a, State>),
}

impl Holder {
    /// A loan.
    pub fn loan(loan: GenericLoan) -> Holder {
        let address = LoanAddress::new(loan.bytes());
        Holder::Loan(Loan(Mutex::new(State { loan: Some(loan), arrays: Vec::new(), _address: address })))
    }

    /// The bytes.
    pub fn body(&self) -> PyResult<Body<'_>> {
        Ok(match self {
            Holder::Sample(sample) => Body::Fixed(sample.bytes()),
            Holder::Request(request) => Body::Fixed(request.bytes()),
            Holder::Response(response) => Body::Fixed(response.bytes()),
            Holder::Bytes(bytes) => Body::Fixed(bytes),
            Holder::Loan(loan) => Body::Loan(loan.lock()?),
        })
    }

    /// The properties of a sample, request or response; `None` for other messages.
    pub fn info(&self) -> Option<SampleInfo> {
        match self {
            Holder::Sample(sample) => Some(sample.message_info()),
            Holder::Request(request) => Some(request.message_info()),
            Holder::Response(response) => Some(response.message_info()),
            Holder::Bytes(_) | Holder::Loan(_) => None,
        }
    }

    /// The loan. Fails if the message is not a loan.
    pub fn as_loan(&self) -> PyResult<&Loan> {
        match self {
            Holder::Loan(loan) => Ok(loan),
            _ => Err(failed("this message is not a loan; only a loan can be written in place")),
        }
    }
}

impl Loan {
    fn lock(&self) -> PyResult<MutexGuard<'_, State>> {
        let state = match self.0.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(failed("this loan is being read or written; a loan belongs to one thread at a time"));
            }
        };
        match state.loan {
            Some(_) => Ok(state),
            None => {
                Err(failed("this loan was published or returned: its message is not yours any more; loan another one"))
            }
        }
    }

    /// Removes the loan from its holder for publishing. Fails while an array on the loan is alive.
    pub fn take(&self, topic: &str) -> PyResult<GenericLoan> {
        let mut state = self.lock()?;
        let mut alive: BTreeMap<String, usize> = BTreeMap::new();
        for array in state.arrays.iter().filter_map(Weak::upgrade) {
            *alive.entry(array.field.clone()).or_default() += 1;
        }
        if !alive.is_empty() {
            let fields: Vec<_> = alive.keys().map(|field| format!("`{field}`")).collect();
            return Err(failed(format!(
                "the loan on {topic} cannot be published: an array of {} is alive and could still write into it; delete \
                 variables, slices, memoryviews and tensors of it first (del NAME), or write without a variable, as in \
                 msg.data[:] = frame",
                fields.join(" and of ")
            )));
        }
        state.loan.take().ok_or_else(|| failed("this loan was published already"))
    }

    /// Returns a loan that could not be published to its holder.
    pub fn put_back(&self, loan: GenericLoan) {
        if let Ok(mut state) = self.0.try_lock() {
            state.loan = Some(loan);
        }
    }

    /// Returns the slot of the loan to the publisher. If arrays on the loan are alive, the slot is returned when the
    /// last of them is dropped.
    pub fn give_back(&self) {
        let Ok(mut state) = self.lock() else { return };
        if state.arrays.iter().all(|array| array.strong_count() == 0) {
            state.loan = None;
        }
    }
}

impl State {
    /// The bytes of the loan, writable.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.loan.as_mut().map_or(&mut [], |loan| loan.bytes_mut())
    }

    /// Creates the token for a new array on the field `field`.
    pub fn add_array(&mut self, field: &str) -> Arc<WritableArray> {
        self.arrays.retain(|array| array.strong_count() > 0);
        let array = Arc::new(WritableArray { field: field.to_owned() });
        self.arrays.push(Arc::downgrade(&array));
        array
    }
}

impl Body<'_> {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Body::Fixed(bytes) => bytes,
            Body::Loan(state) => state.loan.as_ref().map_or(&[], |loan| loan.bytes()),
        }
    }
}
