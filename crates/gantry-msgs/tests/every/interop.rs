//! Gantry's half of the comparison with other implementations (`.ci/interop`). The docstring of
//! `tests/interop/interop.py` describes the files that these tests read and write.

use crate::by_field::{ByField, SERVICES};
use gantry_dynamic::{MessageType, Yaml, testing::random_body};
use gantry_idl::{Definitions, dds_idl};
use gantry_msgs::gantry_cdr::{AlignedBytes, ByteOrder, ENCAPSULATION, Message, View, split_encapsulation};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    error::Error,
    fs,
    path::{Path, PathBuf},
};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// The largest message that is also written as YAML, in bytes. If all messages of a type are longer, `exchange`
/// makes only one value of the type.
const SMALL_BYTES: usize = 1 << 16;
/// The number of random values that `exchange` makes for each message type.
const VALUES: usize = 8;

/// The folder of the exchanged files, which `interop.py` sets.
fn directory() -> Outcome<PathBuf> {
    Ok(std::env::var_os("INTEROP_DIRECTORY").ok_or("INTEROP_DIRECTORY is not set: run .ci/interop")?.into())
}

#[test]
#[ignore = "the first half of the comparison with other implementations; `.ci/interop` runs it"]
fn types() -> Outcome {
    let directory = directory()?;
    write_types(&directory)?;
    write_idl(&directory)
}

#[test]
#[ignore = "reads files of other implementations; `.ci/interop` runs it"]
fn exchange() -> Outcome {
    let directory = directory()?;
    macro_rules! exchange {
        ($message:path) => {
            exchange_values::<$message>(&directory).map_err(|error| format!("{}: {error}", stringify!($message)))?;
        };
    }
    gantry_msgs::for_each_message!(exchange);
    Ok(())
}

/// The folder with the definition of a type. `module` is the path of the type's Rust module.
fn root(module: &str) -> &'static str {
    if module.contains("::v1") { "packages-1.x" } else { "packages" }
}

fn rihs01(hash: [u8; 32]) -> String {
    let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("RIHS01_{digits}")
}

fn write_types(directory: &Path) -> Outcome {
    let mut messages: Vec<Value> = Vec::new();
    macro_rules! entry {
        ($message:path) => {
            messages.push(entry::<$message>());
        };
    }
    gantry_msgs::for_each_message!(entry);
    let services: Vec<Value> = SERVICES
        .iter()
        .map(|service| json!({ "root": root(service.module), "name": service.name, "hash": rihs01(service.hash) }))
        .collect();
    let types = json!({ "messages": messages, "services": services });
    Ok(fs::write(directory.join("types.json"), types.to_string())?)
}

fn write_idl(directory: &Path) -> Outcome {
    let mut roots: BTreeMap<&str, Vec<Definitions>> = BTreeMap::new();
    macro_rules! definitions {
        ($message:path) => {
            roots.entry(root(std::any::type_name::<$message>())).or_default().push(definitions::<$message>()?);
        };
    }
    gantry_msgs::for_each_message!(definitions);
    for (root, definitions) in roots {
        fs::write(directory.join(format!("{root}.idl")), dds_idl(&definitions))?;
    }
    Ok(())
}

fn definitions<T: Message>() -> Outcome<Definitions> {
    Ok(Definitions::from_text(&T::TYPE_NAME.parse()?, T::DEFINITION)?)
}

fn entry<T: Message>() -> Value {
    let (root, hash) = (root(std::any::type_name::<T>()), rihs01(T::TYPE_HASH));
    json!({ "root": root, "name": T::TYPE_NAME, "hash": hash, "definition": T::DEFINITION })
}

/// The exchange of the values of one message type.
struct Exchange {
    message_type: MessageType,
    /// The path with which the names of the type's files begin.
    stem: PathBuf,
}

fn exchange_values<T: ByField>(directory: &Path) -> Outcome {
    let exchange = Exchange {
        message_type: MessageType::new(&definitions::<T>()?, &T::TYPE_NAME.parse()?)?,
        stem: directory.join(root(std::any::type_name::<T>())).join(T::TYPE_NAME.replace('/', "__")),
    };
    for number in 0.. {
        let little = exchange.path(number, "le.cdr");
        if !little.exists() {
            break;
        }
        exchange.answer::<T>(number, &fs::read(little)?, &fs::read(exchange.path(number, "be.cdr"))?)?;
    }
    let mut rng = fastrand::Rng::new();
    for number in 0..VALUES {
        let body = random_body(&exchange.message_type, &mut rng, ByteOrder::LittleEndian);
        let cdr = [&ENCAPSULATION[..], &body].concat();
        exchange.write_yaml(number, "rust.yaml", &cdr)?;
        fs::write(exchange.path(number, "rust.cdr"), &cdr)?;
        if cdr.len() > SMALL_BYTES {
            break;
        }
    }
    Ok(())
}

impl Exchange {
    fn path(&self, number: usize, end: &str) -> PathBuf {
        PathBuf::from(format!("{}.{number}.{end}", self.stem.display()))
    }

    /// Reads a value that the other implementation wrote, and writes it back in every way that Gantry has.
    fn answer<T: ByField>(&self, number: usize, little: &[u8], big: &[u8]) -> Outcome {
        let write = |end, bytes: &[u8]| fs::write(self.path(number, end), bytes);
        let (_, body) = split_encapsulation(little)?;
        let view = T::view(AlignedBytes::copy_of(body))?;
        let message = view.to_message()?;
        assert!(message.same_view(&view), "the getters and the copy have different values: {}", self.stem.display());
        write("le.back.cdr", &message.to_cdr()?)?;
        write("be.back.cdr", &T::from_cdr(big)?.to_cdr()?)?;
        let (memory, layout) = message.built()?;
        assert!(
            message.same(T::get(memory.as_ref(), layout)),
            "the built message has other values: {}",
            self.stem.display()
        );
        write("built.cdr", &[&ENCAPSULATION[..], memory.as_ref()].concat())?;
        self.write_yaml(number, "le.yaml", little)?;
        self.write_yaml(number, "be.yaml", big)
    }

    fn write_yaml(&self, number: usize, end: &str, cdr: &[u8]) -> Outcome {
        if cdr.len() <= SMALL_BYTES {
            let mut yaml = String::new();
            Yaml::FULL_LENGTH.write(&self.message_type.view_cdr(cdr)?, &mut yaml)?;
            fs::write(self.path(number, end), yaml)?;
        }
        Ok(())
    }
}
