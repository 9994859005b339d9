//! A server that answers each request at once.

use crate::arguments::{AnyResult, SERVICE, until_closed};
use gantry::Node;
use gantry_msgs::example_interfaces::srv::{AddTwoInts, AddTwoInts_Response};
use std::time::Duration;

/// Answers requests until the coordinator ends the process. The responses are alternately written in place and copied.
pub fn run() -> AnyResult<()> {
    let mut service = Node::new(&format!("server_{}", std::process::id()))?.create_service::<AddTwoInts>(SERVICE)?;
    let end = until_closed();
    while !end.is_finished() {
        service.wait(Duration::from_millis(20))?;
        while let Some(request) = service.take_request()? {
            let (id, sum) = (request.id(), request.a + request.b);
            if id.sequence % 2 == 0 {
                let mut response = service.loan_response(id)?;
                response.sum = sum;
                service.send_response(id, response)?;
            } else {
                service.send_response_copy(id, &AddTwoInts_Response { sum })?;
            }
        }
    }
    Ok(())
}
