//! What a moderator does to an article is told in the log, in the transaction that does it.

use madang_article::{DeleteArticle, DeleteOutcome, EditArticle, EditOutcome};
use madang_board::{Act, ActId, ActKind, Actor, ArticleId, MemberId, Role};
use madang_kernel::{Id, Timestamp};

use super::ArticleStoreHarness;
use super::site::{Site, page_size};

fn act(kind: ActKind, article: ArticleId, act_id: i64) -> Act {
    let moderator = Actor::new(MemberId::from_raw(8), "관리자", Role::Moderator);
    // An id of the article's shard: it says on which server the line is written.
    let act_id = ActId::from_raw(article.raw() + (act_id << 22));
    let at = Timestamp::from_millis(1_760_000_000_000);
    Act { reason: "spam \u{1f333}".into(), ..Act::of(&moderator, act_id, kind, article.raw(), at) }
}

async fn told<H: ArticleStoreHarness>(site: &Site<H>) -> Vec<Act> {
    site.harness.acts().acts(None, None, page_size(10)).await.unwrap().items
}

pub(super) async fn a_moderators_act_is_told_with_the_change_and_only_with_it<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let article = site.create().await.article_id;
    let edited = act(ActKind::ArticleEdited, article, 1);
    let stale = EditArticle { act: Some(edited.clone()), ..site.edit_of(article, "late", Some(7)) };
    assert_eq!(site.store.edit(stale).await.unwrap(), EditOutcome::Changed);
    assert_eq!(told(&site).await, [], "nothing was changed, and nothing is told");
    let edit = EditArticle { act: Some(edited.clone()), ..site.edit_of(article, "better", None) };
    assert!(matches!(site.store.edit(edit).await.unwrap(), EditOutcome::Edited(_)));
    assert_eq!(told(&site).await, std::slice::from_ref(&edited));

    let deleted = act(ActKind::ArticleDeleted, article, 2);
    let delete = |act: &Act| DeleteArticle {
        article_id: article,
        expected_version: None,
        event_id: site.event_id(),
        act: Some(act.clone()),
    };
    assert_eq!(site.store.delete(delete(&deleted)).await.unwrap(), DeleteOutcome::Deleted);
    assert_eq!(told(&site).await, [deleted.clone(), edited.clone()]);
    let again = act(ActKind::ArticleDeleted, article, 3);
    assert_eq!(site.store.delete(delete(&again)).await.unwrap(), DeleteOutcome::Absent);
    assert_eq!(told(&site).await, [deleted, edited], "who came second did nothing");
}
