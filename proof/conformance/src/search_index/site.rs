//! A small site to test on: documents by number, and hits as numbers.

use std::sync::Arc;

use madang_board::{ArticleId, BoardId, CommentId, MemberId};
use madang_event::Writer;
use madang_kernel::{Id, Timestamp};
use madang_messaging::{GroupId, Position};
use madang_search::{
    Change, Document, Filters, Offsets, Order, Query, SearchIndex, SearchRequest, SourceArticle, SourceComment,
};

use super::SearchIndexHarness;

pub(super) const TOPIC: &str = "madang.article.v1";

pub(super) struct Site<H> {
    pub(super) harness: H,
    pub(super) index: Arc<dyn SearchIndex>,
}

impl<H: SearchIndexHarness> Site<H> {
    /// On an index that has been filled: with nothing.
    pub(super) async fn open(harness: H) -> Self {
        let site = Self::unfilled(harness).await;
        let first = site.index.rebuild().await.unwrap().expect("a new index is being filled");
        assert!(site.index.finish_rebuild(first.number).await.unwrap());
        site
    }

    pub(super) async fn unfilled(harness: H) -> Self {
        harness.join(&group(), &[TOPIC.to_owned()]).await;
        let index = harness.index();
        Self { harness, index }
    }

    pub(super) async fn restart(&mut self) {
        self.harness.restart().await;
        self.index = self.harness.index();
    }

    pub(super) async fn apply(&self, changes: Vec<Change>) -> u64 {
        self.index.apply(changes, None).await.unwrap().changed
    }

    /// Everything that matches, newest first.
    pub(super) async fn newest(&self, typed: &str) -> Vec<i64> {
        self.all(typed, Filters::default(), Order::Newest, 50).await
    }

    /// Everything that matches, step by step.
    pub(super) async fn all(&self, typed: &str, filters: Filters, order: Order, limit: usize) -> Vec<i64> {
        let mut request = SearchRequest { query: Query::parse(typed).unwrap(), filters, order, after: None, limit };
        let mut ids = Vec::new();
        loop {
            let found = self.index.search(request.clone()).await.unwrap();
            assert!(found.hits.len() <= limit);
            ids.extend(found.hits.iter().map(|hit| hit.id));
            match found.hits.last() {
                Some(last) if !found.is_all => request.after = Some(last.cursor),
                _ => return ids,
            }
        }
    }

    pub(super) async fn is_partial(&self) -> bool {
        let query = Query::parse("anything").unwrap();
        let (filters, order) = (Filters::default(), Order::Newest);
        self.index.search(SearchRequest { query, filters, order, after: None, limit: 1 }).await.unwrap().partial
    }
}

pub(super) fn group() -> GroupId {
    GroupId::new("search")
}

pub(super) fn done(offset: i64) -> Offsets {
    Offsets { group: group(), positions: vec![Position { topic: TOPIC.to_owned(), partition: 0, offset }] }
}

fn writer(member: i64) -> Writer {
    Writer { member_id: MemberId::from_raw(member), name: "ann".to_owned() }
}

/// An article on board 1 by member 1, written as many milliseconds after the epoch as its number says.
pub(super) fn article(number: i64, version: u64, title: &str, text: &str) -> SourceArticle {
    SourceArticle {
        article_id: ArticleId::from_raw(number),
        board_id: BoardId::from_raw(1),
        title: title.to_owned(),
        content_html: html(text),
        writer: writer(1),
        created_at: Timestamp::from_millis(number),
        version,
    }
}

pub(super) fn put(number: i64, version: u64, title: &str, text: &str) -> Change {
    Change::Put(Box::new(Document::of_article(&article(number, version, title, text))))
}

pub(super) fn put_comment(number: i64, on: i64, version: u64, text: &str) -> Change {
    let comment = SourceComment {
        comment_id: CommentId::from_raw(number),
        article_id: ArticleId::from_raw(on),
        content_html: html(text),
        writer: writer(2),
        created_at: Timestamp::from_millis(number),
        version,
    };
    Change::Put(Box::new(Document::of_comment(&comment, BoardId::from_raw(1))))
}

pub(super) fn document(change: Change) -> Document {
    match change {
        Change::Put(document) => *document,
        other => panic!("{other:?} has no document"),
    }
}

pub(super) fn comment_gone(number: i64, on: i64, version: u64) -> Change {
    Change::CommentGone { comment_id: CommentId::from_raw(number), article_id: ArticleId::from_raw(on), version }
}

pub(super) fn article_gone(number: i64, version: u64) -> Change {
    Change::ArticleGone { article_id: ArticleId::from_raw(number), version }
}

fn html(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!("<p>{escaped}</p>\n")
}
