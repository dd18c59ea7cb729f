//! The server over a small index of its own, asked through real connections.

mod answers;
mod bytes;
mod changes;
mod frozen;
mod gateway;
mod hostile;
mod load;
mod proxy;
mod reconstruction;
mod removal;
mod rights;
mod schema;
mod test_server;
mod tools;
mod trouble;
