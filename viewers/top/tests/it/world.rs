//! A test domain with two publishers: a camera, whose images a slow viewer takes too late, and a scanner.

use gantry_shm::{
    Inspector, Participant, Publisher, PublisherOptions, Qos, Sample, SourceTime, Subscription, TypeDescription,
};
use gantry_top::{app::App, sample, sampler::Sampler, view};
use ratatui::{Terminal, backend::TestBackend};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// The length of an image, in bytes.
pub const IMAGE_BYTES: usize = 300_000;
pub const SCAN_BYTES: usize = 8;

pub struct World {
    pub images: Publisher,
    pub scans: Publisher,
    pub viewer: Subscription,
    _logger: Subscription,
    /// Samples that the viewer has taken and still holds.
    pub held: Vec<Sample>,
    sampler: Sampler,
    now: Instant,
    participant: Arc<Participant>,
    root: TempDir,
}

fn type_of(name: &str) -> TypeDescription {
    TypeDescription { name: name.into(), hash: [0; 32], definition: "".into(), payload_bytes: IMAGE_BYTES }
}

impl World {
    pub fn new() -> World {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let qos = Qos::default().keep_last(2);
        let (image, scan) = ("sensor_msgs/msg/Image", "sensor_msgs/msg/LaserScan");
        let publish = |node, topic, of_type| {
            let options = PublisherOptions::default();
            Publisher::new(participant.clone(), node, topic, type_of(of_type), qos, options).unwrap()
        };
        let subscribe =
            |node, topic, of_type| Subscription::new(participant.clone(), node, topic, type_of(of_type), qos).unwrap();
        World {
            images: publish("/front/camera", "/front/camera/image_raw", image),
            scans: publish("/scanner", "/scan", scan),
            viewer: subscribe("/viewer", "/front/camera/image_raw", image),
            _logger: subscribe("/_logger", "/_hidden", scan),
            held: Vec::new(),
            sampler: Sampler::new(Inspector::under(root.path(), 0), 0),
            now: Instant::now(),
            participant,
            root,
        }
    }

    /// Publishes `count` messages of `bytes` bytes.
    pub fn send(publisher: &mut Publisher, count: usize, bytes: usize) {
        for _ in 0..count {
            let loan = publisher.loan(bytes).unwrap();
            publisher.publish(loan, SourceTime::now()).unwrap();
        }
    }

    /// Inspects the domain, as if a second had passed since the last inspection.
    pub fn look(&mut self) -> sample::Sample {
        self.now += Duration::from_secs(1);
        self.sampler.look(self.now).unwrap()
    }

    /// Inspects the domain once while the file of its process is moved away.
    pub fn look_without_process(&mut self) -> sample::Sample {
        let found = files_under(self.root.path()).into_iter().find(|path| path.extension() == Some("process".as_ref()));
        let file = found.unwrap();
        let away = self.root.path().join("away");
        fs::rename(&file, &away).unwrap();
        let sample = self.look();
        fs::rename(&away, &file).unwrap();
        sample
    }

    /// Adds a node to the graph, so that the view of nodes shows it.
    pub fn announce(&self, name: &str) -> gantry_shm::GraphRecord {
        gantry_shm::GraphRecord::node(self.participant.clone(), name, Default::default()).unwrap()
    }
}

fn files_under(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = |path: PathBuf| if path.is_dir() { files_under(&path) } else { vec![path] };
    entries.flat_map(files).collect()
}

/// Draws the screen, and returns its lines without trailing spaces.
pub fn picture(app: &mut App, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| view::draw(app, frame)).unwrap();
    let buffer = terminal.backend().buffer().clone();
    let line = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
    (0..height).map(line).collect()
}
