//! The parameters of nodes: viewers' requests for them, and changes that are sent to viewers.

use super::Hub;
use crate::{
    domain::{Found, changes, get, nodes_of, set},
    lock::lock,
    protocol::{Level, Parameter, parameter_values, status},
    threads::spawn,
    viewer::Viewer,
};
use gantry::{GenericSubscription, Qos};
use gantry_command::{
    Result,
    message::{TopicType, Value, json_of},
    say,
};
use std::{sync::Arc, thread, time::Duration};

/// The topic on which nodes publish changes of parameters.
const EVENTS: &str = "/parameter_events";
/// The time between two checks whether viewers still want changes of parameters.
const PERIOD: Duration = Duration::from_millis(200);

impl Hub {
    pub(super) fn get_parameters(&self, viewer: &Viewer, names: &[String], id: Option<String>) {
        let nodes = nodes_of(lock(&self.shown).service_names());
        answer(viewer, get(&self.node, names, &nodes), id);
    }

    pub(super) fn set_parameters(&self, viewer: &Viewer, parameters: &[Parameter], id: Option<String>) {
        answer(viewer, set(&self.node, parameters), id);
    }

    /// Starts the thread that follows changes of parameters, unless it is already running.
    pub(super) fn watch_parameters(self: &Arc<Self>) -> std::result::Result<(), String> {
        let mut has_events = lock(&self.has_events);
        if !*has_events {
            let hub = self.clone();
            spawn("foxglove-events", move || hub.follow_parameters()).map_err(|error| error.to_string())?;
            *has_events = true;
        }
        Ok(())
    }

    /// Sends changes of parameters to viewers until no viewer wants them. After an error, it prints the error once and
    /// tries again.
    fn follow_parameters(&self) {
        let mut said = String::new();
        while !self.end_events() {
            if let Err(error) = self.show_changes() {
                let sentence = format!("changes of parameters are not shown: {error}");
                if sentence != said {
                    say(&sentence);
                    said = sentence;
                }
                thread::sleep(PERIOD);
            }
        }
    }

    /// Marks the thread as ended and returns `true` if no viewer wants changes. A later request then starts a new
    /// thread.
    fn end_events(&self) -> bool {
        let mut has_events = lock(&self.has_events);
        *has_events = self.are_changes_wanted();
        !*has_events
    }

    fn are_changes_wanted(&self) -> bool {
        gantry::ok() && lock(&self.viewers).values().any(|viewer| !lock(&viewer.parameters).is_empty())
    }

    /// Subscribes to `/parameter_events` and sends the changes to viewers, as long as viewers want them.
    fn show_changes(&self) -> Result<()> {
        let Some(description) = self.graph.type_named("rcl_interfaces/msg/ParameterEvent", EVENTS)? else {
            thread::sleep(PERIOD); // no node has parameters yet
            return Ok(());
        };
        let event_type = TopicType::new(&description)?;
        let qos = Qos::parameter_events();
        let mut subscription = self.node.create_generic_subscription(EVENTS, description, qos)?;
        while self.are_changes_wanted() {
            subscription.wait(PERIOD)?;
            self.show_taken(&event_type, &mut subscription)?;
        }
        Ok(())
    }

    /// Sends the available changes to the viewers. Skips a malformed message, because it is only the fault of its
    /// publisher.
    fn show_taken(&self, event_type: &TopicType, subscription: &mut GenericSubscription) -> Result<()> {
        while let Some(sample) = subscription.take()? {
            match event_type.view(sample.bytes()) {
                Ok(event) => self.tell_parameters(&changes(&json_of(Value::Message(event)))),
                Err(error) => say(format_args!("a change of parameters is not shown: {EVENTS}: {error}")),
            }
        }
        Ok(())
    }

    fn tell_parameters(&self, parameters: &[Parameter]) {
        for viewer in lock(&self.viewers).values() {
            let wanted = lock(&viewer.parameters);
            let news: Vec<Parameter> =
                parameters.iter().filter(|parameter| wanted.has(&parameter.name)).cloned().collect();
            if !news.is_empty() {
                viewer.outbox.answer(parameter_values(&news, None));
            }
        }
    }
}

fn answer(viewer: &Viewer, found: Found, id: Option<String>) {
    let (parameters, problems) = found;
    problems.iter().for_each(|problem| viewer.outbox.answer(status(Level::Warning, problem, None)));
    viewer.outbox.answer(parameter_values(&parameters, id.as_deref()));
}
