package faults_test

// disasterMutation is a bug of the defences against servers that go back in time.
type disasterMutation struct {
	mutation

	// disaster finds it, in a variant if that is not empty.
	disaster, variant string
}

const (
	kafkaOffsets   = "pkg/kafka/offsets.go"
	kafkaInspector = "pkg/kafka/inspector.go"
	feedWriters    = "services/events/internal/store/writers.go"
	feedRedrive    = "services/events/internal/feed/redrive.go"
	feedWriter     = "services/events/internal/feed/writer.go"
	feedEpoch      = "services/events/internal/store/epoch.go"
	relayConfirm   = "services/events/internal/relay/confirm.go"
	relayClock     = "services/events/internal/relay/clock.go"
	tenantsRestore = "services/tenants/internal/store/restore.go"
	versionsCheck  = "services/tenants/internal/versions/check.go"
	reconcileRun   = "services/orders/internal/reconcile/run.go"
	reconcilePages = "services/orders/internal/reconcile/pages.go"
	claimedOrder   = "services/orders/internal/store/reservations.go"
)

// The ways in which a database goes back.
const (
	dumpRestored    = "a dump is restored into a new database"
	replicaPromoted = "a replica that was behind is promoted"
	volumeSetBack   = "the volume is set back"
)

// disasterMutations has a bug of each defence.
var disasterMutations = []disasterMutation{
	{disaster: "events database back", variant: dumpRestored, mutation: mutation{
		"the feed begins at the offset of its group", loss, []replacement{
			{kafkaOffsets, `	if stored.Next < p.reached {`, `	if stored.Next < p.reached {
		stored = Stored{Next: p.reached}
	}
	if stored.Next < p.reached {`},
			{feedWriters, `b.Changes[0].Offset > stored.Next`, `b.Changes[0].Offset < 0`},
		},
	}},
	{disaster: "events database back", variant: volumeSetBack, mutation: mutation{
		"no epoch begins", cursor, []replacement{{feedEpoch, ` WHERE $3 OR e.server`, ` WHERE $3 AND false AND e.server`}},
	}},
	{disaster: "topic deleted and made anew", mutation: mutation{
		"rows are deleted once Kafka has them", loss, []replacement{
			{relayConfirm, `row.offset < stored[row.partition]`, `row.offset < stored[row.partition] || row.offset >= 0`},
		},
	}},
	{disaster: "topic deleted and made anew", mutation: mutation{
		"the relay trusts the offsets of lost messages", loss, []replacement{
			{relayConfirm, `known && row.offset <= before.offset`, `known && row.offset < 0`},
		},
	}},
	{disaster: "events database and Kafka back", mutation: mutation{
		"a redrive reads only the first outbox", lost, []replacement{{feedRedrive, `range sources {`, `range sources[:1] {`}},
	}},
	{disaster: "Kafka loses its newest messages", mutation: mutation{
		"readers do not compare the last message", order, []replacement{
			{kafkaInspector, `	case span.To < at.next:
		return false, nil
`, ``},
			{kafkaInspector, `return id(m) == at.id, nil`, `return id(m) != "", nil`},
		},
	}},
	{disaster: "clock ahead and then behind", mutation: mutation{
		"clocks are not measured", order, []replacement{{relayClock, `return (o.low + o.high) / 2 }`, `return 0 * (o.low + o.high) }`}},
	}},
	{disaster: "clock a month ahead", mutation: mutation{
		"the feed drops old events by the database's clock", cursor,
		[]replacement{{feedWriter, `keep+lag, tel.Logger`, `keep+0*lag, tel.Logger`}},
	}},
	{disaster: "tenants database back", variant: volumeSetBack, mutation: mutation{
		"versions that Redis has seen are handed out again", flat, []replacement{
			{tenantsRestore, ` AND started = ` + "` + postgres.ServerStart + `", ``},
			{tenantsRestore, `case started != startedNow && started != "":`, `case started != startedNow && started == "-":`},
			{versionsCheck, `case published[i] > tenant.Version:`, `case published[i] > tenant.Version && tenant.Version < 0:`},
		},
	}},
	{disaster: "orders database back", mutation: mutation{
		"reconcile skips a page", loss, []replacement{
			{reconcileRun, `pageSize = 2000`, `pageSize = 10`},
			{reconcilePages, `		if len(s.page) > 0 {
			s.last = s.page[len(s.page)-1]
		}`, `		if len(s.page) > 0 {
			s.last = s.page[len(s.page)-1]
		}
		if skipped, err := s.read(ctx, s.last); !s.end && err == nil && len(skipped) > 0 {
			s.last = skipped[len(skipped)-1]
		}`},
		},
	}},
	{disaster: "links database back", mutation: mutation{
		"a claim does not find the first order", answers,
		[]replacement{
			{claimedOrder, `personal_link_id IS NOT NULL AND id <> $2`, `personal_link_id IS NOT NULL AND id < $2 AND id > $2`},
		},
	}},
	{disaster: "a snapshot held open", mutation: mutation{
		"reads begin at the oldest row", flat,
		[]replacement{{relaySource, `w.low, limit, first, last, w.hasOpenGap()`, `min(w.low, 0), limit, first, last, w.hasOpenGap()`}},
	}},
}
