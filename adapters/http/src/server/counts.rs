//! Answers of the owners of comments, likes and views.

use std::sync::Arc;

use axum::Router;
use madang_article_read::{CommentOwner, LikeOwner, RANKING_MAX, ViewOwner};
use madang_kernel::Timestamp;

use super::reply::{at_most, with};
use crate::wire::{ActiveAnswer, ActiveOf, COUNTS_MAX, CommentCountsOf, CountsAnswer, LikeCountsOf, ViewCountsOf};

pub(super) fn comments(router: Router, owner: &Arc<dyn CommentOwner>) -> Router {
    let router = with(router, owner, |owner, CommentCountsOf { articles }| async move {
        at_most("articles", articles.len(), COUNTS_MAX)?;
        Ok(CountsAnswer { counts: owner.comment_counts(&articles).await? })
    });
    with(router, owner, |owner, ActiveOf { board_id, until_ms, limit }| async move {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        at_most("limit", limit, RANKING_MAX)?;
        let until = Timestamp::from_millis(until_ms);
        Ok(ActiveAnswer { active: owner.active(board_id, until, limit).await? })
    })
}

pub(super) fn likes(router: Router, owner: &Arc<dyn LikeOwner>) -> Router {
    with(router, owner, |owner, LikeCountsOf { articles }| async move {
        at_most("articles", articles.len(), COUNTS_MAX)?;
        Ok(CountsAnswer { counts: owner.like_counts(&articles).await? })
    })
}

pub(super) fn views(router: Router, owner: &Arc<dyn ViewOwner>) -> Router {
    with(router, owner, |owner, ViewCountsOf { articles }| async move {
        at_most("articles", articles.len(), COUNTS_MAX)?;
        Ok(CountsAnswer { counts: owner.view_counts(&articles).await? })
    })
}
