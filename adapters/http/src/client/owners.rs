//! The ports that peers stand behind: questions for many are cut into what one call may ask.

use std::sync::Arc;

use async_trait::async_trait;
use madang_article_read::{
    ActiveArticle, ArticleHead, ArticleOwner, ArticlePlace, ArticleText, CommentOwner, Count, Discussion, LikeOwner,
    NewestArticles, ViewOwner,
};
use madang_board::{ArticleFacts, ArticleId, ArticleLookup, BoardId, Pin};
use madang_kernel::{Page, PageNumber, PageSize, Scroll, StoreError, Timestamp};
use madang_member::{Revocation, RevocationCursor, RevocationSource};

use super::HttpPeers;
use super::group::Group;
use crate::wire::{
    ActiveOf, COUNTS_MAX, CommentCountsOf, CountsAnswer, LikeCountsOf, NewestOf, PageOf, PlacesOf, Question,
    RevocationsAfter, ScrollOf, SiteNewestOf, TEXTS_MAX, TextsOf, ViewCountsOf,
};

#[async_trait]
impl ArticleLookup for HttpPeers {
    async fn facts(&self, article: ArticleId) -> Result<Option<ArticleFacts>, StoreError> {
        self.facts.of(article).await
    }

    /// Asks for the texts, which no cache answers.
    async fn exist(&self, articles: &[ArticleId]) -> Result<Vec<bool>, StoreError> {
        Ok(self.articles(articles).await?.iter().map(Option::is_some).collect())
    }
}

#[async_trait]
impl ArticleOwner for HttpPeers {
    async fn articles(&self, articles: &[ArticleId]) -> Result<Vec<Option<ArticleText>>, StoreError> {
        let mut texts = Vec::with_capacity(articles.len());
        // An answer may hold fewer than asked, where they are large.
        while texts.len() < articles.len() {
            let left = &articles[texts.len()..];
            let wanted = &left[..left.len().min(TEXTS_MAX)];
            let answer = self.articles.ask(&TextsOf { articles: wanted.to_vec() }).await?.articles;
            if answer.is_empty() || answer.len() > wanted.len() {
                return Err(miscounted(&self.articles));
            }
            texts.extend(answer);
        }
        Ok(texts)
    }

    async fn newest(&self, board: BoardId, limit: usize) -> Result<Option<NewestArticles>, StoreError> {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        Ok(self.articles.ask(&NewestOf { board_id: board, limit }).await?.newest)
    }

    async fn site_newest(&self, before: Option<ArticleId>, limit: usize) -> Result<Vec<ArticlePlace>, StoreError> {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        Ok(self.articles.ask(&SiteNewestOf { before, limit }).await?.places)
    }

    async fn places(&self, articles: &[ArticleId]) -> Result<Vec<Option<ArticlePlace>>, StoreError> {
        let mut places = Vec::with_capacity(articles.len());
        for chunk in articles.chunks(COUNTS_MAX) {
            let answer = self.articles.ask(&PlacesOf { articles: chunk.to_vec() }).await?.places;
            if answer.len() != chunk.len() {
                return Err(miscounted(&self.articles));
            }
            places.extend(answer);
        }
        Ok(places)
    }

    async fn pins(&self, board: BoardId) -> Result<Arc<[Pin]>, StoreError> {
        self.pins.of(board).await
    }

    async fn page(
        &self,
        board: BoardId,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Option<Page<ArticleHead>>, StoreError> {
        let question = PageOf { board_id: board, page: page.get(), page_size: size.get() };
        Ok(self.articles.ask(&question).await?.page)
    }

    async fn scroll(
        &self,
        board: BoardId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Option<Scroll<ArticleHead, ArticleId>>, StoreError> {
        let question = ScrollOf { board_id: board, before, limit: size.get() };
        Ok(self.articles.ask(&question).await?.step)
    }
}

#[async_trait]
impl CommentOwner for HttpPeers {
    async fn comment_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Discussion>>, StoreError> {
        counts(&self.comments, articles, |articles| CommentCountsOf { articles }).await
    }

    async fn active(
        &self,
        board: Option<BoardId>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<ActiveArticle>, StoreError> {
        let (until_ms, limit) = (until.as_millis(), u32::try_from(limit).unwrap_or(u32::MAX));
        Ok(self.comments.ask(&ActiveOf { board_id: board, until_ms, limit }).await?.active)
    }
}

#[async_trait]
impl LikeOwner for HttpPeers {
    async fn like_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Count>>, StoreError> {
        counts(&self.likes, articles, |articles| LikeCountsOf { articles }).await
    }
}

#[async_trait]
impl ViewOwner for HttpPeers {
    async fn view_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<u64>>, StoreError> {
        counts(&self.views, articles, |articles| ViewCountsOf { articles }).await
    }
}

#[async_trait]
impl RevocationSource for HttpPeers {
    async fn revocations_after(
        &self,
        after: RevocationCursor,
        limit: usize,
    ) -> Result<(Vec<Revocation>, RevocationCursor), StoreError> {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        let answer = self.members.ask(&RevocationsAfter { after: after.0, limit }).await?;
        Ok((answer.revocations, RevocationCursor(answer.next)))
    }
}

async fn counts<C, Q: Question<Answer = CountsAnswer<C>>>(
    group: &Group,
    articles: &[ArticleId],
    question: impl Fn(Vec<ArticleId>) -> Q + Send,
) -> Result<Vec<Option<C>>, StoreError> {
    let mut counts = Vec::with_capacity(articles.len());
    for chunk in articles.chunks(COUNTS_MAX) {
        let answer = group.ask(&question(chunk.to_vec())).await?.counts;
        if answer.len() != chunk.len() {
            return Err(miscounted(group));
        }
        counts.extend(answer);
    }
    Ok(counts)
}

fn miscounted(group: &Group) -> StoreError {
    StoreError::broken(group.role(), "a peer answered for more or fewer articles than asked")
}
