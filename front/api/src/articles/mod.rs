//! Articles: write, read, edit, delete, restore, pin, lock.

pub(crate) mod body;
mod by_writer;
mod list;
mod lock;
mod pin;
mod restore;

use axum::extract::State;
use axum::response::Response;
use madang_board::{ArticleId, BoardId, Reason};

use self::body::{ArticleBody, Counts, Deletion, DraftBody};
pub(crate) use self::by_writer::{__path_by_writer, by_writer};
pub(crate) use self::list::{__path_articles, __path_site_articles, articles, site_articles};
pub(crate) use self::lock::{__path_lock, __path_unlock, lock, unlock};
pub(crate) use self::pin::{__path_pin, __path_unpin, pin, unpin};
pub(crate) use self::restore::{__path_restore, restore};
use crate::article_cache::ArticleCacheKey;
use crate::extract::{IdempotencyKey, IfMatch, Json, OptionalJson, PathId, Reader, Signed};
use crate::openapi::{Changed, Conflict, IdText};
use crate::state::{ArticleCalls, ReadCalls, Shared};
use crate::{ApiError, reply};

/// Write an article.
#[utoipa::path(
    post, path = "/api/v1/boards/{board_id}/articles", operation_id = "create_article", tag = "articles", request_body = DraftBody,
    security(("bearer" = []), ("cookie" = [])),
    params(
        ("board_id" = IdText, Path, description = "The board"),
        ("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 64, pattern = "^[!-~]{1,64}$",
            description = "The same key with the same body within 24 hours has one effect and the same answer"),
    ),
    responses(
        (status = 201, description = "The article", body = ArticleBody, headers(
            ("Location" = String, description = "Where the article is"),
            ("ETag" = String, description = "Goes into If-Match of an edit"),
        )),
        (status = 409, response = Conflict),
    ),
)]
pub(crate) async fn create(
    State(api): State<Shared<ArticleCalls>>,
    PathId(board): PathId<BoardId>,
    Signed(session): Signed,
    key: IdempotencyKey,
    body: Json<DraftBody>,
) -> Result<Response, ApiError> {
    let idempotency = key.idempotency(&session.actor, || format!("POST /api/v1/boards/{board}/articles"), &body.bytes);
    let article = api.articles.create(&session.actor, board, body.value.into(), idempotency).await?;
    let counts = Counts::default();
    let article = ArticleBody::written(&article, &counts);
    reply::created(&format!("/api/v1/articles/{}", article.article_id), Some(article.tag()), &article)
}

/// One article.
#[utoipa::path(
    get, path = "/api/v1/articles/{article_id}", operation_id = "read_article", tag = "articles",
    params(
        ("article_id" = IdText, Path, description = "The article"),
        ("If-None-Match" = Option<String>, Header, description = "ETags the caller has already"),
    ),
    responses(
        (status = 200, description = "The article", body = ArticleBody, headers(("ETag" = String, description = "Changes with the body; goes into If-Match of an edit"))),
        (status = 304, description = "As the caller has it"),
    ),
)]
pub(crate) async fn article(
    State(api): State<Shared<ReadCalls>>,
    PathId(article): PathId<ArticleId>,
    reader: Reader,
) -> Result<Response, ApiError> {
    let miss = match api.cached(ArticleCacheKey::Article(article)) {
        Ok(cached) => return Ok(reply::cached(&reader, &cached)),
        Err(miss) => miss,
    };
    let read = api.read.article(article).await?.ok_or(ApiError::NotFound("article"))?;
    let article = ArticleBody::read(&read);
    let (body, tag) = (reply::encode(&article, article.json_bytes())?, reply::text(&article.tag())?);
    reply::rendered(&reader, api.cache(miss, body, Some(tag))).await
}

/// Edit an article (its author, or a moderator).
#[utoipa::path(
    put, path = "/api/v1/articles/{article_id}", operation_id = "edit_article", tag = "articles", request_body = DraftBody,
    security(("bearer" = []), ("cookie" = [])),
    params(
        ("article_id" = IdText, Path, description = "The article"),
        ("If-Match" = Option<String>, Header,
            pattern = r#"^(?:\*|(?:W/)?"[!#-+\--~]*"(?: ?, ?(?:W/)?"[!#-+\--~]*"){0,15})$"#, description = "The ETag of the version that was edited: refused with 412 if \
            someone else was faster. Counts in the tag do not matter here"),
    ),
    responses(
        (status = 200, description = "The article as it is now", body = ArticleBody, headers(("ETag" = String, description = "Goes into If-Match of the next edit"))),
        (status = 409, response = Conflict),
        (status = 412, response = Changed),
    ),
)]
pub(crate) async fn edit(
    State(api): State<Shared<ArticleCalls>>,
    PathId(article): PathId<ArticleId>,
    Signed(session): Signed,
    versions: IfMatch,
    body: Json<DraftBody>,
) -> Result<Response, ApiError> {
    let expected = expected_version(&api, article, &versions).await?;
    let edited = api.articles.edit(&session.actor, article, body.value.into(), expected).await?;
    // Deleted right after the edit: the caller learns of the edit all the same.
    let counts = api.read.article(article).await?.as_ref().map(Counts::from).unwrap_or_default();
    let article = ArticleBody::written(&edited, &counts);
    reply::changed(&article.tag(), &article)
}

/// Delete an article (its author, or a moderator). What a moderator removes can be restored for 30 days.
#[utoipa::path(
    delete, path = "/api/v1/articles/{article_id}", operation_id = "delete_article", tag = "articles", request_body = Option<Deletion>,
    security(("bearer" = []), ("cookie" = [])),
    params(
        ("article_id" = IdText, Path, description = "The article"),
        ("If-Match" = Option<String>, Header,
            pattern = r#"^(?:\*|(?:W/)?"[!#-+\--~]*"(?: ?, ?(?:W/)?"[!#-+\--~]*"){0,15})$"#, description = "The ETag of the version that \
            is to be deleted: refused with 412 if someone changed it meanwhile. Counts in the tag do not matter here"),
    ),
    responses(
        (status = 204, description = "Gone"),
        (status = 409, response = Conflict),
        (status = 412, response = Changed),
    ),
)]
pub(crate) async fn delete(
    State(api): State<Shared<ArticleCalls>>,
    PathId(article): PathId<ArticleId>,
    Signed(session): Signed,
    versions: IfMatch,
    OptionalJson(deletion): OptionalJson<Deletion>,
) -> Result<Response, ApiError> {
    let reason = deletion.and_then(|deletion| deletion.reason);
    let expected = expected_version(&api, article, &versions).await?;
    api.articles.delete(&session.actor, article, Reason::optional(reason.as_deref())?, expected).await?;
    Ok(reply::no_content())
}

async fn expected_version(api: &ArticleCalls, article: ArticleId, versions: &IfMatch) -> Result<Option<u64>, ApiError> {
    versions.expected(async { Ok(api.articles.get(article).await?.version) }).await
}
