{{/* Checks of resources, addresses and what values add to the pods. Each is a list of what is wrong. */}}

{{- define "gifting.wrongResources" -}}
{{- $wrong := list }}
{{- $all := dict "migrations" .Values.migrations.resources }}
{{- range $_, $component := include "gifting.components" . | fromYaml }}
{{- $_ := set $all $component.values (index $.Values $component.values).resources }}
{{- end }}
{{- range $owner, $resources := $all }}
{{- $memory := include "gifting.mebibytes" $resources.limits.memory | int }}
{{- if gt (include "gifting.mebibytes" $resources.requests.memory | int) $memory }}
{{- $wrong = append $wrong (printf "%s.resources.requests.memory %s is more than limits.memory %s" $owner $resources.requests.memory $resources.limits.memory) }}
{{- end }}
{{- if lt $memory 32 }}
{{- $wrong = append $wrong (printf "%s.resources.limits.memory %s is less than 32Mi, which every program needs" $owner $resources.limits.memory) }}
{{- end }}
{{- with get $resources.limits "cpu" }}
{{- if gt (include "gifting.cores" $resources.requests.cpu | float64) (include "gifting.cores" . | float64) }}
{{- $wrong = append $wrong (printf "%s.resources.requests.cpu %s is more than limits.cpu %s" $owner $resources.requests.cpu .) }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml $wrong }}
{{- end }}

{{/* The MiB of a quantity such as 256Mi or 1Gi. */}}
{{- define "gifting.mebibytes" -}}
{{- $number := trimSuffix "Mi" (trimSuffix "Gi" .) | int -}}
{{ ternary (mul $number 1024) $number (hasSuffix "Gi" .) }}
{{- end }}

{{/* The cores of a quantity such as 0.5 or 500m. */}}
{{- define "gifting.cores" -}}
{{ if hasSuffix "m" . }}{{ divf (trimSuffix "m" . | float64) 1000.0 }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{- define "gifting.wrongAddresses" -}}
{{- $wrong := list }}
{{- range $key := list "publicUrl" "claimUrl" }}
{{- if and (eq $.Values.environment "production") (hasPrefix "http:" (get $.Values $key)) }}
{{- $wrong = append $wrong (printf "%s begins with http:, but production needs https:" $key) }}
{{- end }}
{{- end }}
{{- range get .Values.gateway.settings "GIFTING_TRUSTED_PROXIES" | default "" | splitList "," }}
{{- if hasSuffix "/0" (trim .) }}
{{- $wrong = append $wrong (printf "gateway.settings.GIFTING_TRUSTED_PROXIES: %s trusts every address, so that clients could choose their own" (trim .)) }}
{{- end }}
{{- end }}
{{- $blocks := regexFindAll "-----BEGIN CERTIFICATE-----\\s+[A-Za-z0-9+/=\\s]+-----END CERTIFICATE-----" .Values.authorities.inline -1 }}
{{- if ne (len $blocks) (len (regexFindAll "-----(BEGIN|END)" .Values.authorities.inline -1 | chunk 2)) }}
{{- $wrong = append $wrong "authorities.inline has an incomplete certificate" }}
{{- end }}
{{- toYaml $wrong }}
{{- end }}

{{/* What two values set, and mounts of volumes that do not exist: Kubernetes would refuse it, or take the last. */}}
{{- define "gifting.wrongAdditions" -}}
{{- $wrong := list }}
{{- range $name, $component := include "gifting.components" . | fromYaml }}
{{- $values := index $.Values $component.values }}
{{- $program := dict "root" $ "name" $name "component" $component "values" $values }}
{{- $variables := concat (include "gifting.environment" $program | fromYamlArray) (include "gifting.servingEnvironment" $program | fromYamlArray) }}
{{- $added := dict }}
{{- range concat $.Values.extraEnv (get $values "extraEnv" | default list) }}{{ $_ := set $added .name true }}{{ end }}
{{- range include "gifting.twice" (dict "items" $variables "by" "name") | fromYamlArray }}
{{- if hasKey $added . }}
{{- $wrong = append $wrong (printf "%s: %s is set twice, or by the chart" (include "gifting.whose" (merge (dict "key" "extraEnv" "by" "name" "value" .) $program)) .) }}
{{- end }}
{{- end }}
{{- range $key, $by := dict "extraVolumes" "name" "extraVolumeMounts" "mountPath" }}
{{- range include "gifting.twice" (dict "items" (concat (get $.Values $key) (get $values $key | default list)) "by" $by) | fromYamlArray }}
{{- $wrong = append $wrong (printf "%s: there are two with the %s %s" (include "gifting.whose" (merge (dict "key" $key "by" $by "value" .) $program)) $by .) }}
{{- end }}
{{- end }}
{{- $volumes := dict }}
{{- range concat $.Values.extraVolumes (get $values "extraVolumes" | default list) }}{{ $_ := set $volumes .name true }}{{ end }}
{{- range concat $.Values.extraVolumeMounts (get $values "extraVolumeMounts" | default list) }}
{{- if not (hasKey $volumes .name) }}
{{- $wrong = append $wrong (printf "%s: extraVolumes has no volume %s" (include "gifting.whose" (merge (dict "key" "extraVolumeMounts" "by" "name" "value" .name) $program)) .name) }}
{{- end }}
{{- end }}
{{- end }}
{{- uniq $wrong | toYaml }}
{{- end }}

{{/* The path of the list that has an item: that of all programs, otherwise that of one. Takes key, by, value and those of a program. */}}
{{- define "gifting.whose" -}}
{{- $path := printf "%s.%s" .component.values .key }}
{{- range get .root.Values .key }}{{ if eq (get . $.by) $.value }}{{ $path = $.key }}{{ end }}{{ end }}
{{- $path }}
{{- end }}

{{/* The values of a key that more than one item has. Takes items and by. */}}
{{- define "gifting.twice" -}}
{{- $seen := list }}
{{- $twice := list }}
{{- range .items }}
{{- $value := get . $.by }}
{{- if has $value $seen }}{{ $twice = append $twice $value }}{{ end }}
{{- $seen = append $seen $value }}
{{- end }}
{{- uniq $twice | toYaml }}
{{- end }}

{{/* What a further cell needs, and what it cannot have. */}}
{{- define "gifting.wrongCell" -}}
{{- $wrong := list }}
{{- if eq .Values.cell "a" }}
{{- if .Values.tenantsAddr }}
{{- $wrong = append $wrong "tenantsAddr is for a further cell, but cell is a, which has a tenants service" }}
{{- end }}
{{- else }}
{{- if not .Values.tenantsAddr }}
{{- $wrong = append $wrong (printf "cell %s needs tenantsAddr, the tenants service of the first cell" .Values.cell) }}
{{- end }}
{{- if eq .Values.environment "sandbox" }}
{{- $wrong = append $wrong (printf "cell is %s, but the sandbox has one cell, a" .Values.cell) }}
{{- end }}
{{- if or .Values.ingress.enabled .Values.gatewayApi.enabled }}
{{- $wrong = append $wrong (printf "cell %s has no gateway, so ingress and gatewayApi must not be enabled" .Values.cell) }}
{{- end }}
{{- if and .Values.networkPolicy.enabled (not .Values.networkPolicy.cells.peers) }}
{{- $wrong = append $wrong "networkPolicy.cells.peers names no peer: the gateways and the tenants service of the first cell" }}
{{- end }}
{{- end }}
{{- toYaml $wrong }}
{{- end }}
