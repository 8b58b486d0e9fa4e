//! `cargo xtask stack config`: a `cluster.toml` for the running stack.

use anyhow::{Result, ensure};

use super::endpoints::Endpoints;

/// The file as people will read it; everything about its keys is in there.
const TEMPLATE: &str = include_str!("cluster.template.toml");
/// How many logical shards there are, whatever the number of servers.
const SHARDS: usize = 64;

/// Fills the template in; `secret` is what every key of the site is derived from.
pub(crate) fn render(endpoints: &Endpoints, secret: &str) -> Result<String> {
    let parts = [&endpoints.mysql, &endpoints.redis, &endpoints.redis_cluster, &endpoints.kafka];
    ensure!(
        parts.iter().all(|part| !part.is_empty()),
        "the stack is not complete: `cargo xtask stack status` says more"
    );
    Ok(TEMPLATE
        .replace("@secret@", &string(secret))
        .replace("@mysql@", &mysql(&endpoints.mysql))
        .replace("@redis@", &strings(&endpoints.redis))
        .replace("@redis_cluster@", &strings(&endpoints.redis_cluster))
        .replace("@kafka@", &strings(&endpoints.kafka)))
}

fn mysql(urls: &[String]) -> String {
    let server = |(url, (first, last)): (&String, (usize, usize))| {
        format!("[[cluster.mysql]]\nurl = {}\nshards = \"{first}-{last}\"", string(url))
    };
    urls.iter().zip(shard_ranges(urls.len())).map(server).collect::<Vec<_>>().join("\n\n")
}

/// The first and last shard of each of so many servers: every shard once, as evenly as it goes.
fn shard_ranges(servers: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..servers).map(move |server| (server * SHARDS / servers, (server + 1) * SHARDS / servers - 1))
}

fn strings(items: &[String]) -> String {
    format!("[{}]", items.iter().map(|item| string(item)).collect::<Vec<_>>().join(", "))
}

/// A TOML string, also of an address that somebody else wrote.
fn string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "0123456789abcdef0123456789abcdef";

    fn endpoints() -> Endpoints {
        Endpoints {
            mysql: vec!["mysql://root:a\"b@127.0.0.1:1".into(), "mysql://root:x@127.0.0.1:2".into()],
            redis: vec!["redis://127.0.0.1:3".into()],
            redis_cluster: vec!["redis://127.0.0.1:4".into(), "redis://127.0.0.1:5".into()],
            kafka: vec!["127.0.0.1:6".into()],
        }
    }

    #[test]
    fn the_configuration_is_toml_with_every_address_in_its_place() {
        let text = render(&endpoints(), SECRET).unwrap();
        assert!(!text.contains('@') || text.lines().all(|line| !line.trim().starts_with('@')), "{text}");
        let table: toml::Table = text.parse().unwrap();
        let cluster = &table["cluster"];
        assert_eq!(cluster["secret"].as_str(), Some(SECRET));
        assert_eq!(cluster["mysql"][0]["url"].as_str(), Some("mysql://root:a\"b@127.0.0.1:1"));
        assert_eq!(cluster["mysql"][0]["shards"].as_str(), Some("0-31"));
        assert_eq!(cluster["mysql"][1]["shards"].as_str(), Some("32-63"));
        assert_eq!(cluster["redis"]["urls"][0].as_str(), Some("redis://127.0.0.1:3"));
        assert_eq!(cluster["kafka"]["bootstrap"][0].as_str(), Some("127.0.0.1:6"));
        assert!(text.contains("# urls = [\"redis://127.0.0.1:4\", \"redis://127.0.0.1:5\"]"));
    }

    #[test]
    fn every_shard_has_one_server() {
        for servers in 1..=SHARDS {
            let ranges: Vec<_> = shard_ranges(servers).collect();
            let covered: Vec<_> = ranges.iter().flat_map(|(first, last)| *first..=*last).collect();
            assert_eq!(covered, (0..SHARDS).collect::<Vec<_>>(), "{servers} servers");
        }
    }

    #[test]
    fn half_a_stack_has_no_configuration() {
        let error = render(&Endpoints { kafka: Vec::new(), ..endpoints() }, SECRET).unwrap_err().to_string();
        assert!(error.contains("not complete"), "{error}");
    }
}
