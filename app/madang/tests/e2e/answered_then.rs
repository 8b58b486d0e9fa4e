//! What an earlier release answered, compared with what is answered now: fields may be added, none may change.

use std::path::Path;

use serde_json::Value;

/// Of everybody on the fixtures.
pub(crate) const PASSWORD: &str = "a password of the fixture";

/// Each path with its answer.
pub(crate) fn read(file: &Path) -> Vec<(String, Value)> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let lines = text.lines().map(|line| {
        let (path, answer) = line.split_once('\t').expect("a path and an answer");
        (path.to_owned(), serde_json::from_str(answer).expect("JSON"))
    });
    let all: Vec<_> = lines.collect();
    assert!(all.len() > 10, "{} answers", all.len());
    all
}

/// Everything that was told then is told now, at the same place.
#[track_caller]
pub(crate) fn compare(path: &str, then: &Value, now: &Value) {
    match (then, now) {
        (Value::Object(then), Value::Object(now)) => {
            for (field, then) in then {
                compare(&format!("{path} {field}"), then, now.get(field).unwrap_or(&Value::Null));
            }
        }
        (Value::Array(then), Value::Array(now)) => {
            assert_eq!(then.len(), now.len(), "{path}: {now:?}");
            for (place, (then, now)) in then.iter().zip(now).enumerate() {
                compare(&format!("{path} {place}"), then, now);
            }
        }
        _ => assert_eq!(then, now, "{path}"),
    }
}
