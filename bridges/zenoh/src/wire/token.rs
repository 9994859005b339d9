//! Liveliness tokens: the graph of rmw_zenoh has one token (a key) for each node and each endpoint.

use super::{
    message_type::{dds_type, hash_text, parse_hash, ros_type},
    qos,
};
use gantry_bridge::{Endpoint, Kind};

const ADMIN_SPACE: &str = "@ros2_lv";
/// The largest accepted length of a token, more than ROS 2 names need. It limits the memory that a hostile token uses.
const MAX_BYTES: usize = 4096;

/// The contents of a token: a node or an endpoint on the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The domain.
    pub domain_id: u32,
    /// The id of the session, in hexadecimal digits.
    pub session: String,
    /// The number of the node in its session.
    pub node_number: u64,
    /// The number of the endpoint in its session or, for a node, the same number as `node_number`.
    pub number: u64,
    /// The enclave, such as `/`.
    pub enclave: String,
    /// The namespace of the node, such as `/`.
    pub namespace: String,
    /// The name of the node.
    pub node: String,
    /// The endpoint; `None` in the token of a node.
    pub endpoint: Option<Endpoint>,
}

/// A key expression that matches all tokens of a domain.
pub fn all_tokens(domain_id: u32) -> String {
    format!("{ADMIN_SPACE}/{domain_id}/**")
}

impl Token {
    /// Parses a token; `None` if the text is malformed.
    pub fn parse(text: &str) -> Option<Token> {
        if text.len() > MAX_BYTES {
            return None;
        }
        let chunks: Vec<&str> = text.split('/').collect();
        let [ADMIN_SPACE, domain_id, session, node_number, number, kind, enclave, namespace, node, rest @ ..] =
            &chunks[..]
        else {
            return None;
        };
        let kind = match *kind {
            "NN" => None,
            "MP" => Some(Kind::Publisher),
            "MS" => Some(Kind::Subscription),
            "SS" => Some(Kind::Server),
            "SC" => Some(Kind::Client),
            _ => return None,
        };
        let endpoint = match (kind, rest) {
            (None, []) => None,
            // A fifth part may follow: the message buffers of ROS 2 Lyrical, which the bridge does not use.
            (Some(kind), [name, type_name, hash, qos] | [name, type_name, hash, qos, _]) => {
                let (type_name, hash) = (ros_type(type_name)?, parse_hash(hash)?);
                Some(Endpoint { kind, name: full_name(name)?, type_name, hash, qos: qos::decode(qos)? })
            }
            _ => return None,
        };
        let is_session = (1..=32).contains(&session.len()) && session.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_session || node.is_empty() {
            return None;
        }
        Some(Token {
            domain_id: decimal(domain_id)?.try_into().ok()?,
            session: (*session).to_owned(),
            node_number: decimal(node_number)?,
            number: decimal(number)?,
            enclave: full_name(enclave)?,
            namespace: full_name(namespace)?,
            node: (*node).to_owned(),
            endpoint,
        })
    }

    /// Returns the text of the token; `None` if a name cannot be written in a token, or the type has no DDS name.
    pub fn text(&self) -> Option<String> {
        let kind = match self.endpoint.as_ref().map(|endpoint| endpoint.kind) {
            None => "NN",
            Some(Kind::Publisher) => "MP",
            Some(Kind::Subscription) => "MS",
            Some(Kind::Server) => "SS",
            Some(Kind::Client) => "SC",
        };
        let (enclave, namespace) = (chunk(&self.enclave)?, chunk(&self.namespace)?);
        let node = chunk(&self.node)?;
        let Token { domain_id, session, node_number, number, .. } = self;
        let mut text =
            format!("{ADMIN_SPACE}/{domain_id}/{session}/{node_number}/{number}/{kind}/{enclave}/{namespace}/{node}");
        if let Some(endpoint) = &self.endpoint {
            let (type_name, hash) = (dds_type(&endpoint.type_name)?, hash_text(&endpoint.hash));
            text += &format!("/{}/{type_name}/{hash}/{}", chunk(&endpoint.name)?, qos::encode(&endpoint.qos));
        }
        Some(text)
    }

