//! Tests of the files in shared memory: their format, and directories and files that cannot be trusted.

use crate::support::*;
use gantry_shm::{Error, Participant, Qos, SourceTime};
use rustix::time::{ClockId, clock_gettime};
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};

tests![
    the_layout_is_the_golden_one,
    a_foreign_directory_is_refused,
    a_root_that_all_may_write_must_be_sticky,
    a_symbolic_link_is_refused,
    a_missing_root_is_named,
    a_root_that_is_no_tmpfs_is_refused,
    a_program_with_the_rights_of_its_file_ignores_the_environment,
    the_umask_does_not_matter,
    a_limit_of_file_sizes_is_a_sentence,
    a_user_namespace_is_no_other_user,
    a_board_of_another_version_is_refused_while_a_process_lives,
    files_of_another_version_are_removed,
    a_damaged_publisher_is_an_error_and_not_a_crash,
    an_inline_length_that_makes_no_sense_is_corrupt,
    strange_files_do_no_harm,
    a_vanished_board_is_refused_while_a_process_uses_it,
    a_damaged_publisher_does_not_silence_a_good_one,
    a_process_that_cannot_be_read_is_said_when_a_publisher_is_made,
    scribbled_files_give_errors_and_never_a_crash,
    nothing_is_left_after_an_orderly_end,
];

fn the_layout_is_the_golden_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/internals/memory-layout.golden");
    let found = gantry_shm::describe_layout();
    if std::env::var_os("WRITE_GOLDEN").is_some() {
        std::fs::write(path, &found).unwrap();
    }
    let golden = std::fs::read_to_string(path).unwrap();
    assert!(
        found == golden,
        "the format changed; mend docs/internals/memory-layout.md, then run this with WRITE_GOLDEN=1:\n{found}"
    );
}

/// Finds the user's directory. Its name contains the uid, which differs in a user namespace.
fn user_directory(root: &Root) -> std::path::PathBuf {
    let _participant = root.join();
    root.files().into_iter().find(|path| path.parent() == Some(root.path())).unwrap()
}

fn a_foreign_directory_is_refused() {
    let root = Root::new();
    let directory = user_directory(&root);
    std::fs::create_dir(&directory).unwrap();
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o755)).unwrap();
    let error = Participant::join_under(root.path(), 0).unwrap_err();
    assert!(matches!(error, Error::ForeignDirectory { .. }) && error.to_string().contains("755"), "{error}");
}

fn a_root_that_all_may_write_must_be_sticky() {
    let root = Root::new();
    let permit = |mode| std::fs::set_permissions(root.path(), std::fs::Permissions::from_mode(mode)).unwrap();
    permit(0o777);
    let error = Participant::join_under(root.path(), 0).unwrap_err().to_string();
    assert!(error.contains("mode 777") && error.contains("chmod +t") && error.contains("GANTRY_SHM_DIR"), "{error}");
    for mode in [0o1777, 0o755] {
        permit(mode);
        Participant::join_under(root.path(), 0).unwrap();
    }
}

fn a_symbolic_link_is_refused() {
    let root = Root::new();
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), user_directory(&root)).unwrap();
    let error = Participant::join_under(root.path(), 0).unwrap_err();
    assert!(matches!(error, Error::ForeignDirectory { .. }), "{error}");
}

fn a_missing_root_is_named() {
    let error = Participant::join_under("/no/such/root".as_ref(), 0).unwrap_err().to_string();
    assert!(error.contains("/no/such/root") && error.contains("GANTRY_SHM_DIR"), "{error}");
}

