//! Why somebody has to wait: a suspension, a limit, and for how long.

use std::time::Duration;

use crate::error::Limit;
use crate::preferences::Lang;

/// Until when somebody may only read, and why.
pub(crate) fn suspended(lang: Lang, until: Option<&str>, reason: &str) -> String {
    let mut text = match (lang, until) {
        (Lang::En, Some(until)) => {
            format!("A moderator has suspended your account until {until}. You can read, but not write.")
        }
        (Lang::En, None) => "A moderator has suspended your account. You can read, but not write.".to_owned(),
        (Lang::Ko, Some(until)) => {
            format!("운영진이 {until}까지 활동을 정지했습니다. 읽을 수는 있지만 글과 댓글을 쓸 수 없습니다.")
        }
        (Lang::Ko, None) => "운영진이 활동을 정지했습니다. 읽을 수는 있지만 글과 댓글을 쓸 수 없습니다.".to_owned(),
    };
    if !reason.is_empty() {
        text.push_str(match lang {
            Lang::En => " Reason: ",
            Lang::Ko => " 사유: ",
        });
        text.push_str(reason);
    }
    text
}

/// Which limit was reached, and when to try again.
pub(crate) fn too_many(lang: Lang, limit: Limit, retry_after: Duration) -> String {
    let (en, ko) = match limit {
        Limit::Passwords => (
            "Too many passwords were tried. On a device where you signed in before, you can sign in as usual.",
            "비밀번호를 너무 많이 시도했습니다. 전에 로그인한 적이 있는 기기에서는 평소처럼 로그인할 수 있습니다.",
        ),
        Limit::SignUps => {
            ("Too many accounts were created from your network.", "같은 네트워크에서 계정을 너무 많이 만들었습니다.")
        }
        Limit::Writes => ("You are sending things faster than this site allows.", "짧은 시간에 너무 많이 보냈습니다."),
        Limit::Requests => {
            ("There were too many requests from your network.", "같은 네트워크에서 요청이 너무 많습니다.")
        }
    };
    let wait = wait_pattern(lang).replace('#', &duration(lang, retry_after));
    match lang {
        Lang::En => format!("{en} {wait}"),
        Lang::Ko => format!("{ko} {wait}"),
    }
}

/// When to try again, with `#` for how long to wait.
pub(crate) fn wait_pattern(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "Please try again in #.",
        Lang::Ko => "# 뒤에 다시 시도해 주세요.",
    }
}

/// Whole seconds, and never 0.
pub(crate) fn whole_seconds(time: Duration) -> u64 {
    time.as_millis().div_ceil(1_000).try_into().unwrap_or(u64::MAX).max(1)
}

/// How long, as people say it: never less than it is.
fn duration(lang: Lang, time: Duration) -> String {
    let seconds = whole_seconds(time);
    let (count, en, ko) = match seconds {
        0..=90 => (seconds, "second", "초"),
        91..=5_400 => (seconds.div_ceil(60), "minute", "분"),
        _ => (seconds.div_ceil(3_600), "hour", "시간"),
    };
    match lang {
        Lang::En if count == 1 => format!("1 {en}"),
        Lang::En => format!("{count} {en}s"),
        Lang::Ko => format!("{count}{ko}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_says_its_cause_and_its_end() {
        let told = |lang, seconds: u64| too_many(lang, Limit::Writes, Duration::from_millis(seconds * 1_000 - 500));
        assert_eq!(
            told(Lang::En, 1),
            "You are sending things faster than this site allows. Please try again in 1 second."
        );
        assert!(told(Lang::En, 60).ends_with("in 60 seconds.") && told(Lang::En, 180).ends_with("in 3 minutes."));
        assert!(told(Lang::En, 7_201).ends_with("in 3 hours."));
        assert!(told(Lang::Ko, 180).ends_with("3분 뒤에 다시 시도해 주세요."));
    }
}
