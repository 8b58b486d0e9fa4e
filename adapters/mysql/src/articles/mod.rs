//! Boards and articles on MySQL. What callers want of a board is decided in one transaction under the lock of its counter.
//!
//! An article carries its board's shard, so everything of a board is on one server. The directory of boards is on the home
//! shard: a new board gets its counter first and its place in the directory second, so that nobody knows of a board
//! without a counter. What is left of a creation that ended between the two is a counter that nobody reads, and is dropped
//! with what is old. A board is deleted the other way round: its counter is marked under its lock, which ends every write to
//! it, then it leaves the directory, then the counter goes. Whoever deletes it again finishes what ended in between.

mod board;
mod call;
mod decide;
mod load;
mod page;
mod removed;
pub(crate) mod row;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use madang_article::{
    Article, ArticleHead, ArticlePlace, ArticleStore, BoardWithCount, CreateArticle, CreateBoard, CreateOutcome,
    DeleteArticle, DeleteBoard, DeleteOutcome, EditArticle, EditBoard, EditOutcome, NewBoard, NewestArticles,
    PinArticle, PinOutcome, PurgeArticle, RemovedArticle, RestoreArticle, RestoreOutcome,
};
use madang_board::{ArticleId, BoardId, MemberId, Pin};
use madang_engine_mysql::{Lanes, PART, idempotency};
use madang_kernel::{Created, Id, Page, PageNumber, PageSize, Scroll, ShardId, StoreError, Timestamp};

use crate::Mysql;
use crate::lane_call::lane_call;
pub use madang_article::replay::Announce;

pub(crate) use self::board::strays;
use board::LastCounts;
use call::{Answer, Call};
use decide::ArticleFold;
pub(crate) use madang_article::blocks::{BLOCK, SUPER_BLOCK};

/// Articles of one shard that are created together.
const CREATE_MANY_MAX: usize = 4_096;

/// Boards and articles in a service's databases. Clones share the lanes.
#[derive(Clone)]
pub struct MysqlArticles {
    db: Mysql,
    lanes: Lanes<ArticleFold>,
    last_counts: Arc<LastCounts>,
}

impl MysqlArticles {
    /// The store in `db`; starts its lanes.
    pub fn new(db: Mysql) -> Self {
        let lanes = Lanes::start(&db, ArticleFold { clock: db.clock().clone() });
        Self { db, lanes, last_counts: Arc::default() }
    }

    /// Creates many articles, each with its counters and blocks, and with its event if `announce` says so. Their
    /// idempotency keys are ignored. For filling a site: articles of one shard commit some thousand at a time, those of one
    /// time together or not at all; what was committed before an error stays. Returns how many there are.
    pub async fn create_many(&self, new: Vec<CreateArticle>, announce: Announce) -> Result<u64, StoreError> {
        let mut by_shard: BTreeMap<ShardId, Vec<CreateArticle>> = BTreeMap::new();
        for new in new {
            self.carries_its_board(&new)?;
            by_shard.entry(new.article.board_id.shard()).or_default().push(new);
        }
        let mut created = 0;
        for mut rest in by_shard.into_values() {
            while !rest.is_empty() {
                let later = rest.split_off(rest.len().min(CREATE_MANY_MAX));
                let now = std::mem::replace(&mut rest, later);
                created += lane_call!(self.lanes, Call::CreateMany(now, announce) => Answer::CreatedMany)?;
            }
        }
        Ok(created)
    }

    /// A page as [`ArticleStore::page`] reads it, over a connection of the caller's to the board's server and database:
    /// for whoever wants to know what the server reads for it.
    pub async fn page_over(
        conn: &mut mysql_async::Conn,
        board: BoardId,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Page<ArticleHead>, StoreError> {
        page::page_over(conn, board, page, size).await
    }

    fn carries_its_board(&self, new: &CreateArticle) -> Result<(), StoreError> {
        let (article, board) = (new.article.article_id, new.article.board_id);
        // Not only their servers: a shard may move without the other.
        if article.shard() == board.shard() {
            return Ok(());
        }
        Err(StoreError::broken(PART, format!("article {article} does not carry the shard of board {board}")))
    }

    /// Drops counters of boards that were never created: whoever was creating them died in between. Returns how many.
    pub async fn drop_stray_counts(&self) -> Result<u64, StoreError> {
        board::drop_stray_counts(&self.db).await
    }

    /// Forgets the answers to idempotency keys given before `before`, slice by slice; returns how many.
    pub async fn purge_once(&self, before: Timestamp) -> Result<u64, StoreError> {
        idempotency::purge(&self.db, before).await
    }
}

#[async_trait]
impl ArticleStore for MysqlArticles {
    async fn create_board(&self, new: NewBoard) -> Result<CreateBoard, StoreError> {
        let board = new.board.board_id;
        board::open_count(&self.db, board).await?;
        let created = lane_call!(self.lanes, Call::CreateBoard(Box::new(new)) => Answer::Board)?;
        // Another board has the slug, or an earlier request made the board: then this one never was.
        if !matches!(&created, CreateBoard::Created(Created::Now(made)) if made.board_id == board) {
            board::drop_count(&self.db, board).await?;
        }
        Ok(created)
    }

