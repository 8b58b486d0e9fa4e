//! What the search index costs: `cargo run --release -p madang-sqlite --example search_rates -- 100000`. Prints the time to index
//! a text, the longest write, the size of the file, and the time of questions about common and rare words.

#![allow(clippy::unwrap_used, reason = "a measurement fails by panicking")]
#![allow(clippy::print_stdout, reason = "it prints what it measured")]
#![allow(clippy::cast_possible_wrap, reason = "it counts to millions")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use madang_board::{ArticleId, BoardId, MemberId};
use madang_event::Writer;
use madang_kernel::{Id, SystemClock, Timestamp};
use madang_search::{Change, Document, Filters, Order, Query, SearchIndex, SearchRequest, SourceArticle};
use madang_sqlite::{SqliteOptions, SqliteSearch};

const WORDS: [&str; 24] = [
    "마당",
    "게시판",
    "검색",
    "대학교",
    "축제",
    "서울",
    "오늘",
    "이야기",
    "사람들",
    "프로그램",
    "데이터베이스",
    "커뮤니티",
    "running",
    "search",
    "board",
    "the",
    "of",
    "connection",
    "students",
    "Rust",
    "C++",
    "database",
    "message",
    "system",
];

fn text(number: u64) -> SourceArticle {
    let mut random = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |end: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 11) % end
    };
    // The first words are in nearly every text, the last in few; names are in one text in a thousand.
    let words: Vec<String> = (0..60)
        .map(|_| match next(20) {
            0 => format!("이름{}", next(1_000)),
            _ => {
                let (one, other) = (next(24), next(24));
                WORDS[usize::try_from(one.min(other)).unwrap()].to_owned()
            }
        })
        .collect();
    SourceArticle {
        article_id: ArticleId::from_raw(number as i64),
        board_id: BoardId::from_raw(1),
        title: words[..5].join(" "),
        content_html: format!("<p>{}</p>", words[5..].join(" ")),
        writer: Writer { member_id: MemberId::from_raw(1 + (number % 50) as i64), name: "ann".to_owned() },
        created_at: Timestamp::from_millis(number as i64),
        version: 1,
    }
}

#[tokio::main]
async fn main() {
    let count: u64 = std::env::args().nth(1).map_or(100_000, |count| count.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let db = madang_sqlite::open(SqliteOptions::in_directory(directory.path()), Arc::new(SystemClock)).unwrap();
    let index = SqliteSearch::new(db.clone()).with_search_max(Duration::from_secs(60));
    let first = index.rebuild().await.unwrap().unwrap();
    index.finish_rebuild(first.number).await.unwrap();
    let (mut analysed, mut written, mut longest) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    for slice in (1..=count).collect::<Vec<_>>().chunks(8) {
        let begun = Instant::now();
        let changes = slice.iter().map(|number| Change::Put(Box::new(Document::of_article(&text(*number))))).collect();
        analysed += begun.elapsed();
        let begun = Instant::now();
        index.apply(changes, None).await.unwrap();
        written += begun.elapsed();
        longest = longest.max(begun.elapsed());
    }
    let each = |all: Duration| all.as_secs_f64() * 1e6 / count as f64;
    println!("{count} texts of 60 words: {:.0} µs to analyse, {:.0} µs to write each", each(analysed), each(written));
    println!("longest write of 8 texts with its COMMIT: {:.1} ms", longest.as_secs_f64() * 1e3);
    db.close().await;
    let bytes = std::fs::metadata(directory.path().join(madang_sqlite::DATABASE_FILE)).unwrap().len();
    println!("file: {:.1} MB, {:.0} bytes a text", bytes as f64 / 1e6, bytes as f64 / count as f64);
    let db = madang_sqlite::open(SqliteOptions::in_directory(directory.path()), Arc::new(SystemClock)).unwrap();
    let index = SqliteSearch::new(db.clone()).with_search_max(Duration::from_secs(60));
    for typed in ["마당", "the", "students", "이름77", "마당 이름77", "\"마당 검색\"", "마", "없는말"] {
        for order in [Order::Relevance, Order::Newest] {
            let query = Query::parse(typed).unwrap();
            let request = SearchRequest { query, filters: Filters::default(), order, after: None, limit: 20 };
            let mut times = Vec::new();
            for _ in 0..50 {
                let begun = Instant::now();
                index.search(request.clone()).await.unwrap();
                times.push(begun.elapsed());
            }
            times.sort_unstable();
            let millis = |at: usize| times[at].as_secs_f64() * 1e3;
            println!("{typed:20} {order:?}: median {:.2} ms, longest of 50 {:.2} ms", millis(25), millis(49));
        }
    }
    db.close().await;
}
