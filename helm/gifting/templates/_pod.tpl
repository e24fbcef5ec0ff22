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

{{/* What every pod of the chart has in common. Service links would put variables beside the settings that look like them. */}}
{{- define "gifting.podBasics" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
securityContext:
  {{- include "gifting.podSecurity" . | nindent 2 }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{/* Instances of a component keep away from each other, by node and by zone. Takes root and name. */}}
{{- define "gifting.spread" -}}
{{- range $key := .root.Values.topologySpread.keys }}
- topologyKey: {{ $key }}
  maxSkew: 1
  whenUnsatisfiable: {{ $.root.Values.topologySpread.whenUnsatisfiable }}
  matchLabelKeys: [pod-template-hash]
  labelSelector:
    matchLabels:
      {{- include "gifting.selector" $ | nindent 6 }}
{{- end }}
{{- end }}

{{/* The end of an instance: it still takes calls, then finishes those it has, then has some seconds to spare. */}}
{{- define "gifting.graceSeconds" -}}
{{ add .Values.termination.lameDuckSeconds .Values.termination.drainSeconds 15 }}
{{- end }}

{{/*
The kubelet has no client certificate, so that it cannot ask gRPC health: the metrics port answers for it. It says ready
once the program serves its calls and its database answers, and not ready as soon as the end begins.
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