fn a_root_that_is_no_tmpfs_is_refused() {
    let root = ["/tmp", "/var/tmp", env!("CARGO_MANIFEST_DIR")].into_iter().find(|path| {
        !rustix::fs::statfs(*path).is_ok_and(|found| found.f_type == 0x0102_1994) && tempfile::tempdir_in(path).is_ok()
    });
    let Some(root) = root else { ignore("no directory here is on a disk") };
    let root = tempfile::tempdir_in(root).unwrap();
    let join = |allowed: &str| {
        let program = this_program();
        let mut command = std::process::Command::new(&program[0]);
        command.args(&program[1..]).args(["--child", "join-default"]);
        command.env("GANTRY_SHM_DIR", root.path()).env("GANTRY_SHM_ALLOW_DISK", allowed);
        let mut child = Peer::start(&mut command);
        let line = child.line();
        child.finish();
        line
    };
    let refused = join("0");
    for part in ["tmpfs", "GANTRY_SHM_DIR", "GANTRY_SHM_ALLOW_DISK=1", root.path().to_str().unwrap()] {
        assert!(refused.contains(part), "{part} is not in: {refused}");
    }
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0, "it was refused, and made a directory");
    // A file system on a disk (an overlay) may not support unnamed files; the error then says so.
    let allowed = join("1");
    assert!(allowed.starts_with(root.path().to_str().unwrap()) || allowed.contains("O_TMPFILE"), "{allowed}");
}

/// Role of a child process: joins the default directory, which the environment sets. Prints the directory or the error.
pub fn join_default() {
    match Participant::join(0) {
        Ok(participant) => {
            let found = format!("{participant:?}");
            crate::child::say(found.trim_start_matches("Participant(").trim_end_matches(')'));
        }
        Err(error) => crate::child::say(&error.to_string()),
    }
}

fn a_program_with_the_rights_of_its_file_ignores_the_environment() {
    const NOBODY: u32 = 65534;
    if this_program().len() > 1 {
        ignore("an emulator runs this program");
    }
    let (root, folder) = (Root::new(), tempfile::tempdir().unwrap());
    let program = folder.path().join("it");
    // `cp` makes the copy in another process. If this process wrote the copy, a child that another test forks meanwhile
    // would keep it open for writing, and it could not be executed (ETXTBSY).
    let copied = std::process::Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status().unwrap();
    assert!(copied.success());
    if std::os::unix::fs::chown(&program, Some(NOBODY), Some(NOBODY)).is_err() {
        ignore("only root can give a file another owner");
    }
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o4755)).unwrap();
    let mut command = std::process::Command::new(program);
    let mut child = Peer::start(command.args(["--child", "join-default"]).env("GANTRY_SHM_DIR", root.path()));
    let line = child.line();
    child.finish();
    if line.starts_with(user_directory(&root).to_str().unwrap()) {
        ignore("this file system ignores the set-user-ID bit");
    }
    assert!(line.starts_with("/dev/shm/gantry-"), "{line}");
}

/// A shell command that executes `command` and then this program.
fn after(command: &str) -> std::process::Command {
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &format!("{command} \"$@\""), "sh"]).args(this_program());
    shell
}

fn the_umask_does_not_matter() {
    for mask in ["0777", "0277"] {
        let root = Root::new();
        let mut idle = root.child_by(after(&format!("umask {mask}; exec")), "idle", &[]);
        assert_eq!(idle.line(), "ready");
        for path in root.files() {
            let metadata = std::fs::metadata(&path).unwrap();
            let expected = if metadata.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(metadata.permissions().mode() & 0o7777, expected, "{} with umask {mask}", path.display());
        }
        drop(root.join());
        idle.finish();
        root.assert_empty();
    }
}

fn a_limit_of_file_sizes_is_a_sentence() {
    let root = Root::new();
    // Depending on the shell, the unit of the limit is 512 or 1024 bytes.
    let mut child = root.child_by(after("ulimit -f 4096; exec"), "grow", &[]);
    let line = child.line();
    for part in ["ulimit -f", "/chatter", "this one needs"] {
        assert!(line.contains(part), "{part} is not in: {line}");
    }
    child.finish();
    root.assert_empty();
}

/// Role of a child process: loans until an error, drops the loans, publishes a message, and prints the error.
pub fn grow_to_the_end(participant: &std::sync::Arc<Participant>) {
    let bytes = 64 << 10;
    let mut publisher = publisher(participant, bytes, Qos::default());
    let mut subscription = subscription(participant, bytes, Qos::default());
    match_up(&mut publisher, &mut subscription);
    let mut loans = Vec::new();
    let error = loop {
        match publisher.loan(bytes) {
            Ok(loan) => loans.push(loan),
            Err(error) => break error,
        }
    };
    drop(loans);
    send(&mut publisher, bytes, 1);
    assert_eq!(drain(&mut subscription), [1]);
    crate::child::say(&error.to_string());
}

