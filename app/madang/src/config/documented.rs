//! Keeps docs/configuration.md true: every setting has a row there, with its default and its range, and nothing else has one.

use std::collections::{BTreeMap, BTreeSet};

use figment::value::Value;

use super::cluster::ClusterSettings;
use super::layer::{self, CLUSTER_KEYS, Layer, known_keys};
use super::settings::Settings;

const PAGE: &str = include_str!("../../../../docs/configuration.md");
/// Defaults that are not one value.
const TOLD_IN_WORDS: [&str; 3] = ["readers", "reserved_names", "cluster.kafka.replication"];
/// Everything that the section can hold.
const WHOLE_CLUSTER: &str = r#"
secret = "0123456789abcdef0123456789abcdef"
secret_file = "a"
[[mysql]]
url = "mysql://a:b@h:1"
shards = "0-63"
[mysql_tls]
ca_file = "a"
client_cert_file = "a"
client_key_file = "a"
server_name = "a"
[redis]
urls = ["redis://h:2"]
[kafka]
replication = 3
bootstrap = ["h:3"]
security = { "ssl.ca.location" = "a" }
[peers]
like = ["http://h:4"]
"#;

/// The rows by setting: default and values, and whether the setting may be set outside of the file.
fn rows() -> BTreeMap<&'static str, (&'static str, &'static str, bool)> {
    let rows = PAGE.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix("| `")?.split(" | ").collect();
        let (key, mark) = cells[0].split_once('`')?;
        Some((key, (cells[1], cells[2], mark.trim() == "*")))
    });
    let all: Vec<_> = rows.collect();
    let found: BTreeMap<_, _> = all.iter().copied().collect();
    assert_eq!(found.len(), all.len(), "a setting has two rows");
    found
}

/// A number with its thousands apart, as the page writes it.
fn grouped(digits: &str) -> String {
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

fn told(value: &Value) -> String {
    match value {
        Value::String(_, text) if text.is_empty() => "empty".to_owned(),
        Value::String(_, text) => format!("`{text}`"),
        Value::Bool(_, on) => format!("`{on}`"),
        number => grouped(&layer::plain(number)),
    }
}

/// "1 to 1,000" of "a whole number from 1 to 1000".
fn told_range(words: &str) -> String {
    let ends = words.trim_start_matches("a whole number from ").split(" to ");
    ends.map(grouped).collect::<Vec<_>>().join(" to ")
}

/// The keys of a section with their values, in dots; lists of tables are told as one.
fn flat(prefix: &str, value: &toml::Value, into: &mut BTreeMap<String, toml::Value>) {
    let is_free = ["cluster.peers", "cluster.kafka.security"].contains(&prefix);
    match value {
        toml::Value::Table(table) if !is_free => {
            table.iter().for_each(|(key, value)| flat(&format!("{prefix}.{key}"), value, into));
        }
        toml::Value::Array(items) if items.first().is_some_and(toml::Value::is_table) => {
            items.iter().for_each(|item| flat(prefix, item, into));
        }
        value => drop(into.insert(prefix.to_owned(), value.clone())),
    }
}

#[test]
fn every_setting_is_documented_with_its_default_and_its_range() {
    let (rows, defaults) = (rows(), figment::Figment::from(Layer::defaults()));
    for key in known_keys() {
        let (default, values, _) = rows.get(key.as_str()).unwrap_or_else(|| panic!("`{key}` has no row"));
        if !TOLD_IN_WORDS.contains(&key.as_str()) {
            assert_eq!(*default, told(&defaults.find_value(key).unwrap()), "the default of `{key}`");
        }
        if let Some(range) = Settings::range_of(key) {
            assert_eq!(*values, told_range(&range), "the range of `{key}`");
        }
    }
}

#[test]
fn every_setting_of_a_cluster_is_documented_with_its_default_and_its_range() {
    let settings: ClusterSettings = toml::from_str(WHOLE_CLUSTER).unwrap();
    let mut known = BTreeMap::new();
    flat("cluster", &toml::Value::try_from(&settings).unwrap(), &mut known);
    let rows = rows();
    for (key, value) in &known {
        let (default, values, outside) = rows.get(key.as_str()).unwrap_or_else(|| panic!("`{key}` has no row"));
        if let Some(range) = ClusterSettings::range_of(key) {
            assert_eq!(*values, told_range(&range), "the range of `{key}`");
            if !TOLD_IN_WORDS.contains(&key.as_str()) {
                assert_eq!(*default, grouped(&value.to_string()), "the default of `{key}`");
            }
        }
        assert_eq!(*outside, CLUSTER_KEYS.contains(&key.as_str()), "whether `{key}` can be set outside of the file");
    }
    let documented: BTreeSet<&str> = rows.keys().copied().collect();
    let known: BTreeSet<&str> = known_keys().iter().chain(known.keys()).map(String::as_str).collect();
    assert_eq!(documented.difference(&known).collect::<Vec<_>>(), [&""; 0], "rows of settings that do not exist");
}

#[test]
fn numbers_are_grouped_as_the_page_writes_them() {
    assert_eq!(["7", "512", "1024", "1000000"].map(grouped), ["7", "512", "1,024", "1,000,000"]);
}
