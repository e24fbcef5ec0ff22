{{/*
What no schema can check: values that depend on each other, and the types of settings. The programs refuse the same, but only
after the installation. files/settings.json has the types; `make configuration` writes it from the code.
*/}}

{{/* Fails with everything that is wrong with the values. */}}
{{- define "gifting.checkValues" -}}
{{- $wrong := list }}
{{- range list "Programs" "Kafka" "Scaling" "Resources" "Certificates" "Images" "Network" "Addresses" "Additions" "Cell" }}
{{- $wrong = concat $wrong (include (printf "gifting.wrong%s" .) $ | fromYamlArray) }}
{{- end }}
{{- with $wrong }}
{{- fail (join "; " .) }}
{{- end }}
{{- end }}

{{/* Settings and secrets that a program does not have, values of settings, shared databases, and programs that do not exist. */}}
{{- define "gifting.wrongPrograms" -}}
{{- $types := .Files.Get "files/settings.json" | fromJson }}
{{- /* A further cell ignores the values of these two. */}}
{{- $programs := list "gateway" "tenants" }}
{{- $databases := dict }}
{{- $wrong := list }}
{{- range $name, $component := include "gifting.components" . | fromYaml }}
{{- $programs = append $programs $component.values }}
{{- $values := index $.Values $component.values }}
{{- $settings := concat $component.accepts (list "LOG_LEVEL" "PROFILING") }}
{{- $secrets := values $component.secrets }}
{{- if hasKey $component.secrets "DATABASE_URL" }}
{{- /* The services: each has a database and a gRPC server. */}}
{{- $settings = concat $settings (list "DATABASE_MAX_CONNS" "DATABASE_STATEMENT_TIMEOUT" "GRPC_CALLS" "DATABASE_LOCK_TIMEOUT") }}
{{- $secrets = append $secrets "migrationDatabaseUrl" }}
{{- $database := printf "%s/%s" $values.secrets.databaseUrl.name $values.secrets.databaseUrl.key }}
{{- with get $databases $database }}
{{- $wrong = append $wrong (printf "%s.secrets.databaseUrl and %s.secrets.databaseUrl are the same, but each service has a database of its own" . $component.values) }}
{{- end }}
{{- $_ := set $databases $database $component.values }}
{{- end }}
{{- range $setting, $value := $values.settings }}
{{- if not (has (trimPrefix "GIFTING_" $setting) $settings) }}
{{- $wrong = append $wrong (printf "%s has no setting %s" $component.values $setting) }}
{{- else if $value }}
{{- with include "gifting.wrongSetting" (dict "value" $value "type" (index $types $name $setting)) }}
{{- $wrong = append $wrong (printf "%s.settings.%s: %q %s" $component.values $setting $value .) }}
{{- end }}
{{- end }}
{{- end }}
{{- range $secret, $_ := $values.secrets }}
{{- if not (has $secret $secrets) }}
{{- $wrong = append $wrong (printf "%s has no secret %s" $component.values $secret) }}
{{- end }}
{{- end }}
{{- end }}
{{- range $key, $values := .Values }}
{{- if and (kindIs "map" $values) (not (has $key $programs)) }}
{{- if hasKey $values "autoscaling" }}
{{- $wrong = append $wrong (printf "there is no program %s" $key) }}
{{- end }}
{{- end }}
{{- end }}
{{- with include "gifting.wrongLease" (dict "settings" .Values.webhook.settings "types" $types.webhook) }}
{{- $wrong = append $wrong . }}
{{- end }}
{{- with include "gifting.wrongHours" (get .Values.orders.settings "GIFTING_OPENING_HOURS") }}
{{- $wrong = append $wrong . }}
{{- end }}
{{- toYaml $wrong }}
{{- end }}

{{/* Opening hours are entries separated by semicolons, each a day or a range of days with hours. Takes the text, or nothing. */}}
{{- define "gifting.wrongHours" -}}
{{- $day := "(Mon|Tue|Wed|Thu|Fri|Sat|Sun)" }}
{{- $time := "(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)" }}
{{- $wrong := false }}
{{- range . | default "Sun 00:00-24:00" | splitList ";" }}
{{- $hours := regexFind "[0-9:]+-[0-9:]+$" (trim .) | splitList "-" }}
{{- if not (regexMatch (printf "^%s(-%s)? %s-%s$" $day $day $time $time) (trim .)) }}
{{- $wrong = true }}
{{- else if ge (first $hours) (last $hours) }}
{{- $wrong = true }}
{{- end }}
{{- end }}
{{- if $wrong }}
{{- printf "orders.settings.GIFTING_OPENING_HOURS: %q is not like Mon-Fri 09:00-17:00; Sat 10:00-14:00" . }}
{{- end }}
{{- end }}

