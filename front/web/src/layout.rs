//! The frame of every page: head, skip link, landmarks, the switches at its foot.

use axum::http::StatusCode;
use axum::response::Response;
use madang_search::QUERY_MAX_CHARS;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::flash::Flash;
use crate::plain_text;
use crate::posted::TOKEN_FIELD;
use crate::preferences::Lang;
use crate::state::Web;
use crate::visit::Visit;
use crate::{assets, reply, search, texts};

/// The name at the top of every page.
pub(crate) const SITE_NAME: &str = "Madang";

/// What a page says of itself.
pub(crate) struct Page<'a> {
    /// Its title.
    pub(crate) title: &'a str,
    /// The content of the main landmark.
    pub(crate) main: Markup,
    /// Its one address, if it has one.
    pub(crate) canonical: Option<String>,
    /// A few words for those who link here.
    pub(crate) description: Option<String>,
    /// When it was published, and changed last, if it is an article.
    pub(crate) written: Option<[String; 2]>,
    /// A feed of what this page shows.
    pub(crate) feed: Option<String>,
    /// Whether search engines may list it.
    pub(crate) is_listed: bool,
    /// Which entry of the navigation it belongs to.
    pub(crate) nav: NavEntry<'a>,
}

/// An entry of the navigation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NavEntry<'a> {
    Elsewhere,
    Hot,
    Board(&'a str),
    Moderation,
    Admin,
}

impl Default for Page<'_> {
    fn default() -> Self {
        Self {
            title: SITE_NAME,
            main: PreEscaped(String::new()),
            canonical: None,
            description: None,
            written: None,
            feed: None,
            is_listed: true,
            nav: NavEntry::Elsewhere,
        }
    }
}

/// A page that is not for search engines, as a response.
pub(crate) fn unlisted(web: &Web, visit: &Visit, status: StatusCode, title: &str, main: Markup) -> Response {
    let page = Page { title, main, is_listed: false, ..Page::default() };
    reply::page(visit, status, whole(web, visit, &page))
}

/// The whole page.
pub(crate) fn whole(web: &Web, visit: &Visit, page: &Page<'_>) -> String {
    let t = visit.texts();
    let theme = visit.preferences.theme;
    let markup = html! {
        (DOCTYPE)
        html lang=(visit.preferences.lang.code()) data-theme=(theme.code())
            data-member=[visit.actor().map(|actor| actor.member_id)]
            data-signed-out[visit.flash == Some(Flash::SignedOut)] {
            (head(visit, page))
            body {
                a.skip href="#main" { (t.skip_to_content) }
                (top(visit, page))
                main #main tabindex="-1" {
                    @if let Some(flash) = visit.flash { p.notice role="status" { (flash.text(visit.preferences.lang)) } }
                    (page.main)
                }
                (foot(web, visit))
                p #announce.quiet role="status" aria-live="polite" {}
            }
        }
    };
    markup.into_string()
}

fn head(visit: &Visit, page: &Page<'_>) -> Markup {
    let t = visit.texts();
    let title = plain_text::title(page.title);
    let window = if title == SITE_NAME { title.clone() } else { format!("{title} · {SITE_NAME}") };
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (window) }
            link rel="stylesheet" href=(assets::style_path());
            link rel="icon" type="image/svg+xml" href=(assets::icon_path());
            script src=(assets::script_path()) defer {}
            link rel="search" type=(search::MEDIA_TYPE) title=(SITE_NAME) href=(search::ADDRESS);
            @if !page.is_listed { meta name="robots" content="noindex"; }
            (shared(visit, page, &title))
            @if let Some(text) = &page.description { meta name="description" content=(text); }
            @if let Some(feed) = &page.feed {
                link rel="alternate" type="application/atom+xml" title=(t.feed) href=(feed);
            }
        }
    }
}

/// What those who link here are told. Addresses only where the settings say which host is ours: a reader can ask for any.
fn shared(visit: &Visit, page: &Page<'_>, title: &str) -> Markup {
    let locale = match visit.preferences.lang {
        Lang::En => "en_US",
        Lang::Ko => "ko_KR",
    };
    html! {
        @if let Some(base) = &visit.site_url {
            @if let Some(path) = &page.canonical {
                link rel="canonical" href={ (base) (path) };
                meta property="og:url" content={ (base) (path) };
            }
            meta property="og:image" content={ (base) (assets::picture_path()) };
            meta property="og:image:width" content="1200";
            meta property="og:image:height" content="630";
            meta property="og:image:alt" content=(SITE_NAME);
        }
        meta property="og:site_name" content=(SITE_NAME);
        meta property="og:title" content=(title);
        meta property="og:type" content=(if page.written.is_some() { "article" } else { "website" });
        meta property="og:locale" content=(locale);
        @if let Some([published, modified]) = &page.written {
            meta property="article:published_time" content=(published);
            meta property="article:modified_time" content=(modified);
        }
        @if let Some(text) = &page.description { meta property="og:description" content=(text); }
    }
}

