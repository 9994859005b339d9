//! The layouts of structs and the numbers of the C ABI, as C expressions with the values that the library expects.

use gantry_c::{Loan, LoanOwner, Sample, SampleOwner, abi};
use std::mem::{offset_of, size_of};

/// A C expression, such as the offset of a field, and its expected value.
pub type Expected = (String, i64);

macro_rules! layouts {
    ($($c:literal $rust:path { $($field:ident)+ })+) => {
        fn structs() -> Vec<(String, usize)> {
            vec![$(
                (format!("sizeof({})", $c), size_of::<$rust>()),
                $((format!("offsetof({}, {})", $c, stringify!($field)), offset_of!($rust, $field)),)+
            )+]
        }

        /// Returns the structs with `struct_size` that have padding. There must be none: programs leave padding unset,
        /// so a later version could not use these bytes for new fields.
        pub fn padded() -> Vec<&'static str> {
            let mut found = Vec::new();
            $(
                let fields: &[(&str, usize)] = &[$((stringify!($field), size_of_field(|whole: &$rust| &raw const whole.$field))),+];
                let bytes: usize = fields.iter().map(|(_, bytes)| bytes).sum();
                if fields[0].0 == "struct_size" && bytes != size_of::<$rust>() {
                    found.push($c);
                }
            )+
            found
        }
    };
}

fn size_of_field<T, F>(_: impl FnOnce(&T) -> *const F) -> usize {
    size_of::<F>()
}

layouts! {
    "gantry_gid" abi::Gid { bytes }
    "gantry_request_id" abi::RequestId { client_gid sequence }
    "gantry_type" abi::Type { struct_size name definition max_bytes hash }
    "gantry_service_type" abi::ServiceType { struct_size name request response }
    "gantry_qos" abi::Qos {
        struct_size reliability history depth durability liveliness avoid_ros_namespace_conventions reserved
        deadline_ns lifespan_ns liveliness_lease_duration_ns }
    "gantry_node_options" abi::NodeOptions {
        struct_size name_space arguments argument_count domain_id sets_domain_id ignores_global_arguments
        allows_undeclared_parameters declares_parameters_from_overrides }
    "gantry_parameter" abi::Parameter {
        name value_type bool_value integer_value double_value string_value elements count }
    "gantry_parameter_options" abi::ParameterOptions {
        struct_size description is_read_only has_dynamic_typing has_integer_range has_double_range reserved
        integer_from integer_to integer_step double_from double_to double_step }
    "gantry_publisher_options" abi::PublisherOptions {
        struct_size async_period_ns max_blocking_time_ns max_kept_samples max_kept_bytes max_memory_bytes max_inline_bytes
        never_blocks never_inline loses_oldest_at_limit reserved }
    "gantry_loan" Loan { data size owner }
    "gantry_loan_owner" LoanOwner { struct_size return_loan }
    "gantry_sample" Sample { data size owner }
    "gantry_sample_owner" SampleOwner { struct_size release get_info }
    "gantry_sample_info" abi::SampleInfo {
        struct_size sequence source_time_ns source_wall_time_ns publisher_gid origin_gid origin_sequence }
    "gantry_source_time" abi::SourceTime { monotonic_ns wall_ns }
    "gantry_subscription_counts" abi::SubscriptionCounts { struct_size received overwritten expired malformed }
    "gantry_tick" abi::Tick { struct_size scheduled_ns noticed_ns overruns }
    "gantry_event" abi::Event {
        struct_size kind last_policy total_count total_count_change current_count current_count_change not_alive_count
        not_alive_count_change }
    "gantry_wait_source" abi::WaitSource { kind is_ready source }
    "gantry_endpoint_info" abi::EndpointInfo {
        struct_size node topic type_name process qos type_hash gid kind reserved copied_messages }
}

/// The expected sizes, offsets and numbers.
pub fn expected() -> Vec<Expected> {
    let structs = structs().into_iter().map(|(text, value)| (text, i64::try_from(value).unwrap()));
    let numbers = abi::NUMBERS.iter().map(|(name, value)| ((*name).to_owned(), i64::from(*value)));
    structs.chain(numbers).collect()
}
