package store

// statusNow is the status of campaign c at this moment: an active one has completed from expires_at
// on, whether or not anybody has written that down. The database's clock decides, so all instances
// of the service agree on the instant.
const statusNow = `CASE WHEN c.status = 'ACTIVE' AND c.expires_at <= catalog_now() THEN 'COMPLETED' ELSE c.status END`
