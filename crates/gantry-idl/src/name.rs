//! Names of types, and the rules for all names in a definition. The rules come from ROS 2's documentation of interface
//! definitions.

use crate::error::{Errors, Location};
use std::{fmt, str::FromStr};

/// The folder of a package to which a type belongs: `msg` or `srv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Namespace {
    /// Messages.
    Msg,
    /// Services, their requests and their responses.
    Srv,
}

/// The name of a message or service: `sensor_msgs/msg/Image`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeName {
    /// `sensor_msgs`.
    pub package: String,
    /// `msg` or `srv`.
    pub namespace: Namespace,
    /// `Image`.
    pub name: String,
}

impl TypeName {
    /// The name of the message `name` of `package`.
    pub fn message(package: impl Into<String>, name: impl Into<String>) -> Self {
        Self { package: package.into(), namespace: Namespace::Msg, name: name.into() }
    }

    /// The name of the service (or request or response) `name` of `package`.
    pub fn service(package: impl Into<String>, name: impl Into<String>) -> Self {
        Self { package: package.into(), namespace: Namespace::Srv, name: name.into() }
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Msg => "msg",
            Self::Srv => "srv",
        })
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.package, self.namespace, self.name)
    }
}

/// Parses a name such as `sensor_msgs/msg/Image`. For messages, `sensor_msgs/Image` is also accepted.
impl FromStr for TypeName {
    type Err = Errors;

    fn from_str(text: &str) -> Result<Self, Errors> {
        let parts: Vec<&str> = text.split('/').collect();
        let (package, namespace, name) = match parts[..] {
            [package, name] | [package, "msg", name] => (package, Namespace::Msg, name),
            [package, "srv", name] => (package, Namespace::Srv, name),
            _ => {
                return Err(Location::default()
                    .error(format!("`{text}` is not the name of a type; it should look like `sensor_msgs/msg/Image`"))
                    .into());
            }
        };
        check_package(package)
            .and_then(|()| check_interface(name, namespace))
            .map_err(|why| Location::default().error(format!("{text:?} is not the name of a type: {why}")))?;
        Ok(Self { package: package.to_owned(), namespace, name: name.to_owned() })
    }
}

/// Checks the name of a package. It must have lower-case letters, digits and single underscores, begin with a letter
/// and not end with an underscore.
pub(crate) fn check_package(name: &str) -> Result<(), String> {
    check_lower(name).map_err(|why| format!("`{name}` cannot be a package's name: {why}"))
}

/// Checks the name of a field, by the same rule as for packages.
pub(crate) fn check_field(name: &str) -> Result<(), String> {
    check_lower(name).map_err(|why| format!("`{name}` cannot be a field's name: {why}"))
}

/// Checks the name of a constant. It must have capital letters, digits and single underscores, begin with a letter and
/// not end with an underscore.
pub(crate) fn check_constant(name: &str) -> Result<(), String> {
    let why = if !name.starts_with(|c: char| c.is_ascii_uppercase()) {
        "it must begin with a capital letter"
    } else if !name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_') {
        "only capital letters, digits and underscores are allowed"
    } else {
        return check_underscores(name).map_err(|why| format!("`{name}` cannot be a constant's name: {why}"));
    };
    Err(format!("`{name}` cannot be a constant's name: {why}"))
}

/// Checks the last part of a type's name. It must have letters and digits and begin with a capital letter. In the
/// namespace `srv`, `_Request` or `_Response` may follow.
pub(crate) fn check_interface(name: &str, namespace: Namespace) -> Result<(), String> {
    let stem = match namespace {
        Namespace::Msg => name,
        Namespace::Srv => ["_Request", "_Response"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name),
    };
    let why = if !stem.starts_with(|c: char| c.is_ascii_uppercase()) {
        "it must begin with a capital letter"
    } else if !stem.chars().all(|c| c.is_ascii_alphanumeric()) {
        "only letters and digits are allowed"
    } else {
        return Ok(());
    };
    Err(format!("`{name}` cannot be a type's name: {why}"))
}

fn check_lower(name: &str) -> Result<(), &'static str> {
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        Err("it must begin with a lower-case letter")
    } else if !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') {
        Err("only lower-case letters, digits and underscores are allowed")
    } else {
        check_underscores(name)
    }
}

fn check_underscores(name: &str) -> Result<(), &'static str> {
    if name.ends_with('_') {
        Err("it must not end with an underscore")
    } else if name.contains("__") {
        Err("it must not have two underscores in a row")
    } else {
        Ok(())
    }
}

/// Whether a name in the namespace `srv` belongs to a request or response, not to a service.
pub(crate) fn is_part_of_service(name: &str) -> bool {
    name.ends_with("_Request") || name.ends_with("_Response")
}
