-- +goose Up

-- The stored answer of each POST, by API key and Idempotency-Key. It commits with the effect.
CREATE TABLE idempotency_answers (
    key_id          int         NOT NULL,
    idempotency_key text        NOT NULL,
    -- Keyed hash of the request: shows whether a request is the same, and reveals nothing of its body.
    fingerprint     bytea       NOT NULL,
    -- google.rpc.Status: the answer or the problem.
    answer          bytea       NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (key_id, idempotency_key)
);

-- Serves the retention job: the oldest answers.
CREATE INDEX idempotency_answers_created ON idempotency_answers (created_at);

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
