//! The parts of parameters that need no node: values, the values given on the command line, and the store of declared
//! parameters.
//!
//! The module `node_parameters` adds the methods of a node, the services and the events. This module is on the control
//! path.

mod callbacks;
mod descriptor;
mod file;
mod number;
mod overrides;
mod store;
#[cfg(test)]
mod tests;
mod value;
mod yaml;

pub use callbacks::ParameterCallbackHandle;
pub(crate) use overrides::ParameterArguments;
pub use overrides::parameters_from_yaml_file;
pub(crate) use store::{Changes, ParameterOptions, ParameterStore};
pub use value::{Parameter, ParameterType, ParameterValue, ParameterVariant};
