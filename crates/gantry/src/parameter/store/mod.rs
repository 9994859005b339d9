//! The declared parameters of a node, with the rules of rclcpp (`node_parameters.cpp`). The module `change` changes the
//! parameters, and `lookup` reads them.
//!
//! Invariants: one thread at a time changes parameters, and callbacks of changes run on this thread. These callbacks
//! may read parameters, but not change them. A change is made completely or not at all.

mod change;
mod lookup;

use super::{
    callbacks::{Callbacks, OnSet, ParameterCallbackHandle, PostSet, PreSet},
    descriptor,
    value::{Parameter, ParameterType, ParameterValue},
};
use crate::{
    error::{Error, Result},
    wait::lock,
};
use gantry_msgs::rcl_interfaces::msg::ParameterDescriptor;
use std::{
    any::Any,
    collections::BTreeMap,
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread::ThreadId,
};

/// A declared parameter.
#[derive(Clone, Debug, Default)]
struct Declared {
    descriptor: ParameterDescriptor,
    value: ParameterValue,
}

/// The parameters of a change, in the three lists of a parameter event (`rcl_interfaces/msg/ParameterEvent`).
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) new: Vec<Parameter>,
    pub(crate) changed: Vec<Parameter>,
    pub(crate) deleted: Vec<Parameter>,
}

/// The options of a node about its parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct ParameterOptions {
    /// The overrides that the node's builder sets; they replace the values of ROS arguments.
    pub(crate) overrides: Vec<Parameter>,
    pub(crate) allows_undeclared: bool,
    pub(crate) declares_overrides: bool,
    /// Whether the parameter services start at once (`true`) or never (`false`); `None` if they start with the first
    /// declaration or change.
    pub(crate) starts_services: Option<bool>,
}

/// The parameters of a node.
#[derive(Default)]
pub(crate) struct ParameterStore {
    options: ParameterOptions,
    overrides: BTreeMap<String, ParameterValue>,
    declared: Mutex<BTreeMap<String, Declared>>,
    /// The callbacks of changes. The mutex is locked during a change, by the thread in `changer`.
    callbacks: Mutex<Callbacks>,
    changer: Mutex<Option<ThreadId>>,
    /// Whether the node's services have started, or are starting now.
    is_started: AtomicBool,
    /// The function that is called with each change; set when the node's services start.
    listener: OnceLock<Box<dyn Fn(Changes) + Send + Sync>>,
    /// Objects that live as long as the store.
    kept: Mutex<Vec<Box<dyn Any + Send>>>,
}

impl ParameterStore {
    /// Creates a store without parameters; `overrides` are the values that the ROS arguments give.
    pub(crate) fn new(
        mut overrides: BTreeMap<String, ParameterValue>,
        mut options: ParameterOptions,
    ) -> ParameterStore {
        overrides.extend(options.overrides.drain(..).map(|parameter| (parameter.name, parameter.value)));
        ParameterStore { overrides, options, ..ParameterStore::default() }
    }

    pub(crate) fn options(&self) -> &ParameterOptions {
        &self.options
    }

    /// Calls `start` once, and again after an error. A second thread does not wait for the end of `start`. No lock is
    /// held during `start`, because it waits for callbacks of changes, which may call this method.
    pub(crate) fn start_once(&self, start: impl FnOnce() -> Result<()>) -> Result<()> {
        if self.is_started.swap(true, SeqCst) {
            return Ok(());
        }
        start().inspect_err(|_| self.is_started.store(false, SeqCst))
    }

    /// True if [`ParameterStore::start_once`] has started the services.
    pub(crate) fn is_started(&self) -> bool {
        self.is_started.load(SeqCst)
    }

    pub(crate) fn overrides(&self) -> &BTreeMap<String, ParameterValue> {
        &self.overrides
    }

    /// Sets the function that is called at each change, if none is set, and calls it with the parameters that already
    /// have a value.
    pub(crate) fn set_listener(&self, listener: impl Fn(Changes) + Send + Sync + 'static) -> Result<()> {
        let change = self.change("a listener")?;
        if self.listener.set(Box::new(listener)).is_ok() {
            let declared = self.by_prefix("").into_iter().filter(|(_, value)| *value != ParameterValue::NotSet);
            let new = declared.map(|(name, value)| Parameter { name, value }).collect();
            change.publish(Changes { new, ..Changes::default() });
        }
        Ok(())
    }

    /// Keeps an object until the store is dropped.
    pub(crate) fn keep(&self, thing: impl Any + Send) {
        lock(&self.kept).push(Box::new(thing));
    }

    /// Drops the kept objects of this type.
    pub(crate) fn drop_kept<T: Any>(&self) {
        let dropped: Vec<_> = lock(&self.kept).extract_if(.., |thing| thing.is::<T>()).collect();
        drop(dropped); // dropped after the unlock
    }

