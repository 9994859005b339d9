//! A recorder whose CPU time is measured, and whose bag is read afterwards.

use crate::{program, talker};
use gantry_bag::read::{Bag, Filter, Messages};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use std::{
    collections::BTreeMap,
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// A running recorder.
pub struct Recorder {
    child: Child,
    bag: PathBuf,
}

impl Recorder {
    /// Starts the recorder of this package, or the shell command `other`, which gets the path of the bag as its last
    /// argument, and must end at SIGINT.
    pub fn start(bag: &Path, other: Option<&str>) -> Recorder {
        let path = bag.to_str().unwrap();
        let mut command = match other {
            None => program(&["record", "--all", "-o", path]),
            Some(other) => {
                let mut command = Command::new("sh");
                command.args(["-c", &format!("exec {other} \"$0\""), path]);
                command
            }
        };
        Recorder { child: command.stdout(Stdio::null()).spawn().unwrap(), bag: bag.to_owned() }
    }

    /// The CPU time that the recorder has used, in seconds: in user mode, and in the kernel.
    pub fn cpu_s(&self) -> [f64; 2] {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        // The fields after the program's name are split, because the name may have spaces. utime and stime are in
        // hundredths of a second.
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        [11, 12].map(|index: usize| fields[index].parse::<f64>().unwrap() / 100.0)
    }

    /// Ends the recorder. Returns the CPU time of its whole life.
    pub fn end(&mut self) -> [f64; 2] {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::INT).unwrap();
        // The ended process keeps its times until it is waited for.
        waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
        let cpu_s = self.cpu_s();
        self.child.wait().unwrap();
        cpu_s
    }

    /// The numbers of the messages in the bag by topic, in the order of their times, and the size of their data. Panics
    /// if a byte of a message is wrong.
    pub fn contents(&self) -> (BTreeMap<String, Vec<u64>>, u64) {
        let (bag, mut bytes) = (Bag::open(&self.bag).unwrap(), 0);
        let mut numbers: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        let visited = Messages::new(&bag.files, &Filter::default()).unwrap().visit(|message| {
            let number = talker::number(&message.data[gantry::ENCAPSULATION.len()..]).unwrap();
            numbers.entry(message.channel.topic.clone()).or_default().push(number);
            bytes += message.data.len() as u64;
            Ok(ControlFlow::Continue(()))
        });
        visited.unwrap();
        (numbers, bytes)
    }
}
