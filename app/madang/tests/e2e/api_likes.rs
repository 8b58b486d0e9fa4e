//! Likes over HTTP: once per member, and all of them counted when a crowd comes at once.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::http::{Call, Http};
use crate::server::{ADMIN, TestServer, is_long_run};

const CONNECTIONS: usize = 100;
const CROWD: usize = 600;
const LONG_CROWD: usize = 3_000;

fn state(liked: bool, like_count: usize) -> Value {
    json!({"liked": liked, "like_count": like_count})
}

#[test]
fn a_like_is_given_seen_listed_and_taken_back() {
    let server = TestServer::shared();
    let (member, token) = server.member("dora");
    let article = server.article_id(&server.general(), &token);
    let path = format!("/api/v1/articles/{article}/like");
    let call = |method: &str| server.call(method, &path).token(&token).send().json(200);
    assert_eq!(call("GET"), state(false, 0));
    for _ in 0..2 {
        assert_eq!(call("PUT"), state(true, 1));
    }
    assert_eq!((call("GET"), server.get(&path).json(200)), (state(true, 1), state(false, 1)));
    let likers = server.get(&format!("{path}s")).json(200);
    assert_eq!(likers["items"][0]["member"], json!({"member_id": member, "name": server.own("dora")}));
    assert_eq!((likers["items"].as_array().unwrap().len(), &likers["next"]), (1, &Value::Null));
    for _ in 0..2 {
        assert_eq!(call("DELETE"), state(false, 0));
    }
    for method in ["PUT", "DELETE"] {
        server.call(method, &path).send().problem(401, "a guest");
    }
    server.call("GET", &path).token("forged").send().problem(401, "not a guest");
    for id in ["1", "abc"] {
        for method in ["PUT", "DELETE", "GET"] {
            let path = format!("/api/v1/articles/{id}/like");
            server.call(method, &path).token(&token).send().problem(404, id);
        }
        server.get(&format!("/api/v1/articles/{id}/likes")).problem(404, id);
    }
    server.get(&format!("{path}s?after=x")).problem(400, "no cursor");
    server.get(&format!("{path}s?limit=101")).problem(422, "too many");
}

/// Each member sends one request; all of them over a limited number of connections, at once.
fn by_all(server: &TestServer, method: &str, path: &str, members: &[(i64, String)]) -> Vec<Value> {
    std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..CONNECTIONS)
            .map(|lane| {
                let mine = members.iter().skip(lane).step_by(CONNECTIONS);
                scope.spawn(move || {
                    let mut http = Http::connect(&server.address).unwrap();
                    let call = |(_, token): &(i64, String)| {
                        let call = Call::new(&server.address, method, path).token(token);
                        call.send_on(&mut http).unwrap().json(200)
                    };
                    mine.map(call).collect::<Vec<_>>()
                })
            })
            .collect();
        lanes.into_iter().flat_map(|lane| lane.join().unwrap()).collect()
    })
}

fn likers(server: &TestServer, path: &str) -> HashSet<i64> {
    let mut found = HashSet::new();
    let mut after = String::new();
    loop {
        let step = server.get(&format!("{path}s?limit=100{after}")).json(200);
        for liker in step["items"].as_array().unwrap() {
            let id = liker["member"]["member_id"].as_str().unwrap().parse().unwrap();
            assert!(found.insert(id), "{id} is listed twice");
        }
        let Some(next) = step["next"].as_str() else { return found };
        after = format!("&after={next}");
    }
}

#[test]
fn every_like_of_a_crowd_is_counted() {
    let server = TestServer::shared();
    let members = server.seeded_members(if is_long_run() { LONG_CROWD } else { CROWD });
    let article = server.article_id(&server.general(), &server.sign_in(ADMIN));
    let path = format!("/api/v1/articles/{article}/like");

    let answers = by_all(&server, "PUT", &path, &members);
    let counts: HashSet<_> = answers.iter().map(|answer| answer["like_count"].as_u64().unwrap()).collect();
    assert_eq!(counts, (1..=members.len() as u64).collect(), "each was told a count of its own");
    assert_eq!(server.get(&path).json(200), state(false, members.len()));
    assert_eq!(likers(&server, &path), members.iter().map(|(id, _)| *id).collect());

    let (leaving, staying) = members.split_at(members.len() / 3);
    by_all(&server, "DELETE", &path, leaving);
    assert_eq!(server.get(&path).json(200), state(false, staying.len()));
    assert_eq!(likers(&server, &path), staying.iter().map(|(id, _)| *id).collect());
    server.check();
}
