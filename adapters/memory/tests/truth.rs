//! Random days of a site: writes, events that come late, twice and out of order, reads, lost entries, dropped models and
//! failing owners in any order. In the end everybody reads the truth, and on the way nobody reads what was taken back.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod support;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use madang_article_read::{ABSENT_TTL_MS, ENTRY_TTL_MS, Lookup, ReadModel, STALE_MAX_MS, VIEW_TTL_MS};
use madang_board::{ArticleId, BoardId};
use madang_event::{Envelope, Event};
use madang_kernel::{Id, StoreError};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use support::{BOARD, Site, page, size};
use tokio::task::JoinSet;

/// Room for everything, for about a third, for next to nothing.
const BUDGETS_BYTES: [u64; 3] = [64 * 1024 * 1024, 600 * 1024, 100 * 1024];
const STEPS: usize = 300;
const SEEDS: u64 = 60;

struct Day {
    site: Site,
    random: StdRng,
    /// Whether events are merged at their commit as well, as on the embedded composition.
    embedded: bool,
    articles: Vec<ArticleId>,
    /// Events that nobody delivered yet, in the order of their commits.
    undelivered: Vec<Envelope>,
    delivered: Vec<Envelope>,
    /// Articles whose deletion was merged.
    ended: HashSet<ArticleId>,
    /// The versions that the model showed last (text, comments, likes), for as long as it keeps the article.
    shown: HashMap<ArticleId, (u64, u64, u64)>,
    reads: JoinSet<Result<(), StoreError>>,
}

fn boards() -> [BoardId; 3] {
    [BOARD, BOARD + 1, BOARD + (5 << 16)].map(BoardId::from_raw)
}

impl Day {
    fn new(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let site = Site::open(BUDGETS_BYTES[random.random_range(0..BUDGETS_BYTES.len())]);
        site.world.slow.store(1, Ordering::SeqCst);
        for board in boards() {
            site.world.truth().open_board(board);
        }
        let embedded = random.random();
        Self {
            site,
            random,
            embedded,
            articles: vec![],
            undelivered: vec![],
            delivered: vec![],
            ended: HashSet::new(),
            shown: HashMap::new(),
            reads: JoinSet::new(),
        }
    }

    fn any_article(&mut self) -> ArticleId {
        match self.articles.is_empty() {
            true => ArticleId::from_raw(1),
            false => self.articles[self.random.random_range(0..self.articles.len())],
        }
    }

    fn any_board(&mut self) -> BoardId {
        boards()[self.random.random_range(0..boards().len())]
    }

    fn write(&mut self) {
        let (article, up) = (self.any_article(), self.random.random_range(0..4) > 0);
        let by = if up { 1 } else { -1 };
        let event = match self.random.random_range(0..10) {
            0..=2 => Some(self.create()),
            3 | 4 => self.site.world.truth().edit(article),
            5 => self.site.world.truth().delete(article),
            6 | 7 => self.site.world.truth().comment(article, by),
            _ => self.site.world.truth().like(article, by),
        };
        let Some(event) = event else { return };
        if self.embedded {
            self.site.model.merge_committed(std::slice::from_ref(&event));
            self.note_end(&event);
        }
        self.undelivered.push(event);
    }

    /// Ids mostly grow; some commit late, below others. Like real ones they carry their board's shard.
    fn create(&mut self) -> Envelope {
        let board = self.any_board();
        let late = self.random.random_range(0..5) * 10;
        let number = (self.articles.len() as i64 + 60 - late) * 100 + self.articles.len() as i64 % 100;
        let article = ArticleId::from_raw((number << 22) | (i64::from(board.shard().number()) << 16) | 7);
        self.articles.push(article);
        let content = "x".repeat(self.random.random_range(1..3_000));
        self.site.world.truth().create(board, article, &content)
    }

    /// Delivers some events: the oldest, any, or one that was delivered before.
    async fn deliver(&mut self) {
        let mut batch = Vec::new();
        for _ in 0..self.random.random_range(1..6) {
            match self.random.random_range(0..4) {
                0 if !self.delivered.is_empty() => {
                    batch.push(self.delivered[self.random.random_range(0..self.delivered.len())].clone());
                }
                1 if !self.undelivered.is_empty() => {
                    let any = self.random.random_range(0..self.undelivered.len());
                    batch.push(self.undelivered.remove(any));
                }
                _ if !self.undelivered.is_empty() => batch.push(self.undelivered.remove(0)),
                _ => {}
            }
        }
        self.hand_in(batch).await;
    }

    async fn hand_in(&mut self, batch: Vec<Envelope>) {
        self.site.deliver(&batch).await;
        batch.iter().for_each(|event| self.note_end(event));
        self.delivered.extend(batch);
    }

    fn note_end(&mut self, event: &Envelope) {
        if let Event::ArticleDeleted(deleted) = &event.event {
            self.ended.insert(deleted.article_id);
        }
    }

