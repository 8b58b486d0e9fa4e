//! What members report and moderators do, by forms alone: reports, suspensions, the log; and a member's own page.

use madang_board::Role;

use crate::support::{Person, TestSite};

async fn id_of(site: &TestSite, name: &str) -> String {
    site.state
        .members
        .sign_in(name, "correct horse", madang_member::Client::default())
        .await
        .unwrap()
        .member
        .member_id
        .to_string()
}

/// The path of the first form that settles a report.
fn first_report(page: &str) -> String {
    let start = "action=\"/moderation/reports/";
    let id = page.split(start).nth(1).expect("a report to settle").split('"').next().unwrap();
    format!("/moderation/reports/{id}")
}

async fn report(person: &Person, path: &str, reason: &str) {
    let form = format!("{path}/report");
    person.submit(&form, &form, &[("reason", reason)]).await.assert(201).says("Your report was sent to the moderators");
}

#[tokio::test]
async fn a_report_reaches_the_moderators_and_is_settled_once() {
    let site = TestSite::open().await;
    let (ann, bob) = (site.member("ann").await, site.member("bob").await);
    let moderator = site.with_role("mo", Role::Moderator).await;
    let article = ann.write("general", "an article", "c").await;
    let comment = format!("/comments/{}", ann.comment(&article, "a comment", "").await);
    bob.get(&article).await.says(&format!("{article}/report")).says(&format!("{comment}/report"));
    ann.get(&article).await.is_silent_about("/report\"");
    site.guest().get(&format!("{article}/report")).await.assert(401);
    site.guest().get("/articles/1/report").await.assert(401);
    bob.get("/articles/1/report").await.assert(404);
    let form = format!("{article}/report");
    bob.submit(&form, &form, &[("reason", " ")]).await.assert(422).says("must not be blank").says("an article");
    let no_token = bob.post(&form, &[("reason", "no token")]).await;
    no_token.assert(422).says("before you last signed in").says("no token");
    report(&bob, &article, "spam <b>").await;
    report(&bob, &comment, "rude").await;

    for (person, status) in [(&bob, 403), (&site.guest(), 401)] {
        person.get("/moderation").await.assert(status);
        person.get("/moderation/log").await.assert(status);
    }
    let page = moderator.get("/moderation").await;
    page.assert(200).says("spam &lt;b&gt;").says("rude").says("<bdi>bob</bdi>").is_silent_about("no token");
    // With what was reported, and who wrote it.
    page.says("<bdi>an article</bdi>").says("<bdi>a comment</bdi>").says("<bdi>ann</bdi>");
    page.says(&format!("href=\"{article}\"")).says(&format!("href=\"{comment}\""));
    let settle = first_report(&page.text());
    bob.submit("/", &settle, &[]).await.assert(403);
    assert_eq!(moderator.submit("/moderation", &settle, &[("note", "told them")]).await.leads_to(), "/moderation");
    moderator.get("/moderation").await.says("spam &lt;b&gt;").is_silent_about("rude");
    moderator.get("/moderation?settled=true").await.assert(200).says("rude").says("told them");
    moderator.get("/moderation/log").await.assert(200).says("closed a report").says("told them");
    moderator.get("/moderation?before=x").await.assert(404);
}

#[tokio::test]
async fn a_report_of_what_was_deleted_says_so_and_leads_nowhere() {
    let site = TestSite::open().await;
    let (ann, bob) = (site.member("ann").await, site.member("bob").await);
    let moderator = site.with_role("mo", Role::Moderator).await;
    let article = ann.write("general", "an article", "c").await;
    let other = ann.write("general", "another article", "c").await;
    let (alone, with_reply) = (ann.comment(&article, "alone", "").await, ann.comment(&article, "answered", "").await);
    ann.comment(&article, "reply", &with_reply).await;
    let of_other = ann.comment(&other, "of the other", "").await;
    let comments = [alone, with_reply, of_other].map(|id| format!("/comments/{id}"));
    for path in comments.iter().chain([&other]) {
        report(&bob, path, "bad").await;
    }
    for path in comments[..2].iter().chain([&other]) {
        let delete = format!("{path}/delete");
        ann.submit(&delete, &delete, &[]).await.leads_to();
    }
    let page = moderator.get("/moderation").await;
    page.assert(200).says("The comment has been deleted").says("The article has been deleted");
    for path in comments.iter().chain([&other]) {
        page.is_silent_about(&format!("href=\"{path}\""));
    }
    assert_eq!(page.text().matches("has been deleted").count(), 4);
    let settle = first_report(&page.text());
    moderator.submit("/moderation", &settle, &[]).await.leads_to();
    moderator.get("/moderation").await.says("The report was closed");
    moderator.get("/moderation").await.is_silent_about("The report was closed");
    moderator.get("/moderation?settled=true").await.says("has been deleted");
}

#[tokio::test]
async fn deletions_by_moderators_are_in_the_log_with_their_reasons() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let moderator = site.with_role("mo", Role::Moderator).await;
    let article = ann.write("general", "an article", "c").await;
    let delete = format!("{article}/delete");
    moderator.submit(&delete, &delete, &[("reason", "rule 3")]).await.leads_to();
    moderator.get("/moderation/log").await.assert(200).says("deleted an article").says("rule 3");
}

