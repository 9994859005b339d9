//! Patterns of names. `*` matches any part of one chunk (the text between two slashes), `**` any number of chunks.

/// True if a name matches a pattern. The time of the check is at most proportional to the product of the two lengths.
pub fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<&str> = pattern.trim_matches('/').split('/').collect();
    let name: Vec<&str> = name.trim_matches('/').split('/').collect();
    wild(
        &pattern,
        &name,
        |chunk| *chunk == "**",
        |pattern, chunk| {
            let (pattern, chunk): (Vec<char>, Vec<char>) = (pattern.chars().collect(), chunk.chars().collect());
            wild(&pattern, &chunk, |c| *c == '*', |pattern, c| pattern == c)
        },
    )
}

/// Matches a pattern with items. Some parts of the pattern match any number of items. The search is greedy, and
/// backtracks only to the last of these parts.
fn wild<T>(pattern: &[T], items: &[T], is_any: impl Fn(&T) -> bool, is_same: impl Fn(&T, &T) -> bool) -> bool {
    let (mut at, mut item, mut retry) = (0, 0, None);
    while item < items.len() {
        match pattern.get(at) {
            Some(any) if is_any(any) => {
                retry = Some((at, item));
                at += 1;
            }
            Some(one) if is_same(one, &items[item]) => (at, item) = (at + 1, item + 1),
            _ => {
                let Some((any, taken)) = retry else { return false };
                retry = Some((any, taken + 1));
                (at, item) = (any + 1, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(is_any)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_parts_and_chunks() {
        for (pattern, name, is_match) in [
            ("/scan", "/scan", true),
            ("/scan", "/scans", false),
            ("/scan*", "/scans", true),
            ("/*", "/a/b", false),
            ("/**", "/a/b", true),
            ("**", "/a", true),
            ("/a/**", "/a", true),
            ("/a/**/c", "/a/b/b/c", true),
            ("/a/**/c", "/a/b/b/d", false),
            ("**/_action/cancel_goal", "/arm/_action/cancel_goal", true),
            ("**/_action/cancel_goal", "/_action/cancel_goal", true),
            ("/*_left/*mage*", "/cam_left/image_raw", true),
            ("", "/a", false),
        ] {
            assert_eq!(matches(pattern, name), is_match, "{pattern} {name}");
        }
    }

    #[test]
    fn a_hostile_pattern_takes_little_work() {
        let (pattern, name) = ("*a".repeat(200), "a".repeat(4000));
        assert!(matches(&pattern, &name));
        assert!(!matches(&format!("{pattern}b"), &name));
    }
}
