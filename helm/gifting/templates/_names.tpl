{{/* The prefix of all names. A Service's name begins with a letter and has no dot; a release's name may be otherwise. */}}
{{- define "gifting.fullname" -}}
{{- $release := replace "." "-" .Release.Name -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride }}
{{- else if regexMatch "^[0-9]" $release -}}
{{ printf "%s-%s" .Chart.Name $release | trunc 40 | trimSuffix "-" }}
{{- else if contains .Chart.Name $release -}}
{{ $release | trunc 40 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" $release .Chart.Name | trunc 40 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{/* The labels that every object of the release has. */}}
{{- define "gifting.labels" -}}
{{ include "gifting.releaseSelector" . }}
app.kubernetes.io/version: {{ include "gifting.version" . | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: gifting
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The selector of all pods of the release. */}}
{{- define "gifting.releaseSelector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{/* The selector of the pods of one component. Takes root and name. */}}
{{- define "gifting.selector" -}}
{{ include "gifting.releaseSelector" .root }}
app.kubernetes.io/component: {{ .name }}
{{- end }}

{{/* The version as a label. A tag may be longer than a label may be, and may begin and end with other characters. */}}
{{- define "gifting.version" -}}
{{ .Values.image.tag | default .Chart.AppVersion | trunc 63 | trimAll "-_." }}
{{- end }}

{{/* The image. It has the programs of all components. */}}
{{- define "gifting.image" -}}
{{- $i := .Values.image -}}
{{- with $i.registry }}{{ . }}/{{ end }}{{ $i.repository }}
{{- if $i.digest }}@{{ $i.digest }}{{ else }}:{{ $i.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* The Secret with a component's certificate. Takes root, name and values. */}}
{{- define "gifting.certificateSecret" -}}
{{- if eq .root.Values.tls.source "secrets" -}}
{{ .values.certificateSecret | default (printf "%s-%s-tls" (include "gifting.fullname" .root) .name) }}
{{- else -}}
{{ include "gifting.fullname" .root }}-{{ .name }}-tls
{{- end -}}
{{- end }}
