//! Calls that change boards and articles, decided one after another on what was loaded: each sees what those before it
//! have done and is answered as if it had come alone. Every adapter loads, asks here and writes.

mod counted_board;
mod pins;
mod removed;

use std::collections::{BTreeMap, BTreeSet};

use madang_board::{Act, ArticleId, BoardId, Pin, Removal};
use madang_event::Envelope;
use madang_kernel::{
    Created, EventId, Id, IdempotencyRecords, NewIdempotencyRecord, RowChanges, ShardId, StagedRows, StoreError,
    Timestamp,
};

use crate::events::{self, Removed};
use crate::{
    Article, Board, BoardState, CreateArticle, CreateBoard, CreateOutcome, DeleteArticle, DeleteBoard, DeleteOutcome,
    EditArticle, EditOutcome, NewBoard, RemovedArticle,
};
use counted_board::CountedBoard;
pub use counted_board::{BoardCounter, CountedBlock};

/// Whether many articles that are created together are reported by events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Announce {
    /// Each by its own, as if it had been created alone.
    Each,
    /// Nobody hears of them: for filling a site that nobody reads yet.
    Nothing,
}

/// What the calls of a transaction are decided by.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The counters of the boards on which articles come, change or go.
    pub counters: Vec<BoardCounter>,
    /// Of both levels, the blocks that hold the articles which come or go: see [`BoardCounter::id_in_block_of`].
    pub blocks: Vec<CountedBlock>,
    /// The articles to edit or delete.
    pub articles: Vec<Article>,
    /// The pins of the boards on which an article is to be pinned, or no longer.
    pub pins: Vec<Pin>,
    /// The removed articles to restore or to purge.
    pub removed: Vec<RemovedArticle>,
    /// Of the slugs of new boards, those that other boards have.
    pub taken_slugs: BTreeSet<String>,
    /// The idempotency records of the calls.
    pub records: IdempotencyRecords,
}

/// What the calls of a transaction come to: rows to write, each list in the order of its keys, and events to report.
#[derive(Debug, Clone)]
pub struct Replayed {
    /// New boards; each counts 0 articles at version 0.
    pub boards: Vec<Board>,
    /// The articles that come, change or go.
    pub articles: RowChanges<ArticleId, Article>,
    /// The pins that come, change or go; those of deleted articles go with these, whether they are named here or not.
    pub pins: RowChanges<ArticleId, Pin>,
    /// What moderators removed, and what of that is restored or purged; an update is written whether there is a row or not.
    pub removed: RowChanges<ArticleId, RemovedArticle>,
    /// The counters that changed, but for their states.
    pub counters: Vec<BoardCounter>,
    /// The boards that take changes from now on, or no longer.
    pub states: Vec<(BoardId, BoardState)>,
    /// The blocks that changed or were opened.
    pub blocks: Vec<CountedBlock>,
    /// The answers to keep.
    pub records: Vec<NewIdempotencyRecord>,
    /// What the log of moderation says.
    pub acts: Vec<Act>,
    /// In the order of the calls.
    pub events: Vec<Envelope>,
}

/// Boards and articles while the calls of a transaction are applied to them in memory, in their order.
#[derive(Debug)]
pub struct Replay {
    boards: BTreeMap<BoardId, CountedBoard>,
    articles: StagedRows<ArticleId, Article>,
    pins: StagedRows<ArticleId, Pin>,
    removed: StagedRows<ArticleId, RemovedArticle>,
    new_boards: Vec<Board>,
    taken_slugs: BTreeSet<String>,
    records: IdempotencyRecords,
    acts: Vec<Act>,
    events: Vec<Envelope>,
    now: Timestamp,
}

impl Loaded {
    /// Nothing yet, for an adapter to add to.
    pub fn nothing(records: IdempotencyRecords) -> Self {
        let (counters, blocks, articles, pins) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { counters, blocks, articles, pins, removed: Vec::new(), taken_slugs: BTreeSet::new(), records }
    }
}

