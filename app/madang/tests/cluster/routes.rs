//! Which role serves a call, by method and path: what the proxy in front of a cluster is configured to do.

/// The role of a call.
pub(crate) fn role_of(method: &str, path: &str) -> &'static str {
    let path = path.split('?').next().unwrap_or(path);
    let Some(rest) = path.strip_prefix("/api/v1/") else { return "web" };
    let parts: Vec<&str> = rest.split('/').collect();
    match (method, parts.as_slice()) {
        (_, ["members", _, "articles"]) => "article",
        (_, ["members", _, "comments"]) => "comment",
        (_, ["members" | "sessions" | "password-resets" | "reports" | "moderation", ..]) => "member",
        (_, ["articles" | "comments", _, "reports"] | ["boards", _, "moderators", ..]) => "member",
        (_, ["comments", ..] | ["articles", _, "comments" | "lock", ..]) => "comment",
        (_, ["articles", _, "like" | "likes", ..]) => "like",
        (_, ["articles", _, "views", ..]) => "view",
        (_, ["hot-articles", ..]) => "hot-article",
        ("GET", ["articles", _] | ["boards", _, "articles"]) => "article-read",
        _ => "article",
    }
}

#[test]
fn each_call_has_its_role() {
    for (method, path, role) in [
        ("POST", "/api/v1/members", "member"),
        ("DELETE", "/api/v1/sessions/current", "member"),
        ("GET", "/api/v1/members/1/articles?limit=2", "article"),
        ("GET", "/api/v1/members/1/comments", "comment"),
        ("PUT", "/api/v1/members/1/suspension", "member"),
        ("PUT", "/api/v1/password-resets/token", "member"),
        ("GET", "/api/v1/boards/1/moderators", "member"),
        ("PUT", "/api/v1/boards/1", "article"),
        ("GET", "/api/v1/moderation/log", "member"),
        ("PUT", "/api/v1/reports/1/resolution", "member"),
        ("POST", "/api/v1/articles/1/reports", "member"),
        ("POST", "/api/v1/comments/1/reports", "member"),
        ("PUT", "/api/v1/boards/1/moderators/2", "member"),
        ("GET", "/api/v1/boards", "article"),
        ("GET", "/api/v1/articles?sort=active", "article"),
        ("GET", "/api/v1/boards/1/articles?page=2", "article-read"),
        ("GET", "/api/v1/boards/1/articles/count", "article"),
        ("POST", "/api/v1/boards/1/articles", "article"),
        ("GET", "/api/v1/articles/1", "article-read"),
        ("PUT", "/api/v1/articles/1", "article"),
        ("GET", "/api/v1/articles/1/comments", "comment"),
        ("PUT", "/api/v1/articles/1/like", "like"),
        ("PUT", "/api/v1/articles/1/pin", "article"),
        ("POST", "/api/v1/articles/1/restore", "article"),
        ("POST", "/api/v1/comments/1/restore", "comment"),
        ("DELETE", "/api/v1/articles/1/lock", "comment"),
        ("POST", "/api/v1/articles/1/views", "view"),
        ("GET", "/api/v1/hot-articles", "hot-article"),
        ("GET", "/", "web"),
    ] {
        assert_eq!(role_of(method, path), role, "{method} {path}");
    }
}
