//! Documents: a client's XML as a map from the path of each element to its text.

use quick_xml::{Reader, escape::unescape, events::Event};
use std::collections::BTreeMap;

/// The largest length of a document. PX4's document has less than 512 bytes.
const MAX_BYTES: usize = 16 << 10;
/// The largest length of a path. It also limits the depth of nesting.
const MAX_PATH_BYTES: usize = 128;
/// The elements around an object, which have no information about it and are left out of the paths.
const WRAPPERS: [&str; 2] = ["dds", "profiles"];

/// The texts of elements by their paths, such as `data_writer/topic/name`, and of attributes, such as
/// `requester@service_name`. If several elements have the same path, the first one counts, because it belongs to the
/// first profile of the document.
#[derive(Debug, Default)]
pub struct Document(BTreeMap<String, String>);

impl Document {
    /// Reads a document, which may be empty. The document is not checked against a schema. Attributes may lack the
    /// space between them, because eProsima's examples lack it. Only XML's own entities are allowed.
    ///
    /// # Errors
    /// A sentence that states the fault.
    pub fn read(xml: &str) -> Result<Document, String> {
        if xml.len() > MAX_BYTES {
            return Err(format!("its XML has {} bytes, and the agent reads at most {MAX_BYTES}", xml.len()));
        }
        let mut reader = Reader::from_str(xml);
        reader.config_mut().expand_empty_elements = true;
        let mut document = Document::default();
        let mut path = Path::default();
        let mut text = String::new();
        loop {
            let event = reader.read_event().map_err(|error| format!("its XML cannot be read: {error}"))?;
            match event {
                Event::Start(element) => {
                    path.enter(element.local_name().as_ref())?;
                    text.clear();
                    // Attributes are found by their local names. Malformed attributes, such as a value without its
                    // closing quotation mark, are ignored.
                    for attribute in element.attributes().with_checks(false).flatten() {
                        let name = format!("{}@{}", path.text, attribute.key.local_name().as_ref());
                        document.add(name, &unescaped(&attribute.value)?);
                    }
                }
                Event::End(_) => {
                    document.add(path.text.clone(), &text);
                    path.leave();
                    text.clear();
                }
                Event::Text(part) => text.push_str(&part),
                Event::CData(part) => text.push_str(&part),
                Event::GeneralRef(entity) => text.push_str(&unescaped(&format!("&{};", &*entity))?),
                Event::Eof if path.ends.is_empty() => return Ok(document),
                Event::Eof => return Err(format!("its XML ends inside <{}>", path.text)),
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
                Event::Empty(_) => {} // the reader reports this tag as a start and an end
            }
        }
    }

    fn add(&mut self, path: String, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            self.0.entry(path).or_insert_with(|| text.to_owned());
        }
    }

    /// The text of an element or an attribute. An element without text counts as missing.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// The paths below an element, without the element's own path.
    pub fn below<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.keys().filter_map(move |known| known.strip_prefix(path)?.strip_prefix('/'))
    }
}

/// The path of the current element, and the length of each parent's path.
#[derive(Default)]
struct Path {
    text: String,
    ends: Vec<usize>,
}

impl Path {
    fn enter(&mut self, name: &str) -> Result<(), String> {
        self.ends.push(self.text.len());
        if self.text.is_empty() && WRAPPERS.contains(&name) {
            // A wrapper adds nothing to the path, so the number of nested wrappers is limited here.
            return if self.ends.len() <= MAX_PATH_BYTES { Ok(()) } else { Err(too_deep()) };
        }
        if !self.text.is_empty() {
            self.text.push('/');
        }
        self.text.push_str(name);
        if self.text.len() <= MAX_PATH_BYTES { Ok(()) } else { Err(too_deep()) }
    }

    fn leave(&mut self) {
        self.text.truncate(self.ends.pop().unwrap_or(0));
    }
}

fn too_deep() -> String {
    format!("its XML has elements whose names are longer than {MAX_PATH_BYTES} bytes together")
}

fn unescaped(text: &str) -> Result<String, String> {
    unescape(text).map(Into::into).map_err(|error| format!("its XML cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_attributes_have_paths() {
        let xml = "<?xml version=\"1.0\"?><dds><profiles><!-- the first --><topic profile_name='one'>\n <name> a&amp;b </name>\
                   <kind/><name>second</name><dataType><![CDATA[T<1>]]></dataType></topic></profiles></dds>";
        let document = Document::read(xml).unwrap();
        assert_eq!(document.text("topic/name"), Some("a&b"));
        assert_eq!(document.text("topic/dataType"), Some("T<1>"));
        assert_eq!(document.text("topic@profile_name"), Some("one"));
        assert_eq!(document.text("topic/kind"), None);
        assert_eq!(document.below("topic").collect::<Vec<_>>(), ["dataType", "name"]);
        assert!(Document::read("").unwrap().0.is_empty());
        // eProsima's example RequestAdder has no space between its attributes.
        let joined = Document::read("<dds><requester profile_name=\"r\"service_name=\"s\"></requester></dds>").unwrap();
        assert_eq!(joined.text("requester@service_name"), Some("s"));
    }

    #[test]
    fn defects_are_sentences() {
        for (xml, expected) in [
            ("<dds><topic>".to_owned(), "ends inside <topic>"),
            ("<topic></publisher>".to_owned(), "cannot be read"),
            ("<a>&lol;</a>".to_owned(), "cannot be read"),
            ("<aa>".repeat(4000), "longer than 128 bytes"),
            ("<dds>".repeat(3000), "longer than 128 bytes"),
            (" ".repeat(20_000), "the agent reads at most 16384"),
        ] {
            let error = Document::read(&xml).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn any_text_is_stood() {
        let pieces =
            ["<", ">", "/", "a", "dds", "=", "\"", "'", "&", ";", "!", "--", "[CDATA[", "]]>", "?", " ", "#x41", "é"];
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..20_000 {
            let xml: String = std::iter::repeat_with(|| pieces[random.usize(..pieces.len())]).take(12).collect();
            let _ = Document::read(&xml); // the test is only that this call does not panic
        }
    }
}
