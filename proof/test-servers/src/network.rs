//! Hosts of a test's own: network namespaces on a bridge, which can be cut off in both directions or in one. Needs root.

#![allow(clippy::expect_used, clippy::missing_panics_doc, reason = "what a test cannot have fails it")]

use std::process::Command;

use crate::program;

/// How a host is cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Nothing reaches it, and nothing that it sends arrives anywhere.
    Both,
    /// What it sends to clients is lost; it gets what they send, and other hosts of the network are not affected.
    Answers,
    /// What clients send to it is lost; it reaches them, and other hosts of the network are not affected.
    Requests,
}

/// A network with its hosts, gone with the test.
pub(crate) struct Network {
    name: String,
    subnet: String,
    hosts: u8,
}

/// A host of a network.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    pub(crate) namespace: String,
    pub(crate) address: String,
    /// Its end of the bridge.
    link: String,
    /// Where clients are.
    clients: String,
}

impl Network {
    /// Makes a network of so many hosts.
    pub(crate) fn make(hosts: u8) -> Self {
        // Names of interfaces are short. A network that exists is not taken for ours.
        let number: u16 = rand::random();
        let [high, low] = number.to_be_bytes();
        let network = Self { name: format!("mdg{number:04x}"), subnet: format!("10.{}.{low}", 128 + high / 2), hosts };
        let Self { name, subnet, .. } = &network;
        ip(&["link", "add", name, "type", "bridge"]);
        ip(&["addr", "add", &format!("{subnet}.1/24"), "dev", name]);
        ip(&["link", "set", name, "up"]);
        for number in 0..hosts {
            let Host { namespace, address, link, .. } = network.host(number);
            ip(&["netns", "add", &namespace]);
            ip(&["link", "add", &link, "type", "veth", "peer", "name", "eth0", "netns", &namespace]);
            ip(&["link", "set", &link, "master", name, "up"]);
            ip(&["-n", &namespace, "addr", "add", &format!("{address}/24"), "dev", "eth0"]);
            ip(&["-n", &namespace, "link", "set", "eth0", "up"]);
            ip(&["-n", &namespace, "link", "set", "lo", "up"]);
        }
        network
    }

    pub(crate) fn host(&self, number: u8) -> Host {
        let Self { name, subnet, .. } = self;
        Host {
            namespace: format!("{name}-{number}"),
            address: format!("{subnet}.{}", 11 + number),
            link: format!("{name}v{number}"),
            clients: format!("{subnet}.1"),
        }
    }
}

impl Host {
    pub(crate) fn cut(&self, cut: Cut) {
        match cut {
            Cut::Both => ip(&["link", "set", &self.link, "down"]),
            Cut::Answers => ip(&["-n", &self.namespace, "route", "add", "blackhole", &self.clients]),
            Cut::Requests => ip(&["route", "add", "blackhole", &self.address]),
        }
    }

    pub(crate) fn heal(&self, cut: Cut) {
        match cut {
            Cut::Both => ip(&["link", "set", &self.link, "up"]),
            Cut::Answers => ip(&["-n", &self.namespace, "route", "del", "blackhole", &self.clients]),
            Cut::Requests => ip(&["route", "del", "blackhole", &self.address]),
        }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for number in 0..self.hosts {
            let host = self.host(number);
            // Mostly there is none.
            let _ = ip_command(&["route", "del", "blackhole", &host.address]).output();
            let _ = ip_command(&["netns", "del", &host.namespace]).output();
        }
        let _ = ip_command(&["link", "del", &self.name]).output();
    }
}

fn ip_command(arguments: &[&str]) -> Command {
    let mut command = Command::new(program("ip"));
    command.args(arguments);
    command
}

fn ip(arguments: &[&str]) {
    let output = ip_command(arguments).output().expect("ip runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "ip {}: {said} (a network of one's own needs root)", arguments.join(" "));
}
