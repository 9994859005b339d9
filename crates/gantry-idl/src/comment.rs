//! Comments become documentation.
//!
//! As in ROS 2: those above a field and the one behind it are the field's, and so are the indented ones below it.

/// Collects the lines of one comment.
#[derive(Debug, Default)]
pub(crate) struct Comment {
    lines: Vec<String>,
}

impl Comment {
    /// A line beginning with `#`.
    pub(crate) fn add(&mut self, line: &str) {
        // A control character would be one in generated code too.
        self.lines.push(line.trim_start_matches('#').trim_end().replace(char::is_control, " "));
    }

    /// What follows stands in a paragraph of its own.
    pub(crate) fn add_gap(&mut self) {
        self.lines.push(String::new());
    }

    /// Without what all lines are indented by, empty lines around, and several empty lines in a row.
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
