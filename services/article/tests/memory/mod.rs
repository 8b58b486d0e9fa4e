//! A store in memory that is just enough to try the use cases on; the rules are those of the replay, as in every adapter.

mod rows;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use madang_article::{
    Article, ArticleHead, ArticlePlace, ArticleStore, Board, BoardState, BoardWithCount, CreateArticle, CreateBoard,
    CreateOutcome, DeleteArticle, DeleteBoard, DeleteOutcome, EditArticle, EditBoard, EditOutcome, NewBoard,
    NewestArticles, PinArticle, PinOutcome, PurgeArticle, RemovedArticle, RestoreArticle, RestoreOutcome,
};
use madang_board::{Act, ArticleId, BoardId, MemberId, Pin};
use madang_kernel::{EventId, Page, PageNumber, PageSize, Scroll, StoreError, Timestamp, known_count};

pub(crate) use rows::Rows;

/// No use case depends on when its event occurred.
const NOW: Timestamp = Timestamp::from_millis(1_704_067_200_000);

#[derive(Default)]
pub(crate) struct MemoryArticles {
    rows: Mutex<Rows>,
    /// How often a board was looked up.
    pub(crate) board_lookups: AtomicU64,
}

impl MemoryArticles {
    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap()
    }

    /// What the log of moderation would say.
    pub(crate) fn acts(&self) -> Vec<Act> {
        self.rows().acts.clone()
    }

    /// The ids of the events that would have been written.
    pub(crate) fn events(&self) -> Vec<EventId> {
        self.rows().events.iter().map(|event| event.event_id).collect()
    }
}

impl Rows {
    fn with_count(&self, board: &Board) -> BoardWithCount {
        let counter = self.counters[&board.board_id];
        let (article_count, archived) = (counter.count.article_count, counter.state == BoardState::Archived);
        BoardWithCount { board: board.clone(), article_count, archived, last_activity_at: counter.last_activity_at() }
    }

    /// The article, if it is there, with its board.
    fn stored(&self, article: ArticleId) -> Option<(BoardId, ArticleId)> {
        self.articles.get(&article).map(|found| (found.board_id, article))
    }

    fn newest_first(&self, board: BoardId) -> impl Iterator<Item = ArticleHead> {
        self.articles.values().rev().filter(move |article| article.board_id == board).map(|article| ArticleHead {
            article_id: article.article_id,
            board_id: article.board_id,
            title: article.title.clone(),
            writer: article.writer.clone(),
            created_at: article.created_at,
            modified_at: article.modified_at,
            version: article.version,
        })
    }
}

#[async_trait]
impl ArticleStore for MemoryArticles {
    async fn create_board(&self, new: NewBoard) -> Result<CreateBoard, StoreError> {
        self.rows().transact([], NOW, |replay| replay.create_board(&new))
    }

    async fn boards(&self) -> Result<Vec<BoardWithCount>, StoreError> {
        let rows = self.rows();
        Ok(rows.boards.values().map(|board| rows.with_count(board)).collect())
    }

    async fn edit_board(&self, edit: EditBoard) -> Result<Option<BoardWithCount>, StoreError> {
        let mut rows = self.rows();
        rows.transact([], NOW, |replay| replay.set_state(edit.board_id, edit.state));
        let Some(board) = rows.boards.get_mut(&edit.board_id) else { return Ok(None) };
        (board.title, board.description, board.position) = (edit.title, edit.description, edit.position);
        let board = board.clone();
        Ok(Some(rows.with_count(&board)))
    }

    async fn delete_board(&self, board: BoardId) -> Result<DeleteBoard, StoreError> {
        Ok(self.rows().transact([], NOW, |replay| replay.delete_board(board)))
    }

    async fn find_board(&self, board: BoardId) -> Result<Option<BoardWithCount>, StoreError> {
        self.board_lookups.fetch_add(1, Ordering::Relaxed);
        let rows = self.rows();
        Ok(rows.boards.get(&board).map(|board| rows.with_count(board)))
    }

    async fn create(&self, new: CreateArticle) -> Result<CreateOutcome, StoreError> {
        let article = (new.article.board_id, new.article.article_id);
        self.rows().transact([article], NOW, |replay| replay.create(&new))
    }

    async fn edit(&self, edit: EditArticle) -> Result<EditOutcome, StoreError> {
        let mut rows = self.rows();
        let stored = rows.stored(edit.article_id);
        rows.transact(stored, NOW, |replay| replay.edit(&edit))
    }

    async fn delete(&self, delete: DeleteArticle) -> Result<DeleteOutcome, StoreError> {
        let mut rows = self.rows();
        let stored = rows.stored(delete.article_id);
        rows.transact(stored, NOW, |replay| replay.delete(&delete))
    }

