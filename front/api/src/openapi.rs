//! The OpenAPI description: what the handlers do not say themselves, and the problems they share.

use madang_server::{FieldProblem, Problem, SESSION_COOKIE};
use serde_json::json;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{ContentBuilder, Header, OpenApi as Description, Ref, RefOr, Response, ResponseBuilder, Schema};
use utoipa::{Modify, OpenApi, PartialSchema, ToResponse, ToSchema};

use crate::operations::{__path_alive, __path_figures, __path_ready};

/// The description without the handlers of the API, which the router adds.
#[derive(OpenApi)]
#[openapi(
    info(title = "Madang", description = "A discussion board. Ids are strings of decimal digits, times are RFC 3339 \
        UTC with milliseconds, and every error is `application/problem+json`."),
    servers((url = "/", description = "This site")),
    paths(alive, ready, figures),
    components(
        schemas(IdText, TimeText, Problem, FieldProblem),
        responses(
            BadRequest, Unauthorized, Forbidden, NotFound, WrongMethod, Conflict, Changed, TooSlow, TooLarge, NotJson, Unprocessable, TooMany,
            Internal, Unavailable
        ),
    ),
    tags(
        (name = "members", description = "Who writes here"),
        (name = "sessions", description = "Signing in and out"),
        (name = "boards", description = "Where articles are written"),
        (name = "articles", description = "What is written"),
        (name = "comments", description = "What is said about it"),
        (name = "likes", description = "Who likes it"),
        (name = "views", description = "How often it is looked at"),
        (name = "search", description = "Finding what is written"),
        (name = "moderation", description = "What moderators do, and what members report to them"),
        (name = "operations", description = "What operators ask a process"),
    ),
    modifiers(&SignIn),
)]
pub(crate) struct ApiDoc;

struct SignIn;

impl Modify for SignIn {
    fn modify(&self, description: &mut Description) {
        let components = description.components.get_or_insert_with(Default::default);
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some("From POST /api/v1/sessions"));
        components.add_security_scheme("bearer", SecurityScheme::Http(bearer.build()));
        let cookie = ApiKeyValue::with_description(
            SESSION_COOKIE,
            "Set by POST /api/v1/sessions. Writes must come from this site's own pages.",
        );
        components.add_security_scheme("cookie", SecurityScheme::ApiKey(ApiKey::Cookie(cookie)));
    }
}

/// An id as it travels: text, because numbers lose digits past 2^53 in most clients.
pub(crate) struct IdText;

impl PartialSchema for IdText {
    fn schema() -> RefOr<Schema> {
        let text = ObjectBuilder::new().schema_type(Type::String).pattern(Some(id_pattern()));
        let text = text.description(Some("A decimal number from 1 to 9223372036854775807, as text"));
        text.examples([json!("123456789012345678")]).into()
    }
}

/// Exactly the numbers from 1 to `i64::MAX`, so that a client that checks its input by the description refuses what we do:
/// those with fewer digits, and for each digit of the greatest those that agree before it and are smaller at it.
fn id_pattern() -> String {
    let greatest = i64::MAX.to_string();
    let shorter = format!("[1-9][0-9]{{0,{}}}", greatest.len() - 2);
    let smaller = greatest.char_indices().filter_map(|(at, digit)| {
        let least = if at == 0 { '1' } else { '0' };
        let below = char::from_u32(u32::from(digit).wrapping_sub(1)).filter(|below| *below >= least)?;
        let rest = greatest.len() - at - 1;
        Some(format!("{}[{least}-{below}][0-9]{{{rest}}}", &greatest[..at]))
    });
    let all: Vec<_> = std::iter::once(shorter).chain(smaller).chain([greatest.clone()]).collect();
    format!("^(?:{})$", all.join("|"))
}

impl ToSchema for IdText {
    fn name() -> std::borrow::Cow<'static, str> {
        "Id".into()
    }
}

/// A moment as it travels.
pub(crate) struct TimeText;

impl PartialSchema for TimeText {
    fn schema() -> RefOr<Schema> {
        let format = Some(SchemaFormat::KnownFormat(KnownFormat::DateTime));
        let text = ObjectBuilder::new().schema_type(Type::String).format(format);
        let text = text.description(Some("A moment: RFC 3339, UTC, with milliseconds"));
        text.examples([json!("2026-03-01T09:30:00.000Z")]).into()
    }
}

impl ToSchema for TimeText {
    fn name() -> std::borrow::Cow<'static, str> {
        "Time".into()
    }
}

macro_rules! problems {
    ($($(#[$doc:meta])* $name:ident = $description:literal $(with $header:literal)?;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name;

        impl<'r> ToResponse<'r> for $name {
            fn response() -> (&'r str, RefOr<Response>) {
                let response = problem($description);
                $(let response = response.header($header, Header::default());)?
                (stringify!($name), response.build().into())
            }
        }
    )*};
}

problems! {
    /// 400
    BadRequest = "The request cannot be understood";
    /// 401
    Unauthorized = "Not signed in, or name, password or token is not good" with "WWW-Authenticate";
    /// 403
    Forbidden = "The member may not do this";
    /// 404
    NotFound = "There is no such thing";
    /// 405
    WrongMethod = "The address does not take this method; Allow lists those it takes" with "Allow";
    /// 409
    Conflict = "Something is in the way: a name that is taken, or a level without room for another reply";
    /// 412
    Changed = "Someone else was faster";
    /// 408
    TooSlow = "The body took too long to arrive";
    /// 413
    TooLarge = "The body is too long";
    /// 415
    NotJson = "The body is not labelled as JSON";
    /// 422
    Unprocessable = "A field is not acceptable, or an idempotency key was used with another body";
    /// 429
    TooMany = "More requests than the limits allow: come back later" with "Retry-After";
    /// 500
    Internal = "A defect on our side";
    /// 503
    Unavailable = "Overloaded, or a part is away: ask again later" with "Retry-After";
}

fn problem(description: &str) -> ResponseBuilder {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    ResponseBuilder::new().description(description).content("application/problem+json", content)
}
