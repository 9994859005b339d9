//! Tests with bytes that no valid client sends.

use crate::support::{GOOD, TestClient, Wire, agent, host, pipe, socket};
use gantry::Qos;
use gantry_agent::Config;
use gantry_msgs::std_msgs::msg::UInt32;
use gantry_xrce::wire::StreamId;
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use test_support::PATIENCE;

test_support::tests!(
    any_bytes_harm_nobody,
    inputs_that_were_once_hostile_harm_nobody,
    a_flood_of_defects_is_logged_in_few_lines,
    a_flood_without_a_session_leaves_the_answers_of_others
);

const UINT32: &str = "std_msgs::msg::dds_::UInt32_";

/// A wire that also records the messages that are sent.
struct Recorder<W> {
    wire: W,
    sent: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl<W: Wire> Wire for Recorder<W> {
    fn send(&mut self, message: &[u8]) {
        self.sent.lock().unwrap().push(message.to_vec());
        self.wire.send(message);
    }

    fn receive(&mut self, timeout: Duration) -> Option<Vec<u8>> {
        self.wire.receive(timeout)
    }
}

fn any_bytes_harm_nobody() {
    let (agent, udp, _) = agent(Config::default());
    let mut subscription = host().create_subscription::<UInt32>("/unharmed", Qos::default()).unwrap();
    let mut client = TestClient::open(socket(&udp), 0x0401);
    let writer = client.create_writer(1, "rt/unharmed", UINT32);
    // Records the valid messages of a client. The test makes many damaged messages from them.
    let sent = Arc::<Mutex<Vec<Vec<u8>>>>::default();
    let recorder = Recorder { wire: pipe(&agent, GOOD, 1), sent: sent.clone() };
    let mut model = TestClient::open(recorder, 0x0402);
    let written = model.create_writer(1, "rt/hostile", UINT32);
    let reader = model.create_reader(2, "rt/hostile", UINT32);
    model.read(reader, StreamId::RELIABLE, 10);
    model.write(StreamId::RELIABLE, written, &[], &[0; 4]);
    model.until("data", |model| model.data(reader).len() == 1);
    let messages = std::mem::take(&mut *sent.lock().unwrap());
    let mut random = fastrand::Rng::with_seed(7);
    for round in 0..3000 {
        let mut message = random.choice(&messages).unwrap().clone();
        for _ in 0..random.usize(0..4) {
            let index = random.usize(..message.len());
            message[index] = random.u8(..);
        }
        message.truncate(random.usize(..=2 * message.len()));
        if random.u8(..) < 16 {
            message = (0..random.usize(..600)).map(|_| random.u8(..)).collect();
        }
        // The damaged messages come from the address of the model client, so its session may break.
        model.wire.send(&message);
        if round % 100 == 0 {
            client.write(StreamId::RELIABLE, writer, &[], &u32::to_le_bytes(round));
            client.until("a sample", |_| subscription.take().unwrap().is_some_and(|sample| sample.data == round));
        }
    }
    assert!(agent.statistics().iter().any(|statistics| statistics.key.0 == 0x0401_u32.to_be_bytes()));
}

fn inputs_that_were_once_hostile_harm_nobody() {
    test_support::xrce::run_corpus("xrce_agent", test_support::xrce::agent::agent, 20);
}

fn a_flood_of_defects_is_logged_in_few_lines() {
    let (_agent, udp, lines) = agent(Config::default());
    let mut client = TestClient::open(socket(&udp), 0x0403);
    let before = lines.lock().unwrap().len();
    for number in 0..500 {
        let unknown = gantry_xrce::wire::ObjectId(number << 4 | 5);
        client.write(StreamId::BEST_EFFORT, unknown, &[], &[0; 4]);
        client.spin(Duration::ZERO);
    }
    let request = client.write(StreamId::RELIABLE, gantry_xrce::wire::ObjectId(5), &[], &[]);
    client.status(request);
    let logged = lines.lock().unwrap().len() - before;
    assert!((1..100).contains(&logged), "{logged} lines");
}

fn a_flood_without_a_session_leaves_the_answers_of_others() {
    let (agent, _udp, _) = agent(Config::default());
    let [mut flood, mut client] = [1, 2].map(|seed| pipe(&agent, GOOD, seed));
    // A HEARTBEAT in a session that the agent does not know.
    let heartbeat = [0x81, 0, 0, 0, 11, 1, 5, 0, 0, 0, 0, 0, 0x80];
    (0..10_000).for_each(|_| flood.send(&heartbeat));
    client.send(&heartbeat);
    assert!(client.receive(PATIENCE).is_some());
    let answers = std::iter::from_fn(|| flood.receive(Duration::ZERO)).count();
    assert!((1..9000).contains(&answers), "{answers} answers");
}
