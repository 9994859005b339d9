//! Tests of the documentation. Each crate is in `ARCHITECTURE.md`, and each path in a README's table "To change X, open
//! Y" exists. Comments and documents obey the rules of `STYLE.md` that a program can check.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The heading of the table of paths in a crate's README.
const MAP: &str = "## To change X, open Y";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// The folders that contain crates and bindings.
const SHELVES: &[&str] = &["bindings", "bridges", "crates", "viewers"];

/// The folders of the crates and bindings, from the root, each with the text of its README.
fn readmes() -> Vec<(String, String)> {
    let entries = |shelf: &&str| fs::read_dir(root().join(shelf)).unwrap().map(|entry| entry.unwrap().path());
    let folders = SHELVES.iter().flat_map(entries).filter(|path| path.join("README.md").exists());
    let names = folders.map(|path| path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned());
    let with_readme = |folder: String| {
        let readme = fs::read_to_string(root().join(&folder).join("README.md")).unwrap();
        (folder, readme)
    };
    names.chain(["recorder".to_owned()]).map(with_readme).collect()
}

#[test]
fn each_crate_has_a_readme() {
    let has_none = |path: &PathBuf| path.join("Cargo.toml").exists() && !path.join("README.md").exists();
    let entries = |shelf: &&str| fs::read_dir(root().join(shelf)).unwrap().map(|entry| entry.unwrap().path());
    let without: Vec<PathBuf> = SHELVES.iter().flat_map(entries).filter(has_none).collect();
    assert!(without.is_empty(), "{without:?}");
}

/// Returns the paths in the second column of a table: the code in backticks that contains a slash.
fn paths(map: &str) -> impl Iterator<Item = &str> {
    let cells = map.lines().filter_map(|line| line.strip_prefix('|')?.split('|').nth(1));
    let code = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    code.filter(|code| code.contains('/') && !code.contains(' '))
}

#[test]
fn each_path_to_open_exists() {
    let mut found = 0;
    for (folder, readme) in readmes() {
        let Some((_, map)) = readme.split_once(MAP) else { continue };
        for path in paths(map) {
            assert!(root().join(&folder).join(path).exists(), "{path}, in the README of {folder}");
            found += 1;
        }
    }
    assert!(found > 100, "{found} paths");
}

#[test]
fn the_architecture_names_each_crate() {
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for (folder, _) in readmes() {
        let link = format!("]({folder}/README.md)");
        assert!(architecture.contains(&link), "{link}");
    }
}

/// The largest width of a comment line in columns, as in `.editorconfig`.
const MAX_COLUMNS: usize = 120;

/// The extensions of source files, and the marks with which a line of comment begins in such a file.
const LANGUAGES: &[(&str, &[&str])] = &[
    ("rs", &["//"]),
    ("c", &["//", "/*", "* "]),
    ("h", &["//", "/*", "* "]),
    ("cpp", &["//", "/*", "* "]),
    ("hpp", &["//", "/*", "* "]),
    ("js", &["//", "/*", "* "]),
    ("mjs", &["//", "/*", "* "]),
    ("py", &["#"]),
    ("sh", &["#"]),
    ("toml", &["#"]),
    ("yml", &["#"]),
    // Scripts: files without an extension that begin with `#!`.
    ("", &["#"]),
];

/// The folders whose files must obey `STYLE.md`.
const FOLDERS: &[&str] = &[
    ".ci",
    ".github",
    "bindings",
    "bridges",
    "contestants",
    "crates",
    "docs",
    "examples",
    "firmware",
    "fuzz",
    "recorder",
    "tools",
    "viewers",
];
const DOCUMENTS: &[&str] = &["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"];

/// Returns the files below folders, at any depth, whose names have this extension; scripts for an empty extension.
fn files(folders: &[&str], extension: &str) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true if !["target", "node_modules"].iter().any(|made| path.ends_with(made)) => folders.push(path),
                true => {}
                false => {
                    let has_extension = |path: &PathBuf| path.extension().unwrap_or_default() == extension;
                    let is_text = |path: &PathBuf| {
                        !extension.is_empty() || fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"#!"))
                    };
                    found.extend(Some(path).filter(has_extension).filter(is_text));
                }
            }
        }
    }
    found
}

