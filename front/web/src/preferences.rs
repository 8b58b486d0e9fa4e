//! What a reader chose: language, light or dark, numbered pages or endless scroll. Kept in one cookie of plain words.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use madang_server::cookie_value;

use crate::error::Refused;
use crate::posted::Posted;
use crate::reply;
use crate::state::Shared;

/// The cookie, such as `ko.dark.scroll`.
const COOKIE: &str = "madang_prefs";
/// A year.
const KEPT_S: u32 = 365 * 24 * 60 * 60;
/// Languages of one header that are looked at.
const LANGUAGES_MAX: usize = 16;

/// The language of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Lang {
    En,
    Ko,
}

/// Light or dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Theme {
    /// As the reader's system says.
    System,
    Light,
    Dark,
}

/// How a board goes on past its first articles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ListStyle {
    Pages,
    Scroll,
}

/// The order of lists of articles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Order {
    Newest,
    Active,
}

impl Order {
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Active => "active",
        }
    }

    /// The order that an address asks for.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::Newest, Self::Active].into_iter().find(|order| order.code() == name)
    }
}

/// Everything a reader chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Preferences {
    pub(crate) lang: Lang,
    pub(crate) theme: Theme,
    pub(crate) list: ListStyle,
    pub(crate) order: Order,
    /// Whether the language was chosen here, or is what the browser prefers.
    lang_chosen: bool,
}

impl Lang {
    /// As HTML names it.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Ko => "ko",
        }
    }
}

impl Theme {
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

impl ListStyle {
    fn code(self) -> &'static str {
        match self {
            Self::Pages => "pages",
            Self::Scroll => "scroll",
        }
    }
}

impl Preferences {
    /// From the cookie, and for what it does not say from what the browser prefers.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let lang = preferred_language(headers);
        let (theme, list, order) = (Theme::System, ListStyle::Pages, Order::Newest);
        let mut chosen = Self { lang, theme, list, order, lang_chosen: false };
        for word in cookie_value(headers, COOKIE).unwrap_or_default().split('.') {
            chosen.choose(word);
        }
        chosen
    }

    fn choose(&mut self, word: &str) {
        match word {
            "en" => (self.lang, self.lang_chosen) = (Lang::En, true),
            "ko" => (self.lang, self.lang_chosen) = (Lang::Ko, true),
            "system" => self.theme = Theme::System,
            "light" => self.theme = Theme::Light,
            "dark" => self.theme = Theme::Dark,
            "pages" => self.list = ListStyle::Pages,
            "scroll" => self.list = ListStyle::Scroll,
            "newest" => self.order = Order::Newest,
            "active" => self.order = Order::Active,
            _ => {}
        }
    }

    fn cookie(&self, secure: bool) -> Option<HeaderValue> {
        let lang = if self.lang_chosen { self.lang.code() } else { "" };
        let (theme, list) = (self.theme.code(), self.list.code());
        let secure = if secure { "; Secure" } else { "" };
        let order = if self.order == Order::Active { ".active" } else { "" };
        let text =
            format!("{COOKIE}={lang}.{theme}.{list}{order}; Path=/; Max-Age={KEPT_S}; HttpOnly; SameSite=Lax{secure}");
        HeaderValue::from_str(&text).ok()
    }
}

/// Takes a choice and goes back to where it was made.
pub(crate) async fn choose(State(web): State<Shared>, posted: Posted) -> Result<Response, Refused> {
    let mut preferences = posted.visit.preferences;
    for field in ["lang", "theme", "list", "order"] {
        preferences.choose(posted.fields.text(field));
    }
    let mut response = reply::see_other(posted.fields.local_path("return"));
    if let Some(cookie) = preferences.cookie(web.site.policy.cookies_secure) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

/// The better of our two languages for this reader.
fn preferred_language(headers: &HeaderMap) -> Lang {
    let text = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (mut best, mut best_weight) = (Lang::En, 0.0);
    for range in text.split(',').take(LANGUAGES_MAX) {
        let mut parts = range.split(';').map(str::trim);
        let primary = parts.next().and_then(|tag| tag.split('-').next()).unwrap_or_default();
        let lang = match primary.to_ascii_lowercase().as_str() {
            "en" => Lang::En,
            "ko" => Lang::Ko,
            _ => continue,
        };
        let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok()).unwrap_or(1.0);
        if weight > best_weight {
            (best, best_weight) = (lang, weight);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cookie: &str, languages: &str) -> Preferences {
        let pairs = [(header::COOKIE, cookie), (header::ACCEPT_LANGUAGE, languages)];
        Preferences::of(&pairs.into_iter().map(|(name, value)| (name, value.parse().unwrap())).collect())
    }

    #[test]
    fn the_browser_chooses_the_language_until_the_reader_does() {
        assert_eq!(of("", "ko-KR,ko;q=0.9,en-US;q=0.8").lang, Lang::Ko);
        assert_eq!(of("", "fr,en;q=0.8,ko;q=0.7").lang, Lang::En);
        assert_eq!(of("", "en;q=0.3,ko;q=0.7").lang, Lang::Ko);
        assert_eq!(of("", "fr").lang, Lang::En);
        assert_eq!(of("madang_prefs=en.dark.scroll", "ko").lang, Lang::En);
    }

    #[test]
    fn a_choice_survives_its_cookie() {
        let chosen = of("madang_prefs=ko.dark.scroll", "");
        assert_eq!((chosen.lang, chosen.theme, chosen.list), (Lang::Ko, Theme::Dark, ListStyle::Scroll));
        let cookie = chosen.cookie(true).unwrap();
        assert!(cookie.to_str().unwrap().starts_with("madang_prefs=ko.dark.scroll; Path=/; Max-Age="));
        let active = of("madang_prefs=en.dark.pages.active", "");
        assert_eq!(active.order, Order::Active);
        assert!(active.cookie(true).unwrap().to_str().unwrap().starts_with("madang_prefs=en.dark.pages.active; "));
        let nonsense = of("madang_prefs=<b>.x..", "");
        assert_eq!((nonsense.lang, nonsense.theme, nonsense.list), (Lang::En, Theme::System, ListStyle::Pages));
    }

    #[test]
    fn choosing_a_theme_does_not_choose_a_language() {
        let mut chosen = of("", "ko");
        chosen.choose("dark");
        assert!(chosen.cookie(false).unwrap().to_str().unwrap().starts_with("madang_prefs=.dark.pages;"));
    }
}
