package delivery_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// waitingReader reads the feed of a tenant through the gateway, with calls that wait for an event.
type waitingReader struct {
	sightings

	url  string
	keys []string
	// after is the cursor, with its name as a parameter.
	after string
	calls int
}

const (
	// callsOfKey stays below the limit of a key, 300 calls a minute.
	callsOfKey = 290
	// readersKeys are enough for 320 calls a second.
	readersKeys = 24
)

func (p *platform) newWaitingReader(b *testing.B, t tenant) *waitingReader {
	b.Helper()
	r := &waitingReader{sightings: sightings{seen: map[string]time.Time{}}, url: p.Env["GIFTING_URL"] + "/events?wait=30&limit=100"}
	for range readersKeys {
		key, err := t.NewKey(b.Context(), "")
		require.NoError(b, err)
		r.keys = append(r.keys, key.GetApiKey())
	}
	return r
}

// wait reads new events until ctx ends.
func (r *waitingReader) wait(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := r.readPage(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// readPage reads the page after the cursor as soon as it has an event.
func (r *waitingReader) readPage(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+r.after, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+r.keys[r.calls/callsOfKey%len(r.keys)])
	r.calls++
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	var page struct {
		Items      []struct{ Data struct{ ID string } }
		NextCursor string
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("answered %s", res.Status)
	}
	if err := json.NewDecoder(res.Body).Decode(&page); err != nil {
		return err
	}
	now := time.Now()
	for _, e := range page.Items {
		r.record(e.Data.ID, now)
	}
	if page.NextCursor != "" {
		r.after = "&after=" + page.NextCursor
	}
	return nil
}
