//! Licences of what is compiled in, compared with those that deny.toml allows.

use anyhow::{Context as _, Result, ensure};

use crate::{libraries, workspace};

/// Every library may be passed on with the binary.
pub(super) fn allowed() -> Result<String> {
    let rules = std::fs::read_to_string(workspace::root().join("deny.toml"))?;
    let list = rules.split_once("allow = [").and_then(|(_, after)| after.split_once(']')).context("deny.toml")?.0;
    let list: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    let libraries = libraries::of_binary()?;
    let refused: Vec<_> = libraries
        .iter()
        .filter(|library| !is_allowed(&library.license, &list))
        .map(|library| format!("{} ({})", library.key(), library.license))
        .collect();
    ensure!(refused.is_empty(), "deny.toml does not allow {}", refused.join(", "));
    Ok(format!("{} libraries", libraries.len()))
}

/// Whether an SPDX expression can be met by the licences of the list: one of those joined by OR, each of those joined by AND.
fn is_allowed(expression: &str, list: &[&str]) -> bool {
    let expression = expression.trim();
    if let Some(parts) = split(expression, " OR ") {
        return parts.iter().any(|part| is_allowed(part, list));
    }
    if let Some(parts) = split(expression, " AND ") {
        return parts.iter().all(|part| is_allowed(part, list));
    }
    match expression.strip_prefix('(').and_then(|inside| inside.strip_suffix(')')) {
        Some(inside) => is_allowed(inside, list),
        None => list.contains(&expression),
    }
}

/// The parts between a word that stands outside of brackets; nothing if it does not.
fn split<'a>(expression: &'a str, word: &str) -> Option<Vec<&'a str>> {
    let (mut depth, mut begin, mut parts) = (0_i32, 0, Vec::new());
    for (at, letter) in expression.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 && at >= begin && expression[at..].starts_with(word) => {
                parts.push(&expression[begin..at]);
                begin = at + word.len();
            }
            _ => {}
        }
    }
    parts.push(&expression[begin..]);
    (parts.len() > 1).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_met_by_one_choice_and_by_every_duty() {
        let list = ["MIT", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"];
        for (expression, met) in [
            ("MIT", true),
            ("GPL-3.0 OR MIT", true),
            ("GPL-3.0", false),
            ("MIT AND GPL-3.0", false),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("(GPL-2.0 OR Apache-2.0) AND Unicode-3.0", false),
            ("Apache-2.0 WITH LLVM-exception OR Zlib", true),
            ("NOASSERTION", false),
        ] {
            assert_eq!(is_allowed(expression, &list), met, "{expression}");
        }
    }
}
