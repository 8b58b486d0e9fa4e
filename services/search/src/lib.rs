//! Searching articles and comments, in Korean and English and whatever else people write.
//!
//! Text is analysed here, by one set of rules for everything that is indexed, asked and marked; an engine behind
//! [`SearchIndex`] holds tokens and ids. Hits are read from their owners, so that what cannot be read is never shown.

pub mod analysis;
mod compare;
mod consumer;
mod document;
pub mod excerpt;
mod index;
mod owners;
mod query;
mod rebuild;
mod request;
mod service;
mod source;

pub use compare::{SearchCompared, SearchDifference};
pub use consumer::SearchConsumer;
pub use document::{Change, Document, FoundComment, GONE_FOR_EVER, SourceArticle, SourceComment};
pub use index::{Applied, Found, Held, Hit, IndexSize, Offsets, Rebuild, SearchIndex};
pub use owners::{OWNERS_MANY_MAX, SearchOwners};
pub use query::{Phrase, QUERY_MAX_CHARS, Query};
pub use rebuild::Rebuilt;
pub use request::{
    Cursor, Filters, Kind, LIMIT_DEFAULT, LIMIT_MAX, NEWEST_MAX, NoCursor, Order, RELEVANT_MAX, SearchRequest,
};
pub use service::{SearchError, SearchItem, SearchPage, SearchService};