{{/* What is wrong with the value of a setting; empty if nothing is. Takes value, a text that is not empty, and type. */}}
{{- define "gifting.wrongSetting" -}}
{{- $octet := "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])" }}
{{- $forms := dict
  "duration" "^[+-]?(0|(([0-9]+([.][0-9]*)?|[.][0-9]+)(ns|us|µs|ms|s|m|h))+)$"
  "number" "^[+-]?[0-9]+$"
  "bool" "^(1|t|T|TRUE|true|True|0|f|F|FALSE|false|False)$"
  "level" "^(?i)(debug|info|warn|error)([+-][0-9]+)?$"
  "networks" (printf "^(%s([.]%s){3}(/(3[0-2]|[12]?[0-9]))?|(%s)(/(12[0-8]|1[01][0-9]|[1-9]?[0-9]))?)$" $octet $octet (include "gifting.ipv6" .))
  "zone" "^(UTC|Local|[A-Z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*)$"
  "hostports" "^([^\\s:,/@\\[\\]]+|\\[[0-9A-Fa-f:.]+\\]):[1-9][0-9]{0,4}$"
  "web" "^https?://[^\\s/?#@]+(/[^\\s?#]*)?$" }}
{{- $says := dict
  "duration" "is not a duration such as 500ms, 90s or 24h"
  "number" "is not a whole number"
  "bool" "is neither true nor false"
  "level" "is not DEBUG, INFO, WARN or ERROR"
  "networks" "is not a list of IP addresses and prefixes, separated by commas"
  "zone" "is not a time zone"
  "hostports" "is not a list of host:port, separated by commas"
  "web" "is not an http or https URL without query and fragment" }}
{{- $form := get $forms .type.type }}
{{- $parts := list .value }}
{{- if has .type.type (list "networks" "hostports") }}
{{- $parts = list }}
{{- range splitList "," .value }}{{ $parts = append $parts (trim .) }}{{ end }}
{{- end }}
{{- $wrong := "" }}
{{- range $parts }}
{{- if and $form (not (regexMatch $form .)) }}
{{- $wrong = get $says $.type.type }}
{{- end }}
{{- end }}
{{- if and (eq .type.type "oneof") (not (has .value .type.words)) }}
{{- $wrong = printf "is not one of %s" (join ", " .type.words) }}
{{- end }}
{{- if not $wrong }}
{{- $number := 0.0 }}
{{- if eq .type.type "number" }}{{ $number = float64 .value }}{{ end }}
{{- if eq .type.type "duration" }}{{ $number = include "gifting.seconds" .value | float64 }}{{ end }}
{{- if and (hasKey .type "min") (lt $number (float64 (get .type "min"))) }}
{{- $wrong = include "gifting.bound" (dict "words" "at least" "type" .type.type "limit" .type.min) }}
{{- end }}
{{- if and (hasKey .type "max") (gt $number (float64 (get .type "max"))) }}
{{- $wrong = include "gifting.bound" (dict "words" "at most" "type" .type.type "limit" .type.max) }}
{{- end }}
{{- end }}
{{- $wrong }}
{{- end }}

{{/* The forms of an IPv6 address, as a regular expression. */}}
{{- define "gifting.ipv6" -}}
{{- $group := "[0-9A-Fa-f]{1,4}" }}
{{- $forms := list (printf "(%s:){7}%s" $group $group) (printf "(%s:){1,7}:" $group) (printf ":(:%s){1,7}" $group) "::" }}
{{- range $behind := untilStep 1 7 1 }}
{{- $forms = append $forms (printf "(%s:){1,%d}(:%s){1,%d}" $group (sub 7 $behind) $group $behind) }}
{{- end }}
{{- join "|" $forms }}
{{- end }}

