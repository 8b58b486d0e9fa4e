//! What is said of a value that a setting cannot have: what it must be, in the words of whoever writes the file, never in
//! those of the program that reads it.

use figment::error::{Actual, Kind};

use super::cluster::ClusterSettings;
use super::layer;
use super::settings::{SECRETS, Settings};

/// What is wrong with the value of `key`: the setting that is meant, and what is to be said of it.
pub(super) fn told(key: &str, kind: &Kind) -> String {
    let inside = |field: &str| if key.is_empty() { field.to_owned() } else { format!("{key}.{field}") };
    match kind {
        Kind::MissingField(field) => format!("setting `{}` is missing", inside(field)),
        Kind::DuplicateField(field) => format!("setting `{}` is given twice", inside(field)),
        Kind::UnknownField(field, known) => {
            let meant = layer::nearest(field, known.iter().copied());
            let hint = match meant {
                Some(meant) => format!("; did you mean `{}{meant}`?", key.strip_suffix(field).unwrap_or_default()),
                None => format!("; there are {}", listed(known, "and")),
            };
            format!("there is no setting `{key}`{hint}")
        }
        Kind::UnknownVariant(found, known) => {
            format!("setting `{key}` must be {}, not {found:?}", listed(known, "or"))
        }
        Kind::InvalidType(found, expected) | Kind::InvalidValue(found, expected) => {
            format!("setting `{key}` must be {}{}", expectation(key, expected), instead_of(key, found))
        }
        Kind::Message(_)
        | Kind::InvalidLength(..)
        | Kind::ISizeOutOfRange(_)
        | Kind::USizeOutOfRange(_)
        | Kind::Unsupported(_)
        | Kind::UnsupportedKey(..) => format!("setting `{key}`: {kind}"),
    }
}

fn expectation(key: &str, expected: &str) -> String {
    if let Some(range) = Settings::range_of(key).or_else(|| ClusterSettings::range_of(key)) {
        return range;
    }
    match expected {
        "a boolean" => "true or false".to_owned(),
        "a string" | "path string" => "text".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "a section".to_owned(),
        section if section.starts_with("struct ") => "a section".to_owned(),
        // A setting that may be absent, or one of a few words.
        choice if choice.starts_with("enum ") || choice == "option" => "a word in quotes".to_owned(),
        other => other.to_owned(),
    }
}

/// What was found, as it was written; of what holds secrets, or addresses with passwords in them, only that it was a text.
fn instead_of(key: &str, found: &Actual) -> String {
    let is_of_cluster = key.split('.').next() == Some(layer::CLUSTER);
    let is_secret = SECRETS.contains(&key) || is_of_cluster && ClusterSettings::range_of(key).is_none();
    match found {
        Actual::Str(_) if is_secret => ", not a text".to_owned(),
        Actual::Bool(value) => format!(", not {value}"),
        Actual::Unsigned(value) => format!(", not {value}"),
        Actual::Signed(value) => format!(", not {value}"),
        Actual::Float(value) => format!(", not {value}"),
        Actual::Str(text) => format!(", not {text:?}"),
        Actual::Seq => ", not a list".to_owned(),
        Actual::Map => ", not a section".to_owned(),
        _ => String::new(),
    }
}

fn listed(words: &[&str], conjunction: &str) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} {conjunction} {last}", first.join(", ")),
        words => words.join(""),
    }
}
