//! The events that report a change of an article, built inside the transaction that makes it: only there are the
//! board's count and the moment known. Key and version are decided here, once for every adapter.

use madang_board::{ArticleId, BoardId};
use madang_event::{ArticleDeleted, ArticleState, BoardCount, Envelope, Event};
use madang_kernel::{EventId, Timestamp};

use crate::Article;

/// Reports a new article; `board_count` is the count with it.
pub fn created(article: &Article, event_id: EventId, occurred_at: Timestamp, board_count: BoardCount) -> Envelope {
    of_state(article, event_id, occurred_at, Event::ArticleCreated(state(article, board_count)))
}

/// Reports an article as it stands after an edit; `board_count` is the unchanged count with its version.
pub fn edited(article: &Article, event_id: EventId, occurred_at: Timestamp, board_count: BoardCount) -> Envelope {
    of_state(article, event_id, occurred_at, Event::ArticleEdited(state(article, board_count)))
}

/// Reports an article that is back after a moderator had removed it; `board_count` is the count with it.
pub fn restored(article: &Article, event_id: EventId, occurred_at: Timestamp, board_count: BoardCount) -> Envelope {
    of_state(article, event_id, occurred_at, Event::ArticleRestored(state(article, board_count)))
}

/// An article as it stood when it was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Removed {
    /// The article.
    pub article_id: ArticleId,
    /// The board it was on.
    pub board_id: BoardId,
    /// Its last version; the event takes the one above, so that nothing late outranks the deletion.
    pub last_version: u64,
    /// Whether it may come back.
    pub restorable: bool,
}

/// Reports that an article is gone; `board_count` is the count without it.
pub fn deleted(removed: Removed, event_id: EventId, occurred_at: Timestamp, board_count: BoardCount) -> Envelope {
    let Removed { article_id, board_id, last_version, restorable } = removed;
    Envelope {
        event_id,
        occurred_at,
        key: article_id,
        version: last_version.saturating_add(1),
        event: Event::ArticleDeleted(ArticleDeleted { article_id, board_id, board_count, restorable }),
    }
}

fn of_state(article: &Article, event_id: EventId, occurred_at: Timestamp, event: Event) -> Envelope {
    Envelope { event_id, occurred_at, key: article.article_id, version: article.version, event }
}

fn state(article: &Article, board_count: BoardCount) -> ArticleState {
    ArticleState {
        article_id: article.article_id,
        board_id: article.board_id,
        title: article.title.clone(),
        content: article.content.clone(),
        content_html: article.content_html.clone(),
        writer: article.writer.clone(),
        created_at: article.created_at,
        modified_at: article.modified_at,
        board_count,
    }
}

#[cfg(test)]
mod tests {
    use madang_board::MemberId;
    use madang_event::Writer;
    use madang_kernel::Id;

    use super::*;

    const COUNT: BoardCount = BoardCount { article_count: 4, version: 9 };

    fn article(version: u64) -> Article {
        Article {
            article_id: ArticleId::from_raw(77),
            board_id: BoardId::from_raw(5),
            title: "제목".into(),
            content: "**본문**".into(),
            content_html: "<p><strong>본문</strong></p>".into(),
            writer: Writer { member_id: MemberId::from_raw(3), name: "마당".into() },
            created_at: Timestamp::from_millis(1_704_067_200_000),
            modified_at: Timestamp::from_millis(1_704_067_201_000),
            version,
        }
    }

    #[test]
    fn key_and_version_are_the_articles() {
        let now = Timestamp::from_millis(1_704_067_202_000);
        for (version, build) in [(1, created as fn(&_, _, _, _) -> _), (7, edited as fn(&_, _, _, _) -> _)] {
            let envelope: Envelope = build(&article(version), EventId::from_raw(8), now, COUNT);
            assert_eq!((envelope.key, envelope.version), (ArticleId::from_raw(77), version));
            assert_eq!(Envelope::decode(&envelope.encode()).unwrap(), envelope);
        }
    }

    #[test]
    fn a_deletion_outranks_every_version_before_it() {
        let article = article(7);
        let removed = Removed {
            article_id: article.article_id,
            board_id: article.board_id,
            last_version: article.version,
            restorable: true,
        };
        let now = Timestamp::from_millis(1_704_067_202_000);
        let envelope = deleted(removed, EventId::from_raw(9), now, COUNT);
        assert_eq!((envelope.key, envelope.version), (article.article_id, 8));
        assert_eq!(Envelope::decode(&envelope.encode()).unwrap(), envelope);
    }
}
