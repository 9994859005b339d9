//! Text from logs within HTML. The text is escaped, so it cannot become markup or a script.

/// Escapes a text for use between tags or in an attribute with double quotes.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Escapes JSON for a `script` element. Without `<`, the JSON cannot end the element or open a comment.
pub fn json_in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// Replaces each `{{name}}` of a template by its value. A `{{name}}` within a value is not replaced.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut parts = template.split("{{");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("}}").unwrap_or((part, ""));
        filled.push_str(values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value));
        filled.push_str(rest);
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_become_markup() {
        assert_eq!(escape("<b a='1' c=\"2\">&"), "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;");
        let json = json_in_script(r#"{"a":"</script><!--"}"#);
        assert!(!json.contains('<'), "{json}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()["a"], "</script><!--");
    }

    #[test]
    fn values_are_not_searched_for_places() {
        assert_eq!(fill("{{a}}-{{b}}-{{none}}.", &[("a", "{{b}}"), ("b", "1")]), "{{b}}-1-.");
    }
}
