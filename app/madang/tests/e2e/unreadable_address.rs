//! An address whose bytes are no text names nothing: a problem to programs, a page to people.

use crate::http::Call;
use crate::server::Start;

#[test]
fn an_address_that_is_no_text_names_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let server = Start::in_directory(directory.path()).with_admin().start();
    for path in ["/api/v1/hot-articles/%ff", "/api/v1/articles/%C0%80", "/api/v1/%ff"] {
        Call::new(&server.address, "GET", path).send().problem(404, "it names nothing");
    }
    for path in ["/b/%ff", "/articles/%ff", "/members/%E2%82", "/%ff"] {
        let told = Call::new(&server.address, "GET", path).header("accept", "text/html").send();
        assert_eq!(told.status, 404, "{path}");
        assert!(told.text().contains("</html>"), "{path} is told in a page");
    }
}