{{- define "gifting.bound" -}}
is not {{ .words }} {{ if lt (float64 .limit) 1.0 }}{{ .limit }}{{ else }}{{ int64 .limit }}{{ end }}{{ if eq .type "duration" }}s{{ end }}
{{- end }}

{{/* The seconds of a duration such as 1h30m, written in decimals. Takes the text. */}}
{{- define "gifting.seconds" -}}
{{- $units := dict "ns" 0.000000001 "us" 0.000001 "µs" 0.000001 "ms" 0.001 "s" 1.0 "m" 60.0 "h" 3600.0 }}
{{- $sum := 0.0 }}
{{- range regexFindAll "[0-9.]+(ns|us|µs|ms|s|m|h)" . -1 }}
{{- $unit := regexFind "[a-zµ]+$" . }}
{{- $sum = addf $sum (mulf (trimSuffix $unit . | float64) (get $units $unit)) }}
{{- end }}
{{- printf "%f" (ternary (mulf -1.0 $sum) $sum (hasPrefix "-" .)) }}
{{- end }}

{{/* A worker's lease on a delivery must outlast its attempt by 5 s, in which it looks up the endpoint and records the result. */}}
{{- define "gifting.wrongLease" -}}
{{- $timeout := get .settings "GIFTING_WEBHOOK_TIMEOUT" | default .types.GIFTING_WEBHOOK_TIMEOUT.default }}
{{- $lease := get .settings "GIFTING_WEBHOOK_LEASE" | default .types.GIFTING_WEBHOOK_LEASE.default }}
{{- if lt (include "gifting.seconds" $lease | float64) (addf 5.0 (include "gifting.seconds" $timeout | float64)) }}
{{- printf "webhook.settings: GIFTING_WEBHOOK_LEASE, %s, must be at least 5s longer than GIFTING_WEBHOOK_TIMEOUT, %s" $lease $timeout }}
{{- end }}
{{- end }}

{{- define "gifting.wrongScaling" -}}
{{- $wrong := list }}
{{- if and .Values.test.apiKey.name (ne .Values.environment "sandbox") }}
{{- $wrong = append $wrong "test.apiKey places an order, so it needs the environment sandbox" }}
{{- end }}
{{- range $_, $component := include "gifting.components" . | fromYaml }}
{{- with (index $.Values $component.values).autoscaling }}
{{- if gt (int .min) (int .max) }}
{{- $wrong = append $wrong (printf "%s.autoscaling: min %d is more than max %d" $component.values (int .min) (int .max)) }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml $wrong }}
{{- end }}

{{- define "gifting.wrongCertificates" -}}
{{- $wrong := list }}
{{- if eq .Values.tls.source "certManager" }}
{{- $duration := include "gifting.seconds" .Values.tls.certManager.duration | float64 }}
{{- $renew := include "gifting.seconds" .Values.tls.certManager.renewBefore | float64 }}
{{- if lt $duration 3600.0 }}
{{- $wrong = append $wrong "tls.certManager.duration is less than an hour" }}
{{- end }}
{{- if or (lt $renew 300.0) (ge $renew $duration) }}
{{- $wrong = append $wrong "tls.certManager.renewBefore is not between five minutes and tls.certManager.duration" }}
{{- end }}
{{- if and .Values.monitoring.rules.enabled (le $renew 604800.0) }}
{{- $wrong = append $wrong "tls.certManager.renewBefore is not more than 168h: the alert GiftingCertificateExpiry would fire before each renewal" }}
{{- end }}
{{- end }}
{{- toYaml $wrong }}
{{- end }}

