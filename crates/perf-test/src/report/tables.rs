//! Tables as boxes of text, single or side by side, in the form of performance_test's tables.
//!
//! A column is as wide as its widest cell. Cells are left-aligned.

/// A box with a title and rows, as lines of text.
#[must_use]
pub fn table(title: &str, rows: &[Vec<String>]) -> Vec<String> {
    let widths = widths(rows);
    let rule: String = widths.iter().map(|width| format!("+{}", "-".repeat(width + 2))).collect::<String>() + "+";
    let mut lines = vec![title.to_owned(), String::new(), rule.clone()];
    for row in rows {
        let cells: String = widths
            .iter()
            .enumerate()
            .map(|(column, width)| format!("| {:<width$} ", row.get(column).map_or("", String::as_str)))
            .collect();
        lines.push(cells + "|");
        lines.push(rule.clone());
    }
    lines
}

/// Places the two blocks of each pair side by side, and the pairs one below the other. All right blocks start in the
/// same column.
#[must_use]
pub fn side_by_side(pairs: &[(Vec<String>, Vec<String>)]) -> Vec<String> {
    let left_width = pairs.iter().flat_map(|(left, _)| left).map(|line| line.chars().count()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (left, right) in pairs {
        for i in 0..left.len().max(right.len()) {
            let (left, right) = (left.get(i).map_or("", String::as_str), right.get(i).map_or("", String::as_str));
            lines.push(format!("{left:<left_width$}   {right}").trim_end().to_owned());
        }
        lines.push(String::new());
    }
    lines
}

/// The rows as a Markdown table. The first row is the header.
#[must_use]
pub fn markdown_table(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.first().map_or(0, Vec::len);
    let mut lines = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let cells: Vec<String> =
            (0..columns).map(|column| row.get(column).cloned().unwrap_or_default().replace('|', "\\|")).collect();
        lines.push(format!("| {} |", cells.join(" | ")));
        if index == 0 {
            lines.push(format!("|{}", " --- |".repeat(columns)));
        }
    }
    lines
}

/// The cells of one row, as owned texts.
pub fn cells<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).into()
}

/// The widths of the table's columns, in characters.
#[must_use]
pub fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    (0..columns).map(|column| width(column).unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_widen_their_column_only() {
        let lines = table("t", &[cells(["a", "bb"]), cells(["long", "c"])]);
        let expected = ["t", "", "+------+----+", "| a    | bb |", "+------+----+", "| long | c  |", "+------+----+"];
        assert_eq!(lines, expected);
    }

    #[test]
    fn right_hand_tables_are_aligned_below_each_other() {
        let wide = table("wide", &[cells(["123456"])]);
        let small = table("small", &[cells(["1"])]);
        let lines = side_by_side(&[(wide.clone(), small.clone()), (small.clone(), small)]);
        let column = lines[0].find("small").unwrap();
        assert_eq!(lines.iter().filter(|line| line.get(column..) == Some("| 1 |")).count(), 2);
        assert_eq!(lines[6].get(column..), Some("small"));
    }
}
