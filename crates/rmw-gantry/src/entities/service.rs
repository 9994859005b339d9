//! stub
use super::source::Source;
use gantry::GenericService;
use std::sync::Arc;
pub struct Service {
    pub source: Arc<Source<GenericService>>,
}
