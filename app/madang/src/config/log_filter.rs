//! Which lines the log gets: one level for everything, and levels of their own for single modules. Read strictly, because a
//! misspelt level that is taken for the name of a module silences everything else.

use std::str::FromStr;

use tracing_subscriber::filter::{LevelFilter, Targets};

/// What is logged of modules that are not named, unless a level says otherwise.
const REST: LevelFilter = LevelFilter::INFO;
const LEVELS: [(&str, LevelFilter); 6] = [
    ("off", LevelFilter::OFF),
    ("error", LevelFilter::ERROR),
    ("warn", LevelFilter::WARN),
    ("info", LevelFilter::INFO),
    ("debug", LevelFilter::DEBUG),
    ("trace", LevelFilter::TRACE),
];

/// A level for everything, and others for modules by the beginning of their path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LogFilter(Targets);

impl LogFilter {
    /// The filter as the log takes it.
    pub(crate) fn into_targets(self) -> Targets {
        self.0
    }
}

/// A part of the setting that is neither a level nor a module with one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be off, error, warn, info, debug or trace, and may give single modules a level of their own, as in \
     info,madang_sqlite=debug; {0:?} is not a level"
)]
pub(crate) struct NotALevel(String);

impl FromStr for LogFilter {
    type Err = NotALevel;

    fn from_str(text: &str) -> Result<Self, NotALevel> {
        let mut rest = REST;
        let mut modules = Vec::new();
        for directive in text.split(',').map(str::trim) {
            match directive.split_once('=') {
                None => rest = level(directive)?,
                Some((module, its)) if is_module(module) => modules.push((module.to_owned(), level(its)?)),
                Some(_) => return Err(NotALevel(directive.to_owned())),
            }
        }
        Ok(Self(Targets::new().with_default(rest).with_targets(modules)))
    }
}

fn level(name: &str) -> Result<LevelFilter, NotALevel> {
    let found = LEVELS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, level)| *level).ok_or_else(|| NotALevel(name.to_owned()))
}

fn is_module(path: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b':');
    !path.is_empty() && path.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    fn enables(text: &str, module: &str, level: Level) -> bool {
        text.parse::<LogFilter>().unwrap().into_targets().would_enable(module, &level)
    }

    #[test]
    fn a_level_is_for_everything_and_a_module_may_have_its_own() {
        assert!(enables("warn", "madang_sqlite", Level::WARN) && !enables("warn", "madang_sqlite", Level::INFO));
        let both = "info,madang_sqlite=debug";
        assert!(enables(both, "madang_sqlite::log", Level::DEBUG) && !enables(both, "madang", Level::DEBUG));
        assert!(enables("WARN", "madang", Level::WARN) && !enables("off", "madang", Level::ERROR));
    }

    #[test]
    fn a_module_alone_silences_no_other() {
        assert!(enables("madang_sqlite=debug", "madang_web", Level::INFO));
    }

    #[test]
    fn what_is_no_level_is_refused_with_those_there_are() {
        for text in
            ["blah", "", "info,", "verbose", "madang_sqlite", "info,madang_sqlite=loud", "=debug", "a b=info", "3"]
        {
            let message = text.parse::<LogFilter>().unwrap_err().to_string();
            assert!(message.contains("off, error, warn, info, debug or trace"), "{text:?}: {message}");
        }
    }
}
