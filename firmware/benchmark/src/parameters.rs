//! The constants of this build. Each list has the topics of its entities.

include!(concat!(env!("OUT_DIR"), "/parameters.rs"));
