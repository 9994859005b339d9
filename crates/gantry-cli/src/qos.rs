//! QoS on the command line and in reports, with the words of `ros2`.

use crate::number::positive_seconds;
use clap::{Args, ValueEnum};
use gantry::{Durability, History, Liveliness, Qos, Reliability};
use serde::Serialize;
use std::{fmt, time::Duration};

/// The options of `ros2 topic echo` and `ros2 topic pub`.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Quality of service")]
pub struct QosOptions {
    /// The QoS profile that the other options change
    #[arg(long, value_enum)]
    pub qos_profile: Option<Profile>,
    /// The number of messages that are kept
    #[arg(long, value_name = "N")]
    qos_depth: Option<u32>,
    /// The messages that are kept
    #[arg(long, value_enum)]
    qos_history: Option<HistoryOption>,
    /// Whether messages may be lost
    #[arg(long, value_enum)]
    pub qos_reliability: Option<ReliabilityOption>,
    /// Whether late subscriptions get earlier messages
    #[arg(long, value_enum)]
    pub qos_durability: Option<DurabilityOption>,
    /// The side that asserts the publisher's liveliness
    #[arg(long, value_enum)]
    qos_liveliness: Option<LivelinessOption>,
    /// The longest time between two assertions of liveliness
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    qos_liveliness_lease_duration_seconds: Option<Duration>,
}

/// The profiles of `rmw_qos_profiles`, without duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Profile {
    Default,
    SystemDefault,
    SensorData,
    ServicesDefault,
    Parameters,
    ParameterEvents,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum HistoryOption {
    KeepLast,
    KeepAll,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum ReliabilityOption {
    Reliable,
    BestEffort,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum DurabilityOption {
    Volatile,
    TransientLocal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum LivelinessOption {
    Automatic,
    ManualByTopic,
}

impl Profile {
    fn qos(self) -> Qos {
        match self {
            Profile::Default => Qos::default(),
            Profile::SystemDefault => Qos::system_default(),
            Profile::SensorData => Qos::sensor_data(),
            Profile::ServicesDefault => Qos::services_default(),
            Profile::Parameters => Qos::parameters(),
            Profile::ParameterEvents => Qos::parameter_events(),
        }
    }
}

impl QosOptions {
    /// The QoS of these options. It is based on `profile`, unless the user names another profile.
    pub fn qos(&self, profile: Profile) -> Qos {
        let mut qos = self.qos_profile.unwrap_or(profile).qos();
        if let Some(depth) = self.qos_depth {
            qos.depth = depth;
        }
        if let Some(history) = self.qos_history {
            qos.history = match history {
                HistoryOption::KeepLast => History::KeepLast,
                HistoryOption::KeepAll => History::KeepAll,
            };
        }
        if let Some(reliability) = self.qos_reliability {
            qos.reliability = match reliability {
                ReliabilityOption::Reliable => Reliability::Reliable,
                ReliabilityOption::BestEffort => Reliability::BestEffort,
            };
        }
        if let Some(durability) = self.qos_durability {
            qos.durability = match durability {
                DurabilityOption::Volatile => Durability::Volatile,
                DurabilityOption::TransientLocal => Durability::TransientLocal,
            };
        }
        if let Some(liveliness) = self.qos_liveliness {
            qos.liveliness = match liveliness {
                LivelinessOption::Automatic => Liveliness::Automatic,
                LivelinessOption::ManualByTopic => Liveliness::ManualByTopic,
            };
        }
        qos.liveliness_lease_duration = self.qos_liveliness_lease_duration_seconds.or(qos.liveliness_lease_duration);
        qos
    }
}

/// QoS in a report. A time of `None` means infinite.
#[derive(Serialize)]
pub struct QosReport {
    reliability: String,
    history: &'static str,
    /// The depth of KEEP_LAST.
    depth: u32,
    durability: String,
    lifespan_ns: Option<u64>,
    deadline_ns: Option<u64>,
    liveliness: String,
    liveliness_lease_duration_ns: Option<u64>,
}

impl From<Qos> for QosReport {
    fn from(qos: Qos) -> QosReport {
        let ns = |limit: Option<Duration>| limit.map(|limit| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
        QosReport {
            reliability: qos.reliability.to_string(),
            history: match qos.history {
                History::KeepLast => "KEEP_LAST",
                History::KeepAll => "KEEP_ALL",
            },
            depth: qos.depth,
            durability: qos.durability.to_string(),
            lifespan_ns: ns(qos.lifespan),
            deadline_ns: ns(qos.deadline),
            liveliness: qos.liveliness.to_string(),
            liveliness_lease_duration_ns: ns(qos.liveliness_lease_duration),
        }
    }
}

impl QosReport {
    /// The policies that matter most often, on one line.
    pub fn short(&self) -> String {
        let depth = if self.history == "KEEP_LAST" { format!(" ({})", self.depth) } else { String::new() };
        format!("{}, {}, {}{depth}", self.reliability, self.durability, self.history)
    }
}

/// Prints the QoS as `ros2 topic info -v` does.
impl fmt::Display for QosReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = |ns: Option<u64>| ns.map_or("Infinite".to_owned(), |ns| format!("{ns} nanoseconds"));
        writeln!(f, "QoS profile:")?;
        writeln!(f, "  Reliability: {}", self.reliability)?;
        match self.history {
            "KEEP_LAST" => writeln!(f, "  History (Depth): KEEP_LAST ({})", self.depth)?,
            history => writeln!(f, "  History (Depth): {history}")?,
        }
        writeln!(f, "  Durability: {}", self.durability)?;
        writeln!(f, "  Lifespan: {}", limit(self.lifespan_ns))?;
        writeln!(f, "  Deadline: {}", limit(self.deadline_ns))?;
        writeln!(f, "  Liveliness: {}", self.liveliness)?;
        writeln!(f, "  Liveliness lease duration: {}", limit(self.liveliness_lease_duration_ns))
    }
}
