//! Puts the routes together and admission control in front of them. The description is always whole, also where a process serves
//! only some of the calls.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, get, on};
use bytes::Bytes;
use madang_server::{Admission, OPERATIONS_PATHS, Pages, RefusalPages, RequestMetrics, RequestPolicy, is_for_a_person};
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Description;
use utoipa::openapi::path::PathItem;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use utoipa_swagger_ui::{Config, SwaggerUi};

use crate::completed::completed;
use crate::openapi::ApiDoc;
use crate::state::{CommentCalls, LikeCalls, MemberCalls, ModerationCalls, Operators, Served, Shared};
use crate::{
    ApiError, ApiState, ArticleCalls, HotCalls, ReadCalls, ViewCalls, articles, boards, comments, hot_articles, likes,
    members, moderation, operations, sessions, supervision, views,
};

/// `/readyz` asks every part; a part that does not answer is not ready.
const OPERATIONS_TIMEOUT: Duration = Duration::from_secs(5);

/// Swagger UI writes styles from its script and draws icons from data; everything comes from this process.
const DOCS_CSP: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
     font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// The page around Swagger UI, in place of its own, which has no viewport and no title of ours.
const DOCS_PAGE: &str = include_str!("docs.html");

/// The API, its description, and whether the process is alive; all that operators ask only if that is to be public.
pub fn router(state: ApiState) -> Router {
    assembled(state, Router::new(), None)
}

/// The same with pages for people beside it, behind the same admission control. The pages must not have a fallback of their own.
pub fn router_with_pages(state: ApiState, pages: Pages) -> Router {
    assembled(state, pages.router, Some(pages.refusals))
}

fn assembled(state: ApiState, pages: Router, refusals: Option<Arc<dyn RefusalPages>>) -> Router {
    let policy = state.policy.clone();
    let (operators, is_watched_here) = (Operators::of(&state), state.operations_public);
    let Assembly { router: api, description, .. } = assemble(state);
    let description = completed(description);
    let known = description.paths.paths.keys().cloned();
    let metrics = Arc::new(RequestMetrics::new(known.chain(OPERATIONS_PATHS.map(str::to_owned))));
    let unlimited = unlimited(&policy);
    let public = api
        .merge(docs(&description))
        .merge(pages)
        .method_not_allowed_fallback(wrong_method)
        .fallback({
            let refusals = refusals.clone();
            async move |request: Request| no_such_address(refusals.as_deref(), request)
        })
        .layer(Admission::with_pages(policy, metrics.clone(), refusals));
    let operations =
        if is_watched_here { operations::health().merge(operations::watching()) } else { operations::health() };
    let operations = operations
        .with_state(operators)
        .method_not_allowed_fallback(wrong_method)
        .layer(Admission::new(unlimited, metrics));
    public.merge(operations)
}

/// What operators ask, for a listener of its own.
pub fn operations_router(state: &ApiState) -> Router {
    let metrics = Arc::new(RequestMetrics::new(OPERATIONS_PATHS.map(str::to_owned)));
    operations::health()
        .merge(operations::watching())
        .with_state(Operators::of(state))
        .method_not_allowed_fallback(wrong_method)
        .fallback(async || ApiError::NotFound("address").into_response())
        .layer(Admission::new(unlimited(&state.policy), metrics))
}

fn unlimited(policy: &RequestPolicy) -> RequestPolicy {
    RequestPolicy { in_flight: usize::MAX, request_timeout: OPERATIONS_TIMEOUT, limiter: None, ..policy.clone() }
}

/// Routes and their description, growing by one group of calls at a time.
struct Assembly {
    sessions: Arc<madang_member::Sessions>,
    policy: RequestPolicy,
    router: Router,
    description: Description,
}

impl Assembly {
    /// Adds the calls of a role: with what they need, or with an answer that says who serves them.
    fn add<T: Send + Sync + 'static>(
        mut self,
        role: &'static str,
        routes: OpenApiRouter<Shared<T>>,
        calls: Option<T>,
    ) -> Self {
        let (routes, description) = routes.split_for_parts();
        let served = match calls {
            Some(calls) => {
                let (sessions, policy) = (self.sessions.clone(), self.policy.clone());
                routes.with_state(Arc::new(Served { sessions, policy, calls }))
            }
            None => elsewhere(role, &description),
        };
        self.router = self.router.merge(served);
        self.description.merge(description);
        self
    }
}

fn assemble(state: ApiState) -> Assembly {
    let ApiState { sessions, members, articles, read, comments, likes, views, hot, moderation, policy, .. } = state;
    Assembly { sessions, policy, router: Router::new(), description: ApiDoc::openapi() }
        .add("member", member_routes(), members)
        .add("article", article_routes(), articles)
        .add("article-read", read_routes(), read)
        .add("comment", comment_routes(), comments)
        .add("like", like_routes(), likes)
        .add("view", view_routes(), views)
        .add("hot-article", hot_routes(), hot)
        .add("member", moderation_routes(), moderation)
}

