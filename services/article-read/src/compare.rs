//! The model against its owners, for a check beside people at work. The model is looked at first and the owners after it, so
//! what was written in between makes the model seem old; only what is still wrong at a second look is wrong.

use std::collections::HashMap;
use std::fmt;

use madang_board::ArticleId;
use madang_kernel::{Id as _, ShardId, StoreError};

use crate::service::SLICE_MAX;
use crate::{ArticleGroup, ArticleText, Count, Discussion, Entry, ReadService};

/// Differences that are looked at again; more of them would tell nothing new.
pub const DIFFERENCES_MAX: usize = 1_000;

/// What a look at the whole model found.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    /// Articles compared.
    pub articles: u64,
    /// Where the model and the owners differ, cut off at [`DIFFERENCES_MAX`].
    pub differences: Vec<Difference>,
}

/// A group of an article that the model has otherwise than its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The article.
    pub article_id: ArticleId,
    /// Which group.
    pub group: Group,
    /// The state in the model.
    pub held: State,
    /// The state of the owner.
    pub owned: State,
}

/// A group of fields with a version of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// The article itself.
    Article,
    /// The count of its comments.
    Comments,
    /// The count of its likes.
    Likes,
}

/// What is known of a group. Texts are compared, but not told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// There is no such article, or no longer.
    Gone,
    /// The text of this version.
    Text(u64),
    /// This count.
    Counted(Count),
    /// So many comments, and whether new ones are taken.
    Discussed(Discussion),
}

impl ReadService {
    /// Compares everything in the model with its owners, part by part; loads nothing into it.
    pub async fn compare(&self) -> Result<Comparison, StoreError> {
        let mut comparison = Comparison::default();
        for shard in ShardId::all() {
            let held = self.model.entries(shard).await?;
            for slice in held.chunks(SLICE_MAX) {
                comparison.articles += slice.len() as u64;
                comparison.differences.extend(self.differences(slice).await?);
                if comparison.differences.len() >= DIFFERENCES_MAX {
                    comparison.differences.truncate(DIFFERENCES_MAX);
                    return Ok(comparison);
                }
            }
        }
        Ok(comparison)
    }

    /// Of differences that were found a moment ago, those that are still there. A model that has meanwhile reached what its
    /// owner had then has kept up, even if the owner went on.
    pub async fn still_differing(&self, found: Vec<Difference>) -> Result<Vec<Difference>, StoreError> {
        let mut by_shard: HashMap<ShardId, Vec<Difference>> = HashMap::new();
        for difference in found {
            by_shard.entry(ShardId::of_parts(difference.article_id)).or_default().push(difference);
        }
        let mut left = Vec::new();
        for (shard, found) in by_shard {
            let mut held = self.model.entries(shard).await?;
            held.retain(|(article, _)| found.iter().any(|difference| difference.article_id == *article));
            for slice in held.chunks(SLICE_MAX) {
                let now = self.differences(slice).await?;
                left.extend(now.into_iter().filter(|now| found.iter().any(|then| now.persists_since(then))));
            }
        }
        Ok(left)
    }

    async fn differences(&self, held: &[(ArticleId, Entry)]) -> Result<Vec<Difference>, StoreError> {
        let ids: Vec<_> = held.iter().map(|(article, _)| *article).collect();
        let (texts, comments, likes) = tokio::try_join!(
            self.owners.articles.articles(&ids),
            self.owners.comments.comment_counts(&ids),
            self.owners.likes.like_counts(&ids),
        )?;
        let owned = texts.into_iter().zip(comments.into_iter().zip(likes));
        let pairs = held.iter().zip(owned);
        let differing =
            pairs.flat_map(|((article, entry), (text, counts))| differing(*article, entry, text.as_ref(), counts));
        Ok(differing.collect())
    }
}

impl Difference {
    /// Whether what was wrong then is wrong now for the same reason.
    fn persists_since(&self, then: &Self) -> bool {
        if (self.article_id, self.group) != (then.article_id, then.group) {
            return false;
        }
        match (self.held.version(), then.owned.version()) {
            (Some(held), Some(owned)) if then.is_old() => held < owned,
            _ => true,
        }
    }

    /// Whether the model has merely not heard of the owner's newest state.
    fn is_old(&self) -> bool {
        matches!((self.held.version(), self.owned.version()), (Some(held), Some(owned)) if held < owned)
    }
}

impl State {
    fn version(&self) -> Option<u64> {
        match self {
            Self::Gone => None,
            Self::Text(version) => Some(*version),
            Self::Counted(count) => Some(count.version),
            Self::Discussed(comments) => Some(comments.version),
        }
    }
}

/// What differs of one article. What the model does not know it does not have wrong.
fn differing(
    article_id: ArticleId,
    entry: &Entry,
    text: Option<&ArticleText>,
    (comments, likes): (Option<Discussion>, Option<Count>),
) -> Vec<Difference> {
    let difference = |group, held, owned| Difference { article_id, group, held, owned };
    let (held, owned, is_same) = match (&entry.article, text) {
        (None, _) => return Vec::new(),
        (Some(ArticleGroup::Deleted { .. }), None) => return Vec::new(),
        (Some(ArticleGroup::Deleted { .. }), Some(owned)) => (State::Gone, State::Text(owned.head.version), false),
        (Some(ArticleGroup::Live(held)), None) => (State::Text(held.head.version), State::Gone, false),
        (Some(ArticleGroup::Live(held)), Some(owned)) => {
            (State::Text(held.head.version), State::Text(owned.head.version), **held == *owned)
        }
    };
    let mut found = Vec::new();
    if !is_same {
        found.push(difference(Group::Article, held, owned));
    }
    let [held_comments, comments] = [entry.comments.clone(), comments].map(|comments| comments.map(State::Discussed));
    let [held_likes, likes] = [entry.likes, likes].map(|likes| likes.map(State::Counted));
    for (group, held, owned) in [(Group::Comments, held_comments, comments), (Group::Likes, held_likes, likes)] {
        // An owner of counts that knows of a deletion may know of it first.
        if let (Some(held), Some(owned)) = (held, owned)
            && held != owned
        {
            found.push(difference(group, held, owned));
        }
    }
    found
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { article_id, group, held, owned } = self;
        let group = match group {
            Group::Article => "text",
            Group::Comments => "comments",
            Group::Likes => "likes",
        };
        write!(f, "article {article_id}: the query model has its {group} as {held}, the owner as {owned}")
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone => f.write_str("deleted"),
            Self::Text(version) => write!(f, "version {version}"),
            Self::Counted(Count { count, version }) => write!(f, "{count} (version {version})"),
            Self::Discussed(Discussion { count, locked, last, version }) => {
                let lock = if *locked { ", locked" } else { "" };
                let last = last.as_ref().map_or(0, |last| last.comment_id.raw());
                write!(f, "{count}{lock}, comment {last} the newest (version {version})")
            }
        }
    }
}
