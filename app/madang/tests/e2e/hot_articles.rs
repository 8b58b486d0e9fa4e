//! The hot list over HTTP: exact at every moment, in the days of the site.

use serde_json::{Value, json};

use crate::composition::Composition;
use crate::server::{ADMIN, Start, TestServer, eventually};
use crate::site_day::{becomes, date_of, hot_items, noon_zone, today};
use crate::truth;

const ARTICLES: usize = 13;
const MEMBERS: usize = 6;

/// Articles of today with what was done to each, as the list should have it.
struct Discussed<'a> {
    server: &'a TestServer,
    members: Vec<(i64, String)>,
    articles: Vec<Value>,
}

impl Discussed<'_> {
    fn path(&self, number: usize) -> String {
        format!("/api/v1/articles/{}", self.articles[number]["article_id"].as_str().unwrap())
    }

    fn change(&mut self, number: usize, field: &str, by: i64) {
        let count = self.articles[number][field].as_i64().unwrap() + by;
        self.articles[number][field] = count.into();
    }

    fn like(&mut self, number: usize, member: usize) {
        let call = self.server.call("PUT", &format!("{}/like", self.path(number)));
        assert_eq!(call.token(&self.members[member].1).send().json(200)["liked"], true);
        self.change(number, "like_count", 1);
    }

    fn unlike(&mut self, number: usize, member: usize) {
        let call = self.server.call("DELETE", &format!("{}/like", self.path(number)));
        assert_eq!(call.token(&self.members[member].1).send().json(200)["liked"], false);
        self.change(number, "like_count", -1);
    }

    fn comment(&mut self, number: usize) -> String {
        let call = self.server.call("POST", &format!("{}/comments", self.path(number)));
        let comment = call.token(&self.members[0].1).json(&json!({"content": "c"})).send().json(201);
        self.change(number, "comment_count", 1);
        comment["comment_id"].as_str().unwrap().to_owned()
    }

    fn view(&mut self, number: usize, guest: usize) {
        let article = self.articles[number]["article_id"].as_str().unwrap().to_owned();
        assert_eq!(self.server.view(&article, &format!("guest {guest}"))["counted"], true);
        self.change(number, "view_count", 1);
    }

    /// Waits until the list is what was done.
    #[track_caller]
    fn is_listed(&self, date: jiff::civil::Date) -> Value {
        let expected = truth::hot_list(&self.articles);
        becomes(&expected, || hot_items(self.server, date));
        expected
    }
}

fn order(items: &Value) -> Vec<&Value> {
    items.as_array().unwrap().iter().map(|item| &item["article_id"]).collect()
}

/// Thirteen articles on two boards; the later an article, the more is done to it, but two are alike.
fn discuss<'a>(server: &'a TestServer, token: &str) -> Discussed<'a> {
    let boards = [server.general(), server.trees()];
    let articles = (0..ARTICLES).map(|number| server.article(&boards[number % 2], token, &format!("title {number}")));
    let articles = articles.collect();
    let mut site = Discussed { server, members: server.seeded_members(MEMBERS), articles };
    for number in 1..ARTICLES {
        for member in 0..number % MEMBERS {
            site.like(number, member);
        }
        for _ in 0..number / MEMBERS {
            site.comment(number);
        }
        for guest in 0..number % 4 {
            site.view(number, guest);
        }
    }
    site
}

