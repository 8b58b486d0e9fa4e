//! Configuration: defaults, then the TOML file, then the environment, then flags. A wrong value says which and where from.
//!
//! What a process is told and what it finds on its disk before anything is opened: settings, roles, the data directory and
//! its lock, and the keys in it.

mod cluster;
pub(crate) mod data_directory;
#[cfg(test)]
mod documented;
mod environment;
pub(crate) mod keys;
mod layer;
mod log_filter;
pub(crate) mod roles;
mod settings;
mod wrong_value;

use std::path::{Path, PathBuf};

use figment::Figment;
use figment::value::Value;
use layer::{CLUSTER, CLUSTER_KEYS, Layer, joined, known_keys, present_name, typed};

pub(crate) use cluster::{
    ClusterSettings, MysqlSettings, MysqlTlsSettings, NamelessKeys, RedisMode, SECRET_BYTES_MIN, ServerUrl,
};
pub(crate) use environment::of_process;
pub(crate) use log_filter::LogFilter;
pub(crate) use settings::{LogFormat, OPERATIONS_LISTEN, Settings, Switch};

/// Why there is no configuration to start with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the configuration file {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not TOML.
    #[error("{} is not TOML: {message}", path.display())]
    NotToml {
        /// The file.
        path: PathBuf,
        /// Where and what.
        message: String,
    },
    /// A key that is no setting.
    #[error("{origin}: there is no setting `{key}`{hint}")]
    Unknown {
        /// Where it was found.
        origin: String,
        /// The key.
        key: String,
        /// A setting with a similar name, if there is one.
        hint: String,
    },
    /// Variables that are no settings and look like one.
    #[error("{0}")]
    UnknownVariables(String),
    /// A value that a setting cannot have.
    #[error("{0}")]
    Invalid(String),
}

/// Where settings are taken from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sources {
    /// The TOML file.
    pub file: Option<PathBuf>,
    /// The environment, or what a test puts in its place.
    pub environment: Vec<(String, String)>,
    /// Flags as (setting, value, the flag as it was spelled).
    pub flags: Vec<(String, String, String)>,
}

/// The settings in force, and where each came from.
#[derive(Debug)]
pub(crate) struct Config {
    /// The values.
    pub settings: Settings,
    figment: Figment,
}

impl Config {
    /// Reads and checks every source.
    pub(crate) fn load(sources: &Sources) -> Result<Self, ConfigError> {
        let mut figment = Figment::from(Layer::defaults());
        if let Some(path) = &sources.file {
            figment = figment.merge(file_layer(path)?);
        }
        for (name, key, value) in environment::settings(&sources.environment)? {
            figment = figment.merge(Layer::one(format!("environment variable {name}"), key, typed(key, value)));
        }
        for (key, value, flag) in &sources.flags {
            let key = present_name(key);
            if !known_keys().iter().any(|known| known == key) && !CLUSTER_KEYS.contains(&key) {
                return Err(unknown(format!("flag {flag}"), key));
            }
            figment = figment.merge(Layer::one(format!("flag {flag}"), key, typed(key, value)));
        }
        let settings = checked(&figment)?;
        Ok(Self { settings, figment })
    }

    /// One line a setting, `key = value  # origin`, as a TOML file that would give the same; secrets hidden.
    pub(crate) fn describe(&self) -> String {
        let mut text = String::new();
        for key in known_keys() {
            let origin = self.origin(key);
            let Ok(value) = self.figment.find_value(key) else { continue };
            let shown = match &value {
                Value::String(_, secret) if settings::SECRETS.contains(&key.as_str()) && !secret.is_empty() => {
                    "\"(hidden)\"".to_owned()
                }
                Value::String(_, plain) => toml::Value::from(plain.as_str()).to_string(),
                other => layer::plain(other),
            };
            text.push_str(&format!("{key} = {shown}  # {origin}\n"));
        }
        if let Some(cluster) = &self.settings.cluster {
            let shown = std::collections::BTreeMap::from([(CLUSTER, cluster.hidden())]);
            let shown = toml::to_string(&shown).unwrap_or_default();
            text.push_str(&format!("\n# {}\n{shown}", self.origin(CLUSTER)));
        }
        text
    }

    /// Whether a setting was left at its default.
    pub(crate) fn is_default(&self, key: &str) -> bool {
        self.origin(key) == layer::DEFAULT
    }

