package server_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// moveableClock lets a test set the clock of the catalog forward or back.
func (f *fixture) moveableClock() (move func(by time.Duration)) {
	f.t.Helper()
	f.exec(`CREATE TABLE test_clock (ahead interval NOT NULL);
INSERT INTO test_clock VALUES ('0');
CREATE OR REPLACE FUNCTION catalog_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS
'SELECT clock_timestamp() + (SELECT ahead FROM test_clock)'`)
	return func(by time.Duration) {
		f.exec(`UPDATE test_clock SET ahead = ahead + $1`, by)
	}
}

func TestAClockSetBackDoesNotReorderChanges(t *testing.T) {
	t.Parallel()
	f := setup(t)
	move := f.moveableClock()
	a, b := gift(), gift()
	first := f.put(a)
	move(-time.Hour)
	second := f.put(b)
	require.True(t, second.After(first))
	require.Equal(t, []string{b.GetId()}, ids(f.changedSince(first.Add(time.Microsecond))))
	move(2 * time.Hour)
	a.Name = "Later"
	require.True(t, f.put(a).After(second.Add(30*time.Minute)), "the clock counts again once it is ahead")
}
