package gifting_test

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

const (
	cap1    = `{"id":"cap","listed":true,"available":true,"updatedAt":"2026-01-02T00:00:00Z"}`
	mug     = `{"id":"mug","listed":true,"available":false,"updatedAt":"2026-01-01T00:00:00Z"}`
	gone    = `{"id":"cap","listed":false,"updatedAt":"2026-01-03T00:00:00Z"}`
	changed = `{"id":"cap","listed":true,"available":true,"updatedAt":"2026-01-04T00:00:00Z"}`
)

// copyOf is a copy of the catalog.
type copyOf map[string]*gifting.Product

func (c copyOf) apply(_ context.Context, entries []gifting.ProductEntry) error {
	for _, entry := range entries {
		if entry.Product == nil {
			delete(c, entry.ID())
		} else {
			c[entry.ID()] = entry.Product
		}
	}
	return nil
}

func queryOf(t *testing.T, a attempt) url.Values {
	t.Helper()
	sent, err := url.Parse(a.url)
	require.NoError(t, err)
	return sent.Query()
}

func TestACopyOfTheCatalogFollowsIt(t *testing.T) {
	t.Parallel()
	const date = "Fri, 09 Jan 2026 00:00:00 GMT"
	transport := &stub{script: script{
		answered(200, `{"items":[`+cap1+`],"nextCursor":"2"}`, "Date", date),
		answered(200, `{"items":[`+mug+`],"nextCursor":null}`, "Date", date),
		answered(200, `{"items":[`+gone+`],"nextCursor":null}`, "Date", date),
		answered(200, `{"items":[],"nextCursor":null}`, "Date", date),
	}}
	client, products := newClient(t, transport), copyOf{}
	sync := gifting.CatalogSync{Country: "SE", Locale: "sv-SE"}

	newest, err := client.Catalog.Sync(t.Context(), sync, products.apply)
	require.NoError(t, err)
	require.Equal(t, time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), newest)
	require.Len(t, products, 2)
	require.Equal(t, url.Values{"country": {"SE"}, "locale": {"sv-SE"}, "limit": {"100"}}, queryOf(t, transport.attempts[0]))
	require.Equal(t, "2", queryOf(t, transport.attempts[1]).Get("after"))

	sync.Newest = newest
	newest, err = client.Catalog.Sync(t.Context(), sync, products.apply)
	require.NoError(t, err)
	require.Equal(t, time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC), newest)
	require.NotContains(t, products, "cap")
	require.Equal(t, "2026-01-01T23:55:00Z", queryOf(t, transport.attempts[2]).Get("updatedSince"))

	sync.Newest = newest
	newest, err = client.Catalog.Sync(t.Context(), sync, products.apply)
	require.NoError(t, err)
	require.Equal(t, sync.Newest, newest, "nothing has changed")
}

func TestASyncThatTakesLongReadsAgainWhatChangedMeanwhile(t *testing.T) {
	t.Parallel()
	transport := &stub{script: script{
		answered(200, `{"items":[`+mug+`],"nextCursor":"2"}`, "Date", "Fri, 02 Jan 2026 12:00:00 GMT"),
		answered(200, `{"items":[`+changed+`],"nextCursor":null}`, "Date", "Fri, 04 Jan 2026 12:00:00 GMT"),
	}}
	newest, err := newClient(t, transport).Catalog.Sync(t.Context(), gifting.CatalogSync{Country: "SE"}, copyOf{}.apply)
	require.NoError(t, err)
	require.Equal(t, time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), newest)
}

func TestASyncThatFailsIsDoneAgain(t *testing.T) {
	t.Parallel()
	errStore := errors.New("the disk is full")
	since := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	sync := gifting.CatalogSync{Country: "SE", Newest: since}
	newest, err := newClient(t, &stub{script: script{answered(200, `{"items":[`+cap1+`]}`)}}).
		Catalog.Sync(t.Context(), sync, func(context.Context, []gifting.ProductEntry) error { return errStore })
	require.ErrorIs(t, err, errStore)
	require.Equal(t, since, newest)
	newest, err = newClient(t, &stub{script: script{refused(400, "invalid_request")}}).Catalog.Sync(t.Context(), sync, copyOf{}.apply)
	require.True(t, gifting.HasCode(err, gifting.CodeInvalidRequest))
	require.Equal(t, since, newest)
}
