//! The firmware of a small robot. It publishes `sensor_msgs/Imu` at 50 Hz and subscribes to `geometry_msgs/Twist`. The
//! sensor is simulated: it reports the rotation of the last command.

#![no_std]
#![no_main]
// The linker prints how much of the board's memory is used.
#![warn(linker_messages)]

use board::{Clock, Sleep, Uart, stop};
use cortex_m_rt::entry;
use gantry_micro::{
    Client, ClientKey, Event, Instant, Memory, Node, Publisher, Qos, Subscription, transport::SerialTransport,
};
use gantry_msgs::{
    geometry_msgs::msg::Twist,
    sensor_msgs::msg::{Imu, ImuShape},
    std_msgs::msg::HeaderShape,
};
use static_cell::StaticCell;

/// The node has no boot nonce, because QEMU's machine has no noise source. A real board draws a nonce at boot.
const NODE: Node<'static> = Node { name: "robot", domain_id: 0, key: ClientKey(*b"robo"), boot_nonce: None };
const IMU_PERIOD_US: u32 = 20_000;
const SYNCHRONISE_PERIOD_US: u32 = 10_000_000;
const GRAVITY_M_PER_S2: f64 = 9.81;

type Session = Client<'static, SerialTransport<Uart>>;
type Commands = Subscription<'static, Twist, 4, 48>;

/// The size of all memory that the firmware's client needs.
const BUDGET_BYTES: usize =
    size_of::<Memory>() + size_of::<Session>() + size_of::<Publisher<'static, Imu>>() + size_of::<Commands>();
const _: () = assert!(BUDGET_BYTES <= 7 * 1024, "the link needs more memory than the budget of 7 kB");

#[entry]
fn main() -> ! {
    static mut MEMORY: Memory = Memory::new();
    static mut IMU: Publisher<'static, Imu> = Publisher::new();
    static mut COMMANDS: Commands = Subscription::new();
    static CLIENT: StaticCell<Session> = StaticCell::new();

    let Some((uart, clock, sleep)) = board::start() else { stop() };
    let client = connect(&CLIENT, MEMORY, uart);
    if client.create_publisher(IMU, "imu", Qos::SENSOR_DATA).is_err()
        || client.create_subscription(COMMANDS, "cmd_vel", Qos::DEFAULT).is_err()
    {
        stop();
    }
    run(client, IMU, COMMANDS, clock, sleep)
}

/// Connects to the agent. The function is not inlined, so that its stack frame, which has a temporary copy of the
/// client, is freed when it returns.
#[inline(never)]
fn connect(place: &'static StaticCell<Session>, memory: &'static mut Memory, uart: Uart) -> &'static mut Session {
    place.init_with(|| Client::new(SerialTransport::new(uart), memory, NODE))
}

fn run(
    client: &mut Session,
    imu: &'static Publisher<'static, Imu>,
    commands: &'static Commands,
    mut clock: Clock,
    mut sleep: Sleep,
) -> ! {
    let mut rotation_rad_per_s = 0.0;
    let (mut publish_at, mut synchronise_at) = (clock.now(), clock.now());
    loop {
        let now = clock.now();
        let Ok(()) = client.spin_once(now, |event| {
            // The robot stops when the connection to the agent is lost.
            if let Event::Disconnected { .. } = event {
                rotation_rad_per_s = 0.0;
            }
        });
        while let Ok(Some(command)) = commands.take() {
            rotation_rad_per_s = command.angular.z;
        }
        if is_due(&mut synchronise_at, SYNCHRONISE_PERIOD_US, now) {
            client.synchronise();
        }
        if is_due(&mut publish_at, IMU_PERIOD_US, now) {
            publish(imu, client, now, rotation_rad_per_s);
        }
        sleep.until_byte();
    }
}

/// Publishes a message. If there is no room or no agent, the message is not sent, and the publisher counts it.
#[inline(never)]
fn publish(publisher: &Publisher<'static, Imu>, client: &mut Session, now: Instant, rotation_rad_per_s: f64) {
    let stamp = client.time(now).unwrap_or_default();
    let shape = ImuShape { header: HeaderShape { frame_id: "imu_link" } };
    let _ = publisher.publish_with(client, shape, |imu| {
        imu.header_mut().stamp_mut().sec = stamp.seconds;
        imu.header_mut().stamp_mut().nanosec = stamp.nanoseconds;
        imu.orientation_mut().w = 1.0;
        imu.angular_velocity_mut().z = rotation_rad_per_s;
        imu.linear_acceleration_mut().z = GRAVITY_M_PER_S2;
    });
}

/// Returns whether the period has ended. If so, begins the next period.
fn is_due(at: &mut Instant, period_us: u32, now: Instant) -> bool {
    let is_due = *at <= now;
    if is_due {
        *at = at.after_us(period_us).max(now);
    }
    is_due
}
