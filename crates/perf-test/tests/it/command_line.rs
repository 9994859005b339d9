//! Tests of wrong commands and their errors, and of commands that run no measurement.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use perf_worker::backend::{Capabilities, Description, Setting};

use crate::program::Memory;

test_support::tests![
    wrong_usage_is_exit_code_2_and_starts_nothing,
    a_wrong_domain_in_the_environment_is_named,
    unusable_shared_memory_is_reported_first,
    help_and_lists_need_no_run,
    a_topology_is_checked_and_listed_as_it_is_resolved,
    a_worker_is_started_by_the_program_alone,
    a_program_without_that_of_its_workers_is_their_program_and_says_so,
    microcontrollers_are_measured_by_the_program_beside_this_one,
    the_list_has_what_can_be_measured_and_how_to_add_the_rest,
    a_subscription_without_samples_is_a_failed_measurement,
    programs_with_different_types_are_told_so,
    memory_that_the_system_refuses_is_named_with_its_size_and_the_reason,
    requirements_decide_the_exit_code_and_are_answered_one_by_one,
];

fn wrong_usage_is_exit_code_2_and_starts_nothing() {
    let memory = Memory::new();
    for (options, words) in [
        ("-m Aray4m", "the nearest is `Array4m`"),
        ("-r 2000000", "from 0 to 1000000"),
        ("--reliabel", "'--reliable'"),
        ("-p 0 -s 0", "nothing to measure"),
        ("-l no/such/folder/a.csv --max-runtime 1", "no/such/folder/a.csv"),
        ("-l a.txt", ".csv or .json"),
        ("-t ~/x", "topic name \"~/x\" is not allowed"),
        ("-t 1st", "begins with a digit"),
        ("-p 0 -t a//b", "repeated slashes"),
    ] {
        let run = memory.run(options);
        assert_eq!(run.status.code(), Some(2), "{options}: {}", run.everything());
        assert!(run.stderr.contains(words), "{options}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{options}");
    }
    memory.assert_empty();
}

fn a_wrong_domain_in_the_environment_is_named() {
    let memory = Memory::new();
    let output = memory.command("--max-runtime 1").env("ROS_DOMAIN_ID", "many").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("ROS_DOMAIN_ID is \"many\""));
}

fn unusable_shared_memory_is_reported_first() {
    let memory = Memory::new();
    let nowhere = memory.path().join("nowhere");
    let output = memory.command("--max-runtime 1").env("GANTRY_SHM_DIR", &nowhere).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains(nowhere.to_str().unwrap()), "{stderr}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
}

fn help_and_lists_need_no_run() {
    let memory = Memory::new();
    let help = memory.run("--help");
    help.assert_good();
    for option in
        ["--zero-copy", "--history-depth", "--dds-domain-id", "--message-layout", "[default: 16]", "zero-copy"]
    {
        assert!(help.stdout.contains(option), "{option} is not in\n{}", help.stdout);
    }
    let list = memory.run("--msg-list --message-layout 1.x");
    list.assert_good();
    assert!(list.stdout.contains("Array4m") && list.stdout.contains("4194320"), "{}", list.stdout);
    memory.assert_empty();
}

fn a_worker_is_started_by_the_program_alone() {
    let output = Memory::new().command("worker 0").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let sentence = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(sentence.contains("only perf_test starts workers"), "{sentence}");
}

