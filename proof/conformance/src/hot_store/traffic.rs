//! A week in the life of a site, made up by dice: what people did, the events that report it, and in which order these
//! arrive. Berlin, October 2026, with a day of 25 hours in the middle.

use std::collections::HashSet;

use bytes::Bytes;
use madang_board::{ArticleId, BoardId, CommentId, MemberId};
use madang_event::{
    ArticleDeleted, ArticleLikes, ArticleState, ArticleViews, BoardCount, CommentChange, Envelope, Event, Writer,
};
use madang_kernel::{EventId, Id, Timestamp};

/// The site's zone; the table below is its calendar, written down by hand.
pub(super) const ZONE: &str = "Europe/Berlin";
/// The first moment of each day from 2026-10-22 to 2026-10-28, and of the day after.
pub(super) const MIDNIGHTS_MS: [i64; 8] = [
    1_792_620_000_000,
    1_792_706_400_000,
    1_792_792_800_000,
    1_792_879_200_000,
    1_792_969_200_000,
    1_793_055_600_000,
    1_793_142_000_000,
    1_793_228_400_000,
];
/// The days of the table.
pub(super) const DAYS: [&str; 7] =
    ["2026-10-22", "2026-10-23", "2026-10-24", "2026-10-25", "2026-10-26", "2026-10-27", "2026-10-28"];

pub(super) const HOUR_MS: i64 = 3_600_000;
const _: () = assert!(MIDNIGHTS_MS[4] - MIDNIGHTS_MS[3] == 25 * HOUR_MS);

/// 2024-01-01T00:00:00Z, where the time of ids begins.
const ID_EPOCH_MS: i64 = 1_704_067_200_000;
const MEMBERS: u64 = 40;

/// The counter that a fact speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Likes,
    Comments,
    Views,
    Deletion,
    /// Says nothing of any counter.
    Text,
}

/// One event, in plain numbers for the recount and in bytes for the consumer.
#[derive(Debug, Clone)]
pub(super) struct Fact {
    pub(super) article: i64,
    pub(super) created_ms: i64,
    pub(super) occurred_ms: i64,
    pub(super) kind: Kind,
    pub(super) version: u64,
    pub(super) count: u64,
    pub(super) topic: &'static str,
    pub(super) payload: Bytes,
}

/// How an article stood when its day ended: what people had really done by then.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing {
    pub(super) article: i64,
    pub(super) created_ms: i64,
    pub(super) counts: [u64; 3],
    pub(super) deleted: bool,
}

/// The week.
#[derive(Default)]
pub(super) struct Week {
    pub(super) facts: Vec<Fact>,
    pub(super) standings: Vec<Standing>,
}

/// Numbers by splitmix64: the same for the same seed.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// A number from 0 up to, not including, `end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % end
    }

    pub(super) fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

impl Week {
    /// At least `events` of them.
    pub(super) fn of(events: usize, dice: &mut Dice) -> Self {
        let mut week = Self::default();
        while week.facts.len() < events {
            week.live_an_article(dice);
        }
        week
    }

    fn live_an_article(&mut self, dice: &mut Dice) {
        let day = dice.below(7) as usize;
        let (start, end) = (MIDNIGHTS_MS[day], MIDNIGHTS_MS[day + 1]);
        let created_ms = match dice.below(20) {
            0 => start,
            1 => end - 1,
            _ => start + dice.below((end - start) as u64) as i64,
        };
        // Shard, node and sequence are what they are; here only unique, for practical purposes.
        let raw = (created_ms - ID_EPOCH_MS) << 22 | dice.below(1 << 22) as i64;
        let mut article = Article { raw, created_ms, people: People::default(), versions: [0; 3] };
        self.report(&article, created_ms, Kind::Text);
        let mut standing = Standing { article: raw, created_ms, counts: [0; 3], deleted: false };
        for occurred_ms in moments(created_ms, end, dice) {
            let kind = if dice.below(400) == 0 { Kind::Deletion } else { article.act(dice) };
            self.report(&article, occurred_ms, kind);
            if kind == Kind::Deletion {
                standing.deleted = true;
                break;
            }
            if occurred_ms < end {
                standing.counts = article.counts();
            }
        }
        self.standings.push(standing);
    }

