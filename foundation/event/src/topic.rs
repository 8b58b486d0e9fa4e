//! Topics: one per owning service, all keyed by article id, so that equal partition counts keep an article together.

use std::fmt;

/// A stream of events of one kind of owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Topic {
    /// Articles written, edited, deleted.
    Article,
}

impl Topic {
    /// Every topic.
    pub const ALL: [Self; 1] = [Self::Article];

    /// The name on the wire; the version is part of it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Article => "madang.article.v1",
        }
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
