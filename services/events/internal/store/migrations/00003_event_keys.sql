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

-- Serves the check of the event keys: the keys in use, and some events of each. New partitions have it too.
-- contract: without the partitions it holds no row, so it is made at once
CREATE INDEX IF NOT EXISTS feed_event_key ON ONLY feed (event_seal_key(data)) WHERE event_seal_key(data) IS NOT NULL;

-- The partitions that exist, one transaction each: only the inserts of today wait, for the index of today.
-- +goose StatementBegin
DO $body$
DECLARE
    part regclass;
BEGIN
    FOR part IN
        SELECT i.inhrelid FROM pg_inherits i WHERE i.inhparent = 'feed'::regclass AND NOT EXISTS (
            SELECT FROM pg_inherits h JOIN pg_index x ON x.indexrelid = h.inhrelid
            WHERE h.inhparent = 'feed_event_key'::regclass AND x.indrelid = i.inhrelid)
        ORDER BY 1
    LOOP
        EXECUTE format('CREATE INDEX %I ON %s (event_seal_key(data)) WHERE event_seal_key(data) IS NOT NULL', part || '_event_key', part);
        EXECUTE format('ALTER INDEX feed_event_key ATTACH PARTITION %I', part || '_event_key');
        COMMIT;
    END LOOP;
END
$body$;
-- +goose StatementEnd
