//! Experiments: many runs whose results are in one file, and the HTML page that shows a folder of results.

pub mod batch;
pub mod conditions;
pub mod middlewares;
pub mod page;
pub mod results_file;
pub mod scale;
pub mod sweep;
