//! Use cases of what moderators removed of discussions: see it, restore it, and in the end destroy it.

use madang_board::rules::{About, Action, may};
use madang_board::{Act, ActKind, Actor, CommentId, Removal, purge_due};
use madang_kernel::{Id as _, StoreError, Timestamp};

use crate::service::{NO_COMMENT, require_open};
use crate::{Comment, CommentError, CommentService, PurgeComment, RemovedComment, RestoreComment, RestoreOutcome};

impl CommentService {
    /// What a moderator removed and can restore (moderators of its board), of an article that is there.
    pub async fn removed(&self, actor: &Actor, comment: CommentId) -> Result<RemovedComment, CommentError> {
        let found = self.store.find_removed(comment).await?;
        let facts = match &found {
            Some(found) if found.removal.is_restorable(self.clock.now()) => {
                self.articles.facts(found.article_id).await?
            }
            _ => None,
        };
        let Some((found, facts)) = found.zip(facts) else {
            // Who may restore nothing is told so, whether this one exists or not.
            may(actor, Action::Restore, About { own: false, board: actor.moderates.first().copied() })?;
            return Err(NO_COMMENT);
        };
        may(actor, Action::Restore, About::on(facts.board_id, false))?;
        Ok(found)
    }

    /// Brings back a comment that a moderator removed, within 30 days (moderators of its board).
    pub async fn restore(&self, actor: &Actor, comment: CommentId) -> Result<Comment, CommentError> {
        let removed = self.removed(actor, comment).await?;
        let facts = self.articles.facts(removed.article_id).await?.ok_or(NO_COMMENT)?;
        require_open(&facts)?;
        let act =
            Act::of(actor, self.next_id(comment.shard())?, ActKind::CommentRestored, comment.raw(), self.clock.now());
        let restore = RestoreComment {
            comment_id: comment,
            content_html: self.renderer.html(&removed.content).await,
            event_id: self.next_id(comment.shard())?,
            act: Act { board_id: Some(facts.board_id), ..act },
        };
        match self.store.restore(restore).await? {
            RestoreOutcome::Restored(comment) => Ok(comment),
            RestoreOutcome::Absent | RestoreOutcome::Gone => Err(NO_COMMENT),
        }
    }

    /// Destroys what was removed more than 30 days before `now`, one comment a transaction; returns how many.
    pub async fn purge_removed(&self, now: Timestamp) -> Result<u64, StoreError> {
        let removed_until = Removal::purged_before(now);
        purge_due(
            |slice| self.store.removed_until(removed_until, slice),
            async |comment_id: CommentId| {
                let event_id = self.next_id(comment_id.shard())?;
                self.store.purge(PurgeComment { comment_id, removed_until, event_id }).await
            },
        )
        .await
    }
}
