//! `madang-lab write`: puts the figures and pictures of one full run into docs/lab.md, between its markers. The prose around
//! them is written by people; a figure in it is not.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};

use crate::report::{self, Entry, Report, count, rate, rate_of, seconds, value};
use crate::{Side, Verdict};

/// The page, from the root of the repository.
const PAGE: &str = "docs/lab.md";
/// Where its pictures go, from the folder of the page.
const PICTURES: &str = "pictures/lab";
/// The name of the block about all of them.
const SUMMARY: &str = "summary";

/// Where the figures come from.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The report.json of a full run of every experiment, with its pictures beside it.
    #[arg(long, value_name = "FILE")]
    pub from: PathBuf,
    /// Writes also what was measured at another commit than that of these sources, and says so on the page.
    #[arg(long)]
    pub of_another_commit: bool,
}

/// Writes the page anew and replaces its pictures; says where it is.
pub fn write(options: &Options) -> anyhow::Result<PathBuf> {
    let all: Vec<&str> = crate::experiments::all().iter().map(|experiment| experiment.id()).collect();
    let tree = Tree { commit: crate::run::commit(), may_differ: options.of_another_commit };
    write_below(&crate::run::root(), &options.from, &all, &tree)
}

/// The sources that the page belongs to.
struct Tree {
    /// Their commit, and whether they differ from it.
    commit: String,
    /// Whether the figures may be those of another.
    may_differ: bool,
}

fn write_below(root: &Path, from: &Path, all: &[&str], tree: &Tree) -> anyhow::Result<PathBuf> {
    let report = Report::read(from)?;
    is_whole(&report, all)?;
    is_of(&report, tree)?;
    let page = root.join(PAGE);
    let text = fs::read_to_string(&page).with_context(|| format!("could not read {}", page.display()))?;
    let text = filled(&text, &blocks(&report, tree))?;
    let pictures = page.with_file_name(PICTURES);
    copy_pictures(&report, &from.with_file_name(report::PICTURES), &pictures)?;
    fs::write(&page, text).with_context(|| format!("could not write {}", page.display()))?;
    Ok(page)
}

/// Figures of two runs on one page would be compared by somebody.
fn is_whole(report: &Report, all: &[&str]) -> anyhow::Result<()> {
    ensure!(!report.quick, "this is the report of a quick run; the page tells of a full one");
    let there: BTreeSet<&str> = report.experiments.iter().map(|entry| entry.id.as_str()).collect();
    let missing: Vec<&str> = all.iter().copied().filter(|id| !there.contains(id)).collect();
    ensure!(missing.is_empty(), "the report lacks {}: run all experiments together", missing.join(", "));
    Ok(())
}

/// Rules and figures stand on one page: figures of other rules would be read as these.
fn is_of(report: &Report, tree: &Tree) -> anyhow::Result<()> {
    ensure!(
        tree.may_differ || report.commit == tree.commit,
        "this report was measured at commit {}, and these sources are at {}; make a new one with `cargo xtask lab run` (a full \
         run of everything, of committed sources), or have the page say that it is of another commit with --of-another-commit",
        report.commit,
        tree.commit
    );
    Ok(())
}

fn copy_pictures(report: &Report, from: &Path, to: &Path) -> anyhow::Result<()> {
    if to.exists() {
        fs::remove_dir_all(to).with_context(|| format!("could not empty {}", to.display()))?;
    }
    fs::create_dir_all(to).with_context(|| format!("could not make {}", to.display()))?;
    for picture in report.experiments.iter().flat_map(|entry| &entry.pictures) {
        let source = from.join(&picture.file);
        fs::copy(&source, to.join(&picture.file)).with_context(|| format!("could not copy {}", source.display()))?;
    }
    Ok(())
}

/// Replaces what stands between the markers `<!-- lab: NAME -->` and `<!-- /lab: NAME -->`; every block has one place.
fn filled(text: &str, blocks: &BTreeMap<String, String>) -> anyhow::Result<String> {
    let mut text = text.to_owned();
    for (name, block) in blocks {
        let (opens, closes) = (format!("<!-- lab: {name} -->"), format!("<!-- /lab: {name} -->"));
        let from = text.find(&opens).with_context(|| format!("{PAGE} has no marker {opens}"))? + opens.len();
        let until = text[from..].find(&closes).with_context(|| format!("{PAGE} has no marker {closes}"))? + from;
        text.replace_range(from..until, &format!("\n{block}\n"));
    }
    for opened in text.split("<!-- lab: ").skip(1).filter_map(|rest| rest.split(" -->").next()) {
        if !blocks.contains_key(opened) {
            bail!("{PAGE} has a place for {opened}, and the report has no such experiment");
        }
    }
    Ok(text)
}