/// Returns each source file with its text and the marks of its comments.
fn sources() -> impl Iterator<Item = (PathBuf, String, &'static [&'static str])> {
    let paths = |(extension, marks): &(&str, &'static [&'static str])| {
        let marks = *marks;
        files(FOLDERS, extension).into_iter().map(move |path| (path, marks))
    };
    LANGUAGES.iter().flat_map(paths).map(|(path, marks)| {
        let text = fs::read_to_string(&path).unwrap();
        (path, text, marks)
    })
}

/// Returns the text of a line if the line is a comment, otherwise an empty text.
fn comment_of<'a>(line: &'a str, marks: &[&str]) -> &'a str {
    marks.iter().find_map(|mark| line.trim_start().strip_prefix(mark)).unwrap_or_default()
}

#[test]
fn comments_are_no_wider_than_a_line() {
    let mut wide = Vec::new();
    for (path, source, marks) in sources() {
        let mut is_code = false;
        for (index, line) in source.lines().enumerate() {
            let text = comment_of(line, marks).trim_start_matches(['/', '!', '*']).trim_start();
            is_code ^= text.starts_with("```");
            // A table row, code, or a word without a space cannot be wrapped.
            let can_wrap = !is_code && !text.starts_with('|') && text.contains(' ');
            if can_wrap && line.chars().count() > MAX_COLUMNS {
                wide.push(format!("{}:{}", path.display(), index + 1));
            }
        }
    }
    assert!(wide.is_empty(), "wider than {MAX_COLUMNS} columns: {wide:#?}");
}

/// Returns the words that `STYLE.md` forbids: the code in backticks in its line "Forbidden".
fn forbidden_words() -> Vec<String> {
    let style = fs::read_to_string(root().join("STYLE.md")).unwrap();
    let line = style.lines().find(|line| line.starts_with("- Forbidden:")).unwrap();
    line.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Returns the first forbidden word of a text.
fn forbidden<'a>(words: &'a [String], text: &str) -> Option<&'a String> {
    let text = text.to_ascii_lowercase();
    let may_have = |word: &String| word.split(' ').all(|part| text.contains(part));
    if !words.iter().any(may_have) {
        return None; // a fast exit for nearly every line
    }
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let plain: String = text.chars().map(|c| if is_letter(c) { c } else { ' ' }).collect();
    let plain = format!(" {} ", plain.split_whitespace().collect::<Vec<_>>().join(" "));
    words.iter().find(|word| plain.contains(&format!(" {word} ")))
}

/// Returns the forbidden words in lines, with the line numbers. A forbidden phrase may continue on the next line.
fn faults(path: &Path, words: &[String], lines: &[&str]) -> Vec<String> {
    let next = lines.iter().skip(1).chain([&""]);
    let pairs = lines.iter().zip(next).enumerate();
    let found =
        pairs.filter_map(|(index, (line, next))| Some((index + 1, forbidden(words, &format!("{line} {next}"))?)));
    found.map(|(number, word)| format!("{}:{number}: {word}", path.display())).collect()
}

#[test]
fn comments_and_documents_have_no_forbidden_word() {
    let words = forbidden_words();
    assert!(words.len() > 5, "{words:?}");
    let mut found = Vec::new();
    for (path, source, marks) in sources() {
        found.extend(faults(&path, &words, &source.lines().map(|line| comment_of(line, marks)).collect::<Vec<_>>()));
    }
    for path in files(FOLDERS, "msg").into_iter().chain(files(FOLDERS, "srv")) {
        let source = fs::read_to_string(&path).unwrap();
        let comments = source.lines().map(|line| line.split_once('#').map_or("", |(_, comment)| comment));
        found.extend(faults(&path, &words, &comments.collect::<Vec<_>>()));
    }
    let documents = DOCUMENTS.iter().map(|name| root().join(name));
    for path in documents.chain(files(FOLDERS, "md")) {
        let text = fs::read_to_string(&path).unwrap();
        found.extend(faults(&path, &words, &text.lines().collect::<Vec<_>>()));
    }
    assert!(found.is_empty(), "STYLE.md forbids: {found:#?}");
}

