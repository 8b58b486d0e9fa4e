//! Answers of the owners of comments, likes and views.

use std::sync::Arc;

use axum::Router;
use madang_article_read::{CommentOwner, LikeOwner, ViewOwner};

use super::reply::{at_most, with};
use crate::wire::{COUNTS_MAX, CommentCountsOf, CountsAnswer, LikeCountsOf, ViewCountsOf};

pub(super) fn comments(router: Router, owner: &Arc<dyn CommentOwner>) -> Router {
    with(router, owner, |owner, CommentCountsOf { articles }| async move {
        at_most("articles", articles.len(), COUNTS_MAX)?;
        Ok(CountsAnswer { counts: owner.comment_counts(&articles).await? })
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
