//! Settings in the environment. A name that starts like ours and is no setting is an error: whoever wrote `MADANG_LISTN`
//! believes to have set something.

use std::env;

use super::ConfigError;
use super::layer::{key_of_variable, similar_variable};

/// What every name in the environment starts with.
const PREFIX: &str = "MADANG_";
/// Names that belong to us and are not settings: the file of settings, and what tests and simulations go by.
const OTHERS: [&str; 3] = ["MADANG_CONFIG", "MADANG_TEST_", "MADANG_SIM_"];

/// The environment of this process, as far as it is text.
pub(crate) fn of_process() -> Result<Vec<(String, String)>, ConfigError> {
    let mut environment = Vec::new();
    for (name, value) in env::vars_os() {
        // A name of ours is text.
        let Ok(name) = name.into_string() else { continue };
        match value.into_string() {
            Ok(value) => environment.push((name, value)),
            Err(_) if name.starts_with(PREFIX) => {
                return Err(ConfigError::Invalid(format!("the environment variable {name} is not UTF-8")));
            }
            Err(_) => {}
        }
    }
    Ok(environment)
}

/// The settings in an environment, as (variable, setting, value).
pub(super) fn settings(environment: &[(String, String)]) -> Result<Vec<(&str, &'static str, &str)>, ConfigError> {
    let mut found = Vec::new();
    let mut unknown = Vec::new();
    for (name, value) in environment {
        let Some(short) = name.strip_prefix(PREFIX).map(str::to_ascii_lowercase) else { continue };
        match key_of_variable(&short) {
            Some(key) => found.push((name.as_str(), key, value.as_str())),
            None if OTHERS.iter().any(|other| name.starts_with(other)) || is_service_link(name, value) => {}
            None => unknown.push(complaint(name, &short)),
        }
    }
    if unknown.is_empty() { Ok(found) } else { Err(ConfigError::UnknownVariables(unknown.join("\n"))) }
}

fn complaint(name: &str, short: &str) -> String {
    let hint = match similar_variable(short) {
        Some(meant) => format!("did you mean {PREFIX}{}?", meant.to_ascii_uppercase()),
        None => "`madang config` lists the settings; unset what is none".to_owned(),
    };
    format!("the environment variable {name} is not a setting: {hint}")
}

/// Whether Kubernetes, or Docker, put the variable there for a service that is called madang or begins so. `MADANG_PORT` is
/// theirs when it holds an address such as `tcp://10.0.0.1:8080`; with a number in it, somebody means `MADANG_LISTEN`.
fn is_service_link(name: &str, value: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let of_port = |rest: &str| {
        let mut parts = rest.split('_');
        parts.next().is_some_and(is_number) && parts.next().is_some_and(|kind| ["TCP", "UDP", "SCTP"].contains(&kind))
    };
    name.ends_with("_SERVICE_HOST")
        || name.ends_with("_SERVICE_PORT")
        || name.contains("_SERVICE_PORT_")
        || (name.ends_with("_PORT") && value.contains("://"))
        || name.split("_PORT_").skip(1).any(of_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&'static str]) -> Result<Vec<&'static str>, String> {
        let pair = |name: &&'static str| name.split_once('=').unwrap_or((*name, "1"));
        let pairs = names.iter().map(pair).map(|(name, value)| (name.to_owned(), value.to_owned()));
        let environment: Vec<_> = pairs.collect();
        let found = settings(&environment).map_err(|error| error.to_string())?;
        Ok(found.into_iter().map(|(_, key, _)| key).collect())
    }

    #[test]
    fn a_misspelt_variable_is_an_error_that_names_the_one_that_was_meant() {
        let message = of(&["MADANG_LISTN", "MADANG_CLUSTER_NAM", "MADANG_COLOUR_OF_THE_SKY"]).unwrap_err();
        for part in [
            "MADANG_LISTN is not a setting: did you mean MADANG_LISTEN?",
            "MADANG_CLUSTER_NAM is not a setting: did you mean MADANG_CLUSTER_NAME?",
            "MADANG_COLOUR_OF_THE_SKY is not a setting: `madang config` lists",
        ] {
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn settings_are_found_and_what_belongs_to_others_is_left_alone() {
        assert_eq!(
            of(&["PATH", "MADANG_RATE_LIMIT", "MADANG_CLUSTER_SECRET_FILE"]).unwrap(),
            ["rate_limit", "cluster.secret_file"]
        );
        assert_eq!(of(&["MADANG_TEST_LONG", "MADANG_SIM_SEED", "MADANG_CONFIG"]).unwrap(), [""; 0]);
    }

    #[test]
    fn what_kubernetes_says_of_a_service_named_madang_stops_no_start() {
        let links = [
            "MADANG_SERVICE_HOST",
            "MADANG_SERVICE_PORT",
            "MADANG_SERVICE_PORT_HTTP",
            "MADANG_PORT=tcp://10.0.0.1:8080",
            "MADANG_PORT_8080_TCP",
            "MADANG_WEB_PORT_8080_TCP_ADDR",
        ];
        assert_eq!(of(&links).unwrap(), [""; 0]);
        for setting in ["MADANG_PORT=8080", "MADANG_PORTS", "MADANG_SERVICE"] {
            assert!(of(&[setting]).is_err(), "{setting}");
        }
    }
}