fn top(visit: &Visit, page: &Page<'_>) -> Markup {
    let t = visit.texts();
    html! {
        header.top {
            div.bar {
                a.brand href="/" { span.mark aria-hidden="true" { "마당" } (SITE_NAME) }
                nav aria-label=(t.main_navigation) {
                    a href="/hot" aria-current=[(page.nav == NavEntry::Hot).then_some("page")] { (t.hot) }
                    @if visit.moderates() {
                        a href="/moderation" aria-current=[(page.nav == NavEntry::Moderation).then_some("page")] { (t.moderation) }
                    }
                    @if visit.has(madang_board::Role::Admin) {
                        a href="/admin" aria-current=[(page.nav == NavEntry::Admin).then_some("page")] { (t.administration) }
                    }
                }
                (search_field(visit))
                div.who {
                    @if let Some(actor) = visit.actor() {
                        a href={ "/members/" (actor.member_id) } { bdi { (actor.name) } }
                        form method="post" action="/sign-out" {
                            (token_field(visit))
                            button.link { (t.sign_out) }
                        }
                    } @else {
                        a href=(sign_in_path(visit)) rel="nofollow" { (t.sign_in) }
                        a href=(sign_up_path(visit)) rel="nofollow" { (t.sign_up) }
                    }
                }
            }
        }
    }
}

fn search_field(visit: &Visit) -> Markup {
    let s = texts::SearchTexts::in_language(visit.preferences.lang);
    html! {
        form.find method="get" action="/search" role="search" {
            input type="search" name="q" aria-label=(s.what) placeholder=(s.search) maxlength=(QUERY_MAX_CHARS) required;
            button { (s.search) }
        }
    }
}

fn foot(web: &Web, visit: &Visit) -> Markup {
    let t = visit.texts();
    html! {
        footer.foot {
            div.bar {
                form.choices method="post" action="/preferences" {
                    input type="hidden" name="return" value=(visit.here);
                    fieldset {
                        legend.vh { (t.language) }
                        @for (code, name) in [("ko", "한국어"), ("en", "English")] {
                            button.link name="lang" value=(code) lang=(code)
                                aria-pressed=(visit.preferences.lang.code() == code) { (name) }
                        }
                    }
                    fieldset {
                        legend.vh { (t.appearance) }
                        @for (code, name) in [("system", t.theme_system), ("light", t.theme_light), ("dark", t.theme_dark)] {
                            button.link name="theme" value=(code) aria-pressed=(visit.preferences.theme.code() == code) { (name) }
                        }
                    }
                }
                p.quiet { (texts::site_time(visit.preferences.lang, &web.time.zone_name())) " · " a href="/docs" { "API" } }
            }
        }
    }
}

/// The hidden field that every form of a member carries.
pub(crate) fn token_field(visit: &Visit) -> Markup {
    let token = visit.form_token();
    html! { @if !token.is_empty() { input type="hidden" name=(TOKEN_FIELD) value=(token); } }
}

/// Under which name the script keeps what a member types into a form: never another member's. Nobody's is not kept.
pub(crate) fn draft_name(visit: &Visit, form: &str) -> Option<String> {
    visit.actor().map(|actor| format!("{}:{form}", actor.member_id))
}

/// Where to sign in, and come back from.
pub(crate) fn sign_in_path(visit: &Visit) -> String {
    format!("/sign-in?return={}", encoded(&visit.here))
}

/// Where to sign up, and come back from.
pub(crate) fn sign_up_path(visit: &Visit) -> String {
    format!("/sign-up?return={}", encoded(&visit.here))
}

/// The link to a feed that everybody sees.
pub(crate) fn feed_link(visit: &Visit, path: &str) -> Markup {
    html! { a.feed href=(path) type="application/atom+xml" rel="nofollow" { (visit.texts().feed) } }
}

/// Text as the value in a query.
pub(crate) fn encoded(text: &str) -> String {
    let keep = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'/');
    text.bytes().map(|byte| if keep(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
