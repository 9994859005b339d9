//! The patterns of the operator LIKE.

/// A text with wildcards: `%` and `*` match any number of characters, `_` and `?` match one character. The DDS standard
/// has `%` and `_`; Fast DDS, ROS 2's default, also has `*` and `?`.
#[derive(Clone, Debug)]
pub(super) struct Pattern(Box<[char]>);

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        Self(text.chars().collect())
    }

    /// Whether the whole text matches the pattern. Allocates nothing. The time is at most proportional to the product
    /// of both lengths.
    pub(super) fn matches(&self, mut text: impl Iterator<Item = char> + Clone) -> bool {
        let pattern = &self.0;
        let mut position = 0;
        // For the last `%` or `*`: the position after it in the pattern, and the text after the characters that it
        // matches.
        let mut many = None;
        loop {
            match pattern.get(position) {
                Some('%' | '*') => {
                    position += 1;
                    many = Some((position, text.clone()));
                    continue;
                }
                wanted => match (wanted, text.next()) {
                    (None, None) => return true,
                    (Some(_), None) => return false,
                    (Some(wanted), Some(char)) if matches!(wanted, '_' | '?') || *wanted == char => {
                        position += 1;
                        continue;
                    }
                    (_, Some(_)) => {}
                },
            }
            // Lets the wildcard match one more character, and tries again.
            let Some((behind, rest)) = &mut many else { return false };
            if rest.next().is_none() {
                return false;
            }
            (position, text) = (*behind, rest.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decides a match by simple recursion, which is slow. The test compares the fast function with it.
    fn matches_slowly(pattern: &[char], text: &[char]) -> bool {
        match (pattern, text) {
            ([], text) => text.is_empty(),
            (['%' | '*', rest @ ..], text) => (0..=text.len()).any(|skipped| matches_slowly(rest, &text[skipped..])),
            (['_' | '?', pattern @ ..], [_, text @ ..]) => matches_slowly(pattern, text),
            ([wanted, pattern @ ..], [char, text @ ..]) => wanted == char && matches_slowly(pattern, text),
            (_, []) => false,
        }
    }

    #[test]
    fn wildcards_stand_for_any_characters_or_one() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("", "a", false),
            ("%", "", true),
            ("front_%", "front_left", true),
            ("front_%", "front_", true),
            ("fr_nt", "frönt", true),
            ("%left", "front_left", true),
            ("%left", "left_front", false),
            ("a*c?e", "abbcde", true),
            ("a.c", "abc", false),
        ] {
            assert_eq!(Pattern::new(pattern).matches(text.chars()), expected, "{text} LIKE {pattern}");
        }
    }

    #[test]
    fn random_patterns_match_by_definition() {
        let mut rng = fastrand::Rng::with_seed(37);
        for _ in 0..if cfg!(miri) { 50 } else { 20_000 } {
            let [pattern, text]: [Vec<char>; 2] = ["ab%_", "ab"].map(|letters| {
                let letters: Vec<char> = letters.chars().collect();
                (0..rng.usize(..9)).map(|_| letters[rng.usize(..letters.len())]).collect()
            });
            let found = Pattern::new(&pattern.iter().collect::<String>()).matches(text.iter().copied());
            assert_eq!(found, matches_slowly(&pattern, &text), "{text:?} LIKE {pattern:?}");
        }
    }
}
