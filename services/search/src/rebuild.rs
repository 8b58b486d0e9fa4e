//! Rebuilding an index from the owners of the texts, while the log goes on: articles board by board, then comments article by
//! article. It goes on where it was interrupted.

use std::fmt;
use std::str::FromStr;

use madang_board::{ArticleId, BoardId};
use madang_kernel::{Id, StoreError};

use crate::source::{SLICE, Source, documents_in_portions};
use crate::{Change, Document, Rebuild, SearchIndex};

/// What a rebuild did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rebuilt {
    /// Documents that were indexed since it was begun, or since it went on.
    pub documents: u64,
    /// Whether it came to its end; otherwise another one has begun.
    pub is_whole: bool,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The articles of boards up to this one, and of this one down to the article.
    Articles(BoardId, ArticleId),
    /// All articles, and the comments of articles up to this one.
    Comments(Option<ArticleId>),
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Articles(board, article) => write!(f, "articles {board} {article}"),
            Self::Comments(Some(article)) => write!(f, "comments {article}"),
            Self::Comments(None) => f.write_str("comments"),
        }
    }
}

impl FromStr for Stage {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        let unreadable = || StoreError::broken("search index", format!("{text:?} is no place in a rebuild"));
        let parts: Vec<&str> = text.split(' ').collect();
        match parts[..] {
            ["articles", board, article] => {
                Ok(Self::Articles(board.parse().map_err(|_| unreadable())?, article.parse().map_err(|_| unreadable())?))
            }
            ["comments"] => Ok(Self::Comments(None)),
            ["comments", article] => Ok(Self::Comments(Some(article.parse().map_err(|_| unreadable())?))),
            _ => Err(unreadable()),
        }
    }
}

/// Makes one rebuild.
pub(crate) struct Rebuilder<'a> {
    pub(crate) index: &'a dyn SearchIndex,
    pub(crate) source: &'a Source,
    pub(crate) number: u64,
    pub(crate) documents: u64,
}

impl<'a> Rebuilder<'a> {
    pub(crate) fn new(index: &'a dyn SearchIndex, source: &'a Source, number: u64) -> Self {
        Self { index, source, number, documents: 0 }
    }

    /// Goes on to the end, or until another rebuild begins.
    pub(crate) async fn run(mut self, rebuild: &Rebuild) -> Result<Rebuilt, StoreError> {
        let is_whole = self.walk(rebuild).await? && self.index.finish_rebuild(self.number).await?;
        Ok(Rebuilt { documents: self.documents, is_whole })
    }

    async fn walk(&mut self, rebuild: &Rebuild) -> Result<bool, StoreError> {
        let stage = rebuild.cursor.as_deref().map(Stage::from_str).transpose()?;
        let commented = match stage {
            Some(Stage::Comments(after)) => after,
            Some(Stage::Articles(board, before)) => {
                if !self.articles(Some((board, before))).await? {
                    return Ok(false);
                }
                None
            }
            None => {
                if !self.articles(None).await? {
                    return Ok(false);
                }
                None
            }
        };
        self.comments(commented).await
    }

    async fn articles(&mut self, from: Option<(BoardId, ArticleId)>) -> Result<bool, StoreError> {
        let mut boards = self.source.0.boards().await?;
        boards.sort_unstable_by_key(|board| board.raw());
        for board in boards.into_iter().filter(|board| from.is_none_or(|(from, _)| board.raw() >= from.raw())) {
            let mut before = from.filter(|(from, _)| *from == board).map(|(_, article)| article);
            loop {
                let ids = self.source.0.articles_before(board, before).await?;
                let Some(last) = ids.last().copied() else { break };
                for slice in ids.chunks(SLICE) {
                    let documents = self.source.readable(slice).await?;
                    let done = slice.last().copied().unwrap_or(last);
                    if !self.add(documents, Stage::Articles(board, done)).await? {
                        return Ok(false);
                    }
                }
                before = Some(last);
            }
        }
        self.add(Vec::new(), Stage::Comments(None)).await
    }

    async fn comments(&mut self, mut after: Option<ArticleId>) -> Result<bool, StoreError> {
        loop {
            let articles = self.source.0.commented_after(after).await?;
            let Some(last) = articles.last().copied() else { return Ok(true) };
            for article in articles {
                let (mut next, done) = (None, Stage::Comments(after));
                loop {
                    let (changes, further) = self.source.comments_of(article, next).await?;
                    let documents = changes.into_iter().filter_map(document).collect();
                    if !self.add(documents, done).await? {
                        return Ok(false);
                    }
                    let Some(further) = further else { break };
                    next = Some(further);
                }
                after = Some(article);
            }
            after = Some(last);
        }
    }

    /// Adds documents in portions; the place counts once all of them are there.
    async fn add(&mut self, documents: Vec<Document>, done: Stage) -> Result<bool, StoreError> {
        self.documents += documents.len() as u64;
        for portion in documents_in_portions(documents) {
            if !self.index.add_rebuilt(self.number, portion, None).await? {
                return Ok(false);
            }
        }
        self.index.add_rebuilt(self.number, Vec::new(), Some(done.to_string())).await
    }
}

fn document(change: Change) -> Option<Document> {
    match change {
        Change::Put(document) => Some(*document),
        Change::CommentGone { .. } | Change::ArticleGone { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_back_as_it_is_written() {
        let (board, article) = (BoardId::from_raw(3), ArticleId::from_raw(7));
        for stage in [Stage::Articles(board, article), Stage::Comments(None), Stage::Comments(Some(article))] {
            assert_eq!(stage.to_string().parse::<Stage>().unwrap(), stage);
        }
        assert!("somewhere".parse::<Stage>().is_err() && "articles 1".parse::<Stage>().is_err());
    }
}
