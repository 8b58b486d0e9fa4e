//! Writing as a member: what is sent arrives once, what is wrong comes back with what was typed, and nobody writes for
//! somebody else.

use crate::support::TestSite;
use madang_board::Role;

#[tokio::test]
async fn what_is_wrong_comes_back_with_what_was_typed() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let page = "/b/general/write";
    let answer = ann.submit(page, page, &[("title", ""), ("content", "typed for an hour")]).await;
    answer
        .assert(422)
        .says("role=\"alert\"")
        .says("Title</a> must not be blank")
        .says("Must not be blank")
        .says("typed for an hour")
        .says("aria-invalid");
    let answer = ann.submit(page, page, &[("title", "<b>x</b>"), ("content", " ")]).await;
    answer.assert(422).says("value=\"&lt;b&gt;x&lt;/b&gt;\"");
    let article = ann.write("general", "t", "c").await;
    let answer = ann.submit(&article, &format!("{article}/comments"), &[("content", "\u{200b}")]).await;
    answer.assert(422).says("must not be blank").says("<h2 id=\"comments-title\">");
}

#[tokio::test]
async fn a_form_that_is_sent_twice_has_one_effect() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let form = ann.get("/b/general/write").await;
    let (token, idempotency) = (form.hidden("form_token"), form.hidden("once"));
    let fields = [("form_token", token.as_str()), ("once", &idempotency), ("title", "once"), ("content", "only")];
    let first = ann.post("/b/general/write", &fields).await.leads_to();
    assert_eq!(ann.post("/b/general/write", &fields).await.leads_to(), first);
    ann.get("/b/general").await.says("1 article<");
    let other = [fields[0], fields[1], fields[2], ("content", "something else")];
    let again = ann.post("/b/general/write", &other).await;
    again.assert(422).says("already been sent").says("something else");
    assert_ne!(again.hidden("once"), idempotency);
}

#[tokio::test]
async fn nobody_else_sends_a_members_forms() {
    let site = TestSite::open().await;
    let (ann, bob) = (site.member("ann").await, site.member("bob").await);
    let token = ann.get("/b/general/write").await.hidden("form_token");
    let fields = [("form_token", token.as_str()), ("title", "t"), ("content", "kept text")];
    for origin in [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example"), ("x-none", "")] {
        ann.post_with("/b/general/write", &[origin], &fields).await.assert(403).says("was sent from another site");
    }
    bob.post("/b/general/write", &fields).await.assert(422).says("before you last signed in").says("kept text");
    let without = [("title", "t"), ("content", "kept text")];
    ann.post("/b/general/write", &without).await.assert(422).says("before you last signed in");
    site.guest().post("/b/general/write", &fields).await.assert(422).says("You have been signed out").says("kept text");
    for path in ["/articles/1/like", "/sign-out", "/articles/1/delete", "/comments/1/delete", "/members/1/role"] {
        ann.post(path, &without).await.assert(403);
    }
    ann.post_with("/b/general/write", &[("origin", "http://board.example")], &fields).await.leads_to();
}

#[tokio::test]
async fn what_was_typed_before_a_session_ended_comes_back_in_its_form_and_is_sent_after_signing_in() {
    let site = TestSite::open().await;
    let (ann, bob) = (site.member("ann").await, site.member("bob").await);
    let article = ann.write("general", "t", "c").await;
    let comment = ann.comment(&article, "the root", "").await;
    let reports = [format!("{article}/report"), format!("/comments/{comment}/report")];
    for (path, page, field) in [
        (format!("{article}/comments"), &article, "content"),
        (reports[0].clone(), &reports[0], "reason"),
        (reports[1].clone(), &reports[1], "reason"),
    ] {
        let token = bob.get(page).await.hidden("form_token");
        let fields = [("form_token", token.as_str()), (field, "typed <for> an hour")];
        let late = site.guest().post(&path, &fields).await;
        late.assert(422).says("You have been signed out").says("typed &lt;for&gt; an hour");
        late.says(&format!("action=\"{path}\"")).is_silent_about("Sign in to comment");
        // Signed in again in another tab: once more, and then it is taken.
        let again = bob.post(&path, &[("once", late.hidden("once").as_str()), (field, "typed <for> an hour")]).await;
        again.assert(422).says("before you last signed in").says("typed &lt;for&gt; an hour");
        let (token, once) = (again.hidden("form_token"), again.hidden("once"));
        let fields = [("form_token", token.as_str()), ("once", once.as_str()), (field, "typed <for> an hour")];
        let taken = bob.post(&path, &fields).await.status.as_u16();
        assert!(matches!(taken, 201 | 303), "{path} answers {taken}");
    }
    bob.get(&article).await.says("typed ");
}

