//! The messages between processes. A question names the path it is sent to and the answer it gets, so that both ends
//! cannot disagree; values of the services in them travel as those serialise themselves. Ids travel as strings, times as
//! milliseconds, counts and versions as integers: all of them exact. Fields that a reader does not know pass, so that
//! processes of two versions understand one another; the tests say what the bytes are.

/// Declares what travels; with a path, it is a question, and gets this answer.
macro_rules! message {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),+ } $(at $path:literal => $answer:ty)?) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub(crate) struct $name {
            $(pub(crate) $field: $type,)+
        }

        $(impl super::Question for $name {
            const PATH: &'static str = $path;
            type Answer = $answer;
        })?
    };
}

mod articles;
mod counts;
mod failure;
mod moderation;
mod outboxes;
mod revocations;
#[cfg(test)]
mod tests;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) use articles::{FactsAnswer, FactsOf, NewestAnswer, NewestOf, PageAnswer, PageOf, PinsAnswer, PinsOf};
pub(crate) use articles::{PlacesAnswer, PlacesOf, ScrollAnswer, ScrollOf, SiteNewestAnswer, SiteNewestOf};
pub(crate) use articles::{TEXTS_BYTES_MAX, TEXTS_MAX, TextsAnswer, TextsOf};
pub(crate) use counts::{
    ActiveAnswer, ActiveOf, COUNTS_MAX, CommentCountsOf, CountsAnswer, LikeCountsOf, ViewCountsOf,
};
pub(crate) use failure::FailureBody;
pub(crate) use moderation::{ActsStep, ArticleActsOf, CommentActsOf};
pub(crate) use moderation::{ArticleOfComment, ArticleOfCommentAnswer, BoardKnown, BoardKnownAnswer};
pub use outboxes::OutboxOf;
pub(crate) use outboxes::{UnsentAnswer, UnsentBefore};
pub(crate) use revocations::{RevocationsAfter, RevocationsAnswer};

/// The largest question that is read.
pub const BODY_BYTES_MAX: usize = 64 * 1_024;
/// The largest answer that is read.
pub const ANSWER_BYTES_MAX: usize = 16 * 1_024 * 1_024;

/// JSON writes a byte as `\u0000` at worst.
const ESCAPE_MAX: usize = 6;
/// An id in quotes with a comma.
const ID_BYTES_MAX: usize = 22;

const _: () = assert!(COUNTS_MAX * ID_BYTES_MAX + 64 <= BODY_BYTES_MAX);
const _: () = assert!((TEXTS_BYTES_MAX + articles::ARTICLE_BYTES_MAX) * ESCAPE_MAX <= ANSWER_BYTES_MAX);

/// A question to another process: where it goes, and what comes back.
pub(crate) trait Question: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Where it is sent.
    const PATH: &'static str;
    /// What comes back.
    type Answer: Serialize + DeserializeOwned + Send;
}
