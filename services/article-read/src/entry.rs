//! One article in the model: groups of fields, each with a version. The newer of each group wins, so any order and any
//! number of repetitions of the same events give the same entry.

use std::sync::Arc;

use madang_event::LastComment;
use serde::{Deserialize, Serialize};

use crate::ArticleText;

/// A count as its owner gave it, with the version that orders it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Count {
    /// How many.
    pub count: u64,
    /// Grows with each change: the newer count wins.
    pub version: u64,
}

/// The comments of an article as their owner has them, with the version that orders what is told of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Discussion {
    /// How many comments are visible.
    pub count: u64,
    /// Whether no new ones are taken. A process of an earlier version does not tell.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub locked: bool,
    /// The newest visible comment. A process of an earlier version does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<LastComment>,
    /// Grows with each change: the newer state wins.
    pub version: u64,
}

/// Counted comments of an article that takes new ones.
impl From<Count> for Discussion {
    fn from(Count { count, version }: Count) -> Self {
        Self { count, locked: false, last: None, version }
    }
}

/// The article itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArticleGroup {
    /// It exists, with this text.
    Live(Arc<ArticleText>),
    /// It is gone. Only a restore has a text that outranks this, by its version.
    Deleted {
        /// The version of the deletion.
        version: u64,
    },
}

/// What is known of one article. A group that is not known is `None`: unknown is not zero.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Entry {
    /// The text, or its end.
    pub article: Option<ArticleGroup>,
    /// Visible comments, and whether new ones are taken.
    pub comments: Option<Discussion>,
    /// Likes.
    pub likes: Option<Count>,
}

/// What an entry answers to a reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// A group is unknown: the owners must be asked.
    Unknown,
    /// There is no such article, or no longer.
    Gone,
    /// An article with its counts.
    Live {
        /// The text.
        text: Arc<ArticleText>,
        /// Visible comments.
        comment_count: u64,
        /// The version of what is told of the comments.
        comment_version: u64,
        /// Whether no new comments are taken.
        locked: bool,
        /// The newest visible comment.
        last: Option<LastComment>,
        /// Likes.
        like_count: u64,
    },
}

impl Entry {
    /// Takes the newer of each group. Commutative, associative and idempotent.
    pub fn merge(&mut self, other: Self) {
        if let Some(theirs) = other.article
            && self.article.as_ref().is_none_or(|ours| theirs.outranks(ours))
        {
            self.article = Some(theirs);
        }
        take_newer(&mut self.comments, other.comments.as_ref(), |comments| comments.version);
        take_newer(&mut self.likes, other.likes.as_ref(), |likes| likes.version);
    }

    /// What a reader gets.
    pub fn shown(&self) -> Shown {
        match (&self.article, &self.comments, self.likes) {
            (Some(ArticleGroup::Deleted { .. }), _, _) => Shown::Gone,
            (Some(ArticleGroup::Live(text)), Some(comments), Some(likes)) => {
                let &Discussion { count: comment_count, locked, version: comment_version, .. } = comments;
                let (text, last) = (Arc::clone(text), comments.last.clone());
                Shown::Live { text, comment_count, comment_version, locked, last, like_count: likes.count }
            }
            _ => Shown::Unknown,
        }
    }

    /// The text, if the article is known to exist.
    pub fn live(&self) -> Option<&Arc<ArticleText>> {
        match &self.article {
            Some(ArticleGroup::Live(text)) => Some(text),
            Some(ArticleGroup::Deleted { .. }) | None => None,
        }
    }
}

impl ArticleGroup {
    fn outranks(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Live(ours), Self::Live(theirs)) => ours.head.version > theirs.head.version,
            (Self::Deleted { version: ours }, Self::Deleted { version: theirs }) => ours > theirs,
            // A deletion is a version of its own. Should one ever equal a text's, what is gone is not shown.
            (Self::Deleted { version }, Self::Live(theirs)) => *version >= theirs.head.version,
            (Self::Live(ours), Self::Deleted { version }) => ours.head.version > *version,
        }
    }
}

/// Takes what is newer of a group that may be unknown.
pub(crate) fn take_newer<T: Clone>(ours: &mut Option<T>, theirs: Option<&T>, version: impl Fn(&T) -> u64) {
    if theirs.map(&version) > ours.as_ref().map(&version) {
        *ours = theirs.cloned();
    }
}

#[cfg(test)]
mod tests;
