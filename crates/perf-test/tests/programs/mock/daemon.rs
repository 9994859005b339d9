//! The daemon of the mock: a shell script that carries no messages and uses some CPU time.

use perf_worker::{
    backend::{DaemonCommand, Readiness},
    run_spec::MockDaemon,
};

/// The line that the daemon prints when it is ready.
const READY: &str = "the daemon of the mock is ready";
/// The start-up of the daemon. It takes some time, so that the wait for the daemon is tested.
const GET_READY: &str = "sleep 0.2";
/// Some milliseconds of work, followed by a pause.
const WORK: &str = "i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done; sleep 0.05";

/// Returns the command that starts the daemon.
pub fn command(daemon: MockDaemon) -> DaemonCommand {
    let script = match daemon {
        MockDaemon::Lives => format!("{GET_READY}; echo {READY}; while :; do {WORK}; done"),
        MockDaemon::Dies(time_ns) => {
            format!("{GET_READY}; echo {READY}; sleep {}; echo the script says die >&2; exit 3", time_ns as f64 / 1e9)
        }
        MockDaemon::Silent => format!("echo the script says silent; while :; do {WORK}; done"),
        MockDaemon::Exits => "echo the script says exit >&2; exit 4".to_owned(),
    };
    DaemonCommand {
        name: "mockd".to_owned(),
        command: ["sh", "-c", &script].map(str::to_owned).into(),
        ready: Readiness::Line(READY.to_owned()),
    }
}
