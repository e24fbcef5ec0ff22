-- +goose NO TRANSACTION
-- +goose Up

-- The key that sealed a stored answer, as the beginning of a sealed value names it: a byte with the length of its id, and the id. NULL
-- if the answer is not sealed. A service that seals its answers stores each as a google.protobuf.BytesValue. The function never fails,
-- because inserts call it.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION idempotency_answer_key(answer bytea) RETURNS bytea LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
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

DROP INDEX CONCURRENTLY IF EXISTS idempotency_answers_seal_key; -- The rest of an earlier attempt that failed.
-- Serves the check of the seal keys: the keys in use, and some answers of each.
CREATE INDEX CONCURRENTLY idempotency_answers_seal_key ON idempotency_answers (idempotency_answer_key(answer))
    WHERE idempotency_answer_key(answer) IS NOT NULL;
