//! Tests of the screen contents at 80 and 200 columns, and of the effects of keys.

use crate::world::*;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use gantry_top::{
    app::{App, Step},
    sample::{Node, Sample, Topic},
};
use test_support::tests;

tests![
    the_topics_have_rates_lag_losses_and_memory,
    an_endpoint_that_the_last_look_missed_has_no_rate,
    wide_terminals_show_holders_and_types,
    a_topic_is_opened_with_its_ends,
    nodes_have_their_processes,
    keys_sort_select_filter_and_end,
    rows_are_selected_one_by_one_and_by_pages,
    a_look_that_failed_is_said_until_the_next_sample,
    an_empty_domain_is_said_to_be_empty,
];

fn press(app: &mut App, code: KeyCode) -> Step {
    app.press(KeyEvent::new(code, KeyModifiers::NONE))
}

fn line<'a>(lines: &'a [String], part: &str) -> &'a str {
    lines.iter().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{part} is not in {lines:#?}"))
}

/// Simulates a second in which the camera sends 30 images, of which the viewer takes 2, and the scanner sends
/// 40 scans.
fn second() -> (World, App) {
    let mut world = World::new();
    let mut app = App::new(String::new(), false);
    world.look();
    World::send(&mut world.images, 30, IMAGE_BYTES);
    World::send(&mut world.scans, 40, SCAN_BYTES);
    while let Some(sample) = world.viewer.take().unwrap() {
        world.held.push(sample);
    }
    World::send(&mut world.images, 1, IMAGE_BYTES);
    app.update(world.look());
    (world, app)
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn the_topics_have_rates_lag_losses_and_memory() {
    let (_world, mut app) = second();
    let lines = picture(&mut app, 80, 12);
    assert!(lines[0].starts_with("gantry top  domain 0  1 processes  2 topics"), "{}", lines[0]);
    assert_eq!(words(&lines[1]), ["TOPICv", "HZ", "BYTES/S", "PUB", "SUB", "LAG", "LOST", "MEMORY"]);
    let image = words(line(&lines, "/front/camera/image_raw"));
    // The topic had 31 images: 28 left the history of depth 2 before the viewer took the next one, and the viewer
    // has not taken the last one.
    assert_eq!(image[..8], ["/front/camera/image_raw", "31.0", "9.3", "MB", "1", "1", "1", "28"]);
    let scan = words(line(&lines, "/scan"));
    assert_eq!(scan[..7], ["/scan", "40.0", "320", "B", "1", "0", "0"]);
    assert!(lines.iter().all(|line| !line.contains("_hidden")));
    assert!(lines[11].starts_with("q quit"), "{}", lines[11]);
}

fn an_endpoint_that_the_last_look_missed_has_no_rate() {
    let mut world = World::new();
    let rate =
        |sample: Sample| sample.topics.iter().find(|topic| topic.name == "/scan").and_then(|topic| topic.rate_hz);
    World::send(&mut world.scans, 1000, SCAN_BYTES);
    assert_eq!(rate(world.look()), None);
    assert_eq!(rate(world.look()), Some(0.0));
    World::send(&mut world.scans, 40, SCAN_BYTES);
    assert!(world.look_without_process().topics.is_empty());
    assert_eq!(rate(world.look()), None, "1040 messages are no rate of a second");
    World::send(&mut world.scans, 40, SCAN_BYTES);
    assert_eq!(rate(world.look()), Some(40.0));
    let text = World::new().look().to_string();
    assert_eq!(words(line(&text.lines().map(str::to_owned).collect::<Vec<_>>(), "/scan"))[..3], ["/scan", "-", "-"]);
}

fn wide_terminals_show_holders_and_types() {
    let (_world, mut app) = second();
    let lines = picture(&mut app, 200, 12);
    let image = line(&lines, "/front/camera/image_raw");
    assert!(image.contains(&format!(" {} it-", std::process::id())) && image.contains(": 2 (600 kB)"), "{image}");
    assert!(image.ends_with("sensor_msgs/msg/Image"), "{image}");
    assert!(lines[11].ends_with("p pause"), "{}", lines[11]);
}

fn a_topic_is_opened_with_its_ends() {
    let (world, mut app) = second();
    press(&mut app, KeyCode::Down);
    press(&mut app, KeyCode::Enter);
    for width in [80, 200] {
        let lines = picture(&mut app, width, 20);
        assert!(lines[1].starts_with("/front/camera/image_raw  sensor_msgs/msg/Image  31.0 Hz"), "{}", lines[1]);
        let process = format!(" {} it-", std::process::id());
        assert!(line(&lines, "/front/camera  ").contains(&process));
        let viewer = line(&lines, "/viewer");
        assert!(viewer.contains(&process) && words(viewer).ends_with(&["1", "2", "28", "28.0"]), "{viewer}");
        line(&lines, "HELD BY");
    }
    drop(world);
    let mut gone = World::new();
    app.update(gone.look());
    press(&mut app, KeyCode::Esc);
    line(&picture(&mut app, 80, 20), "/scan");
}

fn nodes_have_their_processes() {
    let (mut world, mut app) = second();
    let _nodes = ["/front/camera", "/scanner", "/viewer"].map(|name| world.announce(name));
    World::send(&mut world.images, 10, IMAGE_BYTES);
    app.update(world.look());
    press(&mut app, KeyCode::Char('n'));
    let lines = picture(&mut app, 80, 12);
    let camera = line(&lines, "/front/camera");
    assert!(camera.contains(&format!(" {} it-", std::process::id())) && words(camera).contains(&"10.0"), "{camera}");
    assert!(words(line(&lines, "/viewer")).contains(&"28"));
    assert!(words(&picture(&mut app, 200, 12)[1]).contains(&"SRV"));
}

fn keys_sort_select_filter_and_end() {
    let (_world, mut app) = second();
    let first = |app: &mut App| words(&picture(app, 80, 12)[2])[0].to_owned();
    assert_eq!(first(&mut app), "/front/camera/image_raw");
    press(&mut app, KeyCode::Right); // sorts by rate
    assert_eq!(first(&mut app), "/scan");
    press(&mut app, KeyCode::Char('r'));
    assert_eq!(first(&mut app), "/front/camera/image_raw");
    for char in ['/', 's', 'c', 'q'] {
        press(&mut app, KeyCode::Char(char));
    }
    press(&mut app, KeyCode::Backspace);
    press(&mut app, KeyCode::Enter);
    let lines = picture(&mut app, 80, 12);
    assert!(lines[2].starts_with("/scan") && lines[3].is_empty() && lines[11].starts_with("filter: sc"), "{lines:#?}");
    press(&mut app, KeyCode::Esc);
    press(&mut app, KeyCode::Char('h'));
    line(&picture(&mut app, 80, 12), "/_hidden");
    press(&mut app, KeyCode::Char('?'));
    line(&picture(&mut app, 80, 24), "HELD BY  processes that hold");
    press(&mut app, KeyCode::Char('?'));
    assert_eq!(press(&mut app, KeyCode::Char('q')), Step::End);
    assert_eq!(app.press(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)), Step::End);
}

