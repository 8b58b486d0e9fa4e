//! The event stream of an open article, as a browser reads it.

use std::time::Duration;

use crate::support::TestSite;
use axum::body::{Body, BodyDataStream};
use axum::http::Request;
use futures_util::StreamExt;
use tower::ServiceExt;

/// Generous for a slow machine.
const HEARD_WITHIN: Duration = Duration::from_secs(20);

struct Listener {
    body: BodyDataStream,
    unread: String,
}

impl Listener {
    async fn open(site: &TestSite, article: &str, last: Option<&str>) -> Self {
        let mut request = Request::builder().uri(format!("{article}/live"));
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = site.pages.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { body: response.into_body().into_data_stream(), unread: String::new() }
    }

    /// The next event: its id and what it says.
    async fn next(&mut self) -> Option<(String, serde_json::Value)> {
        loop {
            if let Some((event, rest)) = self.unread.split_once("\n\n") {
                let line = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
                let found = line("id:").zip(line("data:"));
                let found = found.map(|(id, data)| (id.to_owned(), serde_json::from_str(data).unwrap()));
                self.unread = rest.to_owned();
                if found.is_some() {
                    return found;
                }
                continue;
            }
            let chunk = tokio::time::timeout(HEARD_WITHIN, self.body.next()).await.expect("hears something in time")?;
            self.unread.push_str(std::str::from_utf8(&chunk.unwrap()).unwrap());
        }
    }
}

#[tokio::test]
async fn an_open_article_hears_of_comments_and_likes() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "t", "c").await;
    let mut listener = Listener::open(&site, &article, None).await;
    let (_, first) = listener.next().await.unwrap();
    assert_eq!((&first["likes"], &first["comments"]), (&0.into(), &0.into()));
    let comment = ann.comment(&article, "hello", "").await;
    let (_, news) = listener.next().await.unwrap();
    assert_eq!((&news["comments"], &news["created"][0]), (&1.into(), &comment.as_str().into()));
    ann.submit(&article, &format!("{article}/like"), &[("like", "yes")]).await.leads_to();
    let (_, news) = listener.next().await.unwrap();
    assert_eq!((&news["likes"], &news["created"]), (&1.into(), &serde_json::json!([])));
    let edit = format!("/comments/{comment}/edit");
    ann.submit(&edit, &edit, &[("content", "hello again")]).await.leads_to();
    let (_, news) = listener.next().await.unwrap();
    let (told, none) = (serde_json::json!([comment]), serde_json::json!([]));
    assert_eq!((&news["comments"], &news["edited"], &news["created"]), (&1.into(), &told, &none));
    let delete = format!("/comments/{comment}/delete");
    ann.submit(&delete, &delete, &[]).await.leads_to();
    let (_, news) = listener.next().await.unwrap();
    assert_eq!((&news["comments"], &news["deleted"][0]), (&0.into(), &comment.as_str().into()));
    assert_eq!(news["edited"], serde_json::json!([]), "what is gone is not fetched again");
    let edit = format!("{article}/edit");
    ann.submit(&edit, &edit, &[("title", "t"), ("content", "other")]).await.leads_to();
    assert_eq!(listener.next().await.unwrap().1["version"], 2);
    let delete = format!("{article}/delete");
    ann.submit(&delete, &delete, &[]).await.leads_to();
    assert_eq!(listener.next().await.unwrap().1["gone"], true);
}

#[tokio::test]
async fn one_who_comes_back_is_told_what_was_missed() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "t", "c").await;
    let mut listener = Listener::open(&site, &article, None).await;
    let (id, _) = listener.next().await.unwrap();
    drop(listener);
    ann.comment(&article, "meanwhile", "").await;
    let mut back = Listener::open(&site, &article, Some(&id)).await;
    let (present, news) = back.next().await.unwrap();
    assert_eq!((&news["missed"], &news["comments"]), (&true.into(), &1.into()));
    drop(back);
    let mut again = Listener::open(&site, &article, Some(&present)).await;
    ann.comment(&article, "next", "").await;
    let (_, news) = again.next().await.unwrap();
    assert_eq!((&news["missed"], &news["comments"]), (&false.into(), &2.into()), "nothing was missed");
}

#[tokio::test]
async fn a_stream_ends_with_the_server_and_leaves_nothing_behind() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "t", "c").await;
    let mut listener = Listener::open(&site, &article, None).await;
    listener.next().await.unwrap();
    assert_eq!(site.live.streams(), 1);
    site.live.close();
    assert_eq!(listener.next().await, None);
    drop(listener);
    assert_eq!(site.live.streams(), 0);
    site.guest().get(&format!("{article}/live")).await.assert(503);
    site.guest().get("/articles/1/live").await.assert(503);
}

#[tokio::test]
async fn there_is_no_stream_of_what_does_not_exist() {
    let site = TestSite::open().await;
    site.guest().get("/articles/1/live").await.assert(404);
    site.guest().get("/articles/x/live").await.assert(404);
    assert_eq!(site.live.streams(), 0);
}

#[tokio::test]
async fn who_never_reads_holds_nothing_back() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "t", "c").await;
    let mut slow = Vec::new();
    for _ in 0..100 {
        slow.push(Listener::open(&site, &article, None).await);
    }
    let mut reader = Listener::open(&site, &article, None).await;
    for number in 1..=80 {
        ann.comment(&article, &format!("number {number}"), "").await;
    }
    while reader.next().await.unwrap().1["comments"] != 80 {}
    // Who reads at last is told the state, and not eighty times.
    let mut late = slow.pop().unwrap();
    assert_eq!(late.next().await.unwrap().1["comments"], 0, "the event that waited");
    let (_, news) = late.next().await.unwrap();
    assert_eq!((&news["comments"], &news["missed"]), (&80.into(), &true.into()));
    assert_eq!(news["created"].as_array().unwrap().len(), 64);
}

#[tokio::test]
async fn one_address_does_not_take_every_stream() {
    let site = TestSite::open().await;
    let article = site.member("ann").await.write("general", "t", "c").await;
    let mut open = Vec::new();
    for _ in 0..256 {
        open.push(Listener::open(&site, &article, None).await);
    }
    let ask = || {
        let request = Request::builder().uri(format!("{article}/live")).body(Body::empty()).unwrap();
        site.pages.clone().oneshot(request)
    };
    let refused = ask().await.unwrap();
    assert_eq!((refused.status().as_u16(), refused.headers()["retry-after"].to_str().unwrap()), (429, "60"));
    open.pop();
    assert_eq!(ask().await.unwrap().status(), 200, "one that ends makes room");
}
