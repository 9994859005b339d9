//! Models of a reader whose process loses its file's name while it joins (`protocol::listing`).

use super::{
    check::Model,
    publisher::{Publisher, READER_OWNER, keep_last},
    subscription::{Subscription, fill_record, raise_generation},
    world::World,
};
use crate::protocol::{layout::READER_ACTIVE, reader::Start};
use loom::{sync::Mutex, thread};
use std::sync::Arc;

/// A model in which the publisher is made, publishes and reclaims, the reader joins if it finds the publisher, and the
/// name is lost meanwhile.
pub(super) const NAME_LOST: Model = Model { run: || run(Order::Right), preemptions: Some(3), needs: &[] };

/// Wrong orders of steps, each with the name of its mistake. With each mistake, the model must fail.
pub(super) const MISTAKES: &[(&str, fn())] = &[
    ("the reader looks for its name before it finds the publisher", || run(Order::NameFirst)),
    ("the reader does not look for its name", || run(Order::NoName)),
    ("the publisher looks for unlisted processes when it can be found", || run(Order::FoundFirst)),
    ("the publisher goes on without an unlisted process", || run(Order::Ignores)),
];

#[derive(Clone, Copy, PartialEq)]
enum Order {
    Right,
    NameFirst,
    NoName,
    FoundFirst,
    Ignores,
}

fn run(order: Order) {
    let world = World::new(&Arc::default(), 2, 2);
    let mut publisher = Publisher::new(&world, keep_last(1));
    publisher.publish();
    *world.directory.lock().unwrap() = true;
    // Whether the reader can find the publisher.
    let is_found = Arc::new(Mutex::new(false));
    let of_reader = (world.clone(), is_found.clone());
    thread::spawn(move || join(order, &of_reader.0, &of_reader.1));
    let of_remover = world.clone();
    thread::spawn(move || *of_remover.directory.lock().unwrap() = false);
    if order == Order::FoundFirst {
        *is_found.lock().unwrap() = true;
    }
    let is_listed = *world.directory.lock().unwrap();
    let unlisted_before = if is_listed && order != Order::Ignores { Vec::new() } else { vec![READER_OWNER] };
    publisher.unlisted_before = Some(unlisted_before);
    if order != Order::FoundFirst {
        *is_found.lock().unwrap() = true;
    }
    // The second of these samples needs the slot of the first, which the reader may take.
    while publisher.writer.history.head() < 3 && publisher.publish() {}
}

/// The reader's side: joins, takes the newest sample and reads it.
fn join(order: Order, world: &Arc<World>, is_found: &Mutex<bool>) {
    let has_name = || *world.directory.lock().unwrap();
    let had_name = order == Order::NameFirst && has_name();
    if !*is_found.lock().unwrap() {
        return;
    }
    fill_record(world, READER_ACTIVE, 1);
    raise_generation(world);
    let may_take = match order {
        Order::NameFirst => had_name,
        Order::NoName => true,
        _ => has_name(),
    };
    if !may_take {
        return;
    }
    if let Some(sample) = Subscription::begin(world, world.ring(), 1, Start::History(1)).take() {
        sample.read();
    }
}
