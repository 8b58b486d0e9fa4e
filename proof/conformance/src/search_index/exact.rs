//! Exactly what a plain scan finds, for every kind of query, and nothing for what is syntax elsewhere.

use madang_search::{Filters, Order};

use super::SearchIndexHarness;
use super::corpus::Wanted::{self, Families, Family, Part};
use super::corpus::{TEXTS, scan, texts};
use super::site::{Site, put};

/// The kinds of query, each with what a text must have.
const QUERIES: &[(&str, &str, &[Wanted])] = &[
    ("a single syllable", "형", &[Part("형")]),
    ("a compound", "대학교", &[Part("대학교")]),
    ("a compound of compounds", "서울대학교", &[Part("서울대학교")]),
    ("two words", "검색 학교", &[Part("검색"), Part("학교")]),
    ("mixed scripts", "뉴스9 rust", &[Part("뉴스9"), Family("Rust")]),
    ("a word before a particle", "iphone은", &[Part("Phone은")]),
    ("English stems", "searches", &[Family("search")]),
    ("more stems", "CONNECTION run", &[Family("connect"), Family("run")]),
    ("C++", "c++", &[Family("C++")]),
    ("C#", "C#", &[Family("C#")]),
    ("C", "c", &[Family("c")]),
    ("decomposed input", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}\u{110b}\u{1165}", &[Part("한국어")]),
    ("an emoji", "👍", &[Part("👍")]),
    ("a flag", "🇰🇷", &[Part("🇰🇷")]),
    ("an emoji without its variant", "❤", &[Part("❤")]),
    ("quotes", "\"the board\"", &[Families(&["the", "board"])]),
    ("stop words", "the of", &[Family("the"), Family("of")]),
    ("letters on their own", "ㅋㅋ", &[Part("ㅋㅋ")]),
    ("Han", "東京", &[Part("東京")]),
    ("kana within a word", "エンジン", &[Part("エンジン")]),
    ("a number", "2026", &[Family("2026")]),
    ("nothing that is there", "없는말", &[Part("없는말")]),
];

pub(super) async fn every_kind_of_query_finds_what_a_plain_scan_of_ten_thousand_texts_finds<H: SearchIndexHarness>(
    harness: H,
) {
    let site = Site::open(harness).await;
    let texts = texts();
    for slice in texts.chunks(500) {
        let changes = slice.iter().map(|text| put(text.number, 1, &text.title, &text.body)).collect();
        assert_eq!(site.apply(changes).await, 500);
    }
    assert_eq!(site.index.size().await.unwrap().documents, TEXTS as u64);
    for (kind, typed, wanted) in QUERIES {
        let expected = scan(&texts, wanted);
        let is_empty_on_purpose = kind.starts_with("nothing");
        assert_eq!(expected.is_empty(), is_empty_on_purpose, "{kind}: the scan of {typed:?} finds {}", expected.len());
        assert_eq!(site.newest(typed).await, expected, "{kind}: {typed:?}");
        // By relevance the best thousand, each of them one that is expected.
        let relevant = site.all(typed, Filters::default(), Order::Relevance, 50).await;
        assert_eq!(relevant.len(), expected.len().min(1_000), "{kind}: {typed:?}");
        let mut distinct = relevant.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), relevant.len(), "{kind}: {typed:?} repeats hits");
        assert!(distinct.iter().all(|id| expected.binary_search_by(|one| id.cmp(one)).is_ok()), "{kind}: {typed:?}");
    }
    // Of a hundred characters, all must be there.
    let long = "검색 대학교 ".repeat(12) + "학교";
    assert_eq!(site.newest(&long).await, scan(&texts, &[Part("검색"), Part("대학교")]));
    let longest = "가나다라".repeat(25);
    assert_eq!((longest.chars().count(), site.newest(&longest).await), (100, vec![]));
}

pub(super) async fn any_syntax_is_text<H: SearchIndexHarness>(harness: H) {
    let site = Site::open(harness).await;
    let text = "NEAR of title and body: select star from table where 1 = 1, not a wild card";
    site.apply(vec![put(1, 1, "plain", text), put(2, 1, "other", "nothing of that")]).await;
    for (typed, finds) in [
        ("NEAR(title body)", false),
        ("NEAR OF (title)", true),
        ("title : body", true),
        ("title:body", false),
        ("wild* car*", false),
        ("sel*", false),
        ("* OR NOT", false),
        ("title AND body", true),
        ("^plain -other", false),
        ("{title}:select", false),
        ("\"select star\" + \"from table\"", true),
        ("\"unbalanced", false),
        ("a\"b\"c\"", false),
        ("'; DROP TABLE article; --", false),
        ("/.*/ [a TO z] title~2 body^9", false),
        ("\\\"\\", false),
        ("(((((", false),
        ("1 = 1", true),
        ("\u{0} \u{feff} \u{ffff}", false),
    ] {
        let query = madang_search::Query::parse(typed).unwrap();
        let found = if query.is_empty() { Vec::new() } else { site.newest(typed).await };
        assert_eq!(found, if finds { vec![1] } else { vec![] }, "{typed:?}");
    }
}

pub(super) async fn a_title_counts_more_than_a_text<H: SearchIndexHarness>(harness: H) {
    let site = Site::open(harness).await;
    let filler = "다른 말이 많은 글 ".repeat(5);
    site.apply(vec![
        put(1, 1, "축제 소식", &filler),
        put(2, 1, "다른 소식", &format!("축제 {filler}")),
        put(3, 1, "아무 소식", &filler),
    ])
    .await;
    assert_eq!(site.all("축제", Filters::default(), Order::Relevance, 10).await, [1, 2]);
}
