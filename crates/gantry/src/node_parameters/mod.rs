//! A node's parameters: its methods, the services and events of ROS 2, and `use_sim_time`.
//!
//! Each node has `use_sim_time`. A node that declares no other parameter starts no parameter services. This module
//! is on the control path.

mod builder;
mod services;
mod sim_time;

use crate::{
    error::{Error, Result},
    log,
    node::Node,
    parameter::{Parameter, ParameterCallbackHandle, ParameterType, ParameterValue, ParameterVariant},
};
use gantry_msgs::rcl_interfaces::msg::{ListParametersResult, ParameterDescriptor};
use std::collections::BTreeMap;

impl Node {
    /// Declares a parameter and returns its value: the value that the command line gives (`-p name:=value`,
    /// `--params-file`), or else `default`. The parameter keeps the type of the default for ever.
    ///
    /// The first declaration or change starts the node's parameter services, by which `gantry param` finds the
    /// parameter; an executor must run these services.
    /// [`NodeBuilder::start_parameter_services`](crate::NodeBuilder::start_parameter_services) starts the services
    /// earlier, or never.
    ///
    /// ```
    /// # fn main() -> gantry::Result<()> {
    /// let arguments = ["--ros-args", "-p", "rate_hz:=50.0"].map(str::to_owned);
    /// let node = gantry::Node::builder("talker").ros_arguments(arguments).build()?;
    /// let rate_hz = node.declare_parameter("rate_hz", 30.0)?;
    /// let frame = node.declare_parameter("camera.frame", "map")?;
    /// assert_eq!((rate_hz, frame), (50.0, "map".to_owned()));
    /// node.set_parameter("rate_hz", 25.0)?;
    /// let rate_hz: f64 = node.get_parameter("rate_hz")?;
    /// # assert_eq!(rate_hz, 25.0);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The parameter is already declared or has no name; the value on the command line has another type; a callback
    /// refuses the value; shared memory has no room for the services.
    pub fn declare_parameter<T: ParameterVariant>(&self, name: &str, default: T) -> Result<T::Value> {
        self.declare_parameter_with_descriptor(name, default, ParameterDescriptor::default())
    }

    /// Declares a parameter as [`Node::declare_parameter`] does, with a description, a range, or other properties. The
    /// method fills in the name and the type of the descriptor.
    ///
    /// ```
    /// use gantry::{IntegerRange, ParameterDescriptor};
    /// # fn main() -> gantry::Result<()> {
    /// # let node = gantry::Node::new("described")?;
    /// let percent = IntegerRange { from_value: 0, to_value: 100, step: 5 };
    /// let description = "of the full power".to_owned();
    /// let descriptor = ParameterDescriptor { description, integer_range: vec![percent], ..Default::default() };
    /// node.declare_parameter_with_descriptor("power_percent", 50, descriptor)?;
    /// assert!(node.set_parameter("power_percent", 101).is_err());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Node::declare_parameter`]; the value is out of the range.
    pub fn declare_parameter_with_descriptor<T: ParameterVariant>(
        &self,
        name: &str,
        default: T,
        descriptor: ParameterDescriptor,
    ) -> Result<T::Value> {
        self.start_parameters()?;
        let value = self.parameters().declare(name, ParameterType::NotSet, default.into(), descriptor, true)?;
        typed_value::<T>(name, value)
    }

    /// Declares a parameter with a type and without a default. The parameter has a value if the command line gives
    /// one, or once it is set; until then [`Node::get_parameter`] fails.
    ///
    /// # Errors
    /// The errors of [`Node::declare_parameter`].
    pub fn declare_parameter_without_default<T: ParameterVariant>(&self, name: &str) -> Result<Option<T::Value>> {
        self.start_parameters()?;
        let descriptor = ParameterDescriptor { dynamic_typing: T::TYPE == ParameterType::NotSet, ..Default::default() };
        let value = self.parameters().declare(name, T::TYPE, ParameterValue::NotSet, descriptor, true)?;
        if value == ParameterValue::NotSet { Ok(None) } else { typed_value::<T>(name, value).map(Some) }
    }

    /// Removes a parameter. The parameter must have dynamic typing and must not be read-only.
    ///
    /// # Errors
    /// The parameter is not declared or may not be removed; the call comes from a callback of parameter changes.
    pub fn undeclare_parameter(&self, name: &str) -> Result<()> {
        self.parameters().undeclare(name)
    }

    /// Whether the parameter is declared.
    #[must_use]
    pub fn has_parameter(&self, name: &str) -> bool {
        self.parameters().has(name)
    }

    /// Returns a parameter's value as a `T`. The type [`ParameterValue`] accepts any value.
    ///
    /// # Errors
    /// The parameter is not declared, has no value, or has another type.
    pub fn get_parameter<T: ParameterVariant<Value = T>>(&self, name: &str) -> Result<T> {
        typed_value::<T>(name, self.parameters().get(name)?)
    }

    /// Returns the parameters whose names begin with `prefix` and a dot, without this beginning in their names; all
    /// parameters if the prefix is empty.
    #[must_use]
    pub fn get_parameters_by_prefix(&self, prefix: &str) -> BTreeMap<String, ParameterValue> {
        self.parameters().by_prefix(prefix)
    }

