//! What moderators removed of comments: put back into its mark while it can be, destroyed after that. A mark keeps its place
//! in the discussion as long as it may be filled again.

use madang_board::Removal;
use madang_kernel::StoreError;

use super::Replay;
use super::counted_article::Gone;
use crate::{Comment, PurgeComment, RemovedComment, RestoreComment, RestoreOutcome, events};

impl Replay {
    /// Keeps what the mark of a comment will not tell.
    pub(super) fn keep_removed(&mut self, comment: &Comment, removal: Removal) {
        let &Comment { comment_id, article_id, .. } = comment;
        if let (Some(content), Some(writer)) = (comment.content.clone(), comment.writer.clone()) {
            self.removed.update(comment_id, RemovedComment { comment_id, article_id, content, writer, removal });
        }
    }

    /// Puts text and writer back, if they can be.
    pub fn restore(&mut self, restore: &RestoreComment) -> Result<RestoreOutcome, StoreError> {
        let id = restore.comment_id;
        let Some(mark) = self.comments.find(id) else {
            return Ok(RestoreOutcome::Absent);
        };
        let Some(article) = self.articles.get_mut(&mark.article_id).filter(|article| article.gone == Gone::No) else {
            return Ok(RestoreOutcome::Gone);
        };
        let removed = self.removed.find(id).filter(|removed| removed.removal.is_restorable(self.now) && mark.deleted);
        let Some(RemovedComment { content, writer, .. }) = removed else {
            return Ok(RestoreOutcome::Absent);
        };
        let comment = Comment {
            content: Some(content.clone()),
            content_html: Some(restore.content_html.clone()),
            writer: Some(writer.clone()),
            deleted: false,
            version: mark.version + 1,
            ..mark.clone()
        };
        let count = article.count_back(&comment);
        self.events.push(events::edited(&comment, restore.event_id, self.now, count));
        self.acts.push(restore.act.clone());
        self.removed.delete(id);
        self.comments.update(id, comment.clone());
        Ok(RestoreOutcome::Restored(comment))
    }

    /// Destroys what was removed long enough ago; false when there is no such thing. A mark that nobody replied to goes, with
    /// the marks above it that are left without replies.
    pub fn purge(&mut self, purge: &PurgeComment) -> Result<bool, StoreError> {
        let id = purge.comment_id;
        let is_due = |removed: &&RemovedComment| removed.removal.removed_at <= purge.removed_until;
        let Some(article_id) = self.removed.find(id).filter(is_due).map(|removed| removed.article_id) else {
            return Ok(false);
        };
        self.removed.delete(id);
        let Some(mark) = self.comments.find(id).filter(|mark| mark.deleted).cloned() else { return Ok(true) };
        let going = self.going_with(&mark);
        let article = self.articles.get_mut(&article_id).filter(|article| article.gone == Gone::No);
        if let Some(article) = article.filter(|_| !going.is_empty()) {
            let count = article.count_marks_out(going.len() as u64)?;
            self.events.push(events::deleted(&mark, purge.event_id, self.now, count));
            going.into_iter().for_each(|comment| self.remove(comment));
        }
        Ok(true)
    }
}