    /// The full name of the node.
    pub fn node_name(&self) -> String {
        format!("{}/{}", self.namespace.trim_end_matches('/'), self.node)
    }
}

fn decimal(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

/// Converts a name to a part of a token: each slash becomes a percent sign, and an empty name becomes one percent sign.
fn chunk(name: &str) -> Option<String> {
    let text = if name.is_empty() { "%".to_owned() } else { name.replace('/', "%") };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_%~-.".contains(c);
    text.chars().all(is_plain).then_some(text)
}

fn full_name(chunk: &str) -> Option<String> {
    (!chunk.is_empty()).then(|| chunk.replace('%', "/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry::Qos;

    const NODE: &str = "@ros2_lv/0/aac3178e146ba6f1fc6e6a4085e77f21/0/0/NN/%/%/listener";
    const PUBLISHER: &str = "@ros2_lv/0/8b20917502ee955ac4476e0266340d5c/0/10/MP/%/%/talker/%chatter/std_msgs::msg::dds_::String_/\
                             RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18/::,7:,:,:,,";

    #[test]
    fn tokens_of_rmw_zenoh_are_read_and_written() {
        let node = Token::parse(NODE).unwrap();
        assert_eq!((node.node_name().as_str(), node.node_number, &node.endpoint), ("/listener", 0, &None));
        assert_eq!(node.text().as_deref(), Some(NODE));

        let publisher = Token::parse(PUBLISHER).unwrap();
        assert_eq!((publisher.number, publisher.session.as_str()), (10, "8b20917502ee955ac4476e0266340d5c"));
        assert_eq!(publisher.text().as_deref(), Some(PUBLISHER));
        let endpoint = publisher.endpoint.unwrap();
        assert_eq!((endpoint.kind, endpoint.name.as_str()), (Kind::Publisher, "/chatter"));
        assert_eq!((endpoint.type_name.as_str(), endpoint.qos), ("std_msgs/msg/String", Qos::default().keep_last(7)));
    }

    #[test]
    fn namespaces_and_enclaves_lose_their_slashes() {
        let token = Token {
            enclave: "/robots/one".into(),
            namespace: "/left/arm".into(),
            node: "driver".into(),
            ..Token::parse(NODE).unwrap()
        };
        let text = token.text().unwrap();
        assert!(text.ends_with("/0/0/NN/%robots%one/%left%arm/driver"), "{text}");
        assert_eq!(Token::parse(&text), Some(token));
    }

    #[test]
    fn a_chunk_of_buffers_is_passed_over() {
        let with_buffers = format!("{PUBLISHER}/cuda=1");
        assert_eq!(Token::parse(&with_buffers), Token::parse(PUBLISHER));
    }

    #[test]
    fn damaged_tokens_are_none_and_never_a_panic() {
        for text in [NODE, PUBLISHER] {
            for cut in 0..text.len() {
                let _ = Token::parse(&text[..cut]);
                for byte in ["", "/", "%", "é", "*", ":"] {
                    let _ = Token::parse(&format!("{}{byte}{}", &text[..cut], &text[cut + 1..]));
                }
            }
        }
        let deep = format!("{NODE}/a/b/c/d/e/f");
        for text in
            ["", "@ros2_lv", &deep, &NODE.replace("NN", "XX"), &NODE.replace("/0/0/", "/-1/0/"), &"a/".repeat(5000)]
        {
            assert_eq!(Token::parse(text), None, "{text}");
        }
        assert_eq!(Token::parse(&NODE.replace("NN", "MP")), None, "an endpoint without a topic");
        assert_eq!(Token::parse(&format!("{NODE}{}", "x".repeat(MAX_BYTES))), None);
    }
}
