//! The hub: it connects the viewers with the domain, sends them changes of the domain, and reports dropped messages.

mod parameters;
mod requests;

use super::{
    report::{Counts, Report, ViewerReport, add, drops},
    shown::Shown,
};
use crate::{
    domain::{GraphReader, Publication},
    lock::lock,
    protocol::{self, Level, remove_status, status},
    viewer::Viewer,
};
use gantry::Node;
use gantry_command::{Result, Selection, say};
use std::{
    collections::BTreeMap,
    net::{SocketAddr, TcpStream},
    sync::{Arc, Mutex, atomic::Ordering::Relaxed},
};

/// The id of the status about dropped messages.
const DROPS: &str = "gantry-drops";
/// The largest number of connections, including connections whose handshake is not finished.
const MAX_CONNECTIONS: usize = 64;

/// The options from the command line.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address on which the server listens.
    pub host: String,
    /// The port; 0 means any free port.
    pub port: u16,
    /// The largest number of bytes in the messages that wait for one viewer.
    pub queue_bytes: usize,
    /// Whether viewers may publish, call services and set parameters.
    pub may_write: bool,
    /// The origins of web pages that may connect, in addition to Foxglove's and this host's.
    pub origins: Vec<String>,
}

/// The publishers for viewers, by the viewer's id and the number that the viewer gave to the channel.
type Publications = BTreeMap<(u64, u32), Arc<Mutex<Publication>>>;

