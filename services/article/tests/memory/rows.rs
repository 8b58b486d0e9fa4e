//! Tables in memory that do what a database does for the replay: load what calls need, and take what they write.

use std::collections::BTreeMap;

use madang_article::blocks::{BLOCK, SUPER_BLOCK};
use madang_article::replay::{BoardCounter, CountedBlock, Loaded, Replay, Replayed};
use madang_article::{Article, Board, BoardState, RemovedArticle};
use madang_board::{Act, ArticleId, BoardId, Pin};
use madang_event::Envelope;
use madang_kernel::{IdempotencyKey, IdempotencyRecord, IdempotencyRecords, Timestamp};

#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) boards: BTreeMap<BoardId, Board>,
    pub(crate) counters: BTreeMap<BoardId, BoardCounter>,
    /// Counts by board, level and first id.
    pub(crate) blocks: BTreeMap<(BoardId, u8, i64), u64>,
    pub(crate) articles: BTreeMap<ArticleId, Article>,
    pub(crate) pins: BTreeMap<ArticleId, Pin>,
    pub(crate) removed: BTreeMap<ArticleId, RemovedArticle>,
    pub(crate) records: BTreeMap<IdempotencyKey, IdempotencyRecord>,
    pub(crate) acts: Vec<Act>,
    pub(crate) events: Vec<Envelope>,
}

impl Rows {
    /// Decides calls about some articles, stored or to come, and writes what they come to.
    pub(crate) fn transact<T>(
        &mut self,
        articles: impl IntoIterator<Item = (BoardId, ArticleId)>,
        now: Timestamp,
        calls: impl FnOnce(&mut Replay) -> T,
    ) -> T {
        let mut replay = Replay::new(self.load(articles, now), now);
        let outcome = calls(&mut replay);
        self.write(replay.finish());
        outcome
    }

    /// As an adapter does it: of the blocks, only those that hold the articles.
    fn load(&self, articles: impl IntoIterator<Item = (BoardId, ArticleId)>, now: Timestamp) -> Loaded {
        let mut records = IdempotencyRecords::new(now);
        for (key, record) in &self.records {
            records.load(key.clone(), record.clone());
        }
        let mut loaded = Loaded::nothing(records);
        loaded.counters = self.counters.values().copied().collect();
        loaded.taken_slugs = self.boards.values().map(|board| board.slug.clone()).collect();
        // All of them: a repeated request is answered with the article that its record names.
        loaded.articles.extend(self.articles.values().cloned());
        loaded.pins = self.pins.values().copied().collect();
        loaded.removed = self.removed.values().cloned().collect();
        for (board_id, article) in articles {
            let Some(counter) = self.counters.get(&board_id) else { continue };
            let id = counter.id_in_block_of(article);
            let holding = [BLOCK, SUPER_BLOCK].map(|level| {
                let below = self.blocks.range((board_id, level, 0)..=(board_id, level, id)).next_back();
                below.map(|((_, _, first_id), count)| CountedBlock {
                    board_id,
                    level,
                    first_id: *first_id,
                    article_count: *count,
                })
            });
            loaded.blocks.extend(holding.into_iter().flatten());
        }
        loaded
    }

    fn write(&mut self, replayed: Replayed) {
        for board in replayed.boards {
            self.counters.insert(board.board_id, BoardCounter::new(board.board_id));
            self.boards.insert(board.board_id, board);
        }
        for id in replayed.articles.deletes {
            assert!(self.articles.remove(&id).is_some(), "only what is stored is deleted");
            self.pins.remove(&id);
        }
        for article in replayed.articles.inserts {
            assert!(self.articles.insert(article.article_id, article).is_none(), "nothing is inserted twice");
        }
        for article in replayed.articles.updates {
            assert!(self.articles.insert(article.article_id, article).is_some(), "only what is stored is updated");
        }
        self.pins.retain(|id, _| !replayed.pins.deletes.contains(id));
        let set = replayed.pins.inserts.into_iter().chain(replayed.pins.updates);
        self.pins.extend(set.map(|pin| (pin.article_id, pin)));
        self.removed.retain(|id, _| !replayed.removed.deletes.contains(id));
        let kept = replayed.removed.inserts.into_iter().chain(replayed.removed.updates);
        self.removed.extend(kept.map(|removed| (removed.article.article_id, removed)));
        self.counters.extend(replayed.counters.into_iter().map(|counter| (counter.board_id, counter)));
        for (board, state) in replayed.states {
            if state == BoardState::Deleted {
                self.boards.remove(&board);
                self.counters.remove(&board);
            } else if let Some(counter) = self.counters.get_mut(&board) {
                counter.state = state;
            }
        }
        let key = |block: &CountedBlock| (block.board_id, block.level, block.first_id);
        self.blocks.extend(replayed.blocks.iter().map(|block| (key(block), block.article_count)));
        self.records.extend(replayed.records.into_iter().map(|new| (new.key, new.record)));
        self.acts.extend(replayed.acts);
        self.events.extend(replayed.events);
    }
}
