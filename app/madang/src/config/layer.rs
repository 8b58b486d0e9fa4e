//! One source of settings as figment sees it, under the name that error messages give it.

use std::sync::LazyLock;

use figment::value::{Dict, Map, Value};
use figment::{Metadata, Profile, Provider};

use super::Settings;

/// The name under which a default is reported.
pub(super) const DEFAULT: &str = "default";

static DEFAULTS: LazyLock<Dict> = LazyLock::new(|| {
    let value = Value::serialize(Settings::default()).ok();
    value.and_then(Value::into_dict).unwrap_or_default()
});
static KEYS: LazyLock<Vec<String>> = LazyLock::new(|| DEFAULTS.keys().cloned().collect());

/// Every setting's key, in order.
pub(super) fn known_keys() -> &'static Vec<String> {
    &KEYS
}

/// The section of the servers, which only the file can hold as a whole.
pub(super) const CLUSTER: &str = "cluster";
/// What of it may be set elsewhere too: by `MADANG_CLUSTER_...` and `--set cluster....`.
pub(super) const CLUSTER_KEYS: [&str; 11] = [
    "cluster.name",
    "cluster.secret",
    "cluster.secret_file",
    "cluster.token_generation",
    "cluster.nameless_keys",
    "cluster.node_lease_ms",
    "cluster.clock_skew_max_ms",
    "cluster.mysql_connections_max",
    "cluster.near_cache_mb",
    "cluster.internal.listen",
    "cluster.internal.connections_max",
];
/// Those of them that are numbers.
const CLUSTER_NUMBERS: [&str; 6] = [
    "cluster.token_generation",
    "cluster.node_lease_ms",
    "cluster.clock_skew_max_ms",
    "cluster.mysql_connections_max",
    "cluster.near_cache_mb",
    "cluster.internal.connections_max",
];

/// Settings that had another name, which is understood for one more version: (old, new).
const RENAMED: [(&str, &str); 2] = [("people_queue", "foreground_queue"), ("wait_max_ms", "scheduling_delay_max_ms")];

/// Settings that are texts with commas in between, and may be lists in a file.
const LISTS: [&str; 3] = ["roles", "trusted_proxies", "reserved_names"];

/// A list of texts, where a file may hold one, as the text that the setting is.
pub(super) fn joined(key: &str, value: Value) -> Value {
    let texts = match &value {
        Value::Array(_, items) if LISTS.contains(&key) => items.iter().map(Value::as_str).collect::<Option<Vec<_>>>(),
        _ => None,
    };
    match texts.map(|texts| texts.join(",")) {
        Some(text) => Value::from(text),
        None => value,
    }
}

/// The present name of a setting.
pub(super) fn present_name(key: &str) -> &str {
    RENAMED.iter().find(|(old, _)| *old == key).map_or(key, |(_, new)| new)
}

/// The setting of an environment variable, whose name has no dots.
pub(super) fn key_of_variable(name: &str) -> Option<&'static str> {
    let mut all = KEYS.iter().map(String::as_str).chain(CLUSTER_KEYS);
    let name = present_name(name);
    all.find(|key| variable(key) == name)
}

/// A value from the environment or a flag, read as what the setting is: text stays text, whatever it looks like.
pub(super) fn typed(key: &str, text: &str) -> Value {
    match DEFAULTS.get(key) {
        None if CLUSTER_NUMBERS.contains(&key) => {
            text.parse().unwrap_or_else(|never: std::convert::Infallible| match never {})
        }
        Some(Value::String(..)) | None => Value::from(text),
        Some(_) => text.parse().unwrap_or_else(|never: std::convert::Infallible| match never {}),
    }
}

/// A number or a switch as TOML spells it.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Num(_, number) => number
            .to_u128()
            .map(|n| n.to_string())
            .or_else(|| number.to_i128().map(|n| n.to_string()))
            .or_else(|| number.to_f64().map(|n| n.to_string()))
            .unwrap_or_default(),
        Value::Bool(_, on) => on.to_string(),
        other => format!("{other:?}"),
    }
}

/// The setting whose name is nearest to `key`, if any is near.
pub(super) fn similar(key: &str) -> Option<&'static str> {
    nearest(key, KEYS.iter().map(String::as_str).chain(CLUSTER_KEYS))
}

/// The variable whose name is nearest to this one, both without their prefix.
pub(super) fn similar_variable(name: &str) -> Option<String> {
    let variables: Vec<String> = KEYS.iter().map(String::as_str).chain(CLUSTER_KEYS).map(variable).collect();
    nearest(name, variables.iter().map(String::as_str)).map(str::to_owned)
}

/// The name that is nearest to `name`, if any is near.
pub(super) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (distance, nearest) = names.map(|known| (strsim::levenshtein(known, name), known)).min()?;
    (distance <= 1 + name.len() / 4).then_some(nearest)
}

/// The name of a setting in the environment, without its prefix.
fn variable(key: &str) -> String {
    key.replace('.', "_")
}

/// Settings from one place.
pub(super) struct Layer {
    origin: String,
    values: Dict,
}

impl Layer {
    /// Settings found at `origin`.
    pub(super) fn new(origin: String, values: Dict) -> Self {
        Self { origin, values }
    }

    /// A single setting found at `origin`; dots lead into sections.
    pub(super) fn one(origin: String, key: &str, value: Value) -> Self {
        let values = match key.split_once('.') {
            None => Dict::from([(key.to_owned(), value)]),
            Some((section, rest)) => {
                let inner = Self::one(String::new(), rest, value).values;
                Dict::from([(section.to_owned(), Value::from(inner))])
            }
        };
        Self::new(origin, values)
    }

    /// What holds when nothing is set.
    pub(super) fn defaults() -> Self {
        Self::new(DEFAULT.to_owned(), DEFAULTS.clone())
    }
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.origin.clone())
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        Ok(Map::from([(Profile::Default, self.values.clone())]))
    }
}
