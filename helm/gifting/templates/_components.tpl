{{/*
The programs of this cell. The chart makes everything from this table. A further cell has neither gateway nor tenants: it uses those
of the first one.

  values    the key of the program in values.yaml
  calls     the services that it calls: their addresses in its environment, and who may reach whom
  uses      the servers that it needs; each is a rule of its network policy, and kafka also brings its settings
  settings  the settings that the chart sets from other values, without their prefix GIFTING_
  accepts   the settings that <values>.settings may have. All programs accept LOG_LEVEL and PROFILING; _checks.tpl adds
            four for those with a database
  secrets   settings that are secret, with their key below <values>.secrets
*/}}
{{- define "gifting.components" -}}
{{- if eq .Values.cell "a" }}
tenants:
  values: tenants
  # To erase and export data.
  calls: [catalog, orders, personal-links, events, webhook]
  uses: [postgresql, redis]
  settings: [ENVIRONMENT]
  accepts: [AUDIT_RETENTION, BACKUP_RETENTION, IDEMPOTENCY_RETENTION, OFFBOARDING_GRACE]
  secrets: {DATABASE_URL: databaseUrl, SEAL_KEYS: sealKeys, REDIS_URL: redisUrl, CELL_DATABASES: cellDatabases}
{{- end }}
catalog:
  values: catalog
  calls: [tenants]
  uses: [postgresql, objectStorage]
  settings: [ENVIRONMENT, IMAGES_URL, PUBLIC_URL]
  accepts: [AUDIT_RETENTION, IDEMPOTENCY_RETENTION, RESERVATION_TTL]
  secrets: {DATABASE_URL: databaseUrl}
orders:
  values: orders
  # personal-links and events: for the command reconcile.
  calls: [tenants, catalog, personal-links, events]
  uses: [postgresql]
  settings: [ENVIRONMENT]
  accepts:
    - AUDIT_RETENTION
    - DETAILS_RETENTION
    - OPEN_RETENTION
    - IDEMPOTENCY_RETENTION
    - OPENING_HOURS
    - OPENING_ZONE
    - OPERATOR_NAME
    - RECOVERY_INTERVAL
    - REGISTER_BUDGET
    - REGISTER_MAX_CONNS
  secrets: {DATABASE_URL: databaseUrl, SEAL_KEYS: sealKeys, EVENT_KEYS: eventKeys}
personal-links:
  values: personalLinks
  calls: [tenants, catalog, orders]
  uses: [postgresql]
  settings: [CLAIM_URL, ENVIRONMENT]
  accepts: [DETAILS_RETENTION, IDEMPOTENCY_RETENTION, RECOVERY_INTERVAL, UNCLAIMED_RETENTION]
  secrets: {DATABASE_URL: databaseUrl, SEAL_KEYS: sealKeys, EVENT_KEYS: eventKeys}
events:
  values: events
  calls: [tenants]
  uses: [postgresql, kafka]
  settings: [ENVIRONMENT]
  accepts:
    - FEED_RETENTION
    - KAFKA_FEED_GROUP
    - KAFKA_PARTITIONS
    - KAFKA_REPLICATION
    - KAFKA_RETENTION
    - KAFKA_WEBHOOK_GROUP
    - OUTBOX_BATCH_SIZE
    - OUTBOX_POLL_INTERVAL
    - OUTBOX_RETENTION
  secrets: {DATABASE_URL: databaseUrl, OUTBOX_SOURCES: outboxSources, EVENT_KEYS: eventKeys, KAFKA_SASL_PASSWORD: kafkaPassword}
