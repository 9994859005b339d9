//! placeholder
use serde::{Deserialize, Serialize};

use super::{Backend, Publisher, Subscription};
use crate::experiment::Experiment;
use crate::worker::protocol::EndpointPlan;

/// placeholder
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Script {}

impl std::str::FromStr for Script {
    type Err = String;

    fn from_str(text: &str) -> Result<Script, String> {
        text.is_empty().then(Script::default).ok_or_else(|| format!("`{text}` is no script"))
    }
}

/// The back end `Mock`.
#[derive(Debug)]
pub struct Mock;

impl Backend for Mock {
    fn name(&self) -> &'static str {
        "Mock"
    }

    fn check(&self, _: &Experiment) -> Result<(), String> {
        Ok(())
    }

    fn publisher(&self, _: &Experiment, _: &EndpointPlan) -> Result<Box<dyn Publisher>, String> {
        Err("not there yet".to_owned())
    }

    fn subscription(&self, _: &Experiment, _: &EndpointPlan) -> Result<Box<dyn Subscription>, String> {
        Err("not there yet".to_owned())
    }

    fn clean_up(&self, _: &Experiment) -> Result<(), String> {
        Ok(())
    }
}
