//! The methods that typed and generic clients have in common.

/// Implements the common methods for a client with the fields `requests` and `tracker` and the method `parts`.
macro_rules! common_methods {
    ($client:ident) => {
        #[doc = concat!("Waits until [`", stringify!($client), "::take_response`] has a response or an error; `false` after `timeout`.")]
        ///
        /// # Errors
        #[doc = concat!("As [`", stringify!($client), "::take_response`], except for requests that will not be answered.")]
        pub fn wait(&mut self, timeout: Duration) -> Result<bool> {
            let deadline = Instant::now().checked_add(timeout);
            while !self.tracker.is_ready()? {
                if !self.tracker.responses.wait_for_change(remaining(deadline))? {
                    return self.tracker.is_ready();
                }
            }
            Ok(true)
        }

        /// Gives up a request: its response will be dropped. Returns `false` if the request has already ended.
        pub fn remove_pending_request(&mut self, request: RequestId) -> bool {
            request.client_gid == self.tracker.gid && self.tracker.give_up(request.sequence)
        }

        /// The number of requests that were neither answered nor given up.
        #[must_use]
        pub fn pending_requests(&self) -> usize {
            self.tracker.pending()
        }

        /// Whether a request that is sent now would reach at least one server.
        ///
        /// # Errors
        /// A server's memory cannot be mapped; the process forked.
        pub fn service_is_ready(&mut self) -> Result<bool> {
            Ok(self.server_count()? > 0)
        }

        /// The number of servers that a request would reach now.
        ///
        /// # Errors
        #[doc = concat!("As [`", stringify!($client), "::service_is_ready`].")]
        pub fn server_count(&mut self) -> Result<usize> {
            let (requests, tracker) = self.parts();
            tracker.server_count(requests)
        }

        /// Waits until a server is matched; returns `false` after `timeout`.
        ///
        /// # Errors
        /// `timeout` has passed, and there is a server of another type
        /// ([`Error::ServiceTypeMismatch`](crate::Error::ServiceTypeMismatch));
        #[doc = concat!("as [`", stringify!($client), "::service_is_ready`].")]
        pub fn wait_for_service(&mut self, timeout: Duration) -> Result<bool> {
            let (requests, tracker) = self.parts();
            tracker.wait_for_service(requests, timeout)
        }

        /// Waits until a server is matched, on any async runtime.
        ///
        /// # Errors
        #[doc = concat!("[`Error::ShutDown`](crate::Error::ShutDown); as [`", stringify!($client), "::service_is_ready`].")]
        pub async fn wait_for_service_async(&mut self) -> Result<()> {
            let (requests, tracker) = self.parts();
            ServiceFuture { tracker, requests, at_shutdown: ShutdownWaker::default() }.await
        }

        /// A sentence for each server of this service that is not matched, with the reason.
        ///
        /// # Errors
        #[doc = concat!("As [`", stringify!($client), "::service_is_ready`].")]
        pub fn mismatches(&self) -> Result<Vec<String>> {
            self.tracker.mismatches()
        }

        /// The number of responses for which no request waited, because they were repeated or came too late.
        #[must_use]
        pub fn dropped_responses(&self) -> u64 {
            self.tracker.dropped_responses
        }

        /// The service's full name.
        #[must_use]
        pub fn service_name(&self) -> &str {
            &self.tracker.name
        }
    };
}