impl Replay {
    /// Starts from what was loaded; events will have occurred at `now`.
    pub fn new(loaded: Loaded, now: Timestamp) -> Self {
        let Loaded { counters, blocks, articles, pins, removed, taken_slugs, records } = loaded;
        let mut boards: BTreeMap<BoardId, CountedBoard> =
            counters.into_iter().map(|counter| (counter.board_id, CountedBoard::new(counter))).collect();
        for block in blocks {
            if let Some(board) = boards.get_mut(&block.board_id) {
                board.load(block);
            }
        }
        let articles = StagedRows::stored(articles.into_iter().map(|article| (article.article_id, article)));
        let pins = StagedRows::stored(pins.into_iter().map(|pin| (pin.article_id, pin)));
        let removed = StagedRows::stored(removed.into_iter().map(|removed| (removed.article.article_id, removed)));
        let (new_boards, acts, events) = (Vec::new(), Vec::new(), Vec::new());
        Self { boards, articles, pins, removed, new_boards, taken_slugs, records, acts, events, now }
    }

    /// Creates a board, unless another has its slug.
    pub fn create_board(&mut self, new: &NewBoard) -> Result<CreateBoard, StoreError> {
        let NewBoard { board, idempotency } = new;
        if let Some(answered) = self.records.replay(idempotency.as_ref())? {
            return Ok(CreateBoard::Created(answered));
        }
        if self.taken_slugs.contains(&board.slug) {
            return Ok(CreateBoard::SlugTaken);
        }
        self.records.remember(ShardId::HOME, idempotency.as_ref(), board)?;
        self.taken_slugs.insert(board.slug.clone());
        self.new_boards.push(board.clone());
        Ok(CreateBoard::Created(Created::Now(board.clone())))
    }

    /// Creates an article.
    pub fn create(&mut self, new: &CreateArticle) -> Result<CreateOutcome, StoreError> {
        let CreateArticle { article, event_id, idempotency } = new;
        match self.records.replay::<Article>(idempotency.as_ref())? {
            // The article as it is now, or what is left of it.
            Some(Created::Before(mark)) => {
                let found = self.articles.find(mark.article_id).cloned();
                let before = found.unwrap_or_else(|| mark.into_mark());
                return Ok(CreateOutcome::Created(Created::Before(before)));
            }
            Some(answered) => return Ok(CreateOutcome::Created(answered)),
            None => {}
        }
        match self.boards.get(&article.board_id).map(CountedBoard::state) {
            Some(BoardState::Open) => {}
            Some(BoardState::Archived) => return Ok(CreateOutcome::Archived),
            Some(BoardState::Deleted) | None => return Ok(CreateOutcome::NoBoard),
        }
        self.require_new(article)?;
        // The text is kept in the row alone: once that is edited or deleted, no answer of then may still tell it.
        let mark = article.clone().into_mark();
        self.records.remember(article.board_id.shard(), idempotency.as_ref(), &mark)?;
        self.add(article, *event_id, Announce::Each);
        Ok(CreateOutcome::Created(Created::Now(article.clone())))
    }

    /// Creates all of the articles or none; their keys are ignored. Returns how many there are.
    pub fn create_many(&mut self, new: &[CreateArticle], announce: Announce) -> Result<u64, StoreError> {
        let mut ids = BTreeSet::new();
        for CreateArticle { article, .. } in new {
            self.require_new(article)?;
            self.require_open(article.board_id)?;
            if !ids.insert(article.article_id) {
                return Err(exists(article.article_id));
            }
        }
        for CreateArticle { article, event_id, .. } in new {
            self.add(article, *event_id, announce);
        }
        Ok(new.len() as u64)
    }

    /// Changes the text of an article, if it is there at the version expected.
    pub fn edit(&mut self, edit: &EditArticle) -> Result<EditOutcome, StoreError> {
        let Some(before) = self.articles.find(edit.article_id) else {
            return Ok(EditOutcome::Absent);
        };
        if self.is_archived(before.board_id) {
            return Ok(EditOutcome::Archived);
        }
        if edit.expected_version.is_some_and(|expected| expected != before.version) {
            return Ok(EditOutcome::Changed);
        }
        let article = Article {
            article_id: before.article_id,
            board_id: before.board_id,
            title: edit.title.clone(),
            content: edit.content.clone(),
            content_html: edit.content_html.clone(),
            writer: before.writer.clone(),
            created_at: before.created_at,
            modified_at: edit.modified_at,
            version: before.version + 1,
        };
        let board = self.boards.get(&article.board_id).ok_or_else(|| no_board(article.board_id))?;
        self.events.push(events::edited(&article, edit.event_id, self.now, board.count()));
        self.acts.extend(edit.act.clone());
        self.articles.update(edit.article_id, article.clone());
        Ok(EditOutcome::Edited(article))
    }

