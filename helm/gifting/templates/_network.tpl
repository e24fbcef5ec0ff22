{{/* The peers of a store. Takes root and store. */}}
{{- define "gifting.peersOf" -}}
{{- $values := index .root.Values.networkPolicy .store }}
{{- $peers := $values.to }}
{{- if get $values "internet" }}{{ $peers = concat $peers (include "gifting.internet" .root | fromYamlArray) }}{{ end }}
{{- toYaml $peers }}
{{- end }}

{{/* The ports of a store. Those of Kafka, object storage and the collector are in their addresses. Takes root and store. */}}
{{- define "gifting.portsOf" -}}
{{- $values := .root.Values }}
{{- $ports := list }}
{{- if eq .store "kafka" }}
{{- range $values.kafka.brokers }}{{ $ports = append $ports (regexFind "[0-9]+$" . | int) }}{{ end }}
{{- else if eq .store "collector" }}
{{- $ports = append $ports (include "gifting.portIn" $values.telemetry.otlpEndpoint | int) }}
{{- else if eq .store "objectStorage" }}
{{- $endpoint := regexFind "[?&]endpoint=[^&]+" $values.catalog.images.url | regexFind "https?(://|%3A%2F%2F).*" | default "https://" }}
{{- $ports = append $ports (include "gifting.portIn" ($endpoint | replace "%3A" ":" | replace "%2F" "/") | int) }}
{{- else }}
{{- $ports = append $ports (index $values.networkPolicy .store).port }}
{{- end }}
{{- $ports | uniq | toYaml }}
{{- end }}

{{/* The port of an http or https URL. */}}
{{- define "gifting.portIn" -}}
{{- $port := regexFind "^https?://([^/:?#]+|\\[[^\\]]+\\]):[0-9]+" . | regexFind "[0-9]+$" }}
{{- $port | default (ternary "443" "80" (hasPrefix "https" .)) }}
{{- end }}

{{/* The egress rule of a store, if it is used. Takes root and store. */}}
{{- define "gifting.egressToStore" -}}
{{- if include "gifting.inUse" . }}
{{- include "gifting.egressTo" (dict "to" (include "gifting.peersOf" . | fromYamlArray) "ports" (include "gifting.portsOf" . | fromYamlArray)) }}
{{- end }}
{{- end }}

{{/* One egress rule: peers and TCP ports. No ports: any port. */}}
{{- define "gifting.egressTo" -}}
- to:
    {{- toYaml .to | nindent 4 }}
  ports:
    {{- range .ports | default (list "") }}
    - protocol: TCP
      {{- with . }}
      port: {{ . }}
      {{- end }}
    {{- end }}
{{- end }}

{{- define "gifting.egressToDNS" -}}
- to:
    {{- toYaml .Values.networkPolicy.dns.to | nindent 4 }}
  ports:
    - protocol: UDP
      port: 53
    - protocol: TCP
      port: 53
{{- end }}

{{/*
The internet without private and special ranges. The webhook service refuses the same ranges. With both checks, a webhook
cannot reach a neighbour, the metadata service of a cloud or the cluster itself, even if one check has a bug.
*/}}
{{- define "gifting.internet" -}}
- ipBlock:
    cidr: 0.0.0.0/0
    except:
      - 0.0.0.0/8
      - 10.0.0.0/8
      - 100.64.0.0/10
      - 127.0.0.0/8
      - 168.63.129.16/32
      - 169.254.0.0/16
      - 172.16.0.0/12
      - 192.0.0.0/24
      - 192.0.2.0/24
      - 192.31.196.0/24
      - 192.52.193.0/24
      - 192.88.99.0/24
      - 192.168.0.0/16
      - 192.175.48.0/24
      - 198.18.0.0/15
      - 198.51.100.0/24
      - 203.0.113.0/24
      - 224.0.0.0/4
      - 240.0.0.0/4
- ipBlock:
    cidr: 2000::/3
    except:
      - 2001::/23
      - 2001:db8::/32
      - 2002::/16
      - 2620:4f:8000::/48
      - 3fff::/20
{{- end }}

{{/* The programs that call a component. Takes root and name. */}}
{{- define "gifting.callers" -}}
{{- range $caller, $component := include "gifting.components" .root | fromYaml }}
{{- if has $.name $component.calls }}
- podSelector:
    matchLabels:
      {{- include "gifting.selector" (dict "root" $.root "name" $caller) | nindent 6 }}
{{- end }}
{{- end }}
{{- end }}

{{/*
Whether a program calls those of other cells, and whether those call it: the gateways and the tenants service of the first cell call the
services of the others, and these the tenants service. Both take root and name, and are empty if it does not or no peer is given.
*/}}
{{- define "gifting.callsCells" -}}
{{- if .root.Values.networkPolicy.cells.peers }}
{{- if or (ne .root.Values.cell "a") (has .name (list "gateway" "tenants")) }}true{{ end }}
{{- end }}
{{- end }}

{{- define "gifting.calledByCells" -}}
{{- if .root.Values.networkPolicy.cells.peers }}
{{- if or (ne .root.Values.cell "a") (eq .name "tenants") }}true{{ end }}
{{- end }}
{{- end }}
