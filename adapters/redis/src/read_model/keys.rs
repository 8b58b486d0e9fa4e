//! The keys of the query model: 64 hash tags, so that a batch is few scripts, and one key for each article and list.

use madang_board::{ArticleId, BoardId};
use madang_engine_redis::{Redis, Tag};
use madang_kernel::{Id, ShardId};

use crate::epochs::EPOCH;

/// The keys of one tag.
pub(super) struct Keys {
    pub(super) tag: Tag,
    /// Prefix and tag.
    base: String,
}

impl Keys {
    /// The keys of what is known of an article.
    pub(super) fn of_article(redis: &Redis, article: ArticleId) -> Self {
        Self::of(redis, ShardId::of_parts(article))
    }

    /// The keys of a board's list.
    pub(super) fn of_board(redis: &Redis, board: BoardId) -> Self {
        Self::of(redis, board.shard())
    }

    pub(super) fn of(redis: &Redis, shard: ShardId) -> Self {
        let tag = Tag::new(format_args!("r{shard}"));
        let base = redis.key(&tag, "");
        Self { tag, base }
    }

    /// What counts up when the model is cleared.
    pub(super) fn epoch(&self) -> String {
        format!("{}{EPOCH}", self.base)
    }

    /// Of what there is, by kind.
    pub(super) fn index(&self, kind: Kind) -> String {
        format!("{}:index{}", self.base, kind.part())
    }

    /// What the keys of a kind start with.
    pub(super) fn start(&self, kind: Kind) -> String {
        format!("{}{}", self.base, kind.part())
    }

    /// The key of one of a kind.
    pub(super) fn one(&self, kind: Kind, id: impl Id) -> String {
        format!("{}{}{}", self.base, kind.part(), id.raw())
    }
}

/// What a key holds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// What is known of an article.
    Article,
    /// What is merged while it is rebuilt.
    ArticlePlaceholder,
    /// That an event of a young article was let go.
    Mark,
    /// A board's list.
    List,
    /// What is merged while it is rebuilt.
    ListPlaceholder,
}

impl Kind {
    fn part(self) -> &'static str {
        match self {
            Self::Article => ":a:",
            Self::ArticlePlaceholder => ":p:",
            Self::Mark => ":n:",
            Self::List => ":b:",
            Self::ListPlaceholder => ":q:",
        }
    }
}
