//! Boards and articles on MySQL. What callers want of a board is decided in one transaction under the lock of its counter.
//!
//! An article carries its board's shard, so everything of a board is on one server. The directory of boards is on the home
//! shard: a new board gets its counter first and its place in the directory second, so that nobody knows of a board
//! without a counter. What is left of a start that ended between the two is a counter that nobody reads.

mod blocks;
mod board;
mod call;
mod decide;
mod load;
mod page;
mod row;

use async_trait::async_trait;
use madang_article::{
    Article, ArticleStore, ArticleSummary, BoardWithCount, CreateArticle, CreateBoard, DeleteArticle, DeleteOutcome,
    EditArticle, EditOutcome, NewBoard, NewestArticles,
};
use madang_kernel::{
    ArticleId, BoardId, Created, Id, MemberId, Page, PageNumber, PageSize, Scroll, StoreError, Timestamp,
};

use crate::errors::PART;
use crate::lane::Lanes;
use crate::{Mysql, once};
pub(crate) use blocks::{BLOCK, SUPER_BLOCK};
use call::{Answer, Call};
use decide::ArticleFold;

/// Boards and articles in a service's databases. Clones share the lanes.
#[derive(Clone)]
pub struct MysqlArticles {
    db: Mysql,
    lanes: Lanes<ArticleFold>,
}

impl MysqlArticles {
    /// The store in `db`; starts its lanes.
    pub fn new(db: Mysql) -> Self {
        let lanes = Lanes::start(&db, ArticleFold::new(db.clock().clone()));
        Self { db, lanes }
    }

    /// Forgets the answers to idempotency keys given before `before`, slice by slice; returns how many.
    pub async fn purge_once(&self, before: Timestamp) -> Result<u64, StoreError> {
        once::purge(&self.db, before).await
    }
}

/// An answer to another call: cannot be, as each call is decided by its kind.
fn crossed() -> StoreError {
    StoreError::broken(PART, "a call was answered as another")
}

#[async_trait]
impl ArticleStore for MysqlArticles {
    async fn create_board(&self, new: NewBoard) -> Result<CreateBoard, StoreError> {
        board::open_count(&self.db, new.board.board_id).await?;
        match self.lanes.call(Call::CreateBoard(Box::new(new))).await? {
            Answer::Board(outcome) => Ok(outcome),
            _ => Err(crossed()),
        }
    }

    async fn boards(&self) -> Result<Vec<BoardWithCount>, StoreError> {
        board::all(&self.db).await
    }

    async fn find_board(&self, board: BoardId) -> Result<Option<BoardWithCount>, StoreError> {
        board::find(&self.db, board).await
    }

    async fn create(&self, new: CreateArticle) -> Result<Created<Article>, StoreError> {
        let (article, board) = (new.article.article_id, new.article.board_id);
        if self.db.map().server(article.shard()) != self.db.map().server(board.shard()) {
            return Err(StoreError::broken(
                PART,
                format!("article {article} does not carry the shard of board {board}"),
            ));
        }
        match self.lanes.call(Call::Create(Box::new(new))).await? {
            Answer::Created(outcome) => Ok(outcome),
            _ => Err(crossed()),
        }
    }

    async fn edit(&self, edit: EditArticle) -> Result<EditOutcome, StoreError> {
        match self.lanes.call(Call::Edit(Box::new(edit))).await? {
            Answer::Edited(outcome) => Ok(outcome),
            _ => Err(crossed()),
        }
    }

    async fn delete(&self, delete: DeleteArticle) -> Result<DeleteOutcome, StoreError> {
        match self.lanes.call(Call::Delete(delete)).await? {
            Answer::Deleted(outcome) => Ok(outcome),
            _ => Err(crossed()),
        }
    }

    async fn find(&self, article: ArticleId) -> Result<Option<Article>, StoreError> {
        Ok(page::find_many(&self.db, &[article]).await?.pop().flatten())
    }

    /// Of one moment on each server.
    async fn find_many(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<Article>>, StoreError> {
        page::find_many(&self.db, &articles).await
    }

    async fn newest(&self, board: BoardId, limit: usize) -> Result<Option<NewestArticles>, StoreError> {
        page::newest(&self.db, board, limit).await
    }

    async fn page(&self, board: BoardId, page: PageNumber, size: PageSize) -> Result<Page<ArticleSummary>, StoreError> {
        page::page(&self.db, board, page, size).await
    }

    async fn scroll(
        &self,
        board: BoardId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Scroll<ArticleSummary, ArticleId>, StoreError> {
        page::scroll(&self.db, board, before, size).await
    }

    async fn by_writer(
        &self,
        writer: MemberId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Scroll<ArticleSummary, ArticleId>, StoreError> {
        page::by_writer(&self.db, writer, before, size).await
    }
}
