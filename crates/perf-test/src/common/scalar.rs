//! Scalars of YAML.

use saphyr::{MarkedYaml, Scalar, YamlData};

/// A scalar as text; none of another node, or of one without a value.
pub fn text_of(node: &MarkedYaml<'_>) -> Option<String> {
    match &node.data {
        YamlData::Value(Scalar::String(text)) => Some(text.to_string()),
        YamlData::Value(Scalar::Integer(number)) => Some(number.to_string()),
        YamlData::Value(Scalar::FloatingPoint(number)) => Some(number.to_string()),
        YamlData::Value(Scalar::Boolean(is_true)) => Some(is_true.to_string()),
        _ => None,
    }
}
