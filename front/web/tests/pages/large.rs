//! Small texts that want to be large pages, and large texts: what is sent is bounded, whatever people write.

use std::io::Read as _;

use crate::support::TestSite;

/// A page without its text.
const FRAME_BYTES_MAX: usize = 64 * 1_024;

/// 788 characters that a renderer without a bound makes 196 KB of.
fn sparse_table() -> String {
    format!("{}\n{}\n{}", "|a".repeat(99), "|-".repeat(99), "a\n".repeat(195))
}

/// A text of so many characters that becomes about as much HTML as a text may.
fn dense_links(chars: usize) -> String {
    "www.a.bcdef ".chars().cycle().take(chars).collect()
}

fn unzipped(body: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(body).read_to_string(&mut text).unwrap();
    text
}

#[tokio::test]
async fn thirty_small_comments_make_no_large_page() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "t", "text").await;
    for _ in 0..30 {
        ann.comment(&article, &sparse_table(), "").await;
    }
    let written = 30 * sparse_table().len();
    for person in [&site.guest(), &ann] {
        let page = person.get(&article).await.assert(200).text();
        assert!(page.len() <= 8 * written + FRAME_BYTES_MAX, "{} bytes of page for {written} of text", page.len());
        assert_eq!(page.matches("<li class=\"comment\"").count(), 30);
    }
}

#[tokio::test]
async fn a_page_ends_with_its_budget_and_goes_on_behind_a_link() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "t", "text").await;
    for _ in 0..30 {
        ann.comment(&article, &dense_links(3_000), "").await;
    }
    let (mut path, mut seen, mut pages) = (article.clone(), 0, 0);
    loop {
        let page = site.guest().get(&path).await.assert(200).text();
        assert!(page.len() <= 320 * 1_024 + FRAME_BYTES_MAX, "{} bytes", page.len());
        (seen, pages) = (seen + page.matches("<li class=\"comment\"").count(), pages + 1);
        let Some(rest) = page.split_once("id=\"more-comments\" href=\"") else { break };
        path = rest.1.split('"').next().unwrap().split('#').next().unwrap().replace("&amp;", "&");
    }
    assert!(seen == 30 && pages > 1, "{seen} comments on {pages} pages");
}

#[tokio::test]
async fn a_large_page_arrives_whole_compressed_or_not() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "t", &dense_links(20_000)).await;
    for person in [&site.guest(), &ann] {
        // Twice, because what guests ask for again is cached.
        for _ in 0..3 {
            let plain = person.get(&article).await.assert(200).text();
            assert!(plain.len() > 100 * 1_024 && plain.ends_with("</html>"), "{} bytes", plain.len());
            let zipped = person.get_with(&article, &[("accept-encoding", "gzip")]).await;
            assert_eq!(zipped.assert(200).header("content-encoding"), "gzip");
            let text = unzipped(&zipped.body);
            assert!(text.ends_with("</html>") && text.len().abs_diff(plain.len()) < 1_024);
        }
    }
}

#[tokio::test]
async fn a_feed_tells_the_first_words_of_what_does_not_fit() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    for number in 0..30 {
        ann.write("general", &format!("large {number}"), &dense_links(20_000)).await;
    }
    ann.write("general", "small", "a *small* one").await;
    for _ in 0..3 {
        let feed = site.guest().get_with("/b/general/feed.atom", &[("accept-encoding", "gzip")]).await;
        let feed = unzipped(&feed.assert(200).body);
        assert!(feed.len() <= 256 * 1_024 + FRAME_BYTES_MAX, "{} bytes", feed.len());
        assert_eq!(feed.matches("<entry>").count(), 30);
        assert!(feed.contains("a &lt;em&gt;small&lt;/em&gt; one"));
        let (whole, told) = (feed.matches("<content ").count(), feed.matches("<summary>www.a.bcdef ").count());
        assert!(whole >= 1 && told >= 20 && whole + told == 30, "{whole} whole and {told} told");
    }
}
