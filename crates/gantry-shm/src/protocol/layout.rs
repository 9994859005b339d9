//! The layout of the three kinds of files in shared memory: board, process file and publisher's file. Assertions check
//! every offset.
//!
//! `docs/internals/memory-layout.md` explains the files; a test compares [`describe`] with the golden file beside that
//! page. Every change of a struct or constant here changes [`LAYOUT_HASH`], and programs with different hashes refuse
//! each other's files. A changed *meaning* of a field needs a new [`FORMAT_VERSION`].
//!
//! All numbers are little-endian, like the supported targets. The comments of fields name the writer (W) and the
//! readers (R).

#[cfg(not(all(test, feature = "loom")))]
use crate::protocol::shared::Shared;
use crate::protocol::sync::{AtomicU32, AtomicU64, Futex};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The version of the format; raised when a field's meaning changes, which the layout hash cannot show.
pub(crate) const FORMAT_VERSION: u32 = 2;
/// The first eight bytes of a board.
pub(crate) const BOARD_MAGIC: u64 = u64::from_le_bytes(*b"GNTRboar");
/// The first eight bytes of a process file.
pub(crate) const PROCESS_MAGIC: u64 = u64::from_le_bytes(*b"GNTRproc");
/// The first eight bytes of a publisher's file.
pub(crate) const PUBLISHER_MAGIC: u64 = u64::from_le_bytes(*b"GNTRpubl");

/// The size of a cache line.
pub(crate) const LINE_BYTES: usize = 64;
/// The unit of the files' lengths: a page, or a part of a page where the kernel's pages have 16 or 64
/// KiB (`os::pages`).
pub(crate) const PAGE_BYTES: usize = 4096;
/// The number of topic lines in a bucket of the board; the hash of a topic selects the bucket. Topics for which no
/// other line is free share the last line of the bucket; this costs spurious wake-ups only.
pub(crate) const BUCKET_LINES: usize = 64;
/// The number of topic lines in all buckets. A topic finds its line by its hash.
pub(crate) const NAMED_LINES: usize = 64 * BUCKET_LINES;
/// The number of topic lines on a board: the lines of all buckets, then one line for the graph.
pub(crate) const TOPIC_LINES: usize = NAMED_LINES + 1;
/// The number of waiter lines on a board. The last line is shared by all waiters for which no other line is free.
pub(crate) const WAITER_LINES: usize = if cfg!(all(test, feature = "loom")) { 3 } else { 512 };
/// The number of words of a bit set with one bit for each waiter.
pub(crate) const WAITER_WORDS: usize = WAITER_LINES.div_ceil(64);
/// The number of pins in a reader record.
pub(crate) const PINS_PER_RECORD: usize = 5;
/// The number of reader records in a block of a process file.
pub(crate) const RECORDS_PER_BLOCK: usize = 15;

