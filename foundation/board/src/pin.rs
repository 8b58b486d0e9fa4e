//! Pins: the articles that moderators keep on top of their board, in which order, and until when.

use std::cmp::Reverse;

use madang_kernel::{Timestamp, millis};
use serde::{Deserialize, Serialize};

use crate::{ArticleId, BoardId};

/// Articles that may be pinned on one board at once: what stands above the list must not push it off the screen.
pub const PINS_MAX: usize = 8;

/// An article that is pinned on its board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// The article.
    pub article_id: ArticleId,
    /// Its board.
    pub board_id: BoardId,
    /// When it was pinned, or pinned again.
    #[serde(rename = "pinned_at_ms", with = "millis")]
    pub pinned_at: Timestamp,
    /// When the pin is over by itself; `None` for one that stays until a moderator takes it away.
    #[serde(rename = "until_ms", with = "optional_millis")]
    pub until: Option<Timestamp>,
}

impl Pin {
    /// Whether the pin still holds at `now`. One that is over is as good as none, whether its row is still there or not.
    pub fn holds(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| until > now)
    }
}

/// The articles whose pins hold at `now`, in the order in which they stand: the one that was pinned last comes first.
pub fn pinned(pins: &[Pin], now: Timestamp) -> Vec<ArticleId> {
    let mut holding: Vec<&Pin> = pins.iter().filter(|pin| pin.holds(now)).collect();
    holding.sort_by_key(|pin| Reverse((pin.pinned_at, pin.article_id)));
    holding.into_iter().map(|pin| pin.article_id).collect()
}

/// A moment that need not be, as a number or null.
mod optional_millis {
    use madang_kernel::Timestamp;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "the shape that serde calls")]
    pub(super) fn serialize<S: Serializer>(moment: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
        moment.map(Timestamp::as_millis).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
        Ok(Option::<i64>::deserialize(deserializer)?.map(Timestamp::from_millis))
    }
}

#[cfg(test)]
mod tests {
    use madang_kernel::Id;

    use super::*;

    fn pin(article: i64, pinned_at: i64, until: Option<i64>) -> Pin {
        Pin {
            article_id: ArticleId::from_raw(article),
            board_id: BoardId::from_raw(1),
            pinned_at: Timestamp::from_millis(pinned_at),
            until: until.map(Timestamp::from_millis),
        }
    }

    #[test]
    fn the_last_pinned_comes_first_and_one_that_is_over_not_at_all() {
        let pins = [pin(3, 10, None), pin(1, 30, Some(50)), pin(2, 20, Some(40)), pin(4, 10, None)];
        let at = |ms| pinned(&pins, Timestamp::from_millis(ms)).into_iter().map(Id::raw).collect::<Vec<_>>();
        assert_eq!(at(39), [1, 2, 4, 3]);
        assert_eq!(at(40), [1, 4, 3], "over at the very moment");
        assert_eq!(at(i64::MAX), [4, 3]);
    }
}
