//! Where the servers are, ours or a developer's own: as variables for tests and as lists for a configuration.

use super::mariadb;
use super::part::Part;
use super::state::State;

/// The addresses of every part; an empty list where a part could not be had.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Endpoints {
    /// `mysql://user:password@host:port`, one a physical server.
    pub(crate) mysql: Vec<String>,
    /// `redis://host:port` of the single server.
    pub(crate) redis: Vec<String>,
    /// `redis://host:port` of each node.
    pub(crate) redis_cluster: Vec<String>,
    /// `host:port` of each broker.
    pub(crate) kafka: Vec<String>,
}

impl Endpoints {
    /// The endpoints of a stack, with `own` servers in place of ours where there are any.
    pub(crate) fn of(state: &State, own: impl Fn(Part) -> Option<String>) -> Self {
        let list = |part: Part, ours: Vec<String>| match own(part) {
            Some(value) => {
                value.split(',').map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect()
            }
            None => ours,
        };
        let addresses = |part: Part, scheme: &str| {
            state.of(part).iter().map(|server| format!("{scheme}127.0.0.1:{}", server.port)).collect()
        };
        Self {
            mysql: list(Part::Mysql, mariadb::urls(&state.of(Part::Mysql), &state.mysql_password)),
            redis: list(Part::Redis, addresses(Part::Redis, "redis://")),
            redis_cluster: list(Part::RedisCluster, addresses(Part::RedisCluster, "redis://")),
            kafka: list(Part::Kafka, addresses(Part::Kafka, "")),
        }
    }

    /// The variables by which tests find the servers; a part that is not there has none.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let lists = [
            (Part::Mysql, &self.mysql),
            (Part::Redis, &self.redis),
            (Part::RedisCluster, &self.redis_cluster),
            (Part::Kafka, &self.kafka),
        ];
        let named = lists.into_iter().filter(|(_, list)| !list.is_empty());
        named.filter_map(|(part, list)| Some((part.variable()?, list.join(",")))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::state::tests::server;

    fn state() -> State {
        let mut state = State::new(1).unwrap();
        state.mysql_password = "secret".into();
        state.servers = vec![
            server("mariadb-1", Part::Mysql, 1),
            server("mariadb-2", Part::Mysql, 2),
            server("redis", Part::Redis, 3),
            server("kafka-1", Part::Kafka, 4),
        ];
        state
    }

    #[test]
    fn tests_find_our_servers_by_variables_and_none_for_what_is_missing() {
        let variables = Endpoints::of(&state(), |_| None).variables();
        assert_eq!(
            variables,
            [
                ("MADANG_TEST_MYSQL", "mysql://root:secret@127.0.0.1:1,mysql://root:secret@127.0.0.1:2".to_owned()),
                ("MADANG_TEST_REDIS", "redis://127.0.0.1:3".to_owned()),
                ("MADANG_TEST_KAFKA", "127.0.0.1:4".to_owned()),
            ]
        );
    }

    #[test]
    fn own_servers_stand_in_for_ours() {
        let own = |part| (part == Part::Kafka).then(|| "broker-1:9092, broker-2:9092,".to_owned());
        let endpoints = Endpoints::of(&state(), own);
        assert_eq!(endpoints.kafka, ["broker-1:9092", "broker-2:9092"]);
        assert_eq!(endpoints.redis, ["redis://127.0.0.1:3"]);
    }
}
