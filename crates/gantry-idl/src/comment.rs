//! Comments of definitions, which become documentation.
//!
//! As in ROS 2, the comments of a field are the lines above it, the comment after it on the same line, and the
//! indented comments below it.

/// The lines of one comment.
#[derive(Debug, Default)]
pub(crate) struct Comment {
    lines: Vec<String>,
}

impl Comment {
    /// Adds a line that begins with `#`.
    pub(crate) fn add(&mut self, line: &str) {
        // The comment is copied to generated code, which must not contain control characters.
        self.lines.push(line.trim_start_matches('#').trim_end().replace(char::is_control, " "));
    }

    /// Begins a new paragraph.
    pub(crate) fn add_gap(&mut self) {
        self.lines.push(String::new());
    }

    /// The text without common indentation, without empty lines at its beginning and end, and with at most one
    /// empty line in succession.
    pub(crate) fn into_text(self) -> String {
        let indentation_of = |line: &String| line.len() - line.trim_start_matches(' ').len();
        let filled = self.lines.iter().filter(|line| !line.is_empty());
        let indentation = filled.map(indentation_of).min().unwrap_or(0);
        let mut text = String::new();
        for line in &self.lines {
            let is_gap_after_gap = line.is_empty() && (text.is_empty() || text.ends_with("\n\n"));
            if !is_gap_after_gap {
                text.push_str(line.get(indentation..).unwrap_or_default());
                text.push('\n');
            }
        }
        text.truncate(text.trim_end_matches('\n').len());
        text
    }
}