/// Declares the shared structs, asserts their sizes and every offset, and lists both in the string `LAYOUT`.
macro_rules! shared_structs {
    ($($(#[$meta:meta])* $name:ident: $size:literal bytes, align $align:literal {
        $($(#[$field_meta:meta])* $field:ident: $type:ty = $offset:literal,)*
    })*) => {
        $(
            $(#[$meta])*
            #[repr(C, align($align))]
            pub(crate) struct $name { $($(#[$field_meta])* pub(crate) $field: $type,)* }
            #[cfg(not(all(test, feature = "loom")))] // loom's atomics are larger; its models cast no bytes to a struct
            const _: () = {
                assert!(size_of::<$name>() == $size);
                $(assert!(std::mem::offset_of!($name, $field) == $offset);)*
                // The struct has no padding (`shared`, S1), because the sizes of its fields add up to its size.
                assert!(0 $(+ size_of::<$type>())* == $size);
            };
            #[cfg(not(all(test, feature = "loom")))]
            // SAFETY: the struct consists of integers and atomics, without padding (asserted above). Plain integers are
            // written only before another process can read them: before the file is linked, or, in `BlockHeader`,
            // before `used_bytes` covers them. The exception is `SlotHeader`, which the pin protocol guards (lib.rs,
            // I4).
            unsafe impl Shared for $name {}
        )*
        /// The shared structs as text: the size of each struct; the offset, name and type of each field.
        const LAYOUT: &str = concat!($(
            "\n", stringify!($name), ": ", $size, " bytes\n",
            $("  ", $offset, "  ", stringify!($field), ": ", stringify!($type), "\n",)*
        )*);
    };
}

shared_structs! {
    /// The start of every file. It is the same in every version of the format.
    #[cfg_attr(all(test, feature = "loom"), derive(Default))]
    #[cfg_attr(not(all(test, feature = "loom")), derive(FromBytes))]
    FileHeader: 40 bytes, align 8 {
        /// [`BOARD_MAGIC`], [`PROCESS_MAGIC`] or [`PUBLISHER_MAGIC`].
        magic: u64 = 0,
        /// [`FORMAT_VERSION`].
        version: u32 = 8,
        reserved: u32 = 12,
        /// [`LAYOUT_HASH`].
        layout_hash: u64 = 16,
        /// The address space that readers map for the file: the file never grows beyond it.
        reserve_bytes: u64 = 24,
        /// The length of the file. W: the file's owner, when the file has grown. R: every process, which checks the
        /// length with the kernel before use.
        length_bytes: AtomicU64 = 32,
    }

    /// The start of a board, the only file that several processes write. A board has wake-up hints and counters, never
    /// data.
    BoardHeader: 128 bytes, align 64 {
        file: FileHeader = 0,
        /// The pid of the process that holds the registry lock. W: the holder. R: a process that waits for the lock;
        /// its error text contains the pid.
        holder_pid: AtomicU32 = 40,
        /// The number of acquisitions of the registry lock. W: the holder. R: a process that waits for the lock; a new
        /// number means a new holder.
        acquisitions: AtomicU32 = 44,
        /// The number of times that a process joined, left or was reaped. W: a process that joins, leaves or reaps,
        /// after the directory changed. R: every process.
        processes_generation: AtomicU64 = 48,
        /// The random id of the board. Processes repeat it in their files, so that processes with different boards
        /// do not match.
        id: u64 = 56,
        reserved_line: [u64; 8] = 64,
    }

    /// A topic's wake-up state on the board.
    #[cfg_attr(all(test, feature = "loom"), derive(Default))]
    TopicLine: 256 bytes, align 64 {
        /// The number of joins and leaves of readers; it is not reset when the line is assigned to another topic. W:
        /// a reader that joins or leaves. R: publishers. Partner: `seen_generation`.
        readers_generation: AtomicU64 = 0,
        /// The count of joins and leaves of publishers. W: a publisher that joins or leaves. R: subscriptions.
        publishers_generation: AtomicU64 = 8,
        /// The number of times that a publisher's file has grown. W: a publisher whose file has grown. R: the control
        /// threads of subscriptions.
        growths: AtomicU64 = 16,
        reserved: [u64; 5] = 24,
        /// A bit for each waiter that sleeps until there is a sample. W: each waiter writes its own bit; a reaper
        /// clears the bits of dead waiters; a thread that wakes readers clears the bit of the last line, which several
        /// waiters share. R: publishers and their sender threads.
        sleepers: [AtomicU64; 8] = 64,
        /// A bit for each waiter that is woken when readers join or leave. This set and `publishers_watchers` together
        /// contain a waiter of each process that holds the topic's line. W: each waiter writes its own bit; a reaper
        /// clears the bits of dead waiters. R: a reader that joins or leaves.
        readers_watchers: [AtomicU64; 8] = 128,
        /// The waiters that are woken when publishers join or leave, as a set like `readers_watchers`.
        publishers_watchers: [AtomicU64; 8] = 192,
    }

    /// A waiter's futex on the board.
    #[cfg_attr(all(test, feature = "loom"), derive(Default))]
    WaiterLine: 64 bytes, align 64 {
        /// The futex word, which counts rings. W: every thread that rings: a publisher, a sender thread, a gating
        /// reader, an endpoint that joins or leaves. R: the waiter, and the kernel when it compares the word.
        bell: Futex = 0,
        /// The state of the waiter: [`WAITER_PLAIN`], [`WAITER_AWAKE`] or [`WAITER_ASLEEP`]. W: the waiter; a thread
        /// with news, which turns ASLEEP into AWAKE. R: the waiter and threads with news.
        state: AtomicU32 = 4,
        /// The first half of the id of the process that owns the line, 0 = free. W: the process that takes or frees the
        /// line; a reaper, under the registry lock. R: processes that look for a free line, reapers, and processes that
        /// list all processes.
        owner: AtomicU64 = 8,
        /// The topics that have news: the bit of a topic is the index of its line modulo 384. W: a thread with news
        /// sets bits, the waiter clears them. R: the waiter and threads with news. Unused while `state` is PLAIN.
        ready: [AtomicU64; 6] = 16,
    }

    /// The start of a process file. W: the process. R: every process in the domain.
    ProcessHeader: 768 bytes, align 64 {
        file: FileHeader = 0,
        /// The id of the process: the 128 random bits in the file's name.
        id: [u8; 16] = 40,
        /// The pid of the process in its own pid namespace.
        pid: u32 = 56,
        domain_id: u32 = 60,
        /// The inode number of the pid namespace of `pid`; 0 = not known. In another namespace, `pid` means
        /// another process.
        pid_namespace: u64 = 64,
        /// The `id` of the board that the process uses.
        board_id: u64 = 72,
        /// The offset of the first block: a random line of the first page, so that the reader records of many processes
        /// spread over the sets of a CPU cache.
        first_block: u64 = 80,
        name_bytes: u32 = 88,
        reserved_word: u32 = 92,
        reserved: [u64; 4] = 96,
        /// The program's name, UTF-8, `name_bytes` long.
        name: [u8; 64] = 128,
        /// The offset of the end of the last complete block. Other processes read the blocks up to this offset.
        /// Partner: `Contents::find_blocks`.
        used_bytes: AtomicU64 = 192,
        /// The number of changes of endpoint blocks and of keys of reader records. Partner: `Contents::refresh`.
        changes: AtomicU64 = 200,
        reserved_dynamic: [u64; 6] = 208,
        /// The log of the last 128 changes: the element at the index (number of the change modulo 128) is the offset /
        /// 64 of the changed block. The element is written before `changes` counts the change.
        change_log: [AtomicU32; 128] = 256,
    }

    /// The start of a block in a process file; blocks follow each other without gaps.
    BlockHeader: 64 bytes, align 64 {
        /// The size of the block, header included. It is set before `used_bytes` covers the block, and constant
        /// afterwards.
        size_bytes: u64 = 0,
        /// [`BLOCK_RECORDS`] or [`BLOCK_ENDPOINT`]. It is set and constant like `size_bytes`.
        kind: u32 = 8,
        reserved_word: u32 = 12,
        /// In an endpoint block, the version is odd while the block's words change, and rises by 2 with each change. In
        /// a block of reader records, the version rises by 1 after each change of a key. Partners:
        /// `Peer::read_endpoint` and `Contents::read_records`.
        version: AtomicU64 = 16,
        reserved: [u64; 5] = 24,
    }

    /// The start of an endpoint block's contents; the endpoint's description follows it.
    EndpointHeader: 64 bytes, align 64 {
        /// The length of the description, 0 = the block has no endpoint now.
        description_bytes: AtomicU64 = 0,
        /// The hash of the topic's name, by which other processes find the endpoints of a topic.
        topic_hash: AtomicU64 = 8,
        /// The number of samples that the endpoint copied into its own slots, or out of a publisher's slots. W: the
        /// endpoint. R: queries of connections.
        copied_samples: AtomicU64 = 16,
        /// The hash by which the topic's line on the board is found. W: the process. R: the reaper, after the process
        /// died.
        line_hash: AtomicU64 = 24,
        /// The role in the description. W: the process. R: other processes, which look for endpoints of one role.
        role: AtomicU64 = 32,
        /// The hash of a node's full name, by which other processes find nodes with the same name; 0 for a publisher or
        /// a subscription.
        node_hash: AtomicU64 = 40,
        /// The number of samples that a subscription lost or skipped since it matched their publishers. W: the
        /// subscription, and its control thread. R: queries of the graph, inspections.
        lost_samples: AtomicU64 = 48,
        reserved: [u64; 1] = 56,
    }

    /// The reader record of one subscription for one publisher, in the subscription's process file.
    #[cfg_attr(all(test, feature = "loom"), derive(Default))]
    ReaderRecord: 64 bytes, align 64 {
        /// The publisher's key, 0 = record is free. W: subscription. R: publishers, after a change of the generation.
        key: AtomicU64 = 0,
        /// The sequence of the next sample that the subscription will take; 0 = it wants all samples. W:
        /// subscription. R: the publisher.
        cursor: AtomicU64 = 8,
        /// The state of the record: [`READER_ACTIVE`], [`READER_GATING`], [`READER_EXTENSION`] or [`READER_LEFT`].
        /// W: subscription. R: the publisher.
        state: AtomicU32 = 16,
        /// The number of samples that the subscription wants the publisher to keep for it. W: subscription, before
        /// `key`. R: the publisher.
        depth: AtomicU32 = 20,
        /// The pins: sequences of samples that must not be overwritten; 0 = no pin. W: subscription. R: the publisher.
        /// Partners: the dead mark of the ring entry (SeqCst fences on both sides); for the release of a pin, the
        /// publisher's acquire fence before it reclaims.
        pins: [AtomicU64; 5] = 24,
    }

    /// The start of a publisher's file. W: the publisher. R: every process in the domain.
    #[cfg_attr(all(test, feature = "loom"), derive(Default))]
    PublisherHeader: 320 bytes, align 64 {
        file: FileHeader = 0,
        /// The key of this publisher, which its readers store in their reader records.
        key: u64 = 40,
        /// The gid of the publisher: 12 bytes of the process id, then 4 bytes with the endpoint's number.
        gid: [u8; 16] = 48,
        /// The largest payload; `u64::MAX` = no bound except the size of the file.
        payload_bytes: u64 = 64,
        /// The offset at which rings and slots start, a multiple of 64.
        memory_offset: u64 = 72,
        /// The offset of the endpoint's description.
        description_offset: u32 = 80,
        description_bytes: u32 = 84,
        domain_id: u32 = 88,
        /// The size of a ring's entry, a multiple of 64.
        entry_bytes: u32 = 92,
        /// CLOCK_REALTIME minus CLOCK_MONOTONIC when the publisher was made: the wall times of inline samples are
        /// stored as differences from this offset.
        wall_offset_ns: u64 = 96,
        /// The step of the wall clock since the publisher was made. It is added to `wall_offset_ns` for inline samples
        /// whose entries have the *renewed* flag. W: the publisher, when no entry refers to the previous value. R:
        /// subscriptions, between two loads of the entry.
        renewed_wall_shift_ns: AtomicU64 = 104,
        /// The hash by which the topic's line on the board is found; `topic_line` is the line that the publisher holds.
        /// Readers check that they hold the same line, because publisher and readers discover each other by the
        /// generations of the line.
        line_hash: u64 = 112,
        topic_line: u64 = 120,
        /// The descriptor of the ring: its offset / 64 in the upper half, log2 of its capacity in the lower half.
        /// Partner: the mark MOVED in the entries of a replaced ring.
        ring: AtomicU64 = 128,
        /// The last generation of the topic's readers that the publisher has processed: it honours the pins of readers
        /// that joined up to this generation. Partner: `TopicLine::readers_generation`.
        seen_generation: AtomicU64 = 136,
        /// The number of samples that are kept for readers that have not taken them yet.
        granted_depth: AtomicU64 = 144,
        /// While the publisher waits until a [`READER_GATING`] subscription takes: 1 + the index of the waiter line
        /// that this subscription rings. Otherwise 0.
        blocked: AtomicU64 = 152,
        /// [`PUBLISHER_LIVE`] or [`PUBLISHER_LEFT`].
        state: AtomicU32 = 160,
        reserved_word: u32 = 164,
        /// The time of the last publish, CLOCK_MONOTONIC; 0 = none yet. Stored before the sample's entry, and only if
        /// the publisher offers a deadline or, with MANUAL_BY_TOPIC, a lease duration. R: QoS events, which check
        /// deadlines and leases.
        published_ns: AtomicU64 = 168,
        /// The time at which the publisher was made or last asserted its liveliness, CLOCK_MONOTONIC. Stored under the
        /// same conditions as `published_ns`.
        asserted_ns: AtomicU64 = 176,
        reserved_dynamic: [u64; 1] = 184,
        /// The sequence of a recent sample, 0 = none yet. The publisher stores the newest sequence here once every
        /// [`SAMPLES_PER_HEAD_STORE`] samples; readers find newer samples in the ring.
        head: AtomicU64 = 192,
        reserved_line: [u64; 7] = 200,
        /// The sequence of the oldest sample that may be alive: a hint for readers that join or have fallen behind.
        tail: AtomicU64 = 256,
        reserved_end: [u64; 7] = 264,
    }

    /// The start of a ring's entry. Inline payload follows, up to [`PublisherHeader::entry_bytes`]. W: the
    /// publisher. R: subscriptions.
    #[cfg_attr(all(test, feature = "loom"), derive(Default))]
    RingEntry: 16 bytes, align 8 {
        /// The sequence of the sample, a mark whether it is dead, and its location (`protocol::entry`).
        word: AtomicU64 = 0,
        /// For a sample in a slot: its payload's length. For an inline sample: its time of publishing,
        /// CLOCK_MONOTONIC. `detail` is written after the dead mark of the entry's previous sample and before `word`.
        detail: AtomicU64 = 8,
    }

    /// The header before the payload of a sample. Guarded by the pin protocol (I4): written while the publisher alone
    /// owns the slot, read only under a checked pin. A subscription's private copy of an inline sample also has this
    /// header.
    #[derive(Clone, Copy)]
    SlotHeader: 64 bytes, align 64 {
        /// For services: the client whose request this sample answers.
        request_gid: [u8; 16] = 0,
        /// For services: the sequence of the request that this sample answers.
        request_sequence: u64 = 16,
        /// `request_gid` and `request_sequence` are valid if this word equals `sequence`; otherwise they belong to an
        /// earlier sample in this slot. While the slot is on loan, a word of all ones means that they are valid.
        request_valid_for: u64 = 24,
        /// The full sequence of the sample. A reader compares the sequence with its pin, because the sample's ring
        /// entry may belong to another sample by now.
        sequence: u64 = 32,
        /// Time of publishing, CLOCK_MONOTONIC.
        source_time_ns: u64 = 40,
        /// Time of publishing, CLOCK_REALTIME.
        source_wall_time_ns: u64 = 48,
        /// Length of the payload.
        length_bytes: u64 = 56,
    }

    /// The start of an endpoint's description, in an endpoint block and in the publisher's file. The node's name, the
    /// topic, the type's name and the type's definition follow as UTF-8, without separators.
    #[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
    DescriptionHeader: 168 bytes, align 8 {
        /// [`ROLE_PUBLISHER`], [`ROLE_SUBSCRIPTION`] or [`ROLE_NODE`].
        role: u32 = 0,
        domain_id: u32 = 4,
        gid: [u8; 16] = 8,
        /// The key of a publisher; 0 for a subscription; all ones for a subscription on another host that a
        /// bridge announces.
        key: u64 = 24,
        /// The number of the endpoint in its process; a publisher's file has this number in its name.
        number: u32 = 32,
        node_bytes: u32 = 36,
        topic_bytes: u32 = 40,
        type_name_bytes: u32 = 44,
        type_definition_bytes: u32 = 48,
        /// 0 KEEP_LAST, 1 KEEP_ALL.
        history: u32 = 52,
        depth: u32 = 56,
        /// 0 BEST_EFFORT, 1 RELIABLE.
        reliability: u32 = 60,
        /// 0 VOLATILE, 1 TRANSIENT_LOCAL.
        durability: u32 = 64,
        /// 0 AUTOMATIC, 1 MANUAL_BY_TOPIC.
        liveliness: u32 = 68,
        /// The deadline; `u64::MAX` = no limit, here and in the fields of lifespan and lease duration.
        deadline_ns: u64 = 72,
        lifespan_ns: u64 = 80,
        liveliness_lease_duration_ns: u64 = 88,
        avoid_ros_namespace_conventions: u32 = 96,
        reserved_word: u32 = 100,
        /// Largest payload; `u64::MAX` = no bound.
        payload_bytes: u64 = 104,
        /// RIHS01 hash of the type, all zero = not known.
        type_hash: [u8; 32] = 112,
        reserved: [u64; 3] = 144,
    }
}

/// The number of words of [`WaiterLine::ready`].
pub(crate) const READY_WORDS: usize = 6;
/// A waiter state: all news rings the waiter's bell.
pub(crate) const WAITER_PLAIN: u32 = 0;
/// A waiter state of a collector: news sets a bit in [`WaiterLine::ready`]; the waiter is awake and looks at the bits
/// before it sleeps.
pub(crate) const WAITER_AWAKE: u32 = 1;
/// A waiter state of a collector: the waiter sleeps, so news sets a bit and rings the bell.
pub(crate) const WAITER_ASLEEP: u32 = 2;

/// The kind of a block with [`RECORDS_PER_BLOCK`] reader records.
pub(crate) const BLOCK_RECORDS: u32 = 1;
/// The kind of a block with the description of one endpoint.
pub(crate) const BLOCK_ENDPOINT: u32 = 2;

/// The state of the reader record of a matched subscription.
pub(crate) const READER_ACTIVE: u32 = 1;
/// The state of a reader record with more pins for a subscription that holds many samples. The record's cursor and
/// depth mean nothing.
pub(crate) const READER_EXTENSION: u32 = 2;
/// The state of a reader record whose subscription is gone. The remaining pins belong to samples that are still held.
pub(crate) const READER_LEFT: u32 = 3;
/// The state of the reader record of a RELIABLE KEEP_ALL subscription. A RELIABLE KEEP_ALL publisher waits for the
/// cursor of this record.
pub(crate) const READER_GATING: u32 = 4;

/// The number of samples between two stores of the publisher's head, a power of two. Between two stores, the head's
/// cache line stays in the caches of readers that keep up. The loom models use a small number because they publish few
/// samples.
pub(crate) const SAMPLES_PER_HEAD_STORE: u64 = if cfg!(all(test, feature = "loom")) { 2 } else { 8 };
/// The state of a publisher that has not left.
pub(crate) const PUBLISHER_LIVE: u32 = 1;
/// The state of a publisher that left in an orderly way; the samples in its ring can still be taken.
pub(crate) const PUBLISHER_LEFT: u32 = 2;

/// The lowest bit of an inline sample's length in the entry's word.
pub(crate) const LENGTH_SHIFT: u32 = 52;
/// The lowest bit of the wall time in the entry's word, and the number of bits of the wall time.
pub(crate) const WALL_SHIFT: u32 = 32;
pub(crate) const WALL_BITS: u32 = 19;
/// The bit of the entry's word that selects the base of the wall time: set for the publisher's renewed offset, clear
/// for its first one.
pub(crate) const RENEWED_SHIFT: u32 = 51;
/// The offset of an inline payload in its entry.
pub(crate) const INLINE_OFFSET: usize = size_of::<RingEntry>();
/// The largest payload that an entry may hold.
pub(crate) const MAX_INLINE_BYTES: usize = 1024;

/// The size of a ring entry for inline payloads of up to `inline_bytes`, a multiple of a cache line.
pub(crate) const fn entry_bytes(inline_bytes: usize) -> usize {
    (INLINE_OFFSET + inline_bytes).next_multiple_of(LINE_BYTES)
}

/// The role of a publisher.
pub(crate) const ROLE_PUBLISHER: u32 = 1;
/// The role of a subscription.
pub(crate) const ROLE_SUBSCRIPTION: u32 = 2;
/// The role of a node, which may have no endpoints. The topic of a node's description is [`GRAPH_TOPIC`], and the
/// description has no type.
pub(crate) const ROLE_NODE: u32 = 3;
/// The topic whose generation counts the changes of the graph: every endpoint and node that comes or goes counts as a
/// reader of this topic.
pub(crate) const GRAPH_TOPIC: &str = "";

/// The offset of the payload in a slot. The payload starts on a cache line of its own, so that a small message is a
/// single line to fetch.
pub(crate) const PAYLOAD_OFFSET: usize = size_of::<SlotHeader>();
/// The alignment of every payload, in bytes.
pub const PAYLOAD_ALIGN: usize = 64;
const _: () = {
    assert!(PAYLOAD_OFFSET.is_multiple_of(PAYLOAD_ALIGN));
    assert!(PINS_PER_RECORD == 5 && (WAITER_WORDS == 8 || cfg!(all(test, feature = "loom"))));
};
/// The CDR encapsulation of every payload: XCDR1, little endian. Payloads are bodies without encapsulation; on ROS 2's
/// wire and in bags these four bytes precede the body.
pub const ENCAPSULATION: [u8; 4] = [0, 1, 0, 0];

// The order of a board: header, names of topic lines, topic lines, waiter lines.
/// The offset of the names of topic lines on a board: a word for each line that may have a name (`protocol::names`).
pub(crate) const BOARD_NAMES_OFFSET: usize = PAGE_BYTES;
/// The offset of the topic lines on a board.
pub(crate) const BOARD_TOPICS_OFFSET: usize = BOARD_NAMES_OFFSET + NAMED_LINES * size_of::<u64>();
/// The offset of the waiter lines on a board.
pub(crate) const BOARD_WAITERS_OFFSET: usize = BOARD_TOPICS_OFFSET + TOPIC_LINES * size_of::<TopicLine>();
/// The size of a board.
pub(crate) const BOARD_BYTES: usize = BOARD_WAITERS_OFFSET + WAITER_LINES * size_of::<WaiterLine>();

/// A hash of every struct, field, type and offset; files with another hash are refused.
pub(crate) const LAYOUT_HASH: u64 = {
    let (mut hash, mut index) = (fnv1a(FNV_OFFSET, LAYOUT.as_bytes()), 0);
    while index < CONSTANTS.len() {
        hash = fnv1a(hash, &CONSTANTS[index].to_le_bytes());
        index += 1;
    }
    hash
};

/// The numbers that are part of the format in addition to the structs.
const CONSTANTS: &[u64] = &[
    TOPIC_LINES as u64,
    BUCKET_LINES as u64,
    WAITER_LINES as u64,
    RECORDS_PER_BLOCK as u64,
    PAYLOAD_OFFSET as u64,
    BLOCK_RECORDS as u64,
    BLOCK_ENDPOINT as u64,
    READER_ACTIVE as u64,
    READER_EXTENSION as u64,
    READER_LEFT as u64,
    READER_GATING as u64,
    PUBLISHER_LIVE as u64,
    PUBLISHER_LEFT as u64,
    SAMPLES_PER_HEAD_STORE,
    MAX_INLINE_BYTES as u64,
    LENGTH_SHIFT as u64,
    WALL_SHIFT as u64,
    WALL_BITS as u64,
    RENEWED_SHIFT as u64,
    ROLE_PUBLISHER as u64,
    ROLE_SUBSCRIPTION as u64,
    ROLE_NODE as u64,
];

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// The hash FNV-1a with 64 bits, which is small, stable and `const`. It need not resist attacks, because topic names
/// and layouts do not come from attackers.
const fn fnv1a(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    hash
}

/// The number of changes in [`ProcessHeader::change_log`].
pub(crate) const LOGGED_CHANGES: u64 = 128;

/// The hash of the name of a topic or a node, by which processes find endpoints; never 0.
pub(crate) fn name_hash(name: &str) -> u64 {
    fnv1a(FNV_OFFSET, name.as_bytes()).max(1)
}

/// The hash by which a topic finds its line on the board; never 0. Topics whose names differ only after a `#` share a
/// line, because such topics come and go with the clients of a service.
pub(crate) fn line_hash(topic: &str) -> u64 {
    name_hash(topic.split_once('#').map_or(topic, |(shared, _)| shared))
}

/// The layout as text, for the golden file.
#[must_use]
pub fn describe() -> String {
    format!(
        "format version {FORMAT_VERSION}, layout hash {LAYOUT_HASH:016x}\n{LAYOUT}\n\
         board: topics at {BOARD_TOPICS_OFFSET} x {TOPIC_LINES}, waiters at {BOARD_WAITERS_OFFSET} x {WAITER_LINES}, \
         names at {BOARD_NAMES_OFFSET} x {NAMED_LINES}, {BOARD_BYTES} bytes\nslot: payload at {PAYLOAD_OFFSET}\nblock: {RECORDS_PER_BLOCK} records of {PINS_PER_RECORD} pins\n\
         entry: dead << 31 | sequence & 0x7fffffff, with offset / {LINE_BYTES} << 32 of the slot, or\n\
         inline << 63 | length << 52 | renewed << 51 | (wall time - time - offset, {WALL_BITS} bits) << 32\n\
         offset: wall_offset_ns + renewed * renewed_wall_shift_ns\n"
    )
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn topics_that_come_and_go_with_clients_share_a_line() {
        let clients = if cfg!(miri) { 20 } else { 1000 };
        let hashes =
            |name: &str| (0..clients).map(|client| line_hash(&format!("{name}{client}"))).collect::<BTreeSet<_>>();
        let of_clients = hashes("rr/addReply#");
        assert_eq!(of_clients.len(), 1);
        assert!(of_clients.is_disjoint(&hashes("rr/subReply#")));
        assert_eq!(hashes("/topic").len(), clients);
    }
}
