//! The store without HTTP in front: what `post-article` and `deep-pages` are compared with.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use madang_article::{Article, ArticleStore, Board, CommentMode, CreateArticle, CreateBoard, NewBoard};
use madang_board::{ArticleId, BoardId};
use madang_kernel::{Created, Id, PageNumber, PageSize, ShardId, StoreError};
use madang_sqlite::SqliteArticles;

use super::database::{Commits, Database};
use crate::load::{Turn, call_until, run_callers};

const SLUG: &str = "bench";

/// The article store of a data directory.
pub(super) struct Store {
    database: Database,
    articles: SqliteArticles,
}

/// How a page is found.
#[derive(Debug, Clone, Copy)]
pub(super) enum Paging {
    /// As the product does it: whole blocks are skipped.
    Blocks,
    /// The offset is skipped in the index.
    CoveringSubquery,
    /// The offset is skipped row by row.
    PlainOffset,
}

impl Store {
    /// Opens the database in a data directory that no server holds.
    pub(super) fn open(data: &Path) -> Result<Self> {
        let database = Database::open(data, Commits::Grouped)?;
        Ok(Self { articles: SqliteArticles::new(database.db.clone()), database })
    }

    /// The ids of a board's articles, newest first.
    pub(super) async fn ids(&self, board: BoardId) -> Result<Vec<ArticleId>> {
        let size = PageSize::new("limit", PageSize::MAX.into())?;
        let (mut ids, mut before) = (Vec::new(), None);
        loop {
            let step = self.articles.scroll(board, before, size).await?;
            ids.extend(step.items.iter().map(|item| item.article_id));
            before = step.next;
            if before.is_none() {
                return Ok(ids);
            }
        }
    }

    /// Makes the board that [`Store::create_for`] writes to.
    pub(super) async fn create_board(&self) -> Result<BoardId> {
        let board_id: BoardId = self.database.ids.next(ShardId::for_name(SLUG))?;
        let (slug, title, created_at) = (SLUG.to_owned(), SLUG.to_owned(), self.database.clock.now());
        let board = Board { board_id, slug, title, comment_mode: CommentMode::TwoLevel, created_at };
        match self.articles.create_board(NewBoard { board, idempotency: None }).await? {
            CreateBoard::Created(_) => Ok(board_id),
            CreateBoard::SlugTaken => bail!("the database is not fresh"),
        }
    }

    /// Lets many callers create copies of an article on a board, each waiting for its commit.
    pub(super) async fn create_for(&self, length: Duration, callers: usize, board: BoardId, copy: &Article) -> Turn {
        let copy = Arc::new(copy.clone());
        run_callers(callers, length, |_, until| {
            let (articles, database, copy) = (self.articles.clone(), self.database.clone(), copy.clone());
            call_until(until, move || {
                let (articles, database, copy) = (articles.clone(), database.clone(), copy.clone());
                async move {
                    match create(&articles, &database, board, &copy).await {
                        Ok(Created::Now(_)) => Ok(()),
                        Ok(_) => Err("store: not created".into()),
                        Err(error) => Err(format!("store: {error}")),
                    }
                }
            })
        })
        .await
    }

    /// Times one page; fails when it is empty, for then nothing was found.
    pub(super) async fn time_page(
        &self,
        way: Paging,
        board: BoardId,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Duration> {
        let started = Instant::now();
        let found = match way {
            Paging::Blocks => self.articles.page(board, page, size).await,
            Paging::CoveringSubquery => self.articles.page_by_covering_subquery(board, page, size).await,
            Paging::PlainOffset => self.articles.page_by_plain_offset(board, page, size).await,
        };
        let took = started.elapsed();
        if found.with_context(|| format!("{way:?} failed"))?.items.is_empty() {
            bail!("{way:?} finds nothing on page {}", page.get());
        }
        Ok(took)
    }

    /// Finishes what is queued and closes the database.
    pub(super) async fn close(self) {
        self.database.close().await;
    }
}

async fn create(
    articles: &SqliteArticles,
    Database { ids, clock, .. }: &Database,
    board: BoardId,
    copy: &Article,
) -> Result<Created<Article>, StoreError> {
    let now = clock.now();
    let article = Article {
        article_id: ids.next(board.shard())?,
        board_id: board,
        created_at: now,
        modified_at: now,
        ..copy.clone()
    };
    articles.create(CreateArticle { article, event_id: ids.next(board.shard())?, idempotency: None }).await
}

#[cfg(test)]
mod tests {
    use madang_board::MemberId;
    use madang_event::Writer;
    use madang_kernel::Timestamp;

    use super::*;

    fn article(board: BoardId) -> Article {
        let moment = Timestamp::from_millis(0);
        Article {
            article_id: Id::from_raw(1),
            board_id: board,
            title: "A title".into(),
            content: "Some text".into(),
            content_html: "<p>Some text</p>".into(),
            writer: Writer { member_id: MemberId::from_raw(1), name: "ann".into() },
            created_at: moment,
            modified_at: moment,
            version: 1,
        }
    }

    #[tokio::test]
    async fn every_counted_success_is_an_article_and_every_way_finds_it() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let board = store.create_board().await.unwrap();
        let turn = store.create_for(Duration::from_millis(100), 4, board, &article(board)).await;
        assert!(turn.samples.errors().is_empty(), "{:?}", turn.samples.errors());
        let kept = store.articles.find_board(board).await.unwrap().expect("it was made").article_count;
        assert_eq!(kept, turn.samples.count());
        assert!(kept > 0);
        for way in [Paging::Blocks, Paging::CoveringSubquery, Paging::PlainOffset] {
            let time = async |page| store.time_page(way, board, page, PageSize::DEFAULT).await;
            time(PageNumber::FIRST).await.unwrap();
            let past_the_end = PageNumber::new("page", 1_000_000).unwrap();
            assert!(time(past_the_end).await.is_err(), "an empty page is no measurement");
        }
        store.close().await;
    }
}
