//! The contestant iceoryx2, with messages written and read in place: the only file of this benchmark that uses
//! iceoryx2's API.
//!
//! Polling contestants use a publish-subscribe service. Blocking contestants also use an event service, as in
//! iceoryx2's own examples: one side sends and notifies, the other side waits on the listener, then receives.
//! iceoryx2's files lie in the benchmark's own directory, and the names of its shared memory begin with the name of
//! this directory. So no file stays, and services of other programs are not found. iceoryx2 logs nothing.

use crate::{
    Result,
    contestant::{PATIENCE, Pair, Side, poll, silence},
    payload::Payload,
    root::Root,
};
use iceoryx2::{
    port::{listener::Listener, notifier::Notifier, publisher::Publisher, subscriber::Subscriber},
    prelude::*,
    service::port_factory::{event, publish_subscribe},
};
use std::time::Instant;

type Topic = publish_subscribe::PortFactory<ipc::Service, [u64], ()>;
type Bell = event::PortFactory<ipc::Service>;

/// One side of a ping-pong.
pub struct Iceoryx {
    publisher: Publisher<ipc::Service, [u64], ()>,
    subscriber: Subscriber<ipc::Service, [u64], ()>,
    /// The event services by which the two sides wake each other; `None` if the contestant polls.
    bells: Option<(Notifier<ipc::Service>, Listener<ipc::Service>)>,
    outgoing: Topic,
    incoming: Topic,
    outgoing_bell: Option<Bell>,
    payload: Payload,
    _node: Node<ipc::Service>,
}

impl Iceoryx {
    /// Opens the services whose names begin with `name`.
    pub fn new(root: &Root, name: &str, side: Side, payload: Payload, blocks: bool) -> Result<Iceoryx> {
        set_log_level(LogLevel::Fatal);
        let node = node(root)?;
        let (ping, pong) = (format!("{name}/ping"), format!("{name}/pong"));
        let (out, back) = if side == Side::Ping { (ping, pong) } else { (pong, ping) };
        let (outgoing, incoming) = (topic(&node, &out)?, topic(&node, &back)?);
        let publisher =
            outgoing.publisher_builder().initial_max_slice_len(payload.words()).create().map_err(sentence)?;
        let subscriber = incoming.subscriber_builder().create().map_err(sentence)?;
        let (bells, outgoing_bell) = if blocks {
            let (out, back) = (bell(&node, &out)?, bell(&node, &back)?);
            let notifier = out.notifier_builder().create().map_err(sentence)?;
            let listener = back.listener_builder().create().map_err(sentence)?;
            (Some((notifier, listener)), Some(out))
        } else {
            (None, None)
        };
        Ok(Iceoryx { publisher, subscriber, bells, outgoing, incoming, outgoing_bell, payload, _node: node })
    }

    #[inline(always)]
    fn take_now(&mut self) -> Result<Option<u64>> {
        let sample = self.subscriber.receive().map_err(sentence)?;
        Ok(sample.map(|sample| {
            let words = sample.payload();
            self.payload.read(|word| words[word])
        }))
    }
}

impl Pair for Iceoryx {
    fn meet(&mut self) -> Result<()> {
        let since = Instant::now();
        while self.outgoing.dynamic_config().number_of_subscribers() == 0
            || self.incoming.dynamic_config().number_of_publishers() == 0
            || self.outgoing_bell.as_ref().is_some_and(|bell| bell.dynamic_config().number_of_listeners() == 0)
        {
            if since.elapsed() > PATIENCE {
                return Err("the two sides of an iceoryx2 service did not meet in time".into());
            }
            std::thread::yield_now();
        }
        Ok(())
    }

    #[inline(always)]
    fn send(&mut self, value: u64) -> Result<()> {
        let mut sample = self.publisher.loan_slice_uninit(self.payload.words()).map_err(sentence)?;
        let words = sample.payload_mut();
        self.payload.write(|word| {
            words[word].write(value);
        });
        // SAFETY: the kernel fills shared memory with zeros, and it is only ever written with words. So every word is
        // initialised, and every value is a valid `u64`.
        let sample = unsafe { sample.assume_init() };
        sample.send().map_err(sentence)?;
        if let Some((notifier, _)) = &self.bells {
            notifier.notify().map_err(sentence)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn take(&mut self) -> Result<u64> {
        if self.bells.is_none() {
            return poll(|| self.take_now());
        }
        loop {
            if let Some((_, listener)) = &self.bells {
                let rung = listener.timed_wait(|_| {}, PATIENCE).map_err(sentence)?;
                if rung == 0 {
                    return Err(silence());
                }
            }
            if let Some(value) = self.take_now()? {
                return Ok(value);
            }
        }
    }
}

fn node(root: &Root) -> Result<Node<ipc::Service>> {
    let mut config = Config::default();
    let path = root.path().to_str().ok_or("the path of this benchmark's directory is not UTF-8")?;
    config.global.set_root_path(&Path::new(path.as_bytes()).map_err(sentence)?);
    config.global.prefix = FileName::new(root.prefix().as_bytes()).map_err(sentence)?;
    NodeBuilder::new().config(&config).create().map_err(sentence)
}

fn topic(node: &Node<ipc::Service>, name: &str) -> Result<Topic> {
    let name = ServiceName::new(name).map_err(sentence)?;
    let line = Alignment::new(64).ok_or("64 is no alignment for iceoryx2")?;
    let service = node.service_builder(&name).publish_subscribe::<[u64]>().payload_alignment(line);
    service.max_publishers(1).max_subscribers(1).open_or_create().map_err(sentence)
}

fn bell(node: &Node<ipc::Service>, name: &str) -> Result<Bell> {
    let name = ServiceName::new(name).map_err(sentence)?;
    node.service_builder(&name).event().open_or_create().map_err(sentence)
}

#[cold]
fn sentence(why: impl std::fmt::Debug) -> crate::Error {
    format!("iceoryx2 failed: {why:?}").into()
}
