//! A way to a server that a test can cut, for some of its clients and not for others.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A port that leads to another, unless it is cut.
pub(crate) struct Link {
    listener: TcpListener,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    is_cut: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
}

impl Link {
    /// A port that nobody answers yet.
    pub(crate) fn new() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").expect("a port"), state: Arc::default() }
    }

    /// Where clients come in.
    pub(crate) fn port(&self) -> u16 {
        self.listener.local_addr().expect("a port").port()
    }

    /// Leads to a port of this host from now on.
    pub(crate) fn lead_to(&self, port: u16) {
        let (listener, state) = (self.listener.try_clone().expect("a listener"), self.state.clone());
        // Ends with the program.
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if state.is_cut.load(Ordering::SeqCst) {
                    continue;
                }
                if let Ok(server) = TcpStream::connect(("127.0.0.1", port)) {
                    state.carry(client, server);
                }
            }
        });
    }

    /// Ends every connection, and every new one at once.
    pub(crate) fn cut(&self) {
        self.state.is_cut.store(true, Ordering::SeqCst);
        for stream in self.state.open.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Lets connections through again.
    pub(crate) fn mend(&self) {
        self.state.is_cut.store(false, Ordering::SeqCst);
    }
}

impl State {
    fn carry(&self, client: TcpStream, server: TcpStream) {
        let both = |stream: &TcpStream| stream.try_clone().expect("a stream");
        self.open.lock().unwrap_or_else(PoisonError::into_inner).extend([both(&client), both(&server)]);
        let (to_server, to_client) = ((both(&client), both(&server)), (server, client));
        for (mut from, mut to) in [to_server, to_client] {
            std::thread::spawn(move || {
                let mut bytes = vec![0; 64 * 1_024];
                while let Ok(length @ 1..) = from.read(&mut bytes) {
                    if to.write_all(&bytes[..length]).is_err() {
                        break;
                    }
                }
                let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
            });
        }
    }
}
