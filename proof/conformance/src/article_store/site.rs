//! A small site to test on: makes boards, articles and events with ids in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use madang_article::{
    Article, ArticleHead, ArticleStore, Board, CommentMode, CreateArticle, CreateBoard, CreateOutcome, DeleteArticle,
    DeleteOutcome, EditArticle, EditOutcome, NewBoard,
};
use madang_board::{ArticleId, BoardId, MemberId};
use madang_event::{Envelope, Writer};
use madang_kernel::{Created, EventId, Id, Idempotency, Page, PageNumber, PageSize, Timestamp};

use super::ArticleStoreHarness;

/// Ids of articles start here, so that there is room for late small ones below.
pub(super) const FIRST_ARTICLE: i64 = 1 << 40;
/// An id of the millisecond before, with the same shard: every article carries the shard of its board.
pub(super) const LATE_ARTICLE: i64 = FIRST_ARTICLE - (1 << 22);
/// The bits of an id that tell its shard; 0 is the boards' here.
pub(super) const SHARD_MASK: i64 = 63 << 16;

pub(super) struct Site<H> {
    pub(super) harness: H,
    pub(super) store: Arc<dyn ArticleStore>,
    pub(super) board: BoardId,
    next: AtomicI64,
}

impl<H: ArticleStoreHarness> Site<H> {
    /// A site with one board.
    pub(super) async fn open(harness: H) -> Self {
        let store = harness.store();
        let site = Self { harness, store, board: BoardId::from_raw(1), next: AtomicI64::new(0) };
        site.add_board(1, "general").await;
        site
    }

    pub(super) async fn add_board(&self, id: i64, slug: &str) -> BoardId {
        let made = self.store.create_board(NewBoard { board: board(id, slug), idempotency: None }).await.unwrap();
        assert_eq!(made, CreateBoard::Created(Created::Now(board(id, slug))));
        BoardId::from_raw(id)
    }

    /// An article that is not yet stored, with the next id.
    pub(super) fn draft(&self) -> CreateArticle {
        self.draft_at(self.next_id(), self.board)
    }

    pub(super) fn draft_at(&self, id: i64, board: BoardId) -> CreateArticle {
        let article = Article {
            article_id: ArticleId::from_raw(id),
            board_id: board,
            title: format!("title {id}"),
            content: format!("*content* {id}"),
            content_html: format!("<p><em>content</em> {id}</p>"),
            writer: Writer { member_id: MemberId::from_raw(7), name: "마당".into() },
            created_at: Timestamp::from_millis(1_750_000_000_000 + id % 1_000),
            modified_at: Timestamp::from_millis(1_750_000_000_000 + id % 1_000),
            version: 1,
        };
        CreateArticle { article, event_id: self.event_id(), idempotency: None }
    }

    pub(super) async fn create(&self) -> Article {
        self.create_from(self.draft()).await
    }

    pub(super) async fn create_from(&self, new: CreateArticle) -> Article {
        let expected = new.article.clone();
        assert_eq!(self.store.create(new).await.unwrap(), CreateOutcome::Created(Created::Now(expected.clone())));
        expected
    }

    pub(super) fn edit_of(&self, article: ArticleId, title: &str, expected_version: Option<u64>) -> EditArticle {
        EditArticle {
            article_id: article,
            title: title.to_owned(),
            content: format!("{title}, edited"),
            content_html: format!("<p>{title}, edited</p>"),
            modified_at: Timestamp::from_millis(1_760_000_000_000),
            expected_version,
            event_id: self.event_id(),
            act: None,
        }
    }

    pub(super) async fn edit(&self, article: ArticleId, title: &str) -> Article {
        match self.store.edit(self.edit_of(article, title, None)).await.unwrap() {
            EditOutcome::Edited(article) => article,
            other => panic!("{other:?}"),
        }
    }

    pub(super) async fn delete(&self, article: ArticleId) -> DeleteOutcome {
        self.delete_at(article, None).await
    }

    pub(super) async fn delete_at(&self, article: ArticleId, expected_version: Option<u64>) -> DeleteOutcome {
        let delete = DeleteArticle { article_id: article, expected_version, event_id: self.event_id(), act: None };
        self.store.delete(delete).await.unwrap()
    }

    pub(super) async fn page(&self, number: i64, size: i64) -> Page<ArticleHead> {
        self.store.page(self.board, page_number(number), page_size(size)).await.unwrap()
    }

    pub(super) async fn count(&self) -> u64 {
        self.count_of(self.board).await
    }

    pub(super) async fn count_of(&self, board: BoardId) -> u64 {
        self.store.find_board(board).await.unwrap().unwrap().article_count
    }

    /// The committed events, decoded.
    pub(super) async fn events(&self) -> Vec<Envelope> {
        let messages = self.harness.committed().await;
        messages.iter().map(|message| Envelope::decode(&message.payload).unwrap()).collect()
    }

    pub(super) async fn assert_sound(&self) {
        assert_eq!(self.harness.differences().await, Vec::<String>::new());
    }

    pub(super) fn event_id(&self) -> EventId {
        EventId::from_raw(self.next_id())
    }

    pub(super) fn next_id(&self) -> i64 {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        // Past the bits below the shard the next millisecond begins: every id carries the shard of the board.
        FIRST_ARTICLE + ((number >> 16) << 22) + (number & 0xffff)
    }
}

pub(super) fn board(id: i64, slug: &str) -> Board {
    Board {
        board_id: BoardId::from_raw(id),
        slug: slug.to_owned(),
        title: format!("Board {slug} 🌳"),
        comment_mode: if id % 2 == 0 { CommentMode::Tree } else { CommentMode::TwoLevel },
        description: String::new(),
        position: 0,
        created_at: Timestamp::from_millis(1_740_000_000_000 + id),
    }
}

pub(super) fn idempotency(member: i64, scope: &str, key: &str, body: u8) -> Option<Idempotency> {
    Some(Idempotency { caller: member, scope: scope.to_owned(), key: key.to_owned(), fingerprint: [body; 32] })
}

pub(super) fn page_size(size: i64) -> PageSize {
    PageSize::new("page_size", size).unwrap()
}

pub(super) fn page_number(number: i64) -> PageNumber {
    PageNumber::new("page", number).unwrap()
}

pub(super) fn ids(items: &[ArticleHead]) -> Vec<i64> {
    items.iter().map(|item| item.article_id.raw()).collect()
}
