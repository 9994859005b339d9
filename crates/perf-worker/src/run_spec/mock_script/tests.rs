//! Tests of mock scripts: their text, and their effect on each message.

use super::text::KEYS;
use super::*;

const ALL: &str = "latency=2ms,slow=7:20ms,early=9:1us,stall=50:300ms,lose=10,overwrite=11,duplicate=25,swap=13,corrupt=17,\
                   refuse=19,join=5,wire=180,subscription=0,match=200ms,mute=1ms,matching=any,serialise=0s,transport=600us,wake=3us,\
                   clock=3s:12us,reception-clock=2s:1us,mismatch,nameless,push,copy,deaf,undeclared,print,device,daemon=die:2s,\
                   start=1s,report=10ms";

#[test]
fn a_script_is_written_as_it_is_read() {
    for text in [
        ALL,
        "latency=0s",
        "latency=1000s",
        "latency=1ms,lose=1",
        "latency=1500us,match=1ns",
        "latency=1ms,daemon",
        "latency=1ms,daemon=silent",
        "latency=1ms,daemon=exit",
    ] {
        assert_eq!(text.parse::<MockScript>().unwrap().to_string(), text);
        let sent = serde_json::to_string(&text.parse::<MockScript>().unwrap()).unwrap();
        assert_eq!(serde_json::from_str::<MockScript>(&sent).unwrap().to_string(), text);
    }
    assert_eq!("".parse(), Ok(MockScript::default()));
    assert_eq!(" lose=3 , latency=1ms,".parse(), Ok(MockScript { lose: 3, ..MockScript::default() }));
}

#[test]
fn an_invalid_part_is_quoted_with_all_valid_keys() {
    for part in [
        "drop=3",
        "lose",
        "lose=",
        "lose=0",
        "lose=-1",
        "lose=1.5",
        "lose=18446744073709551616",
        "slow=3",
        "slow=3:",
        "slow=20ms",
        "latency=2",
        "latency=ms",
        "latency=2min",
        "latency=-2ms",
        "latency=1001s",
        "latency=99999999999999999999s",
        "latency=2µs",
        "mismatch=1",
        "matching=some",
        "push=1",
        "subscription=first",
        "clock=3s",
        "clock=-3s:1us",
        "device=1",
        "daemon=1",
    ] {
        let sentence = format!("duplicate=2,{part}").parse::<MockScript>().unwrap_err();
        assert!(sentence.contains(&format!("`{part}`")) && sentence.contains(KEYS), "{sentence}");
    }
    assert_eq!("lose=3,lose=4".parse::<MockScript>().unwrap_err(), "the script gives `lose` twice: give it once");
    for key in ALL.split(',').map(|part| part.split('=').next().unwrap()) {
        assert!(KEYS.contains(key), "{key}");
    }
}

#[test]
fn every_kth_begins_with_the_kth() {
    let script: MockScript = "latency=2ms,slow=3:5ms,early=4:1us,lose=5,join=2".parse().unwrap();
    let latencies_us: Vec<i64> = (1..=8).map(|id| script.latency_of_ns(id) / 1000).collect();
    assert_eq!(latencies_us, [2000, 2000, 5000, -1, 2000, 5000, 2000, -1]);
    assert_eq!(script.latency_of_ns(12), -1000, "early goes before slow");
    let lost: Vec<u64> = (1..=11).filter(|id| script.loses(*id)).collect();
    assert_eq!(lost, [1, 2, 5, 10]);
}

#[test]
fn a_script_may_be_for_one_subscription_alone() {
    let script: MockScript = "latency=2ms,lose=5,subscription=1,match=3s".parse().unwrap();
    assert_eq!(script.for_subscription(1), script);
    assert_eq!(script.for_subscription(0), "match=3s".parse().unwrap());
    let all: MockScript = "lose=5".parse().unwrap();
    assert_eq!(all.for_subscription(7), all);
}