/// The viewers, and the part of the domain that they see.
pub struct Hub {
    node: Node,
    graph: GraphReader,
    options: Options,
    session: String,
    shown: Mutex<Shown>,
    /// All connections by number, including connections whose handshake is not finished; `None` after [`Hub::close`].
    connections: Mutex<Option<BTreeMap<u64, Arc<Viewer>>>>,
    /// The connections whose handshake is finished.
    viewers: Mutex<BTreeMap<u64, Arc<Viewer>>>,
    publications: Mutex<Publications>,
    /// The last sentence about dropped messages that was sent to each viewer.
    said: Mutex<BTreeMap<u64, String>>,
    /// The numbers of messages that were dropped for viewers that have disconnected.
    dropped: Mutex<Counts>,
    /// Whether the thread that follows changes of parameters is running.
    has_events: Mutex<bool>,
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
            shown: Mutex::new(Shown::new(options.may_write)),
            options,
            connections: Mutex::new(Some(BTreeMap::new())),
            viewers: Mutex::default(),
            publications: Mutex::default(),
            said: Mutex::default(),
            dropped: Mutex::default(),
            has_events: Mutex::new(false),
        })
    }

    /// The options from the command line.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Reads the graph, and sends its changes to the viewers.
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

    /// Adds a connection whose handshake is not finished, and makes its [`Viewer`].
    ///
    /// # Errors
    /// There are too many connections, or the server is ending.
    pub fn connect(&self, id: u64, address: SocketAddr, stream: TcpStream) -> Result<Arc<Viewer>> {
        let mut connections = lock(&self.connections);
        let connections = connections.as_mut().ok_or_else(|| "the server ends".to_owned())?;
        if connections.len() >= MAX_CONNECTIONS {
            return Err(format!("there are {MAX_CONNECTIONS} connections already").into());
        }
        let viewer = Arc::new(Viewer::new(id, address.to_string(), stream, self.options.queue_bytes));
        connections.insert(id, viewer.clone());
        Ok(viewer)
    }

    /// Removes a connection that has ended, and its viewer.
    pub fn disconnect(&self, viewer: &Viewer) {
        if lock(&self.viewers).remove(&viewer.id).is_some() {
            lock(&self.shown).feeds().for_each(|feed| feed.remove(viewer.id, None));
            lock(&self.said).remove(&viewer.id);
            lock(&self.publications).retain(|(owner, _), _| *owner != viewer.id);
            let dropped = viewer.outbox.dropped();
            let (sent, drops) = (viewer.sent.load(Relaxed), drops(&dropped).map(|drops| format!("; {drops}")));
            let drops = drops.unwrap_or_default();
            add(&mut lock(&self.dropped), &dropped);
            say(format_args!("viewer {} is gone: it got {sent} messages{drops}", viewer.address));
        }
        if let Some(connections) = &mut *lock(&self.connections) {
            connections.remove(&viewer.id);
        }
    }

    /// Adds a viewer whose handshake is finished, and sends it the present channels and services.
    pub fn add(&self, viewer: &Arc<Viewer>) {
        let shown = lock(&self.shown); // held until the viewer is in the list, so that it misses no change
        let name = format!("Gantry, domain {}", self.node.domain_id());
        viewer.outbox.answer(protocol::server_info(&name, &self.session, self.options.may_write));
        shown.all().into_iter().for_each(|message| viewer.outbox.answer(message));
        lock(&self.viewers).insert(viewer.id, viewer.clone());
    }

    /// Ends all connections: each viewer gets its waiting answers and a close frame. Returns the connections. Later
    /// connections are refused.
    #[must_use]
    pub fn close(&self) -> Vec<Arc<Viewer>> {
        let connections = lock(&self.connections).take().unwrap_or_default();
        let viewers = lock(&self.viewers);
        for (id, connection) in &connections {
            match viewers.contains_key(id) {
                true => connection.outbox.end(Some(protocol::going_away())),
                false => connection.close(),
            }
        }
        connections.into_values().collect()
    }

    /// Makes the report on the present viewers. Also sends a status to each viewer for which more messages were
    /// dropped.
    #[must_use]
    pub fn report(&self) -> Report {
        let viewers: Vec<Arc<Viewer>> = lock(&self.viewers).values().cloned().collect();
        let mut dropped = lock(&self.dropped).clone();
        let viewers = viewers.iter().map(|viewer| self.report_of(viewer)).collect::<Vec<_>>();
        viewers.iter().for_each(|viewer| add(&mut dropped, &viewer.dropped));
        Report { viewers, dropped, lost: lock(&self.shown).lost() }
    }

    fn report_of(&self, viewer: &Viewer) -> ViewerReport {
        if viewer.outbox.is_closed() {
            viewer.close(); // ends its threads, which may wait for the socket
        }
        let dropped = viewer.outbox.dropped();
        let shown = lock(&self.shown);
        let subscriptions = lock(&viewer.subscriptions);
        let is_subscribed = |topic: &str| {
            subscriptions.values().filter_map(|id| shown.feed(*id)).any(|feed| feed.channel.topic == topic)
        };
        let mut of_present = dropped.clone();
        of_present.retain(|topic, _| is_subscribed(topic));
        self.tell_drops(viewer, &of_present);
        ViewerReport {
            address: viewer.address.clone(),
            subscriptions: subscriptions.len(),
            sent: viewer.sent.load(Relaxed),
            sent_bytes: viewer.sent_bytes.load(Relaxed),
            dropped,
        }
    }

    /// Sends a viewer the numbers of messages that were dropped from its subscribed topics, if these numbers have
    /// changed.
    fn tell_drops(&self, viewer: &Viewer, dropped: &Counts) {
        let mut said = lock(&self.said);
        let drops = drops(dropped).unwrap_or_default();
        if said.get(&viewer.id).map_or("", String::as_str) == drops {
            return;
        }
        match drops.is_empty() {
            true => viewer.outbox.answer(remove_status(DROPS)),
            false => {
                let sentence = format!("this viewer is slower than its topics: {drops}");
                viewer.outbox.answer(status(Level::Warning, &sentence, Some(DROPS)));
            }
        }
        if said.insert(viewer.id, drops.clone()).is_none() {
            say(format_args!("viewer {} is slower than its topics: {drops}", viewer.address));
        }
    }
}
