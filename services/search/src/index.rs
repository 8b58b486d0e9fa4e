//! The port to an index of texts. It holds tokens, ids and what hits are filtered by, and may be made anew from the owners of
//! the texts at any time.

use async_trait::async_trait;
use madang_board::ArticleId;
use madang_kernel::{StoreError, Timestamp};
use madang_messaging::{GroupId, Position};

use crate::{Change, Cursor, Document, Kind, SearchRequest};

/// How far a consumer group has come once the changes beside it are applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offsets {
    /// The group.
    pub group: GroupId,
    /// The last position of each topic and partition that is done.
    pub positions: Vec<Position>,
}

/// What applying changes did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applied {
    /// Documents that stand differently now.
    pub changed: u64,
    /// Whether the offsets were stored in the same transaction; an index apart from the log cannot.
    pub offsets_stored: bool,
}

/// A document that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// What it is.
    pub kind: Kind,
    /// Its id.
    pub id: i64,
    /// Its article, which may be itself.
    pub article_id: ArticleId,
    /// Where a list goes on that ends with it.
    pub cursor: Cursor,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// In the order asked.
    pub hits: Vec<Hit>,
    /// Whether there are no others.
    pub is_all: bool,
    /// Whether the index is being made, or a part of it is away.
    pub partial: bool,
}

/// A document as a check asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// What it is.
    pub kind: Kind,
    /// Its id.
    pub id: i64,
    /// Its version.
    pub version: u64,
}

/// How large an index is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexSize {
    /// Documents that can be found.
    pub documents: u64,
    /// Marks of those that cannot any more.
    pub tombstones: u64,
}

/// A rebuild that is under way, and how far it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rebuild {
    /// Tells it from those before it.
    pub number: u64,
    /// Where it goes on, in words of whoever makes it; `None` at its beginning.
    pub cursor: Option<String>,
}

/// Where texts are indexed.
#[async_trait]
pub trait SearchIndex: Send + Sync {
    /// Merges changes by version, in the order given, and stores the offsets in the same transaction where it can. A rebuild
    /// that is under way gets them too. Applying the same again changes nothing.
    async fn apply(&self, changes: Vec<Change>, done: Option<Offsets>) -> Result<Applied, StoreError>;

    /// What matches, after the cursor. An answer that would take too long is `Unavailable`.
    async fn search(&self, request: SearchRequest) -> Result<Found, StoreError>;

    /// The rebuild that is under way, as a new index is until it has been filled for the first time.
    async fn rebuild(&self) -> Result<Option<Rebuild>, StoreError>;
    /// Begins a rebuild with nothing; whoever makes one that is under way is told to stop. What can be found stays meanwhile.
    async fn begin_rebuild(&self) -> Result<Rebuild, StoreError>;
    /// Adds documents to a rebuild where it knows of nothing newer, and stores how far it has come; false when it is over or
    /// another has begun, and then nothing was done.
    async fn add_rebuilt(
        &self,
        number: u64,
        documents: Vec<Document>,
        cursor: Option<String>,
    ) -> Result<bool, StoreError>;
    /// Puts what was rebuilt in the place of what was there; false as above.
    async fn finish_rebuild(&self, number: u64) -> Result<bool, StoreError>;

    /// The versions of documents in the order asked; `None` for one that cannot be found.
    async fn versions(&self, ids: Vec<i64>) -> Result<Vec<Option<u64>>, StoreError>;
    /// Documents that can be found, by id, below `below`, newest first: what a check looks through.
    async fn held_below(&self, below: i64, limit: usize) -> Result<Vec<Held>, StoreError>;
    /// How large it is.
    async fn size(&self) -> Result<IndexSize, StoreError>;
    /// Forgets marks older than `before`: nothing that old arrives any more. How many.
    async fn forget_tombstones(&self, before: Timestamp) -> Result<u64, StoreError>;
}
