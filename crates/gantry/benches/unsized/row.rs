//! The rows of the table, in the order of a cycle. Rows that are compared with each other are adjacent.

use crate::{
    Result, copies,
    cpus::Cpus,
    hop::{self, Hop, Side},
    local::{Cloud, PUBLISH_REPEAT, Small, VIEW_REPEAT},
    message::{CLOUD_BYTES, IMAGE_BYTES},
    peer::Peer,
    statistics::Statistics,
    touch::Touch,
};
use std::{cell::RefCell, rc::Rc};

/// A function that runs one turn and adds its samples, in ticks.
type Turn = Box<dyn FnMut(&mut Peer, &mut Vec<u64>) -> Result<()>>;

/// A line of the table.
pub struct Row {
    /// The row's name in comparisons.
    pub name: &'static str,
    /// Bytes of the payload.
    pub bytes: usize,
    /// The part of the payload that is written and read, as the table shows it, such as *whole* or *stamped*.
    pub way: &'static str,
    /// The number of measured operations in a sample.
    pub divisor: u64,
    /// The measured samples.
    pub statistics: Statistics,
    turn: Turn,
}

impl Row {
    fn new(name: &'static str, bytes: usize, way: &'static str, divisor: u64, turn: Turn) -> Row {
        Row { name, bytes, way, divisor, statistics: Statistics::with_lower_quartiles(), turn }
    }

    /// Measures a turn.
    pub fn turn(&mut self, peer: &mut Peer, samples: &mut Vec<u64>) -> Result<()> {
        (self.turn)(peer, samples).map_err(|why| format!("{}: {why}", self.name).into())
    }
}

/// Builds all rows.
pub fn all(peer: &mut Peer, cpus: &Cpus) -> Result<Vec<Row>> {
    let session = std::process::id();
    let mut hops = hop::all(session, Side::Ping, cpus)?;
    peer.say("meet")?;
    hops.iter_mut().try_for_each(|hop| hop.meet())?;
    peer.expect_ok()?;
    let hops = hops.map(|hop| Rc::new(RefCell::new(hop)));
    let whole = "hop: each byte written, in place, and read, in place";
    let stamped = "hop: eight bytes written and read, in place";
    let copied = "hop: copied in, the reader woken, copied out";
    let cpus = *cpus;
    let least = move |_: &mut Peer, samples: &mut Vec<u64>| copies::least(&cpus, samples);
    let hop = |name, place: usize, bytes, touch| {
        let way = if touch == Touch::Whole { whole } else { stamped };
        Row::new(name, bytes, way, 2, hop_turn(hops[place].clone(), place, touch))
    };
    let cloud = Rc::new(RefCell::new(Cloud::new()?));
    let small = Rc::new(RefCell::new(Small::new(session)?));
    let (small_way, way) = ("loan, written in place, published", "in memory, one process");
    Ok(vec![
        hop("array-6MB", 0, IMAGE_BYTES, Touch::Whole),
        hop("image-6MB", 1, IMAGE_BYTES, Touch::Whole),
        hop("array-4MB", 2, CLOUD_BYTES, Touch::Whole),
        hop("pointcloud2-4MB", 3, CLOUD_BYTES, Touch::Whole),
        hop("array-6MB-stamped", 0, IMAGE_BYTES, Touch::Stamped),
        hop("image-6MB-stamped", 1, IMAGE_BYTES, Touch::Stamped),
        hop("array-4MB-stamped", 2, CLOUD_BYTES, Touch::Stamped),
        hop("pointcloud2-4MB-stamped", 3, CLOUD_BYTES, Touch::Stamped),
        Row::new("copied-4MB", CLOUD_BYTES, copied, 2, hop_turn(hops[4].clone(), 4, Touch::Whole)),
        Row::new("two-copies-and-wake-up", CLOUD_BYTES, "in memory, two threads", 2, Box::new(least)),
        Row::new("view-pointcloud2", CLOUD_BYTES, way, VIEW_REPEAT, local_turn(&cloud, Cloud::view)),
        Row::new("deserialise", CLOUD_BYTES, way, 1, local_turn(&cloud, Cloud::deserialise)),
        Row::new("build-pointcloud2", CLOUD_BYTES, way, VIEW_REPEAT, local_turn(&cloud, Cloud::build)),
        Row::new("serialise", CLOUD_BYTES, way, 1, local_turn(&cloud, Cloud::serialise)),
        Row::new("plain-32B", 32, small_way, PUBLISH_REPEAT, local_turn(&small, Small::publish_plain)),
        Row::new("header", 32, small_way, PUBLISH_REPEAT, local_turn(&small, Small::publish_header)),
    ])
}

fn hop_turn(hop: Rc<RefCell<Box<dyn Hop>>>, place: usize, touch: Touch) -> Turn {
    Box::new(move |peer, samples| {
        peer.say(&format!("turn {place} {}", touch.name()))?;
        peer.expect_ready()?;
        hop.borrow_mut().measure(touch, samples)?;
        peer.expect_ok()
    })
}

fn local_turn<T: 'static>(of: &Rc<RefCell<T>>, work: fn(&mut T, &mut Vec<u64>) -> Result<()>) -> Turn {
    let of = of.clone();
    Box::new(move |_, samples| work(&mut of.borrow_mut(), samples))
}
