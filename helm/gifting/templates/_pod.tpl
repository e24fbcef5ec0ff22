{{/* The restricted profile of the pod security standards, for pods and for containers. */}}
{{- define "gifting.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "gifting.containerSecurity" -}}
allowPrivilegeEscalation: false
privileged: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/*
The number of instances. An autoscaler, of the chart or beside it, changes it in the cluster: the chart keeps what is there, because
Kubernetes takes 1 for a number that was in the last release and is missing in this one. Takes root, name and values.
*/}}
{{- define "gifting.replicas" -}}
{{- if and (get .values "replicas") (not .values.autoscaling.enabled) }}
{{- .values.replicas }}
{{- else }}
{{- with lookup "apps/v1" "Deployment" .root.Release.Namespace (printf "%s-%s" (include "gifting.fullname" .root) .name) }}
{{- .spec.replicas }}
{{- end }}
{{- end }}
{{- end }}

{{/*
What all pods of the chart have in common. There are no service links, because their variables look like settings. Takes root
and values.
*/}}
{{- define "gifting.podBasics" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . | quote }}
{{- end }}
{{- end }}
securityContext:
  {{- include "gifting.podSecurity" . | nindent 2 }}
{{- range $key := list "nodeSelector" "tolerations" "affinity" }}
{{- with include "gifting.either" (merge (dict "key" $key) $) }}
{{ $key }}:
  {{- . | nindent 2 }}
{{- end }}
{{- end }}
{{- with .root.Values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- end }}

{{/* Spreads the instances of a component over nodes and zones. Takes root, name and values. */}}
{{- define "gifting.spread" -}}
{{- $spread := include "gifting.merged" (merge (dict "key" "topologySpread") .) | fromYaml }}
{{- range $key := $spread.keys }}
- topologyKey: {{ $key | quote }}
  maxSkew: 1
  whenUnsatisfiable: {{ $spread.whenUnsatisfiable }}
  matchLabelKeys: [pod-template-hash]
  labelSelector:
    matchLabels:
      {{- include "gifting.selector" $ | nindent 6 }}
{{- end }}
{{- end }}

{{/*
The termination grace period: time to accept calls, time to finish calls in flight, and some seconds more. An attempt to deliver a
webhook may take longer than the calls. Takes root, name and values.
*/}}
{{- define "gifting.graceSeconds" -}}
{{- $seconds := add .root.Values.termination.lameDuckSeconds .root.Values.termination.drainSeconds }}
{{- if eq .name "webhook" }}
{{- $types := .root.Files.Get "files/settings.json" | fromJson }}
{{- $timeout := get .values.settings "GIFTING_WEBHOOK_TIMEOUT" | default $types.webhook.GIFTING_WEBHOOK_TIMEOUT.default }}
{{- $seconds = max $seconds (include "gifting.seconds" $timeout | float64 | ceil | int) }}
{{- end }}
{{- add $seconds 15 }}
{{- end }}

{{/*
The kubelet has no client certificate for gRPC health, so the probes use the metrics port. It reports ready once the program
serves calls and its database answers, and not ready as soon as the shutdown begins.
*/}}
{{- define "gifting.probes" -}}
startupProbe:
  httpGet:
    path: /livez
    port: metrics
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet:
    path: /livez
    port: metrics
  periodSeconds: 10
  timeoutSeconds: 3
  failureThreshold: 3
readinessProbe:
  httpGet:
    path: /readyz
    port: metrics
  periodSeconds: 3
  timeoutSeconds: 3
  failureThreshold: 2
{{- end }}

{{/* The Secrets with certificates for Kafka, as volumes and as their mounts. Both take root, name and component. */}}
{{- define "gifting.kafkaVolumes" -}}
{{- if has "kafka" .component.uses }}
{{- with .root.Values.kafka.tls.ca }}
{{- if .name }}
- name: kafka-ca
  secret:
    secretName: {{ .name | quote }}
    defaultMode: 0440
    items:
      - key: {{ .key | quote }}
        path: ca.crt
{{- end }}
{{- end }}
{{- with get .root.Values.kafka.tls.certificates .name }}
- name: kafka
  secret:
    secretName: {{ . | quote }}
    defaultMode: 0440
{{- end }}
{{- end }}
{{- end }}

{{- define "gifting.kafkaMounts" -}}
{{- range include "gifting.kafkaVolumes" . | fromYamlArray }}
- name: {{ .name }}
  mountPath: /etc/gifting/{{ .name }}
  readOnly: true
{{- end }}
{{- end }}
