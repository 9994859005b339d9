//! Profiles: descriptions of objects by XML, in the format of Fast DDS's configuration files. An unknown element is an
//! error if it would change the behaviour of the object. Settings of Fast DDS's transports and memory are ignored.

use super::xml::Document;
use gantry_xrce::wire::{ObjectKind, Qos, QosFlags};

/// The policies below `qos` that the agent reads.
const POLICIES: [&str; 2] = ["reliability/kind", "durability/kind"];
/// The policies below `qos` that only affect how Fast DDS sends data. The agent ignores them.
const PASSED_OVER: [&str; 6] = [
    "reliability/max_blocking_time",
    "publishMode",
    "data_sharing",
    "disablePositiveAcks",
    "disable_heartbeat_piggyback",
    "latencyBudget",
];

/// An object.
#[derive(Debug)]
pub enum Profile {
    Participant {
        name: Option<String>,
    },
    Topic {
        name: String,
        type_name: String,
    },
    /// A publisher or a subscriber.
    Group,
    DataWriter(Endpoint),
    DataReader(Endpoint),
    Requester(Service),
    Replier(Service),
}

/// A data writer or a data reader with its topic.
#[derive(Debug)]
pub struct Endpoint {
    pub topic: String,
    pub type_name: String,
    pub qos: Qos<'static>,
}

/// A requester or a replier.
#[derive(Debug)]
pub struct Service {
    pub name: String,
    pub request_type: String,
    pub reply_type: String,
    pub request_topic: Option<String>,
}

impl Profile {
    /// Reads the XML description of an object of this kind.
    ///
    /// # Errors
    /// A sentence that names the missing or wrong element.
    pub fn read(kind: ObjectKind, xml: &str) -> Result<Profile, String> {
        let document = Document::read(xml)?;
        let writer = Qos { flags: QosFlags::RELIABLE | QosFlags::TRANSIENT_LOCAL, ..Qos::default() };
        Ok(match kind {
            ObjectKind::PARTICIPANT => {
                Self::Participant { name: document.text("participant/rtps/name").map(str::to_owned) }
            }
            ObjectKind::TOPIC => {
                let topic = Element { document: &document, names: ["topic", "topic"] };
                Self::Topic { name: topic.needed("/name")?, type_name: topic.needed("/dataType")? }
            }
            ObjectKind::PUBLISHER | ObjectKind::SUBSCRIBER => Self::Group,
            ObjectKind::DATA_WRITER => {
                Self::DataWriter(Endpoint::read(&document, ["data_writer", "publisher"], writer)?)
            }
            ObjectKind::DATA_READER => {
                Self::DataReader(Endpoint::read(&document, ["data_reader", "subscriber"], Qos::default())?)
            }
            ObjectKind::REQUESTER => Self::Requester(Service::read(&document, "requester")?),
            ObjectKind::REPLIER => Self::Replier(Service::read(&document, "replier")?),
            ObjectKind(kind) => return Err(format!("objects of kind {kind:#04x} cannot be described by XML")),
        })
    }
}

/// An element of the XML document. `names` has the two names under which a document may have it.
struct Element<'a> {
    document: &'a Document,
    names: [&'static str; 2],
}

impl Element<'_> {
    fn text(&self, path: &str) -> Option<&str> {
        self.names.iter().find_map(|name| self.document.text(&format!("{name}{path}")))
    }

    fn needed(&self, path: &str) -> Result<String, String> {
        let missing = || format!("its XML has no text at {}{path}", self.names[0]);
        self.text(path).map(str::to_owned).ok_or_else(missing)
    }

    /// Whether the value at `path` is `first` and not `second`. Fast DDS's long names, such as
    /// `RELIABLE_RELIABILITY_QOS`, also count, because they begin with the short name.
    fn is_first(&self, path: &str, [first, second]: [&str; 2], default: bool) -> Result<bool, String> {
        match self.text(path) {
            None => Ok(default),
            Some(text) if text.starts_with(first) => Ok(true),
            Some(text) if text.starts_with(second) => Ok(false),
            Some(text) => {
                Err(format!("its XML has '{text}' at {}{path}, where {first} or {second} is expected", self.names[0]))
            }
        }
    }
}

