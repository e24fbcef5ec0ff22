-- +goose Up

-- A row without an answer is a key claimed by a request of another service, which stores the answer.
ALTER TABLE idempotency_answers
    ALTER COLUMN answer DROP NOT NULL,
    -- Package of the service that decides the request.
    ADD COLUMN owner text,
    -- Claims that were not released: their requests run, have a stored answer, or have an unknown outcome.
    ADD COLUMN holders int,
    -- Not validated, so that the table is not read under the lock. The existing rows satisfy it.
    ADD CONSTRAINT idempotency_answers_claimed CHECK (
        (answer IS NULL) = (owner IS NOT NULL) AND (owner IS NULL) = (holders IS NULL) AND holders > 0) NOT VALID;

-- Claims the key for a request that another service decides. The shared lock allows several claims and excludes a
-- request that runs here: GI001. Raises GI003 when the key belongs to another request. Each claim restarts the
-- retention of the row, because the answer may be stored only now.
-- +goose StatementBegin
CREATE FUNCTION idempotency_claim_elsewhere(_key_id int, _idempotency_key text, _fingerprint bytea, _owner text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock_shared(hashtextextended(_idempotency_key, _key_id)) THEN
        RAISE EXCEPTION 'request in progress' USING ERRCODE = 'GI001';
    END IF;
    INSERT INTO idempotency_answers AS a (key_id, idempotency_key, fingerprint, owner, holders)
      VALUES (_key_id, _idempotency_key, _fingerprint, _owner, 1)
      ON CONFLICT (key_id, idempotency_key) DO UPDATE
        SET holders = a.holders + 1, created_at = now()
        WHERE a.fingerprint = excluded.fingerprint AND a.owner = excluded.owner;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'key names another request' USING ERRCODE = 'GI003';
    END IF;
END
$$;
-- +goose StatementEnd

-- Releases one claim. Releasing the last one deletes the row.
-- +goose StatementBegin
CREATE FUNCTION idempotency_release(_key_id int, _idempotency_key text, _fingerprint bytea) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    _holders int;
BEGIN
    SELECT holders INTO _holders FROM idempotency_answers
      WHERE key_id = _key_id AND idempotency_key = _idempotency_key AND fingerprint = _fingerprint
      FOR UPDATE;
    IF _holders > 1 THEN
        UPDATE idempotency_answers SET holders = holders - 1
          WHERE key_id = _key_id AND idempotency_key = _idempotency_key;
    ELSIF _holders = 1 THEN
        DELETE FROM idempotency_answers WHERE key_id = _key_id AND idempotency_key = _idempotency_key;
    END IF;
END
$$;
-- +goose StatementEnd
