//! `cargo xtask stack config`: a `cluster.toml` for the running stack.

use anyhow::{Result, ensure};

use super::part::Part;

/// The file as people will read it; everything about its keys is in there.
const TEMPLATE: &str = include_str!("cluster.template.toml");
/// How many logical shards there are, whatever the number of servers.
const SHARDS: usize = 64;

/// Fills the template in. `secret` is what every key of the site is derived from: whoever prints the file again has other
/// keys, which sign everybody out.
pub(crate) fn render(addresses: impl Fn(Part) -> Vec<String>, secret: &str) -> Result<String> {
    let quoted = |part| serde_json::to_string(&addresses(part));
    let text = TEMPLATE
        .replace("@secret@", &format!("{secret:?}"))
        .replace("@mysql@", &mysql(&addresses(Part::Mysql)))
        .replace("@redis@", &quoted(Part::Redis)?)
        .replace("@redis_cluster@", &quoted(Part::RedisCluster)?)
        .replace("@kafka@", &quoted(Part::Kafka)?);
    let parts = [Part::Mysql, Part::Redis, Part::RedisCluster, Part::Kafka];
    ensure!(
        parts.into_iter().all(|part| !addresses(part).is_empty()),
        "the stack is not complete: `cargo xtask stack status` says more"
    );
    Ok(text)
}

/// Every shard has one server, and they are spread as evenly as it goes.
fn mysql(urls: &[String]) -> String {
    let count = urls.len();
    let server = |(server, url): (usize, &String)| {
        let (first, last) = (server * SHARDS / count, (server + 1) * SHARDS / count - 1);
        format!("[[cluster.mysql]]\nurl = {url:?}\nshards = \"{first}-{last}\"")
    };
    urls.iter().enumerate().map(server).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "0123456789abcdef0123456789abcdef";

    fn addresses(part: Part) -> Vec<String> {
        let addresses: &[&str] = match part {
            Part::Mysql => &["mysql://root:a\"b@127.0.0.1:1", "mysql://root:x@127.0.0.1:2", "mysql://c"],
            Part::Redis => &["redis://127.0.0.1:3"],
            Part::RedisCluster => &["redis://127.0.0.1:4", "redis://127.0.0.1:5"],
            Part::Kafka => &["127.0.0.1:6"],
            Part::MysqlReplica | Part::Nginx | Part::Browser | Part::Promtool | Part::HostTools | Part::Observe => &[],
        };
        addresses.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_configuration_is_toml_with_every_address_in_its_place() {
        let text = render(addresses, SECRET).unwrap();
        let table: toml::Table = text.parse().unwrap();
        let cluster = &table["cluster"];
        assert_eq!(cluster["secret"].as_str(), Some(SECRET));
        assert_eq!(cluster["mysql"][0]["url"].as_str(), Some("mysql://root:a\"b@127.0.0.1:1"));
        let shards = cluster["mysql"].as_array().unwrap().iter().map(|server| server["shards"].as_str().unwrap());
        assert_eq!(shards.collect::<Vec<_>>(), ["0-20", "21-41", "42-63"]);
        assert_eq!(cluster["redis"]["urls"][0].as_str(), Some("redis://127.0.0.1:3"));
        assert_eq!(cluster["kafka"]["bootstrap"][0].as_str(), Some("127.0.0.1:6"));
        assert!(text.contains("# urls = [\"redis://127.0.0.1:4\",\"redis://127.0.0.1:5\"]"));
    }

    #[test]
    fn half_a_stack_has_no_configuration() {
        let half = |part| if part == Part::Kafka { Vec::new() } else { addresses(part) };
        assert!(render(half, SECRET).unwrap_err().to_string().contains("not complete"));
    }
}
