//go:build faults

package e2e_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A mark names the event of a change, from the change's answer as well as from the event.
type mark string

func orderMark(id string, version int64) mark {
	return mark(fmt.Sprintf("order %s version %d", id, version))
}
func messageMark(id string) mark      { return mark("message " + id) }
func linkMark(id, change string) mark { return mark("link " + id + " " + change) }

// deed is what a writer asked for and was answered.
type deed struct {
	tenant string
	// key made the change; 0 when it was a person.
	key             int32
	asked, answered time.Time
	marks           []mark
	// data is what the events of some marks must hold, byte for byte: what was answered.
	data map[mark]string
}

// ledger is what the writers remember.
type ledger struct {
	lock     sync.Mutex
	deeds    []deed
	wrong    []string
	outcomes map[string]int
}

func (l *ledger) write(d deed) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.deeds = append(l.deeds, d)
}

func (l *ledger) complain(format string, args ...any) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
}

func (l *ledger) count(outcome string) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.outcomes[outcome]++
}

// snapshot is what the check needs of an order or a link.
type snapshot struct {
	ID          string  `json:"id"`
	BrandID     string  `json:"brandId"`
	Status      string  `json:"status"`
	Version     int64   `json:"version"`
	UpdatedAt   string  `json:"updatedAt"`
	ClaimURL    string  `json:"claimUrl"`
	OrderID     *string `json:"orderId"`
	ApprovedAt  *string `json:"approvedAt"`
	ClaimedAt   *string `json:"claimedAt"`
	CancelledAt *string `json:"cancelledAt"`
	raw         string
}

func readRecord(raw []byte) (snapshot, error) {
	r := snapshot{raw: string(raw)}
	err := json.Unmarshal(raw, &r)
	return r, err
}

// readList adds the records of a page and gives the cursor of the next.
func readList(t *testing.T, body string, into map[string]snapshot) string {
	t.Helper()
	var page struct {
		Items      []json.RawMessage `json:"items"`
		NextCursor *string           `json:"nextCursor"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &page), body)
	for _, item := range page.Items {
		r, err := readRecord(item)
		require.NoError(t, err)
		into[r.ID] = r
	}
	if page.NextCursor == nil {
		return ""
	}
	return *page.NextCursor
}
