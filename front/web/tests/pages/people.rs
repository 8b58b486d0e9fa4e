//! Members, roles, the set-up and the administration.

use crate::support::{PASSWORD, TestSite};
use madang_board::Role;
use madang_member::Client;
use madang_server::{Bucket, Limiter, MemoryBuckets, RateLimits};

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
    // The summary names the fields and leads to them.
    short.says("<a href=\"#f-name\">Name</a> ").says("<a href=\"#f-password\">Password</a> ");
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
    taken.assert(422).says("Is reserved for the people who run the site");
}

#[tokio::test]
async fn password_fields_are_named_for_password_managers_and_take_what_is_pasted() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let (sign_in, sign_up) = (site.guest().get("/sign-in").await, site.guest().get("/sign-up").await);
    for (page, kinds) in [
        (sign_in, vec!["current-password"]),
        (sign_up, vec!["new-password"]),
        (ann.get("/password").await, vec!["current-password", "new-password"]),
    ] {
        let text = page.assert(200).text();
        let fields: Vec<&str> = text.split("<input ").filter(|field| field.contains("type=\"password\"")).collect();
        assert_eq!(fields.len(), kinds.len(), "{text}");
        for (field, kind) in fields.iter().zip(kinds) {
            assert!(
                field.contains(&format!("autocomplete=\"{kind}\"")) && field.contains("maxlength=\"128\""),
                "{field}"
            );
        }
        assert!(!text.contains("onpaste"), "{text}");
    }
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
    page.assert(200).says("Phone/1 &lt;b&gt;").says("this device").says("Sign out everywhere else");
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
    assert_eq!((ann, bob), (303, 410));
    assert_eq!(site.state.members.sign_in("ann", PASSWORD, Client::default()).await.unwrap().member.role, Role::Admin);
    assert!(site.state.members.sign_in("bob", PASSWORD, Client::default()).await.is_err());
    guest.get("/setup").await.assert(410);
    let again = guest.post("/setup", &[("token", "right"), ("name", "cat"), ("password", PASSWORD)]).await;
    again.assert(410);
}

#[tokio::test]
async fn whoever_sets_the_site_up_is_signed_in() {
    let site = TestSite::open().await;
    let ann = site.guest();
    let done = ann.post("/setup", &[("token", "right"), ("name", "ann"), ("password", PASSWORD)]).await;
    assert_eq!(done.leads_to(), "/admin");
    ann.get("/admin").await.assert(200).says("You are the administrator").says("<bdi>ann</bdi>");
    ann.get("/admin").await.assert(200).is_silent_about("You are the administrator");
}

#[tokio::test]
async fn the_way_back_survives_signing_in_and_signing_up() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "t", "c").await;
    let guest = site.guest();
    let back = |path: &str| format!("return={path}\"");
    guest.get("/b/general/write").await.assert(401).says(&back("/b/general/write"));
    guest
        .get(&article)
        .await
        .says(&format!("/sign-in?{}", back(&article)))
        .says(&format!("/sign-up?{}", back(&article)));
    // A form that came too late leads back to the page that it was on.
    let from = format!("http://board.example{article}");
    let ours = [("sec-fetch-site", "same-origin"), ("referer", from.as_str())];
    guest.post_with(&format!("{article}/like"), &ours, &[("like", "yes")]).await.assert(401).says(&back(&article));
    for elsewhere in ["http://evil.example/x", "http://board.example.evil/x", "http://board.example//evil", "x"] {
        let ours = [("sec-fetch-site", "same-origin"), ("referer", elsewhere)];
        let page = guest.post_with(&format!("{article}/like"), &ours, &[("like", "yes")]).await;
        page.assert(401).is_silent_about("evil");
    }
    let wrong = [("name", "ann"), ("password", "wrong horse"), ("return", article.as_str())];
    guest.post("/sign-in", &wrong).await.assert(401).says(&format!("name=\"return\" value=\"{article}\""));
}

#[tokio::test]
async fn a_choice_on_a_page_that_answered_a_form_leads_to_the_page_with_the_form() {
    let site = TestSite::open().await;
    let (ann, root) = (site.member("ann").await, site.with_role("root", Role::Admin).await);
    let article = ann.write("general", "t", "c").await;
    // The switches at the foot have the last such field of a page.
    let back = |answer: &crate::support::Answer| {
        let text = answer.text();
        let field = text.rsplit_once("name=\"return\" value=\"").expect("the switches").1;
        field.split('"').next().unwrap().to_owned()
    };
    let (comments, edit) = (format!("{article}/comments"), format!("{article}/edit"));
    for (person, form, path) in [
        (&ann, "/b/general/write", "/b/general/write"),
        (&ann, article.as_str(), comments.as_str()),
        (&ann, &edit, &edit),
        (&root, "/admin", "/admin/boards"),
    ] {
        // A browser names no page, the page, or, once the form has come back, the address that it was sent to.
        for referer in ["", form, path] {
            let from = if referer.is_empty() { String::new() } else { format!("http://board.example{referer}") };
            let ours = [("sec-fetch-site", "same-origin"), ("referer", from.as_str())];
            let token = person.get(form).await.hidden("form_token");
            let fields = [("form_token", token.as_str()), ("content", " ")];
            let answer = person.post_with(path, &ours, &fields).await;
            assert_eq!(back(answer.assert(422)), form, "{path} from {referer:?}");
            person.get(form).await.assert(200);
        }
    }
}

