//! What moderators removed, as they see it and bring it back; and that nobody else does.

use madang_board::Role;

use crate::support::TestSite;

#[tokio::test]
async fn a_removed_article_is_seen_and_restored_by_moderators_alone() {
    let site = TestSite::open().await;
    let (ann, bob) = (site.member("ann").await, site.member("bob").await);
    let moderator = site.with_role("mo", Role::Moderator).await;
    let article = ann.write("general", "a title <i>", "some **text**").await;
    ann.comment(&article, "first words", "").await;
    let (delete, restore) = (format!("{article}/delete"), format!("{article}/restore"));
    moderator.get(&restore).await.assert(404);
    moderator.submit(&delete, &delete, &[("reason", "rule 3 <b>")]).await.leads_to();
    for other in [&ann, &bob] {
        other.get(&article).await.assert(404);
        other.get(&restore).await.assert(403).is_silent_about("some");
    }
    site.guest().get(&restore).await.assert(401);
    moderator.get("/moderation/log").await.assert(200).says(&restore).says("See what was removed");
    assert_eq!(moderator.get(&article).await.leads_to(), restore, "a moderator who follows an old link finds it");
    let page = moderator.get(&restore).await;
    page.assert(200).says("a title &lt;i&gt;").says("<strong>text</strong>").says("rule 3 &lt;b&gt;");
    page.says("Can be restored until").says("Removed by");
    ann.get("/b/general").await.assert(200).is_silent_about("a title");
    assert_eq!(moderator.submit(&restore, &restore, &[]).await.leads_to(), article);
    moderator.get(&article).await.assert(200).says("The article is back where it was").says("first words");
    ann.get(&article).await.assert(200).says("some <strong>text</strong>").says("first words");
    ann.get("/b/general").await.assert(200).says("a title");
    moderator.get(&restore).await.assert(404);
    moderator.get("/moderation/log").await.says("restored an article");
    // What its writer deletes is gone.
    ann.submit(&delete, &delete, &[]).await.leads_to();
    moderator.get(&article).await.assert(404);
    moderator.get(&restore).await.assert(404);
}

#[tokio::test]
async fn a_removed_comment_keeps_its_place_until_it_is_back() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let moderator = site.with_role("mo", Role::Moderator).await;
    let article = ann.write("general", "t", "c").await;
    let comment = format!("/comments/{}", ann.comment(&article, "words <b>of</b> hers", "").await);
    let (delete, restore) = (format!("{comment}/delete"), format!("{comment}/restore"));
    moderator.submit(&delete, &delete, &[("reason", "off topic")]).await.leads_to();
    let seen = ann.get(&article).await;
    seen.assert(200).is_silent_about("words").is_silent_about("/restore");
    moderator.get(&article).await.assert(200).is_silent_about("words").says(&restore);
    ann.get(&restore).await.assert(403).is_silent_about("words");
    moderator.get(&restore).await.assert(200).says("words &lt;b&gt;of").says("off topic").says("Removed comment");
    assert_eq!(moderator.submit(&restore, &restore, &[]).await.leads_to(), comment);
    ann.get(&article).await.assert(200).says("words").says("ann").is_silent_about("class=\"edited\"");
    moderator.get("/moderation/log").await.says("restored a comment");
}

#[tokio::test]
async fn moderators_read_it_in_korean_too() {
    let site = TestSite::open().await;
    let ann = site.member("ann").await;
    let moderator = site.with_role("mo", Role::Moderator).await.speaking("ko");
    let article = ann.write("general", "t", "c").await;
    let (delete, restore) = (format!("{article}/delete"), format!("{article}/restore"));
    moderator.submit(&delete, &delete, &[("reason", "x")]).await.leads_to();
    moderator.get(&restore).await.assert(200).says("삭제된 글").says("되돌리기").says("되돌릴 수 있는 기한");
    moderator.get("/moderation/log").await.says("글을 삭제함").says("삭제된 내용 보기");
}