fn a_user_namespace_is_no_other_user() {
    let unshare = "unshare --user --map-user=5";
    if !std::process::Command::new("sh").args(["-c", &format!("{unshare} true")]).status().unwrap().success() {
        ignore("no user namespace with another uid can be made");
    }
    let root = Root::new();
    let participant = root.join();
    let (bytes, qos) = (crate::child::STREAM_BYTES, crate::child::stream_qos());
    let mut subscription = subscription(&participant, bytes, qos);
    let mut inside = root.child_by(after(&format!("exec {unshare}")), "stream", &[]);
    assert_eq!(inside.line(), "ready");
    for _ in 0..10 {
        check(receive(&mut subscription).bytes());
    }
    inside.finish();
}

fn a_board_of_another_version_is_refused_while_a_process_lives() {
    for (contents, word) in [(vec![0; 16], "bytes"), (vec![7; 1 << 20], "starts with")] {
        let root = Root::new();
        let mut idle = root.child("idle", &[]);
        idle.line();
        let board = root.files().into_iter().find(|path| path.ends_with("board")).unwrap();
        std::fs::remove_file(&board).unwrap();
        std::fs::write(&board, contents).unwrap();
        let error = Participant::join_under(root.path(), 0).unwrap_err();
        assert!(matches!(error, Error::Incompatible { .. }) && error.to_string().contains(word), "{error}");
        // When all processes of a version have ended, the next process removes their files.
        idle.kill();
        drop(root.join());
        root.assert_empty();
    }
}

/// Dead processes of another version have left their files, whose layout this version does not know.
fn files_of_another_version_are_removed() {
    use std::os::unix::fs::FileExt;
    for with_board in [true, false] {
        let root = Root::new();
        let mut idle = root.child("idle", &[]);
        idle.line();
        idle.kill();
        for path in root.files().into_iter().filter(|path| path.is_file()) {
            let version = offset_of("FileHeader", "version") as u64;
            std::fs::OpenOptions::new().write(true).open(&path).unwrap().write_all_at(&[0; 4], version).unwrap();
            if path.ends_with("board") && !with_board {
                std::fs::remove_file(path).unwrap();
            }
        }
        drop(root.join());
        root.assert_empty();
    }
}

fn a_damaged_publisher_is_an_error_and_not_a_crash() {
    use std::os::unix::fs::FileExt;
    let root = Root::new();
    let participant = root.join();
    let mut publisher = publisher(&participant, 64, Qos::default());
    let mut subscription = subscription(&participant, 64, Qos::default());
    match_up(&mut publisher, &mut subscription);
    send(&mut publisher, 64, 1);
    let path = root.files().into_iter().find(|path| path.extension().is_some_and(|e| e == "pub")).unwrap();
    let file = std::fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut bytes = vec![0; file.metadata().unwrap().len() as usize];
    file.read_exact_at(&mut bytes, 0).unwrap();
    // The ring's descriptor is at offset 128, the size of its entries at 92 (docs/internals/memory-layout.golden). The
    // sample with sequence number 1 is in the second entry.
    let descriptor = u64::from_le_bytes(bytes[128..136].try_into().unwrap());
    let ring = (descriptor >> 32) * 64 + u64::from(u32::from_le_bytes(bytes[92..96].try_into().unwrap()));
    assert_eq!(bytes[ring as usize], 1, "the entry of sequence 1");
    let (too_long, inline) = (1 | 1 << 63 | 0x7fe << 52, 1 | 1 << 63 | 64 << 52);
    for entry in
        [inline, too_long, u64::MAX, 1, 1 | 0x7fff_ffff << 32, 1 | 3 << 32, 1 | (bytes.len() as u64 / 64) << 32]
    {
        file.write_all_at(&entry.to_le_bytes(), ring).unwrap();
        let mut late = self::subscription(&participant, 64, Qos::default());
        let _ = late.take();
    }
    assert!(matches!(subscription.take(), Err(Error::Corrupt { .. })));
    assert!(subscription.take().unwrap().is_none(), "the publisher is left out, not tried for ever");
    // The subscription must not attach the publisher again, although other endpoints join the topic.
    let _others = [(); 2].map(|()| self::subscription(&participant, 64, Qos::default()));
    assert!(subscription.take().unwrap().is_none());
    assert_eq!(subscription.publisher_count().unwrap(), 0);
}

