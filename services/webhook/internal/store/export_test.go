package store

// RetentionLock is the lock of the instance that deletes.
const RetentionLock int64 = retentionLock
