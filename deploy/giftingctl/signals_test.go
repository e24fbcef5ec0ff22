package giftingctl

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/alerts"
	"github.com/partnergifting/platform/deploy/giftingctl/giftingctltest"
	"github.com/partnergifting/platform/pkg/identity"
)

// notSeenAtOnce are the alerts that status leaves to Prometheus, and why.
var notSeenAtOnce = map[string]string{
	"RelayFailing":           "a rate",
	"ChangesRejected":        "it ends after an hour",
	"EventsUnreadable":       "it ends after minutes",
	"SealedUnreadable":       "it ends after minutes",
	"VersionsUnpublished":    "it ends after minutes",
	"WebhookLogRetention":    "a comparison of settings, which events and webhook log when they start",
	"WebhookWorkers":         "an average",
	"CrashLoop":              "a count of restarts",
	"PeriodicWorkFailing":    "a comparison over hours",
	"LimiterFallback":        "a rate",
	"PoolSaturated":          "a rate",
	"APIAvailability":        "an SLO",
	"APILatency":             "an SLO",
	"GiftSiteAvailability":   "an SLO",
	"OperationsAvailability": "an SLO",
	"FeedLag":                "an SLO",
	"WebhookAge":             "an SLO",
	"WebhookFailures":        "an SLO",
	"MoveStanding":           "only with further cells",
	"GiftsBehind":            "only with further cells",
	"CellFull":               "only with further cells",
}

func TestStatusHasTheLimitsOfTheAlerts(t *testing.T) {
	t.Parallel()
	rules, err := alerts.Rules("../..")
	require.NoError(t, err)
	expressions := map[string]string{}
	for _, r := range rules {
		expressions[strings.TrimPrefix(r.Annotations["runbook_url"], "deploy/runbooks/")] += " " + r.Expr + "\n"
	}
	metrics := map[string][]string{}
	for _, m := range alerts.Metrics() {
		metrics[m.Name] = append(m.Labels, "")
	}
	seen := map[string]bool{programRunbook: true, partitionsRunbook: true}
	for _, s := range signals {
		seen[s.runbook] = true
		expression := strings.ReplaceAll(expressions[s.runbook], "7 * 86400", fmt.Sprint(7*days))
		require.Contains(t, expression, s.metric, s.what)
		_, operator, _ := strings.Cut(string(s.comparison), " ")
		require.Regexp(t, fmt.Sprintf(` %s %v\b`, operator, s.limit), expression, s.what)
		require.Contains(t, metrics[s.metric], s.label, s.what)
	}
	for _, r := range rules {
		page := strings.TrimPrefix(r.Annotations["runbook_url"], "deploy/runbooks/")
		if name := strings.TrimPrefix(r.Alert, "Gifting"); name != "" && notSeenAtOnce[name] == "" {
			require.True(t, seen[page], "status has no line for %s", r.Alert)
		}
	}
	for page := range seen {
		require.NotEmpty(t, expressions[page], page)
	}
}

// wellMetrics are metrics of programs that are well, without the label of the program.
var wellMetrics = map[identity.Name]string{
	identity.Gateway: "",
	identity.Tenants: `gifting_retention_lag_seconds 0
gifting_seal_keys_unusable{column="api_keys.webhook_secret",reason="wrong"} 0
gifting_erasures_pending_age_seconds 0
gifting_offboardings_overdue_age_seconds 0
gifting_tenants_skips_total{reason="restarted"} 5
gifting_tenants_skips_total{reason="restored"} 0
`,
	identity.Catalog: "gifting_retention_lag_seconds 0\ngifting_catalog_reservations_overdue_age_seconds 0\n",
	identity.Orders: `gifting_retention_lag_seconds 0
gifting_seal_keys_unusable{column="orders.details_sealed",reason="wrong"} 0
`,
	identity.PersonalLinks: `gifting_retention_lag_seconds 0
gifting_seal_keys_unusable{column="links.details_sealed",reason="wrong"} 0
gifting_links_lost_claims_total 0
`,
	identity.Events: reading + `gifting_relay_leads 1
gifting_relay_oldest_age_seconds{source="links"} 0
gifting_relay_oldest_age_seconds{source="orders"} 0.2
gifting_relay_unconfirmed_age_seconds 0
gifting_relay_clock_offset_seconds{source="orders"} -0.1
gifting_relay_lost_tails_total 0
gifting_kafka_topic_weaker{setting="retention.ms"} 0
`,
	identity.Webhook: reading + "gifting_webhook_oldest_due_age_seconds 0\n",
}