/// Returns, for each line of Rust code, its texts in quotation marks, without the names in braces. Comments, and texts
/// of a single word, which are names, are left out.
fn texts(source: &str) -> Vec<String> {
    let (mut lines, mut is_text) = (Vec::new(), false);
    for line in source.lines() {
        let is_comment = !is_text && line.trim_start().starts_with("//");
        let code = line.replace("\\\\", "  ").replace("\\\"", "  ").replace("'\"'", "   ");
        let mut shown = String::new();
        let last = code.matches('"').count();
        for (index, part) in code.split('"').enumerate().filter(|_| !is_comment) {
            let is_name = index > 0 && index < last && !part.contains(' ');
            if is_text && !is_name {
                let plain = part.split('{').map(|part| part.split_once('}').map_or(part, |(_, after)| after));
                shown.extend(plain.chain([" "]));
            }
            is_text ^= index < last;
        }
        lines.push(shown);
    }
    lines
}

#[test]
fn texts_of_programs_have_no_forbidden_word() {
    let words = forbidden_words();
    let found = files(FOLDERS, "rs").into_iter().flat_map(|path| {
        let lines = texts(&fs::read_to_string(&path).unwrap());
        faults(&path, &words, &lines.iter().map(String::as_str).collect::<Vec<_>>())
    });
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "STYLE.md forbids: {found:#?}");
}

#[test]
fn only_constructors_are_called_of() {
    let mut found = Vec::new();
    for path in files(FOLDERS, "rs") {
        let source = fs::read_to_string(&path).unwrap();
        for (index, line) in source.lines().enumerate() {
            let Some((before, name)) = line.split_once("fn of") else { continue };
            let is_constructor = before.starts_with(' ') && name.starts_with('_') && !name.contains("self");
            let is_name = name.starts_with(['_', '(', '<']);
            found.extend((is_name && !is_constructor).then(|| format!("{}:{}", path.display(), index + 1)));
        }
    }
    assert!(found.is_empty(), "a function is a noun or a verb: {found:#?}");
}

/// Words with which no comment may begin, because a comment begins with a noun or a verb.
const FIRST_WORDS: &[&str] = &["Also ", "If ", "Of ", "What ", "Whatever ", "Who ", "Whoever "];

#[test]
fn comments_begin_with_a_noun_or_a_verb() {
    let mut found = Vec::new();
    for (path, source, marks) in sources() {
        let text_of = |line| comment_of(line, marks).trim_start_matches(['/', '!', '*']).trim();
        let mut before = "";
        for (index, line) in source.lines().enumerate() {
            let (is_first, text) = (text_of(before).is_empty(), text_of(line));
            if is_first && FIRST_WORDS.iter().any(|word| text.starts_with(word)) {
                found.push(format!("{}:{}", path.display(), index + 1));
            }
            before = line;
        }
    }
    assert!(found.is_empty(), "a comment begins with one of {FIRST_WORDS:?}: {found:#?}");
}

#[test]
fn no_file_keeps_the_marks_of_a_merge() {
    let marks = |line: &str| ["<<<<<<< ", ">>>>>>> "].iter().any(|mark| line.starts_with(mark));
    let documents = DOCUMENTS.iter().map(|name| root().join(name));
    let folders = ["md", "rs", "toml", "py", "hpp"].into_iter().flat_map(|extension| files(FOLDERS, extension));
    for path in documents.chain(folders) {
        let text = fs::read_to_string(&path).unwrap();
        let marked = text.lines().position(marks);
        assert!(marked.is_none(), "{}:{}: a merge was left unfinished", path.display(), marked.unwrap_or(0) + 1);
    }
}