fn strange_files_do_no_harm() {
    let root = Root::new();
    let mut idle = root.child("idle", &[]);
    idle.line();
    let domain = user_directory(&root).join("0");
    let name = |first: char, ending: &str| domain.join(format!("{}{ending}", String::from(first).repeat(32)));
    std::fs::write(name('a', ".process"), "").unwrap();
    std::fs::write(name('b', ".process"), "too short").unwrap();
    std::fs::write(name('c', ".1.pub"), "no owner").unwrap();
    std::fs::create_dir(name('d', ".process")).unwrap();
    let fifo = name('e', ".process");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    let participant = root.join();
    let (bytes, qos) = (crate::child::STREAM_BYTES, crate::child::stream_qos());
    let mut publisher = publisher(&participant, bytes, qos);
    let mut subscription = subscription(&participant, bytes, qos);
    assert_eq!(subscription.publisher_count().unwrap(), 2);
    assert!(publisher.wait_for_subscriptions(2, PATIENCE).unwrap());
    for gone in [name('a', ".process"), name('b', ".process"), name('c', ".1.pub")] {
        assert!(!gone.exists(), "{} belongs to no living process", gone.display());
    }
    idle.finish();
}

fn a_vanished_board_is_refused_while_a_process_uses_it() {
    let root = Root::new();
    let mut idle = root.child("idle", &[]);
    idle.line();
    let board = root.files().into_iter().find(|path| path.ends_with("board")).unwrap();
    std::fs::remove_file(board).unwrap();
    // The new participant would take samples with pins that the publisher does not see if it joined.
    let error = Participant::join_under(root.path(), 0).unwrap_err().to_string();
    assert!(error.contains(&format!("pid {}", idle.child.id())), "{error}");
    idle.finish();
    drop(root.join());
    root.assert_empty();
}

fn a_damaged_publisher_does_not_silence_a_good_one() {
    use std::os::unix::fs::FileExt;
    let root = Root::new();
    let mut damaged = root.child("idle", &[]);
    damaged.line();
    let path = root.files().into_iter().find(|path| path.extension().is_some_and(|e| e == "pub")).unwrap();
    std::fs::OpenOptions::new().write(true).open(path).unwrap().write_all_at(&[0; 8], 0).unwrap();
    let participant = root.join();
    let (bytes, qos) = (crate::child::STREAM_BYTES, crate::child::stream_qos());
    let mut publisher = publisher(&participant, bytes, qos);
    let mut subscription = subscription(&participant, bytes, qos);
    match_up(&mut publisher, &mut subscription);
    send(&mut publisher, bytes, 5);
    assert_eq!(drain(&mut subscription), [5]);
    assert!(subscription.mismatches()[0].contains("starts with"), "{:?}", subscription.mismatches());
}

fn a_process_that_cannot_be_read_is_said_when_a_publisher_is_made() {
    let root = Root::new();
    let mut idle = root.child("idle", &[]);
    idle.line();
    let path = root.files().into_iter().find(|path| path.extension().is_some_and(|e| e == "process")).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&u64::MAX.to_le_bytes(), 192).unwrap(); // the field `used_bytes`
    let mut publisher = publisher(&root.join(), 64, Qos::default());
    let sentences = publisher.take_first_mismatches();
    assert!(sentences[0].contains("used_bytes"), "{sentences:?}");
    assert_eq!(publisher.take_first_mismatches(), Vec::<String>::new());
}

