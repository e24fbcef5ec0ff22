package limits

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOfTooManyDebtsTheOldestAreForgotten(t *testing.T) {
	t.Parallel()
	d := &debts{policy: Policy{Limit: 3}, logs: map[string][]time.Time{}}
	began := time.Now()
	for second := range 5 {
		d.add("log", began.Add(time.Duration(second)*time.Second))
	}
	require.Equal(t, []time.Time{began.Add(2 * time.Second), began.Add(3 * time.Second), began.Add(4 * time.Second)}, d.logs["log"],
		"the others have left the window, or will first")
}

func TestTheDebtsOfTooManySubjectsAreForgottenOneByOne(t *testing.T) {
	t.Parallel()
	d := &debts{policy: Policy{Limit: 3}, logs: map[string][]time.Time{}}
	for n := range maxSubjects {
		d.add(strconv.Itoa(n), time.Now())
	}
	d.add("0", time.Now())
	require.Len(t, d.logs["0"], 2, "a known subject displaces none")
	d.add("new", time.Now())
	require.Len(t, d.logs, maxSubjects)
	require.Len(t, d.logs["new"], 1)
}

func TestAWindowForgetsTheSubjectSeenLongestAgo(t *testing.T) {
	t.Parallel()
	w := NewWindow(Policy{Limit: 1, Window: time.Hour}, time.Now)
	for n := range maxSubjects {
		require.True(t, w.Take(strconv.Itoa(n)).Allowed)
	}
	require.False(t, w.Take("0").Allowed, "which is thereby seen again")
	require.True(t, w.Take("new").Allowed)
	require.False(t, w.Take("0").Allowed)
	require.False(t, w.Take("2").Allowed)
	require.True(t, w.Take("1").Allowed, "it was dropped")
}
