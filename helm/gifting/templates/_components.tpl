{{/*
The parts of the platform. All templates of the chart use this one table.

  values    the part's key in values.yaml
  calls     the services that it calls; their addresses are in its environment, and their network policies let it in
  uses      the stores that it needs; each is a rule of its network policy
  settings  the settings for which the chart has a value, without their prefix GIFTING_
  secrets   the settings that are secret, with their key below <values>.secrets
*/}}
{{- define "gifting.components" -}}
tenants:
  values: tenants
  calls: []
  uses: [postgresql, redis]
  settings: [ENVIRONMENT]
  secrets: {DATABASE_URL: databaseUrl, SEAL_KEYS: sealKeys, REDIS_URL: redisUrl}
catalog:
  values: catalog
  calls: [tenants]
  uses: [postgresql, objectStorage]
  settings: [IMAGES_URL, PUBLIC_URL]
  secrets: {DATABASE_URL: databaseUrl}
orders:
  values: orders
  calls: [tenants, catalog]
  uses: [postgresql]
  settings: []
  secrets: {DATABASE_URL: databaseUrl, SEAL_KEYS: sealKeys}
personal-links:
  values: personalLinks
  calls: [tenants, catalog, orders]
  uses: [postgresql]
  settings: [CLAIM_URL]
  secrets: {DATABASE_URL: databaseUrl, SEAL_KEYS: sealKeys}
events:
  values: events
  calls: []
  uses: [postgresql, kafka]
  settings: [ENVIRONMENT, KAFKA_BROKERS, KAFKA_CLIENT_ID, KAFKA_TOPIC]
  secrets: {DATABASE_URL: databaseUrl, OUTBOX_SOURCES: outboxSources}
webhook:
  values: webhook
  calls: [tenants]
  uses: [postgresql, kafka, receivers]
  settings: [ENVIRONMENT, KAFKA_BROKERS, KAFKA_CLIENT_ID, KAFKA_TOPIC]
  secrets: {DATABASE_URL: databaseUrl}
gateway:
  values: gateway
  calls: [tenants, catalog, orders, personal-links, events, webhook]
  uses: [redis]
  settings: [ENVIRONMENT, PUBLIC_URL]
  secrets: {FINGERPRINT_KEY: fingerprintKey, REDIS_URL: redisUrl}
{{- end }}

{{/* The settings of the table above, by name. Takes the context and the component's name. */}}
{{- define "gifting.settings" -}}
ENVIRONMENT: {{ .root.Values.environment | quote }}
PUBLIC_URL: {{ .root.Values.publicUrl | quote }}
CLAIM_URL: {{ .root.Values.claimUrl | quote }}
IMAGES_URL: {{ .root.Values.catalog.images.url | quote }}
KAFKA_BROKERS: {{ join "," .root.Values.kafka.brokers | quote }}
KAFKA_CLIENT_ID: {{ printf "%s-%s" (include "gifting.fullname" .root) .name | quote }}
KAFKA_TOPIC: {{ .root.Values.kafka.topic | quote }}
{{- end }}

{{/* The name of the port on which other parts reach a component. */}}
{{- define "gifting.port" -}}
{{- if eq . "gateway" }}http{{ else }}grpc{{ end }}
{{- end }}

{{- define "gifting.portNumber" -}}
{{- if eq . "gateway" }}8080{{ else }}9000{{ end }}
{{- end }}
