//! The failing store as owner of what belongs to an article: comments, likes, views, and the hot list.

use async_trait::async_trait;
use madang_board::{ArticleId, BoardId, CommentId, CommentMode, MemberId};
use madang_comment::{
    Active, Comment, CommentCount, CommentCursor, CommentStore, Counted, CreateComment, CreateOutcome, DeleteComment,
    DeleteOutcome, EditComment, EditOutcome, LockOutcome, PurgeComment, RemovedComment, RestoreComment, RestoreOutcome,
    SetLock,
};
use madang_hot_article::{
    Day, Forgotten, HotApplied, HotChange, HotItem, HotList, HotStore, Offsets, Progress, RankingSlice, Replacement,
};
use madang_kernel::{EventId, Page, PageNumber, PageSize, Scroll, StoreError, Timestamp};
use madang_like::{CleanedUp, Like, LikeCount, LikeOutcome, LikeState, LikeStore, Liker, Unlike};
use madang_view::{StoredViews, ViewCount, ViewStore, WriteBack, WrittenBack};

use super::failing_site::Store;

#[async_trait]
impl CommentStore for Store {
    async fn counts(&self, _: Vec<ArticleId>) -> Result<Vec<Option<Counted>>, StoreError> {
        self.fail()
    }
    async fn active(&self, _: Option<BoardId>, _: Timestamp, _: usize) -> Result<Vec<Active>, StoreError> {
        self.fail()
    }
    async fn unplaced(&self, _: Option<ArticleId>, _: PageSize) -> Result<Vec<ArticleId>, StoreError> {
        self.fail()
    }
    async fn place(&self, _: ArticleId, _: BoardId) -> Result<(), StoreError> {
        self.fail()
    }
    async fn create(&self, _: CreateComment) -> Result<CreateOutcome, StoreError> {
        self.fail()
    }
    async fn edit(&self, _: EditComment) -> Result<EditOutcome, StoreError> {
        self.fail()
    }
    async fn delete(&self, _: DeleteComment) -> Result<DeleteOutcome, StoreError> {
        self.fail()
    }
    async fn restore(&self, _: RestoreComment) -> Result<RestoreOutcome, StoreError> {
        self.fail()
    }
    async fn purge(&self, _: PurgeComment) -> Result<bool, StoreError> {
        self.fail()
    }
    async fn find_removed(&self, _: CommentId) -> Result<Option<RemovedComment>, StoreError> {
        self.fail()
    }
    async fn removed_until(&self, _: Timestamp, _: usize) -> Result<Vec<CommentId>, StoreError> {
        self.fail()
    }
    async fn set_lock(&self, _: SetLock) -> Result<LockOutcome, StoreError> {
        self.fail()
    }
    async fn find(&self, _: CommentId) -> Result<Option<Comment>, StoreError> {
        self.fail()
    }
    async fn find_many(&self, _: Vec<CommentId>) -> Result<Vec<Option<Comment>>, StoreError> {
        self.fail()
    }
    async fn page(
        &self,
        _: ArticleId,
        _: CommentMode,
        _: PageNumber,
        _: PageSize,
    ) -> Result<Page<Comment>, StoreError> {
        self.fail()
    }
    async fn scroll(
        &self,
        _: ArticleId,
        _: CommentMode,
        _: Option<CommentCursor>,
        _: PageSize,
    ) -> Result<Scroll<Comment, CommentCursor>, StoreError> {
        self.fail()
    }
    async fn by_writer(
        &self,
        _: MemberId,
        _: Option<CommentId>,
        _: PageSize,
    ) -> Result<Scroll<Comment, CommentId>, StoreError> {
        self.fail()
    }
    async fn count(&self, _: ArticleId) -> Result<CommentCount, StoreError> {
        self.fail()
    }
    async fn mark_article_gone(&self, _: ArticleId) -> Result<(), StoreError> {
        self.fail()
    }
    async fn clean_up(&self, _: ArticleId, _: u32) -> Result<u32, StoreError> {
        self.fail()
    }
    async fn counted_articles(&self, _: Option<ArticleId>, _: PageSize) -> Result<Vec<ArticleId>, StoreError> {
        self.fail()
    }
    async fn gone_articles(&self, _: Option<ArticleId>, _: PageSize) -> Result<Vec<ArticleId>, StoreError> {
        self.fail()
    }
    async fn restore_article(&self, _: ArticleId) -> Result<(), StoreError> {
        self.fail()
    }
}

