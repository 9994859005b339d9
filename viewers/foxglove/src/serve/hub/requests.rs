//! The requests of viewers.

use super::Hub;
use crate::{
    domain::{Publication, call, changes, get, nodes_of, set},
    lock::lock,
    protocol::{
        Binary, CallFailure, ClientChannel, Level, NewSubscription, Parameter, Request, ServiceEntry, call_failure,
        call_response, parameter_values, status,
    },
    viewer::Viewer,
};
use gantry::Qos;
use gantry_command::{
    Result,
    message::{TopicType, Value, json_of},
    say, spawn,
};
use std::{
    collections::btree_map::Entry,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

/// The topic of the changes of parameters.
const EVENTS: &str = "/parameter_events";
/// The time between two looks at whether viewers want changes of parameters.
const PERIOD: Duration = Duration::from_millis(200);

impl Hub {
    /// Does what the viewer asks for.
    ///
    /// # Errors
    /// A sentence for the viewer.
    pub fn answer(self: &Arc<Self>, viewer: &Arc<Viewer>, request: Request) -> std::result::Result<(), String> {
        match request {
            Request::Subscribe { subscriptions } => {
                return first_error(subscriptions.into_iter().map(|new| self.subscribe(viewer, new)));
            }
            Request::Unsubscribe { subscription_ids } => {
                subscription_ids.into_iter().for_each(|id| self.unsubscribe(viewer, id));
            }
            Request::Advertise { channels } => {
                return first_error(channels.iter().map(|channel| self.advertise(viewer, channel)));
            }
            Request::Unadvertise { channel_ids } => {
                let mut publications = lock(&self.publications);
                channel_ids.into_iter().for_each(|id| drop(publications.remove(&(viewer.id, id))));
            }
            Request::GetParameters { parameter_names, id } => {
                return self.spawn_task(viewer, move |hub, viewer| hub.get_parameters(viewer, &parameter_names, id));
            }
            Request::SetParameters { parameters, id } => {
                self.check_writing()?;
                return self.spawn_task(viewer, move |hub, viewer| hub.set_parameters(viewer, &parameters, id));
            }
            Request::SubscribeParameterUpdates { parameter_names } => {
                lock(&viewer.parameters).extend(parameter_names);
                return self.watch_parameters();
            }
            Request::UnsubscribeParameterUpdates { parameter_names } => {
                lock(&viewer.parameters).retain(|name| !parameter_names.contains(name));
            }
            Request::SubscribeConnectionGraph => {
                let shown = lock(&self.shown);
                viewer.wants_graph.store(true, Relaxed);
                viewer.outbox.answer(shown.graph());
            }
            Request::UnsubscribeConnectionGraph => viewer.wants_graph.store(false, Relaxed),
        }
        Ok(())
    }

    /// Takes a message or a call of the viewer.
    ///
    /// # Errors
    /// A sentence for the viewer.
    pub fn take(self: &Arc<Self>, viewer: &Arc<Viewer>, message: Binary<'_>) -> std::result::Result<(), String> {
        match message {
            Binary::Message { channel_id, payload } => {
                let mut publications = lock(&self.publications);
                let publication = publications.get_mut(&(viewer.id, channel_id));
                let publication = publication.ok_or_else(|| format!("channel {channel_id} is not advertised"))?;
                publication.publish(payload).map_err(|error| format!("a message is not published: {error}"))
            }
            Binary::Call { service_id, call_id, encoding, payload } => {
                if let Err(why) = self.begin_call(viewer, service_id, call_id, encoding, payload) {
                    viewer.outbox.answer(call_failure(CallFailure { service_id, call_id, why: &why }));
                }
                Ok(())
            }
        }
    }

    fn begin_call(
        self: &Arc<Self>,
        viewer: &Arc<Viewer>,
        service_id: u32,
        call_id: u32,
        encoding: &str,
        payload: &[u8],
    ) -> std::result::Result<(), String> {
        self.check_writing()?;
        let service = lock(&self.shown).service(service_id).cloned();
        let service = service.ok_or_else(|| format!("there is no service {service_id} any more"))?;
        let (encoding, payload) = (encoding.to_owned(), payload.to_vec());
        self.spawn_task(viewer, move |hub, viewer| hub.call(viewer, &service, call_id, &encoding, &payload))
    }

    fn check_writing(&self) -> std::result::Result<(), String> {
        let why = "the server only shows (--read-only): it publishes, calls and sets nothing";
        if self.options.may_write { Ok(()) } else { Err(why.to_owned()) }
    }

    fn subscribe(&self, viewer: &Arc<Viewer>, new: NewSubscription) -> std::result::Result<(), String> {
        let NewSubscription { id, channel_id } = new;
        let shown = lock(&self.shown);
        let feed = shown.feed(channel_id).ok_or_else(|| format!("there is no channel {channel_id}"))?;
        match lock(&viewer.subscriptions).entry(id) {
            Entry::Occupied(_) => return Err(format!("subscription {id} is there already")),
            Entry::Vacant(new) => _ = new.insert(channel_id),
        }
        feed.add(&self.node, viewer, id).map_err(|error| error.to_string())
    }

    fn unsubscribe(&self, viewer: &Viewer, id: u32) {
        // `Hub::update` locks what is shown before subscriptions: no guard of these may live on here.
        let channel_id = lock(&viewer.subscriptions).remove(&id);
        if let Some(channel_id) = channel_id
            && let Some(feed) = lock(&self.shown).feed(channel_id)
        {
            feed.remove(viewer.id, Some(id));
        }
        viewer.outbox.forget(id);
    }

    fn advertise(&self, viewer: &Viewer, channel: &ClientChannel) -> std::result::Result<(), String> {
        self.check_writing()?;
        let publication = Publication::new(&self.node, &self.graph, channel).map_err(|error| error.to_string())?;
        lock(&self.publications).insert((viewer.id, channel.id), publication);
        Ok(())
    }

    /// Starts a thread that does this for the viewer.
    fn spawn_task(
        self: &Arc<Self>,
        viewer: &Arc<Viewer>,
        task: impl FnOnce(&Hub, &Viewer) + Send + 'static,
    ) -> std::result::Result<(), String> {
        let (hub, viewer) = (self.clone(), viewer.clone());
        if !viewer.begin_task() {
            return Err("too many requests are under way".to_owned());
        }
        let run = move || {
            task(&hub, &viewer);
            viewer.end_task();
        };
        spawn("foxglove-task", run).map(drop).map_err(|error| error.to_string())
    }

    fn call(&self, viewer: &Viewer, service: &ServiceEntry, call_id: u32, encoding: &str, payload: &[u8]) {
        viewer.outbox.answer(match call(&self.node, service, encoding, payload) {
            Ok(response) => call_response(service.id, call_id, encoding, &response),
            Err(error) => call_failure(CallFailure { service_id: service.id, call_id, why: &error.to_string() }),
        });
    }

    fn get_parameters(&self, viewer: &Viewer, names: &[String], id: Option<String>) {
        let nodes = nodes_of(lock(&self.shown).service_names());
        self.answer_parameters(viewer, get(&self.node, names, &nodes), id);
    }

    fn set_parameters(&self, viewer: &Viewer, parameters: &[Parameter], id: Option<String>) {
        self.answer_parameters(viewer, set(&self.node, parameters), id);
    }

    fn answer_parameters(&self, viewer: &Viewer, found: (Vec<Parameter>, Vec<String>), id: Option<String>) {
        let (parameters, problems) = found;
        problems.iter().for_each(|problem| viewer.outbox.answer(status(Level::Warning, problem, None)));
        viewer.outbox.answer(parameter_values(&parameters, id.as_deref()));
    }

    /// Starts the thread that follows `/parameter_events`, unless there is one.
    fn watch_parameters(self: &Arc<Self>) -> std::result::Result<(), String> {
        if self.has_events.swap(true, Relaxed) {
            return Ok(());
        }
        let hub = self.clone();
        let run = move || {
            if let Err(error) = hub.follow_parameters() {
                say(format_args!("changes of parameters are not shown: {error}"));
            }
            hub.has_events.store(false, Relaxed);
        };
        spawn("foxglove-events", run).map(drop).map_err(|error| error.to_string())
    }

    fn follow_parameters(&self) -> Result<()> {
        let are_wanted = || lock(&self.viewers).values().any(|viewer| !lock(&viewer.parameters).is_empty());
        while gantry::ok() && are_wanted() {
            let Some(description) = self.graph.type_named("rcl_interfaces/msg/ParameterEvent", EVENTS)? else {
                std::thread::sleep(PERIOD); // no node has parameters yet
                continue;
            };
            let event_type = TopicType::new(&description)?;
            let qos = Qos::parameter_events();
            let mut subscription = self.node.create_generic_subscription(EVENTS, description, qos)?;
            while gantry::ok() && are_wanted() {
                subscription.wait(PERIOD)?;
                while let Some(sample) = subscription.take()? {
                    let event = json_of(Value::Message(event_type.view(sample.bytes())?));
                    self.tell_parameters(&changes(&event));
                }
            }
        }
        Ok(())
    }

    fn tell_parameters(&self, parameters: &[Parameter]) {
        for viewer in lock(&self.viewers).values() {
            let wanted = lock(&viewer.parameters);
            let news: Vec<Parameter> =
                parameters.iter().filter(|parameter| wanted.contains(&parameter.name)).cloned().collect();
            if !news.is_empty() {
                viewer.outbox.answer(parameter_values(&news, None));
            }
        }
    }
}

/// Does all, and returns the first error.
fn first_error(results: impl Iterator<Item = std::result::Result<(), String>>) -> std::result::Result<(), String> {
    results.filter_map(std::result::Result::err).reduce(|first, _| first).map_or(Ok(()), Err)
}
