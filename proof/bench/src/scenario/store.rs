//! Pages of a board at the store, without HTTP in front: what `deep-pages` is compared with.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use madang_article::ArticleStore;
use madang_board::{ArticleId, BoardId};
use madang_kernel::{PageNumber, PageSize};
use madang_sqlite::{PageQuery, Sqlite, SqliteArticles};

use super::database::{Commits, Database};

/// The article store of a data directory.
pub(super) struct Store {
    db: Sqlite,
    articles: SqliteArticles,
}

impl Store {
    /// Opens the database in a data directory that no server holds.
    pub(super) fn open(data: &Path) -> Result<Self> {
        let Database { db, .. } = Database::open(data, Commits::Grouped)?;
        Ok(Self { articles: SqliteArticles::new(db.clone()), db })
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

    /// Times one page; fails when it is empty, for then nothing was found.
    pub(super) async fn time_page(
        &self,
        way: PageQuery,
        board: BoardId,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Duration> {
        let started = Instant::now();
        let found = self.articles.page_by(way, board, page, size).await;
        let took = started.elapsed();
        if found.with_context(|| format!("{way:?} failed"))?.items.is_empty() {
            bail!("{way:?} finds nothing on page {}", page.get());
        }
        Ok(took)
    }

    /// Finishes what is queued and closes the database.
    pub(super) async fn close(self) {
        self.db.close().await;
    }
}

#[cfg(test)]
mod tests {
    use super::super::callers::{ArticleCallers, sample_article};
    use super::super::database::Issuer;
    use super::*;

    #[tokio::test]
    async fn every_counted_success_is_an_article_and_every_way_finds_it() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let articles = store.articles.clone();
        let callers = ArticleCallers::on_new_boards(articles, Issuer::new(), 1, 4, sample_article(1)).await.unwrap();
        let turn = callers.run(Duration::from_millis(100)).await;
        assert!(turn.samples.errors().is_empty(), "{:?}", turn.samples.errors());
        let kept = callers.count().await.unwrap();
        assert_eq!(kept, turn.samples.count());
        assert!(kept > 0);
        let board = callers.boards()[0];
        for way in [PageQuery::Blocks, PageQuery::CoveringSubquery, PageQuery::PlainOffset] {
            let time = async |page| store.time_page(way, board, page, PageSize::DEFAULT).await;
            time(PageNumber::FIRST).await.unwrap();
            let past_the_end = PageNumber::new("page", 1_000_000).unwrap();
            assert!(time(past_the_end).await.is_err(), "an empty page is no measurement");
        }
        store.close().await;
    }
}
