//! A JSON object of a topology file: its keys with the texts of their values, and its path in the file.
//!
//! Every error starts with the path of the wrong value in the file, such as `nodes[3].publishers[0].freq_hz: `.

use std::ops::RangeInclusive;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::common::no_key;
use perf_worker::nearest::or_nearest;

/// The number of characters of a wrong value that an error shows at most.
const MAX_SHOWN_CHARS: usize = 40;

/// A JSON object of the file. Its keys are unique and known.
#[derive(Debug)]
pub struct Object<'a> {
    /// The path of the object in the file, such as `nodes[3].publishers[0]`; empty for the whole file.
    pub place: String,
    entries: Vec<(String, &'a RawValue)>,
}

impl<'a> Object<'a> {
    /// Parses an object. `place` is its path in the file, and `keys` are the allowed keys.
    ///
    /// # Errors
    /// The reason, as a sentence: the value is not an object, or a key is unknown or occurs twice.
    pub fn read(place: String, value: &'a RawValue, keys: &[&[&str]]) -> Result<Object<'a>, String> {
        let Ok(Entries(entries)) = serde_json::from_str(value.get()) else {
            return Err(at(&place, &format!("it is `{}`, and must be an object in braces", shown(value.get()))));
        };
        for (index, (key, _)) in entries.iter().enumerate() {
            let place = inside(&place, key);
            if !keys.iter().any(|list| list.contains(&key.as_str())) {
                return Err(at(&place, &no_key(&shown(key), &keys.concat())));
            }
            if entries.iter().take(index).any(|(earlier, _)| earlier == key) {
                return Err(at(&place, "the key is given twice: remove one"));
            }
        }
        Ok(Object { place, entries })
    }

    /// Whether the object has the key.
    pub fn has(&self, key: &str) -> bool {
        self.raw(key).is_some()
    }

    /// The text under `key`; `None` if the key is missing.
    ///
    /// # Errors
    /// The reason, as a sentence: the value is not a text.
    pub fn text(&self, key: &str) -> Result<Option<String>, String> {
        self.value(key, "a text in quotation marks")
    }

    /// The number under `key`; `None` if the key is missing.
    ///
    /// # Errors
    /// The reason, as a sentence: the value is not a number.
    pub fn number(&self, key: &str) -> Result<Option<f64>, String> {
        self.value(key, "a number")
    }

    /// The whole number under `key`; `None` if the key is missing. The number must be in the range. `100.0` is also
    /// accepted as a whole number.
    ///
    /// # Errors
    /// The reason, as a sentence: the value is not a whole number, or it is out of range.
    pub fn whole(&self, key: &str, range: RangeInclusive<u32>) -> Result<Option<u32>, String> {
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        let bounds = f64::from(*range.start())..=f64::from(*range.end());
        match self.value::<f64>(key, &expected)? {
            Some(value) if value.fract() != 0.0 || !bounds.contains(&value) => Err(self.wrong(key, &expected)),
            value => Ok(value.map(|value| value as u32)),
        }
    }

    /// The text under `key`, which must be one of `values`; `None` if the key is missing.
    ///
    /// # Errors
    /// The reason, as a sentence with the most similar allowed text and all allowed texts.
    pub fn choice<T: Copy>(&self, key: &str, values: &[(&str, T)]) -> Result<Option<T>, String> {
        let Some(given) = self.text(key)? else { return Ok(None) };
        if let Some((_, value)) = values.iter().find(|(name, _)| *name == given) {
            return Ok(Some(*value));
        }
        let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
        let near = or_nearest(&given, names.iter().copied());
        let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ");
        Err(self.problem(key, &format!("it is `{}`{near}. Give {names}", shown(&given))))
    }

    /// The elements of the list under `key`, each with its path; empty if the key is missing.
    ///
    /// # Errors
    /// The reason, as a sentence: the value is not a list.
    pub fn list(&self, key: &str) -> Result<Vec<(String, &'a RawValue)>, String> {
        let Some(raw) = self.raw(key) else { return Ok(Vec::new()) };
        let values: Vec<&RawValue> =
            serde_json::from_str(raw.get()).map_err(|_| self.wrong(key, "a list in brackets"))?;
        let place = inside(&self.place, key);
        Ok(values.into_iter().enumerate().map(|(index, value)| (format!("{place}[{index}]"), value)).collect())
    }

    /// The sentence that a required key is missing.
    pub fn missing(&self, key: &str) -> String {
        at(&self.place, &format!("the key `{key}` is missing"))
    }

    /// An error sentence about the value of a key, with the path of the value.
    pub fn problem(&self, key: &str, sentence: &str) -> String {
        at(&inside(&self.place, key), sentence)
    }

    /// An error sentence about the value of a key. It contains the value, and the kind of value that is expected.
    pub fn wrong(&self, key: &str, expected: &str) -> String {
        let given = self.raw(key).map_or("", RawValue::get);
        self.problem(key, &format!("it is `{}`, and must be {expected}", shown(given)))
    }

    fn value<T: DeserializeOwned>(&self, key: &str, expected: &str) -> Result<Option<T>, String> {
        let read = |raw: &RawValue| serde_json::from_str(raw.get()).map_err(|_| self.wrong(key, expected));
        self.raw(key).map(read).transpose()
    }

    fn raw(&self, key: &str) -> Option<&'a RawValue> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, value)| *value)
    }
}

/// An error sentence about the value whose path is `place`.
pub fn at(place: &str, sentence: &str) -> String {
    if place.is_empty() { sentence.to_owned() } else { format!("{place}: {sentence}") }
}

fn inside(place: &str, key: &str) -> String {
    if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") }
}

fn shown(text: &str) -> String {
    let shown: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match shown.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", shown.get(..end).unwrap_or_default()),
        None => shown,
    }
}

/// The keys and values of an object, in the order of the text. A duplicate key is in the list twice, so that it can be
/// refused.
struct Entries<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(entries)
            }
        }
        deserializer.deserialize_map(Keys).map(Entries)
    }
}
