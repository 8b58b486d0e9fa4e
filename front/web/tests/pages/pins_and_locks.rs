//! Pinning and locking by forms alone: who sees the buttons, what lists and articles show, and what becomes of a comment that
//! comes too late.

use madang_board::Role;

use crate::support::TestSite;

#[tokio::test]
async fn a_moderator_pins_an_article_and_takes_it_down_again() {
    let site = TestSite::open().await;
    let (ann, moderator) = (site.member("ann").await, site.with_role("mo", Role::Moderator).await);
    let old = ann.write("general", "the rules", "c").await;
    ann.write("general", "some news", "c").await;
    let form = format!("{old}/pin");
    ann.get(&old).await.assert(200).is_silent_about(&form).is_silent_about("/lock\"");
    ann.get(&form).await.assert(403);
    ann.submit(&old, &form, &[("days", "")]).await.assert(403);
    site.guest().get(&form).await.assert(401);
    moderator.get("/articles/1/pin").await.assert(404);
    moderator.get(&old).await.says(&format!("href=\"{form}\"")).is_silent_about("Unpin");
    moderator.get(&form).await.assert(200).says("the rules").says("Until it is unpinned").says("One week");
    moderator.submit(&form, &form, &[("days", "2")]).await.assert(400);
    assert_eq!(moderator.submit(&form, &form, &[("days", "7")]).await.leads_to(), old);
    moderator.get(&old).await.says("pinned on top of its board").says("Unpin").says("class=\"flag\"");

    for person in [&site.guest(), &ann] {
        let list = person.get("/b/general").await.text();
        let (top, news) = (list.find("<bdi>the rules").expect("pinned"), list.find("<bdi>some news").expect("listed"));
        assert!(top < news, "the pinned article stands above the newer one");
        assert_eq!(list.matches("<bdi>the rules</bdi>").count(), 1, "and is not told twice");
        assert!(list.contains("class=\"pinned\"") && list.contains("Pinned"));
    }
    site.guest().get("/b/general?page=2").await.is_silent_about("the rules");
    // Whoever pins does not edit.
    site.guest().get(&old).await.is_silent_about("edited ");
    site.guest().speaking("ko").get(&old).await.says("고정");
    moderator.submit(&old, &form, &[("pin", "no")]).await.leads_to();
    moderator.get(&old).await.says("no longer pinned").is_silent_about("Unpin");
    let list = site.guest().get("/b/general").await.text();
    assert!(list.find("<bdi>some news") < list.find("<bdi>the rules") && !list.contains("class=\"pinned\""));
    moderator.get("/moderation/log").await.says("unpinned an article").says("pinned an article");
}

#[tokio::test]
async fn a_full_board_says_so_and_keeps_the_form() {
    let site = TestSite::open().await;
    let moderator = site.with_role("mo", Role::Moderator).await;
    for number in 0..8 {
        let article = moderator.write("general", &format!("notice {number}"), "c").await;
        let form = format!("{article}/pin");
        moderator.submit(&form, &form, &[("days", "")]).await.leads_to();
    }
    let article = moderator.write("general", "one more", "c").await;
    let form = format!("{article}/pin");
    let full = moderator.submit(&form, &form, &[("days", "")]).await;
    full.assert(409).says("as many pinned articles as it can have").says("one more");
}

#[tokio::test]
async fn a_locked_article_is_read_by_all_and_commented_on_by_its_moderators() {
    let site = TestSite::open().await;
    let (ann, moderator) = (site.member("ann").await, site.with_role("mo", Role::Moderator).await);
    let article = ann.write("general", "a heated debate", "c").await;
    let first = ann.comment(&article, "first", "").await;
    let form = format!("{article}/lock");
    ann.submit(&article, &form, &[("lock", "yes")]).await.assert(403);
    site.guest().post(&form, &[("lock", "yes")]).await.assert(401);
    ann.get(&article).await.says("comment-form").says("/reply\"");
    assert_eq!(moderator.submit(&article, &form, &[("lock", "yes")]).await.leads_to(), article);
    moderator.get(&article).await.says("The article is locked.").says("because you moderate").says("comment-form");

    let page = ann.get(&article).await;
    page.assert(200).says("A moderator has locked this article").says("Locked");
    page.is_silent_about("comment-form").is_silent_about("/reply\"");
    site.guest().get(&article).await.says("A moderator has locked").is_silent_about("Sign in to comment");
    site.guest().speaking("ko").get(&article).await.says("운영진이 잠근 글입니다");
    site.guest().get("/b/general").await.says("Locked");
    // Who was typing meanwhile is told, and keeps the text.
    let late = ann.submit("/b/general/write", &format!("{article}/comments"), &[("content", "my long answer")]).await;
    late.assert(422).says("A moderator has locked this article").says("my long answer");
    let late = [("content", "my reply"), ("parent", first.as_str())];
    ann.submit("/b/general/write", &format!("{article}/comments"), &late).await.assert(422).says("my reply");
    moderator.comment(&article, "please stay calm", "").await;
    ann.get(&article).await.says("please stay calm");
    moderator.submit(&article, &form, &[("lock", "no")]).await.leads_to();
    moderator.get(&article).await.says("open to comments again").is_silent_about("because you moderate");
    ann.comment(&article, "thank you", "").await;
    moderator.get("/moderation/log").await.says("unlocked an article").says("locked an article");
}
