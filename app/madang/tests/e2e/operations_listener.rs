//! What operators ask is not for the public: a listener of its own on loopback, and nothing but `/healthz` beside the pages.

use std::net::TcpListener;

use crate::command::run;
use crate::http::Call;
use crate::server::{Start, TestServer};
use madang_test_servers::ports;

fn status(server: &TestServer, path: &str) -> u16 {
    server.get(path).status
}

#[test]
fn readiness_and_figures_are_told_to_operators_alone() {
    let operations = format!("127.0.0.1:{}", ports::free());
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let server = Start::in_directory(&data).with_admin().set("operations_listen", &operations).start();
    assert_eq!(["/healthz", "/readyz", "/metrics"].map(|path| status(&server, path)), [200, 404, 404]);
    let ask = |path: &str| Call::new(&operations, "GET", path).send();
    assert_eq!(
        ["/healthz", "/readyz", "/metrics", "/", "/api/v1/boards"].map(|path| ask(path).status),
        [200, 200, 200, 404, 404]
    );
    assert_eq!(ask("/readyz").json(200)["ready"], true);
    assert!(ask("/metrics").text().contains("madang_http_requests_total"), "{}", ask("/metrics").text());
    let taken = ["serve", "--listen", "127.0.0.1:0", "--set", &format!("operations_listen={operations}")];
    let refused = run(&directory.path().join("other"), &taken, "").expect(1);
    assert!(refused.stderr.contains("setting `operations_listen`"), "{refused:?}");
    server.stop();
}

#[test]
fn a_usual_port_that_is_taken_keeps_no_server_from_starting() {
    // Whoever else has it, it is taken.
    let _taken = TcpListener::bind("127.0.0.1:9180");
    let directory = tempfile::tempdir().unwrap();
    let start = Start::in_directory(&directory.path().join("data"));
    let server = start.set("operations_listen", "127.0.0.1:9180").start();
    assert_eq!(["/healthz", "/readyz", "/metrics"].map(|path| status(&server, path)), [200, 404, 404]);
    server.stop();
}

#[test]
fn an_operator_may_make_them_public() {
    let server = Start::fresh().set("operations_listen", "public").start();
    assert_eq!(["/healthz", "/readyz", "/metrics"].map(|path| server.ask("article", path).status), [200; 3]);
}
