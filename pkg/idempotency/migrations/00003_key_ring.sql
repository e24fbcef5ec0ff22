-- +goose Up

-- A request has a fingerprint by each key of the gateway's key ring. The first is stored, and a stored one is of the same request if
-- it equals any of them. These functions replace idempotency_claim_elsewhere and idempotency_release, which the previous version
-- still calls. They have other names, because its parameters have no types that choose between two functions of one name.

-- Claims the key as idempotency_claim_elsewhere does. A repeated claim stores the first fingerprint again: its retention starts
-- again too, so otherwise a fingerprint could outlive its key in the ring.
-- +goose StatementBegin
CREATE FUNCTION idempotency_register(_key_id int, _idempotency_key text, _fingerprints bytea[], _owner text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock_shared(hashtextextended(_idempotency_key, _key_id)) THEN
        RAISE EXCEPTION 'request in progress' USING ERRCODE = 'GI001';
    END IF;
    INSERT INTO idempotency_answers AS a (key_id, idempotency_key, fingerprint, owner, holders)
      VALUES (_key_id, _idempotency_key, _fingerprints[1], _owner, 1)
      ON CONFLICT (key_id, idempotency_key) DO UPDATE
        SET holders = a.holders + 1, created_at = now(), fingerprint = excluded.fingerprint
        WHERE a.fingerprint = ANY (_fingerprints) AND a.owner = excluded.owner;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'key names another request' USING ERRCODE = 'GI003';
    END IF;
END
$$;
-- +goose StatementEnd

-- Releases one claim. Releasing the last one deletes the row.
-- +goose StatementBegin
CREATE FUNCTION idempotency_unregister(_key_id int, _idempotency_key text, _fingerprints bytea[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    _holders int;
BEGIN
    SELECT holders INTO _holders FROM idempotency_answers
      WHERE key_id = _key_id AND idempotency_key = _idempotency_key AND fingerprint = ANY (_fingerprints)
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
