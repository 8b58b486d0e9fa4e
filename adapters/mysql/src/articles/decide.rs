//! A batch of calls: replayed in their order in memory on what was loaded under the boards' locks, and written once.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use madang_article::events::{self, Removed};
use madang_article::{Article, CreateArticle, DeleteArticle, DeleteOutcome, EditArticle, EditOutcome};
use madang_board::{Act, ArticleId, BoardId};
use madang_engine_mysql::{Decided, Decision, Earlier, Fold, IdempotencyRecords, Many, SqlError, Tx, Values, bytes};
use madang_event::Envelope;
use madang_kernel::{Clock, Created, EventId, Id, ShardId, StoreError, Timestamp};

use super::call::{Announce, Answer, Call};
use super::load::{Loaded, load};
use super::{board, row};
use crate::moderation;

static INSERT: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/insert.sql")));
static DELETE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/delete.sql")));
static SET_COUNTS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/set_counts.sql")));
static SET_BLOCKS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/set_blocks.sql")));
const UPDATE: &str = include_str!("../../sql/article/update.sql");

/// Decides the calls of a batch.
pub(super) struct ArticleFold {
    clock: Arc<dyn Clock>,
}

impl ArticleFold {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock }
    }
}

impl Fold for ArticleFold {
    type Call = Call;
    type Answer = Answer;
    type Event = Envelope;

    fn shard(call: &Call) -> ShardId {
        call.shard()
    }

    async fn decide(&self, tx: &mut Tx<'_>, calls: &[Call]) -> Result<Decided<Answer, Envelope>, SqlError> {
        let now = self.clock.now();
        let Loaded { boards, articles } = load(tx, calls).await?;
        let keys = IdempotencyRecords::load(tx, calls.iter().filter_map(Call::idempotency), now).await?;
        let held = articles.into_iter().map(|(id, article)| (id, Held::Stored(article))).collect();
        let mut replay = Replay { boards, held, keys, events: Vec::new(), acts: Vec::new(), now };
        let mut decisions = Vec::with_capacity(calls.len());
        for call in calls {
            decisions.push(match call {
                Call::Create(new) => replay.create(new).map(Answer::Created),
                Call::CreateMany(new, announce) => replay.create_many(new, *announce).map(Answer::CreatedMany),
                Call::Edit(edit) => replay.edit(edit).map(Answer::Edited),
                Call::Delete(delete) => replay.delete(delete).map(Answer::Deleted),
                Call::CreateBoard(new) => board::create(tx, &mut replay.keys, new).await?.map(Answer::Board),
            });
        }
        let events = replay.write(tx).await?;
        Ok(Decided { decisions, events })
    }
}

/// A batch while it is decided.
struct Replay {
    boards: std::collections::BTreeMap<BoardId, super::blocks::BoardTally>,
    held: HashMap<ArticleId, Held>,
    keys: IdempotencyRecords,
    events: Vec<Envelope>,
    acts: Vec<Act>,
    now: Timestamp,
}

/// An article as a batch sees it.
enum Held {
    /// As it is stored.
    Stored(Article),
    /// Stored, and to be changed.
    Edited(Article),
    /// To be inserted.
    New(Article),
    /// Stored, and to be removed.
    Removed,
    /// Came and went within the batch.
    Passed,
}

impl Held {
    fn article(&self) -> Option<&Article> {
        match self {
            Self::Stored(article) | Self::Edited(article) | Self::New(article) => Some(article),
            Self::Removed | Self::Passed => None,
        }
    }
}

impl Replay {
    fn create(&mut self, new: &CreateArticle) -> Decision<Created<Article>> {
        let CreateArticle { article, event_id, idempotency } = new;
        match self.keys.earlier(idempotency.as_ref())? {
            Earlier::None => {}
            Earlier::Answered(article) => return Ok(Created::Before(article)),
            Earlier::OtherBody => return Ok(Created::KeyReused),
        }
        self.is_possible(article)?;
        self.keys.remember(article.board_id.shard(), idempotency.as_ref(), article)?;
        self.add(article, *event_id, Announce::Each);
        Ok(Created::Now(article.clone()))
    }

    fn create_many(&mut self, new: &[CreateArticle], announce: Announce) -> Decision<u64> {
        let mut ids = HashSet::with_capacity(new.len());
        for CreateArticle { article, .. } in new {
            self.is_possible(article)?;
            if !ids.insert(article.article_id) {
                return Err(exists(article.article_id));
            }
        }
        for CreateArticle { article, event_id, .. } in new {
            self.add(article, *event_id, announce);
        }
        Ok(new.len() as u64)
    }

