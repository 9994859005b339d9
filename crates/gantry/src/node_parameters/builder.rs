//! The options of a node for its parameters.

use super::sim_time::{self, USE_SIM_TIME};
use crate::{
    error::Result,
    node::{Node, NodeBuilder},
    parameter::{Parameter, ParameterType, ParameterVariant},
};
use gantry_msgs::rcl_interfaces::msg::ParameterDescriptor;

impl NodeBuilder {
    /// Sets the initial value of a parameter. It replaces the default of the declaration and a value from the command
    /// line.
    #[must_use]
    pub fn parameter_override(mut self, name: &str, value: impl ParameterVariant) -> Self {
        self.parameters.overrides.push(Parameter::new(name, value));
        self
    }

    /// Allows undeclared parameters to be set, which declares them. Reading a parameter that does not exist then
    /// returns no value. The default is `false`.
    #[must_use]
    pub fn allow_undeclared_parameters(mut self, on: bool) -> Self {
        self.parameters.allows_undeclared = on;
        self
    }

    /// Declares each parameter for which the command line or [`NodeBuilder::parameter_override`] has a value. Such a
    /// parameter may change its type (dynamic typing). The default is `false`.
    #[must_use]
    pub fn automatically_declare_parameters_from_overrides(mut self, on: bool) -> Self {
        self.parameters.declares_overrides = on;
        self
    }

    /// Starts the node's six parameter services and its publisher on `/parameter_events` at once (`true`) or never
    /// (`false`). By default they start with the first declaration or change.
    #[must_use]
    pub fn start_parameter_services(mut self, on: bool) -> Self {
        self.parameters.starts_services = Some(on);
        self
    }

    /// Makes the node. The node joins the domain in the directory of `GANTRY_SHM_DIR`, by default `/dev/shm`.
    ///
    /// # Errors
    /// ROS 2 does not allow a name or the domain; a rule, an argument or a parameter file is not understood; shared
    /// memory cannot be set up or trusted.
    pub fn build(self) -> Result<Node> {
        let node = self.join()?;
        let parameters = node.parameters();
        let (options, overrides) = (parameters.options(), parameters.overrides());
        sim_time::declare(&node)?;
        if options.starts_services == Some(true) || overrides.contains_key(USE_SIM_TIME) {
            node.start_parameters()?;
        }
        if options.declares_overrides {
            for (name, value) in overrides.iter().filter(|(name, _)| !node.has_parameter(name)) {
                node.start_parameters()?;
                let descriptor = ParameterDescriptor { dynamic_typing: true, ..ParameterDescriptor::default() };
                parameters.declare(name, ParameterType::NotSet, value.clone(), descriptor, false)?;
            }
        }
        Ok(node)
    }
}