    async fn edit_board(&self, edit: EditBoard) -> Result<Option<BoardWithCount>, StoreError> {
        if !lane_call!(self.lanes, Call::SetState(edit.board_id, edit.state) => Answer::StateSet)? {
            return Ok(None);
        }
        board::update(&self.db, &edit).await?;
        board::find(&self.db, edit.board_id).await
    }

    async fn delete_board(&self, board: BoardId) -> Result<DeleteBoard, StoreError> {
        let deleted = lane_call!(self.lanes, Call::DeleteBoard(board) => Answer::BoardDeleted)?;
        if deleted == DeleteBoard::Deleted {
            board::leave(&self.db, board).await?;
            board::drop_count(&self.db, board).await?;
        }
        Ok(deleted)
    }

    async fn boards(&self) -> Result<Vec<BoardWithCount>, StoreError> {
        board::all(&self.db, &self.last_counts).await
    }

    async fn find_board(&self, board: BoardId) -> Result<Option<BoardWithCount>, StoreError> {
        board::find(&self.db, board).await
    }

    async fn create(&self, new: CreateArticle) -> Result<CreateOutcome, StoreError> {
        self.carries_its_board(&new)?;
        lane_call!(self.lanes, Call::Create(Box::new(new)) => Answer::Created)
    }

    async fn edit(&self, edit: EditArticle) -> Result<EditOutcome, StoreError> {
        lane_call!(self.lanes, Call::Edit(Box::new(edit)) => Answer::Edited)
    }

    async fn delete(&self, delete: DeleteArticle) -> Result<DeleteOutcome, StoreError> {
        lane_call!(self.lanes, Call::Delete(delete) => Answer::Deleted)
    }

    async fn restore(&self, restore: RestoreArticle) -> Result<RestoreOutcome, StoreError> {
        lane_call!(self.lanes, Call::Restore(Box::new(restore)) => Answer::Restored)
    }

    async fn purge(&self, purge: PurgeArticle) -> Result<bool, StoreError> {
        lane_call!(self.lanes, Call::Purge(purge) => Answer::Purged)
    }

    async fn find_removed(&self, article: ArticleId) -> Result<Option<RemovedArticle>, StoreError> {
        removed::find(&self.db, article).await
    }

    async fn removed_until(&self, until: Timestamp, limit: usize) -> Result<Vec<ArticleId>, StoreError> {
        removed::until(&self.db, until, limit).await
    }

    async fn holds(&self, articles: Vec<ArticleId>) -> Result<Vec<bool>, StoreError> {
        removed::holds(&self.db, &articles).await
    }

    async fn pin(&self, pin: PinArticle) -> Result<PinOutcome, StoreError> {
        lane_call!(self.lanes, Call::Pin(Box::new(pin)) => Answer::Pinned)
    }

    async fn pins(&self, board: BoardId) -> Result<Vec<Pin>, StoreError> {
        page::pins(&self.db, board).await
    }

    async fn find(&self, article: ArticleId) -> Result<Option<Article>, StoreError> {
        Ok(page::find_many(&self.db, &[article]).await?.pop().flatten())
    }

    /// Of one moment on each server.
    async fn find_many(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<Article>>, StoreError> {
        page::find_many(&self.db, &articles).await
    }

    async fn site_newest(&self, before: Option<ArticleId>, limit: usize) -> Result<Vec<ArticlePlace>, StoreError> {
        page::site_newest(&self.db, before, limit).await
    }

    async fn places(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<ArticlePlace>>, StoreError> {
        page::places(&self.db, &articles).await
    }

    async fn newest(&self, board: BoardId, limit: usize) -> Result<Option<NewestArticles>, StoreError> {
        page::newest(&self.db, board, limit).await
    }

    async fn page(&self, board: BoardId, page: PageNumber, size: PageSize) -> Result<Page<ArticleHead>, StoreError> {
        page::page(&self.db, board, page, size).await
    }

    async fn scroll(
        &self,
        board: BoardId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Scroll<ArticleHead, ArticleId>, StoreError> {
        page::scroll(&self.db, board, before, size).await
    }

    async fn by_writer(
        &self,
        writer: MemberId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Scroll<ArticleHead, ArticleId>, StoreError> {
        page::by_writer(&self.db, writer, before, size).await
    }
}