fn blocks(report: &Report, tree: &Tree) -> BTreeMap<String, String> {
    let blocks = report.experiments.iter().map(|entry| (entry.id.clone(), block(entry)));
    blocks.chain([(SUMMARY.to_owned(), summary(report, tree))]).collect()
}

fn summary(report: &Report, tree: &Tree) -> String {
    let other = match report.commit == tree.commit {
        true => String::new(),
        false => format!(" (the text and the code of this page are those of `{}`)", tree.commit),
    };
    let mut text = format!(
        "Measured on {} at commit `{}`{other}, seed {}, in {}: {}. {} of {} shown, {} real faults with every protection on.\n\n\
         | experiment | naive: broken | protected: broken | faults | time | verdict |\n|---|--:|--:|--:|--:|---|\n",
        &report.started_at.to_string()[..10],
        report.commit,
        report.seed,
        seconds(report.seconds),
        cell(&report.machine),
        report.shown(),
        report.experiments.len(),
        count(report.faults())
    );
    for entry in &report.experiments {
        text += &format!(
            "| [{0}](#{0}) | {1} | {2} | {3} | {4} | {5} |\n",
            entry.id,
            broken(&entry.off),
            broken(&entry.on),
            count(entry.faults),
            seconds(entry.seconds),
            verdict(entry)
        );
    }
    text
}

fn block(entry: &Entry) -> String {
    let name = |index: usize| entry.wirings.get(index).map_or("", |wiring| wiring.name.as_str());
    let row = |what: &str, off: String, on: String| format!("| {} | {off} | {on} |\n", cell(what));
    let mut text = format!("{}\n\n| | naive: {} | protected: {} |\n|---|--:|--:|\n", entry.counted, name(0), name(1));
    let mut after = String::new();
    text += &row("trials", count(entry.off.trials), count(entry.on.trials));
    text += &row("violations", count(entry.off.violations), count(entry.on.violations));
    text += &row("rate", rate(&entry.off), rate(&entry.on));
    let split = [("naive", &entry.off), ("protected", &entry.on)];
    if split.iter().any(|(_, side)| !side.variants.is_empty()) {
        let mut table = "\n| each wiring | side | trials | violations | rate |\n|---|---|--:|--:|--:|\n".to_owned();
        for (name, one) in split.iter().flat_map(|(name, side)| side.variants.iter().map(move |one| (name, one))) {
            let (trials, violations) = (one.trials, one.violations);
            let rate = rate_of(trials, violations);
            table +=
                &format!("| {} | {name} | {} | {} | {rate} |\n", cell(&one.name), count(trials), count(violations));
        }
        after = table;
    }
    let figures: BTreeSet<&String> = entry.off.figures.keys().chain(entry.on.figures.keys()).collect();
    for figure in figures {
        let of = |side: &Side| side.figures.get(figure).map_or_else(|| "–".to_owned(), |one| value(*one));
        text += &row(&figure.replace('_', " "), of(&entry.off), of(&entry.on));
    }
    text += &after;
    let kinds = entry.fault_kinds.iter().map(|(kind, times)| format!("{} × {kind}", count(*times)));
    let kinds = kinds.collect::<Vec<_>>().join(", ");
    let faults = if kinds.is_empty() { String::new() } else { format!(" Faults: {kinds}.") };
    let links = entry.wirings.iter().map(|wiring| format!("[{}](../{})", cell(&wiring.name), wiring.code));
    text += &format!("\nVerdict: **{}**.{faults} Code: {}.\n", verdict(entry), links.collect::<Vec<_>>().join(", "));
    for picture in &entry.pictures {
        text += &format!("\n![{}]({PICTURES}/{})\n", cell(&picture.title).replace(['[', ']'], ""), picture.file);
    }
    if !entry.notes.is_empty() {
        text += "\n";
        text += &entry.notes.iter().map(|note| format!("- {}\n", cell(note))).collect::<String>();
    }
    text
}

fn broken(side: &Side) -> String {
    format!("{} of {} ({})", count(side.violations), count(side.trials), rate(side))
}

fn verdict(entry: &Entry) -> &'static str {
    match entry.verdict {
        Verdict::Shown => "shown",
        Verdict::NotShown => "not shown",
    }
}

