//! The parameters whose changes a viewer wants.

use std::collections::BTreeSet;

/// The largest total length of the names.
const MAX_BYTES: usize = 1 << 20;

/// A set of parameter names: either some names, or all names except some.
#[derive(Debug, Default)]
pub struct Wanted {
    is_all: bool,
    /// The wanted names; if `is_all`, the names that are not wanted.
    names: BTreeSet<String>,
}

impl Wanted {
    /// Adds these names; an empty list means all parameters.
    ///
    /// # Errors
    /// The total length of the names exceeds the limit; the error is a sentence for the viewer.
    pub fn add(&mut self, names: Vec<String>) -> Result<(), String> {
        match (names.is_empty(), self.is_all) {
            (true, _) => *self = Wanted { is_all: true, names: BTreeSet::new() },
            (_, true) => names.iter().for_each(|name| _ = self.names.remove(name)),
            (_, false) => self.extend(names)?,
        }
        Ok(())
    }

    /// Removes these names; an empty list means all parameters.
    ///
    /// # Errors
    /// See [`Wanted::add`].
    pub fn remove(&mut self, names: Vec<String>) -> Result<(), String> {
        match (names.is_empty(), self.is_all) {
            (true, _) => *self = Wanted::default(),
            (_, true) => self.extend(names)?,
            (_, false) => names.iter().for_each(|name| _ = self.names.remove(name)),
        }
        Ok(())
    }

    fn extend(&mut self, names: Vec<String>) -> Result<(), String> {
        let bytes = |names: &mut dyn Iterator<Item = &String>| names.map(String::len).sum::<usize>();
        if bytes(&mut self.names.iter()) + bytes(&mut names.iter()) > MAX_BYTES {
            return Err(format!(
                "the names of the parameters have more than {MAX_BYTES} bytes: subscribe to all of them"
            ));
        }
        self.names.extend(names);
        Ok(())
    }

    /// Whether changes of this parameter are wanted.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(name) != self.is_all
    }

    /// Whether no changes are wanted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.is_all && self.names.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn no_names_are_all_parameters() {
        let mut wanted = Wanted::default();
        wanted.add(names(&["/a.x"])).unwrap();
        assert!(wanted.has("/a.x") && !wanted.has("/a.y"));
        wanted.add(names(&[])).unwrap();
        wanted.remove(names(&["/a.x"])).unwrap();
        assert!(!wanted.has("/a.x") && wanted.has("/a.y"));
        wanted.add(names(&["/a.x"])).unwrap();
        assert!(wanted.has("/a.x") && !wanted.is_empty());
        wanted.remove(names(&[])).unwrap();
        assert!(!wanted.has("/a.x") && !wanted.has("/a.y") && wanted.is_empty());
    }

    #[test]
    fn the_bytes_of_the_names_are_bounded() {
        let mut wanted = Wanted::default();
        wanted.add(vec!["a".repeat(MAX_BYTES / 2)]).unwrap();
        assert!(wanted.add(vec!["b".repeat(MAX_BYTES / 2 + 1)]).unwrap_err().contains("more than 1048576 bytes"));
    }
}
