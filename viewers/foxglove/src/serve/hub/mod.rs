//! The hub: the viewers and what they see; the changes of the domain, and what viewers missed.

mod requests;

use super::{
    report::{Report, ViewerReport},
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
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

/// The id of the status about dropped messages.
const DROPS: &str = "gantry-drops";

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
    /// The sentences about drops that viewers have.
    said: Mutex<BTreeMap<u64, String>>,
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
            said: Mutex::default(),
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
        lock(&self.said).remove(&viewer.id);
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
        let mut said = lock(&self.said);
        let report = |viewer: &Arc<Viewer>| {
            if viewer.outbox.is_closed() {
                viewer.close(); // its threads may wait for the socket
            }
            let report = self.report_of(viewer);
            let drops = report.drops().unwrap_or_default();
            if said.get(&viewer.id).map_or("", String::as_str) != drops {
                match drops.is_empty() {
                    true => viewer.outbox.answer(remove_status(DROPS)),
                    false => viewer.outbox.answer(status(
                        Level::Warning,
                        &format!("this viewer is slower than its topics: {drops}"),
                        Some(DROPS),
                    )),
                }
                if said.insert(viewer.id, drops.clone()).is_none() {
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
}
