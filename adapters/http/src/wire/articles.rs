//! What is asked of the owner of articles.

use madang_article_read::{ArticleHead, ArticlePlace, ArticleText, NewestArticles};
use madang_board::{ArticleFacts, ArticleId, BoardId, Pin};
use madang_kernel::{Page, Scroll};

/// Articles whose texts one question may ask for.
pub(crate) const TEXTS_MAX: usize = 64;
/// Text that one answer carries, before escaping, beside its last article: whoever asked asks again for the rest.
pub(crate) const TEXTS_BYTES_MAX: usize = 2 * 1_024 * 1_024;
/// No article is larger: its text of 20,000 characters, the HTML made of it, the headline and a name.
pub(crate) const ARTICLE_BYTES_MAX: usize = 384 * 1_024;

message! {
    /// Whether an article exists, and how its comments are arranged.
    FactsOf { article_id: ArticleId } at "/internal/v1/articles/facts" => FactsAnswer
}
message! {
    /// `None` when there is no such article.
    FactsAnswer { facts: Option<ArticleFacts> }
}

message! {
    /// The texts of articles.
    TextsOf { articles: Vec<ArticleId> } at "/internal/v1/articles/texts" => TextsAnswer
}
message! {
    /// The texts of the first of those asked for, at least one, in the order asked; `None` for one that does not exist.
    TextsAnswer { articles: Vec<Option<ArticleText>> }
}

message! {
    /// The newest articles of a board.
    NewestOf { board_id: BoardId, limit: u32 } at "/internal/v1/articles/newest" => NewestAnswer
}
message! {
    /// `None` when there is no such board.
    NewestAnswer { newest: Option<NewestArticles> }
}

message! {
    /// A numbered page of a board.
    PageOf { board_id: BoardId, page: u32, page_size: u32 } at "/internal/v1/articles/page" => PageAnswer
}
message! {
    /// `None` when there is no such board.
    PageAnswer { page: Option<Page<ArticleHead>> }
}

message! {
    /// The articles of a board before a cursor, or its newest.
    ScrollOf { board_id: BoardId, before: Option<ArticleId>, limit: u32 } at "/internal/v1/articles/scroll" => ScrollAnswer
}
message! {
    /// `None` when there is no such board.
    ScrollAnswer { step: Option<Scroll<ArticleHead, ArticleId>> }
}

message! {
    /// What is pinned on a board.
    PinsOf { board_id: BoardId } at "/internal/v1/articles/pins" => PinsAnswer
}
message! {
    /// None where there is no such board.
    PinsAnswer { pins: Vec<Pin> }
}

message! {
    /// The newest articles of all boards before a cursor.
    SiteNewestOf { before: Option<ArticleId>, limit: u32 } at "/internal/v1/articles/site-newest" => SiteNewestAnswer
}
message! {
    /// Newest first.
    SiteNewestAnswer { places: Vec<ArticlePlace> }
}

message! {
    /// Where articles stand.
    PlacesOf { articles: Vec<ArticleId> } at "/internal/v1/articles/places" => PlacesAnswer
}
message! {
    /// One for each article, in the order asked; `None` for one that does not exist.
    PlacesAnswer { places: Vec<Option<ArticlePlace>> }
}
