//! A log as a busy day leaves it: articles, edits, comments, likes, views and deletions, mixed by popularity. What they
//! amount to is counted beside them, so that whoever applies the entries can be compared with the truth.

use bytes::Bytes;
use madang_board::{ArticleId, BoardId, CommentId, MemberId};
use madang_event::{
    ArticleDeleted, ArticleLikes, ArticleState, ArticleViews, BoardCount, CommentChange, Envelope, Event, Writer,
};
use madang_kernel::{EventId, Id, IdGenerator, LeaseEnded, ShardId, Timestamp};
use madang_messaging::Message;

use super::zipf::{Zipf, scatter};

/// Entries for each article that can be drawn; the popular ones get far more, many get none.
const ENTRIES_PER_ARTICLE: usize = 10;
const BOARD: i64 = 7;
/// About as long as an article on such a day is.
const CONTENT: &str = "We met at the usual place, and eleven people came. The lamp by the gate will be mended before the \
    weekend, and whoever borrowed the long ladder is asked to bring it back. 다음 모임은 토요일 저녁 일곱 시입니다. \
    Please say below which of the errands you can take, so that nobody does the same thing twice.";

/// How one article stands, counted in the plainest way there is.
#[derive(Debug, Clone, Default)]
pub(super) struct Truth {
    pub(super) article_id: i64,
    pub(super) deleted: bool,
    pub(super) likes: u64,
    pub(super) comments: u64,
    pub(super) views: u64,
    version: u64,
    like_version: u64,
    comment_version: u64,
    view_version: u64,
}

impl Truth {
    pub(super) fn score(&self) -> u64 {
        3 * self.likes + 2 * self.comments + self.views
    }
}

/// Makes the entries one after the other; the same ones in every run.
pub(super) struct LogMix<'a> {
    ids: &'a IdGenerator,
    at: Timestamp,
    zipf: Zipf,
    /// The article that stands at each rank of popularity now, as a place in `articles`.
    at_rank: Vec<Option<usize>>,
    articles: Vec<Truth>,
    board: BoardCount,
    made: u64,
}

impl<'a> LogMix<'a> {
    /// A mix of about `entries`, all of which occur at `at`.
    pub(super) fn new(ids: &'a IdGenerator, at: Timestamp, entries: usize) -> Self {
        let ranks = (entries / ENTRIES_PER_ARTICLE).max(2);
        let board = BoardCount { article_count: 0, version: 0 };
        Self { ids, at, zipf: Zipf::new(ranks), at_rank: vec![None; ranks], articles: Vec::new(), board, made: 0 }
    }

    /// The next entry.
    pub(super) fn next(&mut self) -> Result<Message, LeaseEnded> {
        self.made += 1;
        let rank = self.zipf.rank(2 * self.made);
        let envelope = match self.at_rank[rank] {
            Some(place) if !self.articles[place].deleted => self.change(place),
            _ => {
                self.at_rank[rank] = Some(self.articles.len());
                self.create()?
            }
        };
        Ok(self.message(&envelope))
    }

    /// Every article that the entries spoke of.
    pub(super) fn articles(&self) -> &[Truth] {
        &self.articles
    }

    /// The articles with the highest scores, the earlier first where scores are equal.
    pub(super) fn top(&self, count: usize) -> Vec<&Truth> {
        let mut top: Vec<_> = self.articles.iter().filter(|article| !article.deleted).collect();
        top.sort_by_key(|article| (std::cmp::Reverse(article.score()), article.article_id));
        top.truncate(count);
        top
    }

    /// The article as its first entry told it.
    pub(super) fn created(&self, article: &Truth) -> ArticleState {
        state(ArticleId::from_raw(article.article_id), 1, self.at, BoardCount { article_count: 1, version: 1 })
    }

    fn create(&mut self) -> Result<Envelope, LeaseEnded> {
        let article_id: ArticleId = self.ids.next(BoardId::from_raw(BOARD).shard())?;
        self.board = BoardCount { article_count: self.board.article_count + 1, version: self.board.version + 1 };
        self.articles.push(Truth { article_id: article_id.raw(), version: 1, ..Truth::default() });
        let event = Event::ArticleCreated(state(article_id, 1, self.at, self.board));
        Ok(self.envelope(article_id, 1, event))
    }