/// Damages the files of another process at random. This process must continue.
fn scribbled_files_give_errors_and_never_a_crash() {
    use std::os::unix::fs::FileExt;
    let mut random = Random::new();
    let mut noticed = 0;
    for _ in 0..300 {
        let root = Root::new();
        let mut victim = root.child("idle", &[]);
        victim.line();
        let suffix = ["pub", "process"][random.below(2) as usize];
        let path = root.files().into_iter().find(|path| path.extension().is_some_and(|e| e == suffix)).unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        // The damage is in the headers and in the bytes after them. Small values pass the first checks; large and
        // extreme values do not.
        for _ in 0..=random.below(4) {
            let value = match random.below(4) {
                0 | 1 => random.below(1 << 14),
                2 => random.below(u64::MAX),
                _ => u64::MAX - 64 * random.below(3),
            };
            let words = [40, 128, 1024][random.below(3) as usize];
            file.write_all_at(&value.to_le_bytes(), random.below(words) * 8).unwrap();
        }
        let attempt = || -> gantry_shm::Result<bool> {
            let participant = Participant::join_under(root.path(), 0)?;
            let (bytes, qos) = (crate::child::STREAM_BYTES, crate::child::stream_qos());
            let node = "/scribbled";
            let mut publisher = gantry_shm::Publisher::new(
                participant.clone(),
                node,
                "/chatter",
                bytes_type(bytes),
                qos,
                Default::default(),
            )?;
            let mut subscription =
                gantry_shm::Subscription::new(participant, node, "/chatter", bytes_type(bytes), qos)?;
            publisher.subscription_count()?;
            subscription.take()?;
            let loan = publisher.loan(bytes)?;
            publisher.publish(loan, Default::default())?;
            subscription.take()?;
            Ok(!(publisher.mismatches()?.is_empty() && subscription.mismatches().is_empty()))
        };
        noticed += u32::from(attempt().unwrap_or(true));
    }
    assert!(noticed > 10, "only {noticed} of 300 were noticed: is the right file scribbled on?");
}

fn nothing_is_left_after_an_orderly_end() {
    let root = Root::new();
    let participant = root.join();
    let other = Participant::join_under(root.path(), 3).unwrap();
    let mut publisher = publisher(&participant, 64, Qos::default());
    let mut subscription = subscription(&participant, 64, Qos::default());
    match_up(&mut publisher, &mut subscription);
    assert!(root.files().len() > 5);
    drop((publisher, subscription, participant));
    drop(other);
    root.assert_empty();
}

fn an_inline_length_that_makes_no_sense_is_corrupt() {
    // The first length exceeds the payload of the type, the second one exceeds an entry.
    for length_bytes in [61_u64, 1024] {
        let root = Root::new();
        let participant = root.join();
        let mut publisher = publisher(&participant, 60, Qos::default());
        let mut subscription = subscription(&participant, 60, Qos::default());
        match_up(&mut publisher, &mut subscription);
        let loan = publisher.loan(60).unwrap();
        // An entry has room only for times that differ like the system's two clocks, so real times are used.
        let now_ns = |clock| {
            let now = clock_gettime(clock);
            now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
        };
        let (monotonic_ns, wall_ns) = (now_ns(ClockId::Monotonic), now_ns(ClockId::Realtime));
        publisher.publish(loan, SourceTime { monotonic_ns, wall_ns }).unwrap();
        let path = root.files().into_iter().find(|path| path.extension().is_some_and(|e| e == "pub")).unwrap();
        let file = std::fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
        let word_at = |offset: u64| {
            let mut word = [0; 8];
            file.read_exact_at(&mut word, offset).unwrap();
            u64::from_le_bytes(word)
        };
        let descriptor = word_at(offset_of("PublisherHeader", "ring") as u64);
        // The entry of the sample with sequence number 1. Its first word has the payload's length in 11 bits.
        let entry =
            (descriptor >> 32) * 64 + (word_at(offset_of("PublisherHeader", "entry_bytes") as u64) & 0xffff_ffff);
        let word = word_at(entry) & !(0x7ff << 52) | length_bytes << 52;
        file.write_all_at(&word.to_le_bytes(), entry).unwrap();
        let error = subscription.take().unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{error}");
        assert!(error.to_string().contains(&format!("{length_bytes} bytes")), "{error}");
        assert_eq!(subscription.losses().overwritten, 0);
    }
}