const reading = `gifting_retention_lag_seconds 0
gifting_seal_keys_unusable{column="data",reason="wrong"} 0
gifting_kafka_consumer_partitions 2
gifting_kafka_consumer_blocked 0
gifting_kafka_consumer_lag{messaging_destination_partition_id="0"} 3
gifting_kafka_consumer_lag{messaging_destination_partition_id="1"} 4
gifting_kafka_consumer_oldest_age_seconds 1
gifting_kafka_reader_gaps_total 0
gifting_kafka_reader_lost_tails_total 0
gifting_kafka_store_setbacks_total 0
`

// instanceServer is the metrics port of an instance.
func instanceServer(t *testing.T, program identity.Name, metrics, notReady string) string {
	t.Helper()
	text := fmt.Sprintf("target_info{service_version=\"v1.2.0\"} 1\ngifting_certificate_not_after_seconds %d\n%s",
		time.Now().Add(30*24*time.Hour+time.Hour).Unix(), metrics)
	var labelled strings.Builder
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, labels, _ := strings.Cut(strings.TrimSuffix(name, "}"), "{")
		fmt.Fprintf(&labelled, "%s{service_name=%q,%s} %s\n", name, program, labels, value)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, labelled.String()) })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if notReady != "" {
			http.Error(w, notReady, http.StatusServiceUnavailable)
		}
	})
	return serveAt(t, mux)
}

func serveAt(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// wellPorts are the metrics ports of programs that are well, but for what is replaced in the metrics.
func wellPorts(t *testing.T, replaced ...string) (ports []string) {
	t.Helper()
	for _, program := range identity.Programs() {
		metrics := wellMetrics[program]
		if len(replaced) > 0 && string(program) == replaced[0] {
			require.Contains(t, metrics, replaced[1])
			metrics = strings.Replace(metrics, replaced[1], replaced[2], 1)
		}
		ports = append(ports, instanceServer(t, program, metrics, ""))
	}
	return ports
}

func statusOf(t *testing.T, ports ...string) (code int, out, errs string) {
	t.Helper()
	return runLine(t, "none.yaml", append([]string{"status"}, ports...)...)
}

func TestStatusOfAPlatformThatIsWell(t *testing.T) {
	t.Parallel()
	ports := wellPorts(t)
	code, out, errs := statusOf(t, ports...)
	require.Zero(t, code, out+errs)
	require.Empty(t, errs)
	require.Regexp(t, `(?m)^WHAT +STATE +DETAIL +RUNBOOK$`, out)
	require.Regexp(t, `(?m)^events +ok +1 of 1 ready, v1\.2\.0$`, out)
	require.Regexp(t, `(?m)^partitions of webhook +ok +2 of 2 read, 7 changes wait$`, out)
	require.Regexp(t, `(?m)^certificates expire in +ok +30 days$`, out)
	code, out, _ = statusOf(t, append(ports, "-o", "json")...)
	require.Zero(t, code)
	var lines []map[string]string
	require.NoError(t, json.Unmarshal([]byte(out), &lines))
	require.Equal(t, map[string]string{"what": "gateway", "state": "ok", "detail": "1 of 1 ready, v1.2.0", "runbook": ""}, lines[0])
}

func TestStatusNamesTheRunbookOfWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ program, well, now, want string }{
		{"events", "leads 1", "leads 0", `leaders of the relay +wrong +0 +relay.md#giftingrelayleader`},
		{"events", "leads 1", "leads 2", `leaders of the relay +wrong +2 +`},
		{"events", `{source="orders"} 0.2`, `{source="orders"} 72`, `oldest unpublished change +wrong +orders 1m12s +relay.md#`},
		{"events", `{source="orders"} -0.1`, `{source="orders"} -3`, `difference of clocks +wrong +orders 3s +clocks.md#`},
		{"events", `retention.ms"} 0`, `retention.ms"} 1`, `weak settings of the topic +wrong +retention.ms 1 +kafka-lost.md#`},
		{"events", "gifting_relay_unconfirmed_age_seconds 0\n", "", `oldest unconfirmed change +unknown +0 of 1 programs report it`},
		{"webhook", "partitions 2", "partitions 1", `partitions of webhook +wrong +1 of 2 read, 7 changes wait +consumers.md#`},
		{
			"webhook", "gifting_kafka_consumer_lag{messaging_destination_partition_id=\"1\"} 4\n", "",
			`partitions of webhook +wrong +2 of 2 read, 3 changes wait +consumers.md#`,
		},
		{"webhook", "blocked 0", "blocked 1", `partitions blocked +wrong +webhook 1 +kafka-lost.md#`},
		{"webhook", "due_age_seconds 0", "due_age_seconds 90000", `oldest due webhook +wrong +25h0m0s +webhooks.md#`},
		{"webhook", "setbacks_total 0", "setbacks_total 1", `databases set back +wrong +webhook 1 +restore.md#giftingdatabasesetback`},
		{"tenants", `"restored"} 0`, `"restored"} 1`, `tenants set back +wrong +restored 1 +restore.md#`},
		{"orders", `"wrong"} 0`, `"wrong"} 2`, `unusable seal keys +wrong +orders orders.details_sealed 2 +sealed-data.md#`},
		{"orders", "gifting_retention_lag_seconds 0\n", "", `retention behind +unknown +5 of 6 programs report it +clocks.md#`},
		{
			"catalog", "gifting_retention_lag_seconds 0\n", "gifting_certificate_not_after_seconds{server=\"kafka\"} 1\n",
			`certificates expire in +wrong +catalog -\S+ +programs.md#giftingcertificateexpiry`,
		},
	} {
		code, out, errs := statusOf(t, wellPorts(t, c.program, c.well, c.now)...)
		require.Equal(t, exitFailed, code, out+errs)
		require.Regexp(t, `(?m)^`+c.want, out)
		require.Regexp(t, `^giftingctl: [12] of 29 lines are not ok: see deploy/runbooks\n$`, errs)
	}
}