    fn origin(&self, key: &str) -> String {
        self.figment.find_metadata(key).map_or_else(String::new, |metadata| metadata.name.to_string())
    }
}

fn file_layer(path: &Path) -> Result<Layer, ConfigError> {
    let text =
        std::fs::read_to_string(path).map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source })?;
    let table: figment::value::Dict = toml::from_str(&text)
        .map_err(|error| ConfigError::NotToml { path: path.to_owned(), message: place_and_cause(&text, &error) })?;
    let table: figment::value::Dict =
        table.into_iter().map(|(key, value)| (present_name(&key).to_owned(), joined(&key, value))).collect();
    let origin = path.display().to_string();
    match table.keys().find(|key| !known_keys().contains(key) && *key != CLUSTER) {
        Some(key) => Err(unknown(origin, key)),
        None => Ok(Layer::new(origin, table)),
    }
}

/// Where a file is not TOML, and why. The line itself is not shown: it may hold a password.
fn place_and_cause(text: &str, error: &toml::de::Error) -> String {
    let cause = error.message();
    match error.span().and_then(|span| text.get(..span.start)) {
        Some(before) => {
            let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
            format!("line {}, column {column}: {cause}", before.matches('\n').count() + 1)
        }
        None => cause.to_owned(),
    }
}

fn checked(figment: &Figment) -> Result<Settings, ConfigError> {
    let settings: Settings = figment.extract().map_err(|error| {
        let key = error.path.join(".");
        let origin = from(error.metadata.as_ref());
        ConfigError::Invalid(format!("{}{origin}", wrong_value::told(&key, &error.kind)))
    })?;
    let problems = settings.problems();
    if problems.is_empty() {
        return Ok(settings);
    }
    let lines = problems
        .into_iter()
        .map(|(key, problem)| format!("setting `{key}` {problem}{}", from(figment.find_metadata(key))));
    Err(ConfigError::Invalid(lines.collect::<Vec<_>>().join("\n")))
}

/// Where a setting comes from, behind what is wrong with it; what nobody set comes from nowhere.
fn from(metadata: Option<&figment::Metadata>) -> String {
    let origin = metadata.map(|metadata| metadata.name.as_ref()).filter(|name| !name.is_empty());
    origin.map_or_else(String::new, |name| format!(" (from {name})"))
}

