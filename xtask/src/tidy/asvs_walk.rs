//! Keeps the walk through OWASP ASVS in docs/security.md whole: every requirement of levels 1 and 2 has one row, every row an
//! answer, and every requirement that is met a test. That the tests exist is looked after by `named_in_documents`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::Violation;

const PAGE: &str = "docs/security.md";
const HEADING: &str = "## OWASP ASVS 4.0.3, level 2";
/// What an answer begins with, and whether a test has to show it.
const ANSWERS: [(&str, bool); 5] =
    [("**Yes**", true), ("**Partly**", true), ("**No**", false), ("**None**", false), ("**On paper**", false)];

/// The requirements of levels 1 and 2 of version 4.0.3 by section: how many there are, numbered from 1, and which of these
/// numbers are missing because they were deleted.
const SECTIONS: [(&str, u32, &[u32]); 67] = [
    ("1.1", 7, &[]),
    ("1.2", 4, &[]),
    ("1.4", 5, &[2, 3]),
    ("1.5", 4, &[]),
    ("1.6", 4, &[]),
    ("1.7", 2, &[]),
    ("1.8", 2, &[]),
    ("1.9", 2, &[]),
    ("1.10", 1, &[]),
    ("1.11", 2, &[]),
    ("1.12", 2, &[1]),
    ("1.14", 6, &[]),
    ("2.1", 12, &[]),
    ("2.2", 3, &[]),
    ("2.3", 3, &[]),
    ("2.4", 6, &[]),
    ("2.5", 7, &[]),
    ("2.6", 3, &[]),
    ("2.7", 6, &[]),
    ("2.8", 7, &[]),
    ("2.9", 3, &[]),
    ("2.10", 4, &[]),
    ("3.1", 1, &[]),
    ("3.2", 4, &[]),
    ("3.3", 4, &[]),
    ("3.4", 5, &[]),
    ("3.5", 3, &[]),
    ("3.7", 1, &[]),
    ("4.1", 5, &[4]),
    ("4.2", 2, &[]),
    ("4.3", 3, &[]),
    ("5.1", 5, &[]),
    ("5.2", 8, &[]),
    ("5.3", 10, &[]),
    ("5.4", 3, &[]),
    ("5.5", 4, &[]),
    ("6.1", 3, &[]),
    ("6.2", 6, &[]),
    ("6.3", 2, &[]),
    ("6.4", 2, &[]),
    ("7.1", 4, &[]),
    ("7.2", 2, &[]),
    ("7.3", 4, &[2]),
    ("7.4", 3, &[]),
    ("8.1", 4, &[]),
    ("8.2", 3, &[]),
    ("8.3", 8, &[]),
    ("9.1", 3, &[]),
    ("9.2", 4, &[]),
    ("10.2", 2, &[]),
    ("10.3", 3, &[]),
    ("11.1", 8, &[]),
    ("12.1", 3, &[]),
    ("12.2", 1, &[]),
    ("12.3", 6, &[]),
    ("12.4", 2, &[]),
    ("12.5", 2, &[]),
    ("12.6", 1, &[]),
    ("13.1", 5, &[2]),
    ("13.2", 6, &[4]),
    ("13.3", 2, &[]),
    ("13.4", 2, &[]),
    ("14.1", 4, &[]),
    ("14.2", 6, &[]),
    ("14.3", 3, &[1]),
    ("14.4", 7, &[]),
    ("14.5", 4, &[]),
];

/// Every requirement without a row, with more than one or with an empty one, and every row without a requirement.
pub(super) fn violations(root: &Path) -> Result<Vec<Violation>> {
    let page = fs::read_to_string(root.join(PAGE)).with_context(|| format!("could not read {PAGE}"))?;
    Ok(check(&page).into_iter().map(|what| Violation::new(PAGE, what)).collect())
}

fn check(page: &str) -> Vec<String> {
    let mut rows: BTreeMap<String, u32> = BTreeMap::new();
    let mut wrong = Vec::new();
    for line in page.lines().skip_while(|line| *line != HEADING) {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        if !line.starts_with('|') || !cells[0].starts_with(|first: char| first.is_ascii_digit()) {
            continue;
        }
        wrong.extend(complaint(&cells));
        for number in numbers(cells[0]) {
            *rows.entry(number).or_default() += 1;
        }
    }
    for number in requirements() {
        match rows.remove(&number) {
            None => wrong.push(format!("nothing is said of {number}")),
            Some(1) => {}
            Some(times) => wrong.push(format!("{number} has {times} rows")),
        }
    }
    wrong.extend(rows.into_keys().map(|number| format!("{number} is no requirement of levels 1 and 2")));
    wrong
}

