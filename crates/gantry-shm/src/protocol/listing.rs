//! The rule by which a publisher finds the processes of all its readers before it reclaims a slot, although the file of
//! any process may be removed at any time.
//!
//! A process is *listed* if the name of its file is in the domain's directory. A process is *unlisted* if it lives (it
//! owns waiter lines on the board) and its file has no name. The pins of an unlisted process cannot be read, and a lost
//! name does not come back. Each side takes three steps, in this order:
//!
//! - reader: makes its reader record; raises the generation of the topic's readers (step G); looks for the name of its
//!   process file, and takes samples only if the name exists.
//! - publisher: reads the unlisted processes (`unlisted_before`); becomes findable (step F), so that readers make
//!   records; then, for each roster (list of reader records), reads the generation and lists the processes. It reclaims
//!   only while the generation is the one of its roster (pair 2).
//!
//! The name of a reader's process may be lost at any time:
//!
//! | the name is lost | the reader | the publisher |
//! | --- | --- | --- |
//! | before `unlisted_before` is read | finds no name after G, since G is after F: takes nothing | ignores the process for good |
//! | after that, before the reader's look at the name | finds no name: takes nothing | finds it unlisted: reclaims nothing while the process lives |
//! | after that look, before the publisher's listing | takes, and pins | finds it unlisted: reclaims nothing while the process lives |
//! | after the listing | takes, and pins | keeps the process in its list of peers, with an open file: reads its pins |
//!
//! A reader must look for its name after step F: a name that exists after F also existed when `unlisted_before` was
//! read, so the publisher does not ignore that process. The reader must also look after step G. The reason is a process
//! that owns no waiter line because all lines were taken: the publisher never finds such a process unlisted. The order
//! leaves only one danger for it, a loss of its name between the look and the listing.
//!
//! The publisher reads the owners of waiter lines before it lists the directory (`Domain::listed`). A process gets its
//! name before its waiter lines, and in an orderly end frees the lines before it removes the name. So a process that
//! joins or leaves meanwhile does not count as unlisted.

/// Finds an unlisted process that may have joined the publisher. `unlisted_before` are the processes that were
/// unlisted before the publisher could be found: these cannot have joined it.
pub(crate) fn may_have_joined(unlisted: &[u64], unlisted_before: &[u64]) -> Option<u64> {
    unlisted.iter().find(|owner| !unlisted_before.contains(owner)).copied()
}
