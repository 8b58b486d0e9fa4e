//! What the owners have committed; every change gives the event that reports it.

use std::collections::{BTreeMap, HashSet};

use madang_article_read::{ArticleText, Count, Discussion};
use madang_board::{ArticleId, BoardId, CommentId, MemberId, Pin};
use madang_event::{
    ArticleDeleted, ArticleLikes, ArticleLock, ArticleState, BoardCount, CommentChange, Envelope, Event, LastComment,
    Writer,
};
use madang_kernel::{EventId, Id, Timestamp};

/// The number of the board that most cases are about.
pub(crate) const BOARD: i64 = 9 << 16;

#[derive(Default)]
pub(crate) struct Truth {
    pub(crate) boards: BTreeMap<BoardId, BoardCount>,
    pub(crate) articles: BTreeMap<ArticleId, Owned>,
    pub(crate) gone: HashSet<ArticleId>,
    pub(crate) pins: Vec<Pin>,
    events: i64,
}

#[derive(Clone)]
pub(crate) struct Owned {
    pub(crate) text: ArticleText,
    pub(crate) comments: Discussion,
    pub(crate) likes: Count,
    pub(crate) views: u64,
}

impl Truth {
    /// A board without articles.
    pub(crate) fn open_board(&mut self, board: BoardId) {
        self.boards.insert(board, BoardCount { article_count: 0, version: 0 });
    }

    pub(crate) fn create(&mut self, board: BoardId, article: ArticleId, content: &str) -> Envelope {
        let board_count = self.recount(board, 1);
        let moment = Timestamp::from_millis(1_750_000_000_000);
        let state = ArticleState {
            article_id: article,
            board_id: board,
            title: format!("title of {article}"),
            content: content.to_owned(),
            content_html: format!("<p>{content}</p>"),
            writer: Writer { member_id: MemberId::from_raw(3), name: "마당".into() },
            created_at: moment,
            modified_at: moment,
            board_count,
        };
        let text = ArticleText::of(state.clone(), 1);
        let owned = Owned { text, comments: Discussion::default(), likes: Count::default(), views: 0 };
        assert!(self.articles.insert(article, owned).is_none() && !self.gone.contains(&article));
        self.event(article, 1, Event::ArticleCreated(state))
    }

    pub(crate) fn edit(&mut self, article: ArticleId) -> Option<Envelope> {
        let text = &mut self.articles.get_mut(&article)?.text;
        text.head.version += 1;
        text.head.title = format!("title of {article}, version {}", text.head.version);
        let (head, content, content_html) = (text.head.clone(), text.content.clone(), text.content_html.clone());
        let state = ArticleState {
            article_id: article,
            board_id: head.board_id,
            title: head.title,
            content,
            content_html,
            writer: head.writer,
            created_at: head.created_at,
            modified_at: head.modified_at,
            board_count: self.boards[&head.board_id],
        };
        Some(self.event(article, head.version, Event::ArticleEdited(state)))
    }

    pub(crate) fn delete(&mut self, article: ArticleId) -> Option<Envelope> {
        let head = self.articles.remove(&article)?.text.head;
        self.gone.insert(article);
        let board_count = self.recount(head.board_id, -1);
        let board_id = head.board_id;
        let deleted = ArticleDeleted { article_id: article, board_id, board_count, restorable: false };
        Some(self.event(article, head.version + 1, Event::ArticleDeleted(deleted)))
    }

    /// One comment more, or one fewer.
    pub(crate) fn comment(&mut self, article: ArticleId, by: i64) -> Option<Envelope> {
        let board_id = self.articles.get(&article)?.text.head.board_id;
        let comments = &mut self.articles.get_mut(&article)?.comments;
        comments.count = comments.count.checked_add_signed(by)?;
        comments.version += 1;
        // What is newest is another after each change, as long as there is one.
        comments.last = (comments.count > 0).then(|| LastComment {
            comment_id: CommentId::from_raw(comments.version as i64),
            writer: Writer { member_id: MemberId::from_raw(4), name: "바람".into() },
            created_at: Timestamp::from_millis(1_760_000_000_000 + by * comments.version as i64 + article.raw() % 7),
        });
        let count = comments.clone();
        let comment_id = CommentId::from_raw(9);
        let change = CommentChange {
            article_id: article,
            comment_id,
            parent_id: None,
            comment_count: count.count,
            locked: count.locked,
            board_id: Some(board_id),
            last: count.last.clone(),
        };
        Some(self.event(article, count.version, Event::CommentCreated(change)))
    }

    /// Closed to new comments, or open again.
    pub(crate) fn lock(&mut self, article: ArticleId, locked: bool) -> Option<Envelope> {
        let comments = &mut self.articles.get_mut(&article)?.comments;
        (comments.locked, comments.version) = (locked, comments.version + 1);
        let (comment_count, version, last) = (comments.count, comments.version, comments.last.clone());
        let lock = ArticleLock { article_id: article, comment_count, locked, last };
        Some(self.event(article, version, Event::ArticleLockChanged(lock)))
    }

    /// One like more, or one fewer.
    pub(crate) fn like(&mut self, article: ArticleId, by: i64) -> Option<Envelope> {
        let count = changed(&mut self.articles.get_mut(&article)?.likes, by)?;
        let likes = ArticleLikes { article_id: article, liked: vec![], unliked: vec![], like_count: count.count };
        Some(self.event(article, count.version, Event::ArticleLikesChanged(likes)))
    }

    /// The articles of a board, newest first.
    pub(crate) fn newest_first(&self, board: BoardId) -> impl Iterator<Item = &Owned> {
        self.articles.values().rev().filter(move |owned| owned.text.head.board_id == board)
    }

    fn recount(&mut self, board: BoardId, by: i64) -> BoardCount {
        let count = self.boards.entry(board).or_insert(BoardCount { article_count: 0, version: 0 });
        count.article_count = count.article_count.checked_add_signed(by).unwrap();
        count.version += 1;
        *count
    }

    fn event(&mut self, key: ArticleId, version: u64, event: Event) -> Envelope {
        self.events += 1;
        let occurred_at = Timestamp::from_millis(1_750_000_000_000);
        Envelope { event_id: EventId::from_raw(self.events), occurred_at, key, version, event }
    }
}

fn changed(count: &mut Count, by: i64) -> Option<Count> {
    count.count = count.count.checked_add_signed(by)?;
    count.version += 1;
    Some(*count)
}