func TestStatusSumsTheInstancesOfAProgram(t *testing.T) {
	t.Parallel()
	ports := wellPorts(t, "events", "partitions 2", "partitions 1")
	second := strings.NewReplacer("partitions 2", "partitions 1", "leads 1", "leads 0").Replace(wellMetrics[identity.Events])
	code, out, errs := statusOf(t, append(ports, instanceServer(t, identity.Events, second, ""))...)
	require.Zero(t, code, out+errs)
	require.Regexp(t, `(?m)^events +ok +2 of 2 ready, v1\.2\.0$`, out)
	require.Regexp(t, `(?m)^partitions of events +ok +2 of 2 read`, out)
}

func TestAProgramThatDoesNotAnswerIsALine(t *testing.T) {
	t.Parallel()
	closed, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	ended := make(chan struct{})
	hangs := serveAt(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-ended }))
	t.Cleanup(func() { close(ended) })
	other := serveAt(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "<html>\n") }))
	endless := serveAt(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; ; i++ {
			if _, err := fmt.Fprintf(w, "gifting_relay_leads{n=\"%d\"} 1\n", i); err != nil {
				return
			}
		}
	}))
	notReady := instanceServer(t, identity.Catalog, wellMetrics[identity.Catalog], "the image store\x1b[2J does not answer")
	code, out, errs := statusOf(t, closed.Addr().String(), hangs, other, endless, notReady, "--timeout", "2s")
	require.Equal(t, exitFailed, code)
	require.Contains(t, errs, "lines are not ok")
	for _, want := range []string{
		`catalog +wrong +0 of 1 ready, v1.2.0, 127\S+: is not ready: the image store\\u001b\[2J does not answer +programs.md#`,
		`orders +wrong +no instance found +programs.md#`,
		closed.Addr().String() + ` +wrong +dial tcp .*connection refused +programs.md#`,
		hangs + ` +wrong +does not answer in time +programs.md#`,
		other + ` +wrong +has no metrics of a program of the platform +`,
		endless + ` +wrong +(has no metrics of a program of the platform|does not answer in time) +`,
		`partitions of events +unknown +no instance reports it`,
	} {
		require.Regexp(t, `(?m)^`+want, out)
	}
}

func TestStatusReadsThePortsOfTheContext(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, nil)
	code, _, errs := runLine(t, services.Config, "status")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "or set metrics of test in "+services.Config)
	content, err := os.ReadFile(services.Config)
	require.NoError(t, err)
	text := string(content) + "    metrics:\n"
	for i, port := range wellPorts(t) {
		if identity.Programs()[i] == identity.Events {
			port = strings.Replace(port, "127.0.0.1", "localhost", 1) + ", 127.0.0.1:1"
		}
		text += fmt.Sprintf("      %s: %q\n", identity.Programs()[i], port)
	}
	path := filepath.Join(filepath.Dir(services.Config), "metrics.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	code, out, errs := runLine(t, path, "status")
	require.Equal(t, exitFailed, code)
	require.Regexp(t, `(?m)^events +wrong +1 of 2 ready, v1.2.0, 127.0.0.1:1: dial .* refused`, out)
	require.Contains(t, errs, "giftingctl: 1 of 29 lines are not ok")
	code, _, errs = runLine(t, path, "status", "events")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, `"events" is not host:port`)
	require.Empty(t, services.Calls())
}
