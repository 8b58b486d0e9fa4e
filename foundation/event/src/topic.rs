//! Topics: one per owning service, all keyed by article id, so that equal partition counts keep an article together.

use std::fmt;

/// A stream of events of one kind of owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Topic {
    /// Articles written, edited, deleted.
    Article,
    /// Comments written and deleted.
    Comment,
    /// Likes given and taken back.
    Like,
    /// Views counted.
    View,
}

impl Topic {
    /// Every topic.
    pub const ALL: [Self; 4] = [Self::Article, Self::Comment, Self::Like, Self::View];

    /// The name on the wire; the version is part of it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Article => "madang.article.v1",
            Self::Comment => "madang.comment.v1",
            Self::Like => "madang.like.v1",
            Self::View => "madang.view.v1",
        }
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
