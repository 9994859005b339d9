//! Parameters of nodes, read and set through the nodes' parameter services. The full name of a parameter is the node's
//! name, a dot and the parameter's own name.

use crate::protocol::Parameter;
use data_encoding::BASE64;
use gantry::{Node, with_signals_blocked};
use gantry_command::{Result, message::call};
use serde_json::{Value, json};
use std::{collections::BTreeMap, thread, time::Duration};

/// The longest wait for a node's answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The largest number of nodes to which requests are sent at the same time.
const NODES_AT_ONCE: usize = 32;
/// The suffix of the name of a service that each node with parameters has.
const LIST: &str = "/list_parameters";
/// The value fields of `rcl_interfaces/msg/ParameterValue`, indexed by the message's `type`. The second element is the
/// name of the type in Foxglove's protocol, if the protocol has a name for it.
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

/// The nodes that have parameters, found by the names of their services.
pub fn nodes_of<'a>(services: impl Iterator<Item = &'a String>) -> Vec<String> {
    services.filter_map(|service| service.strip_suffix(LIST).map(str::to_owned)).collect()
}

/// The parameters that were found, and a sentence about each problem.
pub type Found = (Vec<Parameter>, Vec<String>);

/// Gets the parameters with these full names; if `names` is empty, all parameters of `nodes`. If a node does not
/// answer, the result has a sentence about it.
#[must_use]
pub fn get(node: &Node, names: &[String], nodes: &[String]) -> Found {
    let mut wanted: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    if names.is_empty() {
        wanted.extend(nodes.iter().map(|node| (node.as_str(), Vec::new())));
    }
    let (named, unnamed): (Vec<_>, Vec<_>) = names.iter().partition(|name| name.contains('.'));
    for (of, name) in named.into_iter().filter_map(|name| name.split_once('.')) {
        wanted.entry(of).or_default().push(name);
    }
    let get = |(of, names): &(&str, Vec<&str>)| match values_of_node(node, of, names) {
        Ok(values) => (values.iter().filter_map(|(name, value)| shown(of, name, value)).collect(), Vec::new()),
        Err(error) => (Vec::new(), vec![error.to_string()]),
    };
    let (found, mut problems) = at_once(&Vec::from_iter(wanted), get);
    problems.extend(
        unnamed.iter().map(|name| format!("'{name}' is not the name of a parameter, which is /node.parameter")),
    );
    (found, problems)
}

/// Sends requests to several nodes at the same time, so that a node that does not answer does not delay the others.
fn at_once<Asked: Sync>(nodes: &[Asked], ask: impl Fn(&Asked) -> Found + Sync) -> Found {
    let (mut found, mut problems) = Found::default();
    for nodes in nodes.chunks(NODES_AT_ONCE) {
        let ask = &ask;
        let answers = thread::scope(|scope| {
            let threads = with_signals_blocked(|| {
                nodes.iter().map(|node| scope.spawn(move || ask(node))).collect::<Vec<_>>() // starts all
            });
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect::<Vec<_>>()
        });
        for (parameters, sentences) in answers {
            found.extend(parameters);
            problems.extend(sentences);
        }
    }
    (found, problems)
}

/// Returns the names and values (`rcl_interfaces/msg/ParameterValue`) of a node's parameters; of all its parameters if
/// `names` is empty.
fn values_of_node(node: &Node, of: &str, names: &[&str]) -> Result<Vec<(String, Value)>> {
    let no_services = || format!("node {of} has no parameters");
    let mut names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    if names.is_empty() {
        let answer = call(node, &format!("{of}{LIST}"), &json!({}), PATIENCE)?.ok_or_else(no_services)?.json()?;
        let list = answer["result"]["names"].as_array().into_iter().flatten();
        names = list.filter_map(|name| name.as_str().map(str::to_owned)).collect();
    }
    let ask = |names: &[String]| -> Result<Vec<Value>> {
        let answer = call(node, &format!("{of}/get_parameters"), &json!({ "names": names }), PATIENCE)?;
        let mut answer = answer.ok_or_else(no_services)?.json()?;
        Ok(answer["values"].as_array_mut().map(std::mem::take).unwrap_or_default())
    };
    let values = ask(&names)?;
    if values.len() >= names.len() {
        return Ok(names.into_iter().zip(values).collect());
    }
    // A node of rclcpp returns no values at all if one of the names is not declared, so each value is requested
    // separately.
    let mut found = Vec::new();
    for name in names {
        let value = ask(std::slice::from_ref(&name))?.pop();
        found.extend(value.map(|value| (name, value)));
    }
    Ok(found)
}

/// Converts a parameter to the form that viewers get; `None` if the parameter is not set.
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

