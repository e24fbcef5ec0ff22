package postgres

// ServerStart is an SQL expression for ServerIdentity with the start of the server. A server whose disk was set back was started
// since, so this differs after whatever can bring data back to an earlier state. It also differs after each restart.
const ServerStart = `concat_ws('/', ` + ServerIdentity + `, extract(epoch FROM pg_postmaster_start_time()))`

// ServerIdentity is an SQL expression for what a server says of itself. It differs after a restore and a fail-over: a restored or
// promoted server has another timeline, one that was initialized anew another identifier, and a database that was created anew
// another oid. It does not differ if the disk of a server was set back.
const ServerIdentity = `concat_ws('/', (SELECT system_identifier FROM pg_control_system()),
  left(pg_walfile_name(pg_current_wal_lsn()), 8), (SELECT oid FROM pg_database WHERE datname = current_database()))`
