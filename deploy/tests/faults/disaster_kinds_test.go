//go:build faults

package faults_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/programs"
)

// eventDisasters are those of the databases, the topic and the clocks on the way from an outbox to the feed and the webhooks.
func eventDisasters() []disaster {
	feed, queue := map[string]string{"events": "feed"}, map[string]string{"webhook": "deliveries"}
	both := map[string]string{"events": "feed", "webhook": "deliveries"}
	return []disaster{
		databaseBack("events database back", feed, nil),
		databaseBack("webhook database back", queue, nil),
		databaseBack("events and webhook databases back", both, nil),
		databaseBack("events and webhook databases and groups back", both, deleteGroups),
		kafkaBackToo("events database and Kafka back", feed), kafkaBackToo("events and webhook databases and Kafka back", both),
		lostTail(), newTopic(), morePartitions(), clocksDiffer(), monthAhead(), openSnapshot(),
	}
}

// databaseBack sets databases back, each of which is named with a table that grows. The readers find the loss by themselves and
// read it again. Their programs may be stopped meanwhile, and must be if there is more to do.
func databaseBack(name string, tables map[string]string, whileStopped step) disaster {
	one := disaster{name: name, prepare: backUp(tables), after: redriveFindsNothing}
	one.options.ownServers = slices.Sorted(maps.Keys(tables))
	one.goBack = func(ctx context.Context, t *testing.T, d *drill) {
		t.Helper()
		if tables["events"] == "" {
			d.restoreAndRestart(ctx, t, one.options.ownServers, whileStopped)
			return
		}
		defer d.loseCursors()()
		d.restoreAndRestart(ctx, t, one.options.ownServers, whileStopped)
		sleep(ctx, behind)
		d.awaitReaders(ctx, t)
	}
	return one
}

// loseCursors allows every follower to read the feed again. Half of them come back only when goOn is called, after the feed has
// grown beyond their cursors again.
func (d *drill) loseCursors() (goOn func()) {
	for i, f := range d.followers {
		f.allowSync()
		if i%2 == 0 {
			f.busy.Lock()
		}
	}
	return func() {
		for i, f := range d.followers {
			if i%2 == 0 {
				f.busy.Unlock()
			}
		}
	}
}

// restoreAndRestart restores databases. In half of the cases their programs do not run meanwhile: then only Kafka knows how far
// they had read.
func (d *drill) restoreAndRestart(ctx context.Context, t *testing.T, databases []string, whileStopped step) {
	t.Helper()
	var starts []func() error
	if d.draw.IntN(2) == 0 || whileStopped != nil {
		d.printf("variant: the programs are stopped")
		for _, p := range programs.All() {
			if slices.Contains(databases, p.Database) {
				starts = append(starts, d.stop(ctx, p.Name))
			}
		}
	}
	restoreAll(ctx, t, d)
	if whileStopped != nil {
		whileStopped(ctx, t, d)
	}
	for _, start := range starts {
		require.NoError(t, start())
	}
}

// redriveFindsNothing follows the runbook, whose commands report what is still missing: nothing.
func redriveFindsNothing(ctx context.Context, t *testing.T, d *drill) {
	t.Helper()
	d.awaitReaders(ctx, t)
	for _, ran := range d.follow(ctx, t, "restore", "GiftingDatabaseSetBack", "program events redrive", "program webhook redrive") {
		missing := ran.missing(t)
		d.require(missing == 0, loss, d.prepared, d.wentBack, "%s reports %d missing:\n%s", ran.command, missing, ran.output)
	}
}

// kafkaBackToo sets databases and Kafka back to the same time. The changes since then are only in the outboxes, which keep them
// for a while after they were stored. By the runbook, they are read again from there.
func kafkaBackToo(name string, tables map[string]string) disaster {
	var topicBack restore
	one := disaster{name: name, after: redriveFindsNothing}
	one.options.ownServers = slices.Sorted(maps.Keys(tables))
	one.options.env = []string{"GIFTING_OUTBOX_RETENTION=1h"}
	one.prepare = func(ctx context.Context, t *testing.T, d *drill) {
		t.Helper()
		sleep(ctx, behind) // The time that is read again begins before the backup.
		backUp(tables)(ctx, t, d)
		topicBack = d.backUpTopic(ctx, t)
	}
	one.goBack = func(ctx context.Context, t *testing.T, d *drill) {
		t.Helper()
		defer d.loseCursors()()
		// The writers wait, because what is read again comes after newer events.
		d.gate.Lock()
		defer d.gate.Unlock()
		d.awaitOutboxes(ctx, t)
		setBack := time.Now()
		d.redriven = period{d.prepared, setBack}
		d.restoreAndRestart(ctx, t, one.options.ownServers, func(ctx context.Context, t *testing.T, _ *drill) {
			t.Helper()
			topicBack(ctx, t)
		})
		d.awaitReaders(ctx, t)
		d.readFrom = d.redriveFrom(ctx, t, "kafka-lost", "All of Kafka is gone", setBack)
		for _, ran := range d.follow(ctx, t, "kafka-lost", "All of Kafka is gone", "program events redrive", "program webhook redrive") {
			database := strings.Fields(ran.command)[1]
			require.Equal(t, tables[database] != "", ran.missing(t) > 0, "%s has found:\n%s", ran.command, ran.output)
		}
	}
	return one
}
