//! The requests of viewers.

use super::Hub;
use crate::{
    domain::{Publication, call},
    lock::lock,
    protocol::{
        Binary, CallFailure, ClientChannel, NewSubscription, Request, ServiceEntry, call_failure, call_response,
    },
    threads::spawn,
    viewer::Viewer,
};
use std::{
    collections::btree_map::Entry,
    sync::{Arc, Mutex, atomic::Ordering::Relaxed},
};

/// The largest number of channels on which one viewer publishes.
const MAX_PUBLICATIONS: usize = 128;

impl Hub {
    /// Carries out a viewer's JSON request.
    ///
    /// # Errors
    /// The reason, as a sentence for the viewer.
    pub fn answer(self: &Arc<Self>, viewer: &Arc<Viewer>, request: Request) -> Result<(), String> {
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
                lock(&viewer.parameters).add(parameter_names)?;
                return self.watch_parameters();
            }
            Request::UnsubscribeParameterUpdates { parameter_names } => {
                return lock(&viewer.parameters).remove(parameter_names);
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

    /// Carries out a viewer's binary request: a message to publish, or a call of a service.
    ///
    /// # Errors
    /// The reason, as a sentence for the viewer.
    pub fn take(self: &Arc<Self>, viewer: &Arc<Viewer>, message: Binary<'_>) -> Result<(), String> {
        match message {
            Binary::Message { channel_id, payload } => {
                // This statement releases the lock of the list, so that other viewers need not wait while this one
                // publishes.
                let publication = lock(&self.publications).get(&(viewer.id, channel_id)).cloned();
                let publication = publication.ok_or_else(|| format!("channel {channel_id} is not advertised"))?;
                let published = lock(&publication).publish(payload);
                published.map_err(|error| format!("a message is not published: {error}"))
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
    ) -> Result<(), String> {
        self.check_writing()?;
        let service = lock(&self.shown).service(service_id).cloned();
        let service = service.ok_or_else(|| format!("there is no service {service_id} any more"))?;
        let (encoding, payload) = (encoding.to_owned(), payload.to_vec());
        self.spawn_task(viewer, move |hub, viewer| hub.call(viewer, &service, call_id, &encoding, &payload))
    }

    fn check_writing(&self) -> Result<(), String> {
        let why = "the server only shows (--read-only): it publishes, calls and sets nothing";
        if self.options.may_write { Ok(()) } else { Err(why.to_owned()) }
    }

    fn subscribe(&self, viewer: &Arc<Viewer>, new: NewSubscription) -> Result<(), String> {
        let NewSubscription { id, channel_id } = new;
        let shown = lock(&self.shown);
        let feed = shown.feed(channel_id).ok_or_else(|| format!("there is no channel {channel_id}"))?;
        let mut subscriptions = lock(&viewer.subscriptions);
        if let Some((other, _)) = subscriptions.iter().find(|(_, known)| **known == channel_id) {
            return Err(format!("channel {channel_id} has a subscription already: {other}"));
        }
        match subscriptions.entry(id) {
            Entry::Occupied(_) => return Err(format!("subscription {id} is there already")),
            Entry::Vacant(new) => _ = new.insert(channel_id),
        }
        feed.add(&self.node, viewer, id).map_err(|error| {
            subscriptions.remove(&id);
            error.to_string()
        })
    }

    fn unsubscribe(&self, viewer: &Viewer, id: u32) {
        // Lock order: `Hub::update` locks `shown` before a viewer's `subscriptions`. So this thread must release
        // `subscriptions` before it locks `shown` below.
        let channel_id = lock(&viewer.subscriptions).remove(&id);
        if let Some(channel_id) = channel_id
            && let Some(feed) = lock(&self.shown).feed(channel_id)
        {
            feed.remove(viewer.id, Some(id));
        }
        viewer.outbox.forget(id);
    }

    fn advertise(&self, viewer: &Viewer, channel: &ClientChannel) -> Result<(), String> {
        self.check_writing()?;
        let count = lock(&self.publications).keys().filter(|(owner, _)| *owner == viewer.id).count();
        if count >= MAX_PUBLICATIONS {
            let topic = &channel.topic;
            return Err(format!("{topic} cannot be published: the viewer has {MAX_PUBLICATIONS} channels already"));
        }
        let publication = Publication::new(&self.node, &self.graph, channel).map_err(|error| error.to_string())?;
        lock(&self.publications).insert((viewer.id, channel.id), Arc::new(Mutex::new(publication)));
        Ok(())
    }

    /// Starts a thread that runs a task for the viewer, unless the viewer has too many tasks.
    fn spawn_task(
        self: &Arc<Self>,
        viewer: &Arc<Viewer>,
        task: impl FnOnce(&Hub, &Viewer) + Send + 'static,
    ) -> Result<(), String> {
        let (hub, viewer) = (self.clone(), viewer.clone());
        let counted = viewer.begin_task().ok_or_else(|| "too many requests are under way".to_owned())?;
        let run = move || {
            let _counted = counted;
            task(&hub, &viewer);
        };
        spawn("foxglove-task", run).map_err(|error| error.to_string())
    }

    fn call(&self, viewer: &Viewer, service: &ServiceEntry, call_id: u32, encoding: &str, payload: &[u8]) {
        viewer.outbox.answer(match call(&self.node, service, encoding, payload) {
            Ok(response) => call_response(service.id, call_id, encoding, &response),
            Err(error) => call_failure(CallFailure { service_id: service.id, call_id, why: &error.to_string() }),
        });
    }
}

/// Evaluates all results, and returns the first error.
fn first_error(results: impl Iterator<Item = Result<(), String>>) -> Result<(), String> {
    results.filter_map(Result::err).reduce(|first, _| first).map_or(Ok(()), Err)
}
