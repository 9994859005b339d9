//! The methods that typed and generic servers have in common.

/// Implements the common methods for a server with the fields `name`, `requests` and `replies`.
macro_rules! common_methods {
    ($service:ident) => {
        /// Returns a future of the next request, for any async runtime.
        ///
        /// # Errors
        #[doc = concat!("[`Error::ShutDown`](crate::Error::ShutDown); as [`", stringify!($service), "::take_request`].")]
        pub fn take_request_async(&mut self) -> TakeFuture<'_, Self> {
            TakeFuture::new(self)
        }

        /// Waits until there is a request to take; `false` after `timeout` or a shutdown. A client with another type
        /// causes no error here: the client gets the error, and this side sees the client in
        #[doc = concat!("[`", stringify!($service), "::mismatches`].")]
        ///
        /// # Errors
        #[doc = concat!("As [`", stringify!($service), "::take_request`].")]
        pub fn wait(&mut self, timeout: Duration) -> Result<bool> {
            match self.requests.wait(timeout) {
                Err(Error::Engine(EngineError::TypeMismatch { .. } | EngineError::IncompatibleQos { .. })) => Ok(false),
                waited => waited,
            }
        }

        /// The number of responses that were lost because responses that the client had not taken used all the memory
        /// for them. The log has the first, the tenth, the hundredth such response and so on, with its client.
        /// Responses that overflow a client's history are not included, because the client counts these.
        #[must_use]
        pub fn lost_responses(&self) -> u64 {
            self.replies.lost_responses
        }

        /// The number of clients that are matched now.
        ///
        /// # Errors
        #[doc = concat!("As [`", stringify!($service), "::take_request`].")]
        pub fn client_count(&mut self) -> Result<usize> {
            self.requests.publisher_count()
        }

        /// A sentence for each client of this service that is not matched.
        #[must_use]
        pub fn mismatches(&self) -> Vec<String> {
            self.replies.mismatches(&self.requests.engine)
        }

        /// The service's full name.
        #[must_use]
        pub fn service_name(&self) -> &str {
            &self.name
        }
    };
}
