//! What an event means to the hot list, and many of them folded into one change per article.

use std::collections::BTreeMap;

use madang_board::ArticleId;
use madang_event::{Envelope, Event};
use madang_kernel::Id;

use crate::{Counts, Day, Reading, SiteDays, Tally};

/// News of one article's part in the day on which it was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HotChange {
    /// The day on which the article was created: its id tells, so that its creation need not have been heard of.
    pub day: Day,
    /// The article.
    pub article_id: ArticleId,
    /// What is to be merged.
    pub tally: Tally,
}

impl HotChange {
    /// What an event changes; `None` when it has no part in any list. Counts matter on the article's own day alone, a
    /// deletion, a removal and a restore matter always.
    pub fn of(envelope: &Envelope, days: &SiteDays) -> Option<Self> {
        let reading = |count| Reading::new(count, envelope.version);
        let article_id = envelope.key;
        let day = days.day_of(article_id.issued_at());
        let hidden = |is_hidden| {
            let tally = Tally::Live(Counts { hidden: reading(is_hidden), ..Counts::default() });
            Self { day, article_id, tally }
        };
        let counts = match &envelope.event {
            Event::ArticleCreated(_) | Event::ArticleEdited(_) => return None,
            Event::ArticleDeleted(gone) if gone.restorable => return Some(hidden(1)),
            Event::ArticleRestored(_) => return Some(hidden(0)),
            Event::ArticleDeleted(_) => None,
            Event::CommentCreated(change) | Event::CommentEdited(change) | Event::CommentDeleted(change) => {
                Some(Counts { comments: reading(change.comment_count), ..Counts::default() })
            }
            // A lock counts nothing, but the version of the count that it stands beside grows.
            Event::ArticleLockChanged(lock) => {
                Some(Counts { comments: reading(lock.comment_count), ..Counts::default() })
            }
            Event::ArticleLikesChanged(likes) => Some(Counts { likes: reading(likes.like_count), ..Counts::default() }),
            Event::ArticleViewed(views) => Some(Counts { views: reading(views.view_count), ..Counts::default() }),
        };
        match counts {
            Some(counts) if days.day_of(envelope.occurred_at) == day => {
                Some(Self { day, article_id, tally: Tally::Live(counts) })
            }
            Some(_) => None,
            None => Some(Self { day, article_id, tally: Tally::Gone }),
        }
    }
}

