//! A way to Redis that a test can cut, while others still reach it.

use std::sync::Arc;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Passes connections on until it is cut.
pub(crate) struct Proxy {
    pub(crate) url: String,
    is_open: Arc<watch::Sender<bool>>,
    _tasks: JoinSet<()>,
}

impl Proxy {
    /// A way to the server of that address.
    pub(crate) async fn to(url: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = url.trim_start_matches("redis://").trim_end_matches('/').to_owned();
        let is_open = Arc::new(watch::Sender::new(true));
        let (here, mut tasks) = (listener.local_addr().unwrap(), JoinSet::new());
        let opened = Arc::clone(&is_open);
        tasks.spawn(async move {
            let mut passing = JoinSet::new();
            while let Ok((mut client, _)) = listener.accept().await {
                let (address, mut opened) = (address.clone(), opened.subscribe());
                passing.spawn(async move {
                    if *opened.borrow() {
                        let mut server = TcpStream::connect(address).await.unwrap();
                        tokio::select! {
                            _ = copy_bidirectional(&mut client, &mut server) => {}
                            _ = opened.wait_for(|open| !open) => {}
                        }
                    }
                });
            }
        });
        Self { url: format!("redis://{here}"), is_open, _tasks: tasks }
    }

    /// Ends every connection, and lets no new one through.
    pub(crate) fn cut(&self) {
        self.is_open.send_replace(false);
    }

    /// Lets connections through again.
    pub(crate) fn mend(&self) {
        self.is_open.send_replace(true);
    }
}
