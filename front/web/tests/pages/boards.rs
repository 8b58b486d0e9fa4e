//! What administrators do about boards by forms alone: describe, order, archive, delete, appoint.

use madang_board::Role;

use crate::support::TestSite;

const MANAGE: &str = "/b/general/manage";

#[tokio::test]
async fn an_administrator_describes_orders_and_archives_a_board() {
    let site = TestSite::open().await;
    let (root, ann) = (site.with_role("root", Role::Admin).await, site.member("ann").await);
    for (person, status) in [(&ann, 403), (&site.with_role("mo", Role::Moderator).await, 403), (&site.guest(), 401)] {
        person.get(MANAGE).await.assert(status);
        for path in [MANAGE, "/b/general/moderators", "/b/general/delete"] {
            person.submit("/", path, &[("title", "taken over"), ("position", "0")]).await.assert(status);
        }
        person.get("/b/general").await.is_silent_about("/manage");
    }
    root.get("/b/nowhere/manage").await.assert(404);
    root.get("/admin").await.assert(200).says(MANAGE);
    root.get("/b/general").await.assert(200).says(MANAGE);
    let article = ann.write("general", "an article", "c").await;
    let comment = ann.comment(&article, "a comment", "").await;

    let wrong = [("title", " "), ("description", "what was typed"), ("position", "first")];
    let page = root.submit(MANAGE, MANAGE, &wrong).await;
    page.assert(422).says("must not be blank").says("must be between 0 and 1000000").says("what was typed");
    root.post(MANAGE, &[("title", "x"), ("position", "0")]).await.assert(403);
    let right = [("title", "The yard"), ("description", "<b>All</b> of it"), ("position", "3"), ("archived", "yes")];
    assert_eq!(root.submit(MANAGE, MANAGE, &right).await.leads_to(), MANAGE);
    root.get(MANAGE).await.assert(200).says("The board was saved.").says("value=\"3\"").says(" checked");

    for person in [&ann, &site.guest()] {
        person.get("/").await.assert(200).says("&lt;b&gt;All&lt;/b&gt; of it").says("Archived");
        let board = person.get("/b/general").await;
        board.assert(200).says("The yard").says("This board is archived.").is_silent_about("/b/general/write");
        let read = person.get(&article).await;
        read.assert(200).says("This board is archived.").is_silent_about("/delete").is_silent_about("comment-form");
        read.is_silent_about("/like\"").is_silent_about("/reply");
    }
    ann.get("/b/general/write").await.assert(409).says("This board is archived.");
    let text = [("title", "t"), ("content", "not lost")];
    ann.submit("/", "/b/general/write", &text).await.assert(422).says("This board is archived.").says("not lost");
    ann.submit("/", &format!("{article}/comments"), &[("content", "kept")]).await.assert(422).says("kept");
    ann.submit("/", &format!("{article}/like"), &[("like", "yes")]).await.assert(409);
    ann.submit("/", &format!("{article}/delete"), &[]).await.assert(409);
    ann.submit("/", &format!("/comments/{comment}/delete"), &[]).await.assert(409);
    site.guest().speaking("ko").get("/b/general").await.assert(200).says("보관된 게시판입니다.");

    let open = [("title", "The yard"), ("description", ""), ("position", "3")];
    root.submit(MANAGE, MANAGE, &open).await.leads_to();
    ann.write("general", "again", "c").await;
}

#[tokio::test]
async fn only_an_empty_board_is_deleted() {
    let site = TestSite::open().await;
    let (root, ann) = (site.with_role("root", Role::Admin).await, site.member("ann").await);
    let article = ann.write("general", "an article", "c").await;
    let delete = "/b/general/delete";
    root.get(MANAGE).await.says("only when it has no articles").is_silent_about(delete);
    root.submit(MANAGE, delete, &[]).await.assert(409).says("only when it has no articles");
    let gone = format!("{article}/delete");
    ann.submit(&gone, &gone, &[]).await.leads_to();
    root.get(MANAGE).await.says(delete);
    assert_eq!(root.submit(MANAGE, delete, &[]).await.leads_to(), "/admin");
    root.get("/admin").await.assert(200).says("The board was deleted.").is_silent_about("/b/general\"");
    for path in ["/b/general", "/b/general/write", "/b/general/feed.atom", MANAGE] {
        root.get(path).await.assert(404);
    }
}

#[tokio::test]
async fn moderators_are_appointed_by_their_name_on_the_page_of_the_board() {
    let site = TestSite::open().await;
    let (root, ann) = (site.with_role("root", Role::Admin).await, site.member("ann").await);
    let path = "/b/general/moderators";
    root.get(MANAGE).await.says("has no moderators of its own");
    ann.get("/moderation").await.assert(403);
    for nobody in ["nobody", "", "?"] {
        root.submit(MANAGE, path, &[("name", nobody)]).await.assert(422).says("There is no member of this name.");
    }
    assert_eq!(root.submit(MANAGE, path, &[("name", "ANN")]).await.leads_to(), format!("{MANAGE}#moderators"));
    let page = root.get(MANAGE).await;
    page.assert(200).says("<bdi>ann</bdi>").says("Remove: ann");
    ann.get("/moderation").await.assert(200);
    let text = page.text();
    let member = text.split("name=\"dismiss\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    root.submit(MANAGE, path, &[("dismiss", member)]).await.leads_to();
    root.get(MANAGE).await.says("has no moderators of its own");
    ann.get("/moderation").await.assert(403);
}