#[test]
fn scores_ranks_ties_and_titles_are_exact_whatever_is_done() {
    let zone = noon_zone();
    let mut server = Start::fresh().set("time_zone", &zone).start();
    let (token, date) = (server.sign_in(ADMIN), today(&zone));
    let mut site = discuss(&server, &token);
    let listed = site.is_listed(date);
    let (first, last) = (&listed[0], &listed[9]);
    assert!(first["score"].as_u64() > last["score"].as_u64(), "{listed:#}");
    let scores: Vec<_> = listed.as_array().unwrap().iter().map(|item| item["score"].as_u64()).collect();
    let tied = scores.windows(2).position(|pair| pair[0] == pair[1]).expect("two articles of equal score");
    assert!(order(&listed)[tied].as_str() < order(&listed)[tied + 1].as_str(), "the earlier article first");

    // The eleventh comes up when one falls: the last of the list loses everything it can lose.
    let falls = site.articles.iter().position(|article| article["article_id"] == last["article_id"]).unwrap();
    let comment = site.comment(falls);
    site.is_listed(date);
    server.call("DELETE", &format!("/api/v1/comments/{comment}")).token(&site.members[0].1).send();
    site.change(falls, "comment_count", -1);
    site.is_listed(date);
    for member in 0..site.articles[falls]["like_count"].as_u64().unwrap() as usize {
        site.unlike(falls, member);
    }
    let after = site.is_listed(date);
    assert_ne!(order(&after), order(&listed), "another is in its place");

    // A new title, and a deletion of the best.
    let best = site.articles.iter().position(|article| article["article_id"] == after[0]["article_id"]).unwrap();
    let body = json!({"title": "a new title", "content": "text"});
    server.call("PUT", &site.path(best)).token(&token).json(&body).send().json(200);
    site.articles[best]["title"] = "a new title".into();
    assert_eq!(site.is_listed(date)[0]["title"], "a new title");
    assert_eq!(server.call("DELETE", &site.path(best)).token(&token).send().status, 204);
    // At once: what is deleted is not shown, whether the group has heard of it or not.
    let items = hot_items(&server, date);
    assert!(!order(&items).contains(&&site.articles[best]["article_id"]), "{items:#}");
    site.articles.remove(best);
    assert_eq!(order(&site.is_listed(date)).len(), 10);

    // Everything so far, in the tables, to a check, and after a restart.
    let expected = truth::hot_list(&site.articles);
    if Composition::chosen() == Composition::Embedded {
        assert_eq!(truth::hot_list(&truth::articles(server.data())), expected);
    }
    server.check();
    server.restart();
    assert_eq!(hot_items(&server, date), expected, "a restart changes nothing");
    server.check();
}

#[test]
fn seven_days_have_a_list_newest_first() {
    let zone = noon_zone();
    let server = Start::fresh().set("time_zone", &zone).start();
    let date = today(&zone);
    let article = server.article_id(&server.general(), &server.sign_in(ADMIN));
    server.call("PUT", &format!("/api/v1/articles/{article}/like")).token(&server.sign_in(ADMIN)).send().json(200);
    eventually("the article is listed", || hot_items(&server, date).get(0).cloned());
    let days_ago = |days: i64| date.checked_sub(jiff::Span::new().days(days)).unwrap().to_string();
    let lists = || server.get("/api/v1/hot-articles").json(200)["days"].as_array().unwrap().clone();
    let dates: Vec<_> = lists().iter().map(|day| day["date"].as_str().unwrap().to_owned()).collect();
    assert_eq!(dates, (0..7).map(days_ago).collect::<Vec<_>>());
    assert_eq!(lists()[0], server.get(&format!("/api/v1/hot-articles/{date}")).json(200));
    eventually("the days before are final", || {
        lists()[1..].iter().all(|day| day["final"] == true && day["items"] == json!([])).then_some(())
    });
    assert_eq!(lists()[0]["final"], false);
    assert_eq!(server.get(&format!("/api/v1/hot-articles/{}", days_ago(6))).json(200)["date"], days_ago(6));
    for outside in [days_ago(7), days_ago(-1), "1999-01-01".into(), "9999-12-31".into()] {
        server.get(&format!("/api/v1/hot-articles/{outside}")).problem(404, &outside);
    }
    for none in ["today", "2026-02-30", "2026-13-01", "20261116", "2026-1-1", "2026-01-01T00:00:00Z", "%20", "-"] {
        server.get(&format!("/api/v1/hot-articles/{none}")).problem(404, none);
    }
}

#[test]
fn a_site_in_another_time_zone_has_its_own_today() {
    let mut dates = Vec::new();
    // More than a day apart, so never on the same date.
    for zone in ["Pacific/Kiritimati", "Pacific/Niue"] {
        let server = Start::fresh().set("time_zone", zone).start();
        let token = server.sign_in(ADMIN);
        let article = server.article(&server.general(), &token, "of today there");
        let created: jiff::Timestamp = article["created_at"].as_str().unwrap().parse().unwrap();
        let (article, date) = (article["article_id"].as_str().unwrap(), date_of(zone, created.as_millisecond()));
        server.call("PUT", &format!("/api/v1/articles/{article}/like")).token(&token).send().json(200);
        let listed = eventually("the article is listed on its day", || {
            let day = server.get(&format!("/api/v1/hot-articles/{date}")).json(200);
            day["items"].get(0).cloned()
        });
        assert_eq!((&listed["article_id"], &listed["score"]), (&json!(article), &json!(3)));
        let newest = server.get("/api/v1/hot-articles").json(200)["days"][0]["date"].as_str().unwrap().to_owned();
        // Midnight may have passed since.
        assert!([date.to_string(), today(zone).to_string()].contains(&newest), "{newest} in {zone}");
        dates.push(date);
    }
    assert!(dates[0] > dates[1], "{dates:?}");
}
