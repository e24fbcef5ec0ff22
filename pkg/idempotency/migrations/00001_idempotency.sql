-- +goose Up

-- The stored answer of each POST, by API key and Idempotency-Key. It commits with the effect. A row without an answer is a key
-- claimed by a request of another service, which stores the answer.
CREATE TABLE idempotency_answers (
    key_id          int         NOT NULL,
    idempotency_key text        NOT NULL,
    -- Keyed hash of the request: shows whether a request is the same, and reveals nothing of its body.
    fingerprint     bytea       NOT NULL,
    -- google.rpc.Status: the answer or the problem.
    answer          bytea,
    -- The record that the answer is about: only a key that still reaches its brand and has its scope gets the answer again. Null: any
    -- key may.
    brand_id        uuid,
    scope           int,
    -- Package of the service that decides the request.
    owner           text,
    -- Claims that were not released: their requests run, have a stored answer, or have an unknown outcome.
    holders         int,
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (key_id, idempotency_key),
    CONSTRAINT idempotency_answers_claimed CHECK (
        (answer IS NULL) = (owner IS NOT NULL) AND (owner IS NULL) = (holders IS NULL) AND holders > 0)
);

-- Serves the retention job: the oldest answers.
CREATE INDEX idempotency_answers_created ON idempotency_answers (created_at);

-- The key that sealed a stored answer, as the beginning of a sealed value names it: a byte with the length of its id, and the id. NULL
-- if the answer is not sealed. A service that seals its answers stores each as a google.protobuf.BytesValue. The function never fails,
-- because inserts call it.
-- +goose StatementBegin
CREATE FUNCTION idempotency_answer_key(answer bytea) RETURNS bytea LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
DECLARE
    -- The type of the answer is at the beginning of a google.rpc.Status without code. Further on it can only be text of a record.
    type_at int := position('type.googleapis.com/google.protobuf.BytesValue'::bytea IN substring(answer FOR 54));
    -- Index of a byte, from 0.
    i       int := type_at - 1 + 46;
BEGIN
    IF type_at = 0 THEN
        RETURN NULL;
    END IF;
    FOR field IN 1..2 LOOP -- The value of the google.protobuf.Any, and in it that of the BytesValue: a tag and a length.
        i := i + 1;
        WHILE i < length(answer) AND get_byte(answer, i) >= 128 LOOP
            i := i + 1;
        END LOOP;
        i := i + 1;
    END LOOP;
    IF i >= length(answer) THEN
        RETURN NULL;
    END IF;
    RETURN substring(answer FROM i + 1 FOR get_byte(answer, i) + 1);
END
$body$;
-- +goose StatementEnd

-- Serves the check of the seal keys: the keys in use, and some answers of each.
CREATE INDEX idempotency_answers_seal_key ON idempotency_answers (idempotency_answer_key(answer))
    WHERE idempotency_answer_key(answer) IS NOT NULL;

-- Makes this transaction the only one that runs the request. Raises GI001 while another one runs it and
-- GI002 when it has been answered. The lock ends with the transaction, so a crash leaves nothing to
-- expire. No caller waits for the lock. The look-up is a separate statement after the lock, so it sees
-- what the previous holder of the lock committed.
-- +goose StatementBegin
CREATE FUNCTION idempotency_claim(_key_id int, _idempotency_key text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended(_idempotency_key, _key_id)) THEN
        RAISE EXCEPTION 'request in progress' USING ERRCODE = 'GI001';
    END IF;
    PERFORM 1 FROM idempotency_answers
      WHERE key_id = _key_id AND idempotency_key = _idempotency_key;
    IF FOUND THEN
        RAISE EXCEPTION 'request answered' USING ERRCODE = 'GI002';
    END IF;
END
$$;
-- +goose StatementEnd

-- Claims the key for a request that another service decides. The shared lock allows several claims and excludes a
-- request that runs here: GI001. Raises GI003 when the key belongs to another request.
--
-- A request has a fingerprint by each key of the gateway's key ring. The first is stored, and a stored one is of the same request if
-- it equals any of them. Each claim restarts the retention of the row, because the answer may be stored only now, and stores the first
-- fingerprint again, which could otherwise outlive its key in the ring.
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
