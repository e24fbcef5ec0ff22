-- +goose Up

-- The relay reads the last id that was handed out, so that it does not look for rows with lower ids for ever.
GRANT SELECT ON SEQUENCE outbox_id_seq TO gifting_relay;