    async fn restore(&self, restore: RestoreArticle) -> Result<RestoreOutcome, StoreError> {
        let mut rows = self.rows();
        let removed = rows.removed.get(&restore.article_id).map(|found| (found.article.board_id, restore.article_id));
        rows.transact(removed, NOW, |replay| replay.restore(&restore))
    }

    async fn purge(&self, purge: PurgeArticle) -> Result<bool, StoreError> {
        Ok(self.rows().transact([], NOW, |replay| replay.purge(&purge)))
    }

    async fn find_removed(&self, article: ArticleId) -> Result<Option<RemovedArticle>, StoreError> {
        Ok(self.rows().removed.get(&article).cloned())
    }

    async fn removed_until(&self, until: Timestamp, limit: usize) -> Result<Vec<ArticleId>, StoreError> {
        let rows = self.rows();
        let due = rows.removed.iter().filter(|(_, found)| found.removal.removed_at <= until);
        Ok(due.map(|(id, _)| *id).take(limit).collect())
    }

    async fn holds(&self, articles: Vec<ArticleId>) -> Result<Vec<bool>, StoreError> {
        let rows = self.rows();
        let holds = |id: &ArticleId| rows.articles.contains_key(id) || rows.removed.contains_key(id);
        Ok(articles.iter().map(holds).collect())
    }

    async fn pin(&self, pin: PinArticle) -> Result<PinOutcome, StoreError> {
        let mut rows = self.rows();
        let stored = rows.stored(pin.article_id);
        rows.transact(stored, NOW, |replay| replay.pin(&pin))
    }

    async fn pins(&self, board: BoardId) -> Result<Vec<Pin>, StoreError> {
        Ok(self.rows().pins.values().filter(|pin| pin.board_id == board).copied().collect())
    }

    async fn find(&self, article: ArticleId) -> Result<Option<Article>, StoreError> {
        Ok(self.rows().articles.get(&article).cloned())
    }

    async fn find_many(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<Article>>, StoreError> {
        let rows = self.rows();
        Ok(articles.iter().map(|article| rows.articles.get(article).cloned()).collect())
    }

    async fn site_newest(&self, before: Option<ArticleId>, limit: usize) -> Result<Vec<ArticlePlace>, StoreError> {
        let rows = self.rows();
        let older = rows.articles.values().rev().filter(|found| before.is_none_or(|before| found.article_id < before));
        Ok(older.take(limit).map(place).collect())
    }

    async fn places(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<ArticlePlace>>, StoreError> {
        let rows = self.rows();
        Ok(articles.iter().map(|article| rows.articles.get(article).map(place)).collect())
    }

    async fn newest(&self, board: BoardId, limit: usize) -> Result<Option<NewestArticles>, StoreError> {
        let rows = self.rows();
        let Some(counter) = rows.counters.get(&board) else { return Ok(None) };
        let mut ids: Vec<_> = rows.newest_first(board).map(|item| item.article_id).collect();
        let is_all = ids.len() <= limit;
        ids.truncate(limit);
        Ok(Some(NewestArticles { ids, is_all, count: counter.count }))
    }

    async fn page(&self, board: BoardId, page: PageNumber, size: PageSize) -> Result<Page<ArticleHead>, StoreError> {
        let rows = self.rows();
        let items = rows.newest_first(board).skip(page.offset(size) as usize).take(size.get() as usize).collect();
        let count = rows.newest_first(board).count() as u64;
        Ok(Page { items, known_count: known_count(count, page, size) })
    }

    async fn scroll(
        &self,
        board: BoardId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Scroll<ArticleHead, ArticleId>, StoreError> {
        let rows = self.rows();
        let after_cursor = rows.newest_first(board).filter(|item| before.is_none_or(|before| item.article_id < before));
        let items = after_cursor.take(size.get() as usize + 1).collect();
        Ok(Scroll::from_surplus(items, size, |item| item.article_id))
    }

    async fn by_writer(
        &self,
        writer: MemberId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Scroll<ArticleHead, ArticleId>, StoreError> {
        let rows = self.rows();
        let written = rows.boards.keys().flat_map(|board| rows.newest_first(*board));
        let mut written: Vec<_> = written.filter(|item| item.writer.member_id == writer).collect();
        written.retain(|item| before.is_none_or(|before| item.article_id < before));
        written.sort_by_key(|item| std::cmp::Reverse(item.article_id));
        written.truncate(size.get() as usize + 1);
        Ok(Scroll::from_surplus(written, size, |item| item.article_id))
    }
}

fn place(article: &Article) -> ArticlePlace {
    let &Article { article_id, board_id, created_at, .. } = article;
    ArticlePlace { article_id, board_id, created_at }
}
