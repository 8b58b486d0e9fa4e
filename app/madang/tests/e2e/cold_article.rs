//! A read that misses: one rebuild, however many ask.

use std::sync::Barrier;

use serde_json::Value;

use crate::http::{Call, Http};
use crate::server::{ADMIN, TestServer};
use crate::truth::figure;

const CLIENTS: usize = 512;
const REBUILDS: &str = "madang_read_rebuilds_total{kind=\"article\"}";

#[test]
fn a_cold_article_is_rebuilt_once_for_512_clients() {
    let server = TestServer::fresh();
    let token = server.sign_in(ADMIN);
    let article = server.article(&server.general(), &token, "cold");
    let path = format!("/api/v1/articles/{}", article["article_id"].as_str().unwrap());
    for round in 0..3 {
        server.command(&["rebuild", "read-model"], "").expect(0);
        let (rebuilds, begin) = (figure(&server, REBUILDS), Barrier::new(CLIENTS));
        let ask = || {
            let mut http = Http::connect(&server.address).unwrap();
            begin.wait();
            Call::new(&server.address, "GET", &path).send_on(&mut http).unwrap().json(200)
        };
        let told: Vec<Value> = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(ask)).collect();
            clients.into_iter().map(|client| client.join().unwrap()).collect()
        });
        assert!(told.iter().all(|told| *told == article), "everybody gets the article");
        assert_eq!(figure(&server, REBUILDS) - rebuilds, 1.0, "round {round}");
    }
}
