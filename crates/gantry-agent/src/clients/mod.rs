//! The table of clients, by the clients' keys and by their addresses.

mod address;
mod budget;

pub use address::{Address, Host};
pub use budget::{Budget, Logins};

use crate::client::ClientCell;
use gantry_xrce::wire::{ClientKey, SessionId};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// The clients. Invariant: each address in `by_address` is the address of a client whose messages have no key.
#[derive(Default)]
pub struct Clients {
    by_key: BTreeMap<ClientKey, Entry>,
    by_address: HashMap<Address, ClientKey>,
    logins: u64,
}

struct Entry {
    client: Arc<ClientCell>,
    /// Whether the client's messages contain its key, so that other clients can share its address.
    has_key: bool,
    /// The client's address; `None` if the client's line is gone.
    address: Option<Address>,
    /// The host of the client's last address. The client counts for this host even if its line is gone.
    host: Host,
    /// Whether the client has sent a message since its login.
    has_spoken: bool,
    /// The number of the client's login; a later login has a larger number.
    login: u64,
}

/// The largest number of clients, in all and per host.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    pub all: usize,
    pub of_host: usize,
}

impl Clients {
    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    pub fn all(&self) -> Vec<Arc<ClientCell>> {
        self.by_key.values().map(|entry| entry.client.clone()).collect()
    }

    /// The clients at the addresses for which `is_asked` returns true.
    pub fn among(&self, is_asked: impl Fn(Address) -> bool) -> impl Iterator<Item = &Arc<ClientCell>> {
        let is_there = move |entry: &&Entry| entry.address.is_some_and(&is_asked);
        self.by_key.values().filter(is_there).map(|entry| &entry.client)
    }

    /// Whether there is a client at this address.
    pub fn is_any_at(&self, address: Address) -> bool {
        self.among(|other| other == address).next().is_some()
    }

    /// Whether a client without a key in its messages is at this address.
    pub fn has_address(&self, address: Address) -> bool {
        self.by_address.contains_key(&address)
    }

    /// Finds the client at an address, if its messages have no key. Notes that a message from the client has arrived.
    pub fn heard_at(&mut self, address: Address) -> Option<Arc<ClientCell>> {
        let entry = self.by_key.get_mut(self.by_address.get(&address)?)?;
        entry.has_spoken = true;
        Some(entry.client.clone())
    }

    /// Finds the client with a key, and returns it with its address. If `address` is the client's address, notes that a
    /// message from the client has arrived.
    pub fn heard_from(&mut self, key: ClientKey, address: Address) -> Option<(Arc<ClientCell>, Option<Address>)> {
        let entry = self.by_key.get_mut(&key)?;
        entry.has_spoken |= entry.address == Some(address);
        Some((entry.client.clone(), entry.address))
    }

    pub fn by_key(&self, key: ClientKey) -> Option<(Arc<ClientCell>, Option<Address>)> {
        self.by_key.get(&key).map(|entry| (entry.client.clone(), entry.address))
    }

    /// Makes room for a new client if the table is full: removes a client that has sent nothing since its login, or
    /// whose line is gone. Returns the removed client, or `None` if there was room.
    ///
    /// # Errors
    /// The table has no room, and no client can be removed.
    pub fn make_room(&mut self, newcomer: Address, places: Places) -> Result<Option<Arc<ClientCell>>, ()> {
        let mut hosts: BTreeMap<Host, usize> = BTreeMap::new();
        self.by_key.values().for_each(|entry| *hosts.entry(entry.host).or_default() += 1);
        let of_newcomer = hosts.get(&newcomer.host()).copied().unwrap_or(0);
        let is_host_full = of_newcomer >= places.of_host;
        if !is_host_full && self.len() < places.all {
            return Ok(None);
        }
        let unused = self.by_key.iter().filter(|(_, entry)| {
            let is_unused = !entry.has_spoken || entry.address.is_none();
            is_unused && (!is_host_full || entry.host == newcomer.host())
        });
        // The removed client belongs to the host with the most clients. Among its unused clients, the oldest is
        // removed.
        let clients_of = |entry: &Entry| hosts.get(&entry.host).copied().unwrap_or(0);
        let victim = unused.max_by_key(|(_, entry)| (clients_of(entry), std::cmp::Reverse(entry.login)));
        let key = victim.map(|(&key, _)| key).ok_or(())?;
        Ok(self.remove(key))
    }

    /// Adds a client. Removes and returns clients with the same key. If messages of the new session have no key, the
    /// client that had the same address is removed as well.
    pub fn insert(
        &mut self,
        key: ClientKey,
        session: SessionId,
        address: Address,
        client: Arc<ClientCell>,
    ) -> Vec<Arc<ClientCell>> {
        let same = self.remove(key);
        self.logins += 1;
        let (has_key, host) = (session.has_key(), address.host());
        let entry = Entry { client, has_key, address: None, host, has_spoken: false, login: self.logins };
        self.by_key.insert(key, entry);
        same.into_iter().chain(self.place(key, address)).collect()
    }

    /// Moves a client to a new address. Removes and returns another client that had this address.
    pub fn place(&mut self, key: ClientKey, address: Address) -> Option<Arc<ClientCell>> {
        let entry = self.by_key.get_mut(&key)?;
        let old = entry.address.replace(address);
        entry.host = address.host();
        if entry.has_key {
            return None;
        }
        if let Some(old) = old {
            self.by_address.remove(&old);
        }
        let evicted = self.by_address.insert(address, key).filter(|&evicted| evicted != key)?;
        self.by_key.remove(&evicted).map(|entry| entry.client)
    }

    /// Removes the address from the client that has this address.
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

    /// Removes `client`, if the key still belongs to it.
    pub fn remove_same(&mut self, key: ClientKey, client: &Arc<ClientCell>) -> Option<Arc<ClientCell>> {
        self.by_key.get(&key).filter(|entry| Arc::ptr_eq(&entry.client, client))?;
        self.remove(key)
    }

    pub fn clear(&mut self) -> Vec<Arc<ClientCell>> {
        self.by_address.clear();
        std::mem::take(&mut self.by_key).into_values().map(|entry| entry.client).collect()
    }
}
