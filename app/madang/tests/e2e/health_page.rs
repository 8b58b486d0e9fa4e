//! The page on which an administrator sees how the process fares, on the real binary: its figures are those of `/metrics`.

use crate::http::Call;
use crate::logged::Logged;
use crate::waiting::eventually;

/// What stands under a heading.
fn said<'a>(page: &'a str, name: &str) -> &'a str {
    let heading = format!("<h3>{name}</h3><p class=\"said\">");
    let (_, rest) = page.split_once(&heading).unwrap_or_else(|| panic!("{heading} in {page}"));
    rest.split_once("</p>").unwrap().0
}

#[test]
fn the_charts_show_what_this_process_did_and_what_it_has() {
    let server = Logged::start();
    let (token, _) = server.keeper();
    let page = || {
        let call =
            Call::new(&server.address, "GET", "/admin/health").header("cookie", &format!("madang_session={token}"));
        let answer = call.header("accept", "text/html").header("accept-language", "en").send();
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.text()
    };
    page();
    for _ in 0..20 {
        assert_eq!(server.page("/").status, 200);
    }
    // Lag and disk are looked at from time to time.
    let is_whole = |page: &String| {
        ["Lag", "Free disk space"]
            .iter()
            .all(|name| page.contains(&format!("<h3>{name}</h3>")) && !said(page, name).contains('–'))
    };
    let page = eventually("every chart has its figures", || Some(page()).filter(is_whole));
    assert!(!said(&page, "Requests").contains("now 0 a second"), "{page}");
    assert!(said(&page, "Latency").contains(">median ") && !said(&page, "Latency").contains('–'), "{page}");
    assert_eq!(said(&page, "Errors"), "0 answers with 5xx in 24 hours · highest 0 in five minutes");
    for (name, unit) in [("Memory", "MB"), ("Free disk space", "B")] {
        assert!(said(&page, name).contains(unit), "{name}: {}", said(&page, name));
    }
    assert_eq!(page.matches("<svg class=\"drawing\"").count(), 6, "{page}");
}