#[tokio::test]
async fn past_a_limit_people_are_told_in_a_page_why_and_until_when() {
    let limits = RateLimits {
        sign_ins: Bucket::per_hour(30, 2),
        sign_ups: Bucket::per_hour(1, 1),
        new_member_writes: Bucket::per_hour(60, 1),
        ..RateLimits::default()
    };
    let site = TestSite::open().await.with(|state| {
        state.policy.limiter = Some(Limiter::new(limits, MemoryBuckets::default(), state.clock.clone()));
    });
    let guest = site.guest();
    // What is refused for what was typed costs nothing of the few registrations.
    for _ in 0..5 {
        guest.post("/sign-up", &[("name", "a b"), ("password", "short")]).await.assert(422);
    }
    let ann = site.member("ann").await;
    let late = guest.post("/sign-up", &[("name", "bob"), ("password", PASSWORD)]).await;
    late.assert(429).says("Too many accounts were created from your network. Please try again in 60 minutes.");
    assert!((3_500..=3_600).contains(&late.header("retry-after").parse::<u64>().unwrap()));
    // To be tried again: the form stays with the name, and never with the password.
    late.says("action=\"/sign-up\"").says("role=\"alert\"").says("value=\"bob\"").is_silent_about(PASSWORD);

    let wrong = [("name", "ann"), ("password", "wrong horse")];
    guest.post("/sign-in", &wrong).await.assert(401);
    guest.post("/sign-in", &wrong).await.assert(401);
    let korean = site.guest().speaking("ko");
    let refused = korean.post("/sign-in", &[&wrong[..], &[("return", "/b/general")]].concat()).await;
    refused.assert(429).says("<html lang=\"ko\"").says("비밀번호를 너무 많이 시도했습니다.");
    refused.says("action=\"/sign-in\"").says("value=\"ann\"").is_silent_about("wrong horse");
    refused.says("name=\"return\" value=\"/b/general\"");
    assert!(refused.header("content-type").starts_with("text/html"));
    let retry_after: u64 = refused.header("retry-after").parse().unwrap();
    assert!((100..=120).contains(&retry_after));
    // A program that posts to the page learns of the limit what it would from the API.
    assert_eq!(refused.header("ratelimit-policy"), "\"default\";q=2;w=240");
    assert_eq!(refused.header("ratelimit"), format!("\"default\";r=0;t={retry_after}"));

    ann.post("/preferences", &[("theme", "dark")]).await.leads_to();
    let ours = [("sec-fetch-site", "same-origin"), ("x-madang-fragment", "1")];
    let too_fast = ann.post_with("/articles/1/comments", &ours, &[("content", "x")]).await;
    assert_eq!(
        too_fast.assert(429).text(),
        "You are sending things faster than this site allows. Please try again in 60 seconds."
    );
    // Without a script the text would be lost: it comes back, ready to be sent again.
    let typed = [("content", "a long <thought>\r\nof mine"), ("parent_id", "7"), ("password", "secret horse")];
    let refused = ann.post_with("/articles/1/comments", &ours[..1], &typed).await;
    let page = refused.assert(429).says("a long &lt;thought&gt;\nof mine").says("action=\"/articles/1/comments\"");
    assert!(!page.says("name=\"parent_id\" value=\"7\"").text().contains("secret horse"));
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

#[tokio::test]
async fn what_is_wrong_on_a_members_page_is_said_in_the_form_that_was_sent() {
    let site = TestSite::open().await;
    let root = site.with_role("root", Role::Admin).await;
    site.member("ann").await;
    let ann = site.state.members.sign_in("ann", PASSWORD, Client::default()).await.unwrap().member;
    let page = format!("/members/{}", ann.member_id);
    let forms = ["suspension", "role", "password-reset"].map(|what| format!("{page}/{what}"));
    let in_form = |answer: &crate::support::Answer, action: &str| {
        let text = answer.text();
        let form = text.split_once(&format!("action=\"{action}\"")).expect("the form").1;
        form.split("</form>").next().unwrap().to_owned()
    };
    let wrong_password = [("role", "moderator"), ("own_password", "wrong horse")];
    let wrong_link = [("reset_own_password", "wrong horse")];
    let blank = [("days", "7"), ("reason", " ")];
    let refused = [
        root.submit(&page, &forms[0], &blank).await,
        root.submit(&page, &forms[1], &wrong_password).await,
        root.submit(&page, &forms[2], &wrong_link).await,
    ];
    for (sent, answer) in refused.iter().enumerate() {
        answer.assert(422);
        for (other, action) in forms.iter().enumerate() {
            let form = in_form(answer, action);
            assert_eq!(form.contains("role=\"alert\""), sent == other, "{action} after {}: {form}", forms[sent]);
            assert_eq!(form.contains("class=\"wrong\""), sent == other, "{action} after {}: {form}", forms[sent]);
        }
    }
    // Who suspends knows that the member reads why.
    assert!(in_form(&refused[0], &forms[0]).contains("The member and other moderators will read this."));
    let korean = site.guest().speaking("ko");
    korean.post("/sign-in", &[("name", "root"), ("password", PASSWORD)]).await.leads_to();
    assert!(in_form(&korean.get(&page).await, &forms[0]).contains("해당 회원과 다른 운영진에게 보입니다."));
    // What is wrong with the change itself, and not with a field, too.
    root.submit(&page, &forms[0], &[("days", "7"), ("reason", "rule 3")]).await.assert(200);
    let promoted = root.submit(&page, &forms[1], &[("role", "moderator"), ("own_password", PASSWORD)]).await;
    let cannot = "a suspended member cannot be promoted";
    assert!(in_form(promoted.assert(409), &forms[1]).contains(cannot), "{}", promoted.text());
    assert!(!in_form(&promoted, &forms[0]).contains(cannot), "{}", promoted.text());
}
