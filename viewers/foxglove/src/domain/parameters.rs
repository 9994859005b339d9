//! Parameters of nodes, by their services. The full name of a parameter is the node's name, a dot and its own name.

use crate::protocol::Parameter;
use data_encoding::BASE64;
use gantry::Node;
use gantry_command::{Result, message::call};
use serde_json::{Value, json};
use std::{collections::BTreeMap, time::Duration};

/// The time for a node to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The end of the names of services of nodes that have parameters.
const LIST: &str = "/list_parameters";
/// The fields of `rcl_interfaces/msg/ParameterValue` by the number of the type, with the word that viewers need.
const FIELDS: [(&str, Option<&str>); 10] = [
    ("", None),
    ("bool_value", None),
    ("integer_value", None),
    ("double_value", Some("float64")),
    ("string_value", None),
    ("byte_array_value", Some("byte_array")),
    ("bool_array_value", None),
    ("integer_array_value", None),
    ("double_array_value", Some("float64_array")),
    ("string_array_value", None),
];

/// The nodes that have parameters, among these services.
pub fn nodes_of<'a>(services: impl Iterator<Item = &'a String>) -> Vec<String> {
    services.filter_map(|service| service.strip_suffix(LIST).map(str::to_owned)).collect()
}

/// The parameters of these names, or all parameters of the nodes; and sentences about the nodes that do not answer.
#[must_use]
pub fn get(node: &Node, names: &[String], nodes: &[String]) -> (Vec<Parameter>, Vec<String>) {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    let mut wanted: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    if names.is_empty() {
        wanted.extend(nodes.iter().map(|node| (node.as_str(), Vec::new())));
    }
    for name in names {
        match name.split_once('.') {
            Some((of, name)) => wanted.entry(of).or_default().push(name.to_owned()),
            None => problems.push(format!("'{name}' is no parameter: its name is /node.parameter")),
        }
    }
    for (of, names) in wanted {
        match get_of_node(node, of, names) {
            Ok(more) => found.extend(more),
            Err(error) => problems.push(error.to_string()),
        }
    }
    (found, problems)
}

fn get_of_node(node: &Node, of: &str, mut names: Vec<String>) -> Result<Vec<Parameter>> {
    let no_services = || format!("node {of} has no parameters");
    if names.is_empty() {
        let answer = call(node, &format!("{of}{LIST}"), &json!({}), PATIENCE)?.ok_or_else(no_services)?.json()?;
        let list = answer["result"]["names"].as_array().into_iter().flatten();
        names = list.filter_map(|name| name.as_str().map(str::to_owned)).collect();
    }
    let answer = call(node, &format!("{of}/get_parameters"), &json!({ "names": names }), PATIENCE)?;
    let answer = answer.ok_or_else(no_services)?.json()?;
    let values = answer["values"].as_array().into_iter().flatten();
    Ok(names.iter().zip(values).filter_map(|(name, value)| shown(of, name, value)).collect())
}

/// A parameter as viewers see it; `None` if it is not set.
fn shown(node: &str, name: &str, value: &Value) -> Option<Parameter> {
    let number = usize::try_from(value["type"].as_u64()?).ok()?;
    let (field, of_type) = FIELDS.get(number).filter(|(field, _)| !field.is_empty())?;
    let value = match (&value[field], *of_type) {
        (Value::Array(bytes), Some("byte_array")) => {
            let bytes: Vec<u8> = bytes.iter().map(|byte| byte.as_u64().unwrap_or(0) as u8).collect();
            BASE64.encode(&bytes).into()
        }
        (value, _) => value.clone(),
    };
    Some(Parameter { name: format!("{node}.{name}"), value: Some(value), of_type: of_type.map(str::to_owned) })
}

/// Sets parameters one by one; returns them as they are afterwards, and sentences about the ones that were refused.
#[must_use]
pub fn set(node: &Node, parameters: &[Parameter]) -> (Vec<Parameter>, Vec<String>) {
    let mut problems = Vec::new();
    for parameter in parameters {
        if let Err(error) = set_one(node, parameter) {
            problems.push(format!("{} is not set: {error}", parameter.name));
        }
    }
    let names: Vec<String> = parameters.iter().map(|parameter| parameter.name.clone()).collect();
    let (found, more) = if names.is_empty() { Default::default() } else { get(node, &names, &[]) };
    problems.extend(more);
    (found, problems)
}

