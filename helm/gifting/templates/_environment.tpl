{{/* The variables that a component needs for every command: addresses, stores, secrets. Takes root, name, component, values. */}}
{{- define "gifting.environment" -}}
{{- $settings := include "gifting.settings" . | fromYaml -}}
- name: GIFTING_GRPC_ADDR
  value: ":{{ include "gifting.grpcPort" .name }}"
{{- if eq .name "gateway" }}
- name: GIFTING_HTTP_ADDR
  value: ":{{ include "gifting.portNumber" .name }}"
{{- end }}
{{- if ne .root.Values.cell "a" }}
- name: GIFTING_CELL
  value: {{ .root.Values.cell | quote }}
{{- end }}
{{- range .component.settings }}
- name: GIFTING_{{ . }}
  value: {{ include "gifting.literal" (index $settings .) }}
{{- end }}
{{- if has "kafka" .component.uses }}
{{- range $setting, $value := include "gifting.kafkaSettings" . | fromYaml }}
- name: GIFTING_{{ $setting }}
  value: {{ include "gifting.literal" $value }}
{{- end }}
{{- end }}
{{- range .component.calls }}
- name: GIFTING_{{ . | upper | replace "-" "_" }}_ADDR
  value: {{ include "gifting.address" (dict "root" $.root "name" .) }}
{{- end }}
{{- range $setting, $place := .component.secrets }}
{{- $reference := index $.values.secrets $place }}
{{- if and (hasKey $ "migration") (eq $setting "DATABASE_URL") $.values.secrets.migrationDatabaseUrl.name }}
{{- $reference = $.values.secrets.migrationDatabaseUrl }}
{{- end }}
{{- if $reference.name }}
- name: GIFTING_{{ $setting }}
  valueFrom:
    secretKeyRef:
      name: {{ $reference.name | quote }}
      key: {{ $reference.key | quote }}
{{- end }}
{{- end }}
{{- range $setting, $value := .values.settings }}
- name: {{ $setting }}
  value: {{ include "gifting.literal" $value }}
{{- end }}
{{- include "gifting.commonEnvironment" . }}
{{- end }}

{{/* The value of a variable. Kubernetes would replace $(NAME) by the value of another variable, and $$ by $. Takes the text. */}}
{{- define "gifting.literal" -}}
{{ replace "$" "$$" . | quote }}
{{- end }}

{{/* The memory that Go may use: 90 % of the limit, because Go does not count all memory. Takes resources. */}}
{{- define "gifting.memory" -}}
- name: GOMEMLIMIT
  value: {{ div (mul (include "gifting.mebibytes" .limits.memory | int) 9) 10 }}MiB
{{- end }}

{{/* Further variables that a component needs for serve. */}}
{{- define "gifting.servingEnvironment" -}}
- name: GIFTING_METRICS_ADDR
  value: ":9090"
- name: GIFTING_LAME_DUCK
  value: {{ .root.Values.termination.lameDuckSeconds }}s
- name: GIFTING_DRAIN_TIMEOUT
  value: {{ .root.Values.termination.drainSeconds }}s
- name: GIFTING_TLS_TRUST_DOMAIN
  value: {{ .root.Values.tls.trustDomain | quote }}
- name: GIFTING_TLS_CERT_FILE
  value: /etc/gifting/tls/tls.crt
- name: GIFTING_TLS_KEY_FILE
  value: /etc/gifting/tls/tls.key
- name: GIFTING_TLS_CA_FILE
  value: /etc/gifting/tls/ca.crt
{{- if and (eq .name "catalog") .values.images.credentialsSecret }}
- name: AWS_ACCESS_KEY_ID
  valueFrom:
    secretKeyRef:
      name: {{ .values.images.credentialsSecret | quote }}
      key: access-key-id
- name: AWS_SECRET_ACCESS_KEY
  valueFrom:
    secretKeyRef:
      name: {{ .values.images.credentialsSecret | quote }}
      key: secret-access-key
{{- end }}
{{ include "gifting.memory" .values.resources }}
{{- include "gifting.telemetryEnvironment" . }}
{{- end }}

{{/* Spans, metrics and logs go to the collector. The standard resource variables name pod and namespace. */}}
{{- define "gifting.telemetryEnvironment" -}}
{{- with .root.Values.telemetry }}
{{- if .otlpEndpoint }}
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ .otlpEndpoint | quote }}
- name: OTEL_RESOURCE_ATTRIBUTES
  value: k8s.namespace.name={{ $.root.Release.Namespace }},k8s.pod.name=$(POD_NAME),deployment.environment.name={{ $.root.Values.environment }}
{{- if not .metrics }}
- name: OTEL_METRICS_EXPORTER
  value: none
{{- end }}
{{- if not .logs }}
- name: OTEL_LOGS_EXPORTER
  value: none
{{- end }}
- name: OTEL_TRACES_SAMPLER
  value: parentbased_traceidratio
- name: OTEL_TRACES_SAMPLER_ARG
  value: {{ .sampleRatio | quote }}
{{- with .otlpHeaders }}
{{- if .name }}
- name: OTEL_EXPORTER_OTLP_HEADERS
  valueFrom:
    secretKeyRef:
      name: {{ .name | quote }}
      key: {{ .key | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
