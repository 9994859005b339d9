//! Tests of the output of a run on a terminal.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::program::Memory;

test_support::tests![
    tables_are_drawn_over_the_previous_ones_only_if_they_fit_the_window,
    progress_is_below_the_tables_of_any_window_and_gone_in_the_end,
];

/// The output of a run of two seconds on a terminal with `rows` lines.
fn shown_in_window(rows: u16) -> String {
    let memory = Memory::new();
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    tcsetwinsize(&terminal, Winsize { ws_row: rows, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let window = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let mut command = memory.command("-r 10 --max-runtime 2");
    let mut child = command.stdin(Stdio::null()).stdout(window).spawn().unwrap();
    // The command owns this process's last handle of the terminal. Without it, reading ends when the program closes its
    // own handle.
    drop(command);
    let mut shown = Vec::new();
    // A terminal reports its end as the error EIO, not as the end of a file.
    let _ = File::from(terminal).read_to_end(&mut shown);
    assert!(child.wait().unwrap().success());
    memory.assert_empty();
    String::from_utf8(shown).unwrap()
}

/// The outputs of a run in a large window and in a small window.
fn shown_in_both_windows() -> (String, String) {
    let large = std::thread::spawn(|| shown_in_window(60));
    let small = shown_in_window(24);
    (large.join().unwrap(), small)
}

/// The lines that the window shows after the run, including lines that have scrolled out. Interprets the escape
/// sequences that the program uses.
fn seen(shown: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut rest = shown;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\n' => lines.push(String::new()),
            '\r' => {}
            '\x1b' => {
                let sequence = rest.split_inclusive(|c: char| c.is_ascii_alphabetic()).next().unwrap();
                rest = &rest[sequence.len()..];
                let up: usize = match sequence {
                    "[J" => continue,
                    up => up.strip_prefix('[').unwrap().strip_suffix('F').unwrap().parse().unwrap(),
                };
                assert!(rest.starts_with("\x1b[J"), "what is left behind below?");
                lines.truncate(lines.len() - up);
                lines.last_mut().unwrap().clear();
            }
            c => lines.last_mut().unwrap().push(c),
        }
    }
    lines
}

fn count(lines: &[String], words: &str) -> usize {
    lines.iter().filter(|line| line.contains(words)).count()
}

fn tables_are_drawn_over_the_previous_ones_only_if_they_fit_the_window() {
    let (large, small) = shown_in_both_windows();
    assert_eq!(large.matches("| T_experiment |").count(), 2);
    let lines = seen(&large);
    assert_eq!(count(&lines, "| T_experiment |"), 1, "two sets, the second over the first: {lines:#?}");
    assert_eq!(count(&lines, "| T_experiment | 2.000000 |"), 1);
    assert_eq!((count(&lines, "getrusage(2)"), count(&lines, "Maximum runtime reached")), (1, 1), "{lines:#?}");
    let small = seen(&small);
    assert_eq!(count(&small, "| T_experiment |"), 2, "{small:#?}");
    assert_eq!((count(&small, "getrusage(2)"), count(&small, "nvcsw  |")), (1, 2), "{small:#?}");
}

fn progress_is_below_the_tables_of_any_window_and_gone_in_the_end() {
    let (large, small) = shown_in_both_windows();
    for shown in [large, small] {
        let progress = ["[###############---------------] 1 s of 2 s, 1 s left; 10 sent/s", "2 s of 2 s, 0 s left"];
        assert!(progress.iter().all(|line| shown.contains(line)), "{shown}");
        let lines = seen(&shown);
        assert_eq!(count(&lines, " s left"), 0, "{lines:#?}");
    }
}
