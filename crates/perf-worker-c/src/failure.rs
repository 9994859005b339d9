//! The memory into which a function of the back end writes an error sentence.

use crate::abi::Error;

/// The memory for one error sentence.
pub struct Failure(Box<Error>);

impl Failure {
    /// Empty memory.
    pub fn new() -> Failure {
        Failure(Box::new(Error { sentence: [0; 1024] }))
    }

    /// Clears the memory, and returns its address for one call of a C function.
    pub fn address(&mut self) -> *mut Error {
        self.0.sentence[0] = 0;
        &raw mut *self.0
    }

    /// The sentence that the back end wrote in the last call. `function` is the name of the called function.
    pub fn sentence(&self, function: &str) -> String {
        // A sentence without a terminating 0 fills the whole memory.
        match self.0.sentence.split(|byte| *byte == 0).next() {
            Some([]) | None => {
                format!(
                    "the back end's function {function} failed without an error text: the function must call \
                     perf_test_fail"
                )
            }
            Some(sentence) => String::from_utf8_lossy(sentence).into_owned(),
        }
    }

    /// Checks the return value of a C function: 0 means success, -1 failure.
    ///
    /// # Errors
    /// The error sentence of the function, or a sentence about a return value that the header does not allow.
    pub fn check(&self, function: &str, returned: i32) -> Result<(), String> {
        match returned {
            0 => Ok(()),
            -1 => Err(self.sentence(function)),
            value => Err(format!("the back end's function {function} returned {value}: it must return 0 or -1")),
        }
    }
}
