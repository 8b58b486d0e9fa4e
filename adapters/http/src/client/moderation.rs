//! What moderation asks peers: the ports behind which the owners of articles and comments stand.

use std::sync::Arc;

use async_trait::async_trait;
use madang_board::{Act, ActId, ArticleId, BoardId, BoardLookup, CommentId, CommentLookup};
use madang_kernel::{PageSize, Scroll, StoreError};
use madang_member::ActSource;

use super::HttpPeers;
use super::group::Group;
use crate::wire::{ActsStep, ArticleActsOf, ArticleOfComment, BoardKnown, CommentActsOf};

/// What moderators did, as far as peers of one role wrote it.
pub struct PeerActs {
    group: Arc<Group>,
    on: On,
}

enum On {
    Articles,
    Comments,
}

impl HttpPeers {
    /// What moderators did to articles.
    pub fn article_acts(&self) -> PeerActs {
        PeerActs { group: Arc::clone(&self.articles), on: On::Articles }
    }

    /// What moderators did to comments.
    pub fn comment_acts(&self) -> PeerActs {
        PeerActs { group: Arc::clone(&self.comments), on: On::Comments }
    }
}

#[async_trait]
impl ActSource for PeerActs {
    async fn acts(
        &self,
        board: Option<BoardId>,
        before: Option<ActId>,
        size: PageSize,
    ) -> Result<Scroll<Act, ActId>, StoreError> {
        let step = ActsStep { board_id: board, before, limit: size.get() };
        match self.on {
            On::Articles => self.group.ask(&ArticleActsOf(step)).await,
            On::Comments => self.group.ask(&CommentActsOf(step)).await,
        }
    }
}

#[async_trait]
impl BoardLookup for HttpPeers {
    async fn has_board(&self, board: BoardId) -> Result<bool, StoreError> {
        Ok(self.articles.ask(&BoardKnown { board_id: board }).await?.is_known)
    }
}

#[async_trait]
impl CommentLookup for HttpPeers {
    async fn article_of(&self, comment: CommentId) -> Result<Option<ArticleId>, StoreError> {
        Ok(self.comments.ask(&ArticleOfComment { comment_id: comment }).await?.article_id)
    }
}
