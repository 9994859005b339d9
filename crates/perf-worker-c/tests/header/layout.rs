//! The layout of the header's structs: the sizes and offsets that the library expects, and a C program that prints the
//! actual ones.

use std::fmt::Write;
use std::mem::{offset_of, size_of};

use perf_worker_c::abi;

/// A C expression, and its expected value.
pub type Expected = (String, usize);

macro_rules! layouts {
    ($($c:literal $rust:ident { $($field:ident)+ })+) => {
        /// The expected layout of every struct. The pattern does not compile if a field is missing here.
        pub fn expected() -> Vec<Expected> {
            $(let _ = |of: abi::$rust| { let abi::$rust { $($field: _),+ } = of; };)+
            vec![$(
                (format!("sizeof({})", $c), size_of::<abi::$rust>()),
                $((format!("offsetof({}, {})", $c, stringify!($field)), offset_of!(abi::$rust, $field)),)+
            )+]
        }
    };
}

layouts! {
    "perf_test_error" Error { sentence }
    "perf_test_capabilities" Capabilities {
        zero_copy reliability durability history history_depth_max wait delivery matching copies sources raw phases }
    "perf_test_setting" Setting { name values best meaning }
    "perf_test_message" Message { name type_name layout content unbounded_bytes bytes last_id }
    "perf_test_qos" Qos { reliability durability history depth }
    "perf_test_name_value" NameValue { name value }
    "perf_test_run" Run {
        communicator topic settings setting_count options option_count message qos domain_id rate_hz publishers subscriptions strategy
        wait round_trip zero_copy raw phases executor }
    "perf_test_endpoint" Endpoint {
        topic message qos kind index expected executor pace_messages pace_ns node pass_by }
    "perf_test_stamp" Stamp { time_ns id rate_hz }
    "perf_test_sent" Sent { wire_bytes serialised_ns loaned }
    "perf_test_taken" Taken {
        source time_ns id received_ns arrived_ns in_hand_ns length_bytes wire_bytes overwritten payload payload_bytes loaned }
    "perf_test_daemon" Daemon { name command ready_file ready_line }
    "perf_test_clock" Clock { offset_ns error_ns }
    "perf_test_device_memory" DeviceMemory { text_bytes data_bytes bss_bytes stack_peak_bytes heap_peak_bytes }
    "perf_test_matched_functions" MatchedFunctions { matched mismatches clock destroy }
    "perf_test_publisher_functions" PublisherFunctions { matched create publish source }
    "perf_test_subscription_functions" SubscriptionFunctions {
        matched create take release wait start stop overwritten }
    "perf_test_service_end" ServiceEnd { publisher subscription }
    "perf_test_executor_functions" ExecutorFunctions {
        create add_timer add_subscription spin stop destroy add_client add_server }
    "perf_test_backend" Backend {
        version name middleware_version capabilities settings setting_count check clean_up open close effective device_memory
        publisher subscription create_client create_server executors executor }
}

/// The C program that prints each expression and its value.
pub fn program(expected: &[Expected]) -> String {
    let mut program = "#include \"perf_test_backend.h\"\nint main(void) {\n".to_owned();
    for (text, _) in expected {
        writeln!(program, "    printf(\"%s %zu\\n\", \"{text}\", {text});").unwrap();
    }
    program + "    return 0;\n}\n"
}
