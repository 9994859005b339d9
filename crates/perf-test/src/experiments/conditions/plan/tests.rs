use super::*;

const RUNS: &str = "runs: {mock: -c Mock -m Array1k}\n";

#[test]
fn a_plan_has_runs_conditions_and_rounds() {
    let text = "rounds: 2\nruns:\n  gantry: -m Array1k -r 1000\n  copies: [-c, Gantry, -m, Array4k]\nconditions:\n  - baseline\n  \
                - {name: rt, governor: performance, cpu_dma_latency_us: 0, taskset: 0-1, chrt: rr 1, pin: [1, 0]}\n  \
                - name: boot\n    boot: isolcpus=0-11 idle=poll\n    driver: amd-pstate\n    kernel: lowlatency\n";
    let plan = Plan::parse(text).unwrap();
    assert_eq!((plan.rounds, plan.runs.len(), plan.runs[1].arguments.len()), (2, 2, 4));
    let [baseline, rt, boot] = &plan.conditions[..] else { panic!("{plan:?}") };
    assert_eq!(*baseline, Condition { name: BASELINE.to_owned(), ..Condition::default() });
    assert_eq!((rt.taskset.as_slice(), rt.pin.as_slice()), (&[0, 1][..], &[1, 0][..]));
    assert_eq!(rt.chrt.map(|chrt| chrt.to_string()).as_deref(), Some("rr 1"));
    assert_eq!(boot.boot, ["isolcpus=0-11", "idle=poll"]);
    let spec = plan.runs[0].resolve(rt).unwrap().spec.unwrap();
    assert_eq!((spec.communicator.as_str(), spec.pins, spec.max_runtime_s), ("Gantry", vec![1, 0], 3));
    assert_eq!(Plan::parse(&format!("{RUNS}conditions: [baseline]")).unwrap().rounds, ROUNDS);
}

#[test]
fn a_topology_runs_in_each_executor() {
    let text =
        "runs: {one: -c Mock, robot: topology cedar -t 2}\nexecutors: [single, events]\nconditions: [baseline]\n";
    let plan = Plan::parse(text).unwrap();
    let labels: Vec<&str> = plan.runs.iter().map(|run| run.label.as_str()).collect();
    assert_eq!(labels, ["one", "robot single", "robot events"]);
    let run = plan.runs[2].resolve(&plan.conditions[0]).unwrap();
    let (spec, robot) = (run.spec.unwrap(), run.robot.unwrap());
    assert_eq!((spec.executor.as_deref(), spec.max_runtime_s), (Some("events"), 2));
    assert_eq!(robot.topology().endpoint_counts(), (13, 19));
    // The middlewares have different executors. The plan's notes list the executors that a middleware does not have.
    let two = "runs: {a: topology cedar, b: topology cedar -c Mock}\nexecutors: [1, multi]\nconditions: [baseline]\n";
    let plan = Plan::parse(two).unwrap();
    let labels: Vec<&str> = plan.runs.iter().map(|run| run.label.as_str()).collect();
    assert_eq!(labels, ["a 1", "a multi", "b 1"]);
    assert_eq!(plan.notes, ["b: not in executor multi: Mock has single"]);
    let both = "runs: {robot: topology cedar -x multi}\n";
    for (text, words) in [
        (format!("{both}executors: [single]\nconditions: [baseline]\n"), "has -x, and the plan has `executors`"),
        (
            "runs: {robot: topology cedar -c Mock}\nexecutors: [events]\n".to_owned(),
            "the run robot: Mock has none of the `executors`: it has single",
        ),
        (
            "runs: {robot: topology cedar}\nexecutors: [single, evnts]\n".to_owned(),
            "no middleware of the runs has `evnts`: robot: not in executor evnts: Gantry has single",
        ),
        (format!("{both}executors: []\n"), "line 2: `executors` must be a list of names"),
        (format!("{RUNS}executors: [single]\n"), "`executors` apply to runs of topologies"),
        (format!("{both}conditions: [{{name: a, pin: 0}}]\n"), "the condition a has `pin`"),
        (
            "runs: {robot: topology cedr}\n".to_owned(),
            "line 1: the run robot: there is neither a file nor a topology `cedr`",
        ),
        ("runs: {robot: topology cedar -x fast}\n".to_owned(), "line 1: the run robot"),
        (
            "runs: {robot: topology cedar --full-logfile a.json}\n".to_owned(),
            "leave --full-logfile and iRobot's files out",
        ),
    ] {
        let error = Plan::parse(&text).unwrap_err();
        assert!(error.contains(words), "{text:?}: {error}");
    }
}

#[test]
fn a_wrong_plan_is_an_error_with_its_line() {
    for (text, words) in [
        ("", "it is empty"),
        ("conditions: [baseline]", "it has no runs"),
        (RUNS, "it has no conditions"),
        ("round: 3\n", "line 1: there is no key `round` here; the nearest is `rounds`"),
        ("rounds: 0\n", "rounds must be a whole number from 1"),
        ("conditions: [baseline, performance]\n", "line 1: there is no condition `performance`"),
        (
            "conditions:\n- name: a\n  govenor: performance\n",
            "line 3: there is no key `govenor` here; the nearest is `governor`",
        ),
        ("conditions:\n- governor: performance\n", "the condition has no name"),
        ("conditions:\n- {name: a, chrt: rr}\n", "chrt cannot be `rr`"),
        ("conditions:\n- {name: a, chrt: fifo 100}\n", "a priority from 1 to 99"),
        ("conditions:\n- {name: a, taskset: 3-1}\n", "taskset must be CPUs"),
        ("conditions:\n- {name: a, cpu_dma_latency_us: -1}\n", "must be a whole number from 0"),
        ("conditions:\n- {name: a, taskset: 0-1, isolate: 1-2}\n", "taskset 0-1 is not within isolate 1-2"),
        ("runs: {a: -m Arry1k}\n", "line 1: the run a"),
        ("runs: {a: --speed 3}\n", "line 1: the run a"),
        ("runs: {a: '-c Mock,Gantry'}\n", "has several contestants"),
        ("runs: {a: '--runs 3'}\n", "give --rounds"),
        ("runs: [a]\n", "`runs` must be a map"),
    ] {
        let error = Plan::parse(text).unwrap_err();
        assert!(error.contains(words), "{text:?}: {error}");
    }
    let twice = format!("{RUNS}conditions: [baseline, {{name: Baseline, pin: 0}}]\n");
    assert!(Plan::parse(&twice).unwrap_err().contains("`Baseline` is there twice"));
}
