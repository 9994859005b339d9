//! The table of clients: by their keys and by their addresses.

use crate::{context::ClientCell, transport::PeerAddress};
use gantry_xrce::wire::ClientKey;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// The address of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// The number of its transport.
    pub port: u32,
    pub peer: PeerAddress,
}

/// The clients. Invariant: each address is that of the client whose entry has it.
#[derive(Default)]
pub struct Clients {
    by_key: BTreeMap<ClientKey, Entry>,
    by_address: HashMap<Address, ClientKey>,
}

struct Entry {
    client: Arc<ClientCell>,
    /// `None` if its line is gone.
    address: Option<Address>,
}

impl Clients {
    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    pub fn all(&self) -> Vec<Arc<ClientCell>> {
        self.by_key.values().map(|entry| entry.client.clone()).collect()
    }

    /// The clients of a transport.
    pub fn on_port(&self, port: u32) -> Vec<Arc<ClientCell>> {
        let on_port = |entry: &&Entry| entry.address.is_some_and(|address| address.port == port);
        self.by_key.values().filter(on_port).map(|entry| entry.client.clone()).collect()
    }

    pub fn at(&self, address: Address) -> Option<Arc<ClientCell>> {
        self.by_key.get(self.by_address.get(&address)?).map(|entry| entry.client.clone())
    }

    pub fn of_key(&self, key: ClientKey) -> Option<(Arc<ClientCell>, Option<Address>)> {
        self.by_key.get(&key).map(|entry| (entry.client.clone(), entry.address))
    }

    /// Adds a client. Returns those that had its key or its address, which are removed.
    pub fn insert(&mut self, key: ClientKey, address: Address, client: Arc<ClientCell>) -> Vec<Arc<ClientCell>> {
        let same = self.remove(key);
        self.by_key.insert(key, Entry { client, address: None });
        same.into_iter().chain(self.place(key, address)).collect()
    }

    /// Gives a client an address. Returns another one that was there, and is removed.
    pub fn place(&mut self, key: ClientKey, address: Address) -> Option<Arc<ClientCell>> {
        let entry = self.by_key.get_mut(&key)?;
        if let Some(old) = entry.address.replace(address) {
            self.by_address.remove(&old);
        }
        let evicted = self.by_address.insert(address, key).filter(|&evicted| evicted != key)?;
        self.by_key.remove(&evicted).map(|entry| entry.client)
    }

    /// Nothing comes from this address any more.
    pub fn forget_address(&mut self, address: Address) {
        if let Some(key) = self.by_address.remove(&address)
            && let Some(entry) = self.by_key.get_mut(&key)
        {
            entry.address = None;
        }
    }

    pub fn remove(&mut self, key: ClientKey) -> Option<Arc<ClientCell>> {
        let entry = self.by_key.remove(&key)?;
        if let Some(address) = entry.address {
            self.by_address.remove(&address);
        }
        Some(entry.client)
    }

    /// Removes a client, unless another one has its key by now.
    pub fn remove_same(&mut self, key: ClientKey, client: &Arc<ClientCell>) -> Option<Arc<ClientCell>> {
        self.by_key.get(&key).filter(|entry| Arc::ptr_eq(&entry.client, client))?;
        self.remove(key)
    }

    pub fn clear(&mut self) -> Vec<Arc<ClientCell>> {
        self.by_address.clear();
        std::mem::take(&mut self.by_key).into_values().map(|entry| entry.client).collect()
    }
}
