//! The processes that a publisher must see before it reclaims, while files of any process may be removed.
//!
//! A process is *listed* if its file's name is in the domain's directory. It is *unlisted* if it lives, as the owner
//! of waiter lines on the board, and its file has no name. The pins of an unlisted process cannot be read, and the
//! name does not come back. Three steps on each side, in this order:
//!
//! - reader: makes its record; raises the generation of the topic's readers (G); looks for its own name, and takes only
//!   if it is there.
//! - publisher: reads the unlisted processes (`unlisted_before`); becomes findable (F), so that readers make records;
//!   then, for each roster, reads the generation and lists the processes. It reclaims only under the generation of its
//!   roster (2).
//!
//! The name of a reader's process may be lost at any time:
//!
//! | the name is lost | the reader | the publisher |
//! | --- | --- | --- |
//! | before `unlisted_before` is read | finds no name after G, since G is after F: takes nothing | ignores it for good |
//! | after that, before a reader's look at the name | finds no name: takes nothing | may not know that: reclaims nothing while the process lives |
//! | after that look, before the publisher's listing | takes, and pins | finds it unlisted: reclaims nothing while the process lives |
//! | after the listing | takes, and pins | has it in the list of peers, which it keeps by its open file: reads its pins |
//!
//! The look at the name must follow F: a name that is there after F was there when `unlisted_before` was read, so
//! the publisher does not ignore that process. The look must follow G, too, for a process that owns no line of the
//! board because all were taken, and that is therefore never found unlisted: such a process is harmed only by a loss
//! between the look and the listing.
//!
//! The owners are read before the listing (`Domain::listed`): a process has its name before its lines, and in an
//! orderly end frees these before its name is removed, so a process that comes or leaves meanwhile does not count as
//! unlisted.

/// Finds an unlisted process that may have joined the publisher. `unlisted_before` are the processes that were
/// unlisted before the publisher could be found: these cannot have joined it.
pub(crate) fn may_have_joined(unlisted: &[u64], unlisted_before: &[u64]) -> Option<u64> {
    unlisted.iter().find(|owner| !unlisted_before.contains(owner)).copied()
}
