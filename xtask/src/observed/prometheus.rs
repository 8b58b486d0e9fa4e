//! What Prometheus is asked: which alerts fire, and what a query answers.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::http;

/// A running Prometheus.
pub(crate) struct Prometheus {
    address: String,
}

impl Prometheus {
    pub(super) fn at(address: String) -> Self {
        Self { address }
    }

    /// The names of the alerts that fire.
    pub(crate) fn firing(&self) -> Result<BTreeSet<String>> {
        let answer = http::get(&self.address, "/api/v1/alerts")?.json()?;
        let alerts = answer["data"]["alerts"].as_array().cloned().unwrap_or_default();
        let firing = alerts.iter().filter(|alert| alert["state"] == "firing");
        Ok(firing.filter_map(|alert| alert["labels"]["alertname"].as_str().map(str::to_owned)).collect())
    }

    /// The series that a query answers with at this moment.
    pub(crate) fn query(&self, expression: &str) -> Result<Vec<Value>> {
        let answer = http::get(&self.address, &format!("/api/v1/query?query={}", http::escaped(expression)))?;
        let answer: Value = serde_json::from_str(&answer.body)?;
        if answer["status"] != "success" {
            bail!("{}", answer["error"].as_str().unwrap_or("no reason given"));
        }
        let is_number = |series: &&Value| series["value"][1] != "NaN";
        let result = answer["data"]["result"].as_array().cloned().unwrap_or_default();
        Ok(result.iter().filter(is_number).cloned().collect())
    }
}
