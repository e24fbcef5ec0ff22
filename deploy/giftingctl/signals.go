package giftingctl

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/partnergifting/platform/pkg/identity"
)

// statusLine is a line of status.
type statusLine struct{ what, state, detail, runbook string }

// The states of a line.
const (
	stateOK      = "ok"
	stateWrong   = "wrong"
	stateUnknown = "unknown"
)

// comparison is how the values of instances become one, and how the alert compares it with its limit.
type comparison string

const (
	longerThan  comparison = "max >"
	moreThan    comparison = "sum >"
	differsFrom comparison = "sum !="
	// expiresIn compares the time that is left.
	expiresIn comparison = "min <"
)

// signal is the part of an alert's condition that one scrape shows. A test compares the signals with the rules.
type signal struct {
	what, runbook string
	// reporters is how many programs report the metric. label distinguishes the values of one program.
	metric, label string
	reporters     int
	comparison    comparison
	limit         float64
}

const (
	hours = 60 * 60
	days  = 24 * hours
)

// signals leave out the alerts on rates, which need Prometheus. A counter counts since the start of an instance.
var signals = []signal{
	{"leaders of the relay", "relay.md#giftingrelayleader", "gifting_relay_leads", "", 1, differsFrom, 1},
	{"oldest unpublished change", "relay.md#giftingrelaylag", "gifting_relay_oldest_age_seconds", "source", 1, longerThan, 30},
	{"oldest unconfirmed change", "relay.md#giftingoutboxkept", "gifting_relay_unconfirmed_age_seconds", "", 1, longerThan, 900},
	{"difference of clocks", "clocks.md#giftingclocksdiffer", "gifting_relay_clock_offset_seconds", "source", 1, longerThan, 1},
	{"weak settings of the topic", "kafka-lost.md#giftingtopicweaker", "gifting_kafka_topic_weaker", "setting", 1, moreThan, 0},
	{"losses found by the relay", "kafka-lost.md#giftingkafkalostmessages", "gifting_relay_lost_tails_total", "", 1, moreThan, 0},
	{"losses found by readers", "kafka-lost.md#giftingchangeslost", "gifting_kafka_reader_lost_tails_total", "", 2, moreThan, 0},
	{"gaps found by readers", "kafka-lost.md#giftingchangeslost", "gifting_kafka_reader_gaps_total", "", 2, moreThan, 0},
	{"partitions blocked", "kafka-lost.md#giftingreaderblocked", "gifting_kafka_consumer_blocked", "", 2, moreThan, 0},
	{"oldest change being read", "consumers.md#giftingconsumerbehind", oldestRead, "", 2, longerThan, 60},
	{"oldest due webhook", "webhooks.md#giftingwebhooksoverdue", "gifting_webhook_oldest_due_age_seconds", "", 1, longerThan, 60},
	{"databases set back", "restore.md#giftingdatabasesetback", "gifting_kafka_store_setbacks_total", "", 2, moreThan, 0},
	{"tenants set back", "restore.md#giftingtenantssetback", "gifting_tenants_skips_total", "reason", 1, moreThan, 0},
	{"claims lost", "restore.md#giftingrecordssetback", "gifting_links_lost_claims_total", "", 1, moreThan, 0},
	{"unusable seal keys", "sealed-data.md#giftingsealkeymissing", "gifting_seal_keys_unusable", "column", 5, moreThan, 0},
	{"certificates expire in", "programs.md#giftingcertificateexpiry", certificateExpiry, "", 7, expiresIn, 7 * days},
	{"retention behind", "clocks.md#giftingretentionbehind", "gifting_retention_lag_seconds", "", 6, longerThan, 2 * hours},
	{"reservations overdue", "reservations.md#giftingreservationsoverdue", overdueReservations, "", 1, longerThan, 120},
	{"oldest erasure", "erase-a-person.md#giftingerasurepending", "gifting_erasures_pending_age_seconds", "", 1, longerThan, 3 * days},
	{"off-boarding overdue", "off-board-a-tenant.md#giftingoffboardingoverdue", overdueOffboardings, "", 1, longerThan, 3 * days},
}

// Metrics whose names are too long for a line.
const (
	certificateExpiry   = "gifting_certificate_not_after_seconds"
	oldestRead          = "gifting_kafka_consumer_oldest_age_seconds"
	overdueReservations = "gifting_catalog_reservations_overdue_age_seconds"
	overdueOffboardings = "gifting_offboardings_overdue_age_seconds"
)

// series is a program and the label of one of its values.
type series struct {
	program identity.Name
	label   string
}

// values combines the values of all instances to one of each program and label.
func (s signal) values(found []instance) map[series]float64 {
	values := map[series]float64{}
	for _, i := range found {
		for _, v := range i.samples {
			if v.metric != s.metric || v.labels["reason"] == "restarted" { // Versions of tenants skip after each restart.
				continue
			}
			key := series{i.program, v.labels[s.label]}
			before, known := values[key]
			switch s.comparison {
			case longerThan:
				values[key] = max(before, math.Abs(v.value))
			case moreThan, differsFrom:
				values[key] = before + v.value
			case expiresIn:
				left := v.value - float64(time.Now().Unix())
				if !known || left < before {
					values[key] = left
				}
			}
		}
	}
	return values
}

