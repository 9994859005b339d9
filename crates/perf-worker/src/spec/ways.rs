//! Options with one of several values that select where endpoints run and how they publish, wait and touch messages.

use crate::choice::choice;

choice! {
    /// The assignment of publishers and subscriptions to processes and threads.
    pub enum Strategy {
        /// All publishers in one process, every subscription in its own process.
        InterProcess = "INTER_PROCESS",
        /// All endpoints on threads of one process.
        InterThread = "INTER_THREAD",
        /// One publisher and its subscriptions on one thread, which publishes and takes alternately.
        IntraThread = "INTRA_THREAD",
    }
    default InterProcess
}

choice! {
    /// The times at which the periods of several publishers begin.
    pub enum Phase {
        /// At equal intervals within a period.
        Spread = "spread",
        /// All at the same time: a burst in each period.
        Aligned = "aligned",
        /// At random times within a period, new for each run.
        Random = "random",
    }
    default Spread
}

choice! {
    /// The round-trip mode: messages go to a relay and back. Each mode determines which of the endpoints this run has.
    pub enum Roundtrip {
        /// Messages go one way.
        None = "None",
        /// This run publishes, and receives its messages back from another program's relay.
        Main = "Main",
        /// This run is the relay for another program's messages.
        Relay = "Relay",
        /// This run publishes and receives its messages back; its relay runs in a process of its own.
        Both = "Both",
        /// Requests and responses of a service: this run has the clients, and the server in a separate process.
        Service = "Service",
    }
    default None
}

choice! {
    /// The way in which callbacks of nodes pass messages to the middleware and get messages from it.
    pub enum PassBy {
        /// The callback owns the message: a publisher copies it in, a subscription gets a copy.
        UniquePtr = "unique_ptr",
        /// The message is shared: a publisher copies it in, a subscription reads it in place if the middleware supports
        /// this.
        SharedPtr = "shared_ptr",
        /// The message is in the middleware's memory: a publisher loans it, a subscription reads it in place.
        LoanedMsg = "loaned_msg",
    }
    default UniquePtr
}

choice! {
    /// The way in which a subscription waits for samples.
    pub enum Wait {
        /// The subscription polls and never sleeps.
        Spin = "spin",
        /// The subscription sleeps at once, without polling first.
        Block = "block",
        /// The subscription waits in the middleware's default way.
        Adaptive = "adaptive",
    }
    default Adaptive
}

choice! {
    /// The part of each payload that the publisher writes and the subscription reads.
    pub enum Touch {
        /// Only time and id.
        Stamp = "stamp",
        /// Time, id and one byte of every page.
        Page = "page",
        /// Every byte.
        Full = "full",
    }
    default Stamp
}

choice! {
    /// The threads of a worker to which the real-time priority and the CPU pins apply.
    pub enum RtScope {
        /// The endpoints' threads and the middleware's threads, without `perf_test`'s own.
        Process = "process",
        /// The endpoints' threads.
        Endpoints = "endpoints",
    }
    default Process
}
