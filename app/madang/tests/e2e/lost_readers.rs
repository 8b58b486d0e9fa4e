//! Addresses that lead nowhere: people get a page, programs a problem.

use crate::server::TestServer;

#[test]
fn people_who_are_lost_get_a_page_and_programs_a_problem() {
    let server = TestServer::shared();
    let get = |path: &str, accept: &str| server.call("GET", path).header("accept", accept).send();
    let browser = "text/html,application/xhtml+xml,*/*;q=0.8";
    for path in ["/nowhere", "/nowhere/at-all", "/nowhere/at/all", "/articles/1/2/3/4"] {
        let page = get(path, browser);
        assert_eq!(page.status, 404, "{path}");
        assert!(page.header("content-type").unwrap_or_default().starts_with("text/html"), "{path}");
        assert!(page.text().contains("<html"), "{path}");
        get(path, "application/json").problem(404, path);
    }
    get("/api/v1/no/such/call", browser).problem(404, "below the API everything is for programs");
}
