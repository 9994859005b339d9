//! The deaths of child processes, one after the other, and the checks after each death. A *pass* is one execution of a
//! crash point.

use crate::{
    scenarios::{SCENARIOS, Scenario},
    support::Root,
    survivors::{Others, Survivors, check_next},
};
use gantry_shm::crash::POINTS;
use std::{
    io::{BufRead, BufReader, Write},
    os::unix::process::ExitStatusExt,
    process::{Command, ExitCode, ExitStatus, Stdio},
    sync::{
        LazyLock,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

/// The number of attempts to kill a child at a given pass. Threads run in another order each time, so an attempt may
/// end before the pass.
const TRIES: usize = 4;
/// The number of times that a scenario is played to count its passes. The smallest count is used.
const COUNTS: usize = 3;

static DEATHS: AtomicUsize = AtomicUsize::new(0);
static SURVIVED: AtomicUsize = AtomicUsize::new(0);

/// For each scenario, the number of passes of each crash point.
static PASSES: LazyLock<Vec<Vec<u64>>> = LazyLock::new(|| SCENARIOS.iter().map(count_passes).collect());

/// The end of a child process.
pub struct End {
    pub status: ExitStatus,
    /// The number of passes of each crash point; `None` if the child died early.
    passes: Option<Vec<u64>>,
}

/// Starts a child process, and serves its requests until it ends.
pub fn start(
    root: &Root,
    scenario: &str,
    arguments: &[&str],
    mut serve: impl FnMut(&str, &mut dyn FnMut(usize)),
) -> End {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--child", scenario, root.path().to_str().unwrap()])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut passes = None;
    for line in BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok) {
        match line.strip_prefix("passes ") {
            Some(counts) => passes = Some(counts.split(' ').map(|count| count.parse().unwrap()).collect()),
            // The child may die before it reads the answer.
            None => serve(&line, &mut |answer| _ = writeln!(stdin, "{answer}")),
        }
    }
    End { status: child.wait().unwrap(), passes }
}

/// Plays a scenario, and checks the state after it. If `death` is a crash point and a pass, the child dies there.
fn play(scenario: &Scenario, death: Option<(usize, u64)>) -> End {
    let root = Root::new();
    let arguments = death.map(|(index, pass)| [index.to_string(), pass.to_string()]);
    let arguments: Vec<&str> = arguments.iter().flatten().map(String::as_str).collect();
    let name = scenario.name;
    let no_requests = |request: &str, _: &mut dyn FnMut(usize)| panic!("no survivor is there for {request}");
    match scenario.others {
        Others::Absent | Others::Dead => {
            if scenario.others == Others::Dead {
                let dead = start(&root, name, &["remains"], no_requests);
                assert_eq!(dead.status.signal(), Some(libc::SIGKILL));
            }
            let end = start(&root, name, &arguments, no_requests);
            check_next(&root);
            end
        }
        others => {
            let mut survivors = Survivors::new(&root, others);
            let end = start(&root, name, &arguments, |request, answer| survivors.serve(request, answer));
            survivors.check(name);
            end
        }
    }
}

fn count_passes(scenario: &Scenario) -> Vec<u64> {
    let mut least = vec![u64::MAX; POINTS.len()];
    for _ in 0..COUNTS {
        let end = play(scenario, None);
        assert!(end.status.success(), "{} ends with {}", scenario.name, end.status);
        least.iter_mut().zip(end.passes.unwrap()).for_each(|(least, passes)| *least = passes.min(*least));
    }
    least
}

/// Chooses the passes at which children die: all passes if they are few; otherwise the first two, some in between, and
/// the last.
fn chosen(passes: u64) -> Vec<u64> {
    match passes {
        0..=16 => (1..=passes).collect(),
        _ => [1, 2].into_iter().chain((1..=8).map(|part| part * passes / 8)).collect(),
    }
}

/// Kills children at passes of the crash point `POINTS[index]`, in each scenario that executes it.
pub fn kill_everywhere(index: usize) {
    let point = POINTS[index];
    let mut deaths = 0;
    for (scenario, passes) in SCENARIOS.iter().zip(PASSES.iter()) {
        for pass in chosen(passes[index]) {
            let whereabouts = Whereabouts { scenario: scenario.name, point, pass };
            match dies(scenario, (index, pass)) {
                true => deaths += 1,
                false => _ = SURVIVED.fetch_add(1, SeqCst),
            }
            std::mem::forget(whereabouts);
        }
    }
    assert!(deaths > 0, "the point {point} is never passed: write a scenario for it");
    DEATHS.fetch_add(deaths, SeqCst);
}

/// True if the child dies at this pass, in one of `TRIES` attempts.
fn dies(scenario: &Scenario, death: (usize, u64)) -> bool {
    (0..TRIES).any(|_| {
        let end = play(scenario, Some(death));
        let is_killed = end.status.signal() == Some(libc::SIGKILL);
        assert!(is_killed || end.status.success(), "the child ends with {}", end.status);
        is_killed
    })
}

/// A guard that prints the scenario and the crash point if the test panics.
struct Whereabouts {
    scenario: &'static str,
    point: &'static str,
    pass: u64,
}

impl Drop for Whereabouts {
    fn drop(&mut self) {
        eprintln!("that was scenario {}, point {}, pass {}", self.scenario, self.point, self.pass);
    }
}

/// Prints the number of deaths. Fails if too many children did not die at their crash points.
pub fn sum_up() -> ExitCode {
    let (deaths, survived) = (DEATHS.load(SeqCst), SURVIVED.load(SeqCst));
    eprintln!("{deaths} children died, {survived} came to their end in each of {TRIES} tries");
    if survived * 20 > deaths { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
