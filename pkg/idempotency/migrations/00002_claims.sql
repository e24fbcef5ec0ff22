-- +goose Up

-- The newest of the claims that were not released, newest first, by the ids that their requests gave them. A claim whose answer was
-- lost is made again with the same id and counts once. Claims of the first version have no id and are only counted, in holders.
ALTER TABLE idempotency_answers ADD COLUMN claims uuid[];

-- As the function of the first version, but a claim that was made before is not counted again. Null: a claim without id.
--
-- Each repetition of an answered request leaves one more claim, so only 16 ids are kept. One that was forgotten is not released, and
-- the key stays bound to its request.
-- +goose StatementBegin
CREATE FUNCTION idempotency_register(_key_id int, _idempotency_key text, _fingerprints bytea[], _owner text, _claim uuid) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock_shared(hashtextextended(_idempotency_key, _key_id)) THEN
        RAISE EXCEPTION 'request in progress' USING ERRCODE = 'GI001';
    END IF;
    INSERT INTO idempotency_answers AS a (key_id, idempotency_key, fingerprint, owner, holders, claims)
      VALUES (_key_id, _idempotency_key, _fingerprints[1], _owner, 1, array_remove(ARRAY[_claim], NULL))
      ON CONFLICT (key_id, idempotency_key) DO UPDATE
        SET holders = a.holders + CASE WHEN _claim = ANY (a.claims) THEN 0 ELSE 1 END,
            claims = (excluded.claims || array_remove(a.claims, _claim))[:16],
            created_at = now(), fingerprint = excluded.fingerprint
        WHERE a.fingerprint = ANY (_fingerprints) AND a.owner = excluded.owner;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'key names another request' USING ERRCODE = 'GI003';
    END IF;
END
$$;
-- +goose StatementEnd

-- Releases one claim, unless it was released before. Releasing the last one deletes the row. Null: any claim of the request.
-- +goose StatementBegin
CREATE FUNCTION idempotency_unregister(_key_id int, _idempotency_key text, _fingerprints bytea[], _claim uuid) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    _holders int;
BEGIN
    SELECT holders INTO _holders FROM idempotency_answers
      WHERE key_id = _key_id AND idempotency_key = _idempotency_key AND fingerprint = ANY (_fingerprints)
        AND (_claim IS NULL OR _claim = ANY (claims))
      FOR UPDATE;
    IF _holders > 1 THEN
        UPDATE idempotency_answers SET holders = holders - 1, claims = array_remove(claims, _claim)
          WHERE key_id = _key_id AND idempotency_key = _idempotency_key;
    ELSIF _holders = 1 THEN
        DELETE FROM idempotency_answers WHERE key_id = _key_id AND idempotency_key = _idempotency_key;
    END IF;
END
$$;
-- +goose StatementEnd