#[tokio::test]
async fn a_line_end_is_one_character() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "lines", &"a\r\n".repeat(10_000)).await;
    let id = article.rsplit('/').next().unwrap().parse().unwrap();
    assert_eq!(site.state.articles.get(id).await.unwrap().content, "a\n".repeat(10_000));
}

#[tokio::test]
async fn the_longest_article_fits_its_form() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    ann.write("general", &"😀".repeat(100), &"😀".repeat(20_000)).await;
    let page = "/b/general/write";
    let long = ann.submit(page, page, &[("title", "t"), ("content", &"a".repeat(20_001))]).await;
    long.assert(422).says("must have at most 20000 characters");
    let huge = ann.submit(page, page, &[("title", "t"), ("content", &"a".repeat(300_000))]).await;
    huge.assert(413).says("Too large");
}

#[tokio::test]
async fn an_edit_that_came_second_says_so_and_keeps_its_text() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "t", "first").await;
    let edit = format!("{article}/edit");
    let form = ann.get(&edit).await;
    form.assert(200).says("first");
    let (token, version) = (form.hidden("form_token"), form.hidden("version"));
    let fields = |content: &'static str| [("title", "t"), ("content", content)];
    let hidden = [("form_token", token.as_str()), ("version", version.as_str())];
    ann.post(&edit, &[&hidden[..], &fields("second")].concat()).await.leads_to();
    let late = ann.post(&edit, &[&hidden[..], &fields("third, typed long")].concat()).await;
    late.assert(409).says("Someone else changed this article").says("third, typed long");
    let version = late.hidden("version");
    let hidden = [("form_token", token.as_str()), ("version", version.as_str())];
    assert_eq!(ann.post(&edit, &[&hidden[..], &fields("third")].concat()).await.leads_to(), article);
    ann.get(&article).await.says("<p>third</p>").says("edited");
}

#[tokio::test]
async fn a_comment_is_corrected_and_says_so_with_the_moment_in_its_title() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "t", "c").await;
    let comment = ann.comment(&article, "helo **there**", "").await;
    let edit = format!("/comments/{comment}/edit");
    ann.get(&article).await.says(&format!("href=\"{edit}\"")).is_silent_about(">edited</time>");
    ann.get(&edit).await.assert(200).says("Edit the comment").says("helo **there**");
    ann.submit(&edit, &edit, &[("content", " ")]).await.assert(422).says("must not be blank");
    let there = ann.submit(&edit, &edit, &[("content", "hello **there**")]).await.leads_to();
    assert_eq!(there, format!("{article}#c{comment}"));
    let page = ann.get(&article).await;
    page.says("<p>hello <strong>there</strong></p>").says(">edited</time>").is_silent_about("helo");
    page.says("itemprop=\"dateModified\"");
    let own = site.guest().get(&format!("/comments/{comment}")).await.leads_to();
    site.guest().get(own.split('#').next().unwrap()).await.says(">edited</time>");
    site.guest().speaking("ko").get(&article).await.says(">수정됨</time>");
}

#[tokio::test]
async fn a_correction_that_came_second_says_so_and_keeps_its_text() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let moderator = site.with_role("mod_one", Role::Moderator).await;
    let article = ann.write("general", "t", "c").await;
    let comment = ann.comment(&article, "first", "").await;
    let edit = format!("/comments/{comment}/edit");
    let form = ann.get(&edit).await;
    let (token, version) = (form.hidden("form_token"), form.hidden("version"));
    moderator.submit(&edit, &edit, &[("content", "tidied by a moderator")]).await.leads_to();
    let hidden = [("form_token", token.as_str()), ("version", version.as_str())];
    let late = ann.post(&edit, &[&hidden[..], &[("content", "second, typed long")]].concat()).await;
    late.assert(409).says("Someone else edited this comment").says("second, typed long").says("?thread=");
    ann.get(&article).await.says("tidied by a moderator");
    let version = late.hidden("version");
    let hidden = [("form_token", token.as_str()), ("version", version.as_str())];
    ann.post(&edit, &[&hidden[..], &[("content", "third")]].concat()).await.leads_to();
    ann.get(&article).await.says("<p>third</p>").is_silent_about("tidied");
    moderator.get("/moderation/log").await.says("edited a comment").says(&format!("href=\"/comments/{comment}\""));
}

