-- +goose Up

-- While an erasure is pending, only its progress changes: not who asked, and not for whom.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION person_requests_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.completed_at IS NULL
       AND (NEW.tenant_id, NEW.id, NEW.action, NEW.subject_kind, NEW.subject_mac, NEW.actor_kind, NEW.actor_id, NEW.requested_at, NEW.link_ids)
         = (OLD.tenant_id, OLD.id, OLD.action, OLD.subject_kind, OLD.subject_mac, OLD.actor_kind, OLD.actor_id, OLD.requested_at, OLD.link_ids)
       AND NEW.order_ids @> OLD.order_ids THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'DELETE' AND OLD.completed_at < clock_timestamp() - interval '365 days' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'person_requests are append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;
-- +goose StatementEnd