    fn is_possible(&self, article: &Article) -> Result<(), StoreError> {
        if self.held.contains_key(&article.article_id) {
            return Err(exists(article.article_id));
        }
        self.boards.get(&article.board_id).map(|_| ()).ok_or_else(|| no_board(article.board_id))
    }

    fn add(&mut self, article: &Article, event_id: EventId, announce: Announce) {
        let Some(board) = self.boards.get_mut(&article.board_id) else { return };
        let count = board.count_in(article.article_id);
        if announce == Announce::Each {
            self.events.push(events::created(article, event_id, self.now, count));
        }
        self.held.insert(article.article_id, Held::New(article.clone()));
    }

    fn edit(&mut self, edit: &EditArticle) -> Decision<EditOutcome> {
        let Some(before) = self.held.get(&edit.article_id).and_then(Held::article) else {
            return Ok(EditOutcome::Absent);
        };
        if edit.expected_version.is_some_and(|expected| expected != before.version) {
            return Ok(EditOutcome::Changed);
        }
        let article = Article {
            version: before.version + 1,
            title: edit.title.clone(),
            content: edit.content.clone(),
            content_html: edit.content_html.clone(),
            modified_at: edit.modified_at,
            ..before.clone()
        };
        let board = self.boards.get(&article.board_id).ok_or_else(|| no_board(article.board_id))?;
        self.events.push(events::edited(&article, edit.event_id, self.now, board.count()));
        self.acts.extend(edit.act.clone());
        let is_new = matches!(self.held.get(&edit.article_id), Some(Held::New(_)));
        let held = if is_new { Held::New(article.clone()) } else { Held::Edited(article.clone()) };
        self.held.insert(edit.article_id, held);
        Ok(EditOutcome::Edited(article))
    }

    fn delete(&mut self, delete: &DeleteArticle) -> Decision<DeleteOutcome> {
        let article_id = delete.article_id;
        let Some(before) = self.held.get(&article_id).and_then(Held::article) else {
            return Ok(DeleteOutcome::Absent);
        };
        let removed = Removed { article_id, board_id: before.board_id, last_version: before.version };
        let board = self.boards.get_mut(&removed.board_id).ok_or_else(|| no_board(removed.board_id))?;
        let count = board.count_out(article_id)?;
        self.events.push(events::deleted(removed, delete.event_id, self.now, count));
        self.acts.extend(delete.act.clone());
        let is_new = matches!(self.held.get(&article_id), Some(Held::New(_)));
        self.held.insert(article_id, if is_new { Held::Passed } else { Held::Removed });
        Ok(DeleteOutcome::Deleted)
    }

    /// Articles first, then what counts them, then keys; returns the events, which go with the transaction.
    async fn write(self, tx: &mut Tx<'_>) -> Result<Vec<Envelope>, SqlError> {
        let (mut inserts, mut deletes, mut updates) = (Vec::new(), Vec::new(), Vec::new());
        for (id, held) in self.held {
            match held {
                Held::New(article) => inserts.push(article),
                Held::Edited(article) => updates.push(article),
                Held::Removed => deletes.push(id),
                Held::Stored(_) | Held::Passed => {}
            }
        }
        inserts.sort_by_key(|article| article.article_id);
        deletes.sort_unstable();
        updates.sort_by_key(|article| article.article_id);
        tx.set_many(&DELETE, deletes.into_iter().map(row::key).collect()).await?;
        tx.insert_many(&INSERT, inserts.iter().map(row::values).collect()).await?;
        for article in updates {
            tx.write(UPDATE, update(article)).await?;
        }
        tx.set_many(&SET_COUNTS, self.boards.values().filter_map(|board| board.changed_count()).collect()).await?;
        tx.set_many(&SET_BLOCKS, self.boards.values().flat_map(|board| board.changed_blocks()).collect()).await?;
        self.keys.write(tx).await?;
        moderation::record(tx, &self.acts).await?;
        Ok(self.events)
    }
}

fn exists(article: ArticleId) -> StoreError {
    StoreError::broken("article", format!("article {article} exists"))
}

fn no_board(board: BoardId) -> StoreError {
    StoreError::broken("board_article_count", format!("there is no board {board}"))
}

fn update(article: Article) -> Values {
    let mut values = vec![
        bytes(article.title),
        bytes(article.content),
        bytes(article.content_html),
        article.modified_at.as_millis().into(),
        article.version.into(),
    ];
    values.extend(row::key(article.article_id));
    values
}
