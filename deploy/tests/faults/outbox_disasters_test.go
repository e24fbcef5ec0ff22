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
)

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
		for i, f := range d.followers {
			f.allowSync()
			if i%2 == 0 {
				f.busy.Lock()
				defer f.busy.Unlock()
			}
		}
		// The writers wait, because what is read again comes after newer events.
		d.gate.Lock()
		defer d.gate.Unlock()
		d.awaitOutboxes(ctx, t)
		d.redriven = period{d.prepared, time.Now()}
		d.restoreAndRestart(ctx, t, one.options.ownServers, func(ctx context.Context, t *testing.T, _ *drill) {
			t.Helper()
			topicBack(ctx, t)
		})
		d.awaitReaders(ctx, t)
		for _, ran := range d.follow(ctx, t, "kafka-lost", "All of Kafka is gone", "program events redrive", "program webhook redrive") {
			database := strings.Fields(ran.command)[1]
			require.Equal(t, tables[database] != "", ran.missing(t) > 0, "%s has found:\n%s", ran.command, ran.output)
		}
	}
	return one
}