#[async_trait]
impl LikeStore for Store {
    async fn like(&self, _: Like) -> Result<LikeOutcome, StoreError> {
        self.fail()
    }
    async fn unlike(&self, _: Unlike) -> Result<LikeOutcome, StoreError> {
        self.fail()
    }
    async fn state(&self, _: ArticleId, _: Option<MemberId>) -> Result<Option<LikeState>, StoreError> {
        self.fail()
    }
    async fn likers(
        &self,
        _: ArticleId,
        _: Option<MemberId>,
        _: PageSize,
    ) -> Result<Option<Scroll<Liker, MemberId>>, StoreError> {
        self.fail()
    }
    async fn counts(&self, _: Vec<ArticleId>) -> Result<Vec<Option<LikeCount>>, StoreError> {
        self.fail()
    }
    async fn mark_article_gone(&self, _: ArticleId) -> Result<bool, StoreError> {
        self.fail()
    }
    async fn clean_up(&self, _: ArticleId, _: usize) -> Result<CleanedUp, StoreError> {
        self.fail()
    }
    async fn counted_articles(&self, _: Option<ArticleId>, _: PageSize) -> Result<Vec<ArticleId>, StoreError> {
        self.fail()
    }
    async fn gone_articles(&self, _: Option<ArticleId>, _: PageSize) -> Result<Vec<ArticleId>, StoreError> {
        self.fail()
    }
    async fn restore_article(&self, _: ArticleId, _: EventId) -> Result<(), StoreError> {
        self.fail()
    }
}

#[async_trait]
impl ViewStore for Store {
    async fn find(&self, _: ArticleId) -> Result<StoredViews, StoreError> {
        self.fail()
    }
    async fn find_many(&self, _: Vec<ArticleId>) -> Result<Vec<StoredViews>, StoreError> {
        self.fail()
    }
    async fn counts(&self, _: Vec<ArticleId>) -> Result<Vec<Option<ViewCount>>, StoreError> {
        self.fail()
    }
    async fn write_back(&self, _: Vec<WriteBack>) -> Result<Vec<WrittenBack>, StoreError> {
        self.fail()
    }
    async fn mark_article_gone(&self, _: ArticleId) -> Result<(), StoreError> {
        self.fail()
    }
    async fn counted_after(&self, _: Option<ArticleId>, _: usize) -> Result<Vec<ArticleId>, StoreError> {
        self.fail()
    }
    async fn gone_after(&self, _: Option<ArticleId>, _: usize) -> Result<Vec<ArticleId>, StoreError> {
        self.fail()
    }
    async fn restore_article(&self, _: ArticleId) -> Result<(), StoreError> {
        self.fail()
    }
}

#[async_trait]
impl HotStore for Store {
    async fn apply(&self, _: Vec<HotChange>, _: Offsets) -> Result<HotApplied, StoreError> {
        self.fail()
    }
    async fn top(&self, _: Day, _: usize) -> Result<Vec<HotItem>, StoreError> {
        self.fail()
    }
    async fn lists(&self, _: Vec<Day>) -> Result<Vec<HotList>, StoreError> {
        self.fail()
    }
    async fn finalise(&self, _: Day) -> Result<bool, StoreError> {
        self.fail()
    }
    async fn is_final(&self, _: Day) -> Result<bool, StoreError> {
        self.fail()
    }
    async fn replace(&self, _: Day, _: Vec<Replacement>) -> Result<Vec<ArticleId>, StoreError> {
        self.fail()
    }
    async fn forget_before(&self, _: Day, _: usize) -> Result<Forgotten, StoreError> {
        self.fail()
    }
    async fn rebuild_ranking(&self, _: Option<(Day, ArticleId)>, _: usize) -> Result<RankingSlice, StoreError> {
        self.fail()
    }
}

#[async_trait]
impl Progress for Store {
    async fn caught_up(&self, _: Timestamp) -> Result<bool, StoreError> {
        self.fail()
    }
}