fn rows_are_selected_one_by_one_and_by_pages() {
    let node = |process: &str| Node { name: "/twin".into(), process: process.into(), ..Node::default() };
    let topic = |number: usize| Topic { name: format!("/topic_{number:02}"), ..Topic::default() };
    let nodes = vec![node("talker (pid 1)"), node("talker (pid 2)"), node("talker (pid 3)")];
    let sample = Sample { nodes, topics: (0..30).map(topic).collect(), ..Sample::default() };
    let mut app = App::new(String::new(), false);
    app.update(sample.clone());
    let mut selected = |codes: &[KeyCode]| {
        codes.iter().for_each(|code| _ = press(&mut app, *code));
        app.selected(&sample)
    };
    assert_eq!(selected(&[KeyCode::PageDown]), Some(9));
    assert_eq!(selected(&[KeyCode::PageDown, KeyCode::Up]), Some(18));
    assert_eq!(selected(&[KeyCode::Char('n')]), None);
    assert_eq!(selected(&[KeyCode::Down]), Some(0));
    assert_eq!(selected(&[KeyCode::Down, KeyCode::Down]), Some(2), "nodes of one name are rows of their own");
}

fn a_look_that_failed_is_said_until_the_next_sample() {
    let (mut world, mut app) = second();
    app.fail("the directory cannot be read".into());
    let lines = picture(&mut app, 80, 12);
    assert_eq!(lines[11], "no new sample: the directory cannot be read");
    line(&lines, "/scan");
    app.update(world.look());
    assert!(picture(&mut app, 80, 12)[11].starts_with("q quit"));
}

fn an_empty_domain_is_said_to_be_empty() {
    let mut app = App::new(String::new(), false);
    line(&picture(&mut app, 80, 5), "nothing is here yet");
}
