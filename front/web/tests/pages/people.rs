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
async fn those_who_run_the_site_wear_a_badge_and_their_look_alikes_none() {
    let site = TestSite::open().await;
    let (root, ann) = (site.with_role("root", Role::Admin).await, site.member("ann").await);
    let article = root.write("general", "Rules", "Be kind.").await;
    ann.comment(&article, "Yes.", "").await;
    let shown = ann.get(&article).await;
    assert_eq!(shown.text().matches("class=\"badge\"").count(), 1, "the administrator's, on the article");
    root.comment(&article, "Good.", "").await;
    let shown = ann.get(&article).await;
    assert_eq!(shown.text().matches(">Administrator<").count(), 2, "and on a comment");
    ann.get("/members/1").await.assert(404);
    let taken = site.guest().post("/sign-up", &[("name", "moderat0r"), ("password", PASSWORD)]).await;
    taken.assert(422).says("is reserved for those who run the site");
}

#[tokio::test]
async fn a_member_sees_where_they_are_signed_in_and_ends_it() {
    let site = TestSite::open().await;
    let laptop = site.member("ann").await;
    let phone = site.guest();
    let fields = [("name", "ann"), ("password", PASSWORD)];
    let headers = [("sec-fetch-site", "same-origin"), ("user-agent", "Phone/1 <b>")];
    phone.post_with("/sign-in", &headers, &fields).await.leads_to();
    let page = laptop.get("/sessions").await;
    page.assert(200).says("Phone/1 &lt;b&gt;").says("this one").says("Sign out everywhere else");
    let id = |page: &str| {
        let others = page.split("Sign out there").next().unwrap();
        others.rsplit("action=\"/sessions/").next().unwrap().split('"').next().unwrap().to_owned()
    };
    let path = format!("/sessions/{}", id(&page.text()));
    site.member("ben").await.submit("/sessions", &path, &[]).await.assert(404);
    phone.get("/sessions").await.assert(200);
    assert_eq!(laptop.submit("/sessions", &path, &[]).await.leads_to(), "/sessions");
    phone.get("/sessions").await.assert(401);
    laptop.get("/sessions").await.assert(200).is_silent_about("Phone/1");

    phone.post_with("/sign-in", &headers, &fields).await.leads_to();
    assert_eq!(laptop.submit("/sessions", "/sessions/others", &[]).await.leads_to(), "/sessions");
    phone.get("/sessions").await.assert(401);
    site.guest().get("/sessions").await.assert(401);
}

#[tokio::test]
async fn the_link_makes_one_administrator_and_is_then_gone() {
    let site = TestSite::open().await;
    let guest = site.guest();
    for path in ["/setup", "/setup?token=", "/setup?token=wrong", "/setup?token=righ", "/setup?other=right"] {
        guest.get(path).await.assert(404).says("no set-up under this address");
    }
    let form = guest.get("/setup?token=right").await;
    form.assert(200);
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
    assert_eq!(
        site.state.members.sign_in("ann", PASSWORD, madang_member::Client::default()).await.unwrap().member.role,
        Role::Admin
    );
    assert!(site.state.members.sign_in("bob", PASSWORD, madang_member::Client::default()).await.is_err());
    guest.get("/setup?token=right").await.assert(410);
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

    let id =
        site.state.members.sign_in("ann", PASSWORD, madang_member::Client::default()).await.unwrap().member.member_id;
    let page = format!("/members/{id}");
    site.guest().get(&page).await.assert(200).says("<bdi>ann</bdi>").is_silent_about("<select");
    let role = format!("{page}/role");
    for wrong in ["", "wrong horse"] {
        let refused = root.submit(&page, &role, &[("role", "moderator"), ("own_password", wrong)]).await;
        refused.assert(422).says("This is not your password.");
    }
    let own = ("own_password", PASSWORD);
    assert_eq!(root.submit(&page, &role, &[("role", "moderator"), own]).await.leads_to(), page);
    root.get(&page).await.says("<option value=\"moderator\" selected>");
    root.submit(&page, &role, &[("role", "king")]).await.assert(400);
    ann.submit(&page, &role, &[("role", "admin")]).await.assert(403);
}
