//! What is known of an open article's changes: the newest count of each kind, and which comments are new. Merges by
//! version, so that the order of arrival does not matter.

use std::collections::VecDeque;

use madang_event::{Envelope, Event};
use madang_kernel::CommentId;

/// New comments that are told one by one; who missed more loads the page again.
const CREATED_MAX: usize = 64;

/// A count at its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reading {
    /// The count.
    pub count: u64,
    /// Its version: the newer one wins.
    pub version: u64,
}

/// Everything that changed since somebody opened the article. Version 0 is what is not known to have changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// The version of its text.
    pub text_version: u64,
    /// Likes.
    pub likes: Reading,
    /// Visible comments.
    pub comments: Reading,
    /// Views.
    pub views: Reading,
    /// Comments written lately, with the version of the count after each, oldest first.
    pub created: VecDeque<(u64, CommentId)>,
    /// The version up to which comments are no longer told one by one.
    pub created_before: u64,
    /// Whether the article was deleted.
    pub gone: bool,
}

impl Reading {
    fn merge(&mut self, count: u64, version: u64) {
        if version > self.version {
            *self = Self { count, version };
        }
    }
}

impl Changes {
    /// Takes an event in.
    pub fn merge(&mut self, envelope: &Envelope) {
        let version = envelope.version;
        match &envelope.event {
            Event::ArticleCreated(_) | Event::ArticleEdited(_) => self.text_version = self.text_version.max(version),
            Event::ArticleDeleted(_) => self.gone = true,
            Event::CommentCreated(change) => {
                self.comments.merge(change.comment_count, version);
                self.created.push_back((version, change.comment_id));
                if self.created.len() > CREATED_MAX {
                    let dropped = self.created.pop_front();
                    self.created_before = self.created_before.max(dropped.map_or(0, |(version, _)| version));
                }
            }
            Event::CommentDeleted(change) => {
                self.comments.merge(change.comment_count, version);
                self.created.retain(|(_, comment)| *comment != change.comment_id);
            }
            Event::ArticleLikesChanged(likes) => self.likes.merge(likes.like_count, version),
            Event::ArticleViewed(views) => self.views.merge(views.view_count, version),
        }
    }
}