fn member_routes() -> OpenApiRouter<Shared<MemberCalls>> {
    OpenApiRouter::new()
        .routes(routes!(members::register))
        .routes(routes!(members::me))
        .routes(routes!(members::member))
        .routes(routes!(members::set_role))
        .routes(routes!(supervision::change_password))
        .routes(routes!(supervision::suspend, supervision::lift))
        .routes(routes!(sessions::sign_in, sessions::sessions))
        .routes(routes!(sessions::sign_out))
        .routes(routes!(sessions::end_others))
        .routes(routes!(sessions::end_session))
}

fn moderation_routes() -> OpenApiRouter<Shared<ModerationCalls>> {
    OpenApiRouter::new()
        .routes(routes!(moderation::report_article))
        .routes(routes!(moderation::report_comment))
        .routes(routes!(moderation::reports))
        .routes(routes!(moderation::resolve))
        .routes(routes!(moderation::log))
        .routes(routes!(moderation::appoint, moderation::dismiss))
}

fn article_routes() -> OpenApiRouter<Shared<ArticleCalls>> {
    OpenApiRouter::new()
        .routes(routes!(boards::boards, boards::create))
        .routes(routes!(boards::board))
        .routes(routes!(boards::article_count))
        .routes(routes!(articles::create))
        .routes(routes!(articles::edit, articles::delete))
        .routes(routes!(articles::by_writer))
}

fn read_routes() -> OpenApiRouter<Shared<ReadCalls>> {
    OpenApiRouter::new().routes(routes!(articles::articles)).routes(routes!(articles::article))
}

fn comment_routes() -> OpenApiRouter<Shared<CommentCalls>> {
    OpenApiRouter::new()
        .routes(routes!(comments::comments, comments::create))
        .routes(routes!(comments::count))
        .routes(routes!(comments::by_writer))
        .routes(routes!(comments::comment, comments::delete))
}

fn like_routes() -> OpenApiRouter<Shared<LikeCalls>> {
    OpenApiRouter::new().routes(routes!(likes::state, likes::like, likes::unlike)).routes(routes!(likes::likers))
}

fn view_routes() -> OpenApiRouter<Shared<ViewCalls>> {
    OpenApiRouter::new().routes(routes!(views::views, views::view))
}

fn hot_routes() -> OpenApiRouter<Shared<HotCalls>> {
    OpenApiRouter::new().routes(routes!(hot_articles::days)).routes(routes!(hot_articles::day))
}

/// The calls of a role that this process does not have.
fn elsewhere(role: &'static str, description: &Description) -> Router {
    let paths = description.paths.paths.iter();
    paths.fold(Router::new(), |router, (path, item)| {
        let methods = methods(item).into_iter().fold(MethodRouter::new(), |methods, method| {
            methods.merge(on(method, async move || ApiError::ServedElsewhere(role).into_response()))
        });
        router.route(path, methods)
    })
}

fn methods(item: &PathItem) -> Vec<MethodFilter> {
    let taken = [
        (MethodFilter::GET, item.get.is_some()),
        (MethodFilter::POST, item.post.is_some()),
        (MethodFilter::PUT, item.put.is_some()),
        (MethodFilter::DELETE, item.delete.is_some()),
    ];
    taken.into_iter().filter(|(_, taken)| *taken).map(|(method, _)| method).collect()
}

/// `/openapi.json`, encoded once, and `/docs`, whose files are part of the binary.
fn docs(description: &Description) -> Router {
    let encoded = Bytes::from(serde_json::to_vec(description).unwrap_or_default());
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    let description = Router::new().route("/openapi.json", get(async move || (kind, encoded.clone())));
    let ui: Router = SwaggerUi::new("/docs").config(Config::from("/openapi.json")).into();
    let ui = ui.layer(axum::middleware::map_response(async |mut response: Response| {
        let is_page = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/html");
        if is_page {
            response = ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], DOCS_PAGE).into_response();
        }
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, DOCS_CSP);
        response
    }));
    description.merge(ui)
}

fn no_such_address(pages: Option<&dyn RefusalPages>, request: Request) -> Response {
    match pages.filter(|_| is_for_a_person(&request)) {
        Some(pages) => pages.not_found(request),
        None => ApiError::NotFound("address").into_response(),
    }
}

async fn wrong_method() -> Response {
    ApiError::MethodNotAllowed.into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a process without any role describes itself, which is as any other does.
    fn description() -> Description {
        let groups = [
            member_routes().into_openapi(),
            article_routes().into_openapi(),
            read_routes().into_openapi(),
            comment_routes().into_openapi(),
            like_routes().into_openapi(),
            view_routes().into_openapi(),
            hot_routes().into_openapi(),
            moderation_routes().into_openapi(),
        ];
        completed(groups.into_iter().fold(ApiDoc::openapi(), Description::merge_from))
    }

    #[test]
    fn every_operation_has_a_name_of_its_own() {
        let description = serde_json::to_value(description()).unwrap();
        let paths = description["paths"].as_object().unwrap().values();
        let names = paths.flat_map(|path| path.as_object().unwrap().values().map(|call| call["operationId"].clone()));
        let mut names: Vec<_> = names.map(|name| name.as_str().unwrap().to_owned()).collect();
        let calls = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), calls);
    }

    #[test]
    fn the_description_changes_only_on_purpose() {
        insta::assert_json_snapshot!("openapi", description());
    }
}
