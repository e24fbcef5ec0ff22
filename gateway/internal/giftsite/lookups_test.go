package giftsite

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
)

// guess tries the unknown token with this number.
func (f *fixture) guess(i int) answer {
	f.t.Helper()
	return f.do(http.MethodGet, fmt.Sprintf("/c/%s%06d", unknown, i), "")
}

// exhaust uses up the unknown tokens of the address, and then spare look-ups.
func (f *fixture) exhaust(spares int) {
	f.t.Helper()
	for i := range maxUnknown {
		require.Equal(f.t, 404, f.guess(i).Code)
	}
	for i := range spares {
		require.Equal(f.t, 429, f.guess(maxUnknown+i).Code)
	}
}

func TestAValidLinkWorksBehindTheAddressOfAnAbuser(t *testing.T) {
	t.Parallel()
	t.Run("that has not been opened before", func(t *testing.T) {
		t.Parallel()
		f := setup(t)
		f.exhaust(spareBurst - 1)
		require.Equal(t, 200, f.get("").Code)
		require.Equal(t, 303, f.send(filled()).Code)
		require.Len(t, f.claims, 1)
	})
	t.Run("by sending the form first", func(t *testing.T) {
		t.Parallel()
		f := setup(t)
		f.exhaust(0)
		require.Equal(t, 303, f.send(filled()).Code)
	})
	t.Run("that was open before, however much the abuser sends", func(t *testing.T) {
		t.Parallel()
		f := setup(t)
		require.Equal(t, 200, f.get("").Code)
		f.exhaust(0)
		for i := range 5 * maxVisits {
			f.guess(maxUnknown + i)
		}
		require.Equal(t, 200, f.get("").Code)
		require.Equal(t, 303, f.send(filled()).Code)
	})
	t.Run("as soon as a spare look-up is available again", func(t *testing.T) {
		t.Parallel()
		f := setup(t)
		f.exhaust(spareBurst)
		require.Equal(t, 429, f.get("").Code)
		f.now = f.now.Add(spareEvery)
		require.Equal(t, 200, f.get("").Code)
	})
}

func TestValidTokensUseUpNoSpareLookUp(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.exhaust(spareBurst - 1)
	for i := range 3 * spareBurst {
		require.Equal(t, 200, f.do(http.MethodGet, fmt.Sprintf("/c/%s-%d", token, i), "").Code)
	}
}

func TestTheLimitsOfVisitsAndClaimsHoldForALimitedAddress(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.exhaust(0)
	for range maxVisits - maxUnknown {
		require.Equal(t, 200, f.get("").Code)
	}
	require.Equal(t, 429, f.get("").Code)
	for range maxClaims {
		require.Equal(t, 303, f.send(filled()).Code)
	}
	require.Equal(t, 429, f.send(filled()).Code)
}

func TestATokenWhoseLinkIsGoneIsUnknownAgain(t *testing.T) {
	t.Parallel()
	f := setup(t)
	require.Equal(t, 200, f.get("").Code)
	f.exhaust(spareBurst)
	f.pageErr = problem.RecordNotFound()
	require.Equal(t, 429, f.get("").Code)
	reads := len(f.reads)
	require.Equal(t, 429, f.get("").Code)
	require.Len(t, f.reads, reads, "it is not looked up any more")
}

func TestAFailedLookUpOfALimitedAddressIsReported(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.exhaust(0)
	f.pageErr = problem.Unavailable()
	require.Equal(t, 503, f.get("").Code)
}