    /// Sets a parameter.
    ///
    /// # Errors
    /// The parameter is not declared or is read-only; the value has another type or is out of range; a callback refuses
    /// the value; the call comes from a callback of parameter changes.
    pub fn set_parameter(&self, name: &str, value: impl ParameterVariant) -> Result<()> {
        self.set_parameters_atomically(vec![Parameter::new(name, value)])
    }

    /// Sets parameters one after the other. Each change succeeds or fails independently, as in [`Node::set_parameter`].
    pub fn set_parameters(&self, parameters: Vec<Parameter>) -> Vec<Result<()>> {
        parameters.into_iter().map(|parameter| self.set_parameters_atomically(vec![parameter])).collect()
    }

    /// Sets all of these parameters or, after an error, none.
    ///
    /// # Errors
    /// The errors of [`Node::set_parameter`], for any of the parameters.
    pub fn set_parameters_atomically(&self, parameters: Vec<Parameter>) -> Result<()> {
        self.start_parameters()?;
        self.parameters().set_atomically(parameters)
    }

    /// A parameter's name, type, description and ranges.
    ///
    /// # Errors
    /// A parameter that is not declared.
    pub fn describe_parameter(&self, name: &str) -> Result<ParameterDescriptor> {
        Ok(self.parameters().describe(name)?.0)
    }

    /// Lists the names of the parameters below any of `prefixes` (of all parameters if the list is empty), and the
    /// prefixes of these names. `depth` limits the number of parts of a name below its prefix; 0 means no limit.
    #[must_use]
    pub fn list_parameters(&self, prefixes: &[String], depth: u64) -> ListParametersResult {
        self.parameters().list(prefixes, depth)
    }

    /// Adds a callback that may refuse a change or a declaration of parameters and gives the reason. The callback may
    /// read parameters, but not change them. A callback that owns a clone of its node keeps the node alive for ever:
    /// give it a [`WeakNode`](crate::WeakNode).
    ///
    /// ```
    /// # fn main() -> gantry::Result<()> {
    /// # let node = gantry::Node::new("careful")?;
    /// node.declare_parameter("gear", 1)?;
    /// node.add_on_set_parameters_callback(|parameters| {
    ///     let reverse = |parameter: &&gantry::Parameter| parameter.name == "gear" && parameter.value == (-1).into();
    ///     if parameters.iter().any(|parameter| reverse(&parameter)) { Err("not while driving".to_owned()) } else { Ok(()) }
    /// })?;
    /// let error = node.set_parameter("gear", -1).unwrap_err().to_string();
    /// assert_eq!(error, "parameter \"gear\" is refused: not while driving");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The call comes from a callback of parameter changes.
    pub fn add_on_set_parameters_callback(
        &self,
        callback: impl FnMut(&[Parameter]) -> std::result::Result<(), String> + Send + 'static,
    ) -> Result<ParameterCallbackHandle> {
        self.parameters().add_on_set_callback(Box::new(callback))
    }

    /// Adds a callback that may alter the list of parameters before they are set, for example to set further parameters
    /// together with them, or refuse the change and give the reason. The callback is not called for declarations.
    ///
    /// # Errors
    /// The errors of [`Node::add_on_set_parameters_callback`].
    pub fn add_pre_set_parameters_callback(
        &self,
        callback: impl FnMut(&mut Vec<Parameter>) -> std::result::Result<(), String> + Send + 'static,
    ) -> Result<ParameterCallbackHandle> {
        self.parameters().add_pre_set_callback(Box::new(callback))
    }

    /// Adds a callback that is called with parameters after they were set or declared.
    ///
    /// # Errors
    /// The errors of [`Node::add_on_set_parameters_callback`].
    pub fn add_post_set_parameters_callback(
        &self,
        callback: impl FnMut(&[Parameter]) + Send + 'static,
    ) -> Result<ParameterCallbackHandle> {
        self.parameters().add_post_set_callback(Box::new(callback))
    }

    /// True if the node's parameter services have started, so that an executor has to run them. Bindings that run the
    /// services on a thread of their own need this function.
    #[must_use]
    pub fn has_parameter_services(&self) -> bool {
        self.parameters().is_started()
    }

    /// Warns about values from the command line that no declaration has used, if a declared parameter has a similar
    /// name. This method runs when an executor gets the node, because most nodes have declared their parameters by
    /// then. A later declaration still uses its value.
    pub(crate) fn warn_of_misspelt_parameters(&self) {
        let node = self.fully_qualified_name();
        for (given, declared) in self.parameters().misspelt_overrides() {
            log::warn(
                &node,
                format_args!(
                    "the parameter {given} was given a value, and {node} has not declared it so far; did you mean {declared}?"
                ),
            );
        }
    }

    /// Starts the parameter services before the first declaration or change.
    fn start_parameters(&self) -> Result<()> {
        let parameters = self.parameters();
        match parameters.options().starts_services {
            Some(false) => Ok(()),
            _ => parameters.start_once(|| services::start(self)),
        }
    }
}

/// Converts a value to the type `T`; the error names both types.
fn typed_value<T: ParameterVariant>(name: &str, value: ParameterValue) -> Result<T::Value> {
    let given = value.parameter_type();
    T::from_value(value).ok_or_else(|| {
        let why = format!("its type is {given}, and the caller expects {}", T::TYPE);
        Error::InvalidParameter { name: name.to_owned(), why }
    })
}