fn set_one(node: &Node, parameter: &Parameter) -> Result<()> {
    let no_name = || "its name is not /node.parameter".to_owned();
    let (of, name) = parameter.name.split_once('.').ok_or_else(no_name)?;
    let now = get_of_node(node, of, vec![name.to_owned()])?.pop();
    let value = value_of(parameter, now.as_ref())?;
    let request = json!({ "parameters": [{ "name": name, "value": value }] });
    let answer = call(node, &format!("{of}/set_parameters"), &request, PATIENCE)?;
    let answer = answer.ok_or_else(|| format!("node {of} has no parameters"))?.json()?;
    let result = &answer["results"][0];
    match result["successful"].as_bool() {
        Some(true) => Ok(()),
        _ => Err(result["reason"]
            .as_str()
            .filter(|why| !why.is_empty())
            .unwrap_or("the node refuses it")
            .to_owned()
            .into()),
    }
}

/// The value as an `rcl_interfaces/msg/ParameterValue`. A whole number is a double if the parameter is one now.
fn value_of(parameter: &Parameter, now: Option<&Parameter>) -> std::result::Result<Value, String> {
    let of_type = parameter.of_type.as_deref().or(now.and_then(|now| now.of_type.as_deref()));
    let Some(value) = &parameter.value else { return Ok(json!({ "type": 0 })) };
    let are_all = |is: fn(&Value) -> bool| value.as_array().is_some_and(|list| list.iter().all(is));
    let number = match (value, of_type) {
        (Value::Bool(_), _) => 1,
        (Value::Number(_), Some("float64")) => 3,
        (Value::Number(number), _) => {
            if number.is_f64() {
                3
            } else {
                2
            }
        }
        (Value::String(text), Some("byte_array")) => {
            let bytes = BASE64.decode(text.as_bytes()).map_err(|error| format!("its value is no base64: {error}"))?;
            return Ok(json!({ "type": 5, "byte_array_value": bytes }));
        }
        (Value::String(_), _) => 4,
        (Value::Array(_), Some("float64_array")) if are_all(Value::is_number) => 8,
        (Value::Array(_), _) if are_all(Value::is_boolean) => 6,
        (Value::Array(_), _) if are_all(Value::is_i64) => 7,
        (Value::Array(_), _) if are_all(Value::is_number) => 8,
        (Value::Array(_), _) if are_all(Value::is_string) => 9,
        _ => return Err(format!("a parameter cannot be {value}")),
    };
    Ok(json!({ "type": number, (FIELDS[number].0): value }))
}

/// The parameters that a message of `/parameter_events` names as new or changed.
#[must_use]
pub fn changes(event: &Value) -> Vec<Parameter> {
    let node = event["node"].as_str().unwrap_or_default();
    let lists = ["new_parameters", "changed_parameters"].map(|list| event[list].as_array());
    let parameter = |entry: &Value| shown(node, entry["name"].as_str()?, &entry["value"]);
    lists.into_iter().flatten().flatten().filter_map(parameter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(value: Value, of_type: Option<&str>) -> Parameter {
        Parameter { name: "/n.p".into(), value: Some(value), of_type: of_type.map(str::to_owned) }
    }

    #[test]
    fn values_come_back_as_they_were_set() {
        for (value, of_type) in [
            (json!(true), None),
            (json!(-3), None),
            (json!(2.5), Some("float64")),
            (json!(2), Some("float64")),
            (json!("text"), None),
            (json!("AAEC"), Some("byte_array")),
            (json!([true, false]), None),
            (json!([1, 2]), None),
            (json!([1.5, 2.5]), Some("float64_array")),
            (json!(["a", "b"]), None),
        ] {
            let given = parameter(value, of_type);
            let sent = value_of(&given, None).unwrap();
            assert_eq!(shown("/n", "p", &sent), Some(given));
        }
        let now = parameter(json!(0.5), Some("float64"));
        assert_eq!(value_of(&parameter(json!(7), None), Some(&now)), Ok(json!({ "type": 3, "double_value": 7 })));
        assert!(value_of(&parameter(json!({}), None), None).is_err());
        assert!(value_of(&parameter(json!("?"), Some("byte_array")), None).is_err());
    }
}
