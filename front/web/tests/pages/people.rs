//! Members, roles, the set-up and the administration.

use crate::support::{PASSWORD, TestSite};
use madang_board::Role;

#[tokio::test]
async fn signing_up_signs_in_and_signing_out_ends_it() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    ann.get("/").await.says("<bdi>ann</bdi>").says("Sign out");
    let cookie = ann.cookie("madang_session").unwrap();
    assert_eq!(ann.submit("/", "/sign-out", &[]).await.leads_to(), "/");
    assert_eq!(ann.cookie("madang_session"), None);
    assert!(site.state.members.authenticate(&cookie).is_err(), "the token itself has ended");
    ann.get("/").await.says("Sign in");
}

#[tokio::test]
async fn signing_in_leads_back_to_this_site_only() {
    let site = TestSite::open().await;
    site.member("ann").await;
    let sign_in = |back: &'static str| {
        let guest = site.guest();
        async move { guest.post("/sign-in", &[("name", "ann"), ("password", PASSWORD), ("return", back)]).await.leads_to() }
    };
    assert_eq!(sign_in("/b/general?page=2").await, "/b/general?page=2");
    assert_eq!(sign_in("https://evil.example/").await, "/");
    assert_eq!(sign_in("//evil.example/").await, "/");
}

#[tokio::test]
async fn wrong_names_and_passwords_come_back_with_the_name() {
    let site = TestSite::open().await;
    site.member("ann").await;
    let guest = site.guest();
    let wrong = guest.post("/sign-in", &[("name", "ann"), ("password", "wrong wrong")]).await;
    wrong.assert(401).says("Name or password is wrong").says("value=\"ann\"").is_silent_about("wrong wrong");
    guest.post("/sign-up", &[("name", "ANN"), ("password", PASSWORD)]).await.assert(409).says("This name is taken");
    let short = guest.post("/sign-up", &[("name", "\"<b>"), ("password", "short")]).await;
    short.assert(422).says("value=\"&quot;&lt;b&gt;\"").says("must have 8 to 128 characters");
    let korean = site.guest().speaking("ko");
    korean.post("/sign-up", &[("name", "a"), ("password", "short")]).await.assert(422).says("8~128자여야 합니다");
    guest.post_with("/sign-in", &[("sec-fetch-site", "cross-site")], &[("name", "ann")]).await.assert(403);
}

#[tokio::test]
async fn the_token_makes_one_administrator_and_is_then_used() {
    let site = TestSite::open().await;
    let guest = site.guest();
    for token in ["", "wrong", "righ", "rights"] {
        let fields = [("token", token), ("name", "eve"), ("password", PASSWORD)];
        guest.post("/setup", &fields).await.assert(403).says("not the token that the server printed");
    }
    let form = guest.get("/setup?token=right").await;
    form.assert(200).is_silent_about("right\"");
    assert_eq!((form.header("referrer-policy"), form.header("cache-control")), ("no-referrer", "no-store"));
    let wrong = guest.post("/setup", &[("token", "right"), ("name", "\"<b>"), ("password", PASSWORD)]).await;
    wrong.assert(422).says("value=\"&quot;&lt;b&gt;\"").says("role=\"alert\"");
    let try_as = |name: &'static str| {
        let guest = site.guest();
        async move {
            guest.post("/setup", &[("token", "right"), ("name", name), ("password", PASSWORD)]).await.status.as_u16()
        }
    };
    let (ann, bob) = tokio::join!(try_as("ann"), try_as("bob"));
    assert_eq!((ann, bob), (201, 410));
    assert_eq!(site.state.members.sign_in("ann", PASSWORD).await.unwrap().member.role, Role::Admin);
    assert!(site.state.members.sign_in("bob", PASSWORD).await.is_err());
    guest.get("/setup").await.assert(410);
    let again = guest.post("/setup", &[("token", "right"), ("name", "cat"), ("password", PASSWORD)]).await;
    again.assert(410);
}

#[tokio::test]
async fn administrators_make_boards_and_give_roles() {
    let site = TestSite::open().await;
    let root = site.with_role("root", Role::Admin).await;
    let ann = site.member("ann").await;
    ann.get("/admin").await.assert(403);
    site.guest().get("/admin").await.assert(401);
    root.get("/admin").await.assert(200).says("takes writes").says("/b/general");
    let board = [("slug", "news"), ("title", "<i>News</i>"), ("comment_mode", "tree")];
    ann.submit("/", "/admin/boards", &board).await.assert(403);
    assert_eq!(root.submit("/admin", "/admin/boards", &board).await.leads_to(), "/b/news");
    root.get("/b/news").await.assert(200).says("&lt;i&gt;News&lt;/i&gt;");
    let taken = root.submit("/admin", "/admin/boards", &board).await;
    taken.assert(422).says("Another board has this short name").says("value=\"news\"");

    let id = site.state.members.sign_in("ann", PASSWORD).await.unwrap().member.member_id;
    let page = format!("/members/{id}");
    site.guest().get(&page).await.assert(200).says("<bdi>ann</bdi>").is_silent_about("<select");
    let role = format!("{page}/role");
    assert_eq!(root.submit(&page, &role, &[("role", "moderator")]).await.leads_to(), page);
    root.get(&page).await.says("<option value=\"moderator\" selected>");
    root.submit(&page, &role, &[("role", "king")]).await.assert(400);
    ann.submit(&page, &role, &[("role", "admin")]).await.assert(403);
}
