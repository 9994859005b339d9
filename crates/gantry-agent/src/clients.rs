//! The table of clients: by their keys and by their addresses.

use crate::{context::ClientCell, transport::PeerAddress};
use gantry_xrce::wire::{ClientKey, SessionId};
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

/// The clients. Invariant: each address in `by_address` is that of the client whose entry has it, and whose messages have no key.
#[derive(Default)]
pub struct Clients {
    by_key: BTreeMap<ClientKey, Entry>,
    by_address: HashMap<Address, ClientKey>,
}

struct Entry {
    client: Arc<ClientCell>,
    /// Its messages have its key, so that it can share its address.
    has_key: bool,
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

    /// The clients at some addresses.
    pub fn among(&self, is_asked: impl Fn(Address) -> bool) -> impl Iterator<Item = &Arc<ClientCell>> {
        let is_there = move |entry: &&Entry| entry.address.is_some_and(&is_asked);
        self.by_key.values().filter(is_there).map(|entry| &entry.client)
    }

    /// Whether there is a client at an address.
    pub fn is_any_at(&self, address: Address) -> bool {
        self.among(|other| other == address).next().is_some()
    }

    /// The client of messages without a key.
    pub fn at(&self, address: Address) -> Option<Arc<ClientCell>> {
        self.by_key.get(self.by_address.get(&address)?).map(|entry| entry.client.clone())
    }

    pub fn of_key(&self, key: ClientKey) -> Option<(Arc<ClientCell>, Option<Address>)> {
        self.by_key.get(&key).map(|entry| (entry.client.clone(), entry.address))
    }

    /// Adds a client. Returns those that had its key or, if messages of its session have no key, its address, which are removed.
    pub fn insert(
        &mut self,
        key: ClientKey,
        session: SessionId,
        address: Address,
        client: Arc<ClientCell>,
    ) -> Vec<Arc<ClientCell>> {
        let same = self.remove(key);
        self.by_key.insert(key, Entry { client, has_key: session.has_key(), address: None });
        same.into_iter().chain(self.place(key, address)).collect()
    }

    /// Gives a client an address. Returns another one that was there, and is removed.
    pub fn place(&mut self, key: ClientKey, address: Address) -> Option<Arc<ClientCell>> {
        let entry = self.by_key.get_mut(&key)?;
        let old = entry.address.replace(address);
        if entry.has_key {
            return None;
        }
        if let Some(old) = old {
            self.by_address.remove(&old);
        }
        let evicted = self.by_address.insert(address, key).filter(|&evicted| evicted != key)?;
        self.by_key.remove(&evicted).map(|entry| entry.client)
    }

    /// Nothing comes from this address any more.
    pub fn forget_address(&mut self, address: Address) {
        self.by_address.remove(&address);
        let there = self.by_key.values_mut().filter(|entry| entry.address == Some(address));
        there.for_each(|entry| entry.address = None);
    }

    pub fn remove(&mut self, key: ClientKey) -> Option<Arc<ClientCell>> {
        let entry = self.by_key.remove(&key)?;
        if let Some(address) = entry.address.filter(|_| !entry.has_key) {
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
