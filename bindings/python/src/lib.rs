//! The native part of Gantry's package for Python: `gantry._native`.
//!
//! The module wraps the generic API of `gantry`, with messages in shared memory. Message classes and executors are
//! Python code (`python/gantry`). The library calls Python only for parameter callbacks, so none of its threads waits
//! for the interpreter.

mod entities;
mod error;
mod fork;
mod log;
mod message;
mod qos;
mod wait;
mod waiter;

/// The module `gantry._native`.
#[pyo3::pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::{
        entities::{
            events::Events,
            graph::Graph,
            node::Node,
            publisher::Publisher,
            service::{Client, Service},
            subscription::Subscription,
            timer::{GuardCondition, Timer, monotonic_ns},
        },
        error::GantryError,
        fork::after_fork_in_child,
        log::{end_log, take_log},
        message::{
            field::{LoanField, SampleField, Wrapper},
            types::{PySchema, load_schema, standard_names, standard_schema},
            view::View,
        },
        wait::set_shut_down,
        waiter::Waiter,
    };

    /// The alignment of Python objects.
    const OBJECT_ALIGN: usize = 16;

    /// Checks at compile time that the classes need no greater alignment, because PyO3 does not check this.
    macro_rules! assert_alignment {
        ($($class:ty)+) => {$(
            const _: () = assert!(align_of::<$class>() <= OBJECT_ALIGN, "Python's objects are aligned to 16 bytes");
        )+};
    }
    assert_alignment! {
        Client Events Graph GuardCondition LoanField Node Publisher PySchema SampleField Service Subscription Timer View
        Waiter Wrapper crate::message::memory::Memory
    }

    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::log::install();
        Ok(())
    }
}
