//! `cargo xtask stack status`: what runs, where, in which version, and whether it answers.

use anyhow::anyhow;

use super::answers;
use super::part::Part;
use super::state::{Server, State};

/// One line a server, and whether all is well.
pub(crate) struct Status {
    lines: Vec<Line>,
}

struct Line {
    name: String,
    state: &'static str,
    port: String,
    version: String,
    /// What kept it from answering, if anything did.
    trouble: Option<String>,
}

impl Status {
    /// Looks at every server of a stack, and asks it.
    pub(crate) fn of(state: &State) -> Self {
        let servers = Part::ALL.into_iter().flat_map(|part| state.of(part));
        Self { lines: servers.map(|server| look(server, usize::from(state.brokers))).collect() }
    }

    /// Whether every server runs and answers.
    pub(crate) fn is_well(&self) -> bool {
        self.lines.iter().all(|line| line.trouble.is_none())
    }

    /// A table for people.
    pub(crate) fn table(&self) -> String {
        let mut text = format!("{:<16} {:<11} {:>6}  {:<8} {}\n", "server", "state", "port", "answers", "version");
        for Line { name, state, port, version, trouble } in &self.lines {
            let answers = if trouble.is_none() { "yes" } else { "NO" };
            let remark =
                trouble.as_ref().filter(|text| !text.is_empty()).map(|text| format!(" ({text})")).unwrap_or_default();
            text += &format!("{name:<16} {state:<11} {port:>6}  {answers:<8} {version}{remark}\n");
        }
        text
    }
}

fn look(server: &Server, brokers: usize) -> Line {
    let state = match &server.process {
        None => "not started",
        Some(process) if process.runs() => "running",
        Some(_) => "ended",
    };
    // One that does not run is not asked: somebody else's server may have taken its port since.
    let answer = if server.runs() { answers::ask_with_peers(server, brokers) } else { Err(anyhow!("")) };
    let (version, trouble) = match answer {
        Ok(version) => (version, None),
        Err(error) => (server.version.clone(), Some(format!("{error:#}"))),
    };
    Line { name: server.name.clone(), state, port: server.port.to_string(), version, trouble }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::process::Process;
    use crate::stack::state::tests::server;

    #[test]
    fn a_server_that_ended_and_one_that_does_not_answer_are_told_apart() {
        let mut state = State::new(1).unwrap();
        let ended = Process { pid: std::process::id(), started: "before".into() };
        let port = crate::stack::ports::free(1, &[]).unwrap()[0];
        state.servers = vec![
            Server { process: Some(ended), ..server("mariadb-1", Part::Mysql, port) },
            Server { process: Process::of(std::process::id()), ..server("redis", Part::Redis, port) },
            server("kafka-1", Part::Kafka, port),
        ];
        let status = Status::of(&state);
        assert!(!status.is_well());
        let table = status.table();
        let lines: Vec<Vec<_>> = table.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[0][..4], ["mariadb-1", "ended", port.to_string().as_str(), "NO"]);
        assert_eq!(lines[1][..4], ["redis", "running", port.to_string().as_str(), "NO"]);
        assert_eq!(lines[2][..3], ["kafka-1", "not", "started"]);
    }
}
