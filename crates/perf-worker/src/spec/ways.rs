//! The ways in which endpoints are placed, publish, wait and touch their messages. Each way is an option
//! with one value.

use crate::choice::choice;

choice! {
    /// The processes and threads of publishers and subscriptions.
    pub enum Strategy {
        /// The publishers in one process, every subscription in its own.
        InterProcess = "INTER_PROCESS",
        /// All endpoints on threads of one process.
        InterThread = "INTER_THREAD",
        /// One publisher and its subscriptions on one thread, which publishes and then takes.
        IntraThread = "INTRA_THREAD",
    }
    default InterProcess
}

choice! {
    /// The times at which the publishers' periods begin, if there are several publishers.
    pub enum Phase {
        /// At equal distances within a period.
        Spread = "spread",
        /// All at the same time: a burst in each period.
        Aligned = "aligned",
        /// At random within a period, new for each run.
        Random = "random",
    }
    default Spread
}

choice! {
    /// Round trips: messages go to a relay and back. This run has the publisher, the relay, or both.
    pub enum Roundtrip {
        /// They go one way.
        None = "None",
        /// This run publishes and gets its messages back from another program's relay.
        Main = "Main",
        /// This run is the relay of another program.
        Relay = "Relay",
        /// This run has both parts: it publishes and gets its messages back, and its relay is a process of its own.
        Both = "Both",
        /// Requests and responses of a service: this run has the clients, and the server in a process of its own.
        Service = "Service",
    }
    default None
}

choice! {
    /// The way in which a node's callback and the middleware hand over a message.
    pub enum PassBy {
        /// The message is owned: a publisher copies it in, a subscription gets a copy.
        UniquePtr = "unique_ptr",
        /// The message is shared: a publisher copies it in, a subscription reads it in place where the middleware can.
        SharedPtr = "shared_ptr",
        /// The message lies in the middleware's memory.
        LoanedMsg = "loaned_msg",
    }
    default UniquePtr
}

choice! {
    /// The way in which a subscription waits for samples.
    pub enum Wait {
        /// It polls and never sleeps.
        Spin = "spin",
        /// It sleeps at once.
        Block = "block",
        /// The middleware's own way.
        Adaptive = "adaptive",
    }
    default Adaptive
}

choice! {
    /// The part of each payload that is written before it is sent, and read after it was received.
    pub enum Touch {
        /// Time and id only.
        Stamp = "stamp",
        /// A byte of every page, too.
        Page = "page",
        /// Every byte.
        Full = "full",
    }
    default Stamp
}

choice! {
    /// The threads of a worker that have the real-time priority and the pins.
    pub enum RtScope {
        /// All threads except the instrument's: the endpoints' threads and the middleware's own.
        Process = "process",
        /// The endpoints' threads.
        Endpoints = "endpoints",
    }
    default Process
}