/// Text that stays text in Markdown, on one line.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    const IDS: [&str; 5] = ["direct-produce", "no-dedup", "stale-cache", "edges", "broken"];

    /// The commit of the sample, and those who insist on it.
    fn same() -> Tree {
        Tree { commit: sample::report().commit, may_differ: false }
    }

    fn root() -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let old = root.path().join("docs/pictures/lab");
        fs::create_dir_all(&old).unwrap();
        fs::write(old.join("gone-1.svg"), "old").unwrap();
        let places = IDS
            .iter()
            .chain(&["summary"])
            .map(|id| format!("story of {id}\n<!-- lab: {id} -->\nold\n<!-- /lab: {id} -->\n"));
        fs::write(root.path().join(PAGE), places.collect::<String>()).unwrap();
        let out = root.path().join("out");
        sample::report().write(&out, root.path()).unwrap();
        (root, out.join(report::JSON))
    }

    #[test]
    fn figures_and_pictures_go_between_the_markers_and_prose_stays() {
        let (root, from) = root();
        let page = write_below(root.path(), &from, &IDS, &same()).unwrap();
        let text = fs::read_to_string(&page).unwrap();
        assert!(text.contains("story of no-dedup\n<!-- lab: no-dedup -->\n"), "{text}");
        assert!(!text.contains("\nold\n"));
        assert!(
            text.contains("| violations | 190 | 0 |") && text.contains("| rate | 10 % | below 0.025 % |"),
            "{text}"
        );
        assert!(text.contains("| SIGKILL | naive | 840 | 40 | 4.8 % |"), "{text}");
        assert!(text.contains("![Who relays shard 7 when a relay sleeps](pictures/lab/direct-produce-5.svg)"));
        assert!(text.contains("3 of 5 shown") && text.contains("[direct-produce](#direct-produce)"));
        let pictures = page.with_file_name("pictures").join("lab");
        assert!(pictures.join("direct-produce-5.svg").exists() && !pictures.join("gone-1.svg").exists());
        let again = write_below(root.path(), &from, &IDS, &same()).unwrap();
        assert_eq!(fs::read_to_string(again).unwrap(), text, "the same figures give the same page");
    }

    #[test]
    fn a_page_holds_one_whole_full_run_or_nothing() {
        let (root, from) = root();
        let refused = |from: &Path, all: &[&str]| write_below(root.path(), from, all, &same()).unwrap_err().to_string();
        assert!(refused(&from, &["direct-produce", "locks"]).contains("lacks locks"));
        let quick = Report { quick: true, ..sample::report() };
        let out = root.path().join("quick");
        quick.write(&out, root.path()).unwrap();
        assert!(refused(&out.join(report::JSON), &IDS).contains("quick"));
    }

    #[test]
    fn figures_of_another_commit_are_refused_or_told() {
        let (root, from) = root();
        let tree = |may_differ| Tree { commit: "fedc987, with changes".to_owned(), may_differ };
        let refused = write_below(root.path(), &from, &IDS, &tree(false)).unwrap_err().to_string();
        assert!(refused.contains("0123abc") && refused.contains("fedc987") && refused.contains("lab run"), "{refused}");
        let page = root.path().join(PAGE);
        assert!(fs::read_to_string(&page).unwrap().contains("\nold\n"), "nothing is written");
        write_below(root.path(), &from, &IDS, &tree(true)).unwrap();
        assert!(fs::read_to_string(&page).unwrap().contains("those of `fedc987, with changes`"));
        write_below(root.path(), &from, &IDS, &same()).unwrap();
        assert!(!fs::read_to_string(&page).unwrap().contains("those of `"));
    }

    #[test]
    fn a_marker_without_an_experiment_and_an_experiment_without_a_marker_are_told() {
        let blocks = BTreeMap::from([("a".to_owned(), "figures".to_owned())]);
        let told = |text: &str| filled(text, &blocks).unwrap_err().to_string();
        assert!(told("no marker").contains("has no marker <!-- lab: a -->"));
        assert!(told("<!-- lab: a -->").contains("has no marker <!-- /lab: a -->"));
        let both = "<!-- lab: a --><!-- /lab: a --><!-- lab: b --><!-- /lab: b -->";
        assert!(told(both).contains("a place for b"));
    }

    #[test]
    fn hostile_text_stays_text() {
        assert_eq!(cell("a | b\n<script>"), "a \\| b &lt;script>");
    }

    /// The page of this repository has a place for every experiment there is, and for no other.
    #[test]
    fn the_page_has_a_place_for_every_experiment() {
        let text = fs::read_to_string(crate::run::root().join(PAGE)).unwrap();
        for id in crate::experiments::all().iter().map(|experiment| experiment.id()).chain([SUMMARY]) {
            assert!(text.contains(&format!("<!-- lab: {id} -->")), "{PAGE} has no place for {id}");
        }
    }
}