fn unknown(origin: String, key: &str) -> ConfigError {
    let hint = match layer::similar(key) {
        Some(known) => format!("; did you mean `{known}`?"),
        None if key.starts_with("cluster.") => {
            format!("; outside of the file only {} can be set", CLUSTER_KEYS.join(", "))
        }
        None => "; `madang config` lists them all".to_owned(),
    };
    ConfigError::Unknown { origin, key: key.to_owned(), hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn file(text: &str) -> (tempfile::NamedTempFile, Option<PathBuf>) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let path = file.path().to_owned();
        (file, Some(path))
    }

    fn failure(sources: &Sources) -> String {
        Config::load(sources).unwrap_err().to_string()
    }

    #[test]
    fn nothing_given_means_the_defaults() {
        let config = Config::load(&Sources::default()).unwrap();
        assert_eq!(config.settings, Settings::default());
        assert!(config.is_default("listen"));
    }

    #[test]
    fn a_flag_beats_the_environment_which_beats_the_file() {
        let (_keep, file) = file("listen = \"127.0.0.1:1\"\nreaders = 7\nbatch_max = 9\n");
        let environment = environment(&[("MADANG_LISTEN", "127.0.0.1:2"), ("MADANG_READERS", "8")]);
        let flags = vec![("listen".to_owned(), "127.0.0.1:3".to_owned(), "--listen".to_owned())];
        let config = Config::load(&Sources { file, environment, flags }).unwrap();
        assert_eq!(config.settings.listen, "127.0.0.1:3");
        assert_eq!(config.settings.readers, 8);
        assert_eq!(config.settings.batch_max, 9);
        assert!(config.describe().contains("readers = 8  # environment variable MADANG_READERS"));
    }

    #[test]
    fn a_setting_is_found_by_its_old_name_wherever_it_is_set() {
        let (_keep, file) = file("people_queue = 7\nwait_max_ms = 11\n");
        let config = Config::load(&Sources { file: file.clone(), ..Sources::default() }).unwrap();
        assert_eq!((config.settings.foreground_queue, config.settings.scheduling_delay_max_ms), (7, 11));
        let environment = environment(&[("MADANG_WAIT_MAX_MS", "12")]);
        let config = Config::load(&Sources { file: file.clone(), environment, ..Sources::default() }).unwrap();
        assert_eq!(config.settings.scheduling_delay_max_ms, 12);
        let flags = vec![("wait_max_ms".to_owned(), "13".to_owned(), "--set".to_owned())];
        let config = Config::load(&Sources { file, flags, ..Sources::default() }).unwrap();
        assert_eq!(config.settings.scheduling_delay_max_ms, 13);
        assert!(config.describe().contains("scheduling_delay_max_ms = 13"));
    }

    #[test]
    fn an_unknown_key_of_the_file_is_named_with_the_one_that_was_meant() {
        let (_keep, file) = file("lisen = \"127.0.0.1:1\"\n");
        let message = failure(&Sources { file, ..Sources::default() });
        assert!(message.contains("`lisen`") && message.contains("`listen`"), "{message}");
    }

    #[test]
    fn a_wrong_type_says_which_setting_and_where_from() {
        let message =
            failure(&Sources { environment: environment(&[("MADANG_READERS", "many")]), ..Sources::default() });
        assert!(message.contains("`readers`") && message.contains("MADANG_READERS"), "{message}");
        let (_keep, file) = file("rate_limit = \"perhaps\"\n");
        let name = file.as_ref().unwrap().display().to_string();
        let message = failure(&Sources { file, ..Sources::default() });
        assert!(message.contains("`rate_limit`") && message.contains(&name), "{message}");
    }

    #[test]
    fn a_number_that_is_none_or_too_large_is_told_its_range_and_never_a_type_of_the_program() {
        for (key, value, range) in [
            ("readers", "many", "a whole number from 1 to 64, not \"many\""),
            ("readers", "-1", "a whole number from 1 to 64, not -1"),
            ("hash_passes", "5000000000", "a whole number from 1 to 100, not 5000000000"),
            ("hash_passes", "1.5", "a whole number from 1 to 100, not 1.5"),
            ("cluster.token_generation", "x", "a whole number from 0 to 4294967295, not \"x\""),
            ("cookies_secure", "yes", "true or false, not \"yes\""),
            ("rate_limit", "perhaps", "on or off, not \"perhaps\""),
            ("log_format", "xml", "human or json, not \"xml\""),
        ] {
            let (_keep, file) = file(CLUSTER_FILE);
            let flags = vec![(key.to_owned(), value.to_owned(), format!("--set {key}"))];
            let message = failure(&Sources { file, flags, ..Sources::default() });
            assert_eq!(message, format!("setting `{key}` must be {range} (from flag --set {key})"));
        }
    }

    #[test]
    fn a_level_that_does_not_exist_is_an_error_wherever_it_is_set() {
        let levels = "off, error, warn, info, debug or trace";
        let environment = environment(&[("MADANG_LOG_LEVEL", "info,madang_sqlite=loud")]);
        let message = failure(&Sources { environment, ..Sources::default() });
        assert!(message.contains(levels) && message.contains("MADANG_LOG_LEVEL"), "{message}");
        let flags = vec![("log_level".to_owned(), "blah".to_owned(), "--log-level".to_owned())];
        let message = failure(&Sources { flags, ..Sources::default() });
        assert!(
            message.contains(levels) && message.contains("\"blah\"") && message.contains("--log-level"),
            "{message}"
        );
    }

    #[test]
    fn every_value_out_of_range_is_named_at_once() {
        let environment = environment(&[
            ("MADANG_READERS", "0"),
            ("MADANG_ROLES", "article,cook"),
            ("MADANG_TRUSTED_PROXIES", "127.0.0.1, localhost"),
        ]);
        let message = failure(&Sources { environment, ..Sources::default() });
        assert!(message.contains("`readers`") && message.contains("cook"), "{message}");
        assert!(message.contains("`trusted_proxies`") && message.contains("\"localhost\""), "{message}");
    }

    #[test]
    fn a_file_may_hold_a_list_where_a_setting_is_one() {
        let (_keep, list) =
            file("trusted_proxies = [\"10.0.0.0/8\", \"127.0.0.1\"]\nroles = [\"article\", \"like\"]\n");
        let config = Config::load(&Sources { file: list, ..Sources::default() }).unwrap();
        assert_eq!(config.settings.trusted_proxies, "10.0.0.0/8,127.0.0.1");
        assert_eq!(config.settings.roles, "article,like");
        let (_keep, numbers) = file("trusted_proxies = [1, 2]\n");
        let message = failure(&Sources { file: numbers, ..Sources::default() });
        assert!(message.contains("`trusted_proxies`"), "{message}");
    }

    const CLUSTER_FILE: &str = "[cluster]\nsecret = \"0123456789abcdef0123456789abcdef\"\n[[cluster.mysql]]\n\
        url = \"mysql://a:b@h:1\"\nshards = \"0-63\"\n[cluster.redis]\nurls = [\"redis://h:2\"]\n[cluster.kafka]\n\
        bootstrap = [\"h:3\"]\n";

    #[test]
    fn a_file_that_cannot_be_understood_is_not_quoted_where_it_holds_secrets() {
        for (text, place) in [
            ("admin_password = hunter2\n", "line 1, column 18"),
            ("# 한글\n[cluster]\nsecret = \"hunter2\n", "line 3, column"),
            ("[cluster]\nmysql = \"mysql://a:hunter2@h:1\"\n", "`cluster.mysql`"),
            ("[[cluster.mysql]]\nurl = \"mysql://a:hunter2@h:1\"\nshards = [\"hunter2\"]\n", "cluster"),
            ("cluster = \"hunter2\"\n", "`cluster`"),
        ] {
            let (_keep, file) = file(text);
            let message = failure(&Sources { file, ..Sources::default() });
            assert!(message.contains(place) && !message.contains("hunter2"), "{message}");
        }
    }

    #[test]
    fn a_section_of_servers_makes_a_cluster_and_its_secrets_are_hidden() {
        let (_keep, file) = file(CLUSTER_FILE);
        let environment = environment(&[("MADANG_CLUSTER_NAME", "forum")]);
        let flags =
            vec![("cluster.internal.listen".to_owned(), "127.0.0.1:9".to_owned(), "--set cluster...".to_owned())];
        let config = Config::load(&Sources { file, environment, flags }).unwrap();
        let cluster = config.settings.cluster.as_ref().unwrap();
        assert_eq!((cluster.name.as_str(), cluster.internal.listen.as_str()), ("forum", "127.0.0.1:9"));
        let shown = config.describe();
        assert!(shown.contains("[cluster.redis]") && !shown.contains("0123456789abcdef"), "{shown}");
        shown.parse::<toml::Table>().unwrap();
    }

    #[test]
    fn an_unknown_key_of_the_servers_is_named() {
        let (_keep, file) = file(&CLUSTER_FILE.replace("bootstrap", "boostrap"));
        let message = failure(&Sources { file, ..Sources::default() });
        assert!(message.contains("`cluster.kafka.boostrap`; did you mean `cluster.kafka.bootstrap`?"), "{message}");
    }

    #[test]
    fn a_name_of_a_cluster_without_its_servers_says_what_is_missing() {
        let environment = environment(&[("MADANG_CLUSTER_NAME", "forum")]);
        let message = failure(&Sources { environment, ..Sources::default() });
        assert!(message.starts_with("setting `cluster.mysql` is missing"), "{message}");
        assert!(!message.contains("(from )"), "what nobody set comes from nowhere: {message}");
    }

    #[test]
    fn text_that_looks_like_a_number_stays_text() {
        let environment = environment(&[
            ("MADANG_DATA", "2024"),
            ("MADANG_ADMIN_NAME", "007"),
            ("MADANG_ADMIN_PASSWORD", "12345678"),
        ]);
        let config = Config::load(&Sources { environment, ..Sources::default() }).unwrap();
        assert_eq!(config.settings.data, PathBuf::from("2024"));
        assert_eq!(config.settings.admin_password, "12345678");
        assert!(!config.describe().contains("12345678"), "secrets are hidden");
    }

    #[test]
    fn the_description_is_a_file_that_gives_the_same_settings() {
        let (_keep, file) = file(&Config::load(&Sources::default()).unwrap().describe());
        assert_eq!(Config::load(&Sources { file, ..Sources::default() }).unwrap().settings, Settings::default());
    }
}
