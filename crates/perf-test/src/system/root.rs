//! The files that describe the machine, below a root folder: `/`, or in tests a folder that replaces it.
//!
//! No content is trusted. A file that is missing, too long, malformed or no text gives `None`, and text with control
//! characters is rejected, so that it never reaches a terminal.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The largest part of a file that is read. `/proc/cpuinfo` of 1000 CPUs is shorter.
const MAX_FILE_BYTES: u64 = 4 << 20;
/// The longest line that is accepted. The kernel's command line is shorter.
const MAX_LINE_BYTES: usize = 8192;
/// The largest CPU number that is accepted.
const MAX_CPU: u32 = 16_383;

/// The root folder: `/`, or a folder that replaces it in tests.
#[derive(Clone, Debug)]
pub(crate) struct Root(PathBuf);

impl Root {
    pub(crate) fn new(root: &Path) -> Root {
        Root(root.to_owned())
    }

    /// The path of a file below the root. `path` does not start with `/`.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.0.join(path)
    }

    /// Whether the root is `/`, so that the files describe this machine.
    pub(crate) fn is_machine(&self) -> bool {
        self.0 == Path::new("/")
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// The whole content of a file; `None` if it is no text.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let mut bytes = Vec::new();
        File::open(self.path(path)).ok()?.take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
        String::from_utf8(bytes).ok()
    }

    /// The content of a file with one line, without surrounding white space and NULs; `None` if nothing is left.
    pub(crate) fn line(&self, path: &str) -> Option<String> {
        printable(&self.text(path)?)
    }

    /// The first word of a file.
    pub(crate) fn word(&self, path: &str) -> Option<String> {
        Some(self.line(path)?.split_whitespace().next()?.to_owned())
    }

    /// The number in a file that contains only a number.
    pub(crate) fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        self.line(path)?.parse().ok()
    }

    /// The number in a device file that contains a binary number in native byte order.
    pub(crate) fn binary_number(&self, path: &str) -> Option<i32> {
        let mut bytes = [0; 4];
        File::open(self.path(path)).ok()?.read_exact(&mut bytes).ok()?;
        Some(i32::from_ne_bytes(bytes))
    }

    /// The value of a file that contains 0 or 1.
    pub(crate) fn flag(&self, path: &str) -> Option<bool> {
        match self.number::<u8>(path)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// The CPU or node numbers in a file with a list such as `0-3,8`; empty if the list is empty.
    pub(crate) fn list(&self, path: &str) -> Option<Vec<u32>> {
        cpu_list(&self.text(path)?)
    }

    /// The choice in brackets of the given kind: `never` in `always madvise [never]`.
    pub(crate) fn chosen_in(&self, path: &str, (opening, closing): (char, char)) -> Option<String> {
        let line = self.line(path)?;
        let (_, after) = line.split_once(opening)?;
        Some(after.split_once(closing)?.0.to_owned())
    }

    /// The names in a folder that start with `prefix`. Names that end in a number are ordered by it.
    pub(crate) fn names(&self, folder: &str, prefix: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(folder)) else { return Vec::new() };
        let names = entries.flatten().filter_map(|entry| printable(entry.file_name().to_str()?));
        let mut names: Vec<String> = names.filter(|name| name.starts_with(prefix)).collect();
        names.sort_by_key(|name| (name[prefix.len()..].parse::<u32>().unwrap_or(u32::MAX), name.clone()));
        names
    }

    /// The names in a folder that consist of `prefix` and a number: `cpu0`, but not `cpufreq`.
    pub(crate) fn numbered(&self, folder: &str, prefix: &str) -> Vec<String> {
        let mut names = self.names(folder, prefix);
        names.retain(|name| name[prefix.len()..].parse::<u32>().is_ok());
        names
    }
}

/// Trims white space and NULs around one line of text; `None` if nothing is left, if the line is too long, or if it
/// contains control characters.
pub(crate) fn printable(text: &str) -> Option<String> {
    let text = text.trim_matches(|char: char| char.is_whitespace() || char == '\0');
    let good = !text.is_empty() && text.len() <= MAX_LINE_BYTES && !text.chars().any(char::is_control);
    good.then(|| text.to_owned())
}

/// The value after `name:` in a text that has a name and a value on each line, such as `/proc/self/status`.
pub(crate) fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':')).map(str::trim)
}

/// Parses a list of numbers such as `0-3,8`.
pub(crate) fn cpu_list(text: &str) -> Option<Vec<u32>> {
    let text = text.trim();
    if text.is_empty() || text == "(null)" {
        return Some(Vec::new());
    }
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        if last > MAX_CPU || first > last {
            return None;
        }
        numbers.extend(first..=last);
    }
    numbers.sort_unstable();
    numbers.dedup();
    Some(numbers)
}

/// Formats a list of numbers, such as `0-3,8`.
pub(crate) fn list_text(numbers: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => parts.push((*number, *number)),
        }
    }
    let text = |(first, last): &(u32, u32)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    parts.iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_read_and_written_as_the_kernel_does() {
        assert_eq!(cpu_list("0-3,8\n"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(list_text(&[0, 1, 2, 3, 8]), "0-3,8");
        assert_eq!((cpu_list("\n"), cpu_list(" (null)\n")), (Some(vec![]), Some(vec![])));
        for garbage in ["a", "3-1", "0-4000000000", "1,,2", "-1", "0-"] {
            assert_eq!(cpu_list(garbage), None, "{garbage}");
        }
    }

    #[test]
    fn text_for_a_terminal_has_no_escapes() {
        assert_eq!(printable("RDK X3\0"), Some("RDK X3".to_owned()));
        assert_eq!(printable(" \n"), None);
        assert_eq!(printable("\x1b[2Jhello"), None);
        assert_eq!(printable("two\nlines"), None);
    }

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let text = "Cpus_allowed_list:\t0-3\nmodel\t\t: 1\nmodel name\t: Cortex\n";
        assert_eq!(field(text, "Cpus_allowed_list"), Some("0-3"));
        assert_eq!((field(text, "model name"), field(text, "model")), (Some("Cortex"), Some("1")));
        assert_eq!(field(text, "Cpus"), None);
    }
}
