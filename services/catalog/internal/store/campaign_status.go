package store

// statusNow is the status of campaign c now: from expires_at on, an active one has completed, recorded or
// not. The clock of the database decides, so that all instances of the service agree.
const statusNow = `CASE WHEN c.status = 'ACTIVE' AND c.expires_at <= catalog_now() THEN 'COMPLETED' ELSE c.status END`
