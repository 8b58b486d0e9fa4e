//! Keeps documents honest: what they point at, a source file or a test, is still there under that name.

use std::path::Path;

use anyhow::Result;

use super::Violation;
use super::files;

/// A name of this many words is a sentence, as tests have them.
const WORDS_MIN: usize = 5;

/// Everything that a document names in backticks and that is not there.
pub(super) fn violations(root: &Path) -> Result<Vec<Violation>> {
    let sources = files::with_endings(root, &["rs"])?;
    let documents = files::with_endings(root, &["md"])?;
    // The changelog tells of what is gone.
    let documents = documents.iter().filter(|(document, _)| document != "CHANGELOG.md");
    Ok(documents.flat_map(|(document, text)| check(document, text, &sources)).collect())
}

fn check(document: &str, text: &str, sources: &[(String, String)]) -> Vec<Violation> {
    let gone = quoted(text).filter_map(|name| {
        let (what, is_there) = if is_source(name) {
            let behind = format!("/{name}");
            ("file", sources.iter().any(|(path, _)| path == name || path.ends_with(&behind)))
        } else if let Some((path, test)) = name.split_once(".rs::") {
            let declared = [format!("fn {test}("), format!("fn {test}<")];
            let is_its = |(file, source): &(String, String)| {
                file.strip_suffix(".rs") == Some(path) && declared.iter().any(|begin| source.contains(begin))
            };
            ("test", sources.iter().any(is_its))
        } else if is_sentence(name) {
            ("test", sources.iter().any(|(_, source)| source.contains(name)))
        } else {
            return None;
        };
        (!is_there).then(|| Violation::new(document, format!("there is no {what} `{name}`: say where it is now")))
    });
    gone.collect()
}

/// What stands in single backticks, on one line each; blocks of code are examples.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let mut in_block = false;
    let lines = text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        in_block ^= fence;
        !in_block && !fence
    });
    lines.flat_map(|line| line.split('`').skip(1).step_by(2))
}

fn is_source(name: &str) -> bool {
    name.ends_with(".rs") && !name.contains([' ', '*', '{', '<', '…'])
}

fn is_sentence(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.bytes().all(fits) && name.split('_').filter(|word| !word.is_empty()).count() >= WORDS_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let sources = [("app/src/gate.rs".to_owned(), "fn a_panic_is_an_answer() {}".to_owned())];
        check("a.md", text, &sources).into_iter().map(|violation| violation.what).collect()
    }

    #[test]
    fn what_is_there_may_be_named_by_the_end_of_its_path() {
        assert_eq!(found("`gate.rs`, `src/gate.rs`, `app/src/gate.rs`: `a_panic_is_an_answer`"), [""; 0]);
    }

    #[test]
    fn a_test_is_named_by_its_whole_path_and_is_in_that_file() {
        assert_eq!(found("`app/src/gate.rs::a_panic_is_an_answer`"), [""; 0]);
        for gone in
            ["src/gate.rs::a_panic_is_an_answer", "app/src/gate.rs::a_panic", "app/src/door.rs::a_panic_is_an_answer"]
        {
            assert_eq!(found(&format!("`{gone}`")).len(), 1, "{gone}");
        }
    }

    #[test]
    fn what_has_left_is_told() {
        let told = found("| `src/door.rs` | `a_panic_is_no_answer` |\n`gate.rs` and `te.rs`");
        let expected = ["file `src/door.rs`", "test `a_panic_is_no_answer`", "file `te.rs`"];
        assert_eq!(told.len(), expected.len(), "{told:?}");
        for (told, expected) in told.iter().zip(expected) {
            assert!(told.contains(expected), "{told}");
        }
    }

    #[test]
    fn patterns_settings_and_examples_name_nothing() {
        assert_eq!(found("`services/*/rules.rs`, `in_flight_max`\n```\n`gone.rs`\n```\n"), [""; 0]);
    }
}