func (s signal) isWrong(value float64) bool {
	above, below := value > s.limit, value < s.limit
	return above && s.comparison != expiresIn || below && (s.comparison == expiresIn || s.comparison == differsFrom)
}

// line shows the values that are wrong, or if none is, each different value once.
func (s signal) line(found []instance) statusLine {
	values, programs := s.values(found), map[identity.Name]bool{}
	var wrong, distinct []string
	for _, key := range slices.SortedFunc(maps.Keys(values), func(a, b series) int {
		return cmp.Or(cmp.Compare(a.program, b.program), cmp.Compare(a.label, b.label))
	}) {
		programs[key.program] = true
		text, name := s.text(values[key]), key.label
		if s.reporters > 1 {
			name = strings.TrimSpace(string(key.program) + " " + key.label)
		}
		if s.isWrong(values[key]) {
			wrong = append(wrong, strings.TrimSpace(name+" "+text))
		}
		if !slices.Contains(distinct, text) {
			distinct = append(distinct, text)
		}
	}
	l := statusLine{s.what, stateOK, strings.Join(distinct, ", "), s.runbook}
	switch {
	case len(wrong) > 0:
		l.state, l.detail = stateWrong, strings.Join(wrong, ", ")
	case len(programs) < s.reporters:
		l.state, l.detail = stateUnknown, fmt.Sprintf("%d of %d programs report it", len(programs), s.reporters)
	}
	return l
}

func (s signal) text(value float64) string {
	switch {
	case s.comparison == moreThan || s.comparison == differsFrom:
		return fmt.Sprint(value)
	case value >= 2*days:
		return fmt.Sprintf("%.0f days", math.Floor(value/days))
	}
	return time.Duration(value * float64(time.Second)).Round(time.Second).String()
}

// readerLines say how many partitions feed and webhooks read, and how many changes wait. All readers must have as many partitions,
// and know how far behind they are in each that is not blocked.
func readerLines(found []instance) (lines []statusLine) {
	total := func(metric string) map[series]float64 {
		return signal{metric: metric, comparison: moreThan}.values(found)
	}
	read, blocked, lag := total("gifting_kafka_consumer_partitions"), total("gifting_kafka_consumer_blocked"), total(partitionLag)
	lagByPartition := signal{metric: partitionLag, label: "messaging_destination_partition_id", comparison: moreThan}.values(found)
	all := slices.Max(append(slices.Collect(maps.Values(read)), 1))
	for _, reader := range []identity.Name{identity.Events, identity.Webhook} {
		key := series{program: reader}
		l := statusLine{"partitions of " + string(reader), stateOK, "", partitionsRunbook}
		has, reported := read[key]
		withLag := 0.0
		for one := range lagByPartition {
			if one.program == reader {
				withLag++
			}
		}
		l.detail = fmt.Sprintf("%v of %v read, %v changes wait", has, all, lag[key])
		switch {
		case !reported:
			l.state, l.detail = stateUnknown, "no instance reports it"
		case has < all || withLag < has-blocked[key]:
			l.state = stateWrong
		}
		lines = append(lines, l)
	}
	return lines
}

const (
	partitionLag      = "gifting_kafka_consumer_lag"
	partitionsRunbook = "consumers.md#giftingpartitionsunread"
)

// programLine says which instances of a program are ready.
func programLine(program identity.Name, found []instance) statusLine {
	var all, ready int
	var versions, wrong []string
	for _, i := range found {
		if i.program != program {
			continue
		}
		all++
		if i.version != "" && !slices.Contains(versions, i.version) {
			versions = append(versions, i.version)
		}
		if i.err == nil {
			ready++
			continue
		}
		wrong = append(wrong, i.addr+": "+i.err.Error())
	}
	detail := slices.Concat([]string{fmt.Sprintf("%d of %d ready", ready, all)}, versions, wrong)
	l := statusLine{string(program), stateOK, strings.Join(detail, ", "), programRunbook}
	switch {
	case all == 0:
		l.state, l.detail = stateWrong, "no instance found"
	case ready < all:
		l.state = stateWrong
	}
	return l
}

const programRunbook = "programs.md#giftingservicemissing"

// statusLines has a line for each program, for each address that leads to none, for each reader and for each signal.
func statusLines(found []instance) (lines []statusLine) {
	for _, program := range identity.Programs() {
		lines = append(lines, programLine(program, found))
	}
	for _, i := range found {
		if i.program == "" {
			lines = append(lines, statusLine{i.addr, stateWrong, i.err.Error(), programRunbook})
		}
	}
	lines = append(lines, readerLines(found)...)
	for _, s := range signals {
		lines = append(lines, s.line(found))
	}
	return lines
}