/// Sets parameters one by one. Returns their values afterwards, and a sentence about each parameter that its node
/// refused.
#[must_use]
pub fn set(node: &Node, parameters: &[Parameter]) -> Found {
    let mut by_node: BTreeMap<&str, Vec<&Parameter>> = BTreeMap::new();
    for parameter in parameters {
        let of = parameter.name.split_once('.').map_or("", |(of, _)| of);
        by_node.entry(of).or_default().push(parameter);
    }
    let unnamed = by_node.remove("").unwrap_or_default();
    let (found, mut problems) = at_once(&Vec::from_iter(by_node), |(of, parameters)| set_of_node(node, of, parameters));
    let sentence = |parameter: &Parameter| format!("{} is not set: its name is not /node.parameter", parameter.name);
    problems.extend(unnamed.into_iter().map(sentence));
    (found, problems)
}

fn set_of_node(node: &Node, of: &str, parameters: &[&Parameter]) -> Found {
    let names: Vec<&str> = parameters.iter().filter_map(|parameter| Some(parameter.name.split_once('.')?.1)).collect();
    let mut problems = Vec::new();
    for (name, parameter) in names.iter().zip(parameters) {
        match set_one(node, of, name, parameter) {
            Ok(Ok(())) => {}
            Ok(Err(why)) => problems.push(format!("{} is not set: {why}", parameter.name)),
            // The node did not answer, so requests for its other parameters would also time out.
            Err(error) => {
                problems.push(format!("{} and later parameters of its node are not set: {error}", parameter.name));
                return (Vec::new(), problems);
            }
        }
    }
    match values_of_node(node, of, &names) {
        Ok(values) => (values.iter().filter_map(|(name, value)| shown(of, name, value)).collect(), problems),
        Err(error) => {
            problems.push(error.to_string());
            (Vec::new(), problems)
        }
    }
}

/// Sets a parameter. The inner error is the reason why the value is invalid or why the node refuses it; the outer error
/// means that the node cannot be reached.
fn set_one(node: &Node, of: &str, name: &str, parameter: &Parameter) -> Result<std::result::Result<(), String>> {
    let now = values_of_node(node, of, &[name])?.pop().map_or(Value::Null, |(_, now)| now);
    let value = match value_of(parameter, &now) {
        Ok(value) => value,
        Err(why) => return Ok(Err(why)),
    };
    let request = json!({ "parameters": [{ "name": name, "value": value }] });
    let answer = call(node, &format!("{of}/set_parameters"), &request, PATIENCE)?;
    let answer = answer.ok_or_else(|| format!("node {of} has no parameters"))?.json()?;
    let result = &answer["results"][0];
    if result["successful"].as_bool() == Some(true) {
        return Ok(Ok(()));
    }
    let why = result["reason"].as_str().filter(|why| !why.is_empty());
    Ok(Err(why.unwrap_or("the node refuses it").to_owned()))
}

/// Converts the value to an `rcl_interfaces/msg/ParameterValue`. `now` is the present value of the parameter: if it is
/// a double, a whole number becomes a double, and an empty list gets the type of the present list.
fn value_of(parameter: &Parameter, now: &Value) -> std::result::Result<Value, String> {
    let type_now = now["type"].as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or(0);
    let of_type = parameter.of_type.as_deref().or(FIELDS.get(type_now).and_then(|(_, of_type)| *of_type));
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
            let bytes = BASE64.decode(text.as_bytes()).map_err(|error| format!("its value is not base64: {error}"))?;
            return Ok(json!({ "type": 5, "byte_array_value": bytes }));
        }
        (Value::String(_), _) => 4,
        (Value::Array(_), Some("float64_array")) if are_all(Value::is_number) => 8,
        (Value::Array(list), _) if list.is_empty() => match type_now {
            5..=9 => type_now,
            _ => return Err("[] has no type, and the parameter is not a list now".to_owned()),
        },
        (Value::Array(_), _) if are_all(Value::is_boolean) => 6,
        (Value::Array(_), _) if are_all(Value::is_i64) => 7,
        (Value::Array(_), _) if are_all(Value::is_number) => 8,
        (Value::Array(_), _) if are_all(Value::is_string) => 9,
        _ => return Err(format!("a parameter cannot be {value}")),
    };
    Ok(json!({ "type": number, (FIELDS[number].0): value }))
}

/// Returns the new and the changed parameters that a message of `/parameter_events` reports.
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
            let sent = value_of(&given, &json!({ "type": 0 })).unwrap();
            assert_eq!(shown("/n", "p", &sent), Some(given));
        }
        let now = |number: usize| json!({ "type": number });
        assert_eq!(value_of(&parameter(json!(7), None), &now(3)), Ok(json!({ "type": 3, "double_value": 7 })));
        assert_eq!(
            value_of(&parameter(json!([7]), None), &now(8)),
            Ok(json!({ "type": 8, "double_array_value": [7] }))
        );
        assert!(value_of(&parameter(json!({}), None), &now(0)).is_err());
        assert!(value_of(&parameter(json!("?"), Some("byte_array")), &now(0)).is_err());
        for (number, (field, _)) in FIELDS.iter().enumerate().skip(5) {
            let kept = json!({ "type": number, (*field): [] });
            assert_eq!(value_of(&parameter(json!([]), None), &now(number)), Ok(kept), "an empty list keeps its type");
        }
        assert!(value_of(&parameter(json!([]), None), &now(2)).unwrap_err().contains("is not a list now"));
    }
}
