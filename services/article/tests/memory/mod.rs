//! A store in memory that is just enough to try the rules of the use cases on; adapters have their own suite.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use madang_article::{
    Article, ArticleStore, ArticleSummary, Board, BoardWithCount, CreateArticle, CreateBoard, DeleteArticle,
    DeleteOutcome, EditArticle, EditOutcome, NewBoard, NewestArticles,
};
use madang_board::{Act, ArticleId, BoardId, MemberId};
use madang_event::BoardCount;
use madang_kernel::{Created, EventId, Idempotency, Page, PageNumber, PageSize, Scroll, StoreError, known_count};

#[derive(Default)]
pub(crate) struct MemoryArticles {
    kept: Mutex<Kept>,
    /// How often a board was looked up.
    pub(crate) board_lookups: AtomicU64,
}

#[derive(Default)]
struct Kept {
    boards: Vec<Board>,
    articles: BTreeMap<ArticleId, Article>,
    idempotency: Vec<(Idempotency, Article)>,
    events: Vec<EventId>,
    acts: Vec<Act>,
}

impl MemoryArticles {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap()
    }

    /// What the log of moderation would say.
    pub(crate) fn acts(&self) -> Vec<Act> {
        self.kept().acts.clone()
    }

    /// The ids of the events that would have been written.
    pub(crate) fn events(&self) -> Vec<EventId> {
        self.kept().events.clone()
    }
}

impl Kept {
    fn with_count(&self, board: &Board) -> BoardWithCount {
        let on_board = self.articles.values().filter(|article| article.board_id == board.board_id);
        BoardWithCount { board: board.clone(), article_count: on_board.count() as u64 }
    }

    fn newest_first(&self, board: BoardId) -> impl Iterator<Item = ArticleSummary> {
        self.articles.values().rev().filter(move |article| article.board_id == board).map(|article| ArticleSummary {
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
        let mut kept = self.kept();
        if kept.boards.iter().any(|board| board.slug == new.board.slug) {
            return Ok(CreateBoard::SlugTaken);
        }
        kept.boards.push(new.board.clone());
        Ok(CreateBoard::Created(Created::Now(new.board)))
    }

    async fn boards(&self) -> Result<Vec<BoardWithCount>, StoreError> {
        let kept = self.kept();
        Ok(kept.boards.iter().map(|board| kept.with_count(board)).collect())
    }

    async fn find_board(&self, board: BoardId) -> Result<Option<BoardWithCount>, StoreError> {
        self.board_lookups.fetch_add(1, Ordering::Relaxed);
        let kept = self.kept();
        Ok(kept.boards.iter().find(|known| known.board_id == board).map(|board| kept.with_count(board)))
    }

    async fn create(&self, new: CreateArticle) -> Result<Created<Article>, StoreError> {
        let mut kept = self.kept();
        if let Some(idempotency) = new.idempotency {
            let same = |(known, _): &&(Idempotency, Article)| {
                (&known.scope, &known.key) == (&idempotency.scope, &idempotency.key)
            };
            if let Some((known, article)) = kept.idempotency.iter().find(same) {
                let repeated = known.fingerprint == idempotency.fingerprint;
                return Ok(if repeated { Created::Before(article.clone()) } else { Created::KeyReused });
            }
            kept.idempotency.push((idempotency, new.article.clone()));
        }
        kept.events.push(new.event_id);
        kept.articles.insert(new.article.article_id, new.article.clone());
        Ok(Created::Now(new.article))
    }

    async fn edit(&self, edit: EditArticle) -> Result<EditOutcome, StoreError> {
        let mut kept = self.kept();
        let Some(article) = kept.articles.get_mut(&edit.article_id) else { return Ok(EditOutcome::Absent) };
        if edit.expected_version.is_some_and(|expected| expected != article.version) {
            return Ok(EditOutcome::Changed);
        }
        (article.title, article.content, article.content_html) = (edit.title, edit.content, edit.content_html);
        article.modified_at = edit.modified_at;
        article.version += 1;
        let edited = article.clone();
        kept.events.push(edit.event_id);
        kept.acts.extend(edit.act);
        Ok(EditOutcome::Edited(edited))
    }

    async fn delete(&self, delete: DeleteArticle) -> Result<DeleteOutcome, StoreError> {
        let mut kept = self.kept();
        if kept.articles.remove(&delete.article_id).is_none() {
            return Ok(DeleteOutcome::Absent);
        }
        kept.events.push(delete.event_id);
        kept.acts.extend(delete.act);
        Ok(DeleteOutcome::Deleted)
    }

    async fn find(&self, article: ArticleId) -> Result<Option<Article>, StoreError> {
        Ok(self.kept().articles.get(&article).cloned())
    }

    async fn find_many(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<Article>>, StoreError> {
        let kept = self.kept();
        Ok(articles.iter().map(|article| kept.articles.get(article).cloned()).collect())
    }

    async fn newest(&self, board: BoardId, limit: usize) -> Result<Option<NewestArticles>, StoreError> {
        let kept = self.kept();
        if kept.boards.iter().all(|known| known.board_id != board) {
            return Ok(None);
        }
        let mut ids: Vec<_> = kept.newest_first(board).map(|item| item.article_id).collect();
        let count = BoardCount { article_count: ids.len() as u64, version: ids.len() as u64 };
        let is_all = ids.len() <= limit;
        ids.truncate(limit);
        Ok(Some(NewestArticles { ids, is_all, count }))
    }

    async fn page(&self, board: BoardId, page: PageNumber, size: PageSize) -> Result<Page<ArticleSummary>, StoreError> {
        let kept = self.kept();
        let items = kept.newest_first(board).skip(page.offset(size) as usize).take(size.get() as usize).collect();
        let count = kept.newest_first(board).count() as u64;
        Ok(Page { items, known_count: known_count(count, page, size) })
    }

    async fn scroll(
        &self,
        board: BoardId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Scroll<ArticleSummary, ArticleId>, StoreError> {
        let kept = self.kept();
        let after_cursor = kept.newest_first(board).filter(|item| before.is_none_or(|before| item.article_id < before));
        let items = after_cursor.take(size.get() as usize + 1).collect();
        Ok(Scroll::from_surplus(items, size, |item| item.article_id))
    }

    async fn by_writer(
        &self,
        writer: MemberId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Scroll<ArticleSummary, ArticleId>, StoreError> {
        let kept = self.kept();
        let written = kept.boards.iter().flat_map(|board| kept.newest_first(board.board_id));
        let mut written: Vec<_> = written.filter(|item| item.writer.member_id == writer).collect();
        written.retain(|item| before.is_none_or(|before| item.article_id < before));
        written.sort_by_key(|item| std::cmp::Reverse(item.article_id));
        written.truncate(size.get() as usize + 1);
        Ok(Scroll::from_surplus(written, size, |item| item.article_id))
    }
}