    /// Declares a parameter and returns its value: the override if there is one, or else `default`. If `wanted` is
    /// `NotSet`, the parameter has the type of the default.
    pub(crate) fn declare(
        &self,
        name: &str,
        wanted: ParameterType,
        default: ParameterValue,
        mut descriptor: ParameterDescriptor,
        heeds_override: bool,
    ) -> Result<ParameterValue> {
        if name.is_empty() {
            return Err(refused(name, "its name is empty"));
        }
        let change = self.change(name)?;
        if self.has(name) {
            return Err(Error::ParameterAlreadyDeclared { name: name.to_owned() });
        }
        let given = if wanted == ParameterType::NotSet { default.parameter_type() } else { wanted };
        if !descriptor.dynamic_typing && given == ParameterType::NotSet {
            return Err(refused(name, "it has no type: give it a value or a type, or allow dynamic typing"));
        }
        descriptor.name = name.to_owned();
        descriptor.r#type = given as u8;
        let overridden = self.overrides.get(name).filter(|_| heeds_override);
        let value = overridden.cloned().unwrap_or(default);
        let parameter = [Parameter { name: name.to_owned(), value: value.clone() }];
        let is_set = value != ParameterValue::NotSet;
        if is_set {
            descriptor::check(&descriptor, &value).map_err(|why| refused(name, why))?;
            change.ask(&parameter)?;
            descriptor.r#type = value.parameter_type() as u8;
        }
        lock(&self.declared).insert(name.to_owned(), Declared { descriptor, value: value.clone() });
        if is_set {
            change.tell(&parameter, Changes { new: parameter.to_vec(), ..Changes::default() });
        }
        Ok(value)
    }

    /// Sets all of the parameters, or none.
    pub(crate) fn set_atomically(&self, mut parameters: Vec<Parameter>) -> Result<()> {
        let name = parameters.first().map_or("", |first| &first.name).to_owned();
        let change = self.change(&name)?;
        let altered = change.callbacks.pre_set.run(|callback| callback(&mut parameters));
        altered.collect::<std::result::Result<(), String>>().map_err(|why| refused(&name, why))?;
        if parameters.is_empty() {
            return Err(refused(
                "",
                "the list of parameters to set is empty; pass at least one parameter, and keep at least one in \
                 callbacks that run before the change (add_pre_set_parameters_callback)",
            ));
        }
        let mut staged = BTreeMap::<String, Declared>::new();
        for parameter in &parameters {
            let name = &parameter.name;
            let known = staged.get(name).cloned().or_else(|| lock(&self.declared).get(name).cloned());
            staged.insert(name.clone(), self.checked(parameter, known)?);
        }
        change.ask(&parameters)?;
        let changes = self.replace(staged);
        change.tell(&parameters, changes);
        Ok(())
    }

    /// Replaces the parameters with their new states. A parameter that loses its value is removed and listed as
    /// deleted.
    fn replace(&self, staged: BTreeMap<String, Declared>) -> Changes {
        let (mut declared, mut changes) = (lock(&self.declared), Changes::default());
        for (name, new) in staged {
            let old = declared.remove(&name);
            let is_new = old.is_none();
            let deleted = old
                .map(|old| old.value)
                .filter(|old| new.value == ParameterValue::NotSet && *old != ParameterValue::NotSet);
            if let Some(value) = deleted {
                changes.deleted.push(Parameter { name, value });
                continue;
            }
            let list = if is_new { &mut changes.new } else { &mut changes.changed };
            list.push(Parameter { name: name.clone(), value: new.value.clone() });
            declared.insert(name, new);
        }
        changes
    }

    /// Returns the parameter with the new value, if its descriptor allows the value.
    fn checked(&self, parameter: &Parameter, known: Option<Declared>) -> Result<Declared> {
        let Parameter { name, value } = parameter;
        let mut declared = match known {
            Some(declared) => declared,
            None if name.is_empty() => return Err(refused(name, "its name is empty")),
            None if self.options.allows_undeclared => {
                let descriptor = ParameterDescriptor { name: name.clone(), dynamic_typing: true, ..Default::default() };
                Declared { descriptor, value: ParameterValue::NotSet }
            }
            None => return Err(Error::ParameterNotDeclared { name: name.clone() }),
        };
        if declared.descriptor.read_only {
            return Err(refused(name, "it is read-only"));
        }
        descriptor::check(&declared.descriptor, value).map_err(|why| refused(name, why))?;
        declared.descriptor.r#type = value.parameter_type() as u8;
        declared.value = value.clone();
        Ok(declared)
    }

    /// Removes a parameter, which must have dynamic typing.
    pub(crate) fn undeclare(&self, name: &str) -> Result<()> {
        let _change = self.change(name)?;
        let mut declared = lock(&self.declared);
        let Some(parameter) = declared.get(name) else {
            return Err(Error::ParameterNotDeclared { name: name.to_owned() });
        };
        if parameter.descriptor.read_only {
            return Err(refused(name, "it cannot be undeclared, since it is read-only"));
        }
        if !parameter.descriptor.dynamic_typing {
            return Err(refused(name, "it cannot be undeclared, since it has no dynamic typing"));
        }
        declared.remove(name);
        Ok(())
    }

    pub(crate) fn add_pre_set_callback(&self, callback: Box<PreSet>) -> Result<ParameterCallbackHandle> {
        Ok(self.change("a callback")?.callbacks.pre_set.add(callback))
    }

    pub(crate) fn add_on_set_callback(&self, callback: Box<OnSet>) -> Result<ParameterCallbackHandle> {
        Ok(self.change("a callback")?.callbacks.on_set.add(callback))
    }

    pub(crate) fn add_post_set_callback(&self, callback: Box<PostSet>) -> Result<ParameterCallbackHandle> {
        Ok(self.change("a callback")?.callbacks.post_set.add(callback))
    }
}

fn refused(name: &str, why: impl Into<String>) -> Error {
    Error::InvalidParameter { name: name.to_owned(), why: why.into() }
}

impl std::fmt::Debug for ParameterStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ParameterStore({:?})", lock(&self.declared).keys().collect::<Vec<_>>())
    }
}