#[tokio::test]
async fn people_change_what_is_theirs_and_moderators_say_why() {
    let site = TestSite::open().await;
    let (ann, bob) = (site.member("ann").await, site.member("bob").await);
    let moderator = site.with_role("mod_one", Role::Moderator).await;
    let article = ann.write("general", "t", "c").await;
    let comment = ann.comment(&article, "rude words", "").await;
    let of_comment = ["edit", "delete"].map(|what| format!("/comments/{comment}/{what}"));
    for path in [format!("{article}/edit"), format!("{article}/delete")].iter().chain(&of_comment) {
        bob.get(path).await.assert(403);
        site.guest().get(path).await.assert(401).says("Please sign in");
    }
    let path = format!("/comments/{comment}/delete");
    moderator.submit(&path, &path, &[("reason", " ")]).await.assert(422).says("must be given");
    moderator.submit(&path, &path, &[("reason", "rule 3")]).await.leads_to();
    ann.get(&article).await.is_silent_about("rude words");
    let path = format!("{article}/delete");
    assert_eq!(ann.submit(&path, &path, &[]).await.leads_to(), "/b/general");
    ann.get(&article).await.assert(404);
}

#[tokio::test]
async fn a_deleted_comment_with_replies_leaves_its_place() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "t", "c").await;
    let root = ann.comment(&article, "the root", "").await;
    ann.comment(&article, "the reply", &root).await;
    let path = format!("/comments/{root}/delete");
    ann.submit(&path, &path, &[]).await.leads_to();
    ann.get(&format!("/comments/{root}/edit")).await.assert(404);
    ann.get(&article).await.says("This comment was deleted").says("the reply").is_silent_about("the root");
}

#[tokio::test]
async fn likes_come_and_go_without_a_script() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "t", "c").await;
    let path = format!("{article}/like");
    ann.submit(&article, &path, &[("like", "yes")]).await.leads_to();
    ann.get(&article).await.says("aria-pressed=\"true\"").says("<span class=\"like-count\">1</span>");
    ann.submit(&article, &path, &[("like", "no")]).await.leads_to();
    ann.get(&article).await.says("<span class=\"like-count\">0</span>");
}

#[tokio::test]
async fn replies_have_a_page_for_those_without_a_script_and_a_part_for_those_with() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("trees", "t", "c").await;
    let root = ann.comment(&article, "the root", "").await;
    ann.get(&format!("/comments/{root}/reply")).await.assert(200).says("the root").says("<h1>");
    let part = ann.get_with(&format!("/comments/{root}/reply"), &[("x-madang-fragment", "1")]).await;
    part.assert(200).says("<form class=\"write comment-form\"").is_silent_about("<html");
    let token = part.hidden("form_token");
    let fields = [("form_token", token.as_str()), ("content", "in place"), ("parent", &root)];
    let ours = [("sec-fetch-site", "same-origin"), ("x-madang-fragment", "1")];
    let written = ann.post_with(&format!("{article}/comments"), &ours, &fields).await;
    written.assert(201).says("in place").is_silent_about("<html");
    assert!(written.text().starts_with("<li class=\"comment\""));
    let wrong = [("form_token", token.as_str()), ("content", ""), ("parent", &root)];
    let refused = ann.post_with(&format!("{article}/comments"), &ours, &wrong).await;
    assert_eq!(refused.assert(422).text(), "Text must not be blank");
}

#[tokio::test]
async fn a_preview_is_for_members_and_shows_what_will_be() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let token = ann.get("/b/general/write").await.hidden("form_token");
    let fields = [("form_token", token.as_str()), ("content", "**b** <script>x</script>")];
    let shown = ann.post("/preview", &fields).await;
    shown.assert(200).says("<strong>b</strong>").is_silent_about("<script>");
    site.guest().post("/preview", &fields).await.assert(401);
}

