//! What `/readyz` does not say where everybody can ask: which hosts there are, and what their errors were.

use crate::cluster::Cluster;
use crate::http::Call;
use crate::servers::Servers;
use madang_test_servers::ports;

#[test]
fn readiness_beside_the_pages_names_no_host_and_quotes_no_error() {
    let mut servers = Servers::of_environment();
    let away = format!("127.0.0.1:{}", ports::free());
    servers.mysql[1] = format!("mysql://root:x@{away}");
    servers.kafka = away.clone();
    let mut cluster =
        Cluster::prepared(&servers, &["member,article,comment,like,article-read,web", "view,hot-article"]);
    cluster.processes.iter_mut().for_each(|process| process.set("operations_listen=public"));
    cluster.start();
    for process in &cluster.processes {
        let said = Call::new(&process.address(), "GET", "/readyz").send().text();
        for word in ["127.0.0.1", "localhost", "http://", &away, "root", "refused", "error", "Error", "SQL", "os "] {
            assert!(!said.contains(word), "{word} in {said}");
        }
        for part in [r#""name":"mysql 1","ok":true"#, r#""name":"mysql 2","ok":false"#, r#""name":"kafka","ok":false"#]
        {
            assert!(said.contains(part), "{part} in {said}");
        }
        assert!(said.contains(r#""name":"peer 1 ("#), "{said}");
    }
    // Operators are told by a listener of their own.
    let mut cluster = Cluster::prepared(&Servers::of_environment(), &["all"]);
    cluster.start();
    assert_eq!(Call::new(&cluster.processes[0].address(), "GET", "/readyz").send().status, 404);
    assert!(cluster.processes[0].get("/readyz").text().contains("\"mysql 127.0.0.1:"));
}
