//! The check whether the messages of a type have a fixed size, from the text of the type's definition. This crate has
//! no full parser of definitions: `gantry-idl` compiles definitions at build time, and a publisher needs only this
//! property.

/// Whether all messages of this definition have the same length. This is the case if all nested types are defined, and
/// no type has strings or sequences.
pub(super) fn is_fixed_size(definition: &str) -> bool {
    const NUMBERS: [&str; 13] = [
        "bool", "byte", "char", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
        "uint64",
    ];
    let nested: Vec<&str> = definition.lines().filter_map(|line| line.strip_prefix("MSG: ")).map(str::trim).collect();
    let mut types = definition
        .lines()
        .filter(|line| !line.starts_with("MSG: ") && !line.starts_with(['=', '#']))
        .filter_map(|line| line.split_whitespace().next())
        .peekable();
    types.peek().is_some()
        && types.all(|field| {
            let (base, count) = field.split_at(field.find('[').unwrap_or(field.len()));
            (NUMBERS.contains(&base) || nested.contains(&base)) && !matches!(count.as_bytes(), [b'[', b']' | b'<', ..])
        })
}

#[cfg(test)]
mod tests {
    use super::is_fixed_size;

    #[test]
    fn a_definition_shows_whether_the_size_is_fixed() {
        let separator = "=".repeat(80);
        for fixed in ["float64 x\nfloat64 y\n", "uint8[16] id", &format!("a/P[2] p\n{separator}\nMSG: a/P\nbool x\n")] {
            assert!(is_fixed_size(fixed), "{fixed}");
        }
        let unknown = format!("a/P p\na/Q q\n{separator}\nMSG: a/P\nbool x\n");
        for other in ["", "string s", "string<=3 s", "wstring w", "uint8[] d", "uint8[<=3] d", "a/P p", &unknown] {
            assert!(!is_fixed_size(other), "{other}");
        }
    }
}