#[tokio::test]
async fn who_is_suspended_reads_and_is_told_why_they_cannot_write() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let (moderator, root) = (site.with_role("mo", Role::Moderator).await, site.with_role("root", Role::Admin).await);
    let article = ann.write("general", "t", "c").await;
    let page = format!("/members/{}", id_of(&site, "ann").await);
    let form = format!("{page}/suspension");
    ann.get(&page).await.assert(200).is_silent_about("/suspension");
    ann.submit(&article, &form, &[("days", "1"), ("reason", "x")]).await.assert(403);
    moderator.submit(&page, &form, &[("days", "7"), ("reason", "")]).await.assert(422).says("must not be blank");
    moderator.submit(&page, &form, &[("days", "8"), ("reason", "x")]).await.assert(400);
    let suspended = moderator.submit(&page, &form, &[("days", "7"), ("reason", "rude <b>")]).await;
    suspended.assert(200).says("The member is suspended").says("Suspended until").says("rude &lt;b&gt;");
    // Why and until when, in place of every form that would fail.
    let until = "A moderator has suspended your account until 20";
    let read = ann.get(&article).await;
    read.assert(200).says(until).says("Reason: rude &lt;b&gt;").is_silent_about("<textarea").is_silent_about("/edit");
    read.is_silent_about("id=\"like\"");
    ann.get("/b/general").await.assert(200).is_silent_about("/b/general/write");
    ann.get("/b/general/write").await.assert(403).says(until).says("rude");
    ann.get(&page).await.says("Suspended until").says("rude");
    site.guest().get(&page).await.assert(200).is_silent_about("Suspended").is_silent_about("rude");
    let token = ann.get("/").await.hidden("form_token");
    let fields = [("form_token", token.as_str()), ("like", "yes")];
    ann.post(&format!("{article}/like"), &fields).await.assert(403).says(until);
    let ours = [("sec-fetch-site", "same-origin"), ("x-madang-fragment", "1")];
    let comment = [("form_token", token.as_str()), ("content", "still here")];
    let refused = ann.post_with(&format!("{article}/comments"), &ours, &comment).await;
    assert!(refused.assert(403).text().starts_with(until), "{}", refused.text());
    let promoted = [("role", "moderator"), ("own_password", "correct horse")];
    root.submit(&page, &format!("{page}/role"), &promoted).await.assert(409).says("suspended");
    moderator.get(&page).await.says("Lift the suspension");
    let lifted = moderator.submit(&page, &form, &[]).await;
    lifted.assert(200).says("can write again").is_silent_about("Lift the suspension");
    ann.submit(&article, &format!("{article}/like"), &[("like", "yes")]).await.leads_to();
    moderator.get("/moderation/log").await.says("suspended a member").says("lifted a suspension").says("rude");
    // Nobody suspends somebody who stands above.
    let root_page = format!("/members/{}", id_of(&site, "root").await);
    moderator.get(&root_page).await.assert(200).is_silent_about("/suspension");
    let form = format!("{root_page}/suspension");
    moderator.submit(&page, &form, &[("days", "1"), ("reason", "x")]).await.assert(403);
}

#[tokio::test]
async fn a_members_page_shows_what_they_wrote() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let page = format!("/members/{}", id_of(&site, "ann").await);
    ann.get(&page).await.assert(200).says("No articles yet").says("No comments yet").says("href=\"/password\"");
    let mut article = String::new();
    for number in 0..12 {
        article = ann.write("general", &format!("article number {number}."), "c").await;
    }
    ann.comment(&article, "words of <b>hers</b>", "").await;
    let guest = site.guest();
    guest.get(&page).await.says("article number 11.").is_silent_about("number 1.").is_silent_about("/password");
    guest.get(&page).await.says("words of &lt;b&gt;hers&lt;/b&gt;").says(&format!("{page}/articles"));
    guest.get(&format!("{page}/articles")).await.assert(200).says("number 0.").says("number 11.");
    guest.get(&format!("{page}/comments")).await.assert(200).says("words of");
    guest.get(&format!("{page}/articles?before=x")).await.assert(404);
    guest.get("/members/1/articles").await.assert(404);
}

#[tokio::test]
async fn a_new_password_ends_every_other_session() {
    let site = TestSite::open().await;
    let (ann, elsewhere) = (site.member("ann").await, site.guest());
    elsewhere.post("/sign-in", &[("name", "ann"), ("password", "correct horse")]).await.leads_to();
    site.guest().get("/password").await.assert(401);
    let change = |current, new| [("current", current), ("new", new)];
    ann.submit("/password", "/password", &change("wrong horse", "battery staple")).await.assert(422);
    ann.submit("/password", "/password", &change("correct horse", "short")).await.assert(422).says("8 to 128");
    ann.post("/password", &change("correct horse", "battery staple")).await.assert(403);
    let changed = ann.submit("/password", "/password", &change("correct horse", "battery staple")).await;
    changed.assert(200).says("Your password was changed").is_silent_about("battery staple");
    ann.get("/password").await.assert(200);
    elsewhere.get("/password").await.assert(401);
    let again = site.guest().post("/sign-in", &[("name", "ann"), ("password", "battery staple")]).await;
    again.leads_to();
}