impl Endpoint {
    /// Reads an endpoint. `default` has the flags of Fast DDS's default QoS.
    fn read(document: &Document, names: [&'static str; 2], default: Qos<'static>) -> Result<Endpoint, String> {
        let element = Element { document, names };
        for name in names {
            let qos = format!("{name}/qos");
            let is_known =
                |path: &str| POLICIES.contains(&path) || PASSED_OVER.iter().any(|known| path.starts_with(known));
            if let Some(unknown) = document.below(&qos).find(|path| !is_known(path)) {
                return Err(format!(
                    "its XML has the policy {qos}/{unknown}, which the agent does not support; remove the policy"
                ));
            }
        }
        let flag = |is_set, flag| if is_set { flag } else { QosFlags::NONE };
        let kinds = ["RELIABLE", "BEST_EFFORT"];
        let is_reliable = element.is_first("/qos/reliability/kind", kinds, default.flags.has(QosFlags::RELIABLE))?;
        let kinds = ["VOLATILE", "TRANSIENT"]; // `TRANSIENT` is the beginning of `TRANSIENT_LOCAL`
        let is_default_volatile = !default.flags.has(QosFlags::TRANSIENT_LOCAL);
        let is_volatile = element.is_first("/qos/durability/kind", kinds, is_default_volatile)?;
        let keeps_last = element.is_first("/topic/historyQos/kind", ["KEEP_LAST", "KEEP_ALL"], true)?;
        let depth = match element.text("/topic/historyQos/depth") {
            None => 1, // Fast DDS's default
            Some(text) => text
                .parse()
                .map_err(|_| format!("its XML has '{text}' as the depth of a history, where a number is expected"))?,
        };
        let flags = flag(is_reliable, QosFlags::RELIABLE)
            | flag(!is_volatile, QosFlags::TRANSIENT_LOCAL)
            | flag(keeps_last, QosFlags::KEEP_LAST);
        Ok(Endpoint {
            topic: element.needed("/topic/name")?,
            type_name: element.needed("/topic/dataType")?,
            qos: Qos { flags, history_depth: keeps_last.then_some(depth), ..Qos::default() },
        })
    }
}

impl Service {
    fn read(document: &Document, name: &'static str) -> Result<Service, String> {
        let element = Element { document, names: [name, name] };
        Ok(Service {
            name: element.needed("@service_name")?,
            request_type: element.needed("@request_type")?,
            reply_type: element.needed("@reply_type")?,
            request_topic: element.text("/request_topic_name").map(str::to_owned),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the QoS of a data writer or a data reader from XML.
    fn qos(kind: ObjectKind, topic: &str, qos: &str) -> Result<Qos<'static>, String> {
        let name = if kind == ObjectKind::DATA_WRITER { "data_writer" } else { "data_reader" };
        let topic = format!("<topic><kind>NO_KEY</kind><name>rt/a</name><dataType>A</dataType>{topic}</topic>");
        match Profile::read(kind, &format!("<dds><{name}>{topic}<qos>{qos}</qos></{name}></dds>"))? {
            Profile::DataWriter(endpoint) | Profile::DataReader(endpoint) => Ok(endpoint.qos),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_participant_has_a_name_among_settings_of_transports() {
        let xml = "<dds><profiles><transport_descriptors><transport_descriptor><transport_id>udp_localhost</transport_id>\
                   </transport_descriptor></transport_descriptors></profiles><participant><rtps>\
                   <name>/px4_micro_xrce_dds</name><useBuiltinTransports>false</useBuiltinTransports></rtps></participant></dds>";
        let profile = Profile::read(ObjectKind::PARTICIPANT, xml).unwrap();
        assert!(matches!(profile, Profile::Participant { name: Some(name) } if name == "/px4_micro_xrce_dds"));
        let profile = Profile::read(ObjectKind::PARTICIPANT, "<dds/>").unwrap();
        assert!(matches!(profile, Profile::Participant { name: None }));
    }

    #[test]
    fn qos_that_is_not_stated_is_that_of_fast_dds() {
        let (writer, reader) = (ObjectKind::DATA_WRITER, ObjectKind::DATA_READER);
        let last = QosFlags::KEEP_LAST;
        let default = qos(writer, "", "").unwrap();
        assert_eq!(default.flags, QosFlags::RELIABLE | QosFlags::TRANSIENT_LOCAL | last);
        assert_eq!(default.history_depth, Some(1));
        assert_eq!(qos(reader, "", "").unwrap().flags, last);
        let asked =
            "<reliability><kind>RELIABLE</kind></reliability><durability><kind>TRANSIENT_LOCAL</kind></durability>";
        let depth = "<historyQos><kind>KEEP_LAST</kind><depth>20</depth></historyQos>";
        let full = qos(reader, depth, asked).unwrap();
        assert_eq!((full.flags, full.history_depth), (default.flags, Some(20)));
        let all = "<historyQos><kind>KEEP_ALL</kind></historyQos>";
        let other = "<reliability><kind>BEST_EFFORT</kind></reliability><durability><kind>VOLATILE</kind></durability>";
        assert_eq!(qos(writer, all, other).unwrap().flags, QosFlags::NONE);
    }

    #[test]
    fn policies_that_are_not_read_are_named() {
        let error =
            qos(ObjectKind::DATA_READER, "", "<partition><names><name>a</name></names></partition>").unwrap_err();
        assert!(error.contains("data_reader/qos/partition/names/name"), "{error}");
        let error = qos(ObjectKind::DATA_WRITER, "", "<reliability><kind>SOMETIMES</kind></reliability>").unwrap_err();
        assert!(error.contains("'SOMETIMES'") && error.contains("BEST_EFFORT"), "{error}");
        assert!(qos(ObjectKind::DATA_WRITER, "", "<publishMode><kind>ASYNCHRONOUS</kind></publishMode>").is_ok());
    }

    #[test]
    fn a_service_needs_a_name_and_two_types() {
        let xml = |reply| {
            format!(
                "<dds><replier service_name='add' request_type='A_Request_' {reply}>\
                 <request_topic_name>rq/addRequest</request_topic_name></replier></dds>"
            )
        };
        let profile = Profile::read(ObjectKind::REPLIER, &xml("reply_type='A_Response_'")).unwrap();
        assert!(
            matches!(profile, Profile::Replier(service) if service.request_topic.as_deref() == Some("rq/addRequest"))
        );
        let error = Profile::read(ObjectKind::REPLIER, &xml("")).unwrap_err();
        assert!(error.contains("replier@reply_type"), "{error}");
    }
}
