{{/*
Private authorities. They are trusted beside those of the image, whose folder stays in SSL_CERT_DIR: by PostgreSQL, Redis, S3,
OTLP, Kafka and webhooks alike, because all of them take the authorities of the system unless they are given others.
*/}}
{{- define "gifting.hasAuthorities" -}}
{{- with .Values.authorities }}{{ if or .inline .configMap.name .secret.name }}true{{ end }}{{ end }}
{{- end }}

{{/* The ConfigMap with authorities.inline. A hook sees no object of its release, so migrations have one of their own. */}}
{{- define "gifting.authoritiesName" -}}
{{ include "gifting.fullname" .root }}{{ if hasKey . "migration" }}-migration{{ end }}-authorities
{{- end }}

{{/* The volumes of every pod: authorities and extraVolumes. Takes root and values. */}}
{{- define "gifting.commonVolumes" -}}
{{- if include "gifting.hasAuthorities" .root }}
{{- $authorities := .root.Values.authorities }}
- name: authorities
  projected:
    defaultMode: 0440
    sources:
      {{- if $authorities.inline }}
      - configMap:
          name: {{ include "gifting.authoritiesName" . }}
          items:
            - key: ca.crt
              path: inline.crt
      {{- end }}
      {{- range $kind := list "configMap" "secret" }}
      {{- with get $authorities $kind }}
      {{- if .name }}
      - {{ $kind }}:
          name: {{ .name | quote }}
          items:
            - key: {{ .key | quote }}
              path: {{ lower $kind }}.crt
      {{- end }}
      {{- end }}
      {{- end }}
{{- end }}
{{- include "gifting.added" (merge (dict "key" "extraVolumes") .) }}
{{- end }}

{{- define "gifting.commonMounts" -}}
{{- if include "gifting.hasAuthorities" .root }}
- name: authorities
  mountPath: /etc/gifting/authorities
  readOnly: true
{{- end }}
{{- include "gifting.added" (merge (dict "key" "extraVolumeMounts") .) }}
{{- end }}

{{/* The variables of every pod that no program reads by itself. */}}
{{- define "gifting.commonEnvironment" -}}
{{- if include "gifting.hasAuthorities" .root }}
- name: SSL_CERT_DIR
  value: /etc/ssl/certs:/etc/gifting/authorities
{{- end }}
{{- include "gifting.added" (merge (dict "key" "extraEnv") .) }}
{{- end }}

{{/* The lists of all programs and of this one, as items of a list. Takes root, values and key. */}}
{{- define "gifting.added" -}}
{{- with concat (get .root.Values .key) (get .values .key | default list) }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The value of the program if it has one, otherwise that of all programs. Takes root, values and key. */}}
{{- define "gifting.either" -}}
{{- $values := ternary .values .root.Values (hasKey .values .key) }}
{{- with get $values .key }}{{ toYaml . }}{{ end }}
{{- end }}

{{/* The map of all programs, with what this one adds or replaces. sprig's merge keeps a value if another is empty. Takes root, values and key. */}}
{{- define "gifting.merged" -}}
{{- $all := deepCopy (get .root.Values .key) }}
{{- range $name, $value := get .values .key | default dict }}{{ $_ := set $all $name $value }}{{ end }}
{{- toYaml $all }}
{{- end }}

{{/* The labels of a pod. Takes root, name and values. */}}
{{- define "gifting.podLabels" -}}
{{- $labels := merge (dict "app.kubernetes.io/component" .name) (include "gifting.labels" .root | fromYaml) -}}
{{- merge $labels (include "gifting.merged" (merge (dict "key" "podLabels") .) | fromYaml) | toYaml }}
{{- end }}

{{/*
The annotations of a pod. Variables are part of the pod, so their changes restart it by themselves. Authorities are read when a
program starts: their checksum restarts it.
*/}}
{{- define "gifting.podAnnotations" -}}
{{- $annotations := include "gifting.merged" (merge (dict "key" "podAnnotations") .) | fromYaml -}}
{{- if and (hasKey . "component") (not (hasKey . "migration")) }}
{{- with .root.Values.authorities.inline }}{{ $_ := set $annotations "checksum/authorities" (sha256sum .) }}{{ end -}}
{{- with .root.Values.restartedAt }}{{ $_ := set $annotations "gifting/restarted-at" . }}{{ end -}}
{{- if .root.Values.rollOnChange }}{{ $_ := set $annotations "checksum/references" (include "gifting.references" . | sha256sum) }}{{ end -}}
{{- end }}
{{- with $annotations }}{{ toYaml . }}{{ end }}
{{- end }}

{{/*
The versions of the Secrets and ConfigMaps from which a pod takes its variables, authorities and extraVolumes, as the cluster has
them; without a cluster, such as for helm template, there are none. One of extraObjects counts as it will be. Certificates are not
among them: a running pod reads a renewed one.
*/}}
{{- define "gifting.references" -}}
{{- $variables := concat (include "gifting.environment" . | fromYamlArray) (include "gifting.servingEnvironment" . | fromYamlArray) }}
{{- $names := include "gifting.named" (merge (dict "variables" $variables) .) | fromYamlArray }}
{{- if has "kafka" .component.uses }}{{ $names = append $names (printf "Secret/%s" .root.Values.kafka.tls.ca.name) }}{{ end }}
{{- $added := include "gifting.extraObjects" .root | fromYaml }}
{{- /* A change of the ConfigMap that the chart makes has a checksum of its own. */}}
{{- range without $names (printf "ConfigMap/%s" (include "gifting.authoritiesName" .)) | uniq | sortAlpha }}
{{- $kind := dir . }}
{{- $name := trimPrefix (printf "%s/" $kind) . }}
{{- if hasKey $added . }}
{{ . }} {{ get $added . | toJson }}
{{- else }}
{{- with and $name (lookup "v1" $kind $.root.Release.Namespace $name) }}
{{ $kind }} {{ $name }} {{ .metadata.uid }} {{ .metadata.resourceVersion }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The Secrets and ConfigMaps of a pod's variables, extraEnvFrom, authorities and extraVolumes, as Kind/name. Takes root, values and variables. */}}
{{- define "gifting.named" -}}
{{- $sources := list }}
{{- range include "gifting.added" (merge (dict "key" "extraEnvFrom") .) | fromYamlArray }}{{ $sources = append $sources . }}{{ end }}
{{- range .variables }}{{ $sources = append $sources (get . "valueFrom") }}{{ end }}
{{- range include "gifting.commonVolumes" . | fromYamlArray }}
{{- $sources = concat (append $sources .) (dig "projected" "sources" list .) }}
{{- end }}
{{- $names := list }}
{{- range $source := compact $sources }}
{{- range $kind := list "configMap" "secret" }}
{{- with coalesce (get $source $kind) (get $source (printf "%sRef" $kind)) (get $source (printf "%sKeyRef" $kind)) }}
{{- $names = append $names (printf "%s/%s" (title $kind) (coalesce (get . "name") (get . "secretName"))) }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml $names }}
{{- end }}

{{/* The extraObjects of the release's namespace by Kind/name. A text may hold several. */}}
{{- define "gifting.extraObjects" -}}
{{- $objects := dict }}
{{- range .Values.extraObjects }}
{{- range regexSplit "(?m)^---" (tpl (kindIs "string" . | ternary . (toYaml .)) $) -1 }}
{{- $object := fromYaml . }}
{{- if eq (dig "metadata" "namespace" $.Release.Namespace $object) $.Release.Namespace }}
{{- $_ := set $objects (printf "%s/%s" (get $object "kind") (dig "metadata" "name" "" $object)) $object }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml $objects }}
{{- end }}
