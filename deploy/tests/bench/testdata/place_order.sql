-- One POST /orders as the orders service runs it: one transaction.
-- Ids grow like those of the service.
\set n :n + 1
\set id (:iteration << 40) + :n * :clients + :client_id
\startpipeline
BEGIN;
SELECT idempotency_claim(:client_id::int, 'bench-' || :id::text);
INSERT INTO orders (
  tenant_id, id, reference, version, external_order_id, external_recipient_id, external_campaign_ref,
  external_action_ref, source, brand_id, campaign_id, status, item_kind, product_id, product_name,
  variations, budget_amount, budget_currency, delivery_country, urgent, after_hours_service_accepted,
  branded_packaging_requested, received_outside_active_hours, manager_id, placed_by_key_id,
  placed_by_key_name, details_sealed, created_at, updated_at, catalog_selection, personal_link_id)
VALUES (:tenant::uuid, lpad(to_hex(:id::bigint), 32, '0')::uuid, left(md5(:id::text), :reference::int), 0, 'bench-' || :id::text,
  NULL, NULL, NULL, 'API', :brand::uuid, NULL, 'PROCESSING', 'CUSTOM', NULL, 'A football signed by the whole team',
  '{}', '1500'::text::numeric, 'SEK', 'SE', false, false, false, true, NULL, :client_id::int,
  'benchmark', :details::bytea, now(), now(), false, NULL);
INSERT INTO outbox
  (event_id, tenant_id, brand_id, subject_id, type, origin_key_id, occurred_at, data, traceparent)
VALUES (lpad(to_hex(:id::bigint), 32, '0')::uuid, :tenant::uuid, :brand::uuid, lpad(to_hex(:id::bigint), 32, '0')::uuid,
  'order.created', :client_id::int, now(), :event::bytea, :traceparent);
INSERT INTO idempotency_answers (key_id, idempotency_key, fingerprint, answer, brand_id, scope)
VALUES (:client_id::int, 'bench-' || :id::text, :fingerprint::bytea, :answer::bytea, :brand::uuid, NULL);
COMMIT;
\endpipeline