    fn report(&mut self, article: &Article, occurred_ms: i64, kind: Kind) {
        let (version, count) = match kind {
            Kind::Deletion => (2, 0),
            Kind::Text => (1, 0),
            counted => (article.versions[counted as usize], article.counts()[counted as usize]),
        };
        let key = ArticleId::from_raw(article.raw);
        let event_id = EventId::from_raw(self.facts.len() as i64 + 1);
        let occurred_at = Timestamp::from_millis(occurred_ms);
        let event = event(key, article.created_ms, kind, count);
        let topic = event.topic().name();
        let payload = Envelope { event_id, occurred_at, key, version, event }.encode();
        let (article, created_ms) = (article.raw, article.created_ms);
        self.facts.push(Fact { article, created_ms, occurred_ms, kind, version, count, topic, payload });
    }
}

struct Article {
    raw: i64,
    created_ms: i64,
    people: People,
    /// Of likes, comments and views.
    versions: [u64; 3],
}

/// Who likes the article, and how often it was commented and viewed.
#[derive(Default)]
struct People {
    likers: HashSet<u64>,
    comments: u64,
    views: u64,
}

impl Article {
    /// Somebody does something with it.
    fn act(&mut self, dice: &mut Dice) -> Kind {
        let people = &mut self.people;
        let kind = match dice.below(10) {
            0..5 => {
                let member = dice.below(MEMBERS);
                if !people.likers.remove(&member) {
                    people.likers.insert(member);
                }
                Kind::Likes
            }
            5..8 => {
                let deletes = people.comments > 0 && dice.percent(45);
                people.comments = if deletes { people.comments - 1 } else { people.comments + 1 };
                Kind::Comments
            }
            _ => {
                people.views += 1 + dice.below(9);
                Kind::Views
            }
        };
        self.versions[kind as usize] += 1;
        kind
    }

    fn counts(&self) -> [u64; 3] {
        [self.people.likers.len() as u64, self.people.comments, self.people.views]
    }
}

/// When things happen to an article: mostly on its day, often right at its end, sometimes later.
fn moments(created_ms: i64, end: i64, dice: &mut Dice) -> Vec<i64> {
    let busy = if dice.percent(10) { 400 } else { 60 };
    let mut moments: Vec<_> = (0..5 + dice.below(busy))
        .map(|_| match dice.below(100) {
            0 => created_ms,
            1..4 => end - 1,
            4..6 => end,
            6..15 => end + dice.below(30 * HOUR_MS as u64) as i64,
            _ => created_ms + dice.below((end - created_ms) as u64) as i64,
        })
        .collect();
    moments.sort_unstable();
    moments
}

fn event(article_id: ArticleId, created_ms: i64, kind: Kind, count: u64) -> Event {
    let board_id = BoardId::from_raw(1);
    let board_count = BoardCount { article_count: 1, version: 1 };
    match kind {
        Kind::Likes => Event::ArticleLikesChanged(ArticleLikes {
            article_id,
            liked: vec![MemberId::from_raw(1)],
            unliked: vec![],
            like_count: count,
        }),
        Kind::Comments => Event::CommentCreated(CommentChange {
            locked: false,
            board_id: None,
            last: None,
            article_id,
            comment_id: CommentId::from_raw(1),
            parent_id: None,
            comment_count: count,
        }),
        Kind::Views => Event::ArticleViewed(ArticleViews { article_id, view_count: count }),
        Kind::Deletion => {
            Event::ArticleDeleted(ArticleDeleted { article_id, board_id, board_count, restorable: false })
        }
        Kind::Text => Event::ArticleCreated(ArticleState {
            article_id,
            board_id,
            title: "A title".into(),
            content: "A text".into(),
            content_html: "<p>A text</p>".into(),
            writer: Writer { member_id: MemberId::from_raw(1), name: "writer".into() },
            created_at: Timestamp::from_millis(created_ms),
            modified_at: Timestamp::from_millis(created_ms),
            board_count,
        }),
    }
}