    /// Of a thousand changes about 20 are edits, 250 comments, 70 deleted comments, 180 views, one is a deletion, and
    /// the rest are likes, a third of them taken back.
    fn change(&mut self, place: usize) -> Envelope {
        let article = &mut self.articles[place];
        let article_id = ArticleId::from_raw(article.article_id);
        let comment_id = CommentId::from_raw(self.made as i64);
        let (version, event) = match scatter(2 * self.made + 1) % 1_000 {
            0 => {
                article.deleted = true;
                self.board =
                    BoardCount { article_count: self.board.article_count - 1, version: self.board.version + 1 };
                let (board_id, board_count) = (BoardId::from_raw(BOARD), self.board);
                let gone = ArticleDeleted { article_id, board_id, board_count, restorable: false };
                (article.version + 1, Event::ArticleDeleted(gone))
            }
            1..=20 => {
                article.version += 1;
                (article.version, Event::ArticleEdited(state(article_id, article.version, self.at, self.board)))
            }
            21..=30 if article.comments > 0 => {
                article.comment_version += 1;
                let change = CommentChange {
                    article_id,
                    comment_id,
                    parent_id: None,
                    comment_count: article.comments,
                    locked: false,
                    board_id: None,
                    last: None,
                };
                (article.comment_version, Event::CommentEdited(change))
            }
            31..=90 if article.comments > 0 => {
                (article.comments, article.comment_version) = (article.comments - 1, article.comment_version + 1);
                let change = CommentChange {
                    article_id,
                    comment_id,
                    parent_id: None,
                    comment_count: article.comments,
                    locked: false,
                    board_id: None,
                    last: None,
                };
                (article.comment_version, Event::CommentDeleted(change))
            }
            21..=340 => {
                (article.comments, article.comment_version) = (article.comments + 1, article.comment_version + 1);
                let change = CommentChange {
                    article_id,
                    comment_id,
                    parent_id: None,
                    comment_count: article.comments,
                    locked: false,
                    board_id: None,
                    last: None,
                };
                (article.comment_version, Event::CommentCreated(change))
            }
            341..=520 => {
                (article.views, article.view_version) = (article.views + 7, article.view_version + 1);
                let viewed = ArticleViews { article_id, view_count: article.views };
                (article.view_version, Event::ArticleViewed(viewed))
            }
            chance => {
                let member = vec![MemberId::from_raw(self.made as i64)];
                let taken_back = chance < 680 && article.likes > 0;
                let (liked, unliked) = if taken_back { (vec![], member) } else { (member, vec![]) };
                article.likes = if taken_back { article.likes - 1 } else { article.likes + 1 };
                article.like_version += 1;
                let likes = ArticleLikes { article_id, liked, unliked, like_count: article.likes };
                (article.like_version, Event::ArticleLikesChanged(likes))
            }
        };
        self.envelope(article_id, version, event)
    }

    fn envelope(&self, key: ArticleId, version: u64, event: Event) -> Envelope {
        Envelope { event_id: EventId::from_raw(self.made as i64), occurred_at: self.at, key, version, event }
    }

    fn message(&self, envelope: &Envelope) -> Message {
        let payload: Bytes = envelope.encode();
        Message {
            event_id: envelope.event_id,
            topic: envelope.event.topic().name().to_owned(),
            key: envelope.key.to_string(),
            shard: ShardId::of_parts(envelope.key),
            occurred_at: self.at,
            headers: Vec::new(),
            payload,
        }
    }
}

fn state(article_id: ArticleId, version: u64, at: Timestamp, board_count: BoardCount) -> ArticleState {
    ArticleState {
        article_id,
        board_id: BoardId::from_raw(BOARD),
        title: format!("Notes of the evening, {version}"),
        content: CONTENT.to_owned(),
        content_html: format!("<p>{CONTENT}</p>"),
        writer: Writer { member_id: MemberId::from_raw(3), name: "somebody".into() },
        created_at: at,
        modified_at: at,
        board_count,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use madang_kernel::{ID_EPOCH_MS, ManualClock, NodeId, NodeLease};

    use super::*;

    #[test]
    fn the_truth_is_what_the_newest_entries_say() {
        let at = Timestamp::from_millis(ID_EPOCH_MS + 1_000_000);
        let lease = NodeLease { node: NodeId(0), from_ms: at.as_millis(), until_ms: at.as_millis() + 1_000_000 };
        let ids = IdGenerator::new(Arc::new(ManualClock::at(at)), lease);
        let mut mix = LogMix::new(&ids, at, 20_000);
        let mut told: BTreeMap<(i64, &str), (u64, u64)> = BTreeMap::new();
        let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
        for _ in 0..20_000 {
            let envelope = Envelope::decode(&mix.next().unwrap().payload).unwrap();
            *kinds.entry(envelope.event.type_name()).or_default() += 1;
            let (group, count) = match &envelope.event {
                Event::ArticleLikesChanged(likes) => ("likes", likes.like_count),
                Event::CommentCreated(change) | Event::CommentEdited(change) | Event::CommentDeleted(change) => {
                    ("comments", change.comment_count)
                }
                Event::ArticleViewed(views) => ("views", views.view_count),
                _ => ("article", 0),
            };
            let newer = told.insert((envelope.key.raw(), group), (envelope.version, count));
            assert!(newer.is_none_or(|(version, _)| version < envelope.version), "versions grow");
        }
        for article in mix.articles() {
            let count = |group| told.get(&(article.article_id, group)).map_or(0, |(_, count)| *count);
            assert_eq!(
                [count("likes"), count("comments"), count("views")],
                [article.likes, article.comments, article.views]
            );
        }
        assert_eq!(kinds.len(), 8, "every kind of event: {kinds:?}");
        let top = mix.top(10);
        assert!(top.len() == 10 && top.is_sorted_by_key(|article| std::cmp::Reverse(article.score())));
    }
}
