//! `perf_test`: measures publish and subscribe between real processes, honestly.
//!
//! The program is the coordinator of a run; its workers are the same executable again, one process
//! for the publishers and one for each subscription. Only `worker`, `messages`, `domain` and `topic`
//! know the middleware; what is measured, merged and reported knows plain numbers.
//!
//! ```text
//! cli ─► experiment ─► coordinator ─► report        compare (two runs)
//!                       │   ▲ rows
//!                 orders▼   │
//!                       worker ─► measure, pacing, messages ─► gantry
//! ```
//! `system` describes the machine itself and knows none of these.
//! It does not measure across hosts: latencies are differences of one clock.
#![forbid(unsafe_code)]

pub mod backend;
pub mod cli;
pub mod clock;
pub mod compare;
pub mod coordinator;
pub mod error;
pub mod experiment;
pub mod idle;
pub mod interrupt;
pub mod measure;
pub mod messages;
pub mod pacing;
pub mod payload;
pub mod program;
pub mod repeat;
pub mod report;
pub mod requirement;
pub mod row;
pub mod session;
pub mod system;
pub mod topic;
pub mod worker;
