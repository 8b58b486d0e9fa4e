//! Pinning: at most a few articles of a board at once, the last pinned first. The version of the article grows with it, so
//! that whoever has the article cached hears of it as of any change.

use madang_board::{ArticleId, BoardId, PINS_MAX, Pin};
use madang_kernel::{StoreError, Timestamp};

use super::{Replay, no_board};
use crate::{Article, PinArticle, PinOutcome, Pinning, events};

impl Replay {
    /// Pins an article, or no longer.
    pub fn pin(&mut self, call: &PinArticle) -> Result<PinOutcome, StoreError> {
        let Some(before) = self.articles.find(call.article_id).cloned() else {
            return Ok(PinOutcome::Absent);
        };
        if self.is_archived(before.board_id) {
            return Ok(PinOutcome::Archived);
        }
        match call.pinning {
            Pinning::Unpin if self.pins.find(call.article_id).is_none() => return Ok(PinOutcome::Done(before)),
            Pinning::Unpin => self.pins.delete(call.article_id),
            Pinning::Pin { until } => {
                let (article_id, board_id) = (before.article_id, before.board_id);
                let Some(pinned_at) = self.make_room(article_id, board_id, call.pinned_at) else {
                    return Ok(PinOutcome::Full);
                };
                // An upsert writes it, whether there is one or not.
                self.pins.update(article_id, Pin { article_id, board_id, pinned_at, until });
            }
        }
        let article = Article { version: before.version + 1, ..before };
        let board = self.boards.get(&article.board_id).ok_or_else(|| no_board(article.board_id))?;
        self.events.push(events::edited(&article, call.event_id, self.now, board.count()));
        self.acts.push(call.act.clone());
        self.articles.update(article.article_id, article.clone());
        Ok(PinOutcome::Done(article))
    }

    /// Takes away what is over, and tells when a pin is to have been set so that it stands above the others, whatever the
    /// clock did meanwhile; `None` when the board is full.
    fn make_room(&mut self, article: ArticleId, board: BoardId, at: Timestamp) -> Option<Timestamp> {
        let others = self.pins.values().filter(|other| other.board_id == board && other.article_id != article);
        let (holding, over): (Vec<Pin>, Vec<Pin>) = others.copied().partition(|other| other.holds(self.now));
        over.iter().for_each(|pin| self.pins.delete(pin.article_id));
        let last_ms = holding.iter().map(|pin| pin.pinned_at.as_millis()).max().unwrap_or(0);
        (holding.len() < PINS_MAX).then(|| at.max(Timestamp::from_millis(last_ms + 1)))
    }
}
