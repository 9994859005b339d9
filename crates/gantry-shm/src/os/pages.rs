//! The kernel's pages, which may be larger than the unit of the files' lengths
//! ([`PAGE_BYTES`](crate::protocol::layout)): 16 or 64 KiB with some kernels of aarch64. The kernel rounds lengths up
//! to whole pages, but takes no address inside a page.

use std::ops::Range;

/// The size of a page.
pub(crate) fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// The pages of `page_bytes` in which the bytes of `range` lie.
pub(crate) fn whole_pages(range: Range<usize>, page_bytes: usize) -> Range<usize> {
    range.start / page_bytes * page_bytes..range.end.next_multiple_of(page_bytes)
}

/// The first byte of `range`, and the bytes in it at which a further page begins.
pub(crate) fn first_bytes(range: Range<usize>, page_bytes: usize) -> impl Iterator<Item = usize> {
    let further = ((range.start + 1).next_multiple_of(page_bytes)..range.end).step_by(page_bytes);
    Some(range.start).filter(|_| !range.is_empty()).into_iter().chain(further)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIBIBYTE: usize = 1 << 10;

    #[test]
    fn ranges_are_rounded_to_pages_of_any_size() {
        let range = 20 * KIBIBYTE..72 * KIBIBYTE; // whole pages of 4 KiB
        for (page, expected) in [(4, 20..72), (16, 16..80), (64, 0..128)] {
            let pages = whole_pages(range.clone(), page * KIBIBYTE);
            assert_eq!(pages, expected.start * KIBIBYTE..expected.end * KIBIBYTE, "pages of {page} KiB");
        }
        assert_eq!(whole_pages(0..0, 4 * KIBIBYTE), 0..0);
    }

    #[test]
    fn a_byte_of_each_page_is_touched() {
        let kibibytes = |range: Range<usize>, page: usize| -> Vec<usize> {
            let bytes = first_bytes(range.start * KIBIBYTE..range.end * KIBIBYTE, page * KIBIBYTE);
            bytes.map(|byte| byte / KIBIBYTE).collect()
        };
        assert_eq!(kibibytes(20..36, 4), [20, 24, 28, 32]);
        assert_eq!(kibibytes(20..72, 16), [20, 32, 48, 64]);
        assert_eq!(kibibytes(20..72, 64), [20, 64]);
        assert_eq!(kibibytes(20..64, 64), [20]);
        assert_eq!(kibibytes(20..20, 64), []);
    }
}
