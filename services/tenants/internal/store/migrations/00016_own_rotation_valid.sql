-- +goose Up

ALTER TABLE key_audit VALIDATE CONSTRAINT key_audit_actor_kind_check;
