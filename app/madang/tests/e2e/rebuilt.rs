//! Derived data may be dropped at any moment: what was read before is what is read after.

use serde_json::{Value, json};

use crate::command;
use crate::deleted_article::fill;
use crate::server::{ADMIN, Start, TestServer, eventually};
use crate::site_day::{becomes, hot_items, noon_zone, today};
use crate::truth;

/// More than the newest thousand that a list keeps.
const ARTICLES: usize = 1_250;
/// Every so many articles are read one by one too.
const READ_EVERY: usize = 25;

/// Everything a reader can get: articles, numbered pages, the walk by cursor, the hot lists.
fn everything(server: &TestServer, boards: &[String]) -> Value {
    let mut seen = json!({"hot": server.get("/api/v1/hot-articles").json(200)});
    for board in boards {
        let path = format!("/api/v1/boards/{board}/articles");
        let pages: Vec<_> = (1..=ARTICLES / 100 + 2)
            .map(|page| server.get(&format!("{path}?page={page}&page_size=100")).json(200))
            .collect();
        let ids = pages.iter().flat_map(|page| page["items"].as_array().unwrap()).map(|item| &item["article_id"]);
        let alone: Vec<_> = ids
            .step_by(READ_EVERY)
            .map(|id| server.get(&format!("/api/v1/articles/{}", id.as_str().unwrap())).json(200))
            .collect();
        seen[board] = json!({"pages": pages, "walk": walk(server, &path), "alone": alone});
    }
    seen
}

fn walk(server: &TestServer, path: &str) -> Vec<Value> {
    let (mut steps, mut before) = (Vec::new(), String::new());
    loop {
        let step = server.get(&format!("{path}?limit=70{before}")).json(200);
        let next = step["next"].as_str().map(|next| format!("&before={next}"));
        steps.push(step);
        match next {
            Some(next) => before = next,
            None => return steps,
        }
    }
}

#[test]
fn a_rebuild_of_the_query_model_or_of_the_hot_list_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (data, zone) = (directory.path(), noon_zone());
    let server = Start::in_directory(data).with_admin().set("time_zone", &zone).start();
    let (token, date) = (server.sign_in(ADMIN), today(&zone));
    command::run(data, &["seed", "--board", "big", "--articles", &ARTICLES.to_string()], "").expect(0);
    let boards = server.get("/api/v1/boards").json(200);
    let boards: Vec<_> = boards["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|board| board["board_id"].as_str().unwrap().to_owned())
        .collect();
    let members = server.seeded_members(3);
    let discussed: Vec<_> = (0..3).map(|_| server.article_id(&server.general(), &token)).collect();
    for (number, article) in discussed.iter().enumerate() {
        fill(&server, article, &members[number..]);
    }
    let deleted = server.article_id(&server.general(), &token);
    fill(&server, &deleted, &members);
    assert_eq!(server.call("DELETE", &format!("/api/v1/articles/{deleted}")).token(&token).send().status, 204);
    becomes(&truth::hot_list(&truth::articles(data)), || hot_items(&server, date));
    // The days before become final by themselves, which is no doing of a rebuild.
    eventually("the days before are final", || {
        let lists = server.get("/api/v1/hot-articles").json(200);
        lists["days"].as_array().unwrap()[1..].iter().all(|day| day["final"] == true).then_some(())
    });

    let before = everything(&server, &boards);
    assert_eq!(before["hot"]["days"][0]["items"].as_array().unwrap().len(), 3);
    let said = command::run(data, &["rebuild", "read-model"], "").expect(0);
    assert!(said.stdout.contains("emptied the query model") && !said.stdout.contains("of 0 articles"), "{said:?}");
    assert_eq!(everything(&server, &boards), before, "after the query model was dropped");
    let said = command::run(data, &["rebuild", "hot"], "").expect(0);
    assert!(said.stdout.contains("and corrected 0"), "{said:?}");
    assert_eq!(everything(&server, &boards), before, "after the ranking was computed anew");
    server.stop();

    // Now the ranking is wrong, and a rebuild makes it right, without a server as well.
    let alone = |arguments: &[&str]| {
        let zone = format!("time_zone={zone}");
        command::run(data, &[arguments, &["--set", &zone]].concat(), "")
    };
    let file = rusqlite::Connection::open(data.join(madang_sqlite::DATABASE_FILE)).unwrap();
    assert_eq!(file.execute("UPDATE hot_score SET score = 1000 - score WHERE deleted = 0", []).unwrap(), 3);
    drop(file);
    assert!(alone(&["check"]).expect(1).stdout.contains("has a score of"));
    let said = alone(&["rebuild", "hot"]).expect(0);
    assert!(said.stdout.contains("and corrected 3"), "{said:?}");
    let said = alone(&["rebuild", "read-model"]).expect(0);
    assert!(said.stdout.contains("no server is running"), "{said:?}");
    alone(&["check"]).expect(0);
    let server = Start::in_directory(data).set("time_zone", &zone).start();
    assert_eq!(everything(&server, &boards), before, "after a restart");
    command::run(data, &["check"], "").expect(0);
}
