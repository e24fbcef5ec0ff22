-- +goose NO TRANSACTION
-- +goose Up

-- The key that sealed a member of an event, as the beginning of a sealed value names it: a byte with the length of its id, and the
-- id. NULL if no member is sealed. Package eventseal defines the form. The function never fails, because inserts call it. Owners
-- whose tables hold events have the same one.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION event_seal_key(data bytea) RETURNS bytea LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
DECLARE
    -- Where the Base64 text of the sealed value begins.
    begins int := position('"claimUrl":{"$sealed":"'::bytea IN data) + 23;
    raw    bytea;
BEGIN
    IF begins = 23 THEN
        begins := position('"body":{"$sealed":"'::bytea IN data) + 19;
        IF begins = 19 THEN
            RETURN NULL;
        END IF;
    END IF;
    -- 44 characters are the longest id with its length. They are valid Base64 whatever the value holds.
    raw := decode(rpad(coalesce(substring(encode(substring(data FROM begins FOR 44), 'escape') FROM '^[A-Za-z0-9+/]+'), ''), 44, 'A'), 'base64');
    RETURN substring(raw FOR get_byte(raw, 0) + 1);
END
$body$;
-- +goose StatementEnd

DROP INDEX CONCURRENTLY IF EXISTS outbox_event_key; -- The rest of an earlier attempt that failed.
-- Serves the check of the event keys: the keys in use, and some events of each.
CREATE INDEX CONCURRENTLY outbox_event_key ON outbox (event_seal_key(data)) WHERE event_seal_key(data) IS NOT NULL;
