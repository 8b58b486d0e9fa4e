//! What the owner of comments tells other services at once: where a comment belongs.

use async_trait::async_trait;
use madang_board::{ArticleId, CommentId, CommentLookup};
use madang_kernel::StoreError;

use crate::{CommentError, CommentService};

#[async_trait]
impl CommentLookup for CommentService {
    async fn article_of(&self, comment: CommentId) -> Result<Option<ArticleId>, StoreError> {
        match self.get(comment).await {
            Ok(found) => Ok((!found.deleted).then_some(found.article_id)),
            Err(CommentError::Store(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }
}