    /// A reader of an article or of a list, who must not see what ended before they asked.
    fn read(&mut self) {
        let (service, ended) = (Arc::clone(&self.site.service), self.ended.clone());
        let (article, board) = (self.any_article(), self.any_board());
        let (number, by_cursor) = (self.random.random_range(1..4), self.random.random());
        if self.random.random() {
            self.reads.spawn(async move {
                let read = service.article(article).await?;
                assert!(read.is_none() || !ended.contains(&article), "{article} was deleted");
                Ok(())
            });
            return;
        }
        self.reads.spawn(async move {
            let items = match by_cursor {
                true => service.scroll(board, Some(article), size(10)).await?.unwrap().items,
                false => service.page(board, page(number), size(10)).await?.unwrap().items,
            };
            let ids: Vec<_> = items.iter().map(|item| item.head().article_id).collect();
            assert!(ids.is_sorted_by(|newer, older| newer > older), "{ids:?}");
            assert!(ids.iter().all(|id| !ended.contains(id)), "a deleted article is listed");
            assert!(items.iter().all(|item| item.head().board_id == board));
            Ok(())
        });
    }

    /// What the model keeps never goes back to an older version, nor from an end that it was told.
    async fn look(&mut self) {
        for article in self.articles.clone() {
            match self.site.model.find(&[article]).await.unwrap().remove(0) {
                Lookup::Miss | Lookup::Absent => drop(self.shown.remove(&article)),
                Lookup::Found { entry, .. } => {
                    let live = entry.live().map(|text| text.head.version);
                    assert!(live.is_none() || !self.ended.contains(&article), "{article} was deleted");
                    let comments = entry.comments.map_or(0, |comments| comments.version);
                    let likes = entry.likes.map_or(0, |likes| likes.version);
                    let now = (live.unwrap_or(u64::MAX), comments, likes);
                    let before = self.shown.insert(article, now).unwrap_or_default();
                    assert!(now.0 >= before.0 && now.1 >= before.1 && now.2 >= before.2, "{before:?} then {now:?}");
                }
            }
        }
    }

    async fn step(&mut self) {
        match self.random.random_range(0..100) {
            0..30 => self.write(),
            30..55 => self.deliver().await,
            55..90 => self.read(),
            90..93 => self.site.world.failing.store(self.random.random_range(1..6), Ordering::SeqCst),
            93..95 => {
                let spans = [ABSENT_TTL_MS, VIEW_TTL_MS, ENTRY_TTL_MS, ENTRY_TTL_MS + STALE_MAX_MS];
                self.site.pass(spans[self.random.random_range(0..spans.len())]);
            }
            95..97 => self.drop_model().await,
            _ => {
                for _ in 0..self.random.random_range(1..20) {
                    tokio::task::yield_now().await;
                }
            }
        }
        while let Some(read) = self.reads.try_join_next() {
            // A failed read is a failed read; what it may not be is wrong.
            let _ = read.unwrap();
        }
        self.look().await;
    }

    /// The model is dropped: by hand, or because the group fell behind and never hears of what it missed.
    async fn drop_model(&mut self) {
        if self.random.random() {
            // What is written while rebuilds are under way, and lost before anybody hears of it.
            (0..6).for_each(|_| self.read());
            for _ in 0..self.random.random_range(1..30) {
                tokio::task::yield_now().await;
            }
            (0..6).for_each(|_| self.write());
            self.undelivered.clear();
        }
        self.site.model.clear().await.unwrap();
        self.shown.clear();
    }

    async fn end(mut self) {
        self.site.world.failing.store(0, Ordering::SeqCst);
        while !self.undelivered.is_empty() {
            self.deliver().await;
            self.look().await;
        }
        while let Some(read) = self.reads.join_next().await {
            let _ = read.unwrap();
        }
        // Absences and views go by time, not by events.
        self.site.pass(VIEW_TTL_MS);
        self.compare_articles().await;
        self.compare_lists().await;
    }

    async fn compare_articles(&self) {
        let read = self.site.service.articles(&self.articles).await.unwrap();
        let truth = self.site.world.truth();
        for (article, read) in self.articles.iter().zip(read) {
            let expected = truth.articles.get(article);
            assert_eq!(read.is_some(), expected.is_some(), "{article}");
            if let (Some(read), Some(owned)) = (read, expected) {
                assert_eq!(*read.text, owned.text);
                assert_eq!(
                    (read.comment_count, read.locked, read.like_count),
                    (owned.comments.count, owned.comments.locked, owned.likes.count)
                );
            }
        }
    }

    async fn compare_lists(&self) {
        for board in boards() {
            let expected: Vec<_> =
                self.site.world.truth().newest_first(board).map(|owned| owned.text.clone()).collect();
            for number in 1..=8 {
                let read = self.site.service.page(board, page(number), size(7)).await.unwrap().unwrap();
                let heads: Vec<_> = read.items.iter().map(|item| item.head().clone()).collect();
                let on_page = expected.iter().skip((number as usize - 1) * 7).take(7);
                assert_eq!(heads, on_page.map(|text| text.head.clone()).collect::<Vec<_>>(), "page {number}");
                assert_eq!(read.known_count, (expected.len() as u64).min(71), "page {number}");
            }
        }
    }
}

#[tokio::test]
async fn whatever_happens_everybody_reads_the_truth_in_the_end() {
    for seed in 0..SEEDS {
        println!("seed {seed}");
        let mut day = Day::new(seed);
        for _ in 0..STEPS {
            day.step().await;
        }
        day.end().await;
    }
}
