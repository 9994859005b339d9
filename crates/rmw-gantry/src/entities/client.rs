//! stub
use super::source::Source;
use gantry::GenericClient;
use std::sync::Arc;
pub struct Client {
    pub source: Arc<Source<GenericClient>>,
}
