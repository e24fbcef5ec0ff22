package giftsite

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
)

// another is the token of another link.
func another(i int) string { return fmt.Sprintf("%s%d", token, i) }

// guess tries the unknown token with this number.
func (f *fixture) guess(method string, i int) answer {
	f.t.Helper()
	return f.do(method, fmt.Sprintf("/c/%s%06d", unknown, i), "")
}

// exhaust uses up the look-ups of the address.
func (f *fixture) exhaust() {
	f.t.Helper()
	for i := range lookupBurst {
		require.Equal(f.t, 404, f.guess(http.MethodGet, i).Code)
	}
}

func TestAValidLinkWorksBehindTheAddressOfAnAbuser(t *testing.T) {
	t.Parallel()
	t.Run("that was open before, however much the abuser sends", func(t *testing.T) {
		t.Parallel()
		f := setup(t)
		require.Equal(t, 200, f.get("").Code)
		f.exhaust()
		for i := range 5 * maxVisits {
			require.Equal(t, 429, f.guess(http.MethodGet, i).Code)
		}
		require.Equal(t, 200, f.get("").Code)
		require.Equal(t, 303, f.send(filled()).Code)
	})
	t.Run("as soon as a look-up is available again", func(t *testing.T) {
		t.Parallel()
		f := setup(t)
		f.exhaust()
		require.Equal(t, 429, f.get("").Code)
		f.now = f.now.Add(lookupEvery)
		require.Equal(t, 200, f.get("").Code)
		require.Equal(t, 303, f.send(filled()).Code)
	})
	t.Run("by sending the form first", func(t *testing.T) {
		t.Parallel()
		f := setup(t)
		f.exhaust()
		f.now = f.now.Add(lookupEvery)
		require.Equal(t, 303, f.send(filled()).Code)
	})
}

func TestRequestsWithoutALinkUseUpNoLimitOfValidLinks(t *testing.T) {
	t.Parallel()
	for name, abuse := range map[string]func(f *fixture, i int) answer{
		"pages of unknown tokens": func(f *fixture, i int) answer { return f.guess(http.MethodGet, i) },
		"forms of unknown tokens": func(f *fixture, i int) answer { return f.guess(http.MethodPost, i) },
		"pages of malformed ones": func(f *fixture, _ int) answer { return f.do(http.MethodGet, "/c/short", "") },
		"forms of malformed ones": func(f *fixture, _ int) answer { return f.do(http.MethodPost, "/c/short", "") },
		"forms from another site": func(f *fixture, i int) answer {
			return f.do(http.MethodPost, "/c/"+another(i), "", "Sec-Fetch-Site", "cross-site")
		},
		"another method of a link": func(f *fixture, _ int) answer { return f.do(http.MethodPut, "/c/"+token, "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			for i := range lookupBurst {
				require.Contains(t, []int{403, 404, 405}, abuse(f, i).Code)
			}
			f.now = f.now.Add(lookupEvery)
			require.Equal(t, 200, f.get("").Code)
			require.Equal(t, 303, f.send(filled()).Code)
		})
	}
}

func TestValidTokensUseUpNoLookUp(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for i := range lookupBurst - 1 {
		require.Equal(t, 404, f.guess(http.MethodGet, i).Code)
	}
	for i := range maxVisits {
		require.Equal(t, 200, f.do(http.MethodGet, "/c/"+another(i), "").Code)
	}
	require.Len(t, f.reads, lookupBurst-1+maxVisits, "the first page of a link is read once")
}

func TestATokenWhoseLinkIsGoneIsUnknownAgain(t *testing.T) {
	t.Parallel()
	f := setup(t)
	require.Equal(t, 200, f.get("").Code)
	f.exhaust()
	f.pageErr = problem.RecordNotFound()
	require.Equal(t, 404, f.get("").Code)
	require.Equal(t, 429, f.get("").Code)
}

func TestAFailedLookUpIsReportedAndUsedUp(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.pageErr = problem.Unavailable()
	for range lookupBurst {
		require.Equal(t, 503, f.get("").Code)
	}
	require.Equal(t, 429, f.get("").Code)
	require.Len(t, f.reads, lookupBurst)
}