/// One change for each day and article, in that order, that does what all of them do.
pub fn fold(changes: impl IntoIterator<Item = HotChange>) -> Vec<HotChange> {
    let mut folded: BTreeMap<(Day, ArticleId), Tally> = BTreeMap::new();
    for HotChange { day, article_id, tally } in changes {
        let known = folded.entry((day, article_id)).or_default();
        *known = known.merge(tally);
    }
    folded.into_iter().map(|((day, article_id), tally)| HotChange { day, article_id, tally }).collect()
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;
    use madang_board::{BoardId, CommentId, MemberId};
    use madang_event::{ArticleDeleted, ArticleLikes, ArticleState, ArticleViews, BoardCount, CommentChange, Writer};
    use madang_kernel::{EventId, Timestamp};
    use proptest::prelude::*;

    use super::*;

    const ID_EPOCH_MS: i64 = 1_704_067_200_000;

    fn at(text: &str) -> Timestamp {
        Timestamp::from_millis(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
    }

    fn article(created_at: &str) -> ArticleId {
        ArticleId::from_raw((at(created_at).as_millis() - ID_EPOCH_MS) << 22 | 77)
    }

    fn likes(key: ArticleId, like_count: u64, version: u64, occurred_at: &str) -> Envelope {
        let event =
            Event::ArticleLikesChanged(ArticleLikes { article_id: key, liked: vec![], unliked: vec![], like_count });
        Envelope { event_id: EventId::from_raw(1), occurred_at: at(occurred_at), key, version, event }
    }

    fn deleted(key: ArticleId, occurred_at: &str) -> Envelope {
        let board_count = BoardCount { article_count: 0, version: 2 };
        let event = Event::ArticleDeleted(ArticleDeleted {
            article_id: key,
            board_id: BoardId::from_raw(1),
            board_count,
            restorable: false,
        });
        Envelope { event, ..likes(key, 0, 2, occurred_at) }
    }

    #[test]
    fn counts_matter_on_the_day_of_their_article_alone() {
        let seoul = SiteDays::new(TimeZone::get("Asia/Seoul").unwrap());
        let key = article("2026-03-01T15:00:00Z");
        let day = "2026-03-02".parse().unwrap();
        for (occurred_at, counts) in [
            ("2026-03-01T14:59:59.999Z", false),
            ("2026-03-01T15:00:00Z", true),
            ("2026-03-02T14:59:59.999Z", true),
            ("2026-03-02T15:00:00Z", false),
            ("2026-03-09T15:00:00Z", false),
        ] {
            let tally = Tally::Live(Counts { likes: Reading::new(4, 7), ..Counts::default() });
            let expected = counts.then_some(HotChange { day, article_id: key, tally });
            assert_eq!(HotChange::of(&likes(key, 4, 7, occurred_at), &seoul), expected, "{occurred_at}");
        }
    }

    #[test]
    fn a_removal_and_its_end_matter_on_any_day_and_leave_the_counts() {
        let days = SiteDays::new(TimeZone::UTC);
        let key = article("2026-03-01T10:00:00Z");
        let removed = |restorable, version| {
            let Envelope { event: Event::ArticleDeleted(gone), .. } = deleted(key, "2026-03-05T00:00:00Z") else {
                panic!("a deletion")
            };
            let event = Event::ArticleDeleted(ArticleDeleted { restorable, ..gone });
            Envelope { event, ..likes(key, 0, version, "2026-03-05T00:00:00Z") }
        };
        let counts = Counts { hidden: Reading::new(1, 4), ..Counts::default() };
        let change = HotChange::of(&removed(true, 4), &days).unwrap();
        assert_eq!(change.tally, Tally::Live(counts));
        assert_eq!(HotChange::of(&removed(false, 6), &days).unwrap().tally, Tally::Gone);
    }

    #[test]
    fn a_deletion_matters_on_any_day() {
        let days = SiteDays::new(TimeZone::UTC);
        let key = article("2026-03-01T10:00:00Z");
        let day = "2026-03-01".parse().unwrap();
        for occurred_at in ["2026-03-01T10:00:01Z", "2026-03-05T00:00:00Z"] {
            let change = HotChange::of(&deleted(key, occurred_at), &days);
            assert_eq!(change, Some(HotChange { day, article_id: key, tally: Tally::Gone }));
        }
    }

    #[test]
    fn each_kind_of_event_speaks_of_its_own_group() {
        let days = SiteDays::new(TimeZone::UTC);
        let moment = "2026-03-01T10:00:00Z";
        let key = article(moment);
        let comment = CommentChange {
            article_id: key,
            comment_id: CommentId::from_raw(6),
            parent_id: None,
            comment_count: 5,
            locked: false,
            board_id: None,
            last: None,
        };
        let comments = Counts { comments: Reading::new(5, 9), ..Counts::default() };
        let views = Counts { views: Reading::new(100, 9), ..Counts::default() };
        for (event, counts) in [
            (Event::CommentCreated(comment.clone()), comments),
            (Event::CommentEdited(comment.clone()), comments),
            (Event::CommentDeleted(comment), comments),
            (Event::ArticleViewed(ArticleViews { article_id: key, view_count: 100 }), views),
        ] {
            let change = HotChange::of(&Envelope { event, ..likes(key, 0, 9, moment) }, &days);
            assert_eq!(change.map(|change| change.tally), Some(Tally::Live(counts)));
        }
    }

    #[test]
    fn what_is_written_scores_nothing() {
        let moment = "2026-03-01T10:00:00Z";
        let key = article(moment);
        let state = ArticleState {
            article_id: key,
            board_id: BoardId::from_raw(1),
            title: "t".into(),
            content: "c".into(),
            content_html: "c".into(),
            writer: Writer { member_id: MemberId::from_raw(1), name: "w".into() },
            created_at: at(moment),
            modified_at: at(moment),
            board_count: BoardCount { article_count: 1, version: 1 },
        };
        for event in [Event::ArticleCreated(state.clone()), Event::ArticleEdited(state)] {
            let envelope = Envelope { event, ..likes(key, 0, 1, moment) };
            assert_eq!(HotChange::of(&envelope, &SiteDays::new(TimeZone::UTC)), None);
        }
    }

    /// A group, a version and a count; group 3 is a deletion.
    fn change((article, group, version): (i64, u8, u64)) -> HotChange {
        // The count of a version is always the same, and not in the order of versions.
        let reading = Reading::new((version * 7) % 11, version);
        let tally = match group {
            0 => Tally::Live(Counts { likes: reading, ..Counts::default() }),
            1 => Tally::Live(Counts { comments: reading, ..Counts::default() }),
            2 => Tally::Live(Counts { views: reading, ..Counts::default() }),
            4 => Tally::Live(Counts { hidden: Reading::new(version % 2, version), ..Counts::default() }),
            _ => Tally::Gone,
        };
        let day = if article % 2 == 0 { "2026-03-01" } else { "2026-03-02" };
        HotChange { day: day.parse().unwrap(), article_id: ArticleId::from_raw(article), tally }
    }

    fn changes() -> impl Strategy<Value = Vec<HotChange>> {
        // Deletions are rare, or nothing else would be left to see.
        let group = prop_oneof![12 => 0u8..3, 1 => Just(3u8), 3 => Just(4u8)];
        prop::collection::vec((1i64..6, group, 1u64..12).prop_map(change), 0..60)
    }

    proptest! {
        #[test]
        fn any_order_and_any_duplicates_fold_to_the_same(
            (original, shuffled) in changes().prop_flat_map(|changes| {
                let twice: Vec<_> = changes.iter().chain(&changes).copied().collect();
                (Just(changes), Just(twice).prop_shuffle())
            }),
            cut in 0usize..100,
        ) {
            let whole = fold(original);
            prop_assert_eq!(&fold(shuffled.iter().copied()), &whole);
            // Folding parts first, as batches do, changes nothing either.
            let (first, second) = shuffled.split_at(cut.min(shuffled.len()));
            let parts = fold(second.iter().copied()).into_iter().chain(fold(first.iter().copied()));
            prop_assert_eq!(&fold(parts), &whole);
        }

        #[test]
        fn the_newest_of_each_group_is_what_counts(original in changes()) {
            for folded in fold(original.iter().copied()) {
                let mine = || original.iter().filter(|change| change.article_id == folded.article_id);
                if mine().any(|change| change.tally == Tally::Gone) {
                    prop_assert_eq!(folded.tally, Tally::Gone);
                    continue;
                }
                let Tally::Live(counts) = folded.tally else { panic!("nobody deleted it") };
                let newest = |group: fn(&Counts) -> Reading| {
                    let readings = mine().filter_map(|change| match &change.tally {
                        Tally::Live(counts) => Some(group(counts)),
                        Tally::Gone => None,
                    });
                    readings.max_by_key(|reading| reading.version()).unwrap_or_default()
                };
                prop_assert_eq!(counts.likes, newest(|counts| counts.likes));
                prop_assert_eq!(counts.comments, newest(|counts| counts.comments));
                prop_assert_eq!(counts.views, newest(|counts| counts.views));
                prop_assert_eq!(counts.hidden, newest(|counts| counts.hidden));
            }
        }
    }
}
