//! placeholder
use serde::{Deserialize, Serialize};
/// placeholder
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadUsage {}
impl ThreadUsage {
    /// placeholder
    pub fn all_of_this_process() -> Result<Vec<ThreadUsage>, String> {
        Ok(Vec::new())
    }
    /// placeholder
    pub fn since(now: &[ThreadUsage], _earlier: &[ThreadUsage]) -> Vec<ThreadUsage> {
        now.to_vec()
    }
}