{{- define "gifting.wrongImages" -}}
{{- $images := .Values.catalog.images }}
{{- $wrong := list }}
{{- $known := list "create_dir" "dir_file_mode" "metadata" "no_tmp_dir" }}
{{- if hasPrefix "file:" $images.url }}
{{- if not $images.existingClaim }}
{{- $wrong = append $wrong "catalog.images.url is a folder, but catalog.images.existingClaim names no volume for it" }}
{{- end }}
{{- if $images.credentialsSecret }}
{{- $wrong = append $wrong "catalog.images.credentialsSecret needs a catalog.images.url with s3://" }}
{{- end }}
{{- if or (contains "/.." $images.url) (not (regexMatch "^file:///var/lib/gifting/images(/[^?]*)?([?]|$)" $images.url)) }}
{{- $wrong = append $wrong "catalog.images.url is not in /var/lib/gifting/images, where the volume is" }}
{{- end }}
{{- else }}
{{- if $images.existingClaim }}
{{- $wrong = append $wrong "catalog.images.existingClaim needs a catalog.images.url with file://" }}
{{- end }}
{{- if not (regexMatch "^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]([?]|$)" $images.url) }}
{{- $wrong = append $wrong "catalog.images.url is not s3:// with the name of a bucket; a folder in it is the parameter prefix" }}
{{- end }}
{{- $known = list "accelerate" "anonymous" "dualstack" "endpoint" "fips" "hostname_immutable" "kmskeyid" "prefix" "profile"
  "rate_limiter_capacity" "region" "request_checksum_calculation" "response_checksum_validation" "role" "ssetype" "use_path_style" }}
{{- with regexFind "[?&]endpoint=[^&]*" $images.url }}
{{- $endpoint := substr 10 -1 . | replace "%3A" ":" | replace "%2F" "/" }}
{{- if not (regexMatch "^https?://([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]+)?/?$" $endpoint) }}
{{- $wrong = append $wrong (printf "catalog.images.url: the endpoint %q is not http or https with a host" $endpoint) }}
{{- else if gt (include "gifting.portIn" $endpoint | int) 65535 }}
{{- $wrong = append $wrong (printf "catalog.images.url: the endpoint %q has no port of 1 to 65535" $endpoint) }}
{{- end }}
{{- end }}
{{- end }}
{{- range regexFindAll "[?&][^=&]*" $images.url -1 }}
{{- if not (has (substr 1 -1 .) $known) }}
{{- $wrong = append $wrong (printf "catalog.images.url has the parameter %q, which is not one of %s" (substr 1 -1 .) (join ", " $known)) }}
{{- end }}
{{- end }}
{{- toYaml $wrong }}
{{- end }}

{{/* Stores in use that the network policies do not name. */}}
{{- define "gifting.wrongNetwork" -}}
{{- $network := .Values.networkPolicy }}
{{- $wrong := list }}
{{- if $network.enabled }}
{{- range $store := list "postgresql" "redis" "kafka" "collector" "objectStorage" }}
{{- if and (include "gifting.inUse" (dict "root" $ "store" $store)) (not (include "gifting.peersOf" (dict "root" $ "store" $store) | fromYamlArray)) }}
{{- $wrong = append $wrong (printf "networkPolicy.%s.to names no peer; for any address give an ipBlock with the cidr 0.0.0.0/0" $store) }}
{{- end }}
{{- end }}
{{- end }}
{{- $lists := dict "extraEgress" .Values.extraEgress }}
{{- range $_, $component := include "gifting.components" . | fromYaml }}
{{- $_ := set $lists (printf "%s.extraEgress" $component.values) (get (index $.Values $component.values) "extraEgress" | default list) }}
{{- end }}
{{- range $peer, $values := omit $network "enabled" }}
{{- $_ := set $lists (printf "networkPolicy.%s" $peer) (list $values) }}
{{- end }}
{{- range $path, $rules := $lists }}
{{- range $rules }}
{{- range concat (get . "to" | default list) (get . "from" | default list) (get . "peers" | default list) }}
{{- with get . "ipBlock" }}
{{- range prepend (get . "except" | default list) .cidr }}
{{- if include "gifting.hasHostBits" . }}
{{- $wrong = append $wrong (printf "%s: the cidr %s has bits behind its prefix" $path .) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml $wrong }}
{{- end }}

{{/* Whether a cidr, such as 10.0.0.1/8, has bits behind its prefix: then it is not clear what was meant. */}}
{{- define "gifting.hasHostBits" -}}
{{- $parts := splitList "/" . }}
{{- $width := 8 }}
{{- $numbers := first $parts | splitList "." }}
{{- if contains ":" . }}
{{- $width = 16 }}
{{- $sides := first $parts | splitList "::" }}
{{- $left := first $sides | splitList ":" | compact }}
{{- $right := rest $sides | join "" | splitList ":" | compact }}
{{- range until (sub 8 (len (concat $left $right)) | int) }}{{ $left = append $left "0" }}{{ end }}
{{- $numbers = list }}
{{- range concat $left $right }}{{ $numbers = append $numbers (printf "0x%s" .) }}{{ end }}
{{- end }}
{{- $found := "" }}
{{- range $i, $number := $numbers }}
{{- $size := 1 }}
{{- range until (sub (mul $width (add1 $i)) (last $parts | int) | max 0 | min $width | int) }}{{ $size = mul $size 2 }}{{ end }}
{{- if mod (int64 $number) $size }}{{ $found = "true" }}{{ end }}
{{- end }}
{{- $found }}
{{- end }}

