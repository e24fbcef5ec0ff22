-- +goose Up

-- How far each partition of the topic has been fanned out. A batch of messages moves its row in the transaction that stores its
-- deliveries, so the row goes back with them if the database is restored to an earlier state.
CREATE TABLE fan_out_offsets (
    kafka_partition int    PRIMARY KEY,
    -- -1: nothing has been stored.
    next_offset     bigint NOT NULL,
    -- The event of the message before next_offset, to compare with the one that Kafka has there; empty if it is not known.
    last_id         text   NOT NULL DEFAULT '',
    last_time       timestamptz
) WITH (fillfactor = 50);
