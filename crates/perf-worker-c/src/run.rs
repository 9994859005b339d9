//! A run and the plan of an endpoint in the layout of the C header.

use perf_worker::{
    backend::Settings,
    choice::Choice,
    endpoint::{Endpoint, EndpointPlan},
    run_spec::{MessageSpec, Qos, Roundtrip, RunSpec},
};

use crate::abi;
use crate::description::{CONTENTS, DURABILITIES, HISTORIES, PASSES, RELIABILITIES, STRATEGIES, WAITS, bit_of};
use crate::text::Texts;

/// A run in the layout of the header, with the memory of the strings to which it points.
pub struct CRun {
    run: abi::Run,
    _lists: [Vec<abi::NameValue>; 2],
    _texts: Texts,
}

impl CRun {
    /// Converts the run `spec` for C.
    ///
    /// # Errors
    /// The reason, as a sentence, if a text contains a byte 0.
    pub fn new(spec: &RunSpec) -> Result<CRun, String> {
        let mut texts = Texts::default();
        let settings = list(&mut texts, &spec.settings)?;
        let options = list(&mut texts, &spec.options())?;
        let run = abi::Run {
            communicator: texts.add(&spec.communicator)?,
            topic: texts.add(&spec.topic)?,
            settings: settings.as_ptr(),
            setting_count: settings.len(),
            options: options.as_ptr(),
            option_count: options.len(),
            message: message(&mut texts, &spec.message)?,
            qos: qos(&spec.qos),
            domain_id: spec.domain_id,
            rate_hz: spec.rate_hz,
            publishers: spec.publishers,
            subscriptions: spec.subscriptions,
            strategy: bit_of(STRATEGIES, spec.strategy),
            wait: bit_of(WAITS, spec.wait),
            round_trip: spec.roundtrip != Roundtrip::None,
            zero_copy: spec.zero_copy,
            raw: spec.raw,
            phases: spec.phases,
            executor: match &spec.executor {
                Some(executor) => texts.add(executor)?,
                None => std::ptr::null(),
            },
        };
        Ok(CRun { run, _lists: [settings, options], _texts: texts })
    }

    /// The address of the run. C code may use it while this value lives and does not move.
    pub fn address(&self) -> *const abi::Run {
        &raw const self.run
    }
}

/// The kind of endpoint to create. A relay is created as a subscription and a publisher.
#[derive(Clone, Copy)]
pub enum Kind {
    /// An endpoint that sends messages.
    Publisher = 1,
    /// An endpoint that receives messages.
    Subscription = 2,
    /// An endpoint that sends requests and receives responses.
    Client = 4,
    /// An endpoint that answers requests.
    Server = 8,
}

/// The plan of an endpoint in the layout of the header, with the memory of the strings to which it points.
pub struct CEndpoint {
    endpoint: abi::Endpoint,
    _texts: Texts,
}

// SAFETY: neither the plan nor the texts to which it points change.
unsafe impl Send for CEndpoint {}
// SAFETY: as before.
unsafe impl Sync for CEndpoint {}

impl CEndpoint {
    /// Converts the plan `plan` for C.
    ///
    /// # Errors
    /// The reason, as a sentence, if a text contains a byte 0.
    pub fn new(plan: &EndpointPlan, kind: Kind) -> Result<CEndpoint, String> {
        let mut texts = Texts::default();
        let (Endpoint::Publisher(index) | Endpoint::Subscription(index) | Endpoint::Relay(index)) = plan.endpoint;
        let endpoint = abi::Endpoint {
            topic: texts.add(&plan.topic)?,
            message: message(&mut texts, &plan.message)?,
            qos: qos(&plan.qos),
            kind: kind as u32,
            index,
            expected: plan.expected,
            executor: plan.executor,
            pace_messages: plan.pace.messages,
            pace_ns: plan.pace.per_ns,
            node: texts.add(&plan.node)?,
            // Endpoints outside of executors have no node, and so no `msg_pass_by`, which is a property of nodes.
            pass_by: if plan.node.is_empty() { 0 } else { bit_of(PASSES, plan.pass_by) },
        };
        Ok(CEndpoint { endpoint, _texts: texts })
    }

    /// The address of the plan. C code may use it while this value lives and does not move.
    pub fn address(&self) -> *const abi::Endpoint {
        &raw const self.endpoint
    }
}

fn list(texts: &mut Texts, settings: &Settings) -> Result<Vec<abi::NameValue>, String> {
    let pair =
        |(name, value): (&String, &String)| Ok(abi::NameValue { name: texts.add(name)?, value: texts.add(value)? });
    settings.iter().map(pair).collect()
}

fn message(texts: &mut Texts, message: &MessageSpec) -> Result<abi::Message, String> {
    Ok(abi::Message {
        name: texts.add(&message.name)?,
        type_name: texts.add(&message.type_name)?,
        layout: texts.add(message.layout.name())?,
        content: bit_of(CONTENTS, message.content),
        unbounded_bytes: message.unbounded_bytes,
        bytes: message.bytes as u64,
        last_id: message.last_id,
    })
}

fn qos(qos: &Qos) -> abi::Qos {
    abi::Qos {
        reliability: bit_of(RELIABILITIES, qos.reliability),
        durability: bit_of(DURABILITIES, qos.durability),
        history: bit_of(HISTORIES, qos.history),
        depth: qos.depth,
    }
}
