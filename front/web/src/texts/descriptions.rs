//! What a page says of itself to those who link to it or look for it.

use crate::preferences::Lang;

/// What the site is, for those who link to it.
pub(crate) fn home_description(lang: Lang, site: &str, boards: &str) -> String {
    match lang {
        Lang::En => format!("Discussion boards on {site}: {boards}"),
        Lang::Ko => format!("{site} 게시판: {boards}"),
    }
}

/// What a board is, for those who link to it.
pub(crate) fn board_description(lang: Lang, site: &str, board: &str, newest: &str) -> String {
    match (lang, newest) {
        (Lang::En, "") => format!("{board}, a discussion board on {site}."),
        (Lang::En, _) => format!("{board} on {site}. Recent articles: {newest}"),
        (Lang::Ko, "") => format!("{site}의 {board} 게시판입니다."),
        (Lang::Ko, _) => format!("{site} {board} 게시판. 최근 글: {newest}"),
    }
}

/// Who a member is, for those who link to them.
pub(crate) fn member_description(lang: Lang, site: &str, name: &str) -> String {
    match lang {
        Lang::En => format!("Articles and comments by {name} on {site}."),
        Lang::Ko => format!("{site} 회원 {name} 님의 글과 댓글입니다."),
    }
}

/// Which clock the dates are by.
pub(crate) fn site_time(lang: Lang, zone: &str) -> String {
    match lang {
        Lang::En => format!("Times in {zone}"),
        Lang::Ko => format!("시간대: {zone}"),
    }
}
