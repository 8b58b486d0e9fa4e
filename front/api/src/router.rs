//! Puts the routes together and admission control in front of them. The description is always whole, also where a process serves
//! only some of the calls.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use madang_server::{
    Admission, OPERATIONS_PATHS, Pages, RefusalPages, RequestMetrics, RequestPolicy, is_for_a_person, vary_by_accept,
};
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Description;
use utoipa::openapi::path::PathItem;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::completed::completed;
use crate::docs::docs;
use crate::openapi::ApiDoc;
use crate::state::{CommentCalls, LikeCalls, MemberCalls, ModerationCalls, Operators, SearchCalls, Served, Shared};
use crate::{
    ApiError, ApiState, ArticleCalls, HotCalls, LockCalls, ReadCalls, ViewCalls, articles, boards, comments,
    hot_articles, likes, members, moderation, operations, recovery, search, sessions, supervision, views,
};

/// `/readyz` asks every part; a part that does not answer is not ready.
const OPERATIONS_TIMEOUT: Duration = Duration::from_secs(5);

/// Where the description is, and what shows it.
const DOCS_PATHS: [&str; 4] = ["/openapi.json", "/docs", "/docs/", "/docs/{*rest}"];

/// The API, its description, and whether the process is alive; all that operators ask only if that is to be public.
pub fn router(state: ApiState) -> Router {
    assembled(state, None)
}

/// The same with pages for people beside it, behind the same admission control. The pages must not have a fallback of their own.
pub fn router_with_pages(state: ApiState, pages: Pages) -> Router {
    assembled(state, Some(pages))
}

fn assembled(state: ApiState, pages: Option<Pages>) -> Router {
    let (pages, patterns, refusals) = match pages {
        Some(Pages { router, patterns, refusals }) => (router, patterns, Some(refusals)),
        None => (Router::new(), Vec::new(), None),
    };
    let policy = state.policy.clone();
    let (operators, is_watched_here) = (Operators::of(&state), state.operations_public);
    let Assembly { router: api, description, .. } = assemble(state);
    let description = completed(description);
    let known = description.paths.paths.keys().cloned();
    let beside = patterns.into_iter().chain(OPERATIONS_PATHS).chain(DOCS_PATHS).map(str::to_owned);
    let metrics = Arc::new(RequestMetrics::new(known.chain(beside)));
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
    let ApiState {
        sessions,
        members,
        articles,
        read,
        comments,
        locks,
        likes,
        views,
        hot,
        search,
        moderation,
        policy,
        ..
    } = state;
    Assembly { sessions, policy, router: Router::new(), description: ApiDoc::openapi() }
        .add("member", member_routes(), members)
        .add("article", site_routes(), articles.as_ref().map(|calls| ReadCalls::new(Arc::clone(&calls.read))))
        .add("article", article_routes(), articles)
        .add("article-read", read_routes(), read)
        .add("comment", comment_routes(), comments)
        .add("comment", lock_routes(), locks)
        .add("like", like_routes(), likes)
        .add("view", view_routes(), views)
        .add("hot-article", hot_routes(), hot)
        .add("search", search_routes(), search)
        .add("member", moderation_routes(), moderation)
}

fn member_routes() -> OpenApiRouter<Shared<MemberCalls>> {
    OpenApiRouter::new()
        .routes(routes!(members::register))
        .routes(routes!(members::me))
        .routes(routes!(members::member))
        .routes(routes!(members::set_role))
        .routes(routes!(supervision::change_password))
        .routes(routes!(recovery::set_email))
        .routes(routes!(recovery::issue))
        .routes(routes!(recovery::request))
        .routes(routes!(recovery::reset))
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
        .routes(routes!(moderation::moderators))
        .routes(routes!(moderation::appoint, moderation::dismiss))
}

fn article_routes() -> OpenApiRouter<Shared<ArticleCalls>> {
    OpenApiRouter::new()
        .routes(routes!(boards::boards, boards::create))
        .routes(routes!(boards::board, boards::edit, boards::delete))
        .routes(routes!(boards::article_count))
        .routes(routes!(articles::create))
        .routes(routes!(articles::edit, articles::delete))
        .routes(routes!(articles::pin, articles::unpin))
        .routes(routes!(articles::restore))
        .routes(routes!(articles::by_writer))
}

fn read_routes() -> OpenApiRouter<Shared<ReadCalls>> {
    OpenApiRouter::new().routes(routes!(articles::articles)).routes(routes!(articles::article))
}

/// Lists of the whole site, which are served where articles are.
fn site_routes() -> OpenApiRouter<Shared<ReadCalls>> {
    OpenApiRouter::new().routes(routes!(articles::site_articles))
}

fn comment_routes() -> OpenApiRouter<Shared<CommentCalls>> {
    OpenApiRouter::new()
        .routes(routes!(comments::comments, comments::create))
        .routes(routes!(comments::count))
        .routes(routes!(comments::by_writer))
        .routes(routes!(comments::comment, comments::edit, comments::delete))
        .routes(routes!(comments::restore))
}

fn lock_routes() -> OpenApiRouter<Shared<LockCalls>> {
    OpenApiRouter::new().routes(routes!(articles::lock, articles::unlock))
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

fn search_routes() -> OpenApiRouter<Shared<SearchCalls>> {
    OpenApiRouter::new().routes(routes!(search::search))
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

fn no_such_address(pages: Option<&dyn RefusalPages>, request: Request) -> Response {
    let mut response = match pages.filter(|_| is_for_a_person(&request)) {
        Some(pages) => pages.not_found(request),
        None => ApiError::NotFound("address").into_response(),
    };
    if pages.is_some() {
        vary_by_accept(response.headers_mut());
    }
    response
}

async fn wrong_method() -> Response {
    ApiError::MethodNotAllowed.into_response()
}

/// As a process without any role describes itself, which is as any other does.
#[cfg(test)]
pub(crate) fn description() -> Description {
    let groups = [
        member_routes().into_openapi(),
        site_routes().into_openapi(),
        article_routes().into_openapi(),
        read_routes().into_openapi(),
        comment_routes().into_openapi(),
        lock_routes().into_openapi(),
        like_routes().into_openapi(),
        view_routes().into_openapi(),
        hot_routes().into_openapi(),
        search_routes().into_openapi(),
        moderation_routes().into_openapi(),
    ];
    completed(groups.into_iter().fold(ApiDoc::openapi(), Description::merge_from))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Plain;

    impl RefusalPages for Plain {
        fn rejected(&self, _: &madang_server::Rejection, _: Request) -> Response {
            "page".into_response()
        }

        fn not_found(&self, _: Request) -> Response {
            "page".into_response()
        }
    }

    #[test]
    fn an_unknown_address_says_that_its_answer_depends_on_what_is_accepted() {
        let vary = |pages: Option<&dyn RefusalPages>, accept: &str| {
            let request = Request::builder().uri("/nowhere").header("accept", accept).body(Default::default()).unwrap();
            no_such_address(pages, request).headers().get("vary").cloned()
        };
        for accept in ["text/html", "application/json"] {
            assert_eq!(vary(Some(&Plain), accept).unwrap(), "accept");
        }
        assert_eq!(vary(None, "text/html"), None, "there are no pages");
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
