//! The hub: the viewers and what they see; their requests, and the changes of the domain.

use super::{
    report::{Report, ViewerReport},
    shown::Shown,
};
use crate::{
    domain::{GraphReader, Publication, call, changes, get, nodes_of, set},
    lock::lock,
    protocol::{
        self, Binary, CallFailure, ClientChannel, Level, NewSubscription, Parameter, Request, ServiceEntry,
        call_failure, call_response, parameter_values, remove_status, status,
    },
    viewer::Viewer,
};
use gantry::{Node, Qos};
use gantry_command::{
    Result, Selection,
    message::{TopicType, Value, json_of},
    say, spawn,
};
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

/// The id of the status about dropped messages.
const DROPS: &str = "gantry-drops";
const EVENTS: &str = "/parameter_events";
const PERIOD: Duration = Duration::from_millis(200);

/// The user's choices.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address on which the server listens.
    pub host: String,
    /// The port; 0: any that is free.
    pub port: u16,
    /// The most bytes of messages that wait for one viewer.
    pub queue_bytes: usize,
    /// Whether viewers may publish, call services and set parameters.
    pub may_write: bool,
    /// Pages that may connect besides Foxglove's.
    pub origins: Vec<String>,
}

/// The viewers and what they see.
pub struct Hub {
    node: Node,
    graph: GraphReader,
    options: Options,
    session: String,
    shown: Mutex<Shown>,
    viewers: Mutex<BTreeMap<u64, Arc<Viewer>>>,
    /// The publishers of viewers, by viewer and the viewer's number.
    publications: Mutex<BTreeMap<(u64, u32), Publication>>,
    /// The drops of viewers that they were told of.
    told: Mutex<BTreeMap<u64, String>>,
    has_events: AtomicBool,
}

impl Hub {
    /// A hub without viewers.
    ///
    /// # Errors
    /// The domain cannot be read.
    pub fn new(node: Node, selection: Selection, options: Options) -> Result<Hub> {
        Ok(Hub {
            graph: GraphReader::new(node.clone(), selection)?,
            session: format!("{:x}", gantry::SourceTime::now().wall_ns),
            node,
            options,
            shown: Mutex::default(),
            viewers: Mutex::default(),
            publications: Mutex::default(),
            told: Mutex::default(),
            has_events: AtomicBool::new(false),
        })
    }

    /// The user's choices.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The viewers that are connected.
    #[must_use]
    pub fn viewer_count(&self) -> usize {
        lock(&self.viewers).len()
    }

    /// Reads the graph, and tells the viewers what changed.
    ///
    /// # Errors
    /// The domain cannot be read.
    pub fn update(&self) -> Result<()> {
        let graph = self.graph.read()?;
        let mut shown = lock(&self.shown);
        let news = shown.update(graph);
        for viewer in lock(&self.viewers).values() {
            news.of_all.iter().for_each(|message| viewer.outbox.answer(message.clone()));
            if let Some(message) = news.of_graph.as_ref().filter(|_| viewer.wants_graph.load(Relaxed)) {
                viewer.outbox.answer(message.clone());
            }
            let is_gone = |channel_id: u32| news.gone.iter().any(|feed| feed.channel.id == channel_id);
            lock(&viewer.subscriptions).retain(|_, channel_id| !is_gone(*channel_id));
            news.gone.iter().for_each(|feed| feed.remove(viewer.id, None));
        }
        Ok(())
    }

    /// Adds a viewer, and tells it what there is.
    pub fn add(&self, viewer: &Arc<Viewer>) {
        let shown = lock(&self.shown); // so that no change falls between
        let name = format!("Gantry, domain {}", self.node.domain_id());
        viewer.outbox.answer(protocol::server_info(&name, &self.session, self.options.may_write));
        shown.all().into_iter().for_each(|message| viewer.outbox.answer(message));
        lock(&self.viewers).insert(viewer.id, viewer.clone());
    }

    /// Forgets a viewer that is gone.
    pub fn remove(&self, viewer: &Arc<Viewer>) {
        lock(&self.shown).feeds().for_each(|feed| feed.remove(viewer.id, None));
        let report = self.report_of(viewer);
        let sent = viewer.sent.load(Relaxed);
        let drops = report.drops().map(|drops| format!("; {drops}")).unwrap_or_default();
        lock(&self.viewers).remove(&viewer.id);
        lock(&self.told).remove(&viewer.id);
        lock(&self.publications).retain(|(owner, _), _| *owner != viewer.id);
        say(format_args!("viewer {} is gone: it got {sent} messages{drops}", viewer.address));
    }

    /// Ends all connections.
    pub fn close(&self) {
        lock(&self.viewers).values().for_each(|viewer| viewer.close());
    }

    /// The viewers now; tells each of its new drops.
    #[must_use]
    pub fn report(&self) -> Report {
        let viewers: Vec<Arc<Viewer>> = lock(&self.viewers).values().cloned().collect();
        let mut told = lock(&self.told);
        let report = |viewer: &Arc<Viewer>| {
            let report = self.report_of(viewer);
            let drops = report.drops().unwrap_or_default();
            if told.get(&viewer.id).map_or("", String::as_str) != drops {
                match drops.is_empty() {
                    true => viewer.outbox.answer(remove_status(DROPS)),
                    false => viewer.outbox.answer(status(
                        Level::Warning,
                        &format!("this viewer is slower than its topics: {drops}"),
                        Some(DROPS),
                    )),
                }
                if told.insert(viewer.id, drops.clone()).is_none() {
                    say(format_args!("viewer {} is slower than its topics: {drops}", viewer.address));
                }
            }
            report
        };
        let viewers = viewers.iter().map(report).collect();
        let shown = lock(&self.shown);
        let lost = shown.feeds().map(|feed| (feed.channel.topic.clone(), feed.lost.load(Relaxed)));
        Report { viewers, lost: lost.filter(|(_, lost)| *lost > 0).collect() }
    }

    fn report_of(&self, viewer: &Viewer) -> ViewerReport {
        let subscriptions = lock(&viewer.subscriptions).clone();
        let shown = lock(&self.shown);
        let mut dropped = BTreeMap::new();
        for (subscription_id, count) in viewer.outbox.dropped() {
            let feed = subscriptions.get(&subscription_id).and_then(|channel_id| shown.feed(*channel_id));
            let topic = feed.map_or("a topic that is gone".to_owned(), |feed| feed.channel.topic.clone());
            *dropped.entry(topic).or_default() += count;
        }
        ViewerReport {
            address: viewer.address.clone(),
            subscriptions: subscriptions.len(),
            sent: viewer.sent.load(Relaxed),
            sent_bytes: viewer.sent_bytes.load(Relaxed),
            dropped,
        }
    }

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
        if lock(&viewer.subscriptions).insert(id, channel_id).is_some() {
            return Err(format!("subscription {id} is there already"));
        }
        feed.add(&self.node, viewer, id).map_err(|error| error.to_string())
    }

    fn unsubscribe(&self, viewer: &Viewer, id: u32) {
        if let Some(channel_id) = lock(&viewer.subscriptions).remove(&id)
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
