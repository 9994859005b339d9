use super::*;

const GOVERNOR: &str = "sys/devices/system/cpu/cpufreq/policy0/scaling_governor";

fn machine() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, content) in [(GOVERNOR, "schedutil\n"), (BOOT_ID, "boot-1\n")] {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    root
}

fn governor(root: &tempfile::TempDir) -> String {
    fs::read_to_string(root.path().join(GOVERNOR)).unwrap().trim().to_owned()
}

/// The journal of a process that was killed after the changes: its lock is free and its file is there.
fn left(root: &tempfile::TempDir, torn: &str) {
    let mut journal = Journal::open(root.path()).unwrap();
    journal.write(GOVERNOR, "performance", &[]).unwrap();
    let content = fs::read_to_string(&journal.path).unwrap() + torn;
    let path = journal.path.clone();
    journal.changes.clear();
    drop(journal);
    fs::write(path, content).unwrap();
    assert_eq!(governor(root), "performance");
}

#[test]
fn a_dropped_journal_has_restored_and_is_gone() {
    let root = machine();
    let mut journal = Journal::open(root.path()).unwrap();
    journal.write(GOVERNOR, "performance", &[]).unwrap();
    assert_eq!(governor(&root), "performance");
    let busy = Journal::open(root.path()).unwrap_err();
    assert!(busy.contains("another perf_test changes the settings"), "{busy}");
    assert!(restore_left(root.path()).is_empty(), "the owner lives");
    assert_eq!(governor(&root), "performance");
    drop(journal);
    assert_eq!(governor(&root), "schedutil");
    assert!(!path(root.path()).exists());
}

#[test]
fn a_setting_that_the_kernel_changes_along_is_restored_too() {
    let root = machine();
    let preference = "sys/devices/system/cpu/cpufreq/policy0/energy_performance_preference";
    fs::write(root.path().join(preference), "balance_power\n").unwrap();
    let mut journal = Journal::open(root.path()).unwrap();
    journal.write(GOVERNOR, "performance", &[preference.to_owned()]).unwrap();
    fs::write(root.path().join(preference), "performance\n").unwrap();
    drop(journal);
    assert_eq!(fs::read_to_string(root.path().join(preference)).unwrap().trim(), "balance_power");
}

#[test]
fn changes_that_are_undone_leave_the_journal() {
    let root = machine();
    let mut journal = Journal::open(root.path()).unwrap();
    for _ in 0..2 {
        journal.write(GOVERNOR, "performance", &[]).unwrap();
        assert_eq!(parsed(&fs::read_to_string(&journal.path).unwrap()).1.len(), 1);
        journal.restore().unwrap();
        assert!(parsed(&fs::read_to_string(&journal.path).unwrap()).1.is_empty());
    }
    assert_eq!(governor(&root), "schedutil");
}

#[test]
fn a_journal_that_was_left_restores_once_and_says_so() {
    let root = machine();
    left(&root, "{\"file\":{\"path\":\"sys/torn");
    let said = restore_left(root.path());
    assert!(
        said.len() == 1
            && said[0]
                .contains("was killed; restored: /sys/devices/system/cpu/cpufreq/policy0/scaling_governor schedutil"),
        "{said:?}"
    );
    assert_eq!(governor(&root), "schedutil");
    assert!(restore_left(root.path()).is_empty());
}

#[test]
fn settings_of_others_and_of_other_boots_are_left_alone() {
    let root = machine();
    left(&root, "");
    fs::write(root.path().join(GOVERNOR), "powersave\n").unwrap();
    let _ = restore_left(root.path());
    assert_eq!(governor(&root), "powersave");
    fs::write(root.path().join(GOVERNOR), "schedutil\n").unwrap();
    left(&root, "");
    fs::write(root.path().join(BOOT_ID), "boot-2\n").unwrap();
    assert!(restore_left(root.path()).is_empty());
    assert_eq!(governor(&root), "performance");
}

#[test]
fn only_settings_of_the_kernel_are_ever_written() {
    let root = machine();
    let outside = "{\"file\":{\"path\":\"etc/passwd\",\"before\":\"x\",\"after\":null}}\n";
    let climbing = "{\"file\":{\"path\":\"sys/../etc/passwd\",\"before\":\"x\",\"after\":null}}\n";
    left(&root, &format!("{outside}{climbing}"));
    assert_eq!(restore_left(root.path()).len(), 1);
    assert!(!root.path().join("etc").exists());
}

#[test]
fn a_setting_that_cannot_be_restored_stays_with_its_command() {
    let root = machine();
    left(&root, "");
    fs::remove_file(root.path().join(GOVERNOR)).unwrap();
    fs::create_dir(root.path().join(GOVERNOR)).unwrap();
    let said = restore_left(root.path()).join("\n");
    assert!(said.contains("echo schedutil | sudo tee /sys/devices/system/cpu/cpufreq/policy0"), "{said}");
    let refused = Journal::open(root.path()).unwrap_err();
    assert!(refused.contains("not restored yet"), "{refused}");
}
