//! A store that cannot be reached.

use async_trait::async_trait;
use madang_article::{
    Article, ArticleStore, ArticleSummary, BoardWithCount, CreateArticle, CreateBoard, DeleteArticle, DeleteOutcome,
    EditArticle, EditOutcome, NewBoard, NewestArticles,
};
use madang_kernel::{
    ArticleId, BoardId, Created, MemberId, Page, PageNumber, PageSize, Scroll, SessionId, StoreError, Timestamp,
};
use madang_member::{
    ChangeMember, ChangeOutcome, CreateMember, Member, MemberRecord, MemberStore, NewMember, Revocation,
    RevocationCursor,
};

/// Answers nothing.
pub(crate) struct Away;

fn fail<T>() -> Result<T, StoreError> {
    Err(StoreError::unavailable("store", "secret reason"))
}

#[async_trait]
impl ArticleStore for Away {
    async fn create_board(&self, _: NewBoard) -> Result<CreateBoard, StoreError> {
        fail()
    }
    async fn boards(&self) -> Result<Vec<BoardWithCount>, StoreError> {
        fail()
    }
    async fn find_board(&self, _: BoardId) -> Result<Option<BoardWithCount>, StoreError> {
        fail()
    }
    async fn create(&self, _: CreateArticle) -> Result<Created<Article>, StoreError> {
        fail()
    }
    async fn edit(&self, _: EditArticle) -> Result<EditOutcome, StoreError> {
        fail()
    }
    async fn delete(&self, _: DeleteArticle) -> Result<DeleteOutcome, StoreError> {
        fail()
    }
    async fn find(&self, _: ArticleId) -> Result<Option<Article>, StoreError> {
        fail()
    }
    async fn find_many(&self, _: Vec<ArticleId>) -> Result<Vec<Option<Article>>, StoreError> {
        fail()
    }
    async fn newest(&self, _: BoardId, _: usize) -> Result<Option<NewestArticles>, StoreError> {
        fail()
    }
    async fn page(&self, _: BoardId, _: PageNumber, _: PageSize) -> Result<Page<ArticleSummary>, StoreError> {
        fail()
    }
    async fn scroll(
        &self,
        _: BoardId,
        _: Option<ArticleId>,
        _: PageSize,
    ) -> Result<Scroll<ArticleSummary, ArticleId>, StoreError> {
        fail()
    }
    async fn by_writer(
        &self,
        _: MemberId,
        _: Option<ArticleId>,
        _: PageSize,
    ) -> Result<Scroll<ArticleSummary, ArticleId>, StoreError> {
        fail()
    }
}

#[async_trait]
impl MemberStore for Away {
    async fn create(&self, _: NewMember) -> Result<CreateMember, StoreError> {
        fail()
    }
    async fn create_many(&self, _: Vec<NewMember>) -> Result<u64, StoreError> {
        fail()
    }
    async fn find(&self, _: MemberId) -> Result<Option<Member>, StoreError> {
        fail()
    }
    async fn find_credentials(&self, _: &str) -> Result<Option<MemberRecord>, StoreError> {
        fail()
    }
    async fn change(&self, _: ChangeMember) -> Result<ChangeOutcome, StoreError> {
        fail()
    }
    async fn has_admin(&self) -> Result<bool, StoreError> {
        fail()
    }
    async fn end_session(&self, _: SessionId, _: Timestamp) -> Result<(), StoreError> {
        fail()
    }
    async fn revocations(
        &self,
        _: RevocationCursor,
        _: usize,
    ) -> Result<(Vec<Revocation>, RevocationCursor), StoreError> {
        fail()
    }
    async fn forget_expired(&self, _: Timestamp) -> Result<u64, StoreError> {
        fail()
    }
}
