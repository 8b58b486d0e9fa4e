//! Which address leads to which page.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{MethodRouter, get, post};
use madang_server::Pages;

use crate::refusals::Refusals;
use crate::state::{Shared, Web};
use crate::wrong_method::wrong_method;
use crate::{
    WebState, admin, article, assets, board, comments, crawlers, dead_letters, edit, feeds, health, home, hot, like,
    live, member, moderation, password, preferences, recovery, removed, report, search, sessions, setup, sign_in,
    sign_up, write,
};

/// The longest article, every character of it percent-encoded, with its title.
const FORM_BYTES_MAX: usize = 256 * 1_024;

/// The pages. Without a fallback, so that they can stand beside the API, which asks for the page of an address that leads
/// nowhere.
pub fn pages(state: WebState) -> Pages {
    let setup = setup::SetupTurn::default();
    let web: Shared = Arc::new(Web::new(state));
    let Addresses { router, patterns } = running(writing(reading(Addresses::default())), setup);
    let router = router
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(FORM_BYTES_MAX))
        .with_state(web.clone());
    Pages { router, patterns, refusals: Arc::new(Refusals(web)) }
}

/// A router that remembers its patterns: axum does not tell them, and requests are counted and logged by them.
#[derive(Default)]
struct Addresses {
    router: Router<Shared>,
    patterns: Vec<&'static str>,
}

impl Addresses {
    fn route(mut self, pattern: &'static str, methods: MethodRouter<Shared>) -> Self {
        self.patterns.push(pattern);
        Self { router: self.router.route(pattern, methods), ..self }
    }
}

fn reading(addresses: Addresses) -> Addresses {
    addresses
        .route("/", get(home::home))
        .route("/b/{slug}", get(board::board))
        .route("/b/{slug}/feed.atom", get(feeds::board))
        .route("/articles/{article}", get(article::article))
        .route("/articles/{article}/live", get(live::stream))
        .route("/comments/{comment}", get(comments::comment))
        .route("/search", get(search::search))
        .route(search::ADDRESS, get(search::description))
        .route("/hot", get(hot::hot))
        .route("/hot/feed.atom", get(feeds::hot))
        .route("/members/{member}", get(member::member))
        .route("/members/{member}/articles", get(member::articles))
        .route("/members/{member}/comments", get(member::comments))
        .route("/preferences", post(preferences::choose))
        .route("/robots.txt", get(crawlers::robots))
        .route("/sitemap.xml", get(crawlers::sitemap))
        .route("/favicon.ico", get(assets::icon))
        .route("/assets/{name}", get(assets::asset))
}

fn writing(addresses: Addresses) -> Addresses {
    addresses
        .route("/b/{slug}/write", get(write::form).post(write::submit))
        .route("/preview", post(write::preview))
        .route("/articles/{article}/edit", get(edit::form).post(edit::submit))
        .route("/articles/{article}/delete", get(edit::delete_form).post(edit::delete))
        .route("/articles/{article}/like", post(like::submit))
        .route("/articles/{article}/pin", get(article::pin_form).post(article::pin))
        .route("/articles/{article}/lock", post(article::lock))
        .route("/articles/{article}/restore", get(removed::article_page).post(removed::restore_article))
        .route("/comments/{comment}/restore", get(removed::comment_page).post(removed::restore_comment))
        .route("/articles/{article}/comments", post(comments::submit))
        .route("/comments/{comment}/reply", get(comments::reply_form))
        .route("/articles/{article}/report", get(report::article_form).post(report::article))
        .route("/comments/{comment}/report", get(report::comment_form).post(report::comment))
        .route("/comments/{comment}/edit", get(comments::edit_form).post(comments::submit_edit))
        .route("/comments/{comment}/delete", get(comments::delete_form).post(comments::delete))
}

fn running(addresses: Addresses, setup: setup::SetupTurn) -> Addresses {
    addresses
        .route("/sign-in", get(sign_in::form).post(sign_in::submit))
        .route("/sign-out", post(sign_in::sign_out))
        .route("/sign-up", get(sign_up::form).post(sign_up::submit))
        .route("/sessions", get(sessions::list))
        .route("/sessions/{session}", post(sessions::end))
        .route("/password", get(password::form).post(password::submit))
        .route("/password-reset/{token}", get(recovery::form).post(recovery::submit))
        .route("/members/{member}/password-reset", post(member::reset_password))
        .route("/members/{member}/role", post(member::set_role))
        .route("/members/{member}/suspension", post(member::suspend))
        .route("/moderation", get(moderation::reports))
        .route("/moderation/log", get(moderation::log))
        .route("/moderation/reports/{report}", post(moderation::settle))
        .route("/b/{slug}/manage", get(board::manage).post(board::edit))
        .route("/b/{slug}/moderators", post(board::moderators))
        .route("/b/{slug}/delete", post(board::delete))
        .route("/admin", get(admin::admin))
        .route("/admin/boards", post(admin::create_board))
        .route(health::ADDRESS, get(health::health))
        .route("/admin/dead-letters", get(dead_letters::list).post(dead_letters::replay))
        .route("/setup", get(setup::form).post(setup::submit).layer(axum::Extension(setup)))
}
