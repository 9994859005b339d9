use super::file::BOOT_ID;
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

/// Leaves the journal of a process that was killed after its changes: the file exists and is not locked. `torn` is an
/// incomplete last line.
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
        assert_eq!(parsed(&fs::read_to_string(&journal.path).unwrap()).changes.len(), 1);
        journal.restore().unwrap();
        assert!(parsed(&fs::read_to_string(&journal.path).unwrap()).changes.is_empty());
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
    let said = restore_left(root.path()).join("\n");
    assert!(said.contains("scaling_governor powersave, as another program has set it since"), "{said}");
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
    assert_eq!(restore_left(root.path()).len(), 2);
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

#[test]
fn damaged_lines_stay_and_are_mentioned_while_the_others_are_restored() {
    let root = machine();
    left(&root, "{\"file\":{\"path\":\"sys/torn\n");
    let path = path(root.path());
    let content = fs::read_to_string(&path).unwrap();
    let (head, changes) = content.split_once('\n').unwrap();
    fs::write(&path, format!("{head}\nnonsense\n{changes}")).unwrap();
    for restored in [true, false] {
        let said = restore_left(root.path());
        assert_eq!((said.len(), governor(&root).as_str()), (2, "schedutil"), "{said:?}");
        assert_eq!(said[0].contains("restored: "), restored, "{said:?}");
        assert!(said[1].starts_with("2 lines of ") && said[1].contains("remove the file"), "{said:?}");
        assert!(Journal::open(root.path()).unwrap_err().contains("not restored yet"));
    }
    let kept = fs::read_to_string(&path).unwrap();
    assert!(kept.contains("nonsense") && kept.contains("sys/torn"), "{kept}");
}

#[test]
fn a_journal_of_another_version_stays_and_is_mentioned() {
    let root = machine();
    left(&root, "");
    let path = path(root.path());
    let other = fs::read_to_string(&path).unwrap().replace("conditions-journal/1", "conditions-journal/9");
    fs::write(&path, &other).unwrap();
    let said = restore_left(root.path());
    assert!(matches!(&said[..], [only] if only.contains(" of another version")), "{said:?}");
    assert_eq!((governor(&root).as_str(), fs::read_to_string(&path).unwrap()), ("performance", other));
    assert!(Journal::open(root.path()).unwrap_err().contains("not restored yet"));
}

#[test]
fn a_controller_that_another_group_uses_by_now_stays() {
    let root = machine();
    let groups = root.path().join("sys/fs/cgroup");
    fs::create_dir_all(groups.join("other.slice")).unwrap();
    let control = groups.join("cgroup.subtree_control");
    let set = |enabled: &str| fs::write(&control, enabled).unwrap();
    for (file, used, state) in [
        ("cpuset.cpus", "2-3\n", "still with cpuset, because the control group /sys/fs/cgroup/other.slice uses it"),
        ("cgroup.subtree_control", "memory cpuset\n", "still with cpuset"),
        ("cpuset.cpus", "\n", "cgroup.subtree_control without cpuset"),
    ] {
        set("cpu memory\n");
        let mut journal = Journal::open(root.path()).unwrap();
        journal.enable_controller("sys/fs/cgroup/cgroup.subtree_control", "cpuset").unwrap();
        set("cpu memory cpuset\n");
        fs::write(groups.join("other.slice").join(file), used).unwrap();
        let undone = undo(&journal.root, std::mem::take(&mut journal.changes));
        assert!(undone.kept.is_empty() && undone.states[0].contains(state), "{undone:?}");
        let is_kept = fs::read_to_string(&control).unwrap() == "cpu memory cpuset\n";
        assert_eq!(is_kept, state.contains("still"), "{file}");
        fs::write(groups.join("other.slice").join(file), "").unwrap();
    }
}

#[test]
fn an_orderly_end_with_a_failed_restore_is_not_called_a_kill() {
    let root = machine();
    let mut journal = Journal::open(root.path()).unwrap();
    journal.write(GOVERNOR, "performance", &[]).unwrap();
    let file = root.path().join(GOVERNOR);
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    drop(journal);
    let said = restore_left(root.path()).join("\n");
    assert!(said.contains("ended and could not restore all of them") && !said.contains("killed"), "{said}");
    fs::remove_dir(&file).unwrap();
    fs::write(&file, "performance\n").unwrap();
    let said = restore_left(root.path()).join("\n");
    assert!(said.contains("ended and could not restore") && said.contains("; restored: "), "{said}");
    assert_eq!(governor(&root), "schedutil");
}

#[test]
fn another_user_is_told_of_settings_that_are_left() {
    let root = machine();
    left(&root, "");
    let own = path(root.path());
    let other = own.with_file_name("perf_test-conditions-4321.json");
    fs::rename(&own, &other).unwrap();
    let said = restore_left(root.path()).join("\n");
    assert!(said.contains("was killed; it was of user 4321, and a start of perf_test by that user"), "{said}");
    assert!(governor(&root) == "performance" && other.exists());
    fs::write(root.path().join(BOOT_ID), "boot-2\n").unwrap();
    assert!(restore_left(root.path()).is_empty());
}