/// What is wrong with a row: number, what is asked for, the answer, what shows it.
fn complaint(cells: &[&str]) -> Option<String> {
    let [number, asked, answer, shown] = cells else {
        return Some(format!("the row of {} has not four cells", cells[0]));
    };
    if asked.is_empty() || shown.is_empty() {
        return Some(format!("the row of {number} does not say what is asked for, or what shows the answer"));
    }
    let Some((_, is_tested)) = ANSWERS.iter().find(|(word, _)| answer.starts_with(word)) else {
        let words = ANSWERS.map(|(word, _)| word).join(", ");
        return Some(format!("the answer of {number} begins with none of {words}"));
    };
    let names_test = shown.contains(".rs::");
    (*is_tested && !names_test).then(|| format!("{number} is met, and no test is named that shows it: `path.rs::name`"))
}

fn requirements() -> impl Iterator<Item = String> {
    SECTIONS.iter().flat_map(|(section, last, deleted)| {
        (1..=*last).filter(|number| !deleted.contains(number)).map(move |number| format!("{section}.{number}"))
    })
}

/// The numbers in a cell such as `2.5.1–2.5.3, 2.5.6`.
fn numbers(cell: &str) -> Vec<String> {
    let parts = cell.split(',').map(str::trim);
    parts.flat_map(|part| range(part).unwrap_or_else(|| vec![part.to_owned()])).collect()
}

fn range(part: &str) -> Option<Vec<String>> {
    let (first, last) = part.split_once('–')?;
    let (section, first) = first.rsplit_once('.')?;
    let last = last.rsplit_once('.')?.1;
    let numbers = first.parse::<u32>().ok()?..=last.parse::<u32>().ok()?;
    Some(numbers.map(|number| format!("{section}.{number}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page with a row for every requirement.
    fn whole() -> String {
        let rows: Vec<_> =
            requirements().map(|number| format!("| {number} | something | **Yes** | `a.rs::b` |")).collect();
        format!("{HEADING}\n\n| no | asks for | answer |\n|---|---|---|\n{}\n", rows.join("\n"))
    }

    #[test]
    fn a_whole_walk_has_a_row_for_each_of_the_260_requirements() {
        assert_eq!(requirements().count(), 260);
        assert_eq!(check(&whole()), [""; 0]);
        assert_eq!(numbers("2.5.1–2.5.3, 2.5.6"), ["2.5.1", "2.5.2", "2.5.3", "2.5.6"]);
    }

    #[test]
    fn what_is_missing_twice_empty_or_invented_is_told() {
        let page = whole().replace(
            "| 4.1.5 | something | **Yes** | `a.rs::b` |\n",
            "| 4.1.3 | something | | – |\n| 4.1.4 | else | **No** | – |\n",
        );
        let told = check(&page).join("; ");
        for part in
            ["nothing is said of 4.1.5", "4.1.3 has 2 rows", "the answer of 4.1.3 begins", "4.1.4 is no requirement"]
        {
            assert!(told.contains(part), "{part} is not in {told}");
        }
    }

    #[test]
    fn what_is_met_names_a_test_and_what_is_not_need_not() {
        let told = |row: &str| check(&whole().replacen("| **Yes** | `a.rs::b` |", row, 1)).join("; ");
        for fine in [
            "| **Partly**: a | `a.rs::b`, `c.rs::d` |",
            "| **No**: never | – |",
            "| **None** | – |",
            "| **On paper** | – |",
        ] {
            assert_eq!(told(fine), "", "{fine}");
        }
        assert!(told("| **Yes** | – |").contains("1.1.1 is met, and no test is named"));
        assert!(told("| **Partly** | `a.rs` |").contains("1.1.1 is met, and no test is named"));
        assert!(told("| yes | `a.rs::b` |").contains("the answer of 1.1.1 begins with none of"));
        assert!(told("| **Yes** |").contains("has not four cells"));
    }
}
