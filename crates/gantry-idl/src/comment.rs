//! Comments in definitions, from which documentation is generated.
//!
//! A field's comments are found as in ROS 2: the comment lines above the field, the comment after it on the same line,
//! and the indented comment lines below it.

/// The lines of one comment.
#[derive(Debug, Default)]
pub(crate) struct Comment {
    lines: Vec<String>,
}

impl Comment {
    /// Adds a line that begins with `#`.
    pub(crate) fn add(&mut self, line: &str) {
        // The comment is copied to generated code, so control characters are replaced by spaces.
        self.lines.push(line.trim_start_matches('#').trim_end().replace(char::is_control, " "));
    }

    /// Begins a new paragraph.
    pub(crate) fn add_gap(&mut self) {
        self.lines.push(String::new());
    }

    /// The text without common indentation. Empty lines at the start and the end are removed, and several empty lines
    /// in a row become one.
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