    /// Removes an article, if it is there at the version expected. What a moderator removes is kept, to be restored.
    pub fn delete(&mut self, delete: &DeleteArticle) -> Result<DeleteOutcome, StoreError> {
        let article_id = delete.article_id;
        let Some(before) = self.articles.find(article_id).cloned() else {
            return Ok(DeleteOutcome::Absent);
        };
        if self.is_archived(before.board_id) {
            return Ok(DeleteOutcome::Archived);
        }
        if delete.expected_version.is_some_and(|expected| expected != before.version) {
            return Ok(DeleteOutcome::Changed);
        }
        let restorable = delete.act.is_some();
        let removed = Removed { article_id, board_id: before.board_id, last_version: before.version, restorable };
        let board = self.boards.get_mut(&removed.board_id).ok_or_else(|| no_board(removed.board_id))?;
        let count = board.count_out(article_id)?;
        self.events.push(events::deleted(removed, delete.event_id, self.now, count));
        if let Some(act) = &delete.act {
            let removal = Removal::of(act, self.now);
            self.removed.update(article_id, RemovedArticle { article: before, removal });
            self.acts.push(act.clone());
        }
        self.articles.delete(article_id);
        self.pins.delete(article_id);
        Ok(DeleteOutcome::Deleted)
    }

    /// Has a board take changes, or no longer; false when there is no such board.
    pub fn set_state(&mut self, board: BoardId, state: BoardState) -> bool {
        match self.boards.get_mut(&board).filter(|board| board.state() != BoardState::Deleted) {
            Some(board) => {
                board.set_state(state);
                true
            }
            None => false,
        }
    }

    /// Closes a board for good, if it has no articles. Doing it again changes nothing.
    pub fn delete_board(&mut self, board: BoardId) -> DeleteBoard {
        match self.boards.get_mut(&board) {
            None => DeleteBoard::Absent,
            Some(board) if board.count().article_count > 0 => DeleteBoard::HasArticles,
            Some(board) => {
                board.set_state(BoardState::Deleted);
                DeleteBoard::Deleted
            }
        }
    }

    /// What all calls come to.
    pub fn finish(self) -> Replayed {
        Replayed {
            boards: self.new_boards,
            articles: self.articles.into_changes(),
            pins: self.pins.into_changes(),
            removed: self.removed.into_changes(),
            counters: self.boards.values().filter_map(CountedBoard::changed_counter).collect(),
            states: self.boards.values().filter_map(CountedBoard::changed_state).collect(),
            blocks: self.boards.values().flat_map(CountedBoard::changed_blocks).collect(),
            records: self.records.into_new(),
            acts: self.acts,
            events: self.events,
        }
    }

    fn is_archived(&self, board: BoardId) -> bool {
        self.boards.get(&board).is_some_and(|board| board.state() == BoardState::Archived)
    }

    fn require_new(&self, article: &Article) -> Result<(), StoreError> {
        if self.articles.has_seen(article.article_id) { Err(exists(article.article_id)) } else { Ok(()) }
    }

    fn require_open(&self, board: BoardId) -> Result<(), StoreError> {
        match self.boards.get(&board).map(CountedBoard::state) {
            Some(BoardState::Open) => Ok(()),
            Some(BoardState::Archived) => Err(StoreError::broken("board", format!("board {board} is archived"))),
            Some(BoardState::Deleted) | None => Err(no_board(board)),
        }
    }

    fn add(&mut self, article: &Article, event_id: EventId, announce: Announce) {
        let Some(board) = self.boards.get_mut(&article.board_id) else { return };
        let count = board.count_in(article.article_id);
        if announce == Announce::Each {
            self.events.push(events::created(article, event_id, self.now, count));
        }
        self.articles.insert(article.article_id, article.clone());
    }
}

fn exists(article: ArticleId) -> StoreError {
    StoreError::broken("article", format!("article {article} exists"))
}

fn no_board(board: BoardId) -> StoreError {
    StoreError::broken("board_article_count", format!("there is no board {board}"))
}
