//! What the text of a file must look like: opens by saying why it exists, ends before it is too long, is finished.

use std::path::Path;

use anyhow::Result;

use super::{Violation, files};

/// Past this a file says more than one thing.
const FILE_LINES_MAX: usize = 600;

/// Spelled in two halves, so that this file passes its own check.
const UNFINISHED: [(&str, &str); 4] = [
    (concat!("TO", "DO"), "do it now, or open an issue and remove the note"),
    (concat!("FIX", "ME"), "fix it now, or open an issue and remove the note"),
    (concat!("to", "do!"), "write the missing code"),
    (concat!("unimple", "mented!"), "write the missing code"),
];

/// Everything wrong with the text of the workspace's files.
pub(super) fn violations(root: &Path) -> Result<Vec<Violation>> {
    let files = files::with_endings(root, &["rs", "sql", "toml"])?;
    Ok(files.iter().flat_map(|(path, text)| check(path, text)).collect())
}

fn check(path: &str, text: &str) -> Vec<Violation> {
    let ending = path.rsplit('.').next().unwrap_or_default();
    let mut found = match ending {
        "rs" => [rust_header(text), length(text)].into_iter().flatten().chain(causes_told_twice(text)).collect(),
        "sql" => [sql_header(text), length(text)].into_iter().flatten().collect(),
        _ if path.ends_with("Cargo.toml") => workspace_lints(text).into_iter().collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    found.extend(unfinished(text));
    found.into_iter().map(|what| Violation::new(path, what)).collect()
}

fn rust_header(text: &str) -> Option<String> {
    let says_why =
        text.lines().next().and_then(|line| line.strip_prefix("//!")).is_some_and(|why| !why.trim().is_empty());
    (!says_why).then(|| "open it with a `//!` line that says why the file exists".into())
}

fn sql_header(text: &str) -> Option<String> {
    let says_why =
        text.lines().next().and_then(|line| line.strip_prefix("--")).is_some_and(|why| !why.trim().is_empty());
    (!says_why).then(|| "open it with a `--` comment that says what it answers and which index it uses".into())
}

fn length(text: &str) -> Option<String> {
    let lines = text.lines().count();
    (lines > FILE_LINES_MAX).then(|| format!("has {lines} lines, more than {FILE_LINES_MAX}: make it two files"))
}

fn workspace_lints(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim);
    let is_root = text.lines().any(|line| line.trim() == "[workspace]");
    let takes_them = lines.by_ref().any(|line| line == "[lints]")
        && lines.take_while(|line| !line.starts_with('[')).any(|line| line == "workspace = true");
    (!is_root && !takes_them).then(|| "add `[lints]` with `workspace = true`, so that the common rules apply".into())
}

fn unfinished(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for (marker, remedy) in UNFINISHED {
            if has_word(line, marker) {
                found.push(format!("line {} says `{marker}`: {remedy}", number + 1));
            }
        }
    }
    found
}

/// An error that has its cause in its text and as its source: whoever prints the chain says it twice.
fn causes_told_twice(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = text.lines().map(str::trim).enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        let Some(message) = line.strip_prefix("#[error(") else { continue };
        let is_source = lines.peek().is_some_and(|(_, next)| next.contains("(#[from]") || next.contains("(#[source]"));
        if message.contains("{source}") || (is_source && message.contains("{0")) {
            found.push(format!("line {} tells its source, which the chain tells again: leave it out", number + 1));
        }
    }
    found
}

/// Whether `word` stands in the line by itself, not inside a longer name.
fn has_word(line: &str, word: &str) -> bool {
    let part_of_name = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(part_of_name) && (word.ends_with('!') || !after.is_some_and(part_of_name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whats(path: &str, text: &str) -> Vec<String> {
        check(path, text).into_iter().map(|violation| violation.what).collect()
    }

    fn expect(path: &str, text: &str, part: &str) {
        let found = whats(path, text);
        assert!(found.len() == 1 && found[0].contains(part), "{path} with {text:?}: {found:?}");
    }

    #[test]
    fn an_error_leaves_its_cause_to_the_chain() {
        let told = |error: &str| whats("a.rs", &format!("//! Says why.\n{error}\n")).len();
        let twice = ["#[error(\"cannot: {source}\")]\nA {", "#[error(\"cannot: {0}\")]\n    B(#[from] io::Error),"];
        let once = [
            "#[error(\"cannot\")]\nA {",
            "#[error(\"cannot {0}\")]\nB(String),",
            "#[error(transparent)]\nC(#[from] E),",
        ];
        assert_eq!((twice.map(told), once.map(told)), ([1, 1], [0, 0, 0]));
    }

    #[test]
    fn rust_files_open_with_a_reason() {
        assert_eq!(whats("a.rs", "//! Why.\n"), Vec::<String>::new());
        for text in ["", "use a;\n//! Late.\n", "// Not a doc comment.\n", "//!\n", "\n//! After a blank line.\n"] {
            expect("a.rs", text, "open it with a `//!` line");
        }
    }

    #[test]
    fn sql_files_open_with_a_comment() {
        assert_eq!(
            whats("a.sql", "-- One page, by the index (board_id, article_id).\nSELECT 1;\n"),
            Vec::<String>::new()
        );
        expect("a.sql", "SELECT 1; -- late\n", "open it with a `--` comment");
    }

    #[test]
    fn files_end_before_line_601() {
        let of_lines = |lines: usize| format!("//! Why.\n{}", "fn f() {}\n".repeat(lines - 1));
        assert_eq!(whats("a.rs", &of_lines(600)), Vec::<String>::new());
        expect("a.rs", &of_lines(601), "has 601 lines");
    }

    #[test]
    fn nothing_is_left_unfinished() {
        for (marker, _) in UNFINISHED {
            expect("a.rs", &format!("//! Why.\n// {marker} later\n"), "line 2 says");
            expect("a.rs", &format!("//! Why.\nfn f() {{ {marker}(); }}\n"), "line 2 says");
            expect("b.toml", &format!("# {marker}\n"), "line 1 says");
        }
        let longer_names = format!("//! Why.\nstruct MAS{}S; my_{}();\n", concat!("TO", "DO"), concat!("to", "do!"));
        assert_eq!(whats("a.rs", &longer_names), Vec::<String>::new());
    }

    #[test]
    fn every_crate_takes_the_lints_of_the_workspace() {
        assert_eq!(
            whats("x/Cargo.toml", "[package]\n[lints]\nworkspace = true\n[dependencies]\n"),
            Vec::<String>::new()
        );
        assert_eq!(whats("Cargo.toml", "[workspace]\nmembers = []\n"), Vec::<String>::new());
        for text in ["[package]\n", "[lints]\n[dependencies]\nworkspace = true\n", "[lints.clippy]\nall = \"allow\"\n"]
        {
            expect("x/Cargo.toml", text, "add `[lints]`");
        }
    }
}
