{{/* One egress rule: peers and TCP port. No peers: any address, on this port. No port: any port. */}}
{{- define "gifting.egressTo" -}}
- {{ with .to }}to:
    {{- toYaml . | nindent 4 }}
  {{ end }}ports:
    - protocol: TCP
      {{- with .port }}
      port: {{ . }}
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
