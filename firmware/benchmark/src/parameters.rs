//! The constants of this build. The entities are named by their topics.

include!(concat!(env!("OUT_DIR"), "/parameters.rs"));