webhook:
  values: webhook
  calls: [tenants, events]
  uses: [postgresql, kafka, redis, receivers]
  settings: [ENVIRONMENT]
  accepts:
    - IDEMPOTENCY_RETENTION
    - KAFKA_WEBHOOK_GROUP
    - WEBHOOK_CONNECT_TIMEOUT
    - WEBHOOK_LEASE
    - WEBHOOK_LOG_RETENTION
    - WEBHOOK_PER_ENDPOINT
    - WEBHOOK_POLL
    - WEBHOOK_TIMEOUT
    - WEBHOOK_WORKERS
  secrets: {DATABASE_URL: databaseUrl, EVENT_KEYS: eventKeys, KAFKA_SASL_PASSWORD: kafkaPassword, REDIS_URL: redisUrl}
{{- if eq .Values.cell "a" }}
gateway:
  values: gateway
  calls: [tenants, catalog, orders, personal-links, events, webhook]
  uses: [redis]
  settings: [ENVIRONMENT, PUBLIC_URL]
  accepts:
    - DOCS_SANDBOX_URL
    - DOCS_STATUS_URL
    - DOCS_SUPPORT
    - DOCS_WEBHOOK_ADDRESSES
    - KEY_STALE
    - LIMIT_BODY_BYTES
    - LIMIT_REQUESTS_PER_KEY
    - LIMIT_REQUESTS_PER_TENANT
    - LIMIT_WAITING_CALLS
    - REDIS_BUDGET
    - TRUSTED_PROXIES
  secrets: {FINGERPRINT_KEY: fingerprintKey, REDIS_URL: redisUrl}
{{- end }}
{{- end }}

{{/* The settings of the table above, by name. Takes the context and the component's name. */}}
{{- define "gifting.settings" -}}
ENVIRONMENT: {{ .root.Values.environment | quote }}
PUBLIC_URL: {{ .root.Values.publicUrl | quote }}
CLAIM_URL: {{ .root.Values.claimUrl | quote }}
IMAGES_URL: {{ .root.Values.catalog.images.url | quote }}
{{- end }}

{{/* The settings of a program that uses Kafka. Files are mounted by "gifting.kafkaVolumes". Takes root and name. */}}
{{- define "gifting.kafkaSettings" -}}
{{- $kafka := .root.Values.kafka -}}
KAFKA_BROKERS: {{ join "," $kafka.brokers | quote }}
KAFKA_CLIENT_ID: {{ printf "%s-%s" (include "gifting.fullname" .root) .name | quote }}
KAFKA_TOPIC: {{ $kafka.topic | quote }}
{{- if $kafka.tls.enabled }}
KAFKA_TLS_ENABLED: "true"
{{- with $kafka.tls.serverName }}
KAFKA_TLS_SERVER_NAME: {{ . | quote }}
{{- end }}
{{- if $kafka.tls.ca.name }}
KAFKA_TLS_CA_FILE: /etc/gifting/kafka-ca/ca.crt
{{- end }}
{{- if get $kafka.tls.certificates .name }}
KAFKA_TLS_CERT_FILE: /etc/gifting/kafka/tls.crt
KAFKA_TLS_KEY_FILE: /etc/gifting/kafka/tls.key
{{- end }}
{{- end }}
{{- if $kafka.sasl.mechanism }}
KAFKA_SASL_MECHANISM: {{ $kafka.sasl.mechanism | quote }}
KAFKA_SASL_USER: {{ get $kafka.sasl.users .name | quote }}
{{- end }}
{{- end }}

{{/* The name of the port at which other programs reach a component. */}}
{{- define "gifting.port" -}}
{{- if eq . "gateway" }}http{{ else }}grpc{{ end }}
{{- end }}

{{- define "gifting.portNumber" -}}
{{- if eq . "gateway" }}8080{{ else }}{{ include "gifting.grpcPort" . }}{{ end }}
{{- end }}

{{/* The address at which other programs reach a component. Takes root and name. */}}
{{- define "gifting.address" -}}
{{- if and (eq .name "tenants") (ne .root.Values.cell "a") }}{{ .root.Values.tenantsAddr }}
{{- else }}{{ include "gifting.fullname" .root }}-{{ .name }}:{{ include "gifting.portNumber" .name }}{{ end }}
{{- end }}

{{/* The port of gRPC. That of the gateway is for internal teams only. */}}
{{- define "gifting.grpcPort" -}}
9000
{{- end }}