#[tokio::test]
async fn nobody_is_offered_a_reply_that_would_be_refused() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("trees", "A tree", "text").await;
    let (mut parent, mut comments) = (String::new(), Vec::new());
    for depth in 1..=8 {
        parent = ann.comment(&article, &format!("at depth {depth}"), &parent).await;
        comments.push(parent.clone());
    }
    let thread = ann.get(&format!("{article}?thread={}", comments[5])).await;
    let offers = |id: &str| format!("href=\"/comments/{id}/reply\"");
    thread.says("at depth 8").says(&offers(&comments[6])).is_silent_about(&offers(&comments[7]));
    let article = ann.write("general", "Two levels", "text").await;
    let root = ann.comment(&article, "root", "").await;
    let reply = ann.comment(&article, "reply", &root).await;
    ann.get(&article).await.says(&offers(&root)).is_silent_about(&offers(&reply));
}

#[tokio::test]
async fn a_deletion_is_confirmed_once_on_the_next_page() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let article = ann.write("general", "t", "c").await;
    let comment = ann.comment(&article, "words", "").await;
    let path = format!("/comments/{comment}/delete");
    let there = ann.submit(&path, &path, &[]).await.leads_to();
    ann.get(&there).await.says("The comment was deleted.");
    ann.get(&there).await.is_silent_about("The comment was deleted.");
    let path = format!("{article}/delete");
    assert_eq!(ann.submit(&path, &path, &[]).await.leads_to(), "/b/general");
    ann.get("/b/general").await.says("The article was deleted.");
    ann.get("/b/general").await.is_silent_about("The article was deleted.");
    // A guest's word is theirs, and in no page that others share.
    ann.submit("/", "/sign-out", &[]).await.leads_to();
    ann.get("/").await.says("You are signed out.");
    site.guest().get("/").await.is_silent_about("You are signed out.");
}

#[tokio::test]
async fn drafts_are_kept_under_their_members_name_and_cleared_by_signing_out() {
    let site = TestSite::open().await;
    let (ann, bob) = (site.member("ann").await, site.member("bob").await);
    let article = ann.write("general", "t", "c").await;
    let (id, root) = (article.rsplit('/').next().unwrap(), ann.comment(&article, "the root", "").await);
    let member = |page: &crate::support::Answer| {
        let text = page.text();
        text.split_once(" data-member=\"").and_then(|(_, rest)| rest.split_once('"')).map(|(id, _)| id.to_owned())
    };
    let mut seen = Vec::new();
    for person in [&ann, &bob] {
        let page = person.get("/b/general/write").await;
        let own = member(&page).expect("a member's page says whose it is");
        page.says(&format!("data-draft=\"{own}:/b/general/write\"")).is_silent_about("data-signed-out");
        person.get(&article).await.says(&format!("data-draft=\"{own}:comment-{id}-\""));
        let part = person.get_with(&format!("/comments/{root}/reply"), &[("x-madang-fragment", "1")]).await;
        part.says(&format!("data-draft=\"{own}:comment-{id}-{root}\""));
        seen.push(own);
    }
    assert_ne!(seen[0], seen[1]);
    // Nobody's form has no draft, also when it comes back after a session ended.
    let late = site.guest().post("/b/general/write", &[("title", "t"), ("content", "kept text")]).await;
    late.assert(422).says("kept text").is_silent_about("data-draft");
    assert_eq!(member(&late), None);
    // The page behind signing out tells the script to forget them, once; so does that behind ending the own session.
    ann.submit("/", "/sign-out", &[]).await.leads_to();
    assert_eq!(member(ann.get("/").await.says("<html lang=\"en\"").says("data-signed-out")), None);
    ann.get("/").await.is_silent_about("data-signed-out");
    let sessions = bob.get("/sessions").await.text();
    let own = sessions.split("action=\"/sessions/").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert_eq!(bob.submit("/sessions", &format!("/sessions/{own}"), &[]).await.leads_to(), "/");
    bob.get("/").await.says("data-signed-out").says("You are signed out.");
}