{{/* Whether a store is used at all. Takes root and store. */}}
{{- define "gifting.inUse" -}}
{{- $values := .root.Values }}
{{- if eq .store "collector" }}{{ if $values.telemetry.otlpEndpoint }}true{{ end }}
{{- else if eq .store "objectStorage" }}{{ if hasPrefix "s3:" $values.catalog.images.url }}true{{ end }}
{{- else if eq .store "redis" }}{{ if or $values.gateway.secrets.redisUrl.name $values.tenants.secrets.redisUrl.name $values.webhook.secrets.redisUrl.name }}true{{ end }}
{{- else }}true{{ end }}
{{- end }}

{{/* A list of what contradicts itself in the values of Kafka. */}}
{{- define "gifting.wrongKafka" -}}
{{- $kafka := .Values.kafka }}
{{- $wrong := list }}
{{- if not $kafka.tls.enabled }}
{{- if or $kafka.tls.ca.name $kafka.tls.serverName (compact (values $kafka.tls.certificates)) }}
{{- $wrong = append $wrong "kafka.tls has other values but is not enabled" }}
{{- end }}
{{- if $kafka.sasl.mechanism }}
{{- $wrong = append $wrong "kafka.sasl needs kafka.tls.enabled" }}
{{- end }}
{{- end }}
{{- if eq (len (compact (values $kafka.tls.certificates))) 1 }}
{{- $wrong = append $wrong "kafka.tls.certificates needs a Secret for events and for webhook, or for neither" }}
{{- end }}
{{- if and (eq .Values.environment "production") (eq (get .Values.events.settings "GIFTING_KAFKA_REPLICATION" | int) 1) }}
{{- $wrong = append $wrong "events.settings.GIFTING_KAFKA_REPLICATION is 1, but production must not lose events with one broker" }}
{{- end }}
{{- $types := .Files.Get "files/settings.json" | fromJson }}
{{- $feed := get .Values.events.settings "GIFTING_KAFKA_FEED_GROUP" | default $types.events.GIFTING_KAFKA_FEED_GROUP.default }}
{{- $reader := get .Values.webhook.settings "GIFTING_KAFKA_WEBHOOK_GROUP" | default $types.webhook.GIFTING_KAFKA_WEBHOOK_GROUP.default }}
{{- $watched := get .Values.events.settings "GIFTING_KAFKA_WEBHOOK_GROUP" | default $types.events.GIFTING_KAFKA_WEBHOOK_GROUP.default }}
{{- if ne $reader $watched }}
{{- $wrong = append $wrong (printf "GIFTING_KAFKA_WEBHOOK_GROUP is %s in webhook.settings and %s in events.settings, but must be the same" $reader $watched) }}
{{- end }}
{{- if eq $reader $feed }}
{{- $wrong = append $wrong (printf "events.settings.GIFTING_KAFKA_FEED_GROUP and webhook.settings.GIFTING_KAFKA_WEBHOOK_GROUP are both %s, but each needs its own" $feed) }}
{{- end }}
{{- range $name, $component := include "gifting.components" . | fromYaml }}
{{- if has "kafka" $component.uses }}
{{- $password := (index $.Values $component.values).secrets.kafkaPassword.name }}
{{- if and $kafka.sasl.mechanism (not (and $password (get $kafka.sasl.users $name))) }}
{{- $wrong = append $wrong (printf "kafka.sasl.mechanism needs %s.secrets.kafkaPassword.name and kafka.sasl.users.%s" $component.values $name) }}
{{- end }}
{{- if and $password (not $kafka.sasl.mechanism) }}
{{- $wrong = append $wrong (printf "%s.secrets.kafkaPassword needs kafka.sasl.mechanism" $component.values) }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml $wrong }}
{{- end }}
