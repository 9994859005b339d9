//! What the console looks like when it is a terminal.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::program::Memory;

/// What a run of two seconds writes to a window of `rows` lines.
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
    // The last handle of the window on this side; reading ends when the program has closed its own.
    drop(command);
    let mut shown = Vec::new();
    // At its end a terminal says "input/output error", not "end of file".
    let _ = File::from(terminal).read_to_end(&mut shown);
    assert!(child.wait().unwrap().success());
    memory.assert_empty();
    String::from_utf8(shown).unwrap()
}

#[test]
fn tables_are_drawn_over_the_last_ones_only_if_they_fit_the_window() {
    let large = shown_in_window(60);
    assert_eq!(large.matches("\x1b[37F").count(), 1, "two sets, the second over the first");
    let set = large.split("run time").nth(1).unwrap();
    let lines = set.split("\x1b[37F").next().unwrap().matches('\n').count();
    assert_eq!(lines, 37, "the cursor goes up as many lines as were drawn");
    let small = shown_in_window(24);
    assert!(!small.contains('\x1b'), "{small:?}");
    assert_eq!(small.matches("| T_experiment |").count(), 2);
}
