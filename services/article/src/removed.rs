//! Use cases of what moderators removed: see it, restore it, and in the end destroy it.

use madang_board::rules::{About, Action, may};
use madang_board::{Act, ActKind, Actor, ArticleId, Removal, purge_due};
use madang_kernel::{Id as _, StoreError, Timestamp};

use crate::service::NO_ARTICLE;
use crate::{Article, ArticleError, ArticleService, PurgeArticle, RemovedArticle, RestoreArticle, RestoreOutcome};

impl ArticleService {
    /// An article that a moderator removed and that can be restored (moderators of its board).
    pub async fn removed(&self, actor: &Actor, article: ArticleId) -> Result<RemovedArticle, ArticleError> {
        let found = self.store.find_removed(article).await?;
        let found = found.filter(|found| found.removal.is_restorable(self.clock.now()));
        let Some(found) = found else {
            // Who may restore nothing is told so, whether this one exists or not.
            may(actor, Action::Restore, About { own: false, board: actor.moderates.first().copied() })?;
            return Err(NO_ARTICLE);
        };
        may(actor, Action::Restore, About::on(found.article.board_id, false))?;
        Ok(found)
    }

    /// Brings back an article that a moderator removed, within 30 days (moderators of its board).
    pub async fn restore(&self, actor: &Actor, article: ArticleId) -> Result<Article, ArticleError> {
        let found = self.removed(actor, article).await?;
        let (act_id, now) = (self.next_id(article.shard())?, self.clock.now());
        let act = Act::of(actor, act_id, ActKind::ArticleRestored, article.raw(), now);
        let act = Act { board_id: Some(found.article.board_id), ..act };
        let restore = RestoreArticle { article_id: article, event_id: self.next_id(article.shard())?, act };
        match self.store.restore(restore).await? {
            RestoreOutcome::Restored(restored) => {
                self.article_cache.note_restored(article);
                Ok(restored)
            }
            RestoreOutcome::Archived => Err(ArticleError::Archived),
            RestoreOutcome::Absent => Err(NO_ARTICLE),
        }
    }

    /// Destroys what was removed more than 30 days before `now`, one article a transaction; returns how many.
    pub async fn purge_removed(&self, now: Timestamp) -> Result<u64, StoreError> {
        let removed_until = Removal::purged_before(now);
        purge_due(
            |slice| self.store.removed_until(removed_until, slice),
            async |article_id: ArticleId| {
                let event_id = self.next_id(article_id.shard())?;
                self.store.purge(PurgeArticle { article_id, removed_until, event_id }).await
            },
        )
        .await
    }
}
