-- +goose Up

-- The last message that was stored, to compare with the one that Kafka has at its offset. It belongs to next_offset only if
-- last_offset is one less; the previous version moves next_offset alone.
ALTER TABLE feed_writers
    ADD COLUMN last_offset bigint,
    ADD COLUMN last_id     text NOT NULL DEFAULT '',
    ADD COLUMN last_time   timestamptz;

-- An epoch begins whenever the database may have gone back to an earlier state: positions after that state were lost, and
-- the new epoch uses their numbers again. A cursor names its epoch, and is good up to the last position that survived in
-- every later epoch. Epochs are never deleted.
CREATE TABLE feed_epochs (
    number   int         PRIMARY KEY,
    -- The name of the epoch in cursors. It is random, because a restored database begins the same number again.
    -- 0 is the first installation, whose cursors name no epoch.
    id       bigint      NOT NULL UNIQUE,
    -- The newest position that was used before the epoch began.
    survived bigint      NOT NULL,
    -- What the server said of itself: system identifier, timeline, oid of the database, when it was started.
    server   text        NOT NULL,
    reason   text        NOT NULL,
    began_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO feed_epochs (number, id, survived, server, reason)
SELECT 1, 0, 0,
       concat_ws('/', (SELECT system_identifier FROM pg_control_system()), left(pg_walfile_name(pg_current_wal_lsn()), 8),
                 (SELECT oid FROM pg_database WHERE datname = current_database()),
                 extract(epoch FROM pg_postmaster_start_time())),
       'first installation';

-- The number of partitions of the topic when it was first used. The partition of a tenant follows from it.
CREATE TABLE feed_topic (
    only_row   bool PRIMARY KEY DEFAULT true CHECK (only_row),
    partitions int  NOT NULL
);
