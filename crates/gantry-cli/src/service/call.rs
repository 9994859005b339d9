//! `gantry service call`.

use crate::{
    domain::Domain,
    names,
    number::{positive_rate, positive_seconds},
    session::Session,
};
use clap::Args;
use gantry::{GenericClient, ServiceTypeDescription};
use gantry_command::{
    Failure, Result,
    message::{Repr, TopicType, json_of, service_types},
    say,
};
use gantry_dynamic::Value;
use serde::Serialize;
use std::{
    fmt,
    time::{Duration, Instant},
};

/// The length of one wait for the service; between two waits, the command checks for a shutdown.
const WAIT: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
pub struct Arguments {
    /// The service, such as /add_two_ints
    service_name: String,
    /// The type, such as example_interfaces/srv/AddTwoInts; a server must offer it
    service_type: String,
    /// The values of the request in YAML, such as "{a: 1, b: 2}"; other fields have their defaults
    #[arg(default_value = "{}", conflicts_with = "stdin")]
    values: String,
    /// Read the values from standard input
    #[arg(long)]
    stdin: bool,
    /// Repeat the call N times per second
    #[arg(short, long, value_name = "N", allow_negative_numbers = true, value_parser = positive_rate)]
    rate: Option<f64>,
    /// Wait at most N seconds for the service, and for each response [default: no limit]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = positive_seconds)]
    timeout: Option<Duration>,
}

/// A response, in the words of `ros2 service call`.
struct Response<'a>(Value<'a>);

impl fmt::Display for Response<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "response:\n{}\n", Repr(self.0))
    }
}

impl Serialize for Response<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        json_of(self.0).serialize(serializer)
    }
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let domain = session.join()?;
        let service = domain.node.resolve_service_name(&self.service_name)?;
        let type_name = names::long_type(&self.service_type, "srv");
        let values = match self.stdin {
            true => std::io::read_to_string(std::io::stdin()).map_err(Failure::new)?,
            false => self.values.clone(),
        };
        let Some(service_type) = wait_for_type(session, &domain, &service, &type_name, self.timeout)? else {
            return Ok(());
        };
        let (request_type, response_type) =
            (TopicType::new(&service_type.request)?, TopicType::new(&service_type.response)?);
        let request = request_type.encode(&values)?;
        let mut client = domain.node.create_generic_client(&service, service_type)?;
        while gantry::ok() {
            let begin = Instant::now();
            let text = Repr(Value::Message(request_type.view(&request)?)).to_string();
            session.output.remark(&format!("requester: making request: {text}\n"))?;
            let Some(response) = self.call(&mut client, &request)? else { return Ok(()) };
            session.output.print(&Response(Value::Message(response_type.view(&response)?)))?;
            let Some(rate) = self.rate else { return Ok(()) };
            domain.sleep_until(begin + Duration::from_secs_f64(1.0 / rate))?;
        }
        Ok(())
    }

    /// The bytes of the response; `None` if the program shuts down.
    fn call(&self, client: &mut GenericClient, request: &[u8]) -> Result<Option<Vec<u8>>> {
        // A server in the graph is normally matched within milliseconds. If it is not, there is a mismatch, which is
        // printed.
        if !client.wait_for_service(self.timeout.unwrap_or(Duration::from_secs(10)))? && gantry::ok() {
            let why = client.mismatches()?.join("; ");
            return Err(Failure::new(format!("the server of {} is not matched: {why}", client.service_name())));
        }
        match client.call_copy(request, self.timeout.unwrap_or(Duration::MAX)) {
            Ok(response) => Ok(Some(response.bytes().to_vec())),
            Err(_) if !gantry::ok() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Waits for a server of this type. `None` if the program shuts down.
fn wait_for_type(
    session: Session,
    domain: &Domain,
    service: &str,
    type_name: &str,
    timeout: Option<Duration>,
) -> Result<Option<ServiceTypeDescription>> {
    let (start, mut is_first) = (Instant::now(), true);
    while gantry::ok() {
        let mut types = service_types(&domain.node, service)?;
        let names: Vec<String> = types.iter().map(|found| found.name.clone()).collect();
        types.retain(|found| found.name == type_name);
        if let Some(found) = types.pop() {
            return Ok(Some(found));
        }
        if !names.is_empty() {
            let names = names.join(", ");
            return Err(format!("{service} is served as {names}; you ask as {type_name}").into());
        }
        if std::mem::take(&mut is_first) {
            session.output.remark("waiting for service to become available...")?;
            let hint = domain.service_hint(service)?;
            let limit = if timeout.is_none() { " (--timeout limits the wait)" } else { "" };
            // Only a server on another host is in the graph without its type.
            let lack = match domain.node.count_services(service)? {
                0 => "no server yet",
                _ => "a server on another host, and no definition of its type is known here",
            };
            say(format_args!("WARNING: service [{service}] has {lack}{hint}{limit}"));
        }
        if let Some(timeout) = timeout.filter(|timeout| start.elapsed() >= *timeout) {
            let seconds = timeout.as_secs_f64();
            return Err(
                format!("{service} has no server after {seconds} s: start it, or compare its name and domain").into()
            );
        }
        let left = timeout.map_or(WAIT, |timeout| timeout.saturating_sub(start.elapsed()));
        domain.node.wait_for_graph_change(left.min(WAIT))?;
    }
    Ok(None)
}