fn a_topology_is_checked_and_listed_as_it_is_resolved() {
    let (memory, folder) = (Memory::new(), tempfile::tempdir().unwrap());
    let path = folder.path().join("robot.json");
    let list = |key: &str, options: &str| {
        let publisher = format!(r#"{{ "topic_name": "/amazon", "msg_type": "stamped9_float32", "{key}": 5 }}"#);
        let text = format!(r#"{{ "nodes": [{{ "node_name": "second", "publishers": [{publisher}] }}] }}"#);
        std::fs::write(&path, text).unwrap();
        memory.run(&format!("list --topology {} sierra_nevada {options}", path.display()))
    };
    let good = list("freq_hz", "");
    good.assert_good();
    assert!(good.stdout.contains("2 processes, 2 executors, 11 nodes, 13 topics"), "{}", good.stdout);
    let json: serde_json::Value = serde_json::from_str(&list("period_ms", "--json").stdout).unwrap();
    let publisher = &json["processes"][0]["nodes"][0]["publishers"][0];
    assert_eq!((&publisher["topic"], &publisher["rate_hz"]), (&"/amazon".into(), &200.0.into()));
    let wrong = list("frequency", "");
    assert_eq!((wrong.status.code(), &*wrong.stdout), (Some(2), ""), "{}", wrong.everything());
    let place = format!("{}: nodes[0].publishers[0].frequency: ", path.display());
    assert!(wrong.stderr.contains(&place) && wrong.stderr.contains("there is no key `frequency`"), "{}", wrong.stderr);
    memory.assert_empty();
}

fn a_program_without_that_of_its_workers_is_their_program_and_says_so() {
    let (memory, program) = (Memory::new(), Path::new(env!("CARGO_BIN_EXE_perf_test")));
    // The folder is beside the program, so that a hard link is possible: a copy would need some hundred megabytes.
    let folder = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
    let renamed = folder.path().join("renamed");
    std::fs::hard_link(program, &renamed).unwrap();
    let run = |options: &str| {
        let output = memory.command_of(&renamed, options).output().unwrap();
        assert!(output.status.success(), "{options}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let missing = folder.path().join("renamed_gantry").display().to_string();
    let words = "the workers were perf_test itself";
    let alone = run("-r 100 --max-runtime 1");
    assert!(alone.contains(words) && alone.contains(&missing), "{alone}");
    let without_mock = memory.command_of(&renamed, "-c Mock").output().unwrap();
    let sentence = String::from_utf8_lossy(&without_mock.stderr).into_owned();
    assert_eq!(without_mock.status.code(), Some(2), "{sentence}");
    assert!(sentence.contains("no worker program perf_test_mock") && sentence.contains("cargo build"), "{sentence}");
    std::fs::hard_link(env!("CARGO_BIN_EXE_perf_test_mock"), folder.path().join("perf_test_mock")).unwrap();
    assert!(!run("-c Mock -r 100 --max-runtime 1").contains(words));
    let worker = Path::new(env!("CARGO_BIN_EXE_perf_test_gantry"));
    std::fs::hard_link(worker, folder.path().join("renamed_gantry")).unwrap();
    assert!(!run("-r 100 --max-runtime 1").contains(words));
    memory.assert_empty();
}

fn microcontrollers_are_measured_by_the_program_beside_this_one() {
    let memory = Memory::new();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let [perf_test, beside] = ["perf_test", "perf_micro"].map(|name| folder.path().join(name));
    std::fs::hard_link(env!("CARGO_BIN_EXE_perf_test"), &perf_test).unwrap();
    let run = || memory.command_of(&perf_test, "micro latency --help -n 5").output().unwrap();
    let refused = run();
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("`cargo build --release -p perf-micro -p gantry-agent` builds it"), "{stderr}");
    test_support::write_script(&beside, "#!/bin/sh\necho \"$@\"\nexit 3\n");
    let started = run();
    assert_eq!(String::from_utf8_lossy(&started.stdout), "latency --help -n 5\n");
    assert_eq!(started.status.code(), Some(3));
}

fn the_list_has_what_can_be_measured_and_how_to_add_the_rest() {
    let description = Description {
        version: "1.9".to_owned(),
        capabilities: Capabilities::all(),
        settings: vec![Setting::new("transport", &["udp", "shared-memory"], "the way")],
    };
    let description = serde_json::to_string(&description).unwrap();
    let (memory, folder) = (Memory::new(), tempfile::tempdir().unwrap());
    let files = [
        ("perf_test_two_words", 0o755),
        ("perf_test_zenoh", 0o755),
        ("perf_test_iceoryx", 0o644),
        ("perf_test_Other", 0o755),
    ];
    for (name, mode) in files {
        let path = folder.path().join(name);
        test_support::write_script(&path, &format!("#!/bin/sh\necho '{description}'\n"));
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
    }
    let list = |options: &str| {
        let output = memory.command(&format!("list {options}")).env("PATH", folder.path()).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let (text, json) = (list(""), list("--json --message-layout 1.x"));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let names = |part: &str| -> Vec<&str> {
        json[part].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect()
    };
    let (middlewares, missing) = (names("middlewares"), names("missing"));
    assert_eq!(middlewares, ["Gantry", "Mock", "two-words", "zenoh"]);
    assert!(missing.contains(&"iceoryx") && missing.contains(&"fastdds") && !missing.contains(&"zenoh"), "{missing:?}");
    let zenoh = folder.path().join("perf_test_zenoh");
    assert_eq!(json["middlewares"][3]["program"], zenoh.to_str().unwrap());
    let described = |index: usize| &json["middlewares"][index]["description"];
    assert_eq!(described(0)["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(described(0)["settings"][1]["name"], "publishing");
    assert_eq!(*described(3), serde_json::from_str::<serde_json::Value>(&description).unwrap());
    let robot = &json["topologies"][0];
    assert_eq!((&robot["name"], &robot["nodes"]), (&"sierra_nevada".into(), &10.into()));
    let array = json["messages"].as_array().unwrap().iter().find(|message| message["name"] == "Array4m").unwrap();
    assert_eq!(array["size_bytes"], 4_194_320);
    for words in [
        "cyclonedds ",
        "tools/contestants --install cyclonedds",
        "worker-protocol.md",
        "messages of the 2.x layout",
        "Array4m ",
        "mont_blanc ",
    ] {
        assert!(text.contains(words), "no {words:?} in {text}");
    }
    assert!(text.contains(&format!("zenoh               {}; version 1.9", zenoh.display())), "{text}");
    assert!(text.contains("--set transport=udp|shared-memory: the way"), "{text}");
    assert!(text.contains("pull; matching: count; zero copy of Plain"), "{text}");
    // The spellings with an underscore and with a hyphen mean the same middleware.
    let twice =
        memory.command("compare middlewares -c two_words,two-words").env("PATH", folder.path()).output().unwrap();
    let sentence = String::from_utf8_lossy(&twice.stderr).into_owned();
    assert!(sentence.contains("has the contestant two-words twice"), "{sentence}");
    // The list shows a worker program that prints no description, with the reason.
    std::fs::write(&zenoh, "#!/bin/sh\n").unwrap();
    assert!(list("").contains("does not describe itself"), "{}", list(""));
    memory.assert_empty();
}

fn a_subscription_without_samples_is_a_failed_measurement() {
    let memory = Memory::new();
    let run = memory.run("-p 0 -s 1 -t lonely --max-runtime 1");
    assert_eq!(run.status.code(), Some(1), "{}", run.everything());
    assert!(run.stderr.contains("no sample was received on topic lonely"), "{}", run.stderr);
    assert!(!run.stdout.contains("NaN"), "{}", run.stdout);
    memory.assert_empty();
}

fn programs_with_different_types_are_told_so() {
    let memory = Memory::new();
    let mut subscriber = memory.start("-p 0 -m Array1k -t types --max-runtime 0");
    subscriber.wait_for("| T_experiment |");
    let mut publisher = memory.start("-s 0 -m Array4k -t types --max-runtime 0");
    publisher.wait_for("| T_experiment |");
    publisher.signal(rustix::process::Signal::INT);
    let publisher = publisher.finish();
    assert_eq!(publisher.status.code(), Some(1), "{}", publisher.everything());
    assert!(publisher.stderr.contains("no subscription was matched on topic types"), "{}", publisher.stderr);
    assert!(publisher.stdout.contains("performance_test/msg/Array1k"), "{}", publisher.stdout);
    assert!(publisher.stdout.contains("received and lost samples are not known here"), "{}", publisher.stdout);
    subscriber.signal(rustix::process::Signal::INT);
    let subscriber = subscriber.finish();
    assert_eq!(subscriber.status.code(), Some(1), "{}", subscriber.everything());
    assert!(subscriber.stdout.contains("performance_test/msg/Array4k"), "{}", subscriber.stdout);
    memory.assert_empty();
}

fn memory_that_the_system_refuses_is_named_with_its_size_and_the_reason() {
    let memory = Memory::new();
    // A shell counts this limit on file sizes in units of 512 or 1024 bytes. In both units, the limit is larger than
    // the other files of the domain, and smaller than the file of a publisher of 4 MB messages.
    let program = env!("CARGO_BIN_EXE_perf_test");
    let script = format!("ulimit -f 6400; trap '' XFSZ; exec {program} -m Array4m -r 100 --max-runtime 30 -o none");
    let output = memory.shell(&script).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    let place = memory.path().display().to_string();
    for words in ["publisher 0 cannot begin: cannot allocate", "File too large", "test_topic", &place] {
        assert!(stderr.contains(words), "{words:?} is not in: {stderr}");
    }
    memory.assert_empty();
}

fn requirements_decide_the_exit_code_and_are_answered_one_by_one() {
    let memory = Memory::new();
    let run = "-c Mock --mock latency=2ms,lose=10 -r 100 --max-runtime 1 -o none";
    let runs = [
        ("--require min>=2ms --require lost=10", 0, ["met      min>=2ms: 2.00 ms", "met      lost=10: 10"]),
        ("--require min>=2ms --require lost=0", 3, ["NOT met  lost=0: 10", "1 of 2 requirements not met"]),
        ("--require lost=10 --require p99>1ms", 3, ["met      lost=10: 10", "of 90 samples lie beyond it"]),
    ];
    let start = |(requirements, code, answers)| (memory.start(&format!("{run} {requirements}")), code, answers);
    for (run, code, answers) in runs.map(start) {
        let run = run.finish();
        assert_eq!((run.status.code(), run.stdout.as_str()), (Some(code), ""), "{}", run.everything());
        assert!(answers.iter().all(|answer| run.stderr.contains(answer)), "{}", run.stderr);
    }
    // A failed measurement takes precedence over an unmet requirement.
    let failed = memory.run("-p 0 -s 1 -t lonely --max-runtime 1 --require received>0 -o stdout");
    assert_eq!(failed.status.code(), Some(1), "{}", failed.everything());
    assert!(failed.stdout.contains("  required      NOT met  received>0: 0"), "{}", failed.stdout);
    memory.assert_empty();
}
