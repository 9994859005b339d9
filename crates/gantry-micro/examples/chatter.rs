//! A node on the host that publishes texts through an agent, and receives them again from the agent.
//!
//! To run it: `cargo run -p gantry-micro --features simulated-can --example chatter -- udp 127.0.0.1:8888`, or
//! `tcp 127.0.0.1:8888`, or `serial /dev/ttyUSB0 115200`, or `can can0 1`, or `can ./can0 1` on the bus of
//! `gantry-agent can --simulated ./can0`.

use gantry_micro::{
    Client, ClientKey, EntityState, Event, Instant, Memory, Node, PublishError, Publisher, Qos, Subscription,
    Transport,
    transport::{SimulatedCan, SocketCan, TcpTransport, UdpTransport, open_serial},
};
use gantry_msgs::std_msgs::msg::{String as Text, StringShape};
use rustix::rand::{GetRandomFlags, getrandom};
use std::{env, error::Error, num::NonZeroU32, time::Duration};

const TEXTS: usize = 20;
const PERIOD_US: u32 = 50_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["udp", agent] => chatter(UdpTransport::new(agent.parse()?)?, &mut Memory::<512, 4>::new()),
        ["tcp", agent] => chatter(TcpTransport::new(agent.parse()?), &mut Memory::<512, 4>::new()),
        ["serial", path, speed] => chatter(open_serial(path, speed.parse()?)?, &mut Memory::<512, 4>::new()),
        ["can", path, id] if path.contains('/') => {
            chatter(SimulatedCan::connect(path, id.parse()?)?, &mut Memory::<63, 8>::new())
        }
        ["can", interface, id] => chatter(SocketCan::open(interface, id.parse()?)?, &mut Memory::<63, 8>::new()),
        _ => {
            Err("usage: chatter udp ADDRESS | tcp ADDRESS | serial PATH SPEED | can INTERFACE|./PATH IDENTIFIER".into())
        }
    }
}

/// Draws a random boot nonce. By this number, the agent distinguishes a restarted program from a login that arrived
/// twice.
fn draw_boot_nonce() -> Result<Option<NonZeroU32>, Box<dyn Error>> {
    let mut bytes = [0; 4];
    getrandom(&mut bytes[..], GetRandomFlags::empty())?;
    Ok(NonZeroU32::new(u32::from_ne_bytes(bytes)))
}

fn chatter<T: Transport, const MTU: usize, const HISTORY: usize>(
    transport: T,
    memory: &mut Memory<MTU, HISTORY>,
) -> Result<(), Box<dyn Error>> {
    let (publisher, subscription) = (Publisher::<Text>::new(), Subscription::<Text, 8, 64>::new());
    let key = ClientKey(std::process::id().to_be_bytes());
    let node = Node { name: "chatter", domain_id: 0, key, boot_nonce: draw_boot_nonce()? };
    let mut client = Client::new(transport, memory, node);
    client.create_publisher(&publisher, "chatter", Qos::DEFAULT)?;
    client.create_subscription(&subscription, "chatter", Qos::DEFAULT)?;
    let start = std::time::Instant::now();
    let now = || Instant::from_us(start.elapsed().as_micros() as u64);
    let (mut publish_at, mut published, mut taken) = (now(), 0_u32, 0);
    client.synchronise();
    while taken < TEXTS {
        let spun = client.spin_once(now(), |event| match event {
            Event::Clock(clock) => eprintln!("the agent's clock, ± {} µs", clock.error_ns(now()) / 1000),
            event => eprintln!("{event:?}"),
        });
        if let Err(error) = spun {
            eprintln!("{error:?}");
        }
        while let Some(text) = subscription.take()? {
            eprintln!("{}", text.data());
            taken += 1;
        }
        if now() >= publish_at && subscription.state() == EntityState::Ready {
            publish_at = now().after_us(PERIOD_US);
            let text = format!("Hello, world! {published}");
            match publisher.publish_with(&mut client, StringShape { data: &text }, |_| {}) {
                Ok(()) => published += 1,
                Err(PublishError::NotConnected) => {}
                Err(error) => eprintln!("{error}"),
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    client.close(now());
    while client.deadline().is_some() {
        let _ = client.spin_once(now(), |_| {});
        std::thread::sleep(Duration::from_millis(1));
    }
    eprintln!("{:?}\n{:?}\n{:?}", client.counts(), publisher.counts(), subscription.counts());
    Ok(())
}
