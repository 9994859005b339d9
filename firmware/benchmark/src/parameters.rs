//! The constants of this build. Each list has the topic or service names of the entities of one kind.

include!(concat!(env!("OUT_DIR"), "/parameters.rs"));
