//! Puts the routes together and the gate in front of them.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use utoipa_swagger_ui::{Config, SwaggerUi};

use crate::gate::Gate;
use crate::meters::Meters;
use crate::openapi::ApiDoc;
use crate::state::Shared;
use crate::{
    ApiError, ApiState, articles, boards, comments, hot_articles, likes, members, operations, sessions, views,
};

/// `/readyz` asks every part; a part that does not answer is not ready.
const OPERATIONS_TIMEOUT: Duration = Duration::from_secs(5);

/// Swagger UI writes styles from its script and draws icons from data; everything comes from this process.
const DOCS_CSP: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
     font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// The API, its description, and what operators ask.
pub fn router(state: ApiState) -> Router {
    router_with_pages(state, Router::new())
}

/// The same with pages for people beside it, behind the same gate. The pages must not have a fallback of their own.
pub fn router_with_pages(state: ApiState, pages: Router) -> Router {
    let limits = state.limits.clone();
    let (api, description) = api_routes().split_for_parts();
    let known = description.paths.paths.keys().cloned();
    let meters = Arc::new(Meters::new(known.chain(operations::ROUTES.map(str::to_owned))));
    let state: Shared = Arc::new(state);
    let public = api
        .merge(docs(&description))
        .with_state(state.clone())
        .merge(pages)
        .method_not_allowed_fallback(wrong_method)
        .fallback(no_such_address)
        .layer(Gate::new(limits.in_flight, limits.request_timeout, meters.clone()));
    let operations = operations::routes().with_state(state).method_not_allowed_fallback(wrong_method).layer(Gate::new(
        usize::MAX,
        OPERATIONS_TIMEOUT,
        meters,
    ));
    public.merge(operations)
}

fn api_routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::with_openapi(ApiDoc::openapi())
        .routes(routes!(members::register))
        .routes(routes!(members::me))
        .routes(routes!(members::member))
        .routes(routes!(members::set_role))
        .routes(routes!(sessions::sign_in))
        .routes(routes!(sessions::sign_out))
        .routes(routes!(boards::boards, boards::create))
        .routes(routes!(boards::board))
        .routes(routes!(boards::article_count))
        .routes(routes!(articles::articles, articles::create))
        .routes(routes!(articles::article, articles::edit, articles::delete))
        .routes(routes!(hot_articles::days))
        .routes(routes!(hot_articles::day))
        .routes(routes!(comments::comments, comments::create))
        .routes(routes!(comments::count))
        .routes(routes!(comments::comment, comments::delete))
        .routes(routes!(likes::state, likes::like, likes::unlike))
        .routes(routes!(likes::likers))
        .routes(routes!(views::views, views::view))
}

/// `/openapi.json`, encoded once, and `/docs`, whose files are part of the binary.
fn docs(description: &utoipa::openapi::OpenApi) -> Router<Shared> {
    let encoded = Bytes::from(serde_json::to_vec(description).unwrap_or_default());
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    let description = Router::new().route("/openapi.json", get(async move || (kind, encoded.clone())));
    let ui: Router<Shared> = SwaggerUi::new("/docs").config(Config::from("/openapi.json")).into();
    let ui = ui.layer(axum::middleware::map_response(async |mut response: Response| {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, DOCS_CSP);
        response
    }));
    description.merge(ui)
}

async fn no_such_address() -> Response {
    ApiError::NotFound("address").into_response()
}

async fn wrong_method() -> Response {
    ApiError::MethodNotAllowed.into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_name_of_its_own() {
        let description = serde_json::to_value(api_routes().split_for_parts().1).unwrap();
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
        let (_, description) = api_routes().split_for_parts();
        insta::assert_json_snapshot!("openapi", description);
    }
}
