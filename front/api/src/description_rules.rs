//! What the description must be for the programs that read it: generators of clients, linters, pages of documentation.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::router::description;

fn described() -> Value {
    serde_json::to_value(description()).unwrap()
}

/// Every value in the description, with the path to it.
fn all(value: &Value) -> Vec<(String, &Value)> {
    let mut found = vec![(String::new(), value)];
    let mut at = 0;
    while let Some((path, value)) = found.get(at).cloned() {
        match value {
            Value::Object(fields) => found.extend(fields.iter().map(|(name, field)| (format!("{path}/{name}"), field))),
            Value::Array(items) => found.extend(items.iter().map(|item| (format!("{path}/-"), item))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        at += 1;
    }
    found
}

/// Every call, by the name it has in clients.
fn calls(description: &Value) -> BTreeMap<&str, &Value> {
    let paths = description["paths"].as_object().unwrap().values();
    let calls = paths.flat_map(|path| path.as_object().unwrap().values());
    calls.map(|call| (call["operationId"].as_str().unwrap(), call)).collect()
}

#[test]
fn nothing_stands_beside_a_reference() {
    let description = described();
    for (path, value) in all(&description) {
        let crowded = value.get("$ref").is_some() && value.as_object().unwrap().len() > 1;
        assert!(!crowded, "{path}: {value}");
    }
}

#[test]
fn no_pattern_asks_for_unicode_tables() {
    let description = described();
    let patterns = all(&description).into_iter().filter(|(path, _)| path.ends_with("/pattern"));
    let patterns: Vec<_> = patterns.map(|(path, pattern)| (path, pattern.as_str().unwrap())).collect();
    assert!(patterns.len() > 10, "{patterns:?}");
    for (path, pattern) in patterns {
        assert!(!pattern.contains(r"\p"), "{path}: to Python {pattern} is no regular expression");
    }
}

#[test]
fn every_field_is_described_and_has_an_example_of_its_own_or_of_what_it_refers_to() {
    let description = described();
    for (schema, about) in description["components"]["schemas"].as_object().unwrap() {
        let is_told = |told: &str| about.get(told).is_some();
        assert!(is_told("description"), "{schema} is not described");
        let has_example = is_told("example") || is_told("examples") || is_told("enum");
        assert!(is_told("properties") || has_example, "{schema} has no example");
        for (field, about) in about.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let refers = ["$ref", "allOf", "oneOf", "items"].iter().any(|key| about.get(key).is_some());
            let is_told = |told: &str| about.get(told).is_some();
            assert!(is_told("description") || is_told("$ref"), "{schema}.{field} is not described");
            assert!(refers || is_told("example"), "{schema}.{field} has no example");
        }
    }
}

#[test]
fn schemas_are_named_after_what_they_hold() {
    let description = described();
    let schemas = description["components"]["schemas"].as_object().unwrap();
    for vague in ["Log", "Count", "Viewed", "Registered", "Resolution", "ReadyBody", "NameAndPassword"] {
        assert!(!schemas.contains_key(vague), "{vague}: of what?");
    }
    for name in schemas.keys() {
        assert!(!name.ends_with("Body") && !name.contains('_'), "{name} is a name of our code");
    }
}

#[test]
fn the_kind_of_an_act_is_one_of_those_there_are() {
    let description = described();
    let schemas = &description["components"]["schemas"];
    let kind = &schemas["ModerationAct"]["properties"]["kind"];
    assert_eq!(kind["$ref"], "#/components/schemas/ModerationActKind");
    let kinds = schemas["ModerationActKind"]["enum"].as_array().unwrap();
    assert!(kinds.contains(&"article_deleted".into()) && kinds.len() == madang_board::ActKind::ALL.len(), "{kinds:?}");
}

#[test]
fn a_call_says_whom_it_lets_in_and_that_it_takes_no_other_method() {
    let description = described();
    assert_eq!(description["servers"][0]["url"], "/");
    for (name, call) in calls(&description) {
        assert!(call["security"].is_array(), "{name}");
        assert_eq!(call["responses"]["405"]["$ref"], "#/components/responses/WrongMethod", "{name}");
    }
    let calls = calls(&description);
    assert_eq!(calls["register_member"]["security"], serde_json::json!([]));
    assert!(!calls["create_article"]["security"].as_array().unwrap().is_empty());
}

#[test]
fn a_body_that_may_be_left_out_is_not_null() {
    let description = described();
    for name in ["delete_article", "delete_comment", "resolve_report"] {
        let body = &calls(&description)[name]["requestBody"];
        assert!(body["content"]["application/json"]["schema"]["$ref"].is_string(), "{name}: {body}");
        assert!(body["required"] != true, "{name}: {body}");
    }
}

#[test]
fn ending_other_sessions_never_finds_nothing() {
    let description = described();
    let answers = |name: &str| calls(&description)[name]["responses"].as_object().unwrap().contains_key("404");
    assert!(!answers("end_other_sessions") && answers("end_own_session"));
}
