//! Values as JSON. Infinities and NaN, which JSON does not have, are null.

use gantry_dynamic::Value;

/// The value as JSON.
pub fn json_of(value: Value<'_>) -> serde_json::Value {
    match value {
        Value::Bool(value) => value.into(),
        Value::Text(text) => text.into(),
        Value::WideText(text) => text.chars().collect::<String>().into(),
        Value::List(list) => list.iter().map(json_of).collect(),
        Value::Message(message) => message
            .fields()
            .map(|(field, value)| (field.name.clone(), json_of(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        number => match (number.as_integer(), number.as_float()) {
            (Some(integer), _) => match (i64::try_from(integer), u64::try_from(integer)) {
                (Ok(integer), _) => integer.into(),
                (_, Ok(integer)) => integer.into(),
                _ => serde_json::Value::Null,
            },
            (_, Some(float)) => float.into(),
            _ => serde_json::Value::Null,
        },
    }
}
