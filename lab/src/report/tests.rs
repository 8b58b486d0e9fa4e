//! The report of invented findings: whole, well-formed, escaped, and drawn also where there is nothing to draw.

use super::*;

/// Checks that markup opens and closes its tags in order, quotes its attributes and escapes its text. `void` are tags that
/// HTML leaves open.
fn assert_well_formed(markup: &str, void: &[&str]) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = markup;
    while let Some(at) = rest.find('<') {
        let (text, tag) = rest.split_at(at);
        assert!(open.last() == Some(&"style") || is_escaped(text), "{text:?} is not escaped");
        let end = tag_end(tag);
        let inner = &tag[1..end];
        rest = &tag[end + 1..];
        if inner.starts_with(['!', '?']) {
            continue;
        }
        if let Some(name) = inner.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "…{rest:.80}");
            continue;
        }
        let name = inner.split_whitespace().next().unwrap();
        assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{name}");
        if !void.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} stay open");
}

/// Where a tag ends: the first `>` outside of quotes.
fn tag_end(tag: &str) -> usize {
    let mut quoted = false;
    let end = tag.char_indices().find(|(_, letter)| {
        quoted ^= *letter == '"';
        *letter == '>' && !quoted
    });
    end.unwrap().0
}

fn is_escaped(text: &str) -> bool {
    let entities = ["amp;", "lt;", "gt;", "quot;"];
    text.split('&').skip(1).all(|after| entities.iter().any(|entity| after.starts_with(entity)))
}

#[test]
fn the_page_is_well_formed_and_every_experiment_has_a_row_and_a_section() {
    let report = sample::report();
    let page = page::render(&report, Some("../../"));
    assert_well_formed(&page, &["meta", "br"]);
    for entry in &report.experiments {
        assert!(page.contains(&format!("<a href=\"#{0}\">{0}</a>", entry.id)), "{} has no row", entry.id);
        assert!(page.contains(&format!("<section id=\"{}\"", entry.id)), "{} has no section", entry.id);
    }
    assert!(page.contains("href=\"../../lab/src/report/page.rs\""));
    assert!(page.contains("3 of 5") && page.contains("✗ error") && page.contains("✗ not shown"));
    assert!(page.contains("below 0.025 %"), "the bound of 12,400 trials");
    assert!(
        page.contains("Each wiring of no-dedup") && !page.contains("Each wiring of edges"),
        "where there are several"
    );
}

#[test]
fn text_of_findings_never_becomes_markup() {
    let page = page::render(&sample::report(), None);
    assert!(!page.contains("<script"), "hostile text is markup");
    assert!(page.contains("&lt;script&gt;"));
}

#[test]
fn the_page_loads_nothing_from_elsewhere() {
    let page = page::render(&sample::report(), None);
    for loader in ["<script", "<link", "<img", "<iframe", "@import", "url(", " src=", "http://", "https://"] {
        assert!(!page.contains(loader), "{loader}");
    }
}

#[test]
fn ids_are_unique_and_every_label_is_there() {
    let page = page::render(&sample::report(), None);
    let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(ids.len(), distinct.len());
    let labels = page.split(" aria-labelledby=\"").skip(1).filter_map(|rest| rest.split('"').next());
    assert!(labels.flat_map(str::split_whitespace).all(|label| ids.contains(&label)));
}

#[test]
fn every_chart_is_drawn_at_every_width_with_places_that_are_numbers() {
    for chart in sample::charts().into_iter().chain(sample::edges()) {
        for width in [svg::WIDE, svg::NARROW] {
            let file = svg::draw(&chart, width).file(chart.title(), &svg::described(&chart));
            assert_well_formed(&file, &[]);
            assert!(!file.contains("=\"NaN") && !file.contains("inf\""), "{}: {file}", chart.title());
        }
    }
}

#[test]
fn a_chart_without_anything_says_so() {
    let empty = Chart::Bars { title: "empty".to_owned(), unit: "x", logarithmic: false, bars: vec![] };
    assert!(svg::draw(&empty, svg::WIDE).file("empty", "").contains("nothing was measured"));
}

#[test]
fn the_json_has_its_fields_first_and_is_read_back() {
    let (dir, report) = (tempfile::tempdir().unwrap(), sample::report());
    report.write(dir.path(), Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
    let text = fs::read_to_string(dir.path().join(JSON)).unwrap();
    let places: Vec<_> = ["\"commit\"", "\"started_at\"", "\"quick\"", "\"experiments\"", "\"seed\""]
        .map(|field| text.find(field).unwrap())
        .into();
    assert!(places.is_sorted(), "{places:?}");
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let first = &json["experiments"][0];
    assert_eq!((first["id"].as_str(), first["verdict"].as_str()), (Some("direct-produce"), Some("shown")));
    assert_eq!((&first["off"]["violations"], &first["on"]["trials"]), (&190.into(), &12_400.into()));
    assert_eq!((&first["off"]["lost"], &first["faults"]), (&190.0.into(), &165.into()));
    assert_eq!(first["off"]["variants"][1], serde_json::json!({"name": "SIGKILL", "trials": 840, "violations": 40}));
    assert_eq!(json["experiments"][4]["verdict"], "not shown");

    let read = Report::read(&dir.path().join(JSON)).unwrap();
    assert_eq!((read.started_at, read.seed, read.experiments.len()), (report.started_at, 1, 5));
    for (read, written) in read.experiments.iter().zip(&report.experiments) {
        assert_eq!((&read.id, read.verdict, read.faults), (&written.id, written.verdict, written.faults));
        assert_eq!((&read.off, &read.on, &read.error), (&written.off, &written.on, &written.error));
        assert_eq!((&read.wirings, &read.pictures, &read.notes), (&written.wirings, &written.pictures, &written.notes));
        assert!(read.charts.is_empty(), "drawn already");
    }
    for picture in report.experiments.iter().flat_map(|entry| &entry.pictures) {
        assert!(dir.path().join(PICTURES).join(&picture.file).exists(), "{}", picture.file);
    }
}

#[test]
fn a_link_leads_from_the_report_to_the_code() {
    let dir = tempfile::tempdir().unwrap();
    let from = dir.path().join("target/lab");
    fs::create_dir_all(&from).unwrap();
    assert_eq!(way_to(dir.path(), &from).as_deref(), Some("../../"));
    fs::create_dir_all(dir.path().join("source")).unwrap();
    assert_eq!(way_to(&dir.path().join("source"), &from).as_deref(), Some("../../source/"));
    assert_eq!(way_to(Path::new("/nowhere/at/all"), &from), None);
}

#[test]
fn verdicts_are_counted_and_none_at_all_is_no_success() {
    let mut report = sample::report();
    assert_eq!((report.shown(), report.faults(), report.all_shown()), (3, 3 * 165 + 1, false));
    report.experiments.truncate(3);
    assert!(report.all_shown());
    report.experiments.clear();
    assert!(!report.all_shown());
}

/// Leaves the report of invented findings where MADANG_LAB_SAMPLE says, to be looked at in a browser.
#[test]
fn a_sample_can_be_looked_at() {
    if let Some(dir) = std::env::var_os("MADANG_LAB_SAMPLE") {
        sample::report().write(Path::new(&dir), Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
    }
}
