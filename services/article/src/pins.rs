//! Use cases of pins: put an article on top of its board, take it down, and say what is on top.

use std::sync::Arc;

use madang_board::rules::{About, Action, may};
use madang_board::{Act, ActKind, Actor, ArticleId, BoardId, Pin};
use madang_kernel::{Id as _, Invalid, StoreError, Timestamp};

use crate::pin_cache::CachedPins;
use crate::service::NO_ARTICLE;
use crate::{Article, ArticleError, ArticleService, PinArticle, PinOutcome, Pinning};

/// The longest that a pin with an end may last.
pub const PIN_DAYS_MAX: i64 = 36_600;
const DAY_MS: i64 = 24 * 3_600_000;

impl ArticleService {
    /// Pins an article on top of its board, above those that are pinned already (moderators of the board).
    pub async fn pin(
        &self,
        actor: &Actor,
        article: ArticleId,
        until: Option<Timestamp>,
    ) -> Result<Article, ArticleError> {
        let found = self.pinnable(actor, article).await?;
        let left_ms = until.map(|until| until.as_millis().saturating_sub(self.clock.now().as_millis()));
        if left_ms.is_some_and(|left| left <= 0) {
            return Err(Invalid::field("until", "must be in the future").into());
        }
        if left_ms.is_some_and(|left| left > PIN_DAYS_MAX * DAY_MS) {
            return Err(Invalid::field("until", format!("must be at most {PIN_DAYS_MAX} days away")).into());
        }
        let detail = until.map(|until| until.to_string()).unwrap_or_default();
        self.change_pin(actor, &found, Pinning::Pin { until }, ActKind::ArticlePinned, detail).await
    }

    /// Takes the pin from an article (moderators of the board). Of one without a pin nothing changes.
    pub async fn unpin(&self, actor: &Actor, article: ArticleId) -> Result<Article, ArticleError> {
        let found = self.pinnable(actor, article).await?;
        self.change_pin(actor, &found, Pinning::Unpin, ActKind::ArticleUnpinned, String::new()).await
    }

    /// The pins of a board, in any order, those that are over included. While the store is away they are told as they were
    /// last: what stands on top of a list must not cost the list.
    pub async fn pins(&self, board: BoardId) -> Result<Arc<[Pin]>, StoreError> {
        let now = self.clock.now();
        let (cached, epoch) = self.pin_cache.find(board, now);
        let known = match cached {
            CachedPins::Fresh(pins) => return Ok(pins),
            CachedPins::Stale(pins) => Some(pins),
            CachedPins::Miss => None,
        };
        match (self.store.pins(board).await, known) {
            (Ok(pins), _) => {
                let pins: Arc<[Pin]> = pins.into();
                self.pin_cache.note(board, Arc::clone(&pins), now, epoch);
                Ok(pins)
            }
            (Err(StoreError::Unavailable { .. }), Some(known)) => {
                // As fresh as can be: not everybody who reads is to wait for a store that is away.
                self.pin_cache.note(board, Arc::clone(&known), now, epoch);
                Ok(known)
            }
            (Err(error), _) => Err(error),
        }
    }

    async fn pinnable(&self, actor: &Actor, article: ArticleId) -> Result<Article, ArticleError> {
        let found = self.get(article).await?;
        may(actor, Action::PinArticle, About::on(found.board_id, false))?;
        Ok(found)
    }

    async fn change_pin(
        &self,
        actor: &Actor,
        found: &Article,
        pinning: Pinning,
        kind: ActKind,
        detail: String,
    ) -> Result<Article, ArticleError> {
        let (article_id, pinned_at) = (found.article_id, self.clock.now());
        let act = Act::of(actor, self.next_id(article_id.shard())?, kind, article_id.raw(), pinned_at);
        let act = Act { board_id: Some(found.board_id), detail, ..act };
        let event_id = self.next_id(article_id.shard())?;
        let changed = self.store.pin(PinArticle { article_id, pinning, pinned_at, event_id, act }).await;
        // Whatever came of it: what was cached may be wrong now.
        self.pin_cache.forget(found.board_id);
        match changed? {
            PinOutcome::Done(article) => Ok(article),
            PinOutcome::Full => Err(ArticleError::TooManyPins),
            PinOutcome::Archived => Err(ArticleError::Archived),
            PinOutcome::Absent => Err(NO_ARTICLE),
        }
    }
}
